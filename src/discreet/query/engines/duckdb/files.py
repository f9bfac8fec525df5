"""CSV tables in DuckDB: a view of texts over the copy that was made record by record."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from discreet.query.csv_files.conversion import stored_name
from discreet.query.csv_files.copies import Copy
from discreet.query.engines.duckdb.text import quoted, text


def csv_select(copy: Copy, *, numeric: Collection[str], decimal: str) -> str:
    """Return the SELECT that reads a copy; all columns are texts, a cell without any is NULL.

    In columns that are declared as numbers (`numeric`, folded) the decimal mark becomes a point; with another mark, a
    text that has a point already is no number, since the point may be there for thousands.
    """
    cells = [
        f"{_cell(stored_name(place), name.casefold() in numeric, decimal)} AS {quoted(name)}"
        for place, name in enumerate(copy.columns)
    ]
    return f"SELECT {', '.join(cells)} FROM read_parquet({text(str(copy.path))}, hive_partitioning = false)"


def header_select(names: Sequence[str]) -> str:
    """Return a SELECT with the columns of a header and no row."""
    return f"SELECT {', '.join(f'NULL::VARCHAR AS {quoted(name)}' for name in names)} WHERE false"


def _cell(column: str, numeric: bool, decimal: str) -> str:
    if not numeric or decimal == ".":
        return column
    return f"CASE WHEN NOT contains({column}, '.') THEN replace({column}, {text(decimal)}, '.') END"
