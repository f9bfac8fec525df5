"""Exhibits that tell the largest of several scores."""

from discreet.testing.museum.maximum.gaps import GapByFraction, GapByIndex
from discreet.testing.museum.maximum.noisy_maximum import (
    NoisyMaximum,
    NoisyMaximumExponential,
    NoisyMaximumValue,
    NoisyMaximumValueExponential,
)
