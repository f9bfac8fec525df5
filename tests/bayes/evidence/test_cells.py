"""Observations are sums of cells: against all families of groups over small keys, and against tables without noise."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import discreet as dp
from discreet.bayes import noisy_counts
from discreet.bayes.evidence import ALL, OTHER, distinct_measurements, latent_counts
from discreet.errors import InputError
from discreet.laws import DiscreteLaplace
from discreet.query import Session
from discreet.statistics.pricing import NoisyVector

LAW = DiscreteLaplace(2)
KEYS = ("a", "b", "c")
VALUES = (0, 1, "undeclared")  # of which a table lists 0 and 1
ATOMS = list(itertools.product(VALUES, repeat=len(KEYS)))


def family(draw):
    """A few tables of counts by hand, each by some keys and with some of their groups."""
    for _ in range(draw.integers(1, 5)):
        keys = [key for key in KEYS if draw.random() < 0.5]
        groups = list(itertools.product((0, 1), repeat=len(keys)))
        kept = [group for group in groups if draw.random() < 0.7] or groups[:1]
        counts = {group: int(draw.integers(50)) for group in kept}
        named = {"table": "t", "release": str(draw.random())}
        yield (
            noisy_counts(counts, noise=LAW, key=keys, **named) if keys else noisy_counts(counts[()], noise=LAW, **named)
        )


def holds(measured, group, atom):
    return all(atom[KEYS.index(key)] == value for key, value in zip(measured.plan.source.keys, group, strict=True))


def held_sets(tables):
    """The atoms of every released integer, in order."""
    return [frozenset(atom for atom in ATOMS if holds(one, group, atom)) for one in tables for group in one.plan.keys]


def cross(sets):
    return any(one & two and not (one <= two or two <= one) for one, two in itertools.combinations(set(sets), 2))


@pytest.mark.theorem("latent_counts.accuracy")
def test_cells_are_what_nested_groups_tell_apart_and_crossing_ones_are_refused():
    draw, met = np.random.default_rng(1), {True: 0, False: 0}
    for _ in range(600):
        tables = list(family(draw))
        sets = held_sets(tables)
        met[cross(sets)] += 1
        if cross(sets):
            with pytest.raises(InputError, match="which cross"):
                latent_counts(tables)
            continue
        found = latent_counts(tables)
        told = {frozenset(place for place, one in enumerate(sets) if atom in one) for atom in ATOMS} - {frozenset()}
        cells = [
            frozenset(place for place, one in enumerate(found.observations) if cell in one.members)
            for cell in range(len(found.cells))
        ]
        assert len(set(cells)) == len(cells)
        assert set(cells) == told
        assert len(set(found.cells)) == len(found.cells)
        integers = [integer for one in tables for integer in one.released[0]]
        assert [one.released for one in found.observations] == integers
    assert min(met.values()) > 100


def test_where_groups_are_exhaustive_there_is_no_rest():
    draw = np.random.default_rng(2)
    for _ in range(300):
        tables = list(family(draw))
        if cross(held_sets(tables)):
            continue
        whole, found = latent_counts(tables), latent_counts(tables, exhaustive=True)
        assert found.cells == tuple(cell for cell in whole.cells if OTHER not in cell)
        for one, rest in zip(found.observations, whole.observations, strict=True):
            assert [found.cells[place] for place in one.members] == [
                whole.cells[place] for place in rest.members if OTHER not in whole.cells[place]
            ]


def test_cells_are_named_by_their_values_the_rest_and_all():
    tables = [
        noisy_counts(9, noise=LAW, table="t"),
        noisy_counts({"n": 4, "s": 3}, noise=LAW, key="region", table="t"),
        noisy_counts({("n", "f"): 1, ("n", "m"): 2}, noise=LAW, key=["region", "sex"], table="t"),
    ]
    found = latent_counts(tables)
    assert found.key_names == ("region", "sex")
    assert set(found.cells) == {("s", ALL), ("n", "f"), ("n", "m"), ("n", OTHER), (OTHER, ALL)}
    north = next(one for one in found.observations if one.released == 4)
    assert {found.cells[place] for place in north.members} == {("n", "f"), ("n", "m"), ("n", OTHER)}


def test_keys_in_another_order_are_the_same_cells():
    one = noisy_counts({("n", "f"): 1}, noise=LAW, key=["region", "sex"], table="t")
    two = noisy_counts({("f", "n"): 2}, noise=LAW, key=["sex", "region"], table="t")
    found = latent_counts([one, two])
    assert found.cells == (("n", "f"),)
    assert [observation.members for observation in found.observations] == [(0,), (0,)]


def test_groups_of_two_answers_are_disjoint_cells_or_the_same():
    one = noisy_counts({"n": 1, "s": 2}, noise=LAW, key="region", table="t")
    two = noisy_counts({"s": 3, "w": 4}, noise=DiscreteLaplace(5), key="region", table="t")
    found = latent_counts([one, two])
    assert found.cells == (("n",), ("s",), ("w",))
    assert [(one.members, one.released, one.noise.scale) for one in found.observations] == [
        ((0,), 1, 2), ((1,), 2, 2), ((1,), 3, 5), ((2,), 4, 5),
    ]  # fmt: skip


@pytest.fixture
def silent(monkeypatch):
    """Noise of nothing: what is released is what was added up, and the laws stay what they are."""
    monkeypatch.setattr(NoisyVector, "__call__", lambda _, value: value)


def rows(people, most, seed):
    """Rows of people with regions and wards, some undeclared and some missing."""
    draw = np.random.default_rng(seed)
    count = draw.integers(1, most + 1, people)
    return pd.DataFrame(
        {
            "person": np.repeat(np.arange(people), count),
            "region": draw.choice(["n", "s", "w", "nowhere", None], count.sum(), p=[0.3, 0.3, 0.2, 0.1, 0.1]),
            "ward": draw.choice(["x", "y", "z", None], count.sum()),
        }
    )


DOMAINS = {
    "person": {"type": "integer"},
    "region": {"values": ["n", "s", "w"]},
    "ward": {"values": ["x", "y"]},
}


def session(frame, **more):
    return Session.from_frames(
        **{"unit": "row", "budget": dp.ApproxDP(900, 1e-2), "lineage": "trial", "columns": DOMAINS, "t": frame, **more}
    )


def measured(asked, *queries, **price):
    return [one for sql in queries for one in asked.sql(sql, **{"epsilon": 1, **price}).measurements]


@pytest.mark.theorem("latent_counts.accuracy")
@pytest.mark.usefixtures("silent")
def test_a_total_its_regions_and_their_wards_are_sums_of_cells_of_rows():
    frame = rows(400, 3, 3)
    found = latent_counts(
        measured(
            session(frame),
            "SELECT COUNT(*) AS n FROM t GROUP BY region, ward",
            "SELECT region, COUNT(*) AS n FROM t GROUP BY region LIMIT 1",
            "SELECT COUNT(*) AS n FROM t",
        )
    )
    assert found.key_names == ("region", "ward")
    wards = frame["ward"].where(frame["ward"].isin(["x", "y"]), OTHER)
    regions = frame["region"].where(frame["region"].isin(["n", "s", "w"]), OTHER)
    truth = [int(((regions == region) & ((wards == ward) | (ward == ALL))).sum()) for region, ward in found.cells]
    assert sum(truth) == len(frame)
    assert set(found.cells) == {*itertools.product("nsw", ["x", "y", OTHER]), (OTHER, ALL)}
    assert len(found.observations) == 6 + 3 + 1
    for one in found.observations:
        assert one.released == one.weight * sum(truth[place] for place in one.members)


@pytest.mark.theorem("latent_counts.accuracy")
@pytest.mark.usefixtures("silent")
def test_units_of_one_group_each_and_their_total_differ_by_those_with_rows_in_no_group():
    frame = rows(300, 3, 4)
    asked = session(frame, unit="person", rows=5, groups=1, rows_per_group=2)
    found = latent_counts(
        measured(asked, "SELECT COUNT(DISTINCT person) AS n FROM t GROUP BY region")
        + measured(asked, "SELECT COUNT(DISTINCT person) AS n FROM t")
    )
    assert found.cells == (("n",), ("s",), ("w",), (OTHER,))
    total = found.observations[-1]
    assert total.members == (0, 1, 2, 3)
    everybody = frame.groupby("person")["region"].agg(lambda held: bool(set(held) & set("nsw")))
    assert total.released == len(everybody)
    assert sum(one.released for one in found.observations[:-1]) == int(everybody.sum()) < len(everybody)


@pytest.mark.theorem("latent_counts.accuracy")
@pytest.mark.usefixtures("silent")
def test_if_nobody_has_two_rows_every_form_of_bounding_counts_the_same_people():
    frame = rows(300, 1, 5)
    stated = {"unit": "person", "rows": 3, "groups": 2, "rows_per_group": 3}
    sql = "SELECT COUNT(*) AS n, COUNT(DISTINCT person) AS p FROM t GROUP BY region"
    with_units = measured(session(frame, **stated), sql)
    weighted = measured(session(frame, **stated), "SELECT COUNT(*) AS n FROM t GROUP BY region", epsilon=2)
    concentrated = session(frame, **{**stated, "budget": dp.ZCDP(9)})
    norms = measured(concentrated, "SELECT COUNT(*) AS n FROM t GROUP BY region", epsilon=None, rho=1)
    total = measured(session(frame, **stated), "SELECT COUNT(*) AS n FROM t", epsilon=3)
    tables = [*with_units, *weighted, *norms, *total]
    assert len({one.plan.source.bounding for one in tables}) == 3
    found = latent_counts(tables, one_row_a_person=True)
    truth = [int((frame["region"] == cell[0]).sum()) for cell in found.cells[:-1]]
    truth.append(len(frame) - sum(truth))
    assert {one.weight for one in found.observations} == {1, 1 << 20}
    for one in found.observations:
        assert one.released == one.weight * sum(truth[place] for place in one.members)


REFUSED = [
    (("SELECT AVG(x) AS m FROM t",), {}, r"a model of counts needs a noisy count; got sums of values \(m\)"),
    (
        ("SELECT COUNT(*) AS n FROM t GROUP BY region", "SELECT COUNT(*) AS k FROM t GROUP BY ward"),
        {},
        "tables by region and by ward, which cross",
    ),
    (
        ("SELECT COUNT(*) AS n FROM t", "SELECT COUNT(*) AS k FROM t WHERE ward = 'x'"),
        {},
        "n and k, whose filters or joins differ, so that nobody knows how many",
    ),
    (
        ("SELECT COUNT(*) AS n, COUNT(ward) AS k FROM t",),
        {},
        "one counts rows and the other values of a column, give the model one of them",
    ),
    (
        ("SELECT COUNT(*) FILTER (WHERE ward = 'x') AS k, COUNT(*) AS n FROM t GROUP BY region",),
        {},
        "ask COUNT.* in a query that groups by the condition, where one counts a part of the other",
    ),
    (
        ("SELECT COUNT(*) AS n FROM t",),
        {"unit": "person", "rows": 2},
        "got n, where a unit counts for up to 2 rows in all.*one_row_a_person=True",
    ),
    (
        ("SELECT COUNT(DISTINCT person) AS p FROM t GROUP BY region",),
        {"unit": "person", "rows": 2, "groups": 2},
        "a unit may count in up to 2 groups",
    ),
    (
        (
            "SELECT COUNT(DISTINCT person) AS p FROM t",
            "SELECT COUNT(DISTINCT person) AS q FROM t GROUP BY region",
            "SELECT COUNT(DISTINCT person) AS r FROM t GROUP BY region, ward",
        ),
        {"unit": "person", "rows": 2, "groups": 1},
        "got q and r, in which a unit with rows in several groups",
    ),
]


@pytest.mark.parametrize(("queries", "more", "message"), REFUSED)
def test_what_is_not_provably_the_same_people_is_refused(queries, more, message):
    frame = rows(50, 2, 6).assign(x=1.0)
    asked = session(frame, **{**more, "columns": {**DOMAINS, "x": (0, 5)}})
    tables = distinct_measurements([asked.sql(sql, epsilon=1) for sql in queries])
    with pytest.raises(InputError, match=message):
        latent_counts(tables)


def test_rows_and_a_bounded_table_of_one_row_each_are_bounded_in_different_ways():
    asked = session(rows(50, 2, 7), unit="person", rows=1)
    before = measured(asked, "SELECT COUNT(*) AS n FROM t")
    asked.bound("t")
    after = measured(asked, "SELECT COUNT(*) AS n FROM t GROUP BY region")
    assert latent_counts(after).cells == (("n",), ("s",), ("w",))
    with pytest.raises(InputError, match="one_row_a_person=True"):
        latent_counts([*before, *after])
    assert len(latent_counts([*before, *after], one_row_a_person=True).cells) == 4


def test_sums_beside_counts_are_left_out_by_name():
    asked = session(rows(50, 1, 8).assign(x=1.0), columns={**DOMAINS, "x": (0, 5)})
    found = latent_counts(measured(asked, "SELECT COUNT(*) AS n, AVG(x) AS m FROM t"))
    assert found.left_out == ("m",)
    assert len(found.observations) == 1


def private(**more):
    domains = {"person": {"type": "integer"}}
    return session(rows(900, 1, 9), **{"unit": "person", "rows": 1, "groups": 1, "columns": domains, **more})


PRIVATE = {"epsilon": 5, "delta": 1e-4}


def test_named_keys_are_counted_by_what_selected_them_and_marked_as_not_all():
    asked = private()
    named = measured(asked, "SELECT COUNT(DISTINCT person) AS p FROM t GROUP BY region", **PRIVATE)
    found = latent_counts(named)
    assert not found.listed
    total = measured(asked, "SELECT COUNT(DISTINCT person) AS p FROM t", epsilon=2)
    both = latent_counts([*named, *total])
    assert both.cells[-1] == (OTHER,)
    with pytest.raises(InputError, match="exhaustive must be left out where keys are private"):
        latent_counts([*named, *total], exhaustive=True)


def test_counts_of_named_keys_need_the_count_that_named_them():
    asked = private()
    count, units = measured(asked, "SELECT COUNT(*) AS n FROM t GROUP BY region", **PRIVATE)
    with pytest.raises(InputError, match="got n without it, give the whole answer"):
        latent_counts([count], one_row_a_person=True)
    found = latent_counts([count, units], one_row_a_person=True)
    assert len(found.observations) == 2 * len(found.cells)


def test_a_group_that_one_answer_did_not_name_is_not_missing_at_random():
    asked = private()
    (named,) = measured(asked, "SELECT COUNT(DISTINCT person) AS p FROM t GROUP BY region", **PRIVATE)
    (again,) = measured(asked, "SELECT COUNT(DISTINCT person) AS q FROM t GROUP BY region", epsilon=6, delta=1e-4)
    same = [place for place, key in enumerate(again.plan.keys) if key in named.plan.keys]
    assert len(latent_counts([named.of_groups(range(len(named.plan.keys))), again.of_groups(same)]).cells) >= 3
    with pytest.raises(InputError, match="left out because their noisy counts were low"):
        latent_counts([named.of_groups([0, 1]), again])


def test_a_thousand_groups_and_their_total_take_a_moment():
    groups = noisy_counts({place: place for place in range(20_000)}, noise=LAW, key="k", table="t")
    total = noisy_counts(7, noise=LAW, table="t")
    found = latent_counts([groups, total])
    assert len(found.cells) == 20_001
    assert len(found.observations[-1].members) == 20_001


def test_reading_spends_nothing_and_asks_nothing():
    asked = session(rows(50, 1, 10))
    answer = asked.sql("SELECT COUNT(*) AS n FROM t GROUP BY region", epsilon=1)
    entries, spent = list(asked.ledger.entries()), asked.balance.spent
    asked.engine.close()
    latent_counts(distinct_measurements(answer))
    assert list(asked.ledger.entries()) == entries
    assert asked.balance.spent == spent
