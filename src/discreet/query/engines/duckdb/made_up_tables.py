"""Rehearsals: the tables of a policy filled with made-up rows, to try a query at no cost."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path

from discreet.errors import ParameterError
from discreet.query.engines.duckdb.engine import DuckDBEngine
from discreet.query.engines.duckdb.source import Resources, connect
from discreet.query.engines.duckdb.text import constant, quoted
from discreet.query.expression import Type
from discreet.query.plan import Engine
from discreet.query.policy import ColumnPolicy, Policy, Source, SourceKind, TablePolicy, UnitColumn, UnitLink

_MOST = 10_000_000
_ROWS_A_UNIT = 4
_FROM_NUMBER = {
    Type.DATE: "(DATE '2000-01-01' + CAST({} % 20000 AS INTEGER))",
    Type.TIMESTAMP: "(TIMESTAMP '2000-01-01' + to_hours(CAST({} % 400000 AS INTEGER)))",
    Type.BOOLEAN: "({} % 2 = 0)",
    Type.REAL: "CAST({} AS DOUBLE)",
    Type.INTEGER: "CAST({} AS BIGINT)",
}


@contextmanager
def rehearsal(policy: Policy, *, size: int) -> Iterator[tuple[Policy, Engine]]:
    """Make a database of the same schema from the policy alone, and an engine over it; both go at the end.

    Nothing of the source is read: values are spread evenly over what the policy declares.
    """
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= _MOST:
        raise ParameterError(f"size= must be a number of made-up rows between 1 and {_MOST:,}", parameter="size")
    with tempfile.TemporaryDirectory(prefix="discreet-") as folder:
        path = Path(folder) / "rehearsal.duckdb"
        _write(policy, path, size)
        made = replace(policy, source=Source(SourceKind.DUCKDB, path), ledger=None, anchor=None)
        engine = DuckDBEngine(made)
        try:
            yield made, engine
        finally:
            engine.close()


def _write(policy: Policy, path: Path, size: int) -> None:
    """Write the tables into a database file."""
    connection = connect(Resources())
    try:
        connection.execute(f"ATTACH '{str(path).replace(chr(39), chr(39) * 2)}' AS made")
        for table in policy.tables.values():
            keys = _keys(policy, table)
            connection.execute(_statement(table.name, table.columns, size, keys))
        for public in policy.public.values():
            unique = {name for names in public.unique for name in names}
            connection.execute(_statement(public.name, public.columns, min(size, 1000), dict.fromkeys(unique, 1)))
    finally:
        connection.close()


def _keys(policy: Policy, table: TablePolicy) -> dict[str, int]:
    """Return the columns that must agree between rows or tables, with how many rows share a value."""
    found: dict[str, int] = {}
    if isinstance(table.unit, UnitColumn):
        found[table.unit.column] = _ROWS_A_UNIT
    if isinstance(table.unit, UnitLink):
        found[table.unit.column] = 2
    for other in policy.tables.values():
        if isinstance(other.unit, UnitLink) and other.unit.table == table.name:
            found[other.unit.key] = 1
    return found


def _statement(name: str, columns: Mapping[str, ColumnPolicy], rows: int, keys: Mapping[str, int]) -> str:
    items = []
    for place, (column, stated) in enumerate(columns.items()):
        made = _shared(stated, keys[column]) if column in keys else _spread(stated, f"hash(i, {place})")
        items.append(f"{made} AS {quoted(column)}")
    return f"CREATE TABLE made.{quoted(name)} AS SELECT {', '.join(items)} FROM range({rows}) AS t(i)"


def _shared(stated: ColumnPolicy, each: int) -> str:
    """Return an identifier that `each` rows share."""
    text = f"(i // {each})"
    return f"'id ' || {text}" if stated.type is Type.TEXT else _FROM_NUMBER[stated.type].format(text)


def _spread(stated: ColumnPolicy, hashed: str) -> str:
    """Return a value spread evenly over what is declared."""
    if stated.values is not None:
        listed = ", ".join(constant(value, stated.type) for value in stated.values)
        return f"([{listed}])[1 + CAST({hashed} % {len(stated.values)} AS BIGINT)]"
    low, high = stated.low, stated.high
    if isinstance(low, Fraction) and isinstance(high, Fraction):
        share = f"(CAST({hashed} % 1000003 AS DOUBLE) / 1000003)"
        value = f"({float(low)!r}::DOUBLE + {float(high - low)!r}::DOUBLE * {share})"
        return f"CAST(round({value}) AS BIGINT)" if stated.type is Type.INTEGER else value
    if isinstance(low, date) and isinstance(high, date):
        days = (high - low).days + 1
        day = f"(DATE '{low:%Y-%m-%d}' + CAST({hashed} % {days} AS INTEGER))"
        return f"CAST({day} AS TIMESTAMP)" if stated.type is Type.TIMESTAMP else day
    if stated.type is Type.TEXT:
        return f"'text ' || ({hashed} % 20)"
    return _FROM_NUMBER[stated.type].format(f"({hashed} % 100)")
