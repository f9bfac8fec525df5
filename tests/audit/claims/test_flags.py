"""Statements about the data that a price trusts: refused where they cannot be true, refuted where they are false.

| statement | where | false on purpose |
|---|---|---|
| `monotone=True` | every choice, AboveThreshold | refused under change-one; else refuted |
| no relation with `monotone=True` | the same | the guarantee says add/remove, and composes with nothing else |
| `everyone=True` | synthesis.Neighbors | harmless: the stated size is used; counting the records is refuted |
| `sensitivity=` | every mechanism that takes one | refuted |
| `keys=` | ThresholdedHistogram | refuted |
| one row a person (no `rows=`) | statistics | refuted |
| `parts_per_person=` | parallel composition | refuted |
| `size_is_public=True` | JointQuantiles | harmless: the guarantee is kept |
| `missing=` a number under change-one | statistics | not trusted: the values are replaced |
"""

from __future__ import annotations

import math
import re
from functools import partial
from typing import Any

import numpy as np
import pytest

from discreet import statistics
from discreet.audit import OnTables, Outcome, audit
from discreet.errors import ConflictingParameters, MissingParameter, ParameterError, RelationMismatch
from discreet.laws.finite import Tabulated
from discreet.mechanisms import (
    AboveThreshold,
    Exponential,
    Laplace,
    Mechanism,
    NoisyMax,
    PermuteAndFlip,
    ThresholdedHistogram,
    Top,
)
from discreet.privacy import Norm, PureDP, Relation, Sensitivity, basic_composition, parallel
from discreet.statistics.columns.person_rows import Rows
from discreet.statistics.order_statistics.joint import JointQuantiles
from discreet.testing.planted.flags import counts, leads, stream

ADDED, CHANGED = Relation.ADD_REMOVE, Relation.CHANGE_ONE
CHOICES: dict[str, Any] = {
    "NoisyMax": partial(NoisyMax, epsilon=1),
    "NoisyMax with its lead": partial(NoisyMax, epsilon=1, gap=True),
    "Exponential": partial(Exponential, epsilon=1),
    "PermuteAndFlip": partial(PermuteAndFlip, epsilon=1),
    "Top": partial(Top, k=2, epsilon=1),
    "Top by rho": partial(Top, k=2, rho=0.5),
    "AboveThreshold": partial(AboveThreshold, threshold=0, epsilon=1),
    "AboveThreshold, two hits": partial(AboveThreshold, threshold=0, epsilon=1, hits=2),
    "AboveThreshold with gaps": partial(AboveThreshold, threshold=0, epsilon=3, gap=True),
}
each_choice = pytest.mark.parametrize("make", CHOICES.values(), ids=CHOICES.keys())


def score_of(relation: Relation, value: Any = 1) -> Sensitivity:
    return Sensitivity(value, norm=Norm.LINF, relation=relation)


@pytest.mark.theorem("moved_by.privacy")
@each_choice
def test_monotone_scores_are_refused_under_change_one(make):
    with pytest.raises(ConflictingParameters, match="Leave monotone=True out") as refusal:
        make(sensitivity=score_of(CHANGED), monotone=True)
    assert refusal.value.parameter == "monotone"
    assert make(sensitivity=score_of(CHANGED)).relation is CHANGED


@pytest.mark.theorem("moved_by.privacy")
@each_choice
def test_monotone_scores_without_a_relation_are_guaranteed_for_add_remove_only(make):
    mechanism = make(sensitivity=1, monotone=True)
    guarantee = mechanism.guarantee
    assert mechanism.relation is guarantee.relation is mechanism.loss.relation is ADDED
    assert "relation=ADD_REMOVE" in repr(mechanism)
    with pytest.raises(RelationMismatch):
        basic_composition([guarantee, guarantee.under(CHANGED)])
    assert make(sensitivity=1).relation is Relation.UNSTATED


@each_choice
def test_a_guarantee_for_monotone_scores_is_kept_on_condition_only(make):
    verdict = audit(make(sensitivity=score_of(ADDED), monotone=True), search=0)
    assert not verdict.refuted
    (condition,) = verdict.conditions
    assert condition.startswith("monotone=True")
    assert float(re.search(r"at least ([0-9]+(\.[0-9]+)?)", condition)[1]) > 1.2 * _limit(verdict.guarantee)
    assert ("on condition" in verdict.sentence) == (verdict.outcome is Outcome.KEPT)
    assert condition in str(verdict)
    assert audit(make(sensitivity=score_of(ADDED)), search=0).conditions == ()


def _limit(guarantee: Any) -> float:
    return float(guarantee.epsilon) if isinstance(guarantee, PureDP) else 1.0


@each_choice
@pytest.mark.parametrize("relation", [ADDED, CHANGED], ids=["add/remove", "change-one"])
def test_without_the_flag_the_guarantee_is_kept_on_neighbors_that_nobody_chose(make, relation):
    mechanism = make(sensitivity=score_of(relation))
    for query in (counts, leads) if relation is ADDED else (counts,):
        padded = partial(_padded, query)
        assert not audit(OnTables(mechanism, query=padded, rows=["a", "b", "c"], people=2), search=0).refuted


def _padded(query: Any, table: tuple[Any, ...]) -> list[int]:
    return [*query(table), 0]


@pytest.mark.parametrize(
    "make", [CHOICES[name] for name in ("NoisyMax", "Exponential", "PermuteAndFlip", "Top")], ids=str
)
def test_counts_under_add_remove_are_monotone_and_the_audit_agrees(make):
    mechanism = make(sensitivity=score_of(ADDED), monotone=True)
    assert audit(OnTables(mechanism, query=counts, rows=["a", "b", "c"], people=3), search=0).outcome is Outcome.KEPT


@pytest.mark.theorem("moved_by.privacy")
def test_the_reported_fault_lost_two_where_one_was_claimed():
    # what the refused mechanism would have done: noise for monotone scores, scores of change-one
    would_have = NoisyMax(epsilon=1, sensitivity=score_of(ADDED), monotone=True)
    verdict = audit(would_have, neighbors=[([0, 40], [1, 39])], search=0)
    assert verdict.refuted
    assert 1.95 < verdict.low < 2


def test_a_search_from_neighbors_that_move_both_ways_does_not_follow_the_flag():
    mechanism = NoisyMax(epsilon=1, sensitivity=1, monotone=True)
    verdict = audit(mechanism, neighbors=[(np.array([0, 0]), np.array([1, -1]))], search=2)
    assert verdict.low > 1.9


# every statement, false on purpose: a mechanism, the query before it, what one person's data may be, and the relation
def _keys(table: tuple[Any, ...]) -> dict[str, int]:
    held = [key for row in table for key in row]
    return {key: held.count(key) for key in "ab"}


def _two_parts(table: tuple[Any, ...]) -> Any:
    return np.array([sum(key in row for row in table) for key in "ab"])


class _EachPart(Laplace):
    """A count of each of two parts, with noise for one part a person."""

    guarantee = parallel([PureDP(1), PureDP(1)], relation=ADDED)


def _all_rows(table: tuple[Any, ...]) -> list[bool]:
    return [True for row in table for _ in range(row)]


_L1 = Sensitivity(1, norm=Norm.L1, relation=ADDED)
FALSE: dict[str, Any] = {
    "monotone of NoisyMax": (NoisyMax(epsilon=1, sensitivity=score_of(ADDED), monotone=True), leads, "ab"),
    "monotone of Exponential": (Exponential(epsilon=1, sensitivity=score_of(ADDED), monotone=True), leads, "ab"),
    "monotone of PermuteAndFlip": (PermuteAndFlip(epsilon=1, sensitivity=score_of(ADDED), monotone=True), leads, "ab"),
    "monotone of Top": (Top(k=1, epsilon=1, sensitivity=score_of(ADDED), monotone=True), leads, "ab"),
    "monotone of AboveThreshold": (
        AboveThreshold(threshold=0, epsilon=1, sensitivity=score_of(ADDED), monotone=True),
        stream,
        "ab",
    ),
    "sensitivity of Laplace": (Laplace(epsilon=1, sensitivity=_L1), sum, (1, 2)),
    "sensitivity of Exponential": (
        Exponential(epsilon=1, sensitivity=score_of(ADDED)),
        lambda table: [3 * table.count("a"), -3 * table.count("a")],
        "ab",
    ),
    "keys of ThresholdedHistogram": (
        ThresholdedHistogram(epsilon=1, delta=1e-3, keys=1, relation=ADDED),
        lambda table: {key: 40 + count for key, count in _keys(table).items()},
        [("a",), ("a", "b")],
    ),
    "one row a person of Count": (statistics.Count(relation=ADDED, epsilon=1), _all_rows, (1, 3)),
    "one part a person of parallel": (_EachPart(scale=1, sensitivity=_L1), _two_parts, [("a",), ("a", "b")]),
}


@pytest.mark.theorem("OnTables.privacy")
@pytest.mark.parametrize("case", FALSE.values(), ids=FALSE.keys())
def test_a_statement_that_is_false_on_purpose_is_refuted(case):
    mechanism, query, rows = case
    assert audit(mechanism, search=0).outcome is not Outcome.REFUTED  # its own neighbors keep the statement
    assert audit(OnTables(mechanism, query=query, rows=list(rows), people=2), search=0).refuted


# statistics take whole tables: no statement of theirs may rest on what the rows hold
def _tables_of_values(table: tuple[Any, ...]) -> list[Any]:
    return list(table)


def _made(relation: Relation) -> dict[str, Mechanism]:
    public: dict[str, Any] = {"bounds": (0, 2), "grid": 1, "relation": relation}
    made: dict[str, Mechanism] = {
        "Sum": statistics.Sum(epsilon=1, **public),
        "Sum, missing replaced": statistics.Sum(epsilon=1, missing=2, **public),
        "Mean": statistics.Mean(epsilon=2, **public),
        "Mean, missing replaced": statistics.Mean(epsilon=2, missing=1, **public),
        "Variance": statistics.Variance(epsilon=2, **public),
        "Variance, missing replaced": statistics.Variance(epsilon=2, missing=1, **public),
        "Quantile": statistics.Quantile(level=0.5, epsilon=1, **public),
        "Quantile by midranks": statistics.Quantile(level=0.5, epsilon=1, midrank=True, **public),
        "Quantile, missing replaced": statistics.Quantile(level=0.5, epsilon=1, missing=1, **public),
        "Histogram": statistics.Histogram(keys=[0, 1], relation=relation, epsilon=1),
        "CountDistinct": statistics.CountDistinct(relation=relation, epsilon=1),
    }
    return made


@pytest.mark.theorem("OnTables.privacy")
@pytest.mark.parametrize("relation", [ADDED, CHANGED], ids=["add/remove", "change-one"])
@pytest.mark.parametrize("name", _made(ADDED))
def test_statistics_keep_their_guarantee_on_all_neighbors_with_missing_and_strange_rows(name, relation):
    tables = OnTables(_made(relation)[name], query=_tables_of_values, rows=[0, 1, 99, None], people=3)
    verdict = audit(_Nonempty(tables), search=0)
    assert not verdict.refuted, verdict


class _Nonempty:
    """The same without empty tables: under change-one some statistics need a row."""

    def __init__(self, tables: OnTables) -> None:
        self._tables, self.relation, self.guarantee = tables, tables.relation, tables.guarantee
        self.law = tables.law

    def neighbors(self) -> Any:
        return (pair for pair in self._tables.neighbors() if all(pair))


def test_a_public_size_of_joint_quantiles_is_harmless_where_it_is_false():
    # under change-one a row that goes moves the distance of a tuple by 2 (1 - d) <= 2, which is priced for
    joint = JointQuantiles(levels=(0.5,), relation=CHANGED, steps=2, epsilon=1, size_is_public=True, tie_bits=0)
    assert isinstance(joint.law([0]), Tabulated)

    def ranked(table: tuple[Any, ...]) -> list[int]:
        return [row for row in table if row is not None]

    verdict = audit(OnTables(joint, query=ranked, rows=[0, 1, 2, None], people=3), search=0)
    assert verdict.outcome is Outcome.KEPT
    with pytest.raises(ParameterError, match="size_is_public"):
        JointQuantiles(levels=(0.5,), relation=CHANGED, steps=2, epsilon=1, size_is_public="no")


def test_rows_of_a_person_are_bounded_by_weights_whatever_they_are():
    bounded = statistics.Count(relation=ADDED, epsilon=1, rows=2)

    def rows(table: tuple[Any, ...]) -> Rows:
        units = [person for person, count in enumerate(table) for _ in range(count)]
        return Rows([True] * len(units), units)

    assert audit(OnTables(bounded, query=rows, rows=[0, 1, 2, 7], people=2), search=0).outcome is Outcome.KEPT


def test_on_tables_says_what_it_needs():
    mechanism = Laplace(epsilon=1, sensitivity=1)
    with pytest.raises(MissingParameter, match="who is a neighbor"):
        OnTables(mechanism, query=sum, rows=[0, 1], people=2)
    stated = OnTables(mechanism, query=sum, rows=[0, 1], people=2, relation=ADDED)
    assert stated.guarantee == PureDP(1.0, relation=ADDED)
    assert audit(stated).outcome is Outcome.KEPT
    assert "people=2" in repr(stated)
    for wrong in ({"relation": CHANGED}, {"rows": []}, {"people": 0}, {"query": 3}, {"rows": range(200)}):
        with pytest.raises(ParameterError):
            OnTables(Laplace(epsilon=1, sensitivity=_L1), **({"query": sum, "rows": [0, 1], "people": 2} | wrong))
    with pytest.raises(ParameterError):
        OnTables(lambda value: value, query=sum, rows=[0], people=1)  # type: ignore[arg-type]
    assert math.isfinite(audit(stated).low)
