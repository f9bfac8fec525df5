"""Variances and standard deviations of values clipped to public bounds, from three sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.laws.noise import IntegerNoise
from discreet.laws.number import round_down, round_up
from discreet.query.expression import Expression
from discreet.query.measures.measure import (
    SQUARE_BITS,
    Additive,
    Estimated,
    Number,
    Released,
    Spend,
    argument_on_grid,
    noise_words,
    rounding,
)
from discreet.query.plan import Asked, Bounding, Cell, MeasureKind, Noise, Present, RowNorms, Steps
from discreet.statistics.columns import FixedPoint, Totals
from discreet.statistics.sums import FOR_GAUSSIAN, FOR_LAPLACE, NoisySums, Quadratics, predicted_reach


@dataclass(frozen=True)
class VarianceOfGroups(Additive):
    """VARIANCE(x) and STDDEV(x): the mean squared distance from the mean, its root; three sums get noise.

    Privacy. A row adds three integers whose L1 norm is 17 (U - L)^2 (for Laplace noise), or whose L2 norm is at most
        5 (U - L)^2 (for Gaussian): the lemmas of `three_sums`, with r and s in `Bounding`.
    Accuracy. As `statistics.Variance` under add/remove: first the mean is enclosed, then the variance for every mean
        that is possible. It is for the rows as they were weighted and clipped.
    """

    asked: tuple[Asked, ...]
    bounding: Bounding
    argument: Expression
    scale: FixedPoint
    basis: Quadratics
    norms: RowNorms

    entries = 3  # sums

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The steps, their squares, and how many values are there."""
        return Steps(self.argument, self.scale), Steps(self.argument, self.scale, power=2), Present(self.argument)

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
        any_price = Spend(rho=Fraction(1)) if self.basis is FOR_GAUSSIAN else Spend(epsilon=Fraction(1))
        found: list[Number] = []
        for group in zip(*released, strict=True):
            share = self._noisy(group, any_price).variance
            found.append(self._in_units(share))
        return [found]

    def _noisy(self, group: tuple[int, ...], spend: Spend) -> NoisySums:
        return NoisySums.released(group, self._law(spend), self._row)

    def _law(self, spend: Spend) -> IntegerNoise:
        return self.noise(spend).noise

    @property
    def _range(self) -> Fraction:
        return self.scale.steps * self.scale.grid

    def _in_units(self, share: float) -> float:
        """Return a share of (U - L)^2 as a variance, or its root as a deviation."""
        if self.asked[0].kind is MeasureKind.DEVIATION:
            return math.sqrt(share) * float(self._range)
        return share * float(self._range**2)

    def estimates(self, released: Released, spend: Spend, confidence: float) -> list[list[Estimated]]:
        """Return intervals from what the three sums leave possible."""
        rest = 1.0 - confidence
        found: list[Estimated] = []
        for value, group in zip(self.values(released)[0], zip(*released, strict=True), strict=True):
            noisy = self._noisy(group, spend)
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

    def width(self, spend: Spend, confidence: float, people: int | None) -> list[float | None]:
        """Return the half-width at the worst mean for a group of so many rows."""
        if people is None:
            return [None]
        reach = predicted_reach(self._law(spend), self._row, people, 1.0 - confidence, lost=0)
        return [self._in_units(min(reach, 0.25))]

    def words(self, spend: Spend) -> str:
        """Say what is released."""
        words = noise_words(self._law(spend), self.scale.grid**2 / self.bounding.unit)
        return f"three sums of squares, for a variance, with {words}"


def variance(asked: Asked, bounding: Bounding, noise: Noise) -> VarianceOfGroups:
    """Return the measure of VARIANCE(x) or STDDEV(x)."""
    argument, scale = argument_on_grid(asked, bits=SQUARE_BITS)
    scale.check_squares()
    basis = FOR_GAUSSIAN if noise is Noise.GAUSSIAN else FOR_LAPLACE
    square = scale.steps**2
    norms = RowNorms(
        one=basis.shift * square,
        squared=basis.squared * square**2,
        apart=basis.apart * square,
        apart_squared=basis.apart_squared * square**2,
        nonnegative=noise is Noise.LAPLACE,
    )
    return VarianceOfGroups((asked,), bounding, argument, scale, basis, norms)
