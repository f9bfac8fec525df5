"""How many rows, or how many rows for which a condition holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.errors import InputError, ParameterError
from discreet.laws.number import Number
from discreet.privacy import Estimate, Relation
from discreet.statistics.columns import WEIGHT_UNIT, row_weights, split, stated_contribution, truths
from discreet.statistics.pricing import NoisyVector, stated_price
from discreet.statistics.statistic import Statistic, Tables, answered


class Count(Statistic):
    """The number of rows, with `filtered=True` of those rows whose truth value is True.

    Privacy. One person moves the count by at most 1, by at most `contribution` where a person may have several rows.
        Under change-one the number of all rows is public and needs no noise; a filtered count moves by at most 1.
        Proof: a row counts 1 or nothing, and the rows of a person weigh `contribution` together at most; when their
        rows change, what they weighed and what they weigh now both lie between 0 and `contribution`.
    Accuracy. The interval is the exact quantile of the integer noise, cut at 0: below that no count lies.
    Cost. The number of rows is known without a pass; a condition is counted in one.
    Figure. count-error.svg
    Reference. Dwork, McSherry, Nissim, Smith 2006.

    >>> Count(relation=Relation.ADD_REMOVE, epsilon=1)(range_of_ages := [31, 47, 52]).guarantee
    PureDP(epsilon=1.0, relation=Relation.ADD_REMOVE)
    """

    def __init__(
        self,
        *,
        relation: Relation | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        error: Number | None = None,
        confidence: float = 0.95,
        filtered: bool = False,
        contribution: int | None = None,
    ) -> None:
        """`filtered` counts True values; otherwise every row counts."""
        super().__init__(relation=relation, confidence=confidence)
        self.filtered = bool(filtered)
        self.contribution = stated_contribution(contribution)
        if self.relation is Relation.CHANGE_ONE and not self.filtered and self.contribution is None:
            raise ParameterError(
                "under change-one the number of rows is public: take len(values), at no price. Count rows for which a "
                "condition holds with where=, or protect presence too with relation=Relation.ADD_REMOVE",
                parameter="relation",
            )
        self._unit = 1 if self.contribution is None else WEIGHT_UNIT
        shift = self._unit * (self.contribution or 1)
        self.mechanism = stated_price(epsilon=epsilon, delta=delta, rho=rho, error=error).noise(
            shift=shift,
            relation=self.relation,
            width=lambda noisy: noisy.error(self.confidence) / self._unit,
            scalar=True,
        )

    mechanism: NoisyVector

    def measure(self, value: Any) -> int:
        """Return the number of rows, in units of a row's smallest weight."""
        values, unit = split(value, self.contribution)
        if unit is None and not self.filtered:
            return _length(values)
        kept = truths(values) if self.filtered else np.ones(_length(values), dtype=np.bool_)
        if unit is None:
            return int(np.count_nonzero(kept))
        return int(row_weights(unit, kept, self.contribution or 1).sum())

    def estimate(self, released: Any, *, rows: int | None) -> Estimate:
        """Return the noisy count with its interval."""
        width = self.mechanism.error(self.confidence)
        value: Number = released if self._unit == 1 else released / self._unit
        high = max(released + width, 0)
        if rows is not None:
            high = min(high, rows * self._unit)
        low = min(max(released - width, 0), high)
        return self._estimated(value, low / self._unit, high / self._unit, "exact quantile of the noise")

    def _one_row_apart(self, *, added: bool) -> Tables:
        """A row for which the condition holds comes, goes, or did not hold before."""
        return [([True] * 3, [True] * 4), ([True], [])] if added else [([True, False], [True, True])]


def _length(values: Any) -> int:
    """Return the number of rows of a column without looking at it."""
    if isinstance(values, str | bytes | dict | set | frozenset) or not hasattr(values, "__len__"):
        raise InputError(f"count takes a column or a frame, not {type(values).__name__}")
    if isinstance(values, np.ndarray) and values.ndim == 0:
        raise InputError("count takes a column: an array of one dimension or more")
    return len(values)


def count(
    values: Any = None,
    *,
    where: Any = None,
    relation: Relation | None = None,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    error: Number | None = None,
    confidence: float = 0.95,
    unit: Any = None,
    contribution: int | None = None,
) -> Estimate:
    """Return a private number of rows of a column or frame, or of rows `where` a condition holds: see `Count`.

    >>> answer = count(list(range(1000)), relation=Relation.ADD_REMOVE, epsilon=1)
    >>> abs(answer.value - 1000) < 50, answer.high - answer.low
    (True, 6.0)
    """
    stated = locals().copy()
    condition = stated.pop("where")
    stated |= {"values": values if condition is None else condition, "filtered": condition is not None}
    answer: Estimate = answered(Count, stated)
    return answer
