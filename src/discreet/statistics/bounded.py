"""What statistics of a bounded column share: its grid, the rule for missing values, and whose rows they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.laws.number import Number
from discreet.privacy import Relation, Target
from discreet.statistics.columns.contribution import WEIGHT_UNIT, row_weights, split, stated_contribution
from discreet.statistics.columns.fixed_point import FixedPoint, Totals
from discreet.statistics.columns.missing import Missing, replacement
from discreet.statistics.columns.numbers import numbers
from discreet.statistics.pricing.noisy_vector import NoisyVector
from discreet.statistics.statistic import Statistic


class BoundedStatistic(Statistic):
    """A statistic of numbers clipped to public bounds."""

    mechanism: NoisyVector

    def __init__(
        self,
        *,
        bounds: Any,
        relation: Relation | None,
        confidence: float,
        missing: Missing | Number,
        contribution: int | None,
        grid: Number | None = None,
        target: Target = Target.TABLE,
    ) -> None:
        """Settle the public numbers."""
        super().__init__(relation=relation, confidence=confidence, target=target)
        self.scale = FixedPoint.between(bounds, grid=grid)
        replaced = replacement(missing)
        self._fill = None if replaced is None else self.scale.position(replaced)
        self.contribution = stated_contribution(contribution)
        self._unit = 1 if self.contribution is None else WEIGHT_UNIT

    def totals(self, value: Any, *, squares: bool = False) -> Totals:
        """Return the exact sums over a table, missing values left out or replaced; private."""
        values, unit = split(value, self.contribution)
        column = numbers(values)
        if unit is not None:
            return self._weighted(column, unit)
        totals = self.scale.totals(column, squares=squares)
        if self._fill is None:
            return totals
        missing = column.size - totals.present
        return Totals(column.size, totals.first + missing * self._fill, totals.second + missing * self._fill**2)

    def _weighted(self, column: Any, unit: Any) -> Totals:
        """Return the sums in which the rows of a person weigh no more than the contribution."""
        positions = self.scale.positions(column)
        absent = np.isnan(positions)
        positions[absent] = 0.0 if self._fill is None else float(self._fill)
        kept = ~absent if self._fill is None else np.ones(absent.size, dtype=np.bool_)
        weights = row_weights(unit, kept, self.contribution or 1)
        return self.scale.weighted_totals(positions, weights)
