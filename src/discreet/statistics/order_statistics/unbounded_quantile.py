"""A quantile without bounds: thresholds are watched in order until enough of the rows lie below one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, cast

import numpy as np

from discreet.laws.choices.above_threshold import AboveThresholdLaw
from discreet.laws.number import Number
from discreet.mechanisms.mechanism import PurelyPrivate
from discreet.mechanisms.streams.above_threshold import AboveThreshold
from discreet.privacy import Norm, Relation, Sensitivity
from discreet.privacy.numbers.arguments import whole
from discreet.statistics.columns.contribution import stated_contribution
from discreet.statistics.pricing.price import stated_relation
from discreet.statistics.ranks.choice import exact_level

_GRID = Fraction(1, 1 << 10)


class UnboundedQuantile(PurelyPrivate):
    """Return the place of the first threshold that about a share `level` of the rows does not exceed, if there is one.

    It takes, for each threshold in order, the number of rows at or below it, and the number n of all rows at the end;
    `AboveThreshold` watches N(x <= t_i) - level n until it is reported to be at or above 0.

    Privacy. epsilon-DP, however many thresholds there are.
        Proof: a row more moves N(x <= t_i) by 0 or 1 and level n by the level, so every value watched by at most
        max(level, 1 - level); changing a row (or removing one and adding another) by at most 1. Times c where the
        rows of a person weigh up to c. The rest is the privacy of `AboveThreshold`, with values rounded to 1/1024.
    Accuracy. With probability 1 - beta the reported threshold has at least level n - alpha rows at or below it, and the
        one before it at most level n + alpha: alpha from `error`, the exact law of the two noises.
        Proof: the accuracy of `AboveThreshold` for at most k values, of which only the last is reported above.
    Cost. One draw a threshold, up to the reported one.
    Reference. Durfee 2023.

    >>> scan = UnboundedQuantile(level=0.9, epsilon=1, relation=Relation.ADD_REMOVE, thresholds=4)
    >>> scan([0, 10, 5000, 10_000, 10_000])
    (3,)
    """

    def __init__(
        self,
        *,
        level: Number,
        epsilon: Number,
        relation: Relation,
        thresholds: int,
        contribution: int | None = None,
    ) -> None:
        """`thresholds` says how many there are at most; it is public."""
        self.level = exact_level(level)
        self.relation = stated_relation(relation)
        self.thresholds = whole(thresholds, name="thresholds")
        self.contribution = stated_contribution(contribution)
        one = Fraction(1) if self.relation is Relation.CHANGE_ONE else max(self.level, 1 - self.level)
        self.stream = AboveThreshold(
            threshold=0,
            epsilon=epsilon,
            sensitivity=Sensitivity(one * (self.contribution or 1), norm=Norm.LINF, relation=self.relation),
            grid=_GRID,
        )

    @property
    def _promised(self) -> Fraction:
        """Epsilon as it was given to the stream."""
        return Fraction(self.stream.guarantee.epsilon)

    def __call__(self, value: Sequence[Number]) -> tuple[int, ...]:
        """Return the place of the reported threshold, in a tuple that is empty if none was."""
        return tuple(int(cast("int", place)) for place in self.stream.release(self._watched(value)))

    def _watched(self, value: Sequence[Number]) -> list[Fraction]:
        """Return N(x <= t_i) - level n for every threshold."""
        wanted = self.level * Fraction(value[-1])
        return [Fraction(count) - wanted for count in value[:-1]]

    def law(self, value: Sequence[Number]) -> AboveThresholdLaw:
        """Return the law of the reported places: a tuple of one, or an empty one."""
        law = self.stream.law(self._watched(value))
        if not isinstance(law, AboveThresholdLaw):
            raise AssertionError("no gaps were asked for")
        return law

    def error(self, confidence: float) -> float:
        """Return alpha: by how many rows the reported threshold may miss the level, with the confidence."""
        return self.stream.alpha(queries=self.thresholds, beta=1.0 - confidence)

    def neighbours(self) -> Iterator[tuple[Any, Any]]:
        """Yield counts of tables that differ in one row, below the first threshold or above the last."""
        for base in ([0, 0, 0, 0], [0, 2, 4, 4], [0, 20, 40, 40]):
            if self.relation is Relation.ADD_REMOVE:
                yield base, [count + 1 for count in base]
                yield base, [*base[:-1], base[-1] + 1]
            elif base[-1]:
                yield base, [*(count + 1 for count in base[:-2]), *base[-2:]]

    def __repr__(self) -> str:
        """Show the public parameters."""
        return f"UnboundedQuantile(level={float(self.level):.6g}, {self.guarantee}, relation={self.relation.name})"


def magnitudes(smallest: Number, largest: Number, *, per_doubling: int = 4) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return public thresholds from about `smallest` to about `largest`, each a float exactly, evenly in each doubling.

    >>> magnitudes(1, 4, per_doubling=2)
    array([1. , 1.5, 2. , 3. , 4. ])
    """
    first, last = (int(np.floor(np.log2(float(end)))) for end in (smallest, largest))
    exponents = np.arange(first, last + 1 + (float(largest) > 2.0**last))
    steps = 1.0 + np.arange(per_doubling) / per_doubling
    grid = np.ldexp(steps[None, :], exponents[:, None]).ravel()
    end = np.ldexp(1.0, int(exponents[-1]))
    return np.asarray(grid[grid <= end])
