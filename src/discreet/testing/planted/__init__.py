"""Planted faults: discreet's own mechanisms, each with one thing wrong, and the level of audit that must see it."""

from discreet.testing.planted import additive, choices, forms, streams, tables
from discreet.testing.planted.fault import Overstated, Planted

PLANTED = {fault.name: fault for room in (additive, forms, choices, streams, tables) for fault in room.FAULTS}

__all__ = ["PLANTED", "Overstated", "Planted"]
