"""Planted faults: discreet's own mechanisms, each with one thing wrong, and the level of audit that must see it."""

from discreet.testing.planted import (
    additive,
    choices,
    csv_lines,
    flags,
    forms,
    frame_types,
    local,
    redrawn,
    streams,
    synthesis,
    tables,
    units,
    work,
)
from discreet.testing.planted.fault import Overstated, Planted

_ROOMS = (
    additive,
    forms,
    choices,
    flags,
    streams,
    tables,
    units,
    frame_types,
    csv_lines,
    local,
    redrawn,
    synthesis,
    work,
)
PLANTED = {fault.name: fault for room in _ROOMS for fault in room.FAULTS}

__all__ = ["PLANTED", "Overstated", "Planted"]
