"""CSV tables in DuckDB: a view of texts over the copy that was made record by record.

Parquet tables in DuckDB: one view over the files, in which a declared type wins over the stored one.

The types of a Parquet file are public, as a schema is. But pandas takes them from values: one empty cell makes DOUBLE
of BIGINT, one word makes texts of numbers, and a column without any value has no type at all. So a column with a
declared `type` is read as that type from whichever of these a file has; what does not fit is NULL, and no cast raises.

| declared | stored |
|---|---|
| integer | integers; floats, decimal numbers and texts, where they are whole: floats and decimals below 2^53 in size |
| real | all numbers, and texts |
| boolean, date, timestamp | texts |
| any | its own type in any width; no type, which is nothing but NULL |

Columns that tell units apart are read as they are stored: a cast could merge two people. Only integers of up to 64 bits
and columns of NULL, which lose nothing, are brought to one type.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from discreet.errors import PolicyError
from discreet.query.csv_files import Copy, stored_name
from discreet.query.engines.duckdb.stored_columns import NARROW, type_of
from discreet.query.engines.duckdb.text import NAMES, quoted, text
from discreet.query.expression import Type
from discreet.query.policy import ColumnPolicy, header, key_in_toml


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


NO_TYPE = '"NULL"'  # DuckDB's name of the type of a column that holds nothing
_OFFSET = r".*:[0-9]{2}.*(?:[zZ]|[+-][0-9]{2}(?::?[0-9]{2})?)\s*"
_SAFE = 2**53 - 1  # the largest whole number that a float never stands for in place of another
Footers = Mapping[Path, Mapping[str, str]]


def parquet_select(
    name: str, footers: Footers, *, public: bool, columns: Mapping[str, ColumnPolicy], units: frozenset[str]
) -> str:
    """Return the SELECT over the files of a table; `footers` are their columns with DuckDB's names of the types.

    Files whose columns differ in name, or in type without a declaration that settles it, are refused by their footers:
    a cast between them could fail because of one value.
    """
    stated = {one.casefold(): column for one, column in columns.items()}
    ids = {one.casefold() for one in units}
    _same_names(name, footers)
    first = next(iter(footers))
    casts: dict[str, dict[str, str]] = {}
    for column in footers[first]:
        stored = {file: kinds[column] for file, kinds in footers.items()}
        casts[column] = _casts(column, set(stored.values()), stated.get(column.casefold()), column.casefold() in ids)
        lacking = [file for file, kind in stored.items() if kind not in casts[column]]
        if lacking:
            other = next(file for file, kind in stored.items() if kind != stored[first])
            place = ("public" if public else "tables", name)
            remedy = "" if column.casefold() in ids else _remedy(place, column)
            raise PolicyError([(None, _differ(name, column, other, first) + remedy)])
    alike: dict[tuple[str, ...], list[Path]] = {}
    for file, kinds in footers.items():
        alike.setdefault(tuple(kinds[column] for column in casts), []).append(file)
    return "\nUNION ALL\n".join(_select(casts, kinds, files) for kinds, files in alike.items())


def _same_names(name: str, footers: Footers) -> None:
    first, *others = footers
    for file in others:
        strange = [
            one for one in (*footers[first], *footers[file]) if (one in footers[first]) != (one in footers[file])
        ]
        if strange:
            raise PolicyError([(None, _differ(name, strange[0], file, first))])


def _differ(name: str, column: str, file: Path, first: Path) -> str:
    words = f"column {column!r} of {name!r} is missing from {file.name!r} or {first.name!r}, or stored"
    return f"{words} with another type there; write both with the same columns and types"


def _remedy(place: tuple[str, str], column: str) -> str:
    return (
        f", or declare the type that both are read as: under {header(place)} add "
        f'columns.{key_in_toml(column)} = {{type = "integer"}}, or another type than integer'
    )


def _casts(column: str, stored: set[str], stated: ColumnPolicy | None, unit: bool) -> dict[str, str]:
    """Return, by stored type, the text that reads the column; types that cannot be read as one type are left out."""
    here = quoted(column)
    declared = stated.type if stated is not None and (stated.typed or stored == {NO_TYPE}) else None
    if declared is None or (unit and len(stored) == 1 and NO_TYPE not in stored):
        return dict.fromkeys(stored, here) if len(stored) == 1 else {}
    found = {kind: _cast(here, kind, declared, unit) for kind in stored}
    if len(stored) == 1 and None in found.values():
        return dict.fromkeys(stored, here)  # that the types disagree is said with the line of the policy
    return {kind: sql for kind, sql in found.items() if sql is not None}


def _cast(sql: str, kind: str, declared: Type, unit: bool) -> str | None:
    """Return the text that reads a stored type as the declared one, None where that is not done."""
    own, name = type_of(kind), NAMES[declared]
    if kind == name:
        return sql
    if kind == NO_TYPE:
        return f"CAST(NULL AS {name})"
    if unit:
        return f"CAST({sql} AS {name})" if declared is own and (own is Type.TEXT or kind in NARROW) else None
    if declared is Type.INTEGER and own in (Type.REAL, Type.TEXT):
        return _whole(sql, kind, own)
    if own is Type.TEXT and declared in (Type.DATE, Type.TIMESTAMP):
        return f"TRY_CAST({_time(sql)} AS {name})"
    taken = own is declared or own is Type.TEXT or (declared.numeric and own is not None and own.numeric)
    zoned = declared is Type.TIMESTAMP and own is declared and re.search("TIME ZONE|TZ", kind)
    return f"TRY_CAST({sql} AS {name})" if taken and not zoned else None


def _time(sql: str) -> str:
    """Return the text that reads a time in UTC where it has an offset, as a stored one is read: TRY_CAST drops that."""
    shifted = f"make_timestamp(epoch_us(TRY_CAST({sql} AS TIMESTAMPTZ)))"
    return f"CASE WHEN regexp_full_match({sql}, {text(_OFFSET)}) THEN {shifted} ELSE TRY_CAST({sql} AS TIMESTAMP) END"


def _whole(sql: str, kind: str, own: Type) -> str:
    """Return the text that reads whole numbers, those that come back from a BIGINT; TRY_CAST alone would round."""
    whole, number = f"TRY_CAST({sql} AS BIGINT)", f"TRY_CAST({sql} AS DOUBLE)" if own is Type.TEXT else sql
    again = f"TRY_CAST({whole} AS {'DOUBLE' if own is Type.TEXT else kind})"
    small = "" if own is Type.TEXT else f" AND {whole} BETWEEN -{_SAFE} AND {_SAFE}"
    return f"CASE WHEN {again} = {number}{small} THEN {whole} END"


def _select(casts: Mapping[str, Mapping[str, str]], kinds: Sequence[str], files: Sequence[Path]) -> str:
    """Return the SELECT over files with the same types."""
    cells = [f"{cast[kind]} AS {quoted(column)}" for (column, cast), kind in zip(casts.items(), kinds, strict=True)]
    names = ", ".join(text(str(file)) for file in files)
    return f"SELECT {', '.join(cells)} FROM read_parquet([{names}], hive_partitioning = false)"
