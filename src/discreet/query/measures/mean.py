"""Means of values clipped to public bounds, from two sums of distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.laws.number import round_down, round_up
from discreet.query.expression import Expression
from discreet.query.measures.measure import (
    STEP_BITS,
    Additive,
    Estimated,
    Number,
    Released,
    Spend,
    argument_on_grid,
    noise_words,
    rounding,
)
from discreet.query.plan import Asked, Bounding, Cell, Present, RowNorms, Steps
from discreet.statistics.columns import FixedPoint
from discreet.statistics.pricing import combination_quantile
from discreet.statistics.sums import mean_shares, too_small


@dataclass(frozen=True)
class MeanOfGroups(Additive):
    """AVG(x): the sums A of the distances to the lower bound and B of those to the upper one get noise.

    Privacy. A row adds (x - L, U - x), two integers at or above 0 that add up to the range: r = s = U - L in
        `Bounding`; a row whose argument is NULL adds nothing.
    Accuracy. For the true share p of the range |(1 - p) A - p B| stays within the quantile of a known combination of
        two noises; all such p form the interval. It is for the weighted mean of the rows as they were clipped.
    Reference. Kulesza, Suresh, Wang 2024; intervals for ratios: Fieller 1954.
    """

    asked: tuple[Asked, ...]
    bounding: Bounding
    argument: Expression
    scale: FixedPoint
    norms: RowNorms

    entries = 2  # A and B

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The steps above the lower bound, and how many values are there."""
        return Steps(self.argument, self.scale), Present(self.argument)

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

    def estimates(self, released: Released, spend: Spend, confidence: float) -> list[list[Estimated]]:
        """Return intervals for the ratio."""
        noise = self.noise(spend).noise
        first, last = self.scale.value(0), self.scale.value(self.scale.steps)
        half = rounding(self.scale, self.argument)
        found: list[Estimated] = []
        for value, one, two in zip(self.values(released)[0], *released, strict=True):
            low, _, high = mean_shares(
                float(one),
                float(one + two),
                lambda share: combination_quantile(noise, [1.0 - share, share], confidence),
            )
            ends = (first + Fraction(low) * (last - first) - half, first + Fraction(high) * (last - first) + half)
            found.append((value, round_down(max(ends[0], first)), round_up(min(ends[1], last))))
        return [found]

    def width(self, spend: Spend, confidence: float, people: int | None) -> list[float | None]:
        """Return the half-width at the worst mean for a group of so many rows."""
        if people is None:
            return [None]
        noise, rest = self.noise(spend).noise, 1.0 - confidence
        size = float(self.scale.steps) * people * self.bounding.unit
        lost = combination_quantile(noise, [1.0, 1.0], 1.0 - 0.1 * rest)
        reach = combination_quantile(noise, [1.0, 0.0], 1.0 - 0.9 * rest)
        range_ = float(self.scale.steps * self.scale.grid)
        return [range_ if too_small(size - lost, reach) else min(reach / (size - lost), 1.0) * range_]

    def words(self, spend: Spend) -> str:
        """Say what is released."""
        words = noise_words(self.noise(spend).noise, self.scale.grid / self.bounding.unit)
        return f"two sums of distances, for a mean, with {words}"


def mean(asked: Asked, bounding: Bounding) -> MeanOfGroups:
    """Return the measure of AVG(x)."""
    argument, scale = argument_on_grid(asked, bits=STEP_BITS)
    steps = scale.steps
    norms = RowNorms(
        one=steps, squared=steps**2, apart=2 * steps, apart_squared=2 * steps**2, nonnegative=True
    )  # (U, 0) and (0, U) are 2 U apart in L1, sqrt(2) U in L2
    return MeanOfGroups((asked,), bounding, argument, scale, norms)
