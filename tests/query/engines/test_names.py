"""Tables and columns may be called like anything that a statement uses itself: no sum changes."""

from __future__ import annotations

from functools import partial

import duckdb
import pyarrow as pa
import pytest
from pyarrow import parquet

from discreet.errors import PolicyError
from discreet.frames import Type
from discreet.privacy import ZCDP, Relation
from discreet.query.engines import evaluate
from discreet.query.engines.duckdb.engine import DuckDBEngine
from discreet.query.engines.duckdb.text import indented, quoted
from discreet.query.expression.expression import Operation
from discreet.query.expression.typing_rules import apply, column, literal
from discreet.query.plan.query_plan import Key
from discreet.query.plan.request import (
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
    UnitLink,
)
from discreet.statistics.columns.fixed_point import FixedPoint

INTEGER, TEXT, REAL = Type.INTEGER, Type.TEXT, Type.REAL
NAMES = [
    "rows",
    "pairs",
    "weights",
    "kept",
    "hashes",
    "cut",
    "names",
    "over_bound",
    "weighted",
    "released",
    "many",
    "unit",
    "key",
    "key_1",
    "x_1",
    "c_1",
    "s_1",
    "h",
    "n",
    "r",
    "a",
    "b",
    "x",
    "y",
    "code",
    "place",
    "last",
    "value",
    "weight",
    "excess",
    "squares",
    "line",
    "cells",
    "t",
    "s",
    "d1",
    "l1",
    "u1",
    "r0",
    "r1",
    "p1",
    "memory",
    "main",
    "temp",
    "source",
    "made",
    "bounded_1",
    "bounded_1_x_1",
    "domain_1",
    "dictionary_1",
    "sum",
    "count",
    "hash",
    "visits",
    "information_schema",
    "sqlite_master",
]
HARD = [
    "the unit",
    "Bounded_1",
    "ROWS",
    "memory.made.bounded_1",
    'a"b',
    "it's",
    "one\ntwo",
    "\r\n",
    "\x85",
    " ",
    "é",
    "É",
]
PERSON = [1, 1, 1, 1, 2, 2, 3, None, 4]
WARD = ["a", "a", "b", None, "b", "c", "a", "b", "zz"]
COST = [1.0, 2.0, 3.0, 4.0, 5.0, None, 7.0, 8.0, 9.0]
TENS = FixedPoint.between((0, 16), grid=1)


def policy(name, other, person, ward, cost, source=None):
    """Return a policy in which a second table, and a public one, have names made from the second name."""
    own = {person: INTEGER, ward: TEXT, cost: REAL}
    link = {ward: INTEGER, person: TEXT}
    area = {ward: TEXT, person: TEXT}
    return Policy(
        source=source or Source(SourceKind.FRAMES, None),
        lineage="names",
        version="1",
        unit="person",
        tables={
            name: TablePolicy(name, UnitColumn(person), declared(own)),
            other: TablePolicy(other, UnitLink(ward, name, person), declared(link)),
        },
        public={"areas": PublicTable("areas", declared(area), (frozenset({ward}),))},
        budget=ZCDP(1, relation=Relation.ADD_REMOVE),
        analysts={},
    )


def declared(columns):
    return {name: ColumnPolicy(name, kind) for name, kind in columns.items()}


def frames(name, other, person, ward, cost):
    return {
        name: pa.table({person: PERSON, ward: WARD, cost: COST}),
        other: pa.table({ward: [1, 1, 2, 9, None], person: ["a", "b", "a", "a", "a"]}),
        "areas": pa.table({ward: ["a", "b"], person: ["north", "south"]}),
    }


def questions(name, other, person, ward, cost):
    """Return what is asked of an engine: requests of every form, each as a function of the engine."""
    group, value = column(ward, TEXT), column(cost, REAL)
    keys = [(Key("k", group, None),), (Key("k", group, ("a", "b", "c")),), (Key("k", group, ("a", None)),)]
    computed = Project(Scan(name), ((person, apply(Operation.UPPER, group)), (ward, group), (cost, value)))
    twice = FilterRows(
        Project(computed, ((ward, column(person, TEXT)), (cost, value))),
        apply(Operation.GREATER, value, literal(1.5)),
    )
    joined = PublicJoin(Scan(name), "areas", ((group, ward),), ((person, person, TEXT),), JoinKind.LEFT)
    cells = (One(), Steps(value, TENS, 2))
    requests = [
        SumRequest(Scan(name), keys[0], RowWeights(2), cells),
        SumRequest(twice, keys[0], RowWeights(2), cells),
        SumRequest(joined, keys[0], RowWeights(2), cells),
        SumRequest(Scan(name), keys[0], NormWeights(2), cells),
        SumRequest(computed, keys[0], Groups(1, 1), (*cells, Units())),
        SumRequest(Scan(name), keys[1], Groups(70, 2), (*cells, Units())),
        SumRequest(Scan(name), keys[2], Groups(1, 2), (*cells, Units())),
        SumRequest(Scan(other), (Key("k", column(person, TEXT), None),), Groups(1, 1), (One(),)),
    ]

    def sums(engine, request):
        found = engine.run(request)
        return dict(zip(found.keys, zip(*found.cells, strict=True), strict=True))

    def histogram(engine, form):
        found = engine.histogram(HistogramRequest(Scan(name), keys[0], form, value, TENS))
        return {key: (places.tolist(), weights.tolist()) for key, (places, weights) in found.items()}

    def bounded(engine, table, kind):
        handle = engine.bound(table, 2)
        found = engine.run(SumRequest(Scan(table), (Key("k", column(kind, TEXT), None),), EachRow(), (One(),), handle))
        return sum(found.cells[0])

    return [
        *(partial(sums, request=request) for request in requests),
        *(partial(histogram, form=form) for form in (RowWeights(2), Groups(1, 2))),
        *(partial(bounded, table=table, kind=kind) for table, kind in ((name, ward), (other, person))),
        lambda engine: sorted(map(str, engine.rows(Scan(name), [ward])["unit"].tolist())),
        lambda engine: engine.unique_violated("areas", [ward]),
    ]


def answers(engine, *names):
    """Return what an engine answers to requests of every form."""
    return [ask(engine) for ask in questions(*names)]


PLAIN = ("visits", "notes", "person", "ward", "cost")


@pytest.fixture(scope="module")
def expected():
    engine = DuckDBEngine(policy(*PLAIN), frames(*PLAIN), threads=1)
    yield answers(engine, *PLAIN)
    engine.close()


def called(place):
    """Return five names of the list, from a place on, so that every name has every part once."""
    every = [*NAMES, *HARD[:6]]
    return [every[(place + step) % len(every)] for step in (0, 7, 14, 21, 28)]


@pytest.mark.parametrize("place", range(len(NAMES) + 6), ids=lambda place: called(place)[0])
def test_names_of_the_engines_own_mean_what_they_name(place, expected, rounds):
    names, every = called(place), rounds(sample=3, full=1)
    chosen = slice(place % every, None, every)  # of the requests, another part for each name
    engine = DuckDBEngine(policy(*names), frames(*names), threads=1)
    assert [ask(engine) for ask in questions(*names)[chosen]] == expected[chosen]
    engine.close()


@pytest.mark.parametrize("name", HARD)
def test_hard_names_are_names(name, expected):
    for names in (("visits", "notes", name, "ward", "cost"), ("visits", "notes", "person", name, name + "2")):
        engine = DuckDBEngine(policy(*names), frames(*names), threads=1)
        assert answers(engine, *names) == expected
        engine.close()


@pytest.mark.parametrize("names", [("rows", "kept"), ("bounded_1", "x_1"), ("made", "memory"), ("t", "main")])
def test_files_may_have_such_names_too(tmp_path, names, expected):
    every = (*names, "unit", "key_1", "x_1")
    for called_, frame in frames(*every).items():
        parquet.write_table(frame, tmp_path / f"{called_}.parquet")
    engine = DuckDBEngine(policy(*every, Source(SourceKind.PARQUET, tmp_path)), threads=1)
    assert answers(engine, *every) == expected
    engine.close()


@pytest.mark.parametrize("names", [("rows", "kept"), ("bounded_1", "source"), ("made", "memory"), ("t", "main")])
def test_tables_of_a_database_may_have_such_names_too(tmp_path, names, expected):
    every = (*names, "unit", "key_1", "x_1")
    with duckdb.connect(str(tmp_path / "memory.duckdb")) as connection:
        for called_, frame in frames(*every).items():
            connection.register("given", frame)
            connection.execute(f"CREATE TABLE {quoted(called_)} AS FROM given")
    engine = DuckDBEngine(policy(*every, Source(SourceKind.DUCKDB, tmp_path / "memory.duckdb")), threads=1)
    assert answers(engine, *every) == expected
    engine.close()


def test_names_that_differ_in_capitals_alone_are_refused():
    with pytest.raises(PolicyError, match="'visits' and 'VISITS' differ in capitals alone"):
        DuckDBEngine(policy("visits", "VISITS", "person", "ward", "cost"), {})


@pytest.mark.parametrize("name", [*NAMES, *HARD, "#row", "#1"])
def test_released_columns_may_have_any_name(name):
    doubled = apply(Operation.ADD, column(name, INTEGER), literal(1))
    assert evaluate([doubled], {name: [1, 2], "other": [5, 6]}, {name: INTEGER, "other": INTEGER}) == [[2, 3]]


@pytest.mark.parametrize("sign", ["\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
def test_moving_a_statement_to_the_right_changes_no_name_and_no_text(sign):
    written = f"'a{sign}''{sign}\"{sign}' AS {quoted(f'b{sign}c')}"
    assert indented(indented(f"SELECT 1,\n{written}")) == f"        SELECT 1,\n        {written}"
