"""Generated tables in a new DuckDB file: text as text, dates as dates."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from discreet._optional import optional
from discreet.data.table import Column

_CASTS = {"U": "::VARCHAR", "M": "::DATE"}  # texts would arrive as an enumeration of the values that occur: data


def write_duckdb(path: str | Path, tables: Mapping[str, Mapping[str, Column]]) -> Path:
    """Write tables, given by their names and columns, into a new DuckDB file; one that exists is replaced."""
    duckdb = optional("duckdb", extra="sql", purpose="to_duckdb()")
    target = Path(path)
    target.unlink(missing_ok=True)
    with duckdb.connect(str(target)) as connection:
        for name, columns in tables.items():
            shown = ", ".join(f"{one}{_CASTS.get(column.dtype.kind, '')} AS {one}" for one, column in columns.items())
            connection.register("arrays", {one: _plain(column) for one, column in columns.items()})
            connection.execute(f"CREATE TABLE {name} AS SELECT {shown} FROM arrays")  # noqa: S608  names of this package
            connection.unregister("arrays")
    return target


def _plain(column: Column) -> Column:
    """Return a writeable copy in a type that DuckDB reads; it knows dates to the second only."""
    return column.astype("datetime64[s]") if column.dtype.kind == "M" else column.copy()
