"""Do draws agree with their law? And the truth to compare with, in balls of many digits.

Every statistical test here allows one false alarm in 10^9 runs for each test function: the rate is divided by the
number of comparisons the function makes over all its parameters (Bonferroni). Draws come from the real random source.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import flint
import numpy as np
from scipy.special import ndtri

from discreet.audit import goodness_of_fit
from discreet.laws import DiscreteGaussian, Enclosure, Finite, Law
from tests.chances import ALARM

DIGITS = 400  # bits of the reference values
SCALES = {
    "1/3": Fraction(1, 3),
    "1": Fraction(1),
    "3.7": Fraction(3.7),
    "10": Fraction(10),
    "1e3": Fraction(1000),
    "1e6": Fraction(10**6),
    "2^20": Fraction(2**20),
    "2^21": Fraction(2**21),
    "2^30": Fraction(2**30),
    "2^40": Fraction(2**40),
}


class NormalEdges(DiscreteGaussian):
    """The discrete Gaussian with quick quantiles: the test uses them only to place the edges of its cells."""

    def quantile(self, probability):
        return self.center + round(self.scale * Fraction(float(ndtri(float(probability)))))


@lru_cache(maxsize=64)
def gaussian(scale: Fraction) -> DiscreteGaussian:
    """Return a law to test draws against."""
    return NormalEdges(scale) if scale >= 3 else DiscreteGaussian(scale)


def assert_fits(law: Law[Any], draws: Any, *, comparisons: int, degrees: int = 1) -> None:
    """Fail if the draws fit the law worse than chance would in one of 10^9 runs of the calling test."""
    result = goodness_of_fit(law, draws)
    assert result.degrees >= degrees, "too few cells: this comparison could not fail"
    assert not result.alarm(ALARM / comparisons), result


def assert_counts_fit(counts: Any, probabilities: Any, *, comparisons: int) -> None:
    """Compare counts with float probabilities."""
    exact = [Fraction(float(p)) for p in probabilities]
    law = Finite(range(len(exact)), [p / sum(exact) for p in exact])
    draws = np.repeat(np.arange(len(exact)), counts)
    assert_fits(law, draws, comparisons=comparisons)


def arb(value: Fraction | int | float) -> flint.arb:
    """Enclose an exact number at the current precision."""
    exact = Fraction(value)
    return flint.arb(flint.fmpq(exact.numerator, exact.denominator))


def laplace_mass(scale: Fraction, place: int) -> flint.arb:
    """P(X = place) of the discrete Laplace law, from its definition."""
    q = (-1 / arb(scale)).exp()
    return (1 - q) / (1 + q) * (-arb(Fraction(abs(place)) / scale)).exp()


def gaussian_mass(scale: Fraction, place: int) -> flint.arb:
    """P(X = place) of the discrete Gaussian law, from its definition."""
    return gaussian_weight(scale, place) / gaussian_total(scale)


def gaussian_weight(scale: Fraction, place: int) -> flint.arb:
    """exp(-x^2 / (2 scale^2))."""
    return (-arb(Fraction(place * place) / (2 * scale * scale))).exp()


@lru_cache(maxsize=64)
def gaussian_total(scale: Fraction) -> flint.arb:
    """The sum of all weights, term by term; what is left out is below 2^-600 of it."""
    with flint.ctx.workprec(DIGITS):
        reach = math.ceil(30 * scale) + 2
        return 1 + 2 * sum((gaussian_weight(scale, x) for x in range(1, reach)), arb(0))


def rounded_mass(scale: Fraction, place: int) -> flint.arb:
    """P(X = place) of the rounded Gaussian law, from its definition; 400 bits more make up for the difference."""
    with flint.ctx.workprec(flint.ctx.prec + DIGITS):
        low, high = (arb((abs(place) + side) / scale) / arb(2).sqrt() for side in (Fraction(-1, 2), Fraction(1, 2)))
        return (low.erfc() - high.erfc()) / 2 if place else high.erf()


def encloses(enclosure: Enclosure, truth: flint.arb) -> bool:
    """Say whether an enclosure is not certainly wrong about a ball."""
    below = math.isinf(enclosure.lower) or not arb(enclosure.lower) > truth
    above = math.isinf(enclosure.upper) or not arb(enclosure.upper) < truth
    return bool(below and above)


def close(value: float, truth: flint.arb, relative: float = 1e-13) -> bool:
    """Say whether a float agrees with a ball to about 13 digits, or both are below the normal floats."""
    return bool(abs(arb(float(value)) - truth) <= relative * abs(truth) + arb(Fraction(1, 2**1060)))
