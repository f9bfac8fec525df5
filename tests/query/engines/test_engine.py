"""The embedded engine: NULL units, links, forms, bounded tables, and what it refuses to run."""

from __future__ import annotations

import os
import random
import signal
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

from discreet.errors import ParameterError, PolicyError, QueryRefused, UnknownName
from discreet.frames import Type
from discreet.privacy import ZCDP, Relation
from discreet.query.engines.duckdb.engine import DuckDBEngine
from discreet.query.expression.expression import Operation
from discreet.query.expression.typing_rules import apply, column, literal
from discreet.query.plan.query_plan import Key
from discreet.query.plan.request import (
    WEIGHT,
    EachRow,
    Groups,
    HistogramRequest,
    NormWeights,
    One,
    RowWeights,
    Steps,
    SumRequest,
    Units,
)
from discreet.query.plan.row_sources import FilterRows, JoinKind, Project, PublicJoin, Scan
from discreet.query.policy.declarations import (
    ColumnPolicy,
    Policy,
    PublicTable,
    Source,
    SourceKind,
    TablePolicy,
    UnitColumn,
    UnitIsRow,
    UnitLink,
)
from discreet.statistics.columns.fixed_point import FixedPoint

INTEGER, TEXT, REAL = Type.INTEGER, Type.TEXT, Type.REAL
WARD = Key("ward", column("ward", TEXT), None)
TENS = FixedPoint.between((0, 16), grid=1)


def table(called, unit, **types):
    return TablePolicy(called, unit, {key: ColumnPolicy(key, kind) for key, kind in types.items()})


def engine(tables, frames, public=(), **settings):
    policy = Policy(
        source=Source(SourceKind.FRAMES, None),
        lineage="wards",
        version="1",
        unit="person",
        tables={one.name: one for one in tables},
        public={one.name: one for one in public},
        budget=ZCDP(1, relation=Relation.ADD_REMOVE),
        analysts={},
    )
    return DuckDBEngine(policy, {name: pa.table(frame) for name, frame in frames.items()}, **settings)


def visits(person, ward, cost=None, **settings):
    """Return an engine over one table of visits."""
    policy = table("visits", UnitColumn("person"), person=INTEGER, ward=TEXT, cost=REAL)
    frame = {
        "person": pa.array(person, pa.int64()),
        "ward": pa.array(ward, pa.string()),
        "cost": pa.array(cost or [1.0] * len(person), pa.float64()),
    }
    return engine([policy], {"visits": frame}, **settings)


def sums(made, request, cell=0):
    answer = made.run(request)
    return dict(zip(answer.keys, answer.cells[cell], strict=True))


ROWS = (One(),)


def ask(keys=(WARD,), form=None, cells=ROWS, source=None, bounded=None):
    return SumRequest(source or Scan("visits"), keys, form or RowWeights(1), cells, bounded)


def test_rows_without_a_unit_count_for_nothing():
    made = visits([1, None, None, None], ["a", "a", "b", None])
    for form in (RowWeights(9), NormWeights(9), Groups(9, 9)):
        assert sums(made, ask(form=form)) == {("a",): WEIGHT}


def test_no_rows_and_no_keys_give_one_group_of_zeros():
    made = visits([None], ["a"])
    for form in (RowWeights(1), NormWeights(1), Groups(1, 1)):
        cells = (One(), Steps(column("cost", REAL), TENS, 2))
        assert made.run(ask(keys=(), form=form, cells=cells)).cells == [[0], [0]]
        assert made.run(ask(form=form)).keys == []
        request = HistogramRequest(Scan("visits"), (), form, column("cost", REAL), TENS)
        assert [len(array) for array in made.histogram(request)[()]] == [0, 0]


def linked(links, frames):
    """Return an engine over notes that reach their person over stays."""
    tables = [
        table("notes", UnitLink("stay", "stays", "number"), stay=INTEGER, ward=TEXT),
        table("stays", links, number=INTEGER, patient=INTEGER, person=TEXT),
        table("patients", UnitColumn("name"), key=INTEGER, name=TEXT),
    ]
    return engine(tables, frames)


NOTES = {"stay": pa.array([1, 1, 2, 3, None], pa.int64()), "ward": ["a", "a", "a", "b", "b"]}
STAYS = {"number": [1, 2], "patient": [10, 10], "person": ["ann", None]}
PATIENTS = {"key": [10, 11], "name": ["ann", "bo"]}


def test_a_row_whose_link_leads_nowhere_has_no_unit():
    made = linked(UnitColumn("person"), {"notes": NOTES, "stays": STAYS, "patients": PATIENTS})
    assert sums(made, ask(source=Scan("notes"))) == {("a",): 2 * (WEIGHT // 2)}


def test_links_are_followed_to_the_end():
    made = linked(UnitLink("patient", "patients", "key"), {"notes": NOTES, "stays": STAYS, "patients": PATIENTS})
    assert sums(made, ask(source=Scan("notes"))) == {("a",): 3 * (WEIGHT // 3)}


def test_a_row_linked_to_several_rows_counts_once_for_every_unit():
    stays = {"number": [1, 1, 1], "patient": [0, 0, 0], "person": ["ann", "bo", "bo"]}
    made = linked(UnitColumn("person"), {"notes": NOTES, "stays": stays, "patients": PATIENTS})
    assert sums(made, ask(source=Scan("notes"), form=RowWeights(9))) == {("a",): 2 * 2 * WEIGHT}


def test_two_ways_to_one_unit_are_one():
    stays = {"number": [1, 1, 1], "patient": [10, 10, 11], "person": ["", "", ""]}
    patients = {"key": [10, 11, 11], "name": ["ann", "ann", "ann"]}
    made = linked(UnitLink("patient", "patients", "key"), {"notes": NOTES, "stays": stays, "patients": patients})
    assert sums(made, ask(source=Scan("notes"), form=RowWeights(9))) == {("a",): 2 * WEIGHT}
    assert sums(made, ask(form=EachRow(), source=Scan("notes"), bounded=made.bound("notes", 9))) == {("a",): 2}


@pytest.mark.parametrize(
    ("unit", "words"),
    [
        (UnitIsRow(), "name the column of 'stays' that tells units apart"),
        (UnitLink("patient", "notes", "stay"), "leads to no unit"),
        (UnitLink("patient", "nothing", "stay"), "leads to no unit"),
        (UnitLink("patient", "patients", "name"), "are linked but differ in type"),
    ],
)
def test_links_that_lead_to_no_unit_are_refused(unit, words):
    made = linked(unit, {"notes": NOTES, "stays": STAYS, "patients": PATIENTS})
    with pytest.raises(PolicyError, match=words):
        made.run(ask(source=Scan("notes")))


def test_exactly_the_bound_of_groups_is_kept_whatever_the_keys():
    wards = [f"w{number}" for number in range(200)]
    made = visits([person for person in range(20) for _ in wards], wards * 20)
    public = Key("ward", column("ward", TEXT), tuple(wards))
    for key in (WARD, public):
        for groups in (1, 3, 64, 65, 100, 200, 500):
            found = sums(made, ask((key,), Groups(groups, 1), (Units(),)))
            assert sum(found.values()) == 20 * min(groups, 200)


def test_groups_are_chosen_evenly():
    wards = [f"w{number}" for number in range(8)]
    people = [person for person in range(4_000) for _ in wards]
    made = visits(people, wards * 4_000)
    for key in (WARD, Key("ward", column("ward", TEXT), tuple(wards))):
        found = sums(made, ask((key,), Groups(2, 1), (Units(),)))
        assert all(850 <= count <= 1_150 for count in found.values())  # fixed data, fixed hash: nothing is drawn


def test_rows_outside_a_public_domain_take_no_place_among_the_groups():
    wards = ["a", *(f"other {number}" for number in range(50))]
    made = visits([1] * len(wards), wards)
    key = Key("ward", column("ward", TEXT), ("a", "b"))
    assert sums(made, ask((key,), Groups(1, 1))) == {("a",): WEIGHT}
    assert sums(made, ask((key,), NormWeights(1))) == {("a",): WEIGHT}


def test_another_units_rows_do_not_change_a_choice():
    source = random.Random(5)  # noqa: S311 - made-up rows
    rows = [(1, f"w{source.randrange(40)}") for _ in range(60)]
    others = [(2, f"v{source.randrange(90)}") for _ in range(300)]
    alone = visits(*zip(*rows, strict=True))
    together = visits(*zip(*[*others, *rows], strict=True))
    keep = Groups(3, 2)
    first, second = (sums(made, ask(form=keep, cells=(Units(),))) for made in (alone, together))
    assert {key for key in second if key[0].startswith("w")} == set(first)


def test_sums_of_squares_are_exact_on_the_finest_grid():
    scale = FixedPoint.between((0, 1))
    value = Fraction(3, 7)
    made = visits([1, 2, 3], ["a"] * 3, [float(value)] * 3)
    step = scale.position(Fraction(float(value)))
    for offset in (0, -scale.steps, 5):
        cells = (Steps(column("cost", REAL), scale, 2, offset), Steps(column("cost", REAL), scale, 1, offset))
        for form in (RowWeights(1), NormWeights(1), Groups(1, 1)):
            assert made.run(ask((), form, cells)).cells == [
                [3 * WEIGHT * (step + offset) ** 2],
                [3 * WEIGHT * (step + offset)],
            ]


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (ask(form=EachRow()), "EachRow is for rows that are units"),
        (ask(form=RowWeights(0)), "an integer from 1 to 2\\^40"),
        (ask(form=Groups(0, 1)), "groups of a unit are bounded"),
        (ask(cells=(Units(),)), "units are counted in the form Groups"),
        (ask(cells=(Steps(column("cost", REAL), TENS, 3),)), "its power 1 or 2"),
        (ask(cells=(Steps(column("cost", REAL), TENS, 1, 1 << 42),)), "less than 2\\^42"),
    ],
)
def test_a_request_that_bounds_nothing_is_not_run(request_, words):
    with pytest.raises(ParameterError, match=words):
        visits([1], ["a"]).run(request_)


def test_unknown_names_are_refused():
    made = visits([1], ["a"])
    for request in (ask(source=Scan("nothing")), ask((Key("x", column("nothing", TEXT), None),)), ask(bounded="none")):
        with pytest.raises(UnknownName):
            made.run(request)


AREAS = PublicTable("areas", {"name": ColumnPolicy("name", TEXT), "code": ColumnPolicy("code", INTEGER)})


def test_a_public_join_takes_keys_of_one_type_only():
    frames = {"visits": {"person": [1], "ward": ["a"]}, "areas": {"name": ["a"], "code": [7]}}
    made = engine([table("visits", UnitColumn("person"), person=INTEGER, ward=TEXT)], frames, [AREAS])
    wrong = PublicJoin(Scan("visits"), "areas", ((column("ward", TEXT), "code"),), (), JoinKind.INNER)
    with pytest.raises(QueryRefused, match="cast one side"):
        made.run(ask(source=wrong))
    with pytest.raises(UnknownName, match="no public table 'visits'"):
        made.run(ask(source=PublicJoin(Scan("visits"), "visits", (), (), JoinKind.INNER)))


@pytest.mark.parametrize(
    ("names", "violated"), [(["a", "b"], False), (["a", "a"], True), ([None, None], False), (["a", "A"], False)]
)
def test_a_declared_key_that_is_not_unique_is_seen(names, violated):
    frames = {"areas": {"name": pa.array(names, pa.string()), "code": [1, 1]}}
    made = engine([], frames, [AREAS])
    assert made.unique_violated("areas", ["name"]) is violated
    assert made.unique_violated("areas", ["code"]) is True
    with pytest.raises(UnknownName):
        made.unique_violated("visits", ["name"])


def test_columns_that_differ_in_capitals_or_are_called_unit_are_kept_apart():
    made = visits([1, 1, 2], ["a", "b", "b"])
    columns = (("unit", column("ward", TEXT)), ("Unit", apply(Operation.UPPER, column("ward", TEXT))))
    doubled = Project(Project(Scan("visits"), columns), (("x", apply(Operation.LOWER, column("Unit", TEXT))),))
    keys = (Key("x", column("x", TEXT), None),)
    assert sums(made, ask(keys, source=doubled, form=RowWeights(2))) == {("a",): WEIGHT, ("b",): 2 * WEIGHT}


def test_threads_and_memory_change_no_sum():
    source = random.Random(11)  # noqa: S311 - made-up rows
    people = [source.randrange(3_000) for _ in range(200_000)]
    wards = [f"w{source.randrange(300)}" for _ in people]
    costs = [source.uniform(-1, 20) for _ in people]
    cells = (One(), Steps(column("cost", REAL), FixedPoint.between((0, 16)), 2))
    settings = [{"threads": 1}, {"threads": 4, "memory": 64 << 20}]
    made = [visits(people, wards, costs, **setting) for setting in settings]
    for form in (RowWeights(3), NormWeights(3), Groups(2, 1)):
        one, two = ({cell: sums(each, ask(form=form, cells=cells), cell) for cell in (0, 1)} for each in made)
        assert one == two
        assert len(one[0]) == 300


def test_the_statement_is_shown_as_it_runs():
    made = visits([1], ["a"])
    text = made.text(ask(form=Groups(2, 3)))
    for name in ("rows", "pairs", "kept"):
        assert f"{name} AS " in text
    assert text.count(";") == 0
    for word in ("random", "limit", "uuid", "now("):
        assert word not in text.lower()
    assert "over_bound" in made.text(ask())


def test_rows_are_granted_with_their_units():
    made = visits([1, None, 2], ["a", "b", None], [1.0, 2.0, float("nan")])
    arrays = made.rows(FilterRows(Scan("visits"), literal(True)), ["ward", "cost"])
    assert sorted(zip(arrays["unit"].tolist(), arrays["ward"].tolist(), arrays["cost"].tolist(), strict=True)) == [
        (1, "a", 1.0),
        (2, None, None),
    ]
    single = engine([table("log", UnitIsRow(), size=INTEGER)], {"log": {"size": [5, 6]}})
    assert sorted(single.rows(Scan("log"), ["size"])["unit"].tolist()) == [0, 1]


def bounded_rows(made, handle, keys=(WARD,)):
    return sums(made, ask(keys, EachRow(), bounded=handle))


def test_a_bounded_table_holds_at_most_the_bound_of_rows_of_each_unit():
    person = [1] * 50 + [2] * 3 + [None] * 9 + [3] * 4
    made = visits(person, [f"w{number % 7}" for number in range(len(person))])
    handle = made.bound("visits", 4)
    people = bounded_rows(made, handle, (Key("person", column("person", INTEGER), None),))
    assert people == {(1,): 4, (2,): 3, (3,): 4}
    assert made.bound("visits", 4) == handle
    assert made.bound("visits", 5) != handle


def test_a_bounded_table_depends_on_a_units_own_rows_only_and_not_on_their_order():
    source = random.Random(9)  # noqa: S311 - made-up rows
    rows = [(1, source.choice("abcdef"), source.choice([1.0, 2.0, float("nan"), None])) for _ in range(40)]
    others = [(2, source.choice("uvwxyz"), 1.0) for _ in range(40)]
    keys = (WARD, Key("cost", column("cost", REAL), None))
    found = []
    for _ in range(4):
        source.shuffle(rows)
        mixed = [*rows, *source.sample(others, source.randrange(40))]
        made = visits(*map(list, zip(*mixed, strict=True)))
        own = bounded_rows(made, made.bound("visits", 9), keys)
        found.append({key: count for key, count in own.items() if key[0] in "abcdef"})
        assert sum(found[-1].values()) == 9
    assert all(one == found[0] for one in found)


def test_a_bounded_table_answers_like_the_rows_where_no_unit_is_over_the_bound():
    wards = [f"w{number % 5}" for number in range(30)] + [None]
    made = visits(list(range(31)), wards)
    handle = made.bound("visits", 2)
    assert bounded_rows(made, handle) == Counter((ward,) for ward in wards)
    longer = FilterRows(Scan("visits"), apply(Operation.EQUAL, column("ward", TEXT), literal("not there")))
    assert sums(made, ask((), EachRow(), source=longer, bounded=handle)) == {(): 0}
    upper = (Key("x", apply(Operation.UPPER, column("ward", TEXT)), None),)
    assert bounded_rows(made, handle, upper)[("W1",)] == 6
    with pytest.raises(ParameterError, match="EachRow"):
        made.run(ask(form=RowWeights(1), bounded=handle))
    with pytest.raises(UnknownName, match="there is no bounded table"):
        made.run(ask(form=EachRow(), source=Scan("other"), bounded=handle))


def test_a_table_of_single_rows_is_not_bounded():
    single = engine([table("log", UnitIsRow(), size=INTEGER)], {"log": {"size": [5, 6]}})
    with pytest.raises(ParameterError, match="a table is bounded where its unit is named by a column"):
        single.bound("log", 3)


def test_closing_leaves_nothing_behind():
    made = visits([1], ["a"])
    folder = made._folder
    assert folder.is_dir()
    assert folder.stat().st_mode & 0o777 == 0o700
    made.close()
    assert not Path(folder).exists()


def test_an_interrupt_stops_the_query_and_leaves_the_engine_usable():
    made = visits([1], ["a"])

    def endless():
        os.kill(os.getpid(), signal.SIGINT)
        return made._connection.execute("SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b")

    # a process that was started in the background may have been told to ignore interrupts
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            made._outcome(endless)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert sums(made, ask()) == {("a",): WEIGHT}
