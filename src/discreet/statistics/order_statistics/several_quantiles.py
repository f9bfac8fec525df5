"""Several quantiles of a column at the price of one release."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Unpack

import numpy as np

from discreet.errors import MissingParameter
from discreet.privacy.estimate import NO_INTERVAL
from discreet.privacy.numbers import whole
from discreet.statistics.histograms import EstimateTable
from discreet.statistics.options import QuantilesOptions, SeveralQuantilesOptions, named_after
from discreet.statistics.order_statistics.even_bins import EvenBins
from discreet.statistics.order_statistics.intervals import QuantileIntervals
from discreet.statistics.order_statistics.joint import JointQuantiles
from discreet.statistics.order_statistics.ranked_statistic import RankedStatistic
from discreet.statistics.order_statistics.tree import ManyQuantiles, QuantileTree, increasing_levels
from discreet.statistics.pricing import choosable, epsilon_of, stated_switch
from discreet.statistics.ranks import HALVES, TIE_BITS, CountsAround, Integers, guarantee
from discreet.statistics.statistic import Tables

_FEW = 0.2  # expected rank error in parts between two levels, above which bins are better: measured
_WAYS: dict[type, str] = {EvenBins: "noisy counts of even bins"}
_MOST_AT_ONCE = 20  # the time for all at once grows with the square of their number


class Quantiles(RankedStatistic):
    """The values that given shares of the rows lie at or below, in order, of values clipped to [L, U].

    Three mechanisms can do it: all at once (`JointQuantiles`), the middle one first and the others on either side of it
    (`QuantileTree`), or noisy counts of even bins (`EvenBins`). Which of the first two is expected to have the smaller
    rank error depends on the levels, the relation and the kind of price, all of them public; that one is taken. For
    more than twenty levels, with fewer than 16 random bits to tell equal values apart, and where a person may have
    several rows, it is the tree. The bins are taken where `rows_expected` says that there are few rows for the price:
    where the expected rank error of the others is above a fifth of the rows between two levels. For whole numbers state
    grid=1: on a finer grid most positions lie between two of them, and so do most answers of the first two mechanisms.

    Privacy. epsilon-DP, or rho-zCDP, for all of them together, their intervals included.
        Proof: in the mechanisms; the position of a row on the grid depends on that row alone, and which mechanism is
        taken on nothing private.
    Accuracy. All answers at once are within `rank_errors` of their ranks with the stated confidence, whatever the data.
        For ten levels and epsilon, the mean squared rank error is about 23 / epsilon^2 under add/remove, where ten
        quantiles for a tenth of epsilon each have about 440 / epsilon^2. With interval=True half of the price buys
        counts of the rows around the values, and an interval for each: see `QuantileIntervals`.
    Cost. A sort, and a few passes over the rows near each quantile.
    Figure. quantiles-error.svg
    Reference. Gillenwater, Joseph, Kulesza 2021; Kaplan, Schnapp, Stemmer 2022.

    >>> from discreet.privacy import Relation
    >>> quartiles = Quantiles(
    ...     levels=(0.25, 0.5, 0.75),
    ...     bounds=(0, 120),
    ...     relation=Relation.ADD_REMOVE,
    ...     epsilon=2,
    ... )
    >>> round(quartiles([30.0] * 900 + [40.0] * 2000 + [50.0] * 900)[0.5].value)
    40
    """

    mechanism: ManyQuantiles | QuantileIntervals

    def __init__(
        self, *, levels: Any, interval: bool = False, tie_bits: int = TIE_BITS, **options: Unpack[QuantilesOptions]
    ) -> None:
        super().__init__(**options)
        self.levels = increasing_levels(levels)
        self.interval = stated_switch(interval, name="interval")
        self._labels = tuple(levels)
        self._tie_bits = tie_bits
        price = choosable(self.price)
        if price.error is None:
            self.mechanism = self._made(epsilon=price.epsilon, rho=price.rho)
            return
        if self._rows_expected is None:
            raise MissingParameter(
                "rows_expected= must be given with error=, as the error depends on how many rows share a value; got "
                "none, write about how many rows there are",
                parameter="rows_expected",
            )
        size = self._rows_expected

        def width(epsilon: Fraction) -> float:
            return max(self._made(epsilon=epsilon).error(self.confidence, rows_expected=size))

        self.mechanism = self._made(epsilon=epsilon_of(price, width))

    def _made(self, *, epsilon: Fraction | None, rho: Fraction | None = None) -> ManyQuantiles | QuantileIntervals:
        """Return the mechanism for a price, half of which buys intervals if they are asked for."""
        if not self.interval:
            return self._best(epsilon=epsilon, rho=rho)
        half: dict[str, Any] = {"epsilon": epsilon and epsilon / HALVES, "rho": rho and rho / HALVES}
        around = CountsAround(
            levels=self.levels,
            relation=self.relation,
            steps=self.scale.steps,
            confidence=self.confidence,
            rows=self.rows,
            **half,
        )
        return QuantileIntervals(self._best(**half), around, guarantee(epsilon, rho, self.relation))

    def _best(self, **price: Any) -> ManyQuantiles:
        """Return the mechanism with the smallest expected error at a price, by a rule on public numbers."""
        better, size = self._better(**price), self._rows_expected
        if size is None or self.price.error is not None:  # error= is a promise that bins cannot keep
            return better
        part = size / (len(self.levels) + 1)
        if math.sqrt(better.variance()) <= _FEW * part:
            return better
        return EvenBins(
            levels=self.levels,
            relation=self.relation,
            steps=self.scale.steps,
            rows_expected=size,
            rows=self.rows,
            **price,
        )

    def _better(self, **price: Any) -> JointQuantiles | QuantileTree:
        """Return the choice with the smaller expected rank error at a price."""
        asked = {
            "levels": self.levels,
            "relation": self.relation,
            "steps": self.scale.steps,
            "tie_bits": self._tie_bits,
            **price,
        }
        tree = QuantileTree(rows=self.rows, **asked)
        if self.rows is not None or len(self.levels) > _MOST_AT_ONCE or tree.tie_bits < TIE_BITS:
            return tree
        joint = JointQuantiles(size_is_public=self.size_is_public, **asked)
        return joint if joint.variance() <= tree.variance() else tree

    def rank_errors(self, rows_expected: int) -> list[float]:
        """Return for each level the rank distance that holds for all at once with the confidence.

        `rows_expected` bounds the number of rows.
        """
        return self.mechanism.error(self.confidence, rows_expected=whole(rows_expected, name="rows_expected"))

    def measure(self, value: Any) -> Integers | tuple[Integers, Integers]:
        """Return the positions of the rows, with their weights where persons have several; private."""
        positions, weights = self.positions(value)
        return positions if weights is None else (positions, weights)

    def estimate(self, released: Any, *, public_rows: int | None) -> EstimateTable:
        """Return the chosen values, each with its interval, if one was bought.

        Where the number of rows is public, released values whose ranks are certainly lower or higher bound each other
        for nothing, all at once; where none does, and none was bought, there is no interval.
        """
        count = len(self.levels)
        values = np.array([self.value_at(position) for position in released[:count]])
        if self.interval:
            ends = list(zip(released[count : 2 * count], released[2 * count :], strict=True))
            return self._table(values, ends, "counts of the rows around the values")
        known = public_rows if public_rows and self.size_is_public else None
        if known is None:
            return self._table(
                values, [None] * count, f"{_WAYS.get(type(self.mechanism), 'choices by rank')}, {NO_INTERVAL}"
            )
        errors = self.rank_errors(known)
        found = [self._tightest(level, released, known, errors) for level in self.levels]
        return self._table(values, found, "neighboring quantiles beyond their rank errors")

    def _table(self, values: Any, ends: Sequence[tuple[int, int] | None], method: str) -> EstimateTable:
        """Return values with intervals, NaN where there is none."""
        shown = [(math.nan, math.nan) if pair is None else self.bounds_at(*pair) for pair in ends]
        low, high = (np.array([pair[side] for pair in shown]) for side in (0, 1))
        return EstimateTable(self._labels, values, low, high, math.inf, *self._terms(method))

    def _tightest(
        self, wanted: Fraction, released: tuple[int, ...], rows: int, errors: list[float]
    ) -> tuple[int, int] | None:
        """Return the positions of the tightest values that are certainly on either side of a level; None for none."""
        pairs = list(zip(released, self.levels, errors, strict=True))
        low = max((at for at, level, error in pairs if level * rows + error < wanted * rows), default=None)
        high = min((at for at, level, error in pairs if level * rows - error > wanted * rows), default=None)
        if low is None and high is None:
            return None
        return (0 if low is None else low), (self.scale.steps if high is None else high)

    def _one_row_apart(self, *, added: bool) -> Tables:
        """A row lies at a bound."""
        low, high = self._ends
        if added:
            return [([low, high], [low, high, high]), ([], [low])]
        return [([low, high], [high, high]), ([low], [high])]


@named_after(Quantiles, without="tie_bits")
def quantiles(
    values: Any, levels: Any, *, unit: Any = None, **options: Unpack[SeveralQuantilesOptions]
) -> EstimateTable:
    """Return private quantiles of a column of numbers clipped to `bounds`, one for each level: see `Quantiles`.

    >>> from discreet.privacy import Relation
    >>> ages = [float(age) for age in range(20, 80)] * 100
    >>> found = quantiles(
    ...     ages,
    ...     (0.25, 0.5, 0.75),
    ...     bounds=(0, 120),
    ...     relation=Relation.ADD_REMOVE,
    ...     epsilon=1,
    ... )
    >>> [round(estimate.value, -1) for estimate in found.values()]
    [30.0, 50.0, 60.0]
    """
    answer: EstimateTable = Quantiles(levels=levels, **options).answer(values, unit)
    return answer
