"""Exhibits that tell the largest of several scores."""

from __future__ import annotations

from discreet.testing.museum.maximum.gaps import GapByFraction, GapByIndex
from discreet.testing.museum.maximum.noisy_maximum import (
    NoisyMaximum,
    NoisyMaximumExponential,
    NoisyMaximumValue,
    NoisyMaximumValueExponential,
)

__all__ = [
    "GapByFraction",
    "GapByIndex",
    "NoisyMaximum",
    "NoisyMaximumExponential",
    "NoisyMaximumValue",
    "NoisyMaximumValueExponential",
]
