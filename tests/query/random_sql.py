"""Random questions in SQL over several tables of people, nested, and small tables with their neighbors, from a seed."""

# ruff: noqa: S608 - the texts are questions, put together of our own words
from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from datetime import date
from fractions import Fraction
from typing import Any

import pyarrow as pa

from discreet.frames import Type
from discreet.privacy import Guarantee, Relation
from discreet.query.frame_table import FrameTable
from discreet.query.policy.declarations import (
    Analyst,
    ColumnPolicy,
    Policy,
    PublicTable,
    Source,
    SourceKind,
    TablePolicy,
    Unit,
    UnitColumn,
    UnitLimits,
    UnitLink,
)

Row = dict[str, Any]
Tables = dict[str, list[Row]]
_DAYS = [date(2023, 1, day) for day in (1, 2, 3, 10)]
# for each column: its type, values that plain SQL reads as they are, and hostile ones
COLUMNS: Mapping[str, Mapping[str, tuple[Type, list[Any], list[Any]]]] = {
    "visits": {
        "patient": (Type.INTEGER, [1, 2, 3, 2**62, -1], []),
        "region": (Type.TEXT, ["north", "south", "west", "nowhere", ""], []),
        "age": (Type.INTEGER, [0, 1, 2, 3, 9], [2**62, -5]),
        "cost": (Type.REAL, [0.0, 0.25, 1.5, 8.0], [float("nan"), float("inf"), -0.0, -1e300]),
        "day": (Type.DATE, _DAYS, []),
    },
    "patients": {
        "id": (Type.INTEGER, [1, 2, 3, 2**62, -1], []),
        "k": (Type.INTEGER, [1, 2, 3, 4], []),
        "sex": (Type.TEXT, ["m", "f"], []),
        "w": (Type.REAL, [-2.0, 0.5, 1.0], [float("-inf")]),
    },
    "stays": {
        "k": (Type.INTEGER, [1, 2, 3], []),
        "number": (Type.INTEGER, [1, 2, 3], []),
        "cost": (Type.REAL, [0.5, 2.0, 8.0], []),
    },
    "notes": {"stay": (Type.INTEGER, [1, 2, 3], []), "size": (Type.INTEGER, [0, 1, 5, 9], [-(2**63)])},
    "regions": {"code": (Type.TEXT, [], []), "country": (Type.TEXT, [], []), "people": (Type.INTEGER, [], [])},
}
_DECLARED: Mapping[str, Mapping[str, Any]] = {
    "region": {"values": ("north", "south", "west")},
    "sex": {"values": ("m", "f")},
    "age": {"low": Fraction(0), "high": Fraction(9), "public": True},
    "cost": {"low": Fraction(0), "high": Fraction(8)},
    "w": {"low": Fraction(-2), "high": Fraction(2)},
    "day": {"low": _DAYS[0], "high": _DAYS[-1]},
    "size": {"low": Fraction(0), "high": Fraction(9)},
}
_UNITS: Mapping[str, Unit] = {
    "visits": UnitColumn("patient"),
    "patients": UnitColumn("id"),
    "stays": UnitLink("k", "patients", "k"),
    "notes": UnitLink("stay", "stays", "number"),
}
_NAMING = {"visits": "patient", "patients": "id"}
_REGIONS = [
    {"code": "north", "country": "A", "people": 1},
    {"code": "south", "country": "B", "people": None},
    {"code": None, "country": "A", "people": 3},
    {"code": "m", "country": None, "people": 4},
]
ARROW = {Type.INTEGER: pa.int64(), Type.REAL: pa.float64(), Type.TEXT: pa.string(), Type.DATE: pa.date32()}


def policy_of(budget: Guarantee, limits: UnitLimits) -> Policy:
    """Return a policy whose neighbors are those of its budget; numbers of people are public where one is changed."""
    people = 6 if budget.relation is Relation.CHANGE_ONE else None
    columns = {
        table: {name: ColumnPolicy(name, kind, **_DECLARED.get(name, {})) for name, (kind, _, _) in held.items()}
        for table, held in COLUMNS.items()
    }
    return Policy(
        source=Source(SourceKind.FRAMES, None),
        lineage="random questions",
        version="1",
        unit="person",
        tables={name: TablePolicy(name, unit, columns[name], limits, people) for name, unit in _UNITS.items()},
        public={"regions": PublicTable("regions", columns["regions"], unique=(frozenset({"code"}),))},
        budget=budget,
        analysts={"ana": Analyst("ana")},
    )


def tables_of(source: random.Random, *, hostile: bool) -> Tables:
    """Return small tables, with people who have many rows, and rows of nobody."""
    most = {"visits": 20, "patients": 6, "stays": 8, "notes": 8}
    made = {name: [_row(source, name, hostile) for _ in range(source.randint(0, most[name]))] for name in _UNITS}
    return {**made, "regions": list(_REGIONS)}


def neighbor_of(source: random.Random, tables: Tables, *, change: bool) -> Tables:
    """Return the tables without one person, or with other rows of it."""
    made = {name: list(rows) for name, rows in tables.items()}
    there = [row[unit] for name, unit in _NAMING.items() for row in tables[name] if row[unit] is not None]
    one = source.choice(there or [1])
    for name, unit in _NAMING.items():
        made[name] = [row for row in made[name] if row[unit] != one]
        if change:
            made[name] += [{**_row(source, name, True), unit: one} for _ in range(source.choice([0, 1, 2, 9]))]
            source.shuffle(made[name])
    return made


def frames_of(tables: Tables) -> dict[str, FrameTable]:
    """Return tables as an engine takes them."""
    return {name: FrameTable(arrow_of(name, rows)) for name, rows in tables.items()}


def arrow_of(table: str, rows: list[Row]) -> pa.Table:
    return pa.table({c: pa.array([row[c] for row in rows], ARROW[kind]) for c, (kind, _, _) in COLUMNS[table].items()})


def of_somebody(tables: Tables) -> Tables:
    """Return the tables without the rows that name nobody."""
    return {
        name: [row for row in rows if row.get(_NAMING.get(name, ""), 0) is not None] for name, rows in tables.items()
    }


def _row(source: random.Random, table: str, hostile: bool) -> Row:
    def value(plain: list[Any], odd: list[Any]) -> Any:
        return None if source.random() < 0.15 else source.choice(plain + odd if hostile else plain)

    return {name: value(plain, odd) for name, (_, plain, odd) in COLUMNS[table].items()}


class Questions:
    """Makes SQL; rows always have the columns u (the person), a (an integer), x (a real), t (a text) and d (a date)."""

    tables = (
        "SELECT patient AS u, age AS a, cost AS x, region AS t, day AS d FROM visits",
        "SELECT id AS u, k AS a, w AS x, sex AS t, CAST(NULL AS DATE) AS d FROM patients",
        "SELECT p.id AS u, s.number AS a, s.cost AS x, sex AS t, DATE '2023-01-02' AS d FROM stays s JOIN patients p "
        "ON s.k = p.k",
        "SELECT p.id AS u, size AS a, cost AS x, 'south' AS t, DATE '2023-01-03' AS d FROM notes n, stays s, "
        "patients p WHERE n.stay = s.number AND s.k = p.k",
    )
    keys: Mapping[str, str] = {
        "t": "t",
        "CLAMP(a, 0, 3)": "level",
        "CASE WHEN x > 1 THEN 'high' WHEN x <= 1 THEN 'low' END": "height",
        "a > 1": "much",
        "EXTRACT(DAY FROM d)": "day_of_month",
        "EXTRACT(DOW FROM d)": "weekday",
    }

    def __init__(self, source: random.Random) -> None:
        self.source = source
        self.taken = 0

    def question(self, depth: int, aggregates: list[str]) -> tuple[str, list[str]]:
        """Return a question with the names of its keys; the aggregates are called m0, m1, ..."""
        rows = self.rows(depth)
        chosen = self.source.sample(list(self.keys), self.source.choice([0, 1, 1, 2]))
        names = [self.keys[one] for one in chosen]
        items = [one if one == name else f"{one} AS {name}" for one, name in zip(chosen, names, strict=True)]
        items += [f"{one} AS m{place}" for place, one in enumerate(aggregates)]
        where = f" WHERE {self.condition('z')}" if self.source.random() < 0.3 else ""
        grouped = f" GROUP BY {', '.join(names)}" if names else ""
        return f"SELECT {', '.join(items)} FROM ({rows}) z{where}{grouped}", names

    def rows(self, depth: int) -> str:
        """Return a SELECT of rows, nested at most so deeply."""
        if depth == 0:
            return self.source.choice((self.tables[0], *self.tables))
        makers = (self._filter, self._computed, self._join, self._union, self._cohort, self._beside, self._per_person)
        makers += (self._join, self._cohort, self._per_person)
        return self.source.choice(makers)(depth - 1)

    def condition(self, *names: str) -> str:
        """Return a condition over rows of these names."""
        choose = self.source.choice

        def column(name: str) -> str:
            return f"{choose(names)}.{name}" if names else name

        simple: list[Callable[[], str]] = [
            lambda: f"{column('a')} > {choose([0, 1, 2])}",
            lambda: f"{column('x')} <= {choose([0, 1.5, 3])}",
            lambda: f"{column('t')} IN ('north', 'm')",
            lambda: f"{column('d')} >= DATE '2023-01-02'",
            lambda: f"{column('a')} IS NULL",
            lambda: f"NOT ({column('x')} > {column('a')})",
            lambda: f"{column('t')} <> {column('t')}",
        ]
        one, other = choose(simple)(), choose(simple)()
        return choose([one, f"({one} AND {other})", f"({one} OR {other})"])

    def _named(self) -> str:
        self.taken += 1
        return f"s{self.taken}"

    def _other(self, depth: int) -> str:
        return self.rows(self.source.randint(0, depth))

    def _filter(self, depth: int) -> str:
        return f"SELECT u, a, x, t, d FROM ({self.rows(depth)}) z WHERE {self.condition('z')}"

    def _computed(self, depth: int) -> str:
        otherwise = self.source.choice(["1", "a", "NULL"])
        return (
            f"SELECT u, CASE WHEN {self.condition()} THEN a ELSE {otherwise} END AS a, CASE WHEN {self.condition()} "
            f"THEN x ELSE 1.5 END AS x, COALESCE(t, 'north') AS t, d FROM ({self.rows(depth)}) z"
        )

    def _join(self, depth: int) -> str:
        one, two, choose = self._named(), self._named(), self.source.choice
        items = ", ".join(f"{choose([one, two])}.{name} AS {name}" for name in "axtd")
        first, second = f"({self.rows(depth)}) {one}", f"({self._other(depth)}) {two}"
        more = choose(["", f" AND {self.condition(one, two)}"])
        left = choose(["", "LEFT "])
        return choose(
            [
                f"SELECT {one}.u AS u, {items} FROM {first} {left}JOIN {second} ON {one}.u = {two}.u{more}",
                f"SELECT {one}.u AS u, {items} FROM {first}, {second} WHERE {two}.u = {one}.u{more}",
                f"SELECT u, {items} FROM {first} {left}JOIN {second} USING (u)",
            ]
        )

    def _union(self, depth: int) -> str:
        parts = [self.rows(depth), self._other(depth)]
        return " UNION ALL ".join(f"SELECT u, a, x, t, d FROM ({one}) {self._named()}" for one in parts)

    def _cohort(self, depth: int) -> str:
        one, two, choose = self._named(), self._named(), self.source.choice
        rows, other = f"({self.rows(depth)}) {one}", f"({self._other(depth)}) {two}"
        own, both, no = self.condition(two), self.condition(one, two), choose(["", "NOT "])
        return f"SELECT u, a, x, t, d FROM {rows} WHERE " + choose(
            [
                f"u {no}IN (SELECT u FROM {other})",
                f"u {no}IN (SELECT u FROM {other} WHERE {own})",
                f"{no}EXISTS (SELECT 1 FROM {other} WHERE {two}.u = {one}.u AND {both})",
            ]
        )

    def _beside(self, depth: int) -> str:
        one, two, choose = self._named(), self._named(), self.source.choice
        a, t = choose([f"{one}.a", f"{two}.people"]), choose([f"{one}.t", f"{two}.country"])
        joined = f"{choose(['', 'LEFT '])}JOIN regions {two} ON {one}.t = {two}.code"
        items = f"{one}.u AS u, {a} AS a, {one}.x AS x, {t} AS t, {one}.d AS d"
        return f"SELECT {items} FROM ({self.rows(depth)}) {one} {joined}"

    def _per_person(self, depth: int) -> str:
        choose = self.source.choice
        counts = ["COUNT(*)", "COUNT(a)", "COUNT(DISTINCT a)", "COUNT(DISTINCT t)", "COUNT(*) FILTER (WHERE a > 1)"]
        numbers = [*counts, "MAX(a)", "MIN(a)", "SUM(CLAMP(a, 0, 9))", "CASE WHEN BOOL_OR(a > 1) THEN 1 END"]
        reals = ["SUM(CLAMP(x, 0, 8))", "AVG(CLAMP(x, 0, 8))", "MAX(x)", "MIN(x)"]
        key = choose(["", "", "t", "d", "t, d"])
        ends = [name if name in key else f"{choose(['MIN', 'MAX'])}({name})" for name in "td"]
        having = choose(["", " HAVING COUNT(*) >= 2", " HAVING MAX(a) > 1 OR COUNT(x) = 0", " HAVING BOOL_AND(a >= 1)"])
        return (
            f"SELECT u, {choose(numbers)} AS a, {choose(reals)} AS x, {ends[0]} AS t, {ends[1]} AS d FROM "
            f"({self.rows(depth)}) {self._named()} GROUP BY u{', ' if key else ''}{key}{having}"
        )
