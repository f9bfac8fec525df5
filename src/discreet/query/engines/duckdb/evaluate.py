"""Expressions over public values, computed by DuckDB in an empty database: post-processing and images of domains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.query.engines.duckdb.expressions import render
from discreet.query.engines.duckdb.source import Resources, connect
from discreet.query.engines.duckdb.text import NAMES
from discreet.query.expression import Expression, Type, Value

_LONGEST_NAME = "x_10000"


def check_written(expressions: Sequence[Expression]) -> None:
    """Refuse expressions that `evaluated` could not write, before anything is paid for what they are computed from."""
    for one in expressions:
        render(one, lambda _: _LONGEST_NAME)


def evaluated(
    expressions: Sequence[Expression], columns: Mapping[str, list[Value]], types: Mapping[str, Type]
) -> list[list[Value]]:
    """Return one list of values for each expression, in the order of the rows."""
    length = len(next(iter(columns.values()), []))
    if not length:
        return [[] for _ in expressions]
    connection = connect(Resources(threads=1))
    try:
        connection.execute("SET enable_external_access = false")
        names = list(columns)
        lists = ", ".join(f"unnest($c{place}::{NAMES[types[name]]}[]) AS x_{place}" for place, name in enumerate(names))
        given = {f"c{place}": _typed(columns[name], types[name]) for place, name in enumerate(names)}
        connection.execute(f"CREATE TEMP TABLE released AS SELECT unnest(range({length})) AS place, {lists}", given)
        written = {name: f"x_{place}" for place, name in enumerate(names)}
        items = ", ".join(f"{render(one, written)} AS c{place}" for place, one in enumerate(expressions))
        rows = connection.execute(f"SELECT {items} FROM released ORDER BY place").fetchall()
    finally:
        connection.close()
    return [list(column) for column in zip(*rows, strict=True)]


def _typed(values: list[Value], kind: Type) -> list[Value]:
    """Return the values as the type has them: released numbers are reals."""
    return [None if one is None else float(one) for one in values] if kind is Type.REAL else values  # type: ignore[arg-type]
