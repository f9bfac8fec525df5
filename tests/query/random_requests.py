"""Random tables, neighbors and requests: hostile values, every form and cell, from a seed."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa

from discreet.frames import Type
from discreet.privacy import ZCDP, Relation
from discreet.query.expression.expression import Expression, Operation
from discreet.query.expression.typing_rules import apply, column, literal
from discreet.query.frame_table import FrameTable
from discreet.query.plan.query_plan import Key
from discreet.query.plan.request import (
    Cell,
    EachRow,
    Form,
    Groups,
    NormWeights,
    One,
    Paired,
    Present,
    RowWeights,
    Steps,
    Units,
    UnitTotal,
)
from discreet.query.plan.row_sources import FilterRows, JoinKind, Project, PublicJoin, RowSource, Scan
from discreet.query.policy.declarations import (
    ColumnPolicy,
    Policy,
    PublicTable,
    Source,
    SourceKind,
    TablePolicy,
    Unit,
    UnitColumn,
    UnitIsRow,
    UnitLink,
)
from discreet.statistics.columns.fixed_point import FixedPoint
from tests.query.expressions import COLUMNS, VALUES, Maker

Row = dict[str, Any]
Tables = dict[str, list[Row]]
EVENTS: Mapping[str, Type] = {**COLUMNS, "g": Type.INTEGER, "c": Type.TEXT}
AREAS: Mapping[str, Type] = {"name": Type.TEXT, "people": Type.INTEGER, "kind": Type.TEXT}
PUBLIC_AREAS = [
    {"name": "a", "people": 5, "kind": "big"},
    {"name": "b", "people": None, "kind": "small"},
    {"name": None, "people": 1, "kind": "nowhere"},
    {"name": "", "people": 2**62, "kind": ""},
]
ARROW = {
    Type.BOOLEAN: pa.bool_(),
    Type.INTEGER: pa.int64(),
    Type.REAL: pa.float64(),
    Type.TEXT: pa.string(),
    Type.DATE: pa.date32(),
    Type.TIMESTAMP: pa.timestamp("us"),
}
UNITS: Mapping[Type, Sequence[Any]] = {
    Type.INTEGER: [1, 2, 3, -1, 2**31 - 1, 2**63 - 1, -(2**63), None],
    Type.TEXT: ["", "ann", "Ann", "bo", "é", None],
    Type.REAL: [0.0, -0.0, 1.0, 1.5, float("inf"), float("nan"), 1e300, None],
}


DECIMALS = {
    0.0: "9007199254740992",
    1.0: "9007199254740993",
    1.5: "9007199254740993.01",
    float("inf"): "0.5",
    1e300: "-1",
}


@dataclass(frozen=True)
class World:
    """Tables with a policy, and the tables that the seed makes."""

    policy: Policy
    tables: Tables
    unit: Type
    decimals: bool = False  # units that are reals are stored as decimal numbers, which no float tells apart

    def columns(self, table: str) -> Mapping[str, Type]:
        found = self.policy.tables.get(table) or self.policy.public[table]
        return {name: stated.type for name, stated in found.columns.items()}

    def frames(self, tables: Tables) -> dict[str, FrameTable]:
        """Return tables with the types that they are stored with; a date that Python does not have is given by its day.

        Units may be stored with any type, as in a file: they are no frames whose types are still to be told.
        """
        return {
            name: FrameTable(
                pa.table({c: self._stored(c, [row[c] for row in rows], kind) for c, kind in self.columns(name).items()})
            )
            for name, rows in tables.items()
        }

    def read(self, tables: Tables) -> Tables:
        """Return tables as they are read, without those dates."""
        return {
            name: [
                {
                    c: self._read(c, None if self.columns(name)[c] is Type.DATE and type(v) is int else v)
                    for c, v in row.items()
                }
                for row in rows
            ]
            for name, rows in tables.items()
        }

    def _stored(self, name: str, values: list[Any], kind: Type) -> pa.Array:
        if name == "uid" and self.decimals:
            return pa.array([self._read(name, value) for value in values], pa.decimal128(20, 2))
        return _array(values, kind)

    def _read(self, name: str, value: Any) -> Any:
        if name != "uid" or not self.decimals:
            return value
        return Decimal(DECIMALS[value]) if value in DECIMALS else None


def world(source: random.Random, *, links: int, by_row: bool, rows: int) -> World:
    """Return tables in which few units have many rows, reached over links from the events."""
    kind = source.choice(list(UNITS))
    unit: Unit = UnitIsRow() if by_row else UnitColumn("uid") if links == 0 else UnitLink("link", "people", "key")
    events = {**EVENTS, "uid": kind, "link": Type.INTEGER}
    people = {"key": Type.INTEGER, "uid": kind, "next": Type.INTEGER}
    holders = {"key": Type.INTEGER, "uid": kind}
    private = {
        "events": TablePolicy("events", unit, declared(events)),
        "people": TablePolicy(
            "people", UnitColumn("uid") if links < 2 else UnitLink("next", "holders", "key"), declared(people)
        ),
        "holders": TablePolicy("holders", UnitColumn("uid"), declared(holders)),
    }
    tables: Tables = {
        "events": [event(source, kind) for _ in range(rows)],
        "people": [_person(source, people, kind) for _ in range(source.randint(0, 8))],
        "holders": [_person(source, holders, kind) for _ in range(source.randint(0, 8))],
        "areas": PUBLIC_AREAS,
    }
    policy = Policy(
        source=Source(SourceKind.FRAMES, None),
        lineage=f"lineage {source.random()}",
        version="1",
        unit="person",
        tables=private,
        public={"areas": PublicTable("areas", declared(AREAS), (frozenset({"name"}),))},
        budget=ZCDP(1, relation=Relation.ADD_REMOVE),
        analysts={},
    )
    return World(policy, tables, kind, decimals=kind is Type.REAL)


def declared(columns: Mapping[str, Type]) -> dict[str, ColumnPolicy]:
    return {name: ColumnPolicy(name, kind) for name, kind in columns.items()}


def event(source: random.Random, kind: Type, unit: Any = ...) -> Row:
    """Return a hostile row; the small columns g and c make groups."""
    row = {name: _stored(source, type_) for name, type_ in COLUMNS.items()}
    row |= {"g": source.choice([0, 0, 1, 2, 3, 4, None]), "c": source.choice(["a", "b", "c", "", "A", None])}
    return row | {"uid": source.choice(UNITS[kind]) if unit is ... else unit, "link": source.choice([1, 2, 3, 4, None])}


def neighbor(source: random.Random, made: World, *, change: bool) -> Tables:
    """Return the tables without one unit, or with other rows of it; for units that are rows, without one row."""
    tables = {name: list(rows) for name, rows in made.tables.items()}
    unit = made.policy.tables["events"].unit
    if isinstance(unit, UnitIsRow):
        if tables["events"]:
            place = source.randrange(len(tables["events"]))
            tables["events"][place : place + 1] = [event(source, made.unit)] if change else []
        return tables
    holder = {UnitColumn: "events"}.get(type(unit)) or (
        "people" if isinstance(made.policy.tables["people"].unit, UnitColumn) else "holders"
    )
    there = [row["uid"] for row in tables[holder]] or [None]
    one = source.choice(there)
    tables[holder] = [row for row in tables[holder] if row["uid"] != one]
    if change and one in [value for value in UNITS[made.unit] if value is not None]:
        columns = made.columns(holder)
        new = [
            event(source, made.unit, one) if holder == "events" else {**_person(source, columns, made.unit), "uid": one}
            for _ in range(source.randint(1, 12))
        ]
        tables[holder] = [*tables[holder], *new]
        source.shuffle(tables[holder])
    return tables


def rows_of(source: random.Random, steps: int) -> tuple[RowSource, bool]:
    """Return rows made by random steps from the events, and whether public columns are among them."""
    rows: RowSource = Scan("events")
    maker, joined = Maker(source), False
    for _ in range(steps):
        step = source.choice(["filter", "project", "join"])
        if step == "filter":
            rows = FilterRows(rows, maker.make(Type.BOOLEAN, 2))
        elif step == "project":
            own: list[tuple[str, Expression]] = [
                (name, maker.make(kind, 2) if source.random() < 0.3 else column(name, kind))
                for name, kind in COLUMNS.items()
            ]
            kept = {**EVENTS, **({"people": Type.INTEGER, "kind": Type.TEXT} if joined else {})}
            own += [(name, column(name, kind)) for name, kind in kept.items() if name not in COLUMNS]
            rows = Project(rows, tuple(own))
        elif not joined:
            added = (("people", "people", Type.INTEGER), ("kind", "kind", Type.TEXT))
            rows = PublicJoin(rows, "areas", ((column("c", Type.TEXT), "name"),), added, source.choice(list(JoinKind)))
            joined = True
    return rows, joined


def keys_of(source: random.Random, number: int, joined: bool) -> tuple[Key, ...]:
    """Return keys with and without public domains."""
    maker = Maker(source)
    choices = [
        lambda: (column("g", Type.INTEGER), source.choice([None, (0, 1, 2), (3, 1), (0, None)])),
        lambda: (column("c", Type.TEXT), source.choice([None, ("a", "b", "zz"), ("a", None)])),
        lambda: (column("b", Type.BOOLEAN), source.choice([None, (False, True)])),
        lambda: (column("x", Type.REAL), source.choice([None, (0.0, 1.0, 2.5)])),
        lambda: (column("d", Type.DATE), source.choice([None, (date(1970, 1, 1), date(2000, 2, 29))])),
        lambda: (maker.any(2), None),
        lambda: (apply(Operation.LOWER, column("c", Type.TEXT)), source.choice([None, ("a", "b")])),
        lambda: (_or_other(column("c", Type.TEXT), "a", "b"), ("a", "b", "other")),
        lambda: (apply(Operation.CLAMP, column("g", Type.INTEGER), literal(0), literal(2)), (0, 1, 2)),
        lambda: (column("kind" if joined else "t", Type.TEXT), None),
    ]
    made = [source.choice(choices)() for _ in range(number)]
    return tuple(Key(f"k{index}", expression, domain) for index, (expression, domain) in enumerate(made))


def _or_other(value: Expression, *listed: str) -> Expression:
    """Return the key that `keys=` makes of values and dots: everything else, NULL too, is one more group."""
    return apply(Operation.CASE, apply(Operation.IN, value, *map(literal, listed)), value, literal("other"))


def form_of(source: random.Random, by_row: bool) -> Form:
    """Return a form with small bounds."""
    if by_row:
        return EachRow()
    rows = source.choice([1, 2, 3, 5, 100])
    groups = Groups(source.choice([1, 1, 2, 3, 70]), rows)
    return source.choice([RowWeights(rows), NormWeights(rows), groups, groups])


def scale_of(source: random.Random) -> FixedPoint:
    """Return a grid, coarse or as fine as they come."""
    return source.choice(
        [
            FixedPoint.between((-4, 12), grid=Fraction(1, 4)),
            FixedPoint.between((0, 1000)),
            FixedPoint(-3, 5, Fraction(2)),
        ]
    )


def cells_of(source: random.Random, form: Form) -> tuple[Cell, ...]:
    """Return some cells that the form allows."""
    maker, scale = Maker(source), scale_of(source)
    number = source.choice([column("x", Type.REAL), column("i", Type.INTEGER), maker.make(Type.REAL, 2)])
    cells: list[Cell] = [
        One(),
        Present(number),
        Steps(number, scale),
        Steps(number, scale, power=2, offset=source.choice([0, scale.start])),
        Steps(number, scale, offset=source.choice([-7, 9])),
    ]
    other = source.choice([column("y", Type.REAL), column("j", Type.INTEGER), number])
    pair = Steps(number, FixedPoint(-3, 5, Fraction(2)), offset=-3), Steps(other, FixedPoint(0, 1000, Fraction(1, 4)))
    cells.append(Paired(*pair, source.choice([(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)])))
    if isinstance(form, Groups | EachRow):
        cells += [Units(), *(unit_total(source, number, scale) for _ in range(2))]
    return tuple(source.sample(cells, source.randint(1, len(cells))))


def unit_total(source: random.Random, number: Expression, scale: FixedPoint) -> UnitTotal:
    """Return a total of a unit, clipped to a range that may leave out 0, or hold one number."""
    inner = source.choice([One(), Present(number), Steps(number, scale), Steps(number, scale, offset=scale.start)])
    ends = sorted(source.choice([-(2**61), -40, -3, -1, 0, 1, 2, 5, 70, 2**61]) for _ in range(2))
    return UnitTotal(inner, *ends)


def _stored(source: random.Random, kind: Type) -> Any:
    if source.random() < 0.1:
        return None
    value = source.choice(VALUES[kind])
    if kind is Type.DATE and isinstance(value, str):
        return source.choice([10**8, -(10**6)])  # days: in the year 275 760, and before the year 1
    return None if isinstance(value, str) and kind is Type.TIMESTAMP else value


def _person(source: random.Random, columns: Mapping[str, Type], kind: Type) -> Row:
    return {name: source.choice(UNITS[kind]) if name == "uid" else source.choice([1, 2, 3, None]) for name in columns}


def _array(values: list[Any], kind: Type) -> pa.Array:
    if kind is Type.DATE:
        first = date(1970, 1, 1)
        days = [v if v is None or type(v) is int else (v - first) // timedelta(days=1) for v in values]
        return pa.array(days, pa.int32()).cast(pa.date32())
    return pa.array(values, ARROW[kind])
