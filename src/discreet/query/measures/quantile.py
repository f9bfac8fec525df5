"""Quantiles of values clipped to public bounds, each with its interval: one, or several in one charge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.laws.number import round_down, round_up
from discreet.privacy import GaussianDP, Price, Relation
from discreet.privacy.guarantees import in_words, rho_of_choices, rho_of_halves
from discreet.query.expression import Expression
from discreet.query.measures.measure import Estimated, Measure, Number, Released, argument_on_grid, rounding
from discreet.query.plan import WEIGHT, Aggregate, Bounding
from discreet.statistics.columns import FixedPoint
from discreet.statistics.order_statistics import QuantileIntervals, QuantileTree
from discreet.statistics.ranks import HALVES, CountsAround, Integers, Ranked, RankInterval, guarantee

_BITS = 19
_BITS_OF_SEVERAL = 16
_MOST_PIECES, _MOST_ENTRIES = 256, 1 << 23
_HELD = 0.95  # the confidence for which an interval is bought


@dataclass(frozen=True)
class QuantilesOfGroups(Measure):
    """MEDIAN(x) and QUANTILE(x, level): one level or several, with counts of the rows around each value.

    Privacy. Every group makes its choice by ranks as `RankChoice` or `QuantileTree` do for persons whose rows weigh up
        to c, c the weight of a unit in all groups together, for half of the price; then it counts the rows around its
        values as `CountsAround` does, for the other half. All groups together cost what one costs.
        Proof: a unit whose rows weigh w_g in group g moves the rank distances there by at most w_g / c of what the
        choice is priced for, so the losses in that group span at most the share w_g / c of the choice's range e. Groups
        choose independently of each other, and the w_g add up to c at most: the spans add up to e. Under change-one
        rows of weight r_g leave and rows of weight s_g come; with several groups the price is taken for 2 c, since r_g
        + s_g add up to 2 c at most and r_g and s_g move distances by at most max(level, 1 - level) each. Several levels
        divide the weight W at a position into P pieces of floor((W + i) / P), i = 0 .. P - 1, told apart by random bits
        that do not depend on the rows: no piece falls when W grows, and they add up to W, so a unit moves the pieces
        together by what it moves W. Given the values, the counts of all groups are one vector, to which every row adds
        its weight once: the proof in `CountsAround` is about that vector, under change-one too.
        In zCDP (and Gaussian DP, where likewise squares add up) all of it is bought for t times the price, t = c^2 / S
        where the squares of the w_g add up to S at most: for k groups of equal weight t is k. Proof: a choice of range
        e costs e^2 / 8, so group g costs (e w_g / c)^2 / 8, in all at most e^2 / (8 t); a level of a tree chooses in
        disjoint parts of a group, whose spans add up to e w_g / c, and so their squares to no more than its square.
        Under change-one the spans are e (r_g + s_g) / (2 c), and (r_g + s_g)^2 <= 2 r_g^2 + 2 s_g^2 add up to 4 S. The
        counts of all groups move by sqrt S in L2, where c is what one group could move: the variance for c at t times
        the price is the variance for sqrt S at the price.
    Accuracy. With confidence 95 % no quantile of the weighted rows at a level lies outside its interval, one level and
        group at a time; no interval is bought for a higher confidence.
    """

    asked: tuple[Aggregate, ...]
    bounding: Bounding
    argument: Expression
    scale: FixedPoint
    levels: tuple[Fraction, ...]  # distinct, increasing

    @property
    def entries(self) -> int:
        """The values of all levels, then their lower ends, then their upper ends."""
        return 3 * len(self.levels)

    def mechanism(self, part: Price) -> RankInterval | QuantileIntervals:
        """Return the choice and the counts that every group makes."""
        asked: dict[str, Any] = {"relation": self.bounding.relation, "steps": self.scale.steps}
        epsilon, rho = part.epsilon, self._rho(part)
        price: dict[str, Any] = {"epsilon": epsilon, "rho": rho and rho * self.spread_over_groups}
        if len(self.levels) == 1:
            asked |= {"rows": self._rows, "counted_rows": self.bounding.rows}
            return RankInterval(level=self.levels[0], confidence=_HELD, **asked, **price)
        half: dict[str, Any] = {name: amount and amount / HALVES for name, amount in price.items()}
        tree = QuantileTree(levels=self.levels, rows=self._rows, **asked, **half)
        around = CountsAround(levels=self.levels, confidence=_HELD, rows=self.bounding.rows, **asked, **half)
        return QuantileIntervals(tree, around, guarantee(epsilon, rho, self.bounding.relation))

    @staticmethod
    def _rho(part: Price) -> Fraction | None:
        """Return the rho that all groups together have, if the price is one of rho or mu."""
        return part.rho if part.mu is None else rho_of_halves(part.mu)

    @property
    def spread_over_groups(self) -> Fraction:
        """How many times the price every group may have in zCDP: c^2 over the squares of a unit's weights by group."""
        total = self.bounding.rows * self.bounding.unit
        return max(Fraction(total**2, self.bounding.squared), Fraction(1))

    @property
    def _rows(self) -> int:
        """The weight, in rows, that the choices are priced for."""
        twice = self.bounding.relation is Relation.CHANGE_ONE and not self.bounding.single
        return self.bounding.rows * (2 if twice else 1)

    def release(self, groups: Sequence[tuple[Any, Any]], part: Price) -> list[list[int]]:
        """Choose in every group, given its occupied positions and their weights; private until here."""
        choice = self.mechanism(part)
        heavier = WEIGHT // self.bounding.unit
        rows = [
            (np.asarray(positions, dtype=np.int64), np.asarray(weights, dtype=np.int64) * heavier)
            for positions, weights in groups
        ]
        chosen: Sequence[tuple[int, ...]]
        if isinstance(choice, RankInterval):
            chosen = choice.of_groups([Ranked.of_increasing(*one, steps=self.scale.steps) for one in rows])
        else:
            each = pieces(self.scale.steps)
            chosen = [choice.with_intervals(choice.values(divided(*one, each)), one) for one in rows]
        return [[int(one[entry]) for one in chosen] for entry in range(self.entries)]

    def values(self, released: Released) -> list[list[Number]]:
        """Return the chosen values."""
        return [[self._value(one) for one in released[self._entry(asked)]] for asked in self.asked]

    def _entry(self, asked: Aggregate) -> int:
        return self.levels.index(self.levels[0] if asked.level is None else asked.level)

    def _value(self, position: int) -> Number:
        exact = self.scale.value(min(max(position, 0), self.scale.steps))
        return int(exact) if rounding(self.scale, self.argument) == 0 else float(exact)

    def estimates(self, released: Released, part: Price, confidence: float) -> list[list[Estimated]]:  # noqa: ARG002
        """Return the values with the interval that was bought, which does not shrink with a lower confidence."""
        found = []
        for asked in self.asked:
            values, lows, highs = released[self._entry(asked) :: len(self.levels)]
            rows: list[Estimated] = []
            for value, low, high in zip(values, lows, highs, strict=True):
                ends = self._ends(low, high) if confidence <= _HELD else (None, None)
                rows.append((self._value(value), *ends))
            found.append(rows)
        return found

    def _ends(self, low: int, high: int) -> tuple[float, float]:
        """Return two positions as values, half a step further out where rows were rounded."""
        half, top = rounding(self.scale, self.argument), self.scale.steps
        first = self.scale.value(max(low, 0)) - (half if low > 0 else 0)  # stored answers may have ends beyond the grid
        last = self.scale.value(min(high, top)) + (half if high < top else 0)
        return round_down(first), round_up(last)

    def rank_error(self, part: Price, confidence: float) -> float | None:
        """Return the rank distance, in rows, that one level keeps on every table; None for several."""
        choice = self.mechanism(part)
        return choice.value.error(confidence) if isinstance(choice, RankInterval) else None

    def words(self, part: Price) -> str:
        """Say what is released."""
        count = len(self.levels)
        what = "a quantile" if count == 1 else f"{count} quantiles"
        whole = guarantee(part.epsilon, self._rho(part), self.bounding.relation)
        price = in_words(whole if part.mu is None else GaussianDP(part.mu))
        return f"{what} by the exponential mechanism on ranks, and noisy counts of the rows around: {price}"


def choice_price(part: Price) -> Price:
    """Return a price as choices take it, in epsilon or rho; for a mu the rho of choices that keep it."""
    return part if part.mu is None else Price(rho=rho_of_choices(part.mu))


def pieces(steps: int) -> int:
    """Return into how many pieces the weight of a position is divided: a public number, as many as memory allows."""
    return max(1, min(_MOST_PIECES, _MOST_ENTRIES // (steps + 1)))


def divided(positions: Integers, weights: Integers, count: int) -> tuple[Integers, Integers]:
    """Return every position `count` times, with pieces of its weight that add up to it."""
    extra = np.arange(count, dtype=np.int64)
    return np.repeat(positions, count), ((weights[:, None] + extra[None, :]) // count).ravel()


def quantiles(asked: tuple[Aggregate, ...], bounding: Bounding) -> QuantilesOfGroups:
    """Return the measure of all quantiles that were asked of one argument."""
    levels = tuple(sorted({one.level for one in asked if one.level is not None}))
    bits = _BITS if len(levels) == 1 else _BITS_OF_SEVERAL
    argument, scale = argument_on_grid(asked[0], bits=bits)
    return QuantilesOfGroups(asked, bounding, argument, scale, levels)
