"""Names and constants as DuckDB text that nothing can break out of."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any

from discreet.errors import UnsupportedSQL
from discreet.query.expression import Type, Value

NAMES: Mapping[Type, str] = {
    Type.BOOLEAN: "BOOLEAN",
    Type.INTEGER: "BIGINT",
    Type.REAL: "DOUBLE",
    Type.TEXT: "VARCHAR",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP",
}


_QUOTED_OR_LINE_END = re.compile(r"""'[^']*'|"[^"]*"|\n""")  # a doubled quote ends one text and starts another


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
    if "\0" in characters or any("\ud800" <= character <= "\udfff" for character in characters):
        raise UnsupportedSQL("a name or a text has no NUL character and no half of a surrogate pair: leave it out")


_CONSTANTS: Mapping[Type, Callable[[Any], str]] = {
    Type.BOOLEAN: lambda value: "TRUE" if value else "FALSE",
    Type.INTEGER: lambda value: f"({int(value)})::BIGINT",
    Type.REAL: real,
    Type.TEXT: text,
    Type.DATE: lambda value: f"DATE '{date.isoformat(value)}'",
    Type.TIMESTAMP: lambda value: f"TIMESTAMP '{datetime.isoformat(value, sep=' ')}'",
}
