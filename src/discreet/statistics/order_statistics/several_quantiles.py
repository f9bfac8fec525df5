"""Several quantiles of a column at the price of one release."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Unpack

import numpy as np

from discreet.errors import MissingParameter
from discreet.privacy.numbers import whole
from discreet.statistics.histograms import EstimateTable
from discreet.statistics.options import QuantilesOptions, named_after
from discreet.statistics.order_statistics.joint import JointQuantiles
from discreet.statistics.order_statistics.ranked_statistic import RankedStatistic
from discreet.statistics.order_statistics.tree import QuantileTree, increasing_levels
from discreet.statistics.pricing import choosable, epsilon_of
from discreet.statistics.ranks import TIE_BITS, Integers
from discreet.statistics.statistic import Tables

_MOST_AT_ONCE = 20  # the time for all at once grows with the square of their number


class Quantiles(RankedStatistic):
    """The values that given shares of the rows lie at or below, in order, of values clipped to [L, U].

    Two mechanisms can do it: all at once (`JointQuantiles`), or the middle one first and the others on either side of
    it (`QuantileTree`). Which one is expected to have the smaller rank error depends on the levels, the relation and
    the kind of price, all of them public; that one is taken. For more than twenty levels, with fewer than 16 random
    bits to tell equal values apart, and where a person may have several rows, it is the tree.

    Privacy. epsilon-DP, or rho-zCDP, for all of them together.
        Proof: in the two mechanisms; the position of a row on the grid depends on that row alone.
    Accuracy. All answers at once are within `rank_errors` of their ranks with the stated confidence, whatever the data.
        For ten levels and epsilon, the mean squared rank error is about 23 / epsilon^2 under add/remove, where ten
        quantiles for a tenth of epsilon each have about 440 / epsilon^2.
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

    mechanism: JointQuantiles | QuantileTree

    def __init__(self, *, levels: Any, tie_bits: int = TIE_BITS, **options: Unpack[QuantilesOptions]) -> None:
        super().__init__(**options)
        self.levels = increasing_levels(levels)
        self._labels = tuple(levels)
        self._tie_bits = tie_bits
        price = choosable(self.price)
        if price.error is None:
            self.mechanism = self._better(epsilon=price.epsilon, rho=price.rho)
            return
        if self._rows_expected is None:
            raise MissingParameter(
                "rows_expected= must be given with error=, as the error depends on how many rows share a value; got "
                "none, write about how many rows there are",
                parameter="rows_expected",
            )
        size = self._rows_expected

        def width(epsilon: Fraction) -> float:
            return max(self._better(epsilon=epsilon).error(self.confidence, rows_expected=size))

        self.mechanism = self._better(epsilon=epsilon_of(price, width))

    def _better(self, **price: Any) -> JointQuantiles | QuantileTree:
        """Return the mechanism with the smaller expected rank error at a price."""
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
        """Return the chosen values, each with an interval; the intervals hold for all levels at once.

        Where the number of rows is public, released values whose ranks are certainly lower or higher bound each other;
        elsewhere the bounds do.
        """
        known = public_rows if public_rows and self.size_is_public else None
        errors = None if known is None else self.rank_errors(known)
        ends = [self.bounds_at(*self._tightest(level, released, known, errors)) for level in self.levels]
        return EstimateTable(
            self._labels,
            np.array([self.value_at(position) for position in released]),
            np.array([low for low, _ in ends]),
            np.array([high for _, high in ends]),
            math.inf,
            *self._terms("the bounds" if known is None else "neighboring quantiles beyond their rank errors"),
        )

    def _tightest(
        self, wanted: Fraction, released: tuple[int, ...], rows: int | None, errors: list[float] | None
    ) -> tuple[int, int]:
        """Return the positions of the tightest values that are certainly on either side of a level."""
        if rows is None or errors is None:
            return 0, self.scale.steps
        pairs = list(zip(released, self.levels, errors, strict=True))
        low = max((at for at, level, error in pairs if level * rows + error < wanted * rows), default=0)
        high = min((at for at, level, error in pairs if level * rows - error > wanted * rows), default=self.scale.steps)
        return low, high

    def _one_row_apart(self, *, added: bool) -> Tables:
        """A row lies at a bound."""
        low, high = self._ends
        if added:
            return [([low, high], [low, high, high]), ([], [low])]
        return [([low, high], [high, high]), ([low], [high])]


@named_after(Quantiles, without="tie_bits")
def quantiles(values: Any, levels: Any, *, unit: Any = None, **options: Unpack[QuantilesOptions]) -> EstimateTable:
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
