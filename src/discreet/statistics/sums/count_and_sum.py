"""How many rows there are, or how many for which a condition holds; and the sum of a column between public bounds."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Unpack

import numpy as np

from discreet.errors import InputError, ParameterError
from discreet.frames import truths
from discreet.laws.number import Number, round_down, round_up
from discreet.mechanisms.domain import floats_on_grid
from discreet.privacy import Estimate, Relation
from discreet.statistics.columns import row_weights, split
from discreet.statistics.measurement import ROWS, Counts, PowerSums
from discreet.statistics.options import NoiseOptions, SumOptions, named_after
from discreet.statistics.pricing import NoisyVector, priced_noise
from discreet.statistics.statistic import BoundedStatistic, Statistic, Tables


class Count(Statistic):
    """The number of rows, with `filtered=True` of those rows whose truth value is True.

    Privacy. One person moves the count by at most 1, by at most `rows` where a person may have several rows.
        Under change-one the number of all rows is public and needs no noise; a filtered count moves by at most 1.
        Proof: a row counts 1 or nothing, and the rows of a person weigh `rows` together at most; when their
        rows change, what they weighed and what they weigh now both lie between 0 and `rows`.
    Accuracy. The interval is the exact quantile of the integer noise, cut at 0: below that no count lies.
    Cost. The number of rows is known without a pass; a condition is counted in one.
    Figure. count-error.svg
    Reference. Dwork, McSherry, Nissim, Smith 2006.

    >>> Count(relation=Relation.ADD_REMOVE, epsilon=1)(
    ...     range_of_ages := [31, 47, 52]
    ... ).guarantee
    PureDP(epsilon=1.0, relation=Relation.ADD_REMOVE)
    """

    def __init__(self, *, filtered: bool = False, **options: Unpack[NoiseOptions]) -> None:
        super().__init__(**options)
        self.filtered = bool(filtered)
        if self.relation is Relation.CHANGE_ONE and not self.filtered and self.rows is None:
            raise ParameterError(
                "relation must be Relation.ADD_REMOVE to count all rows: under change-one their number is public and "
                "costs nothing, len(values); got Relation.CHANGE_ONE, write where= to count rows for which a condition "
                "holds",
                parameter="relation",
            )
        self.mechanism = priced_noise(
            self.price,
            sensitivity=self._unit * (self.rows or 1),
            relation=self.relation,
            width=lambda noisy: noisy.error(self.confidence) / self._unit,
            scalar=True,
        )

    mechanism: NoisyVector

    def measure(self, value: Any) -> int:
        """Return the number of rows, in units of a row's smallest weight."""
        values, unit = split(value, self.rows)
        if unit is None and not self.filtered:
            return _length(values)
        kept = truths(values) if self.filtered else np.ones(_length(values), dtype=np.bool_)
        if unit is None:
            return int(np.count_nonzero(kept))
        return int(row_weights(unit, kept, self.rows or 1).sum())

    def estimate(self, released: Any, *, public_rows: int | None) -> Estimate:
        """Return the noisy count with its interval."""
        width = self.mechanism.error(self.confidence)
        value: Number = released if self._unit == 1 else released / self._unit
        high = max(released + width, 0)
        if public_rows is not None:
            high = min(high, public_rows * self._unit)
        low = min(max(released - width, 0), high)
        return self._estimated(value, low / self._unit, high / self._unit, "exact quantile of the noise")

    def _adds_up(self, column: str, people: int | None) -> Counts:  # noqa: ARG002  a count needs neither
        return Counts(ROWS, self._unit, not self._often, self._often)

    def _check_named(self, column: str, where: str) -> None:  # noqa: ARG002  rows are counted, not values
        if self.filtered and not where:
            raise ParameterError(
                "where= must be given beside table=, or nobody could tell two conditions apart; got none, write which "
                'rows were counted, such as where="smokers"',
                parameter="where",
            )

    def _one_row_apart(self, *, added: bool) -> Tables:
        """A row for which the condition holds comes, goes, or did not hold before."""
        return [([True] * 3, [True] * 4), ([True], [])] if added else [([True, False], [True, True])]


def _length(values: Any) -> int:
    """Return the number of rows of a column without looking at it."""
    if isinstance(values, str | bytes | dict | set | frozenset) or not hasattr(values, "__len__"):
        raise InputError(
            f"values must be a column or a frame; got {type(values).__name__}, write a list, an array or a frame"
        )
    if isinstance(values, np.ndarray) and values.ndim == 0:
        raise InputError("values must be a column, an array of one dimension or more; got a single value")
    return len(values)


@named_after(Count, without="filtered")
def count(values: Any = None, *, where: Any = None, unit: Any = None, **options: Unpack[NoiseOptions]) -> Estimate:
    """Return a private number of rows of a column or frame, or of rows `where` a condition holds: see `Count`.

    >>> answer = count(list(range(1000)), relation=Relation.ADD_REMOVE, epsilon=1)
    >>> abs(answer.value - 1000) < 50, answer.high - answer.low
    (True, 6.0)
    """
    answer: Estimate = Count(filtered=where is not None, **options).answer(values if where is None else where, unit)
    return answer


class Sum(BoundedStatistic):
    """The sum of values clipped to [L, U]; missing values count 0, or what `missing=` says.

    Privacy. One row moves the sum by at most max(|L|, |U|) under add/remove. Under change-one it moves it by at most
        U - L, and by at most max(U - L, |L|, |U|) where a value may turn out missing. Persons with several rows:
        `rows` times that under add/remove; under change-one what a person adds lies between c min(L, 0) and
        c max(U, 0), and the sum moves by at most the difference.
        Proof: after clipping and rounding a row adds an integer number of steps between L and U, or nothing. Adding a
        row moves the sum by that; changing one, by the difference of two such numbers, one of which may be 0.
    Accuracy. The interval is the exact quantile of the integer noise. It is for the sum of the values as they were
        clipped and rounded to the grid; rounding moves that by half a step a row at most, 2^-37 of U - L unless
        `grid=` was given.
    Cost. One pass in cache-sized chunks, exact integers throughout.
    Figure. sum-error.svg
    Reference. Dwork, McSherry, Nissim, Smith 2006.

    >>> total = Sum(bounds=(0, 10), relation=Relation.ADD_REMOVE, epsilon=1)(
    ...     [3.5, 4.5, 100.0]
    ... )
    >>> total.high > total.value > total.low
    True
    """

    def __init__(self, **options: Unpack[SumOptions]) -> None:
        super().__init__(**options)
        self.mechanism = priced_noise(
            self.price,
            sensitivity=self.sensitivity,
            relation=self.relation,
            width=lambda noisy: round_up(noisy.error(self.confidence) * self._step),
            scalar=True,
        )

    @property
    def sensitivity(self) -> int:
        """How far one person moves the sum, in steps of the grid times the unit of the weights."""
        low, high = self.scale.start, self.scale.end
        most = max(abs(low), abs(high))
        if self.relation is Relation.CHANGE_ONE:
            most = high - low if self._size_is_known else max(high, 0) - min(low, 0)
        return max(most, 1) * (self.rows or 1) * self._unit

    @property
    def _step(self) -> Fraction:
        """The unit in which the sum is measured."""
        return self.scale.grid / self._unit

    def measure(self, value: Any) -> int:
        """Return the exact sum in steps."""
        totals = self.totals(value)
        return totals.first + self.scale.start * totals.present

    def estimate(self, released: Any, *, public_rows: int | None) -> Estimate:  # noqa: ARG002
        """Return the noisy sum with its interval."""
        width = self.mechanism.error(self.confidence)
        return self._estimated(
            released if self._step == 1 else floats_on_grid(released, self._step),
            round_down((released - width) * self._step),
            round_up((released + width) * self._step),
            "exact quantile of the noise",
        )

    def _adds_up(self, column: str, people: int | None) -> PowerSums:  # noqa: ARG002  the number is no part of it
        return self._power_sums(column, ((self.scale.start, 1, 0),))

    def _one_row_apart(self, *, added: bool) -> Tables:
        """A row takes a bound, or its value is missing."""
        low, high = self._ends
        if added:
            return [([low], [low, high]), ([low, high], [high])]
        missing = [([high, low], [None, low]), ([low], [None])]
        return [([low, high], [high, high]), *(missing if self._fill is None else [])]


@named_after(Sum)
def sum(values: Any, *, unit: Any = None, **options: Unpack[SumOptions]) -> Estimate:
    """Return a private sum of a column of numbers clipped to `bounds`: see `Sum`.

    >>> abs(
    ...     sum(
    ...         [1.0] * 1000, bounds=(0, 2), relation=Relation.ADD_REMOVE, epsilon=1
    ...     ).value
    ...     - 1000
    ... ) < 100
    True
    """
    answer: Estimate = Sum(**options).answer(values, unit)
    return answer
