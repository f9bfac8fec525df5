"""What the tests of means share: proven bounds of e^epsilon, and a comparison of counts with a law."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.laws.finite import Finite
from discreet.randomness.rigor import ball, ceil_of_upper, floor_of_lower, precision
from tests.chances import ALARM

_BITS = 200


def exponential(exponent: Fraction) -> tuple[Fraction, Fraction]:
    """Rationals below and above e^exponent."""
    with precision(_BITS + 100):
        scaled = ball(exponent).exp() * (1 << _BITS)
        return Fraction(floor_of_lower(scaled), 1 << _BITS), Fraction(ceil_of_upper(scaled), 1 << _BITS)


def largest_ratio(laws: list[Finite]) -> Fraction:
    """The largest ratio of the probabilities of one report under two laws."""
    masses = [law.probabilities for law in laws]
    ratios: list[Fraction] = [max(column) / min(column) for column in zip(*masses, strict=True) if max(column)]
    return max(ratios)


def follows(counts: NDArray[np.int64], law: Finite) -> bool:
    """Say whether counts of independent draws are plausible under the law, with a false alarm in 10^9."""
    from scipy.stats import binom

    draws, chances = int(counts.sum()), np.array([float(p) for p in law.probabilities])
    each = ALARM / (2 * counts.size)
    low, high = binom.ppf(each, draws, chances), binom.isf(each, draws, chances)
    return bool(np.all((counts >= low) & (counts <= high)))
