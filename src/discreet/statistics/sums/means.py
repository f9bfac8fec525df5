"""The mean of a column, under add/remove at half the error of a noisy sum over a noisy count.

It is a share of the range, found with its interval from a noisy sum A and a noisy size A + B.
"""

from __future__ import annotations

import math
from enum import Enum
from fractions import Fraction
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ConflictingParameters, InputError
from discreet.frames import numbers
from discreet.laws.noise import IntegerNoise
from discreet.privacy import Estimate, Relation, Target
from discreet.statistics.columns import split
from discreet.statistics.measurement import PowerSums
from discreet.statistics.options import MeanOptions, MomentOptions, named_after
from discreet.statistics.pricing import NoisyVector, combination_quantile, priced_noise, stated_switch
from discreet.statistics.statistic import BoundedStatistic, Tables, known_rows
from discreet.statistics.sums.mean_interval import MeanInterval, mean_ends, within_range
from discreet.statistics.sums.population_mean import PopulationMean
from discreet.statistics.sums.power_sums import ONE, PolynomialSums, power_sums
from discreet.statistics.sums.sampling import Sampling


class MeanForm(Enum):
    """What is released for a mean; the relation and the rule for missing values decide which."""

    TWO_DISTANCES = "the sum of the distances from the lower bound, and of those to the upper bound"
    CENTERED = "twice the sum of the distances from the middle, and the number of values times U - L"
    KNOWN_SIZE = "the sum; the number of values is public"
    POWER_SUMS = "sums of polynomials, from which number, mean and spread follow; for the mean of the population"


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
        For the population four or five sums of polynomials are released, or two or three for the approximate interval,
        at the same price: the lemma of `power_sums`.
    Accuracy. For the true share p = A / (A + B) the noise of (1 - p) A - p B is a known combination of two noises; all
        p for which it stays within its quantile form the interval, which so has the stated confidence at any size. To
        first order the variance is (p^2 + (1 - p)^2) times that of the noise, over N^2: half of what a noisy sum about
        the middle and a noisy count give for the same epsilon. For the population, rows drawn independently, the
        interval for the expectation of the clipped values is proven at any size and uses the spread, which is released
        too: the theorem of `population_mean`. With `approximate` it is the normal one, right for many rows only.
    Cost. One pass in cache-sized chunks; two draws, up to five for the population, whose interval takes 0.06 s.
    Figure. mean-error.svg
    Reference. The pair (A, B): Kulesza, Suresh, Wang 2024; intervals for ratios: Fieller 1954; for the population those
        of `sampling`.

    >>> mean_age = Mean(bounds=(0, 100), relation=Relation.ADD_REMOVE, epsilon=1)(
    ...     [30.0] * 5000
    ... )
    >>> abs(mean_age.value - 30) < 1
    True
    """

    moment = "mean"

    def __init__(self, *, approximate: bool = False, **options: Unpack[MomentOptions]) -> None:
        super().__init__(**options)
        self._check_independent_rows()
        self.approximate = stated_switch(approximate, name="approximate")
        if self.approximate and self.target is not Target.POPULATION:
            raise ConflictingParameters(
                "approximate must be False for target=Target.TABLE, whose interval is exact; got True, write "
                "approximate=False or target=Target.POPULATION",
                parameter="approximate",
            )
        self._powers = self._of_population() if self.target is Target.POPULATION else None
        self.mechanism = self._mechanism()

    @property
    def _is_gaussian(self) -> bool:
        """Whether the price asks for Gaussian noise."""
        return self.price.is_gaussian

    def _of_population(self) -> PolynomialSums:
        """Return the sums from which mean and spread follow."""
        return power_sums(
            self.relation,
            gaussian=self._is_gaussian,
            fourth=not self.approximate,
            size_is_public=self._size_is_known,
        )

    def _mechanism(self) -> NoisyVector:
        """Return the noise, on integers in steps or in the unit of the power sums."""
        if self._powers is not None:
            distance = (
                self._powers.sensitivity
            )  # in L1 with Laplace noise, in L2 with Gaussian: in L1 sqrt 5 times that
            return priced_noise(
                self.price,
                sensitivity=3 * distance if self._is_gaussian else distance,
                squared=distance**2,
                relation=self.relation,
                width=self._predicted,
            )
        sensitivity = self.scale.steps * (self.rows or 1) * self._unit
        if self.form is MeanForm.CENTERED:
            sensitivity *= 2
        return priced_noise(
            self.price,
            sensitivity=sensitivity,
            relation=self.relation,
            width=self._predicted,
            scalar=self.form is MeanForm.KNOWN_SIZE,
        )

    @property
    def form(self) -> MeanForm:
        """Which sums are released."""
        if self.target is Target.POPULATION:
            return MeanForm.POWER_SUMS
        if self.relation is Relation.ADD_REMOVE:
            return MeanForm.TWO_DISTANCES
        return MeanForm.KNOWN_SIZE if self._size_is_known else MeanForm.CENTERED

    def measure(self, value: Any) -> int | NDArray[np.object_]:
        """Return the exact sums in steps, or the power sums."""
        if self._powers is not None:
            return self._measured_powers(self._powers, value)
        totals = self.totals(value)
        everything = self.scale.steps * totals.present
        if self.form is MeanForm.KNOWN_SIZE:
            self._check_rows(totals.present)
            return totals.first
        if self.form is MeanForm.CENTERED:
            return np.array([2 * totals.first - everything, everything], dtype=object)
        return np.array([totals.first, everything - totals.first], dtype=object)

    def _measured_powers(self, powers: PolynomialSums, value: Any) -> NDArray[np.object_]:
        """Return the power sums; missing values are summed as the lower bound, and then taken out or replaced."""
        column = numbers(split(value, self.rows)[0])
        self._check_rows(column.size)
        first = np.array(powers.sums(np.zeros(1)), dtype=object)
        instead = 0 * first
        if self._fill is not None:
            instead = np.array(powers.sums(np.array([self._fill / self.scale.steps])), dtype=object)
        totals = 0 * first
        for chunk, missing in self.scale.chunks(column):
            totals = totals + np.array(powers.sums(chunk / float(self.scale.steps)), dtype=object)
            totals = totals + missing * (instead - first)
        return totals

    def _check_rows(self, present: int) -> None:
        """Raise an error for a table without rows, where their number is public."""
        if self._size_is_known and not present:
            raise InputError("values must have at least one row for a mean under change-one; got none")

    def estimate(self, released: Any, *, public_rows: int | None) -> Estimate:
        """Return the noisy mean with its interval, both within the bounds."""
        if self._powers is not None:
            return self._estimate_of_population(self._powers, released, public_rows)
        low, value, high = self._shares(released, public_rows, self.confidence)
        ends = mean_ends(self.scale, low, high, rounded=self.scale.grid / 2)
        return self._estimated(self._in_units(value), *ends, "quantile of the noise in a ratio")

    def _estimate_of_population(self, powers: PolynomialSums, released: Any, rows: int | None) -> Estimate:
        """Return the noisy mean with an interval for the expectation of the clipped value."""
        found = PopulationMean(Sampling(powers, self.mechanism.noise), powers.read(released, rows))
        rest = 1.0 - self.confidence
        if self.approximate:
            (low, high), sampling = found.approximate(rest), "the normal law, approximate"
        else:
            (low, high), sampling = found.proven(rest)
        ends = mean_ends(self.scale, low, high, rounded=self.scale.grid / 2)
        method = f"noise and sampling by {sampling}, the spread from {len(powers.noisy)} noisy sums at one price"
        value = self._in_units(within_range(found.share))
        return self._estimated(value, *ends, method, approximate=self.approximate)

    def _in_units(self, share: float) -> float:
        """Return a share of the range as a value."""
        return float(self.scale.value(0) + Fraction(share) * self.scale.steps * self.scale.grid)

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

    def _predicted(self, noisy: NoisyVector) -> float:
        """Return the half-width for a table of `rows_expected` rows at the worst share, with the noise of the size."""
        rest = 1.0 - self.confidence
        if self._powers is not None:
            return self._predicted_noise(self._powers, noisy.noise, rest)
        size = float(self.scale.steps) * (self._rows_expected or 1) * self._unit
        unit = float(self.scale.steps * self.scale.grid)
        if self.form is MeanForm.KNOWN_SIZE:
            return noisy.error(self.confidence) / size * unit
        return self._interval(noisy.noise).half_width(size, rest) * unit + float(self.scale.grid) / 2

    def _predicted_noise(self, powers: PolynomialSums, noise: IntegerNoise, rest: float) -> float:
        """Return the half-width that noise alone has at the worst mean, for `rows_expected` rows."""
        sizes = [Sampling(powers, noise).largest(np.ones((1, 1)), (mean, mean))[0] for mean in (0.0, 0.5, 1.0)]
        reach = max(combination_quantile(noise, list(size / ONE), 1.0 - 0.9 * rest) for size in sizes)
        lost = combination_quantile(noise, list(powers.about(0.0)[0][powers.noisy] / ONE), 1.0 - 0.1 * rest)
        left = (self._rows_expected or 1) - lost
        unit = float(self.scale.steps * self.scale.grid)
        return math.inf if left <= 4.0 * reach else reach / left * unit + float(self.scale.grid)

    def _adds_up(self, column: str, people: int | None) -> PowerSums | None:
        steps = self.scale.steps
        match self.form:
            case MeanForm.TWO_DISTANCES:
                return self._power_sums(column, ((0, 1, 0), (steps, -1, 0)))
            case MeanForm.CENTERED:
                return self._power_sums(column, ((-steps, 2, 0), (steps, 0, 0)))
            case MeanForm.KNOWN_SIZE:
                return self._power_sums(column, ((0, 1, 0),), known_rows(people))
            case MeanForm.POWER_SUMS:
                return None  # rounded polynomials of a higher degree

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
