"""The mean of a column, under add/remove at half the error of a noisy sum over a noisy count.

It is a share of the range, found with its interval from a noisy sum A and a noisy size A + B.
"""

from __future__ import annotations

from enum import Enum
from fractions import Fraction
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.laws.noise import IntegerNoise
from discreet.privacy import Estimate, Relation, Target
from discreet.statistics.options import MeanOptions, named_after
from discreet.statistics.pricing import NoisyVector, mean_of_population, priced_noise
from discreet.statistics.statistic import BoundedStatistic, Tables
from discreet.statistics.sums.mean_interval import MeanInterval, mean_ends, within_range


class MeanForm(Enum):
    """What is released for a mean; the relation and the rule for missing values decide which."""

    TWO_DISTANCES = "the sum of the distances from the lower bound, and of those to the upper bound"
    CENTERED = "twice the sum of the distances from the middle, and the number of values times U - L"
    KNOWN_SIZE = "the sum; the number of values is public"


class Mean(BoundedStatistic):
    """The mean of values clipped to [L, U].

    Under add/remove two sums are released, A of the distances x - L and B of the distances U - x; the mean is
    L + (U - L) A / (A + B). Under change-one the sum is released and divided by the public number of rows; where
    missing values are left out that number is private, and the centered sum is released beside it.

    Privacy. epsilon-DP for noise of scale (U - L) / epsilon on both sums under add/remove, however many values there
        are; under change-one for noise of scale (U - L) / epsilon on the sum, and on both 2 S and (U - L) N of scale
        2 (U - L) / epsilon where values may be missing. A person with several rows: `rows` times as much.
        Proof: a row adds (x - L, U - x) to (A, B), two numbers at or above 0 that add up to U - L: its L1 norm, and at
        least its L2 norm. Change-one, nothing missing: the sum moves by at most U - L. Else a person adds (s, t) with
        |s| <= t <= c (U - L), s twice the distance from the middle; between two such vectors |s - s'| + |t - t'| <=
        t + t' + |t - t'| = 2 max(t, t'), and (s - s')^2 + (t - t')^2 <= (t + t')^2 + (t - t')^2 <= 4 max(t, t')^2.
    Accuracy. For the true share p = A / (A + B) the noise of (1 - p) A - p B is a known combination of two noises; all
        p for which it stays within its quantile form the interval, which so has the stated confidence at any size. To
        first order the variance is (p^2 + (1 - p)^2) times that of the noise, over N^2: half of what a noisy sum about
        the middle and a noisy count give for the same epsilon.
    Cost. One pass in cache-sized chunks; two draws.
    Figure. mean-error.svg
    Reference. The pair (A, B): Kulesza, Suresh, Wang 2024; intervals for ratios: Fieller 1954.

    >>> mean_age = Mean(bounds=(0, 100), relation=Relation.ADD_REMOVE, epsilon=1)(
    ...     [30.0] * 5000
    ... )
    >>> abs(mean_age.value - 30) < 1
    True
    """

    moment = "mean"

    def __init__(self, **options: Unpack[MeanOptions]) -> None:
        super().__init__(**options)
        self._check_independent_rows()
        sensitivity = self.scale.steps * (self.rows or 1) * self._unit
        if self.form is MeanForm.CENTERED:
            sensitivity *= 2
        self.mechanism = priced_noise(
            self.price,
            sensitivity=sensitivity,
            relation=self.relation,
            width=self._predicted,
            scalar=self.form is MeanForm.KNOWN_SIZE,
        )

    @property
    def form(self) -> MeanForm:
        """Which sums are released."""
        if self.relation is Relation.ADD_REMOVE:
            return MeanForm.TWO_DISTANCES
        return MeanForm.KNOWN_SIZE if self._size_is_known else MeanForm.CENTERED

    def measure(self, value: Any) -> int | NDArray[np.object_]:
        """Return the exact sums in steps."""
        totals = self.totals(value)
        everything = self.scale.steps * totals.present
        if self.form is MeanForm.KNOWN_SIZE:
            if not totals.present:
                raise InputError("values must have at least one row for a mean under change-one; got none")
            return totals.first
        if self.form is MeanForm.CENTERED:
            return np.array([2 * totals.first - everything, everything], dtype=object)
        return np.array([totals.first, everything - totals.first], dtype=object)

    def estimate(self, released: Any, *, public_rows: int | None) -> Estimate:
        """Return the noisy mean with its interval, both within the bounds."""
        confidence, sampling = self.confidence, ""
        if self.target is Target.POPULATION:
            confidence, sampling = 1.0 - (1.0 - self.confidence) / 4.0, ", sampling by Chernoff's bound"
        low, value, high = self._shares(released, public_rows, confidence)
        if self.target is Target.POPULATION:
            size = self._least_size(released, public_rows, confidence)
            low, high = mean_of_population(low, high, size, (1.0 - self.confidence) / 2.0)
        found = self.scale.value(0) + Fraction(value) * self.scale.steps * self.scale.grid
        ends = mean_ends(self.scale, low, high, rounded=self.scale.grid / 2)
        return self._estimated(float(found), *ends, f"quantile of the noise in a ratio{sampling}")

    def _shares(self, released: Any, rows: int | None, confidence: float) -> tuple[float, float, float]:
        """Return low, value and high as shares of the range."""
        if self.form is MeanForm.KNOWN_SIZE:
            everything = self.scale.steps * (rows or 1)
            width = self.mechanism.error(confidence)
            ends = (released - width, released, released + width)
            low, value, high = (within_range(end / everything) for end in ends)
            return low, value, high
        return self._interval(self.mechanism.noise).shares(*self._first_and_size(released), confidence)

    def _interval(self, noise: IntegerNoise) -> MeanInterval:
        """Return the intervals that a noise leaves."""
        return MeanInterval(noise, centered=self.form is MeanForm.CENTERED)

    def _first_and_size(self, released: Any) -> tuple[float, float]:
        """Return A and A + B, in steps, from either form."""
        one, two = int(released[0]), int(released[1])
        return ((one + two) / 2, float(two)) if self.form is MeanForm.CENTERED else (float(one), float(one + two))

    def _least_size(self, released: Any, rows: int | None, confidence: float) -> float:
        """Return a lower bound on the number of values, in rows."""
        if self.form is MeanForm.KNOWN_SIZE:
            return float(rows or 1)
        _, size = self._first_and_size(released)
        left = self._interval(self.mechanism.noise).least_size(size, confidence)
        return max(left / self.scale.steps, 0.0)

    def _predicted(self, noisy: NoisyVector) -> float:
        """Return the half-width for a table of `rows_expected` rows at the worst share, with the noise of the size."""
        rest = 1.0 - self.confidence
        size = float(self.scale.steps) * (self._rows_expected or 1) * self._unit
        unit = float(self.scale.steps * self.scale.grid)
        if self.form is MeanForm.KNOWN_SIZE:
            return noisy.error(self.confidence) / size * unit
        return self._interval(noisy.noise).half_width(size, rest) * unit + float(self.scale.grid) / 2

    def _one_row_apart(self, *, added: bool) -> Tables:
        """A row takes a bound, or its value is missing."""
        low, high = self._ends
        if added:
            return [([low], [low, high]), ([high, low], [high])]
        return [([low, high], [high, high]), *([([high, low], [None, low])] if self._fill is None else [])]


@named_after(Mean)
def mean(values: Any, *, unit: Any = None, **options: Unpack[MeanOptions]) -> Estimate:
    """Return a private mean of a column of numbers clipped to `bounds`: see `Mean`.

    >>> ages = [20.0, 30.0, 40.0] * 1000
    >>> abs(
    ...     mean(
    ...         ages,
    ...         bounds=(0, 100),
    ...         relation=Relation.ADD_REMOVE,
    ...         error=0.5,
    ...         rows_expected=3000,
    ...     ).value
    ...     - 30
    ... ) < 5
    True
    """
    answer: Estimate = Mean(**options).answer(values, unit)
    return answer
