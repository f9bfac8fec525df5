"""Several quantiles, each with an interval: half of the price for the values, half for counts around them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from discreet.errors import ParameterError
from discreet.laws import Law
from discreet.mechanisms import Mechanism
from discreet.privacy import Guarantee, PrivacyLoss, compose
from discreet.statistics.order_statistics.tree import ManyQuantiles
from discreet.statistics.ranks import CountsAround


class QuantileIntervals(Mechanism):
    """Return the positions of several quantiles, then the lower ends, then the upper ends of their intervals.

    `values` and `around` have half of the price each, which `guarantee` states.

    Privacy. The guarantee of the two together.
        Proof: adaptive composition. The counts know the released positions, and the intervals follow from the two.
    Accuracy. Each interval holds every quantile of the table at its level with the confidence, one at a time, on every
        table; it is widened to hold the value.
        Proof: in `CountsAround`, given the positions whatever they are.
    Cost. That of the quantiles, and a search of every row among a few hundred cuts.
    """

    def __init__(self, values: ManyQuantiles, around: CountsAround, guarantee: Guarantee) -> None:
        self.values, self.around = values, around
        self._guarantee = guarantee

    @property
    def guarantee(self) -> Guarantee:
        """What the two halves add up to."""
        return self._guarantee

    @property
    def loss(self) -> PrivacyLoss:
        """The price of the values and of the counts."""
        return compose([self.values.loss, self.around.loss])

    def __call__(self, value: Any) -> tuple[int, ...]:
        """Return all values, all lower ends, all upper ends; `value` as the quantiles take it."""
        return self.with_intervals(self.values(value), value)

    def with_intervals(self, chosen: tuple[int, ...], rows: Any) -> tuple[int, ...]:
        """Count the rows around released values, and return those with their intervals."""
        ends = self.around.ends(chosen, self.around((chosen, rows)))
        lows = (min(low, at) for at, (low, _) in zip(chosen, ends, strict=True))
        highs = (max(high, at) for at, (_, high) in zip(chosen, ends, strict=True))
        return (*chosen, *lows, *highs)

    def law(self, value: Any) -> Law[Any]:  # noqa: ARG002
        """Raise an error: the law is that of the values and, for each outcome, that of the counts."""
        raise ParameterError(
            "interval must be False for the exact law in one table; got True, use the laws of the two parts, "
            "`mechanism.values.law(rows)` and `mechanism.around.law((positions, rows))`",
            parameter="interval",
        )

    def variance(self) -> float:
        """Return about the mean squared rank error of the values."""
        return self.values.variance()

    def error(self, confidence: float, *, rows_expected: int) -> list[float]:
        """Return the rank errors of the values."""
        return self.values.error(confidence, rows_expected=rows_expected)

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield the neighbors of the quantiles."""
        return self.values.neighbors()

    def __repr__(self) -> str:
        return f"QuantileIntervals({self.values!r}, {self.guarantee})"
