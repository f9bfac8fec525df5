"""CSV files in DuckDB, one record a line: what stands in a line, however broken, changes no other."""

from __future__ import annotations

import csv
import gzip
import zlib
from pathlib import Path

from discreet.errors import PolicyError
from discreet.query.engines.duckdb_text import quoted, text

_FIELD = '(?:"(?:[^"]|"")*"|[^",]*)'


def csv_select(table: str, files: list[Path]) -> str:
    """Return the SELECT that reads files with the same first line; all columns are texts, a cell without any is NULL.

    A line that is too short is filled with NULLs, what is too much in a line is left out, and so is a line that is
    blank, not UTF-8, longer than 2 MB, or has a quote inside a cell or one that is not closed: line ends in quotes are
    not supported, since one quote too many would take the lines of other people along.

    Stability. A line gives at most one row, which depends on no other line.
        Proof: the reader knows neither quotes nor separators, so that lines end where a line end stands; everything
        else is a function of one line.
    """
    names = _header(table, files)
    listed = "[" + ", ".join(text(str(file)) for file in files) + "]"
    lines = (
        f"read_csv({listed}, columns = {{'line': 'VARCHAR'}}, auto_detect = false, header = false, skip = 1, "
        "delim = '', quote = '', escape = '', comment = '', strict_mode = false, ignore_errors = true, "
        "new_line = '\\n', parallel = false)"
    )
    split = (
        f"SELECT CASE WHEN contains(line, '\"') THEN regexp_extract_all(',' || line, ',({_FIELD})', 1) "
        f"ELSE string_split(line, ',') END AS cells FROM {lines} "
        f"WHERE line <> '' AND (NOT contains(line, '\"') OR regexp_full_match(',' || line, '(?:,{_FIELD})+'))"
    )
    cells = ", ".join(f"{_cell(place)} AS {quoted(name)}" for place, name in enumerate(names, 1))
    return f"SELECT {cells} FROM ({split})"


def _cell(place: int) -> str:
    """Return the text of a cell without its quotes, NULL where there is nothing at all."""
    cell = f"cells[{place}]"
    inside = f"replace(substr({cell}, 2, length({cell}) - 2), '\"\"', '\"')"
    return f"CASE WHEN starts_with({cell}, '\"') THEN {inside} WHEN {cell} <> '' THEN {cell} END"


def _header(table: str, files: list[Path]) -> list[str]:
    """Return the names in the first line of files, the same in all of them."""
    names = _first_line(table, files[0])
    for file in files[1:]:
        if _first_line(table, file) != names:
            words = f"the CSV files of {table!r} must have the same first line: {file.name!r} names other columns"
            raise PolicyError([(None, f"{words}, or the same in another order, than {files[0].name!r}")])
    return names


def _first_line(table: str, file: Path) -> list[str]:
    opened = gzip.open if file.name.endswith(".gz") else open
    try:
        with opened(file, "rt", encoding="utf-8-sig", errors="replace") as lines:
            header = next(csv.reader([lines.readline().rstrip("\n")], strict=True), [])
    except (OSError, EOFError, zlib.error, csv.Error):
        header = []
    if not header or len({column.lower() for column in header}) < len(header) or not all(header):
        raise PolicyError([(None, f"the first line of the CSV file of {table!r} must name every column, each once")])
    return header
