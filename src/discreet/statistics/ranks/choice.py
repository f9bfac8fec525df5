"""Choose a grid point whose rank is close to a wanted one: by the exponential mechanism, or by permute-and-flip.

The first is for any grid and is paid in epsilon, or in rho through bounded range; the second is better among few
points, and is paid in epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws import PermuteAndFlipLaw
from discreet.laws.number import Number, exact_rational
from discreet.mechanisms import Mechanism, PermuteAndFlip
from discreet.privacy import (
    ZCDP,
    Guarantee,
    Norm,
    Price,
    PrivacyLoss,
    PureDP,
    Relation,
    Sensitivity,
    bounded_range_loss,
    warn_if_senseless,
)
from discreet.privacy.numbers import downward, number, whole, written_up
from discreet.randomness.rigor import Ball
from discreet.statistics.columns import WEIGHT_UNIT, bounded
from discreet.statistics.pricing import stated_relation
from discreet.statistics.ranks.draw import draw_by_rank
from discreet.statistics.ranks.error import rank_error
from discreet.statistics.ranks.law import RankLaw
from discreet.statistics.ranks.ranked import LARGEST_STEPS, Ranked

MOST_STEPS = 1 << 15
_DENOMINATOR = 1 << 16
_SMALL = 1 << 60


class RankChoice(Mechanism):
    """Return a position v of 0, ..., steps with probability proportional to exp(-rate * rank distance of v).

    Of n rows the wanted rank is level * n, and the distance of v to it is max(N(x < v) - rank, rank - N(x <= v), 0),
    where N counts rows: 0 where v is a quantile, one more for every row in between.

    Privacy. epsilon-DP, and (epsilon^2/8)-zCDP, for rate = epsilon / (2 D) with D = max(level, 1 - level) under
        add/remove and 1 under change-one; times c where the rows of a person weigh up to c. The losses span at most
        epsilon: bounded range.
        Proof: a row more of weight w moves N(x < v) by 0 or w and the wanted rank by level w, so the first two terms
        move by -level w or (1 - level) w; the maximum moves by no more than they. Changing rows is removing rows of
        weight r <= c and adding some of weight s <= c: N(x < v) - rank moves by at most (1 - level) r + level s <= c
        downward, level r + (1 - level) s <= c upward, N(x <= v) alike. So between neighbors the exponents of any two
        positions change by at most rate * D each, apart by at most 2 rate D = epsilon; normalizing moves all alike.
    Accuracy. The rank distance exceeds `error` with probability at most 1 - confidence; see `rank_error`.
    Cost. A sort; then only rows within (ln(steps) + 45) / rate of the wanted rank are looked at.
    Reference. Smith 2011; McSherry, Talwar 2007; bounded range: Dong, Durfee, Rogers 2020.

    >>> choice = RankChoice(
    ...     level=0.5, epsilon=1, relation=Relation.ADD_REMOVE, steps=100
    ... )
    >>> 25 <= choice([30] * 200 + [40] * 300 + [50] * 200) <= 60
    True
    """

    def __init__(
        self,
        *,
        level: Number,
        relation: Relation,
        steps: int,
        epsilon: Number | None = None,
        rho: Number | None = None,
        rows: int | None = None,
    ) -> None:
        self.level = exact_level(level)
        self.relation = stated_relation(relation)
        self.steps = stated_steps(steps)
        self.rows = bounded(rows)
        self._epsilon, self._rho = one_price(epsilon, rho)
        self.range = self._epsilon if self._epsilon is not None else range_of_rho(self._rho or Fraction(0))
        warn_if_senseless(self.guarantee, people=None)

    @property
    def sensitivity(self) -> Fraction:
        """How far one person can move a rank distance, in rows."""
        one = Fraction(1) if self.relation is Relation.CHANGE_ONE else max(self.level, 1 - self.level)
        return one * (self.rows or 1)

    @cached_property
    def rate(self) -> Fraction:
        """What the rank distance, in rows, is multiplied by."""
        return self.range / (2 * self.sensitivity)

    @property
    def guarantee(self) -> Guarantee:
        """Pure where epsilon was asked for, concentrated where rho was."""
        return guarantee(self._epsilon, self._rho, self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """The price of bounded range: the losses of any two positions differ by at most `range`."""
        return bounded_range_loss(self.range, relation=self.relation)

    def __call__(self, value: Any) -> int:
        """Return a position."""
        return draw_by_rank(*self._question(value))

    def law(self, value: Any) -> RankLaw:
        """Return the law of the position."""
        return RankLaw(*self._question(value))

    def error(self, confidence: Number) -> float:
        """Return the rank distance, in rows, that is exceeded with probability at most 1 - confidence."""
        return rank_error(rate=self.rate, candidates=self.steps + 1, failure=1 - Fraction(confidence))

    def _question(self, value: Any) -> tuple[Ranked, Fraction, Fraction]:
        """Return rows, wanted rank and rate in units of weight."""
        rows = value if isinstance(value, Ranked) else Ranked.of(value, steps=self.steps)
        unit = WEIGHT_UNIT if rows.cumulative is not None else 1
        return rows, self.level * rows.weight, self.rate / unit

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield tables that differ in one row at an end of the grid, around a wanted rank in the middle."""
        top = self.steps
        middle = top // 2
        for size in (1, 4):
            base = [0] * size + [middle] * size + [top] * size
            if self.relation is Relation.ADD_REMOVE:
                yield base, [*base, top]
                yield base, [0, *base]
                yield [0, *base], base
            else:
                yield base, [*base[1:], top]
                yield [*base[1:], top], base
        yield ([], [0]) if self.relation is Relation.ADD_REMOVE else ([0], [top])

    def __repr__(self) -> str:
        return f"RankChoice(level={float(self.level):.6g}, {self.guarantee}, relation={self.relation.name})"


def exact_level(level: object) -> Fraction:
    """Return a share of the rows between 0 and 1, exactly."""
    exact = exact_rational(level, name="level")
    if not 0 <= exact <= 1:
        raise ParameterError(
            "level must be a share of the rows, between 0 and 1; got another, write 0.5, for example", parameter="level"
        )
    return exact


def stated_steps(steps: object) -> int:
    """Return the number of steps of a grid."""
    count = whole(steps, name="steps")
    if count > LARGEST_STEPS:
        raise ParameterError("steps must be at most 2^60; got more, write fewer", parameter="steps")
    return count


def one_price(epsilon: Number | None, rho: Number | None) -> tuple[Fraction | None, Fraction | None]:
    """Return epsilon or rho exactly; raise an error unless exactly one of them is given."""
    price = Price.read(epsilon=epsilon, rho=rho, accepts=("epsilon", "rho"))
    return price.epsilon, price.rho


def guarantee(epsilon: Fraction | None, rho: Fraction | None, relation: Relation) -> Guarantee:
    """Return the guarantee that a price stands for: pure where epsilon was asked for, concentrated where rho was."""
    if epsilon is not None:
        return PureDP(written_up(epsilon), relation=relation)
    return ZCDP(written_up(rho or Fraction(0)), relation=relation)


def range_of_rho(rho: Fraction) -> Fraction:
    """Return the largest float e with e^2 / 8 <= rho: the bounded range that costs so much zCDP.

    >>> float(range_of_rho(Fraction(1, 2)))
    2.0
    """

    def root() -> Ball:
        return (8 * number(rho)).sqrt()

    found = downward(root)
    while Fraction(math.nextafter(found, math.inf)) ** 2 <= 8 * rho:
        found = math.nextafter(found, math.inf)
    if found <= 0:
        raise ParameterError("rho must be large enough to buy an answer; got less, write a larger rho", parameter="rho")
    return Fraction(found)


class RankFlip(Mechanism):
    """Return a position v of 0, ..., steps by permute-and-flip on minus its rank distance, the one of `RankChoice`.

    Of n rows the wanted rank is a n, a the level, and the distance of v to it is max(N(x < v) - a n, a n - N(x <= v),
    0), where N counts rows. With `midrank` it is |(1 - a) N(x < v) + a N(x <= v) - a n|: the same between two values,
    and at a value that many rows share the distance of a point among them. Where every grid point has many rows,
    neighbors are then told apart by twice as many; but a point that no row holds can be nearer than the quantile, so
    it is for columns without gaps.

    Privacy. epsilon-DP for scores that one person moves by at most D = max(a, 1 - a) under add/remove and 1 under
        change-one, `rows` times as much where a person may have several rows.
        Proof: as in `RankChoice`. For midranks: a row more of weight w below v moves the sum by (1 - a) w + a w - a w,
        one at v by 0, one above v by -a w; a row that changes place moves N(x < v) and N(x <= v) by -w, 0 or w each.
        The rest is `PermuteAndFlip`.
    Accuracy. The distance of the chosen position exceeds that of the best by more than `error` with probability at most
        1 - confidence. Without midranks the best, a quantile, has distance 0.
    Cost. One pass over the rows, one draw a candidate.
    Reference. McKenna, Sheldon 2020.

    >>> flip = RankFlip(level=0.5, epsilon=1, relation=Relation.ADD_REMOVE, steps=100)
    >>> flip([30] * 200 + [40] * 900 + [50] * 200)
    40
    """

    def __init__(
        self,
        *,
        level: Number,
        relation: Relation,
        steps: int,
        epsilon: Number,
        rows: int | None = None,
        midrank: bool = False,
    ) -> None:
        self.level = exact_level(level).limit_denominator(_DENOMINATOR)
        self.midrank = midrank
        self.relation = stated_relation(relation)
        self.steps = stated_steps(steps)
        self.rows = bounded(rows)
        self._unit = 1 if self.rows is None else WEIGHT_UNIT
        part, whole = self.level.numerator, self.level.denominator
        moved = whole if self.relation is Relation.CHANGE_ONE else max(part, whole - part)
        self.sensitivity = Sensitivity(moved * (self.rows or 1) * self._unit, norm=Norm.LINF, relation=self.relation)
        self.flip = PermuteAndFlip(epsilon=epsilon, sensitivity=self.sensitivity)

    @property
    def guarantee(self) -> PureDP:
        """Pure differential privacy."""
        return self.flip.guarantee

    @property
    def loss(self) -> PrivacyLoss:
        """The price of permute-and-flip."""
        return self.flip.loss

    def scores(self, value: Any) -> NDArray[Any]:
        """Return minus the distances, times the denominator of the level and the unit of the weights; private."""
        rows = value if isinstance(value, Ranked) else Ranked.of(value, steps=self.steps)
        below = rows.weights_below(self.steps + 1)
        part, whole = self.level.numerator, self.level.denominator
        if rows.weight * whole >= _SMALL:
            below = below.astype(object)
        wanted = part * rows.weight
        if self.midrank:
            mid: NDArray[Any] = -np.abs((whole - part) * below[:-1] + part * below[1:] - wanted)
            return mid
        distances: NDArray[Any] = np.maximum(whole * below[:-1] - wanted, wanted - whole * below[1:])
        scores: NDArray[Any] = -np.maximum(distances, 0)
        return scores

    def __call__(self, value: Any) -> int:
        """Return a position."""
        return self.flip(self.scores(value))

    def law(self, value: Any) -> PermuteAndFlipLaw:
        """Return the law of the position."""
        return self.flip.law(self.scores(value))

    def error(self, confidence: Number) -> float:
        """Return how much further than the best, in rows, the chosen position is with probability 1 - confidence."""
        worst = self.flip.error(Fraction(confidence), candidates=self.steps + 1)
        return worst / (self.level.denominator * self._unit)

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield tables that differ in one row at an end of the grid."""
        top, middle = self.steps, self.steps // 2
        for size in (1, 3):
            base = [0] * size + [middle] * size + [top] * size
            if self.relation is Relation.ADD_REMOVE:
                yield base, [*base, top]
                yield base, [0, *base]
            else:
                yield base, [*base[1:], top]
        yield ([], [0]) if self.relation is Relation.ADD_REMOVE else ([0], [top])

    def __repr__(self) -> str:
        return f"RankFlip(level={float(self.level):.6g}, {self.guarantee!r})"
