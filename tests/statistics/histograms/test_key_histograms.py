"""Histograms with public and with private keys, and the number of distinct keys."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dp
from discreet import statistics
from discreet.testing import Check, Subject, conformance_checks
from tests.chances import fewest, most
from tests.conftest import Rounds
from tests.forms import runs_for_forms
from tests.statistics.tables import neighbors

ADD_REMOVE, CHANGE_ONE = dp.Relation.ADD_REMOVE, dp.Relation.CHANGE_ONE
RELATIONS = [ADD_REMOVE, CHANGE_ONE]

SUBJECTS = {
    "Histogram": Subject(
        lambda: statistics.Histogram(keys=["a", "b"], relation=ADD_REMOVE, epsilon=1), [["a", "a", "b", None], []]
    ),
    "Histogram, Gaussian": Subject(
        lambda: statistics.Histogram(keys=["a", "b"], relation=CHANGE_ONE, rho=0.5), [["a", "a", "b"]]
    ),
    "DiscoveredHistogram": Subject(
        lambda: statistics.DiscoveredHistogram(relation=ADD_REMOVE, epsilon=1, delta=1e-4), [["a"] * 6 + ["b"]]
    ),
    "DiscoveredHistogram, change-one": Subject(
        lambda: statistics.DiscoveredHistogram(
            relation=CHANGE_ONE, epsilon=2, delta=1e-4, noise=dp.mechanisms.KeyNoise.LAPLACE
        ),
        [["a"] * 6 + ["b"]],
    ),
    "CountDistinct": Subject(lambda: statistics.CountDistinct(relation=ADD_REMOVE, epsilon=1), [["a", "b", "a"], []]),
}


@pytest.mark.parametrize("check", conformance_checks(), ids=str)
@pytest.mark.parametrize("subject", SUBJECTS.values(), ids=SUBJECTS.keys())
def test_statistic_conforms(subject: Subject, check: Check, rounds: Rounds) -> None:
    draws = rounds(sample=2000, full=subject.draws)
    wire, forks = rounds(sample=runs_for_forms(subject), full=subject.wire), rounds(sample=1, full=subject.forks)
    check(replace(subject, draws=draws, wire=wire, forks=forks))


@pytest.mark.theorem("Histogram.privacy")
@pytest.mark.parametrize(("relation", "in_l1", "squared"), [(ADD_REMOVE, 1, 1), (CHANGE_ONE, 2, 2)])
def test_a_row_moves_the_counts_as_far_as_stated_and_no_further(relation, in_l1, squared):
    statistic = statistics.Histogram(keys=["a", "b", "c"], relation=relation, epsilon=1)
    moves = [
        statistic.measure(one) - statistic.measure(other)
        for one, other in neighbors(["a", "b", "c", "elsewhere", None], 3, relation)
    ]
    assert max(int(np.abs(move).sum()) for move in moves) == in_l1 == statistic.mechanism.noise.scale
    assert max(int((move**2).sum()) for move in moves) == squared
    gaussian = statistics.Histogram(keys=["a", "b", "c"], relation=relation, rho=0.5).mechanism
    assert float(gaussian.noise.scale) == pytest.approx(math.sqrt(squared))


@pytest.mark.theorem("Histogram.privacy")
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("rows_of_one", [1, 2, 3])
def test_all_rows_of_a_person_move_the_counts_within_the_contribution(relation, rows_of_one):
    statistic = statistics.Histogram(keys=["a", "b"], relation=relation, epsilon=1, rows=rows_of_one)
    fills = [["a"] * a + ["b"] * b for a in range(5) for b in range(5)]
    measured = [statistic.measure(statistics.Rows([*fill, "a"], [*["ana"] * len(fill), "bo"])) for fill in fills]
    pairs = [(measured[0], one) for one in measured] if relation is ADD_REMOVE else None
    pairs = pairs or [(one, two) for one in measured for two in measured]
    largest = max(int(np.abs(one - two).sum()) for one, two in pairs)
    assert 0.99 * statistic.mechanism.noise.scale < largest <= statistic.mechanism.noise.scale
    gaussian = statistics.Histogram(keys=["a", "b"], relation=relation, rho=0.5, rows=rows_of_one).mechanism
    assert max(int(((one - two) ** 2).sum()) for one, two in pairs) <= gaussian.noise.scale**2


@pytest.mark.theorem("CountDistinct.privacy")
@pytest.mark.parametrize("relation", RELATIONS)
def test_a_row_moves_the_number_of_keys_by_one(relation):
    statistic = statistics.CountDistinct(relation=relation, epsilon=1)
    moves = [
        abs(statistic.measure(one) - statistic.measure(other)) for one, other in neighbors([1, 2, 3, None], 4, relation)
    ]
    assert max(moves) == 1


@pytest.mark.theorem("CountDistinct.privacy")
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("keys", [1, 2])
def test_a_person_moves_the_number_of_keys_by_as_many_as_they_bring(relation, keys):
    from itertools import product

    statistic = statistics.CountDistinct(relation=relation, epsilon=1, groups=keys)
    fills = [list(fill) for size in range(4) for fill in product(["a", "b", "c"], repeat=size)]
    for other in (["a"], ["a", "b"], []):
        measured = [
            statistic.measure(statistics.Rows([*fill, *other], [*["ana"] * len(fill), *["bo"] * len(other)]))
            for fill in fills
        ]
        start = measured[:1] if relation is ADD_REMOVE else measured
        assert max(abs(one - two) for one in start for two in measured) <= keys == statistic.mechanism.noise.scale


@pytest.mark.theorem("DiscoveredHistogram.privacy")
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("noise", [None, *dp.mechanisms.KeyNoise], ids=str)
def test_a_key_that_one_person_holds_is_named_no_more_often_than_delta_allows(relation, noise):
    delta = 1e-3
    statistic = statistics.DiscoveredHistogram(relation=relation, epsilon=1, delta=delta, noise=noise)
    assert 0 < statistic.mechanism.chance(1).upper <= delta
    law = statistic.law(["only me"])
    assert float(law.pmf((statistic.threshold - 1,))) >= 1 - delta


@pytest.mark.theorem("DiscoveredHistogram.privacy")
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("noise", [None, dp.mechanisms.KeyNoise.LAPLACE], ids=str)
def test_the_exact_audit_of_private_keys_finds_the_guarantee_kept(relation, noise):
    statistic = statistics.DiscoveredHistogram(relation=relation, epsilon=1, delta=1e-4, noise=noise)
    assert dp.audit(statistic).outcome is dp.Outcome.KEPT


@pytest.mark.theorem("DiscoveredHistogram.accuracy")
@pytest.mark.theorem("Histogram.accuracy")
@pytest.mark.theorem("CountDistinct.accuracy")
def test_intervals_contain_the_truth_as_often_as_the_law_says(rounds: Rounds):
    runs = rounds(sample=1000, full=10_000)
    rows = ["a"] * 60 + ["b"] * 9
    public = statistics.Histogram(keys=["a", "b", "c"], relation=ADD_REMOVE, epsilon=0.5)
    private = statistics.DiscoveredHistogram(relation=ADD_REMOVE, epsilon=0.5, delta=1e-3)
    distinct = statistics.CountDistinct(relation=ADD_REMOVE, epsilon=0.5)
    hits = {"public": 0, "together": 0, "private": 0, "rare": 0, "distinct": 0}
    for _ in range(runs):
        table, found, number = public(rows), private(rows), distinct(rows)
        hits["public"] += table["a"].low <= 60 <= table["a"].high
        hits["together"] += bool(np.all(np.abs(table.value - np.array([60, 9, 0])) <= table.half_width_together))
        hits["private"] += found["a"].low <= 60 <= found["a"].high if "a" in found else 1
        hits["rare"] += found["b"].low <= 9 <= found["b"].high if "b" in found else 1
        hits["distinct"] += number.low <= 2 <= number.high
    for name, hit in hits.items():
        assert hit >= fewest(runs, 0.95), name
    noise = public.mechanism.noise
    predicted = 1 - 2 * float(noise.sf(noise.half_width(0.95)))
    assert fewest(runs, predicted) <= hits["public"] <= most(runs, predicted)


COLUMNS = [
    ["x", None, "y", "x"],
    np.array(["x", "z", "y", "x"]),
    pd.Series(["x", None, "y", "x"]),
    pd.Series(["x", None, "y", "x"], dtype="category"),
    pl.Series(["x", None, "y", "x"]),
    np.ma.masked_array(["x", "y", "y", "x"], mask=[False, True, False, False]),
    pa.array(["x", None, "y", "x"]),
]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: type(column).__module__)
def test_all_columns_of_keys_count_alike(column):
    statistic = statistics.Histogram(keys=["y", "x"], relation=ADD_REMOVE, epsilon=1)
    assert statistic.measure(column).tolist() == [1, 2]


def test_whole_numbers_are_found_in_columns_that_a_missing_value_turned_into_floats():
    statistic = statistics.Histogram(keys=[1, 2], relation=ADD_REMOVE, epsilon=1)
    assert statistic.measure(pd.Series([1, 2, None, 2])).tolist() == [1, 2]


def test_a_table_of_estimates_shows_itself():
    table = statistics.histogram(["a"] * 50 + ["<b>"] * 40, keys=["a", "<b>"], relation=ADD_REMOVE, epsilon=1)
    frame = table.to_pandas()
    assert list(frame.columns) == ["value", "low", "high"]
    assert list(frame.index) == ["a", "<b>"]
    assert "<b>" not in table._repr_html_()
    assert "value" in str(table)
    assert table.plot(x_label="rows").svg().startswith("<?xml")
    assert dict(table)["a"].value == table["a"].value
    assert table.cost.epsilon(0).upper == pytest.approx(1)
    with pytest.raises(KeyError, match="one of those released"):
        table["c"]


REFUSED = [
    (lambda: statistics.histogram(["a"], relation=ADD_REMOVE, epsilon=1), dp.errors.ParameterError, "keys=None"),
    (lambda: statistics.histogram(["a"], keys="ab", relation=ADD_REMOVE, epsilon=1), dp.errors.ParameterError, "list"),
    (lambda: statistics.histogram(["a"], keys=[], relation=ADD_REMOVE, epsilon=1), dp.errors.ParameterError, "once"),
    (
        lambda: statistics.histogram(["a"], keys=["a", "a"], relation=ADD_REMOVE, epsilon=1),
        dp.errors.ParameterError,
        "once",
    ),
    (
        lambda: statistics.histogram(["a"], keys=[["a"]], relation=ADD_REMOVE, epsilon=1),
        dp.errors.ParameterError,
        "texts, numbers",
    ),
    (
        lambda: statistics.histogram(["a"], keys=[float("nan")], relation=ADD_REMOVE, epsilon=1),
        dp.errors.ParameterError,
        "missing",
    ),
    (lambda: statistics.histogram(["a"], keys=None, relation=ADD_REMOVE, epsilon=1), dp.errors.DiscreetError, "delta"),
    (lambda: statistics.histogram(["a"], keys=None, relation=ADD_REMOVE, error=5), dp.errors.DiscreetError, "delta"),
    (
        lambda: statistics.histogram([["a"]], keys=["a"], relation=ADD_REMOVE, epsilon=1),
        dp.errors.InputError,
        "texts, numbers",
    ),
    (lambda: statistics.histogram(7, keys=["a"], relation=ADD_REMOVE, epsilon=1), dp.errors.InputError, "column"),
]


@pytest.mark.parametrize(("ask", "kind", "words"), REFUSED)
def test_what_cannot_be_asked_is_refused_in_words(ask, kind, words):
    with pytest.raises(kind, match=words) as caught:
        ask()
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
