"""Random rows from several tables: joins along the unit and public ones, rows per unit, unions, nested, from a seed."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from discreet.frames import Type
from discreet.query.expression.expression import Apply, Column, Expression, Operation
from discreet.query.expression.typing_rules import apply, column, literal
from discreet.query.plan.row_sources import (
    FilterRows,
    JoinKind,
    MatchKind,
    PerUnit,
    PrivateJoin,
    Project,
    PublicJoin,
    RowSource,
    Scan,
    UnionAll,
    UnitValue,
    UnitValueKind,
)
from discreet.query.policy.declarations import UnitColumn
from discreet.statistics.columns import FixedPoint
from tests.query.expressions import COLUMNS, Maker
from tests.query.random_requests import AREAS, UNITS, Tables, World, event, scale_of

# every source made here has these columns
SCHEMA: Mapping[str, Type] = {**COLUMNS, "g": Type.INTEGER, "c": Type.TEXT}
NEW = ("public", "inner", "left", "semi", "anti", "per unit", "union")
KINDS = ("filter", "project", *NEW)


def sources_of(source: random.Random, depth: int, kind: str | None = None) -> RowSource:
    """Return rows with the columns of `SCHEMA`, made in at most so many steps; the last one may be told."""
    if depth == 0:
        return _table(source)
    chosen = kind or source.choice(KINDS)
    below = sources_of(source, depth - 1)
    if chosen in _OF_ONE:
        return _OF_ONE[chosen](source, below)
    other = sources_of(source, source.randrange(depth))
    if chosen == "union":
        return UnionAll((below, other), tuple(SCHEMA.items()))
    return matched(source, below, other, MatchKind(chosen))


def filtered(source: random.Random, below: RowSource) -> RowSource:
    """Return the rows that meet a condition."""
    return FilterRows(below, Maker(source).make(Type.BOOLEAN, 2))


def projected(source: random.Random, below: RowSource) -> RowSource:
    """Return rows with some columns computed."""
    return Project(below, tuple((name, _made(source, name)) for name in SCHEMA))


def beside_areas(source: random.Random, below: RowSource) -> RowSource:
    """Return rows with columns of the public table in the place of some of their own."""
    names = {"i": "people", "j": "people", "t": "kind", "u": "kind", "c": source.choice(["kind", "name"])}
    added = tuple((f"p.{name}", name, one) for name, one in AREAS.items())
    key = column(source.choice(["c", "t"]), Type.TEXT)
    joined = PublicJoin(below, "areas", ((key, "name"),), added, source.choice(list(JoinKind)))
    taken = [
        (name, column(f"p.{names[name]}" if name in names and source.random() < 0.5 else name, one))
        for name, one in SCHEMA.items()
    ]
    return Project(joined, tuple(taken))


def matched(source: random.Random, below: RowSource, other: RowSource, kind: MatchKind) -> RowSource:
    """Return rows matched with others, under a condition or none."""
    columns = tuple((f"o.{name}", name, one) for name, one in SCHEMA.items())
    joined = PrivateJoin(below, other, columns, _condition(source), kind)
    if kind in (MatchKind.SEMI, MatchKind.ANTI):
        return joined
    taken = [(name, column(f"o.{name}" if source.random() < 0.4 else name, one)) for name, one in SCHEMA.items()]
    return Project(joined, tuple(taken))


def per_unit(source: random.Random, below: RowSource) -> RowSource:
    """Return one row a unit, or one a unit and key, under the names of `SCHEMA`."""
    number = source.choice([0, 0, 1, 2])
    keys = {name: _made(source, name) for name in source.sample(["g", "c", "b", "x", "t", "d"], number)}
    values = [_value(source, name, one) for name, one in SCHEMA.items() if name not in keys]
    return PerUnit(below, tuple(keys.items()), tuple(values))


_OF_ONE = {"filter": filtered, "project": projected, "per unit": per_unit, "public": beside_areas}


def _value(source: random.Random, name: str, kind: Type) -> UnitValue:
    """Return a value of a unit's rows of this type."""
    maker, own = Maker(source), column(name, kind)
    if kind is Type.BOOLEAN:
        return UnitValue(name, source.choice([UnitValueKind.ANY, UnitValueKind.ALL]), maker.make(kind, 2), kind)
    if kind is Type.INTEGER and source.random() < 0.8:
        asked = source.choice(
            [UnitValueKind.COUNT_ROWS, UnitValueKind.COUNT_VALUES, UnitValueKind.COUNT_DISTINCT, UnitValueKind.SUM]
        )
        argument = own if asked is UnitValueKind.SUM else source.choice([own, maker.any(2)])
        return UnitValue(name, asked, None if asked is UnitValueKind.COUNT_ROWS else argument, kind)
    if kind is Type.REAL and source.random() < 0.8:
        asked = source.choice([UnitValueKind.SUM, UnitValueKind.MEAN])
        argument = source.choice([own, maker.make(Type.REAL, 2), column("i", Type.INTEGER)])
        whole = argument.type is Type.INTEGER and asked is UnitValueKind.MEAN and source.random() < 0.5
        return UnitValue(name, asked, argument, kind, None if whole else _grid(source))
    return UnitValue(name, source.choice([UnitValueKind.MIN, UnitValueKind.MAX]), own, kind)


def _grid(source: random.Random) -> FixedPoint:
    return source.choice([scale_of(source), FixedPoint.between((-1, 3)), FixedPoint.between((0, 10**300))])


def _condition(source: random.Random) -> Expression | None:
    """Return a condition over both sides: an equality, a random one, several, or none."""
    name = source.choice(["g", "g", "c", "c", "i", "x", "d"])
    equal = apply(Operation.EQUAL, column(name, SCHEMA[name]), column(f"o.{name}", SCHEMA[name]))
    mixed = _sides(source, Maker(source).make(Type.BOOLEAN, 2))
    return source.choice([None, equal, mixed, *(apply(both, equal, mixed) for both in (Operation.AND, Operation.OR))])


def _sides(source: random.Random, expression: Expression) -> Expression:
    """Return an expression some of whose columns are those of the other side."""
    if isinstance(expression, Column):
        return column(source.choice([expression.name, f"o.{expression.name}"]), expression.type)
    if isinstance(expression, Apply):
        arguments = tuple(_sides(source, part) for part in expression.arguments)
        return Apply(expression.type, expression.interval, expression.operation, arguments)
    return expression


def _table(source: random.Random) -> RowSource:
    """Return the rows of a table; those without the columns are given constants, and numbers from keys."""
    table = source.choice(["events", "events", "people", "holders"])
    if table == "events":
        return Scan(table)
    numbers = {Type.INTEGER: column("key", Type.INTEGER)}
    made = [(name, numbers.get(kind) or _constant(source, kind)) for name, kind in SCHEMA.items()]
    return Project(Scan(table), tuple(made))


def _constant(source: random.Random, kind: Type) -> Expression:
    return literal("a") if kind is Type.TEXT else Maker(source).constant(kind)


def _made(source: random.Random, name: str) -> Expression:
    kind = SCHEMA[name]
    return Maker(source).make(kind, 2) if name in COLUMNS and source.random() < 0.3 else column(name, kind)


def neighbors_of(source: random.Random, made: World, number: int, *, change: bool) -> list[Tables]:
    """Return neighbors that differ from the tables in one unit each, in different ones as far as there are so many."""
    named = [row["uid"] for name in _naming(made) for row in made.tables[name] if row["uid"] is not None]
    units = list(dict.fromkeys(named)) or [None]
    source.shuffle(units)
    return [_without(source, made, units[place % len(units)], change=change) for place in range(number)]


def _naming(made: World) -> list[str]:
    return [name for name, one in made.policy.tables.items() if isinstance(one.unit, UnitColumn)]


def _without(source: random.Random, made: World, one: Any, *, change: bool) -> Tables:
    """Return the tables without one unit, in every table that names units, or with other rows of it."""
    tables = {name: list(rows) for name, rows in made.tables.items()}
    for name in _naming(made):
        tables[name] = [row for row in tables[name] if row["uid"] != one]
        if change and one in [value for value in UNITS[made.unit] if value is not None]:
            tables[name] += [_row(source, made, name, one) for _ in range(source.randint(0, 6))]
            source.shuffle(tables[name])
    return tables


def _row(source: random.Random, made: World, table: str, unit: Any) -> dict[str, Any]:
    if table == "events":
        return event(source, made.unit, unit)
    return {name: unit if name == "uid" else source.choice([1, 2, 3, None]) for name in made.columns(table)}
