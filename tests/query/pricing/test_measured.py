"""What a query says it adds up, against the sums that an engine gives for small tables, row by row."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from discreet.errors import PrivateKeys
from discreet.laws.noise import IntegerNoise
from discreet.privacy import ZCDP, ApproxDP, PureDP
from discreet.query import Session
from discreet.query.measures import Additive
from discreet.query.plan import WEIGHT, EachRow, Groups, MeasureKind, NormWeights, RowWeights
from discreet.query.pricing import measurement_plans, public_keys
from discreet.statistics.measurement import ROWS, UNITS, Counts, PowerSums
from tests.query.reference_engine import ReferenceEngine
from tests.query.small_tables import asked, policy_for, priced_for, private_key, public_key, table_policy

KINDS = [
    MeasureKind.COUNT_ROWS,
    MeasureKind.COUNT_VALUES,
    MeasureKind.SUM,
    MeasureKind.MEAN,
    MeasureKind.VARIANCE,
]
LOW, HIGH = -2, 5
KEYS = (public_key(),)
PRIVATE = ApproxDP(10, 1e-4)


def everything(table, *, keys=KEYS, units=False, gaussian=False, bounded_rows=None):
    """A query for every kind of sum over x, with its price."""
    kinds = [*KINDS, MeasureKind.COUNT_UNITS] if units else KINDS
    aggregates = [asked(kind, kind.name, low=LOW, high=HIGH) for kind in kinds]
    price = {"budget": ZCDP(10), "rho": 1} if gaussian else {"budget": PureDP(10), "epsilon": 1}
    return priced_for(table, *aggregates, keys=keys, bounded_rows=bounded_rows, **price)


FORMS = [
    (EachRow, {"unit": "row"}, {}),
    (EachRow, {"rows": 3}, {"bounded_rows": 3}),
    (RowWeights, {"rows": 2}, {}),
    (NormWeights, {"rows": 2}, {"gaussian": True}),
    (Groups, {"groups": 1, "rows_per_group": 2}, {"units": True}),
    (Groups, {"groups": 2, "rows_per_group": 1}, {"units": True, "gaussian": True}),
    (Groups, {"rows": 2}, {"units": True, "keys": ()}),
    (RowWeights, {"rows": 2}, {"keys": ()}),
]


def made_tables(count):
    """Tables of a few units with up to four rows each, keys outside the domain and missing values among them."""
    draw = np.random.default_rng(count)
    groups, values = [0, 1, 1, 7, None], [None, -9, -2, 0, 1, 5, 8]
    for _ in range(count):
        yield [
            {"u": unit, "g": groups[draw.integers(5)], "w": "a", "x": values[draw.integers(7)]}
            for unit in range(5)
            for _ in range(draw.integers(5))
        ]


def brute_force(adds_up, rows, key):
    """What a group adds up, by the words of the plan: rows are (key, x, unit, weight)."""
    own = [(x, unit, weight) for group, x, unit, weight in rows if group == key]
    if isinstance(adds_up, PowerSums):
        grid, start, end = adds_up.scale.grid, adds_up.scale.start, adds_up.scale.end
        there = [(min(max(Fraction(x) / grid, start), end), weight) for x, _, weight in own if x is not None]
        steps = [(round(place) - start, weight) for place, weight in there]
        return [sum(weight * (a + b * x + c * x * x) for x, weight in steps) for a, b, c in adds_up.coefficients]
    if adds_up.counted == UNITS:
        return [len({unit for _, unit, _ in own})]
    return [sum(weight for x, _, weight in own if adds_up.counted == ROWS or x is not None)]


@pytest.mark.parametrize(("form", "limits", "asking"), FORMS)
def test_what_is_added_up_is_what_the_plan_says(form, limits, asking):
    table = table_policy(low=LOW, high=HIGH, **limits)
    made = everything(table, **asking)
    assert isinstance(made.bounding.form, form)
    plans = measurement_plans(made, public_keys(made.query), "small")
    assert [place for place, _ in plans] == list(range(len(made.measures)))
    for stored in made_tables(25):
        if asking.get("bounded_rows"):
            taken = Counter(row["u"] for row in stored)
            stored = [row for row in stored if taken[row["u"]] <= 3]  # noqa: PLW2901  as a bounded table is
        engine = ReferenceEngine(policy_for(table), {"t": stored})
        request = made.request()
        sums = engine.run(request)
        rows = [(key, row["x"], unit, weight) for key, row, unit, weight in engine.weighted(request)]
        for place, plan in plans:
            measure = made.measures[place]
            assert isinstance(measure, Additive)
            cells = [sums.cells[request.cells.index(cell)] for cell in measure.cells]
            entries = measure.vectors(cells)
            for index, key in enumerate(sums.keys):
                if key in plan.keys:
                    assert [entry[index] for entry in entries] == brute_force(plan.adds_up, rows, key)


@pytest.mark.parametrize(("form", "limits", "asking"), FORMS)
def test_once_means_that_no_unit_adds_anything_but_one_weight_to_one_group(form, limits, asking):
    table = table_policy(low=LOW, high=HIGH, **limits)
    made = everything(table, **asking)
    often = set()
    for stored in made_tables(60):
        engine = ReferenceEngine(policy_for(table), {"t": stored})
        rows = [(key, row["x"], unit, weight) for key, row, unit, weight in engine.weighted(made.request())]
        for _, plan in measurement_plans(made, public_keys(made.query), "small"):
            if isinstance(plan.adds_up, Counts):
                for person in {unit for _, _, unit, _ in rows}:
                    own = [row for row in rows if row[2] == person]
                    added = [brute_force(plan.adds_up, own, key)[0] for key in plan.keys]
                    if sorted(added)[:-1].count(0) < len(added) - 1 or max(added) not in (0, plan.adds_up.weight):
                        often.add(plan.name)
    counts = {plan.name: plan.adds_up for _, plan in measurement_plans(made, public_keys(made.query), "small")}
    counts = {name: one for name, one in counts.items() if isinstance(one, Counts)}
    assert not often & {name for name, one in counts.items() if one.once}
    assert all(bool(one.why) is not one.once for one in counts.values())
    if not asking.get("bounded_rows") and (form, limits) != (Groups, {"groups": 2, "rows_per_group": 1}):
        assert often == {name for name, one in counts.items() if not one.once}


def test_a_row_that_is_a_unit_and_a_unit_in_one_group_count_once_and_nothing_else_does():
    def counts(made):
        plans = [plan for _, plan in measurement_plans(made, public_keys(made.query), "")]
        return {one.name: (one.adds_up.once, one.adds_up.weight) for one in plans if isinstance(one.adds_up, Counts)}

    rows, values, units = "COUNT_ROWS", "COUNT_VALUES", "COUNT_UNITS"
    assert counts(everything(table_policy(unit="row"))) == {rows: (True, 1), values: (True, 1)}
    assert counts(everything(table_policy(rows=1), bounded_rows=1)) == {rows: (True, 1), values: (True, 1)}
    assert counts(everything(table_policy(rows=2), bounded_rows=2)) == {rows: (False, 1), values: (False, 1)}
    assert counts(everything(table_policy(rows=1))) == {rows: (False, WEIGHT), values: (False, WEIGHT)}
    for groups, once in ((1, True), (2, False)):
        found = counts(everything(table_policy(groups=groups, rows_per_group=1), units=True))
        assert found == {rows: (False, WEIGHT), values: (False, WEIGHT), units: (once, 1)}


def test_why_a_count_is_not_of_people_says_the_public_number():
    made = everything(table_policy(rows=3))
    assert "up to 3 rows in all" in measurement_plans(made, public_keys(made.query), "")[0][1].adds_up.why
    made = everything(table_policy(groups=2, rows_per_group=3), units=True)
    whys = {one.name: one.adds_up.why for _, one in measurement_plans(made, public_keys(made.query), "")}
    assert whys["COUNT_UNITS"] == "a unit may count in up to 2 groups"


def test_units_are_counted_as_rows_where_rows_are_units():
    made = everything(table_policy(unit="row"), units=True)
    counted = {one.name: one.adds_up for _, one in measurement_plans(made, public_keys(made.query), "")}
    assert counted["COUNT_UNITS"] == counted["COUNT_ROWS"] == Counts(ROWS)


def test_noise_is_the_law_that_is_added_about_zero():
    for gaussian in (False, True):
        made = everything(table_policy(rows=2), gaussian=gaussian)
        for place, plan in measurement_plans(made, public_keys(made.query), ""):
            assert isinstance(plan.noise, IntegerNoise)
            assert plan.noise.center == 0
            assert plan.noise == made.measures[place].noise(made.parts[place]).noise


def test_quantiles_are_left_out():
    made = priced_for(
        table_policy(unit="row"), asked(MeasureKind.QUANTILE, "m", level=Fraction(1, 2)), asked(MeasureKind.COUNT_ROWS),
        keys=(public_key(),), epsilon=1,
    )  # fmt: skip
    assert [plan.name for _, plan in measurement_plans(made, public_keys(made.query), "")] == ["answer"]


def test_a_number_of_different_values_counts_no_people_and_is_left_out():
    made = priced_for(table_policy(unit="row"), asked(MeasureKind.COUNT_DISTINCT, "d"), keys=(public_key(),), epsilon=1)
    assert made.measures
    assert measurement_plans(made, public_keys(made.query), "") == ()


def test_private_keys_come_with_the_count_that_selected_them():
    table = table_policy(groups=1, rows_per_group=1)
    made = priced_for(table, asked(MeasureKind.SUM), keys=(private_key(),), epsilon=1, delta=1e-6, budget=PRIVATE)
    total, units = (plan for _, plan in measurement_plans(made, [("a",)], ""))
    assert units.adds_up == Counts(UNITS, selects=True)
    assert units.noise == made.selection.mechanism(made.selection_part).noise
    assert not units.source.listed
    assert not total.source.listed
    assert units.keys == (("a",),)


def test_an_explanation_has_the_plans_unless_keys_are_private():
    frame = {"u": [1, 2], "g": ["a", "b"]}
    session = Session.from_frames(
        unit="u", budget=PRIVATE, rows=1, groups=1, t=pd.DataFrame(frame), columns={"u": {"type": "integer"}}
    )
    (plan,) = session.explain("SELECT COUNT(*) AS n FROM t", epsilon=1).plans
    assert (plan.name, plan.keys) == ("n", ((),))
    told = session.sql("SELECT COUNT(*) AS n FROM t", epsilon=1).measurements[0].plan
    assert told.source.lineage.startswith(plan.source.lineage)
    assert (told.adds_up, told.noise, told.source.rows) == (plan.adds_up, plan.noise, plan.source.rows)
    with pytest.raises(PrivateKeys, match="keys="):
        _ = session.explain("SELECT g, COUNT(*) AS n FROM t GROUP BY g", epsilon=1, delta=1e-6).plans


def test_two_spellings_of_one_source_have_one_text_and_another_filter_has_another():
    session = Session.from_frames(
        unit="row", budget=PRIVATE, t=pd.DataFrame({"g": ["a", "b"], "x": [1.0, 2.0]}),
        columns={"g": {"values": ["a", "b"]}, "x": (0, 5)},
    )  # fmt: skip
    asks = [
        "SELECT g, COUNT(x) AS n FROM t WHERE x > 1 AND g = 'a' GROUP BY g",
        "SELECT h AS k, COUNT(y) AS n FROM (SELECT g AS h, x AS y FROM t WHERE 'a' = g) WHERE 1 < y GROUP BY h",
        "SELECT g, COUNT(x) AS n FROM t WHERE x > 2 AND g = 'a' GROUP BY g",
    ]
    one, same, other = (session.explain(sql, epsilon=1).plans[0] for sql in asks)
    assert one.source == same.source
    assert one.adds_up == same.adds_up
    assert one.source.rows != other.source.rows
    assert one.source.keys == other.source.keys
