"""What statistics of ranks share: a column on its grid, as whole positions, with the weights of its rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.frames import numbers
from discreet.laws.number import Number, round_down, round_up
from discreet.statistics.columns import row_weights, split
from discreet.statistics.ranks import Integers
from discreet.statistics.statistic import ClippedStatistic

_CHUNK = 1 << 15


class RankedStatistic(ClippedStatistic):
    """A statistic of the order of numbers that were clipped to public bounds and rounded to a public grid."""

    accepts = ("epsilon", "rho", "error")
    delta_with = ()

    @property
    def size_is_public(self) -> bool:
        """Whether all neighbors have the same number of rows to rank."""
        return self._size_is_known

    def positions(self, value: Any) -> tuple[Integers, Integers | None]:
        """Return the positions of the rows that count, and their weights where persons have several; private."""
        values, unit = split(value, self.rows)
        column = numbers(values)
        found = np.empty(column.size, dtype=np.int64)
        present = np.ones(column.size, dtype=np.bool_)
        for begin in range(0, column.size, _CHUNK):
            part = self.scale.positions(column[begin : begin + _CHUNK])
            absent = np.isnan(part)
            part[absent] = 0.0 if self._fill is None else float(self._fill)
            found[begin : begin + _CHUNK] = part
            present[begin : begin + _CHUNK] = ~absent
        if unit is not None:
            kept = present if self._fill is None else np.ones(column.size, dtype=np.bool_)
            return found, row_weights(unit, kept, self.rows or 1)
        return (found, None) if self._fill is not None or present.all() else (found[present], None)

    def value_at(self, position: int) -> Number:
        """Return what a position stands for, a whole number where the grid is whole."""
        exact = self.scale.value(min(max(position, 0), self.scale.steps))
        return int(exact) if self.scale.grid.denominator == 1 else float(exact)

    def bounds_at(self, low: int, high: int) -> tuple[float, float]:
        """Return what two positions stand for, rounded outward, and half a step further where rows were rounded."""
        half = self.scale.grid / 2 if self._rounds else 0
        bottom, top = 0, self.scale.steps
        first = self.scale.value(max(low, bottom)) - (half if low > bottom else 0)
        last = self.scale.value(min(high, top)) + (half if high < top else 0)
        return round_down(first), round_up(last)
