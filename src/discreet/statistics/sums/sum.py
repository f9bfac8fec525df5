"""The sum of a column of numbers between public bounds."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from discreet.laws.number import Number, round_down, round_up
from discreet.mechanisms.domain import floats_on_grid
from discreet.privacy import Estimate, Relation
from discreet.statistics.columns import Missing
from discreet.statistics.pricing import stated_price
from discreet.statistics.statistic import BoundedStatistic, Tables, answered


class Sum(BoundedStatistic):
    """The sum of values clipped to [L, U]; missing values count 0, or what `missing=` says.

    Privacy. One row moves the sum by at most max(|L|, |U|) under add/remove. Under change-one it moves it by at most
        U - L, and by at most max(U - L, |L|, |U|) where a value may turn out missing. Persons with several rows:
        `contribution` times that under add/remove; under change-one what a person adds lies between c min(L, 0) and
        c max(U, 0), and the sum moves by at most the difference.
        Proof: after clipping and rounding a row adds an integer number of steps between L and U, or nothing. Adding a
        row moves the sum by that; changing one, by the difference of two such numbers, one of which may be 0.
    Accuracy. The interval is the exact quantile of the integer noise. It is for the sum of the values as they were
        clipped and rounded to the grid; rounding moves that by half a step a row at most, 2^-37 of U - L unless
        `grid=` was given.
    Cost. One pass in cache-sized chunks, exact integers throughout.
    Figure. sum-error.svg
    Reference. Dwork, McSherry, Nissim, Smith 2006.

    >>> total = Sum(bounds=(0, 10), relation=Relation.ADD_REMOVE, epsilon=1)([3.5, 4.5, 100.0])
    >>> total.high > total.value > total.low
    True
    """

    def __init__(
        self,
        *,
        bounds: Any = None,
        relation: Relation | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        error: Number | None = None,
        confidence: float = 0.95,
        missing: Missing | Number = Missing.LEAVE_OUT,
        grid: Number | None = None,
        contribution: int | None = None,
    ) -> None:
        """With `grid=1` and whole bounds the values are rounded to whole numbers and the answer is one."""
        super().__init__(bounds, grid, missing, contribution, relation=relation, confidence=confidence)
        self.mechanism = stated_price(epsilon=epsilon, delta=delta, rho=rho, error=error).noise(
            shift=self.shift,
            relation=self.relation,
            width=lambda noisy: round_up(noisy.error(self.confidence) * self._step),
            scalar=True,
        )

    @property
    def shift(self) -> int:
        """How far one person moves the sum, in steps of the grid times the unit of the weights."""
        low, high = self.scale.start, self.scale.end
        most = max(abs(low), abs(high))
        if self.relation is Relation.CHANGE_ONE:
            most = high - low if self._size_is_known else max(high, 0) - min(low, 0)
        return max(most, 1) * (self.contribution or 1) * self._unit

    @property
    def _step(self) -> Fraction:
        """The unit in which the sum is measured."""
        return self.scale.grid / self._unit

    def measure(self, value: Any) -> int:
        """Return the exact sum in steps."""
        totals = self.totals(value)
        return totals.first + self.scale.start * totals.present

    def estimate(self, released: Any, *, rows: int | None) -> Estimate:  # noqa: ARG002
        """Return the noisy sum with its interval."""
        width = self.mechanism.error(self.confidence)
        return self._estimated(
            released if self._step == 1 else floats_on_grid(released, self._step),
            round_down((released - width) * self._step),
            round_up((released + width) * self._step),
            "exact quantile of the noise",
        )

    def _one_row_apart(self, *, added: bool) -> Tables:
        """A row takes a bound, or its value is missing."""
        low, high = self._ends
        if added:
            return [([low], [low, high]), ([low, high], [high])]
        missing = [([high, low], [None, low]), ([low], [None])]
        return [([low, high], [high, high]), *(missing if self._fill is None else [])]


def sum(
    values: Any,
    *,
    bounds: Any = None,
    relation: Relation | None = None,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    error: Number | None = None,
    confidence: float = 0.95,
    missing: Missing | Number = Missing.LEAVE_OUT,
    grid: Number | None = None,
    unit: Any = None,
    contribution: int | None = None,
) -> Estimate:
    """Return a private sum of a column of numbers clipped to `bounds`: see `Sum`.

    >>> abs(sum([1.0] * 1000, bounds=(0, 2), relation=Relation.ADD_REMOVE, epsilon=1).value - 1000) < 100
    True
    """
    answer: Estimate = answered(Sum, locals())
    return answer
