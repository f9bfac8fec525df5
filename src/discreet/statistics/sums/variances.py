"""The variance and standard deviation of a column: under add/remove from three sums that cost no more than one.

The standard deviation is the root of a released variance, at no further price.
"""

from __future__ import annotations

import dataclasses
import math
from enum import Enum
from fractions import Fraction
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ConflictingParameters, InputError
from discreet.laws.number import round_down, round_up
from discreet.privacy import Estimate, Price, Relation, Target
from discreet.statistics.measurement import PowerSums
from discreet.statistics.options import MomentOptions, VarianceOptions, named_after
from discreet.statistics.pricing import NoisyVector, mean_of_population, priced_noise
from discreet.statistics.statistic import BoundedStatistic, Tables
from discreet.statistics.sums.three_sums import (
    FOR_GAUSSIAN,
    FOR_LAPLACE,
    NoisySums,
    Range,
    predicted_reach,
    quadratics_for,
)


class VarianceForm(Enum):
    """What is released for a variance; the relation and the rule for missing values decide which."""

    THREE_SUMS = "the sums of three quadratics of which number, mean and variance are made"
    KNOWN_SIZE = "the sum of squared distances of all pairs over n - 1; the number of values n is public"


class Variance(BoundedStatistic):
    """The mean squared distance from the mean, of values clipped to [L, U]; `sample` divides by n - 1 instead of n.

    Under add/remove the sums of (4 a - b)^2, 50 a b and (4 b - a)^2 are released, with a = U - x and b = x - L; number,
    mean and variance follow from them. Under change-one with a public number n of rows the exact variance gets noise;
    where missing values are left out, or persons have several rows, the three sums are released again.

    Privacy. epsilon-DP for noise of scale 17 (U - L)^2 / epsilon on each of the three sums under add/remove, and of 32
        instead of 17 under change-one; with a public n for noise of scale (n - 1) / n^2 (U - L)^2 / epsilon on the
        variance, and (U - L)^2 / (n epsilon) on the one with n - 1. Several rows a person: `rows` times as
        much.
        Proof: the three numbers of a row are at or above 0 and add up to 17 (a + b)^2 = 17 (U - L)^2, which so is its
        L1 norm; two rows are at most 32 (U - L)^2 apart, and for Gaussian noise three other quadratics have L2 norm 5
        and distance sqrt 53 at most: the lemmas of `three_sums`. With n public: n^2 times the variance is the sum of
        (x_i - x_j)^2 over all pairs, of which n - 1 contain the row that changes, each between 0 and (U - L)^2; divided
        by n - 1 and rounded to a step it moves by (U - L)^2 at most.
    Accuracy. First the mean is enclosed, with a tenth of the error allowed; for each mean m in that range and each v
        the noise of the sum of (x - m)^2 - v is a known combination of three noises, and all v for which it stays
        within its quantile form the interval, which so has the stated confidence at any size. To first order the
        squared error is at least 1.8 times below that of a count, a sum and a sum of squares about the middle for a
        third of epsilon each, at any mean and variance. With n public the interval is the exact quantile of the noise.
    Cost. One pass in cache-sized chunks; three draws.
    Figure. variance-error.svg
    Reference. Sums that add up to the number of rows, for the mean: Kulesza, Suresh, Wang 2024; intervals for ratios:
        Fieller 1954.

    >>> spread = Variance(bounds=(0, 100), relation=Relation.ADD_REMOVE, epsilon=1)(
    ...     [20.0, 40.0] * 5000
    ... )
    >>> abs(spread.value - 100) < 15
    True
    """

    moment = "variance"

    def __init__(self, *, sample: bool = False, **options: Unpack[MomentOptions]) -> None:
        super().__init__(**options)
        self.scale.check_squares()
        self.sample = bool(sample)
        self._check_independent_rows()
        if self.rows is not None and self.sample:
            raise ConflictingParameters(
                "sample must be False where a person has several rows, as dividing by n - 1 is for independent rows; "
                "got True, write sample=False",
                parameter="sample",
            )
        self.mechanism = self._mechanism(self._priced(self.price))

    def _priced(self, price: Price) -> Price:
        """Return the price; an error is one of the variance."""
        return price

    def _mechanism(self, price: Price) -> NoisyVector:
        """Return the noise, on integers in steps^2."""
        row, relation = self._row, self.relation
        if self._size_is_known:
            return priced_noise(price, sensitivity=row, relation=relation, width=self._predicted, scalar=True)
        basis = FOR_GAUSSIAN if price.is_gaussian else FOR_LAPLACE
        row *= self.rows or 1
        changed = relation is Relation.CHANGE_ONE
        return priced_noise(
            price,
            sensitivity=row * (basis.apart if changed else basis.sensitivity),
            squared=row**2 * (basis.apart_squared if changed else basis.squared),
            relation=relation,
            width=self._predicted,
        )

    @property
    def form(self) -> VarianceForm:
        """What is released."""
        return VarianceForm.KNOWN_SIZE if self._size_is_known else VarianceForm.THREE_SUMS

    @property
    def _row(self) -> int:
        """What (U - L)^2 counts, in steps^2 times the unit of the weights."""
        return self.scale.steps**2 * self._unit

    @property
    def _most(self) -> Fraction:
        """The largest variance, as a share of (U - L)^2: half of the rows at either bound, two rows in a sample."""
        return Fraction(1, 2 if self.sample else 4)

    def measure(self, value: Any) -> int | NDArray[np.object_]:
        """Return the exact sums in steps^2."""
        totals = self.totals(value, squares=True)
        if self.form is VarianceForm.THREE_SUMS:
            return quadratics_for(self.mechanism.noise).sums(totals, self.scale.steps)
        rows = totals.present
        if rows < 1 + self.sample:
            raise InputError(
                "values must have a row for a variance under change-one, and two where it divides by n - 1; got fewer"
            )
        pairs = rows * totals.second - totals.first**2
        others = max(rows - 1, 1)
        return (2 * pairs + others) // (2 * others)  # nearest, halves upward: a shift by an integer stays one

    def estimate(self, released: Any, *, public_rows: int | None) -> Estimate:
        """Return the noisy variance with its interval, both within what a variance can be."""
        known = self.form is VarianceForm.KNOWN_SIZE
        value, (low, high) = self._of_pairs(released, public_rows or 1) if known else self._of_sums(released)
        method = "exact quantile of the noise" if known else "quantile of the noise in a ratio of three sums"
        return self._estimated(
            float(value * self._range**2),
            round_down(self._moved(low, -1) ** 2),
            round_up(self._moved(high, 1) ** 2),
            f"{method}, sampling by Chernoff's bound" if self.target is Target.POPULATION else method,
        )

    @property
    def _range(self) -> Fraction:
        """The distance of the bounds."""
        return self.scale.steps * self.scale.grid

    def _moved(self, share: float, side: int) -> Fraction:
        """Return a standard deviation moved by a step: rounding moves each value, so the deviation, by less."""
        root = math.sqrt(share) * (1.0 + side * 1e-15)
        return max(Fraction(root) * self._range + side * self.scale.grid, Fraction(0))

    def _of_sums(self, released: Any) -> tuple[Fraction, Range]:
        """Return the variance from three sums, as a share of (U - L)^2."""
        noisy = NoisySums.released(released, self.mechanism.noise, self._row)
        rest = 1.0 - self.confidence
        if self.target is Target.POPULATION:
            ends = noisy.population_range(rest)
        else:
            means = noisy.mean_range(0.1 * rest)
            inside = means[0] <= 0.5 <= means[1]
            largest = 0.25 if inside else max(mean * (1.0 - mean) for mean in means)
            top = min(largest * (2 if self.sample else 1) + 1e-12, float(self._most))
            ends = noisy.spread_range(means, top, 0.9 * rest, lost=int(self.sample))
        stretch = noisy.size / max(noisy.size - 1.0, 1.0) if self.sample and noisy.size > 1.0 else 1.0
        return min(Fraction(noisy.variance * stretch), self._most), ends

    def _of_pairs(self, released: int, rows: int) -> tuple[Fraction, Range]:
        """Return the variance from a public number of rows, as a share of (U - L)^2."""
        share = Fraction(1, rows) if self.sample else Fraction(rows - 1, rows**2)
        share /= self.scale.steps**2
        most = Fraction(rows // 2 * (rows - rows // 2), rows * (rows - 1) if self.sample else rows**2)
        rest = 1.0 - self.confidence
        population = self.target is Target.POPULATION
        width = self.mechanism.error(1.0 - 0.4 * rest if population else self.confidence) + Fraction(1, 2)
        low, value, high = (
            min(max(end * share, Fraction(0)), most) for end in (released - width, Fraction(released), released + width)
        )
        ends = round_down(low), round_up(high)
        return value, self._population_of_pairs(ends, rows, rest) if population else ends

    def _population_of_pairs(self, ends: Range, rows: int, rest: float) -> Range:
        """Return where the variance of the population lies: squares about its mean exceed those about the table's.

        By (table's mean - population's mean)^2, which Hoeffding's bound keeps small; then Chernoff's bound.
        """
        factor = (rows - 1) / rows if self.sample else 1.0
        between = math.log(2.0 / (0.2 * rest)) / (2.0 * rows)
        low, high = ends[0] * factor, min(ends[1] * factor + between, 1.0)
        below, above = mean_of_population(low, high, rows, 0.4 * rest)
        return below, min(above, 0.25)

    def _predicted(self, noisy: NoisyVector) -> float:
        """Return the half-width for a table of `rows_expected` rows at the worst mean, with the noise of the size."""
        rest, rows = 1.0 - self.confidence, self._rows_expected or 1
        rounding = float((self._range + self.scale.grid) * self.scale.grid)
        if self.form is VarianceForm.KNOWN_SIZE:
            share = 1.0 / rows if self.sample else (rows - 1) / rows**2
            return (noisy.error(self.confidence) + 1) * share * float(self.scale.grid) ** 2 + rounding
        reach = predicted_reach(noisy.noise, self._row, rows, rest, lost=int(self.sample))
        return reach * float(self._range) ** 2 + rounding

    def _adds_up(self, column: str, people: int | None) -> PowerSums | None:  # noqa: ARG002  sums of pairs are none
        if self.form is VarianceForm.KNOWN_SIZE:
            return None
        return self._power_sums(column, quadratics_for(self.mechanism.noise).in_steps(self.scale.steps))

    def _one_row_apart(self, *, added: bool) -> Tables:
        """A row takes a bound, or its value is missing."""
        low, high = self._ends
        if added:
            return [([low], [low, high]), ([high, low], [high])]
        return [([low, low, low], [low, high, low]), *([([high, low], [None, low])] if self._fill is None else [])]


@named_after(Variance)
def variance(values: Any, *, unit: Any = None, **options: Unpack[VarianceOptions]) -> Estimate:
    """Return a private variance of a column of numbers clipped to `bounds`: see `Variance`.

    >>> ages = [20.0, 30.0, 40.0] * 2000
    >>> spread = variance(
    ...     ages, bounds=(0, 100), relation=Relation.CHANGE_ONE, missing=0, epsilon=1
    ... )
    >>> abs(spread.value - 200 / 3) < 60
    True
    """
    answer: Estimate = Variance(**options).answer(values, unit)
    return answer


class StandardDeviation(Variance):
    """The root of the variance, of values clipped to [L, U].

    Privacy. What `Variance` guarantees.
        Proof: the root is taken after the noise is in; post-processing costs nothing.
    Accuracy. The ends are the roots of the variance's, so the interval has the same confidence. A variance off by h at
        most gives a deviation off by sqrt(h) at most, since (s - t)^2 <= |s - t| (s + t) = |s^2 - t^2|, and by about
        h / (2 s) where the deviation s is large: `error=` asks for the former, which holds for any table.
    Cost. That of the variance.
    Figure. variance-error.svg
    Reference. As for `Variance`.

    >>> spread = StandardDeviation(
    ...     bounds=(0, 100), relation=Relation.ADD_REMOVE, epsilon=1
    ... )([20.0, 40.0] * 5000)
    >>> abs(spread.value - 10) < 1
    True
    """

    def _priced(self, price: Price) -> Price:
        """Return the price; an error of the deviation is the root of one of the variance."""
        return price if price.error is None else dataclasses.replace(price, error=price.error**2)

    def estimate(self, released: Any, *, public_rows: int | None) -> Estimate:
        """Return the root of the noisy variance, and of the ends of its interval."""
        spread = super().estimate(released, public_rows=public_rows)
        low, high = spread.ends
        return dataclasses.replace(
            spread,
            value=math.sqrt(spread.value),
            low=math.nextafter(math.sqrt(low), 0.0),
            high=math.nextafter(math.sqrt(high), math.inf),
        )


@named_after(StandardDeviation)
def standard_deviation(values: Any, *, unit: Any = None, **options: Unpack[VarianceOptions]) -> Estimate:
    """Return a private standard deviation of a column of numbers clipped to `bounds`: see `StandardDeviation`.

    >>> ages = [20.0, 30.0, 40.0] * 1000
    >>> abs(
    ...     standard_deviation(
    ...         ages, bounds=(0, 100), relation=Relation.ADD_REMOVE, epsilon=1
    ...     ).value
    ...     - 8.2
    ... ) < 4
    True
    """
    answer: Estimate = StandardDeviation(**options).answer(values, unit)
    return answer
