"""Clipping bounds for a column of unknown range: thresholds are watched in order until enough rows lie below one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.frames import numbers
from discreet.laws import AboveThresholdLaw, Law, Product
from discreet.laws.number import Number, positive_rational
from discreet.mechanisms import AboveThreshold, Mechanism
from discreet.mechanisms.mechanism import PurelyPrivate
from discreet.privacy import Guarantee, Norm, PrivacyLoss, PureDP, Relation, Sensitivity, compose
from discreet.privacy.numbers import whole
from discreet.statistics.columns import WEIGHT_UNIT, bounded, row_weights, split
from discreet.statistics.options import ClippingOptions, CommonOptions, named_after
from discreet.statistics.pricing import stated_relation
from discreet.statistics.ranks import exact_level, guarantee
from discreet.statistics.statistic import Statistic, Tables

_MOST = 1 << 16


class Bounds(tuple[float, float]):
    """Bounds (low, high) that were found privately, ready to be passed on as `bounds=`, with their price."""

    guarantee: Guarantee
    cost: PrivacyLoss
    rank_error: float

    @property
    def low(self) -> float:
        """The lower bound."""
        return self[0]

    @property
    def high(self) -> float:
        """The upper bound."""
        return self[1]


class Scans(Mechanism):
    """Independent scans of one table, one after the other.

    Privacy. Their epsilons add up.
        Proof: basic composition.
    """

    def __init__(self, scans: list[UnboundedQuantile], epsilon: Fraction) -> None:
        self.scans, self._epsilon = scans, epsilon
        self.relation = scans[0].relation

    @property
    def guarantee(self) -> Guarantee:
        """Pure differential privacy."""
        return guarantee(self._epsilon, None, self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """The price of all scans."""
        return compose([PureDP(scan.guarantee.epsilon, relation=self.relation).loss for scan in self.scans])

    def __call__(self, value: Any) -> tuple[tuple[int, ...], ...]:
        """Return what each scan reports."""
        return tuple(scan(counts) for scan, counts in zip(self.scans, value, strict=True))

    def law(self, value: Any) -> Law[Any]:
        """Return the law of what the scans report."""
        return Product([scan.law(counts) for scan, counts in zip(self.scans, value, strict=True)])

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield neighbors of the first scan, for all."""
        for first, second in self.scans[0].neighbors():
            yield [first] * len(self.scans), [second] * len(self.scans)


class ClippingBounds(Statistic):
    """Bounds that about a share `level` of the rows lie within, when nothing is known about their range.

    The thresholds are public: 0, and on either side of it four to a doubling from `smallest` to `largest` in size,
    around a public `center`. The upper bound is the first, from below, that a share (1 + level) / 2 of the rows does
    not exceed; the lower bound the first from above. With `symmetric` one threshold for |x - center| is sought, at the
    whole price.

    Privacy. epsilon-DP: one `UnboundedQuantile` for epsilon, or two for half of it each.
        Proof: there; counts at a threshold are sums over rows, and the thresholds are public.
    Accuracy. With the stated confidence each bound misses its share of the rows by at most `rank_error` rows, and would
        do so at the threshold before it; what lies between two thresholds, at most a fifth of their size, is not
        resolved.
    Cost. A binary search a row, a draw a threshold.
    Figure. clipping-error.svg
    Reference. Durfee 2023.

    >>> incomes = [20_000.0 + 5 * step for step in range(10_000)]
    >>> low, high = ClippingBounds(level=0.98, relation=Relation.ADD_REMOVE, epsilon=2)(
    ...     incomes
    ... )
    >>> low <= 22_000 and 65_000 <= high <= 90_000
    True
    """

    mechanism: UnboundedQuantile | Scans

    accepts = ("epsilon",)

    def __init__(
        self,
        *,
        level: Number,
        symmetric: bool = False,
        center: Number = 0,
        smallest: Number = Fraction(1, 1 << 20),
        largest: Number = 1 << 50,
        per_doubling: int = 4,
        **options: Unpack[CommonOptions],
    ) -> None:
        super().__init__(**options)
        self.level = exact_level(level)
        self.symmetric = bool(symmetric)
        self._center = float(center)
        self.thresholds = self._grid(smallest, largest, whole(per_doubling, name="per_doubling"))
        asked = self.price.epsilon or Fraction(0)
        sides = 1 if self.symmetric else 2
        each = UnboundedQuantile(
            level=self.level if self.symmetric else (1 + self.level) / 2,
            epsilon=asked / sides,
            relation=self.relation,
            thresholds=self.thresholds.size,
            rows=self.rows,
        )
        self._scan = each
        self.mechanism = each if self.symmetric else Scans([each] * sides, asked)

    def _grid(self, smallest: Number, largest: Number, per_doubling: int) -> NDArray[np.float64]:
        """Return the thresholds in increasing order."""
        low, high = positive_rational(smallest, name="smallest"), positive_rational(largest, name="largest")
        if not low < high:
            raise ParameterError(
                "smallest must be below largest; got the reverse, write a smaller one", parameter="smallest"
            )
        sizes = magnitudes(low, high, per_doubling=per_doubling)
        if sizes.size > _MOST:
            raise ParameterError(
                "there must be at most 65536 thresholds; got more, write a smaller per_doubling=",
                parameter="per_doubling",
            )
        zero = np.zeros(1)
        return np.concatenate([zero, sizes]) if self.symmetric else np.concatenate([-sizes[::-1], zero, sizes])

    def measure(self, value: Any) -> list[Number] | list[list[Number]]:
        """Return for the scan, or for each, the rows at or below every threshold, and all rows; private."""
        values, unit = split(value, self.rows)
        column = numbers(values).astype(np.float64)
        present = ~np.isnan(column)
        weights = None if unit is None else row_weights(unit, present, self.rows or 1)[present]
        with np.errstate(all="ignore"):  # what overflows is infinite, beyond every threshold
            shifted = column[present] - self._center
        if self.symmetric:
            return self._counts(np.abs(shifted), weights)
        return [self._counts(shifted, weights), self._counts(-shifted, weights)]

    def _counts(self, values: NDArray[np.float64], weights: NDArray[np.int64] | None) -> list[Number]:
        """Return how many rows lie at or below each threshold, and how many there are, exactly."""
        places = np.searchsorted(self.thresholds, values, side="left")
        length = self.thresholds.size + 1
        if weights is None:
            return [int(count) for count in np.cumsum(np.bincount(places, minlength=length))]
        sums = np.zeros(length, dtype=np.int64)
        np.add.at(sums, places, weights)
        return [Fraction(int(count), WEIGHT_UNIT) for count in np.cumsum(sums)]

    def estimate(self, released: Any, *, public_rows: int | None) -> Bounds:  # noqa: ARG002
        """Return the bounds; where no threshold was reported, the largest there is."""
        reports = (released,) if self.symmetric else released
        top = self.thresholds.size - 1
        ends = [float(self.thresholds[reported[0] if reported else top]) for reported in reports]
        high = ends[0]
        low = -ends[-1]
        if low >= high:  # noise alone: the two scans passed each other
            low, high = min(low, high, -float(self._least)), max(low, high, float(self._least))
        bounds = Bounds((low + self._center, high + self._center))
        bounds.guarantee, bounds.cost, bounds.rank_error = self.guarantee, self.loss, self.rank_error
        return bounds

    def wire(self, value: Any) -> dict[str, float]:
        """Run once and return the bounds by name: the form in which they leave."""
        low, high = self(value)
        return {"low": low, "high": high}

    @property
    def _least(self) -> float:
        """The least threshold above 0."""
        return float(self.thresholds[self.thresholds > 0][0])

    @cached_property
    def rank_error(self) -> float:
        """By how many rows a bound may miss its share, over all scans at once with the confidence."""
        sides = 1 if self.symmetric else 2
        return self._scan.error(1.0 - (1.0 - self.confidence) / sides)

    def _one_row_apart(self, *, added: bool) -> Tables:
        """A row lies far from the others."""
        return [([1.0, -1.0], [1.0, -1.0, 8.0]), ([], [1.0])] if added else [([1.0, -1.0], [1.0, 8.0])]


@named_after(ClippingBounds)
def clipping_bounds(values: Any, level: Number, *, unit: Any = None, **options: Unpack[ClippingOptions]) -> Bounds:
    """Return bounds for a column of numbers of unknown range, to be passed on as `bounds=`: see `ClippingBounds`.

    >>> clipping_bounds(
    ...     [3.0] * 1000, 0.9, relation=Relation.ADD_REMOVE, epsilon=1, symmetric=True
    ... )
    (-3.0, 3.0)
    """
    answer: Bounds = ClippingBounds(level=level, **options).answer(values, unit)
    return answer


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

    >>> scan = UnboundedQuantile(
    ...     level=0.9, epsilon=1, relation=Relation.ADD_REMOVE, thresholds=4
    ... )
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
        rows: int | None = None,
    ) -> None:
        self.level = exact_level(level)
        self.relation = stated_relation(relation)
        self.thresholds = whole(thresholds, name="thresholds")
        self.rows = bounded(rows)
        one = Fraction(1) if self.relation is Relation.CHANGE_ONE else max(self.level, 1 - self.level)
        self.stream = AboveThreshold(
            threshold=0,
            epsilon=epsilon,
            sensitivity=Sensitivity(one * (self.rows or 1), norm=Norm.LINF, relation=self.relation),
            grid=_GRID,
        )

    @property
    def _guaranteed(self) -> Fraction:
        """Epsilon as it was given to the stream."""
        return Fraction(self.stream.guarantee.epsilon)

    def __call__(self, value: Sequence[Number]) -> tuple[int, ...]:
        """Return the place of the reported threshold, in a tuple that is empty if no threshold was reported."""
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

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield counts of tables that differ in one row, below the first threshold or above the last."""
        for base in ([0, 0, 0, 0], [0, 2, 4, 4], [0, 20, 40, 40]):
            if self.relation is Relation.ADD_REMOVE:
                yield base, [count + 1 for count in base]
                yield base, [*base[:-1], base[-1] + 1]
            elif base[-1]:
                yield base, [*(count + 1 for count in base[:-2]), *base[-2:]]

    def __repr__(self) -> str:
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
