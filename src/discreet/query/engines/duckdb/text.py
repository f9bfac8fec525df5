"""Names, constants and stored columns as DuckDB text: nothing breaks out of it, and reading a column never raises."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from functools import lru_cache
from typing import Any

from discreet.errors import UnsupportedSQL
from discreet.query.expression import Type, Value
from discreet.statistics.columns import FixedPoint

NAMES: Mapping[Type, str] = {
    Type.BOOLEAN: "BOOLEAN",
    Type.INTEGER: "BIGINT",
    Type.REAL: "DOUBLE",
    Type.TEXT: "VARCHAR",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP",
}


_UNWRITABLE = re.compile("[\0\ud800-\udfff]")
_QUOTED_OR_LINE_END = re.compile(r"""'[^']*'|"[^"]*"|\n""")  # a doubled quote ends one text and starts another
WIDE = ("HUGEINT", "UHUGEINT", "UBIGINT", "INT128", "UINT64", "UINT128")
NARROW = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "INT", "INT64", "INT32")
_TIMES = ("TIMESTAMP", "DATETIME", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_US", "TIMESTAMP_NS")
_ZONED = ("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ")
_TYPES: Mapping[str, Type] = {
    **dict.fromkeys((*NARROW, *WIDE), Type.INTEGER),
    **dict.fromkeys(("FLOAT", "FLOAT4", "FLOAT8", "REAL", "DOUBLE", "DECIMAL", "NUMERIC"), Type.REAL),
    **dict.fromkeys(("VARCHAR", "TEXT", "STRING", "CHAR", "BPCHAR", "ENUM", "UUID"), Type.TEXT),
    **dict.fromkeys(("BOOLEAN", "BOOL", "LOGICAL"), Type.BOOLEAN),
    "DATE": Type.DATE,
    **dict.fromkeys((*_TIMES, *_ZONED), Type.TIMESTAMP),
}
_WHOLE = r"\s*[+-]?0*[0-9]{1,38}(?:[.]0*)?\s*"
FIRST_DAY = "DATE '0001-01-01'"
LAST_DAY = "DATE '9999-12-31'"
_FIRST_MICROSECOND = -62_135_596_800_000_000
_LAST_MICROSECOND = 253_402_300_799_999_999


@lru_cache(maxsize=1024)
def quoted(identifier: str) -> str:
    """Return a name between double quotes, those within doubled.

    >>> print(quoted('a"; DROP TABLE t; --'))
    "a""; DROP TABLE t; --"
    """
    _check(identifier)
    return '"' + identifier.replace('"', '""') + '"'


def text(value: str) -> str:
    """Return a text between single quotes, those within doubled; a backslash means nothing to DuckDB there.

    >>> print(text("it's"))
    'it''s'
    """
    _check(value)
    return "'" + value.replace("'", "''") + "'"


def indented(sql: str) -> str:
    r"""Return a statement with every line moved to the right; what stands between quotes is not touched.

    >>> print(indented("SELECT 'one\ntwo'\nFROM t"))
        SELECT 'one
    two'
        FROM t
    """
    return "    " + _QUOTED_OR_LINE_END.sub(lambda found: "\n    " if found[0] == "\n" else found[0], sql)


def real(value: float) -> str:
    """Return a float exactly: Python's shortest form names one float, and DuckDB reads the nearest.

    >>> print(real(0.1))
    '0.1'::DOUBLE
    """
    return f"'{float(value)!r}'::DOUBLE"  # without quotes DuckDB would take a decimal number


def constant(value: Value, type: Type) -> str:
    """Return a value of the type as DuckDB text.

    >>> print(constant("x' OR 1=1", Type.TEXT), constant(None, Type.DATE))
    'x'' OR 1=1' NULL::DATE
    """
    if value is None:
        return f"NULL::{NAMES[type]}"
    return _CONSTANTS[type](value)


def _check(characters: str) -> None:
    if _UNWRITABLE.search(characters):
        raise UnsupportedSQL("a name or a text has no NUL character and no half of a surrogate pair: leave it out")


_CONSTANTS: Mapping[Type, Callable[[Any], str]] = {
    Type.BOOLEAN: lambda value: "TRUE" if value else "FALSE",
    Type.INTEGER: lambda value: f"({int(value)})::BIGINT",
    Type.REAL: real,
    Type.TEXT: text,
    Type.DATE: lambda value: f"DATE '{date.isoformat(value)}'",
    Type.TIMESTAMP: lambda value: f"TIMESTAMP '{datetime.isoformat(value, sep=' ')}'",
}


def type_of(declared: str) -> Type | None:
    """Return our type of a DuckDB type, or None for other types (lists, structures, blobs, intervals).

    >>> type_of("DECIMAL(18,3)"), type_of("UBIGINT"), type_of("INTEGER[]")
    (Type.REAL, Type.INTEGER, None)
    """
    name = declared.strip().upper()
    if name.endswith("]"):
        return None
    return _TYPES.get(re.sub(r"\s*\(.*\)$", "", name, flags=re.DOTALL))


def scanned(sql: str, declared: str, type: Type) -> str:
    """Return the text that reads a stored column as the type; it cannot raise.

    Integers beyond 64 bits, NaN, infinite dates and all dates outside the years 1 to 9999 are NULL; infinite reals are
    kept; a time with a zone becomes the time in UTC.

    >>> print(scanned('"age"', "UTINYINT", Type.INTEGER))
    CAST("age" AS BIGINT)
    """
    return _READERS[type](sql, declared.strip().upper())


def whole_text(sql: str, type: str) -> str:
    """Return the text that reads a text as a whole number of a type of DuckDB; NULL where it writes none, as 5.5."""
    whole = f"TRY_CAST(regexp_replace({sql}, '[.].*', '') AS {type})"
    return f"CASE WHEN regexp_full_match({sql}, '{_WHOLE}') THEN {whole} END"


def _integer(sql: str, name: str) -> str:
    if name == "BIGINT":
        return sql
    return f"TRY_CAST({sql} AS BIGINT)" if name in WIDE else f"CAST({sql} AS BIGINT)"


def _real(sql: str, name: str) -> str:
    if name.startswith(("DECIMAL", "NUMERIC")):
        return f"CAST({sql} AS DOUBLE)"
    value = sql if name in ("DOUBLE", "FLOAT8") else f"CAST({sql} AS DOUBLE)"
    # Neither isnan(x) nor x <= 'inf' will do: DuckDB leaves the test out where the statistics of a Parquet file, which
    # know nothing of NaN, say that it holds, and one row can take these statistics away, for all rows.
    there = f"{value} - {value} = 0 OR {value} = 'inf'::DOUBLE OR {value} = '-inf'::DOUBLE"
    return f"(CASE WHEN {there} THEN {value} END)"


def _text(sql: str, name: str) -> str:
    value = sql if name == "VARCHAR" else f"CAST({sql} AS VARCHAR)"
    return f'({value} COLLATE "C")'  # a column may have been declared with a collation of its own


def _time(sql: str, name: str) -> str:
    if name in _ZONED:
        inside = f"epoch_us({sql}) BETWEEN {_FIRST_MICROSECOND} AND {_LAST_MICROSECOND}"
        return f"make_timestamp(CASE WHEN {inside} THEN epoch_us({sql}) END)"
    value = sql if name in ("TIMESTAMP", "DATETIME", "TIMESTAMP_US") else f"TRY_CAST({sql} AS TIMESTAMP)"
    last = "TIMESTAMP '9999-12-31 23:59:59.999999'"
    return f"(CASE WHEN {value} BETWEEN TIMESTAMP '0001-01-01 00:00:00' AND {last} THEN {value} END)"


_READERS: Mapping[Type, Callable[[str, str], str]] = {
    Type.BOOLEAN: lambda sql, _: sql,
    Type.INTEGER: _integer,
    Type.REAL: _real,
    Type.TEXT: _text,
    Type.DATE: lambda sql, _: f"(CASE WHEN {sql} BETWEEN {FIRST_DAY} AND {LAST_DAY} THEN {sql} END)",
    Type.TIMESTAMP: _time,
}


def position(argument: str, scale: FixedPoint, type: Type) -> str:
    """Return the text of a number's position on a grid: clipped, then rounded to the nearest step, halves to even.

    It is the integer that `FixedPoint.positions` gives for the same float, an integer being read as the nearest float;
    NULL where the argument is NULL, which must not be NaN.

    >>> print(position("x", FixedPoint.between((0, 16), grid=1), Type.REAL))
    CAST(CASE WHEN x IS NOT NULL THEN least(greatest(x, '0.0'::DOUBLE),
        '16.0'::DOUBLE) END AS BIGINT)
    """
    low, high = (float(step * scale.grid) for step in (scale.start, scale.end))
    per_step = float(1 / scale.grid)
    value = f"CAST({argument} AS DOUBLE)" if type is Type.INTEGER else argument
    clipped = f"least(greatest({value}, {real(low)}), {real(high)})"  # quicker than CASE, but NULL must be kept apart
    above = clipped if low == 0 else f"({clipped} - {real(low)})"
    # The cast rounds halves to even. After clipping at ends that are whole steps it has at most 38 bits.
    steps = above if per_step == 1 else f"{above} * {real(per_step)}"
    return f"CAST(CASE WHEN {value} IS NOT NULL THEN {steps} END AS BIGINT)"
