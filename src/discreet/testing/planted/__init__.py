"""Planted faults: discreet's own mechanisms, each with one thing wrong, and the level of audit that must see it."""

from discreet._optional import listing
from discreet.testing.planted import (
    additive,
    choices,
    flags,
    forms,
    inputs,
    local,
    streams,
    synthesis,
    tables,
    work,
)
from discreet.testing.planted.fault import Overstated, Planted

_ROOMS = (additive, forms, choices, flags, streams, tables, inputs, local, synthesis, work)
PLANTED = {fault.name: fault for room in _ROOMS for fault in room.FAULTS}
"""Every planted fault by its name."""

__all__ = ["PLANTED", "Overstated", "Planted"]

__dir__ = listing("discreet.testing.planted")
