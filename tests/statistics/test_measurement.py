"""What statistics say they add up, against their exact sums; releases by hand and their identities."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InputError, ParameterError
from discreet.laws import DiscreteLaplace
from discreet.privacy import Relation, Target
from discreet.statistics import (
    Count,
    CountDistinct,
    Covariance,
    DiscoveredHistogram,
    Histogram,
    Mean,
    Quantile,
    Rows,
    StandardDeviation,
    Sum,
    Variance,
)
from discreet.statistics.columns import FixedPoint
from discreet.statistics.measurement import Counts, Measurement, MeasurementPlan, PowerSums, Products, by_hand

ADD, CHANGE = Relation.ADD_REMOVE, Relation.CHANGE_ONE
VALUES = [-3.0, -1.5, 0.0, 0.25, 7.5, float("nan"), 100.0]
ASKED = {"bounds": (-2, 8), "grid": 0.25}


def released(statistic, value):
    """What would be released without noise: one sequence an entry."""
    return np.asarray(statistic.measure(value), dtype=object)


def power_sums(adds_up, values, weights=None):
    """The entries by the words of the plan, for values as floats."""
    scale, weights = adds_up.scale, weights or [adds_up.weight] * len(values)
    steps = [
        (round(min(max(Fraction(value) / scale.grid, scale.start), scale.end)) - scale.start, weight)
        for value, weight in zip(values, weights, strict=True)
        if not math.isnan(value)
    ]
    return [sum(weight * (a + b * x + c * x * x) for x, weight in steps) for a, b, c in adds_up.coefficients]


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 1}])
@pytest.mark.parametrize("kind", [Sum, Mean, Variance, StandardDeviation])
@pytest.mark.parametrize("relation", [ADD, CHANGE])
@pytest.mark.parametrize("rows", [None, 2])
def test_sums_are_what_the_coefficients_say(kind, price, relation, rows):
    statistic = kind(relation=relation, rows=rows, **ASKED, **price)
    (plan,) = statistic.plans()
    assert isinstance(plan.adds_up, PowerSums)
    assert plan.adds_up.once is (rows is None)
    assert plan.noise == statistic.mechanism.noise
    values, weights = VALUES, None
    table = VALUES
    if rows is not None:
        table = Rows(VALUES, ["a", "a", "a", "b", "b", "b", "c"])
        third = (2 << 20) // 3  # the rows of a are three, those of b two: a missing value is no row
        weights = [third, third, third, 1 << 20, 1 << 20, 0, 1 << 20]
    (measured,) = statistic.measurements(released(statistic, table))
    assert [entry[0] for entry in measured.released] == power_sums(plan.adds_up, values, weights)


def test_a_public_number_of_rows_goes_with_the_sum_that_is_divided_by_it():
    mean = Mean(relation=CHANGE, missing=0, epsilon=1, **ASKED)
    filled = [0.0 if math.isnan(value) else value for value in VALUES]
    (measured,) = mean.measurements(released(mean, VALUES), public_rows=mean.public_rows(VALUES))
    assert measured.plan.adds_up.people == len(VALUES)
    assert [entry[0] for entry in measured.released] == power_sums(measured.plan.adds_up, filled)
    with pytest.raises(ParameterError, match=r"public_rows= must be given.*write public_rows="):
        mean.plans()


@pytest.mark.parametrize(
    "statistic",
    [
        Mean(relation=ADD, target=Target.POPULATION, epsilon=1, **ASKED),
        Variance(relation=CHANGE, missing=0, epsilon=1, **ASKED),
        Quantile(relation=ADD, bounds=(0, 1), level=0.5, epsilon=1),
        DiscoveredHistogram(relation=ADD, epsilon=1, delta=1e-6),
    ],
)
def test_what_is_no_noisy_sum_is_refused(statistic):
    with pytest.raises(ParameterError, match="nothing to infer from; ask Count"):
        statistic.plans()


@pytest.mark.parametrize(
    ("statistic", "table", "expected"),
    [
        (Count(relation=ADD, epsilon=1), VALUES, Counts("rows")),
        (Count(relation=CHANGE, filtered=True, epsilon=1), [True, False, True], Counts("rows")),
        (Histogram(keys=["a", "b"], relation=ADD, epsilon=1), ["a", "a", "c"], Counts("rows")),
    ],
)
def test_counts_count_rows_once(statistic, table, expected):
    (measured,) = statistic.measurements(released(statistic, table))
    assert measured.plan.adds_up == expected
    assert measured.guarantee == statistic.guarantee
    assert sum(measured.released[0]) == {7: 7, 3: 2}[len(table)]


def test_a_histogram_has_a_group_for_every_public_key():
    counts = Histogram(keys=["a", ("b", 1)], relation=ADD, epsilon=1)
    (measured,) = counts.measurements([5, 7], table="survey", column="answer")
    assert measured.plan.keys == (("a",), (("b", 1),))
    assert measured.plan.key_names == measured.plan.source.keys == ("answer",)
    assert measured.released == ((5, 7),)


def test_rows_of_a_person_weigh_and_are_not_counted_once():
    (plan,) = Histogram(keys=["a"], relation=ADD, rows=3, epsilon=1).plans()
    assert (plan.adds_up.once, plan.adds_up.weight) == (False, 1 << 20)
    assert "at most 3" in plan.adds_up.why


def test_different_keys_are_no_people():
    (plan,) = CountDistinct(relation=ADD, epsilon=1).plans()
    assert plan.adds_up.counted == "distinct keys"
    assert not plan.adds_up.once


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 1}])
@pytest.mark.parametrize("region", [{"bounds": [(-1, 1), (0, 10), (5, 9)]}, {"center": [0.0, 5.0, 7.0], "radius": 6.0}])
@pytest.mark.parametrize("relation", [ADD, CHANGE])
def test_products_of_columns_are_what_the_terms_say(price, region, relation):
    draw = np.random.default_rng(1)
    table = np.column_stack([np.ones(40), draw.normal(5, 4, 40), draw.normal(7, 1, 40)])
    moments = Covariance(relation=relation, **region, **price)
    (measured,) = moments.measurements(released(moments, table))
    adds_up = measured.plan.adds_up
    assert isinstance(adds_up, Products)
    positions = moments.region.positions(table).astype(object)
    sums = [
        sum(constant + sum(int(m) * int(row[i]) * int(row[j]) for i, j, m in terms) for row in positions)
        for constant, terms in adds_up.terms
    ]
    assert [entry[0] for entry in measured.released] == sums


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 1}])
def test_products_are_a_linear_map_of_outer_products(price):
    draw = np.random.default_rng(2)
    x = draw.uniform(0, 10, 300)
    table = np.column_stack([np.ones(300), x, np.clip(1 + 0.5 * x + draw.normal(0, 1, 300), -5, 15)])
    moments = Covariance(bounds=[(-1, 1), (0, 10), (-5, 15)], relation=ADD, **price)
    (measured,) = moments.measurements(released(moments, table))
    whole = np.column_stack([np.ones(300), table])
    outer = (whole.T @ whole)[np.triu_indices(4)]
    found = np.array([float(entry[0]) for entry in measured.released])
    scale = np.abs(found).max()
    assert np.allclose(measured.plan.adds_up.matrix @ outer, found, rtol=0, atol=1e-9 * scale)


def test_a_public_number_of_rows_goes_with_products():
    moments = Covariance(bounds=[(0, 1)], relation=CHANGE, missing=0, epsilon=1)
    (plan,) = moments.plans(public_rows=12)
    assert (plan.adds_up.people, plan.adds_up.entries) == (12, 1)


def test_of_a_named_table_the_column_and_the_condition_are_named_too():
    with pytest.raises(ParameterError, match=r"column= must be given beside table=.*write the name"):
        Sum(relation=ADD, epsilon=1, **ASKED).plans(table="survey")
    with pytest.raises(ParameterError, match=r"where= must be given beside table=.*write which"):
        Count(relation=ADD, filtered=True, epsilon=1).plans(table="survey")
    (plan,) = Count(relation=ADD, filtered=True, epsilon=1).plans(table="survey", where="smokers")
    assert (plan.source.lineage, plan.source.rows) == ("survey", "smokers")
    with pytest.raises(ParameterError, match='write column="age,cost"'):
        Covariance(bounds=[(0, 1)], relation=ADD, epsilon=1).plans(table="survey", column="age,cost")


def test_a_release_that_is_another_statistics_is_refused():
    with pytest.raises(InputError, match="2 integers; got another number"):
        Mean(relation=ADD, epsilon=1, **ASKED).measurements([1, 2, 3])
    with pytest.raises(InputError, match="whole numbers; got others"):
        Count(relation=ADD, epsilon=1).measurements(2.5)


def plan_of(*keys, entries=1):
    adds_up = Counts("rows") if entries == 1 else PowerSums("x", FixedPoint(0, 4, Fraction(1)), ((0, 1, 0), (4, -1, 0)))
    return MeasurementPlan("n", ("k",), tuple((key,) for key in keys), adds_up, DiscreteLaplace(2))


def test_a_measurement_needs_an_integer_for_every_entry_and_group():
    with pytest.raises(InputError, match="every entry"):
        plan_of("a", entries=2).measured([[1]], by_hand(), None)
    with pytest.raises(InputError, match="every group"):
        plan_of("a", "b").measured([[1]], by_hand(), None)


def test_some_groups_of_a_measurement_are_of_the_same_release():
    whole = plan_of("a", "b", "c").measured([[1, 2, 3]], by_hand(), None)
    some = whole.of_groups([2, 0])
    assert (some.plan.keys, some.released, some.identity) == ((("c",), ("a",)), ((3, 1),), whole.identity)


def test_a_named_release_is_one_and_others_are_their_own():
    assert by_hand("first") == by_hand("first") != by_hand("second")
    assert by_hand() != by_hand()
    assert by_hand("first", place=1)[:-1] == by_hand("first")[:-1]
    one = plan_of("a").measured([[1]], by_hand("first"), None)
    assert isinstance(one, Measurement)
    assert not one.unnamed
    assert plan_of("a").measured([[1]], by_hand(), None).unnamed
