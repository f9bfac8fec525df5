"""Means, variances and deviations of values clipped to public bounds, from two or three noisy sums."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.laws.noise import IntegerNoise
from discreet.laws.number import round_down, round_up
from discreet.privacy import Price
from discreet.query.expression import Expression
from discreet.query.measures.measure import (
    SQUARE_BITS,
    STEP_BITS,
    Additive,
    Estimated,
    Number,
    Released,
    argument_on_grid,
    noise_words,
    rounding,
)
from discreet.query.plan import Aggregate, Bounding, Cell, MeasureKind, Noise, Present, RowNorms, Steps
from discreet.statistics.columns import FixedPoint, Totals
from discreet.statistics.measurement import AddsUp, PowerSums
from discreet.statistics.sums import (
    FOR_GAUSSIAN,
    FOR_LAPLACE,
    MeanInterval,
    NoisySums,
    Quadratics,
    mean_ends,
    predicted_reach,
)


@dataclass(frozen=True)
class MeanOfGroups(Additive):
    """AVG(x): the sums A of the distances to the lower bound and B of those to the upper one get noise.

    Privacy. A row adds (x - L, U - x), two integers at or above 0 that add up to the range: r = s = U - L in
        `Bounding`; a row whose argument is NULL adds nothing.
    Accuracy. For the true share p of the range |(1 - p) A - p B| stays within the quantile of a known combination of
        two noises; all such p form the interval. It is for the weighted mean of the rows as they were clipped.
    Reference. Kulesza, Suresh, Wang 2024; intervals for ratios: Fieller 1954.
    """

    asked: tuple[Aggregate, ...]
    bounding: Bounding
    argument: Expression
    scale: FixedPoint
    norms: RowNorms
    cells: tuple[Cell, ...]  # the steps above the lower bound, and how many values are there

    entries = 2  # A and B

    def vectors(self, sums: Sequence[Sequence[int]]) -> list[list[int]]:
        """Return A and B."""
        first = [int(one) for one in sums[0]]
        return [first, [self.scale.steps * int(there) - one for one, there in zip(first, sums[1], strict=True)]]

    def values(self, released: Released) -> list[list[Number]]:
        """Return the mean of every group, within the bounds; the middle where nothing is left of the size."""
        means: list[Number] = []
        for one, two in zip(*released, strict=True):
            share = min(max(Fraction(one, one + two), Fraction(0)), Fraction(1)) if one + two > 0 else Fraction(1, 2)
            means.append(float(self.scale.value(share * self.scale.steps)))
        return [means]

    def estimates(self, released: Released, part: Price, confidence: float) -> list[list[Estimated]]:
        """Return intervals for the ratio."""
        interval, rounded = MeanInterval(self.noise(part).noise), rounding(self.scale, self.argument)
        found: list[Estimated] = []
        for value, one, two in zip(self.values(released)[0], *released, strict=True):
            low, _, high = interval.shares(float(one), float(one + two), confidence)
            found.append((value, *mean_ends(self.scale, low, high, rounded=rounded)))
        return [found]

    def width(self, part: Price, confidence: float, rows_expected: int | None) -> list[float | None]:
        """Return the half-width at the worst mean for a group of `rows_expected` rows."""
        if rows_expected is None:
            return [None]
        size = float(self.scale.steps) * rows_expected * self.bounding.unit
        share = min(MeanInterval(self.noise(part).noise).half_width(size, 1.0 - confidence), 1.0)
        return [share * float(self.scale.steps * self.scale.grid)]

    def adds_up(self, said: Callable[[Expression], str]) -> AddsUp:
        """Return the distances to both ends as sums over positions."""
        return _power_sums(self, said, ((0, 1, 0), (self.scale.steps, -1, 0)))

    def words(self, part: Price) -> str:
        """Say what is released."""
        words = noise_words(self.noise(part).noise, self.scale.grid / self.bounding.unit)
        return f"two sums of distances, for a mean, with {words}"


def mean(asked: Aggregate, bounding: Bounding) -> MeanOfGroups:
    """Return the measure of AVG(x)."""
    argument, scale = argument_on_grid(asked, bits=STEP_BITS)
    steps = scale.steps
    norms = RowNorms(
        one=steps, squared=steps**2, apart=2 * steps, apart_squared=2 * steps**2, nonnegative=True
    )  # (U, 0) and (0, U) are 2 U apart in L1, sqrt(2) U in L2
    cells = (Steps(argument, scale), Present(argument))
    return MeanOfGroups((asked,), bounding, argument, scale, norms, cells)


@dataclass(frozen=True)
class VarianceOfGroups(Additive):
    """VARIANCE(x) and STDDEV(x): the mean squared distance from the mean, its root; three sums get noise.

    Privacy. A row adds three integers whose L1 norm is 17 (U - L)^2 (for Laplace noise), or whose L2 norm is at most
        5 (U - L)^2 (for Gaussian): the lemmas of `three_sums`, with r and s in `Bounding`.
    Accuracy. As `statistics.Variance` under add/remove: first the mean is enclosed, then the variance for every mean
        that is possible. It is for the rows as they were weighted and clipped.
    """

    asked: tuple[Aggregate, ...]
    bounding: Bounding
    argument: Expression
    scale: FixedPoint
    basis: Quadratics
    norms: RowNorms
    cells: tuple[Cell, ...]  # the steps, their squares, and how many values are there

    entries = 3  # sums

    @property
    def _row(self) -> int:
        """What (U - L)^2 counts."""
        return self.scale.steps**2 * self.bounding.unit

    def vectors(self, sums: Sequence[Sequence[int]]) -> list[list[int]]:
        """Return the three sums of quadratics."""
        groups = zip(*sums, strict=True)
        made = [self.basis.sums(Totals(there, first, second), self.scale.steps) for first, second, there in groups]
        return [[int(one[entry]) for one in made] for entry in range(3)]

    def values(self, released: Released) -> list[list[Number]]:
        """Return the variance, or its root, of every group."""
        # the value follows from the three sums alone; a price only says which three they are
        any_price = Price(rho=Fraction(1)) if self.basis is FOR_GAUSSIAN else Price(epsilon=Fraction(1))
        found: list[Number] = []
        for group in zip(*released, strict=True):
            share = self._noisy(group, any_price).variance
            found.append(self._in_units(share))
        return [found]

    def _noisy(self, group: tuple[int, ...], part: Price) -> NoisySums:
        return NoisySums.released(group, self._law(part), self._row)

    def _law(self, part: Price) -> IntegerNoise:
        return self.noise(part).noise

    @property
    def _range(self) -> Fraction:
        return self.scale.steps * self.scale.grid

    def _in_units(self, share: float) -> float:
        """Return a share of (U - L)^2 as a variance, or its root as a deviation."""
        if self.asked[0].kind is MeasureKind.DEVIATION:
            return math.sqrt(share) * float(self._range)
        return share * float(self._range**2)

    def estimates(self, released: Released, part: Price, confidence: float) -> list[list[Estimated]]:
        """Return intervals from what the three sums leave possible."""
        rest = 1.0 - confidence
        found: list[Estimated] = []
        for value, group in zip(self.values(released)[0], zip(*released, strict=True), strict=True):
            noisy = self._noisy(group, part)
            means = noisy.mean_range(0.1 * rest)
            inside = means[0] <= 0.5 <= means[1]
            largest = 0.25 if inside else max(mean * (1.0 - mean) for mean in means)
            low, high = noisy.spread_range(means, min(largest + 1e-12, 0.25), 0.9 * rest)
            ends = self._moved(low, -1), self._moved(high, 1)
            if self.asked[0].kind is not MeasureKind.DEVIATION:
                ends = ends[0] ** 2, ends[1] ** 2
            found.append((value, min(round_down(ends[0]), float(value)), max(round_up(ends[1]), float(value))))
        return [found]

    def _moved(self, share: float, side: int) -> Fraction:
        """Return a deviation moved by twice what rounding moves each value by: enough for values and their mean."""
        root = math.sqrt(share) * (1.0 + side * 1e-15)
        return max(Fraction(root) * self._range + side * 2 * rounding(self.scale, self.argument), Fraction(0))

    def width(self, part: Price, confidence: float, rows_expected: int | None) -> list[float | None]:
        """Return the half-width at the worst mean for a group of `rows_expected` rows."""
        if rows_expected is None:
            return [None]
        reach = predicted_reach(self._law(part), self._row, rows_expected, 1.0 - confidence, lost=0)
        return [self._in_units(min(reach, 0.25))]

    def adds_up(self, said: Callable[[Expression], str]) -> AddsUp:
        """Return the three quadratics as sums over positions."""
        return _power_sums(self, said, self.basis.in_steps(self.scale.steps))

    def words(self, part: Price) -> str:
        """Say what is released."""
        words = noise_words(self._law(part), self.scale.grid**2 / self.bounding.unit)
        return f"three sums of squares, for a variance, with {words}"


def _power_sums(
    measure: MeanOfGroups | VarianceOfGroups,
    said: Callable[[Expression], str],
    coefficients: tuple[tuple[int, int, int], ...],
) -> PowerSums:
    """Return sums over the positions of an argument, for rows as they are bounded."""
    bounding, text = measure.bounding, said(measure.argument)
    return PowerSums(text, measure.scale, coefficients, bounding.unit, not bounding.often, bounding.often)


def variance(asked: Aggregate, bounding: Bounding, noise: Noise) -> VarianceOfGroups:
    """Return the measure of VARIANCE(x) or STDDEV(x)."""
    argument, scale = argument_on_grid(asked, bits=SQUARE_BITS)
    scale.check_squares()
    basis = FOR_GAUSSIAN if noise is Noise.GAUSSIAN else FOR_LAPLACE
    square = scale.steps**2
    norms = RowNorms(
        one=basis.sensitivity * square,
        squared=basis.squared * square**2,
        apart=basis.apart * square,
        apart_squared=basis.apart_squared * square**2,
        nonnegative=noise is Noise.LAPLACE,
    )
    cells = (Steps(argument, scale), Steps(argument, scale, power=2), Present(argument))
    return VarianceOfGroups((asked,), bounding, argument, scale, basis, norms, cells)
