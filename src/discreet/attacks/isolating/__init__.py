"""Isolating one person by differences, trackers and averages."""

from discreet.attacks.isolating.averaging_attack import (
    Averaging,
    Wording,
    averaging,
    rephrasings,
    spellings,
    splits,
    thresholds,
)
from discreet.attacks.isolating.differencing_attack import (
    Differencing,
    MinimumSize,
    difference,
    difference_chance,
    differencing,
    tracker,
)
from discreet.attacks.isolating.sticky import NoiseShape, StickyNoise
