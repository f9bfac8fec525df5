"""Choose among few grid points the one whose rank is close to a wanted one: permute-and-flip for one quantile."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.laws import PermuteAndFlipLaw
from discreet.laws.number import Number
from discreet.mechanisms import Mechanism, PermuteAndFlip
from discreet.privacy import Norm, PrivacyLoss, PureDP, Relation, Sensitivity
from discreet.statistics.columns import WEIGHT_UNIT, stated_contribution
from discreet.statistics.pricing import stated_relation
from discreet.statistics.ranks.choice import exact_level, stated_steps
from discreet.statistics.ranks.ranked import Ranked

MOST_STEPS = 1 << 15
_DENOMINATOR = 1 << 16
_SMALL = 1 << 60


class RankFlip(Mechanism):
    """Return a position v of 0, ..., steps by permute-and-flip on minus its rank distance, the one of `RankChoice`.

    Of n rows the wanted rank is a n, a the level, and the distance of v to it is max(N(x < v) - a n, a n - N(x <= v),
    0), where N counts rows. With `midrank` it is |(1 - a) N(x < v) + a N(x <= v) - a n|: the same between two values,
    and at a value that many rows share the distance of a point among them. Where every grid point has many rows,
    neighbours are then told apart by twice as many; but a point that no row holds can be nearer than the quantile, so
    it is for columns without gaps.

    Privacy. epsilon-DP for scores that one person moves by at most D = max(a, 1 - a) under add/remove and 1 under
        change-one, `contribution` times as much where a person may have several rows.
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
        contribution: int | None = None,
        midrank: bool = False,
    ) -> None:
        """`level` is a share of the rows; its denominator is kept below 2^16."""
        self.level = exact_level(level).limit_denominator(_DENOMINATOR)
        self.midrank = midrank
        self.relation = stated_relation(relation)
        self.steps = stated_steps(steps)
        self.contribution = stated_contribution(contribution)
        self._unit = 1 if self.contribution is None else WEIGHT_UNIT
        part, whole = self.level.numerator, self.level.denominator
        moved = whole if self.relation is Relation.CHANGE_ONE else max(part, whole - part)
        self.sensitivity = Sensitivity(
            moved * (self.contribution or 1) * self._unit, norm=Norm.LINF, relation=self.relation
        )
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

    def neighbours(self) -> Iterator[tuple[Any, Any]]:
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
        """Show the public parameters."""
        return f"RankFlip(level={float(self.level):.6g}, {self.guarantee!r})"
