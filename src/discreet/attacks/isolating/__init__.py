"""Isolating one person by differences, trackers and averages."""

from __future__ import annotations

from discreet.attacks.isolating.averaging import (
    Averaging,
    Wording,
    averaging,
    rephrasings,
    spellings,
    splits,
    thresholds,
)
from discreet.attacks.isolating.differencing import Differencing, difference, difference_chance, differencing
from discreet.attacks.isolating.sticky import Shape, StickyNoise
from discreet.attacks.isolating.trackers import MinimumSize, tracker

__all__ = [
    "Averaging",
    "Differencing",
    "MinimumSize",
    "Shape",
    "StickyNoise",
    "Wording",
    "averaging",
    "difference",
    "difference_chance",
    "differencing",
    "rephrasings",
    "spellings",
    "splits",
    "thresholds",
    "tracker",
]
