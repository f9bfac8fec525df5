"""Planted faults: discreet's own mechanisms, each with one thing wrong, and the level of audit that must see it."""

from discreet.testing.planted import (
    additive,
    choices,
    flags,
    forms,
    inputs,
    local,
    redrawn,
    streams,
    synthesis,
    tables,
    work,
)
from discreet.testing.planted.fault import Overstated, Planted

_ROOMS = (additive, forms, choices, flags, streams, tables, inputs, local, redrawn, synthesis, work)
PLANTED = {fault.name: fault for room in _ROOMS for fault in room.FAULTS}

__all__ = ["PLANTED", "Overstated", "Planted"]
