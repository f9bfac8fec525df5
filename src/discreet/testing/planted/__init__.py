"""Planted faults: discreet's own mechanisms, each with one thing wrong, and the level of audit that must see it."""

from discreet.testing.planted import additive, choices, forms, local, redrawn, streams, synthesis, tables
from discreet.testing.planted.fault import Overstated, Planted

_ROOMS = (additive, forms, choices, streams, tables, synthesis, redrawn, local)
PLANTED = {fault.name: fault for room in _ROOMS for fault in room.FAULTS}

__all__ = ["PLANTED", "Overstated", "Planted"]
