"""Statements about the data that a price trusts, false on purpose: the neighbors are those of tables."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

from discreet.audit import Level, OnTables
from discreet.laws import Finite, Law, Product
from discreet.mechanisms import AboveThreshold, Exponential, Mechanism, NoisyMax, PermuteAndFlip, Top
from discreet.privacy import Guarantee, Norm, PrivacyLoss, Relation, Sensitivity
from discreet.synthesis import Domain, Neighbors, NoisyAnswers, marginals
from discreet.testing.planted.fault import Planted

Table = tuple[Any, ...]
_CHANGED = Sensitivity(1, norm=Norm.LINF, relation=Relation.CHANGE_ONE)
_ADDED = Sensitivity(1, norm=Norm.LINF, relation=Relation.ADD_REMOVE)


def counts(table: Table) -> list[int]:
    """Count three categories: a row that changes raises one count and lowers another."""
    return [table.count(category) for category in "abc"]


def leads(table: Table) -> list[int]:
    """Count one category up and another down: a row that is added raises one score and lowers the other."""
    return [table.count("a") - table.count("b"), table.count("b") - table.count("a")]


def stream(table: Table) -> list[int]:
    """Watch a lead three times and then its negative, on either side of a threshold of 0."""
    lead, _ = leads(table)
    return [6 + lead] * 3 + [-6 - lead]


class MonotoneUnderChange(NoisyMax):
    """The saving for monotone scores, taken under change-one."""

    def __init__(self) -> None:
        super().__init__(epsilon=1, sensitivity=_ADDED, monotone=True)
        self.relation = Relation.CHANGE_ONE


class MeasuredAnswers(Mechanism):
    """What `NoisyAnswers` measures of all records, and the number of them that it tells: stated, or counted."""

    def __init__(self, *, counted: bool) -> None:
        self._counted = counted
        workload = marginals(Domain.of(category=["a", "b"]), ways=1)
        neighbors = Neighbors(Relation.CHANGE_ONE, people=3)
        self._answers = NoisyAnswers.of(workload, neighbors, epsilon=2)
        self.relation = Relation.CHANGE_ONE

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the allowance."""
        return self._answers.allowance.guarantee

    @property
    def loss(self) -> PrivacyLoss:
        """The price of the guarantee."""
        return PrivacyLoss.from_guarantee(self.guarantee)

    def law(self, value: Any) -> Law[Any]:
        """Return the law of the noisy counts, and of the number of records that is told with them."""
        method = self._answers
        records = method.workload.domain.encode({"category": list(value)})
        measurement = method.measurement
        steps = measurement.steps(method.workload.counts(records)[measurement.ties.measured], len(records))
        noisy = method._noise(measurement).law(steps)
        known = len(records) if self._counted else method.allowance.neighbors.stated_count
        return Product([*getattr(noisy, "laws", (noisy,)), Finite([known], [Fraction(1)])])

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield what the statement leaves: one record changed."""
        yield ["a", "a", "b"], ["a", "b", "b"]

    def __call__(self, value: Any) -> Any:
        """Draw from the law."""
        return tuple(self.law(value).sample().tolist())


def with_data(table: Table) -> list[Any]:
    """Return the records of those who have one."""
    return [row for row in table if row is not None]


_categories = partial(OnTables, query=counts, rows=["a", "b", "c"], people=2)
_both_ways = partial(OnTables, rows=["a", "b"], people=2)


def _twins(kind: Any, query: Any = leads, **stated: Any) -> dict[str, Any]:
    """Return a mechanism that is told its scores are monotone, and the same one without that."""
    return {
        "make": lambda: _both_ways(kind(sensitivity=_ADDED, monotone=True, **stated), query=query),
        "right": lambda: _both_ways(kind(sensitivity=_ADDED, **stated), query=query),
    }


FAULTS = [
    Planted("NoisyMax: monotone under change-one", "a changed row raises one count, lowers another", Level.EXACT,
            lambda: _categories(MonotoneUnderChange()),
            lambda: _categories(NoisyMax(epsilon=1, sensitivity=_CHANGED))),
    Planted("NoisyMax: monotone, false on tables", "an added row moves scores both ways", Level.EXACT,
            **_twins(NoisyMax, epsilon=1)),
    Planted("NoisyMax: monotone lead, false on tables", "an added row moves scores both ways", Level.EXACT,
            **_twins(NoisyMax, epsilon=1, gap=True)),
    Planted("Exponential: monotone, false on tables", "an added row moves scores both ways", Level.EXACT,
            **_twins(Exponential, epsilon=1)),
    Planted("PermuteAndFlip: monotone, false on tables", "an added row moves scores both ways", Level.EXACT,
            **_twins(PermuteAndFlip, epsilon=1)),
    Planted("Top: monotone, false on tables", "an added row moves scores both ways", Level.EXACT,
            **_twins(Top, k=1, epsilon=1)),
    Planted("AboveThreshold: monotone, false on tables", "an added row moves values both ways", Level.EXACT,
            **_twins(AboveThreshold, stream, epsilon=1, threshold=0)),
    Planted("Neighbors: everyone has a record, false", "the records are counted, not stated", Level.EXACT,
            lambda: OnTables(MeasuredAnswers(counted=True), query=with_data, rows=["a", "b", None], people=3),
            lambda: OnTables(MeasuredAnswers(counted=False), query=with_data, rows=["a", "b", None], people=3)),
]  # fmt: skip
