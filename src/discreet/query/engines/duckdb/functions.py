"""Functions of texts and times, and casts, as DuckDB text that never raises.

Rendered parts of an expression, and what is certain about them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from discreet.query.engines.duckdb.stored_columns import FIRST_DAY, LAST_DAY
from discreet.query.engines.duckdb.text import NAMES, text
from discreet.query.expression import DATE_FORM, TIMESTAMP_FORM, Expression, Interval, Literal, Type

LONGEST_CONCATENATION = 65_536
_INTEGER_FORM = r"^[+-]?[0-9]+$"
_REAL_FORM = r"^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"


def letters(name: str, old: str, new: str) -> Writer:
    """Return the writer of LOWER or UPPER for the 26 letters; a text of ASCII alone takes the fast way."""

    def write(call: Call) -> str:
        one = call.parts[0].sql
        slow = f"translate({one}, {text(old)}, {text(new)})"
        return f"(CASE WHEN strlen({one}) = length({one}) THEN {name}({one}) ELSE {slow} END)"

    return write


def concatenate(call: Call) -> str:
    """Join two texts, cut to a length that memory always holds."""
    return f"left({call.parts[0].sql} || {call.parts[1].sql}, {LONGEST_CONCATENATION})"


def substring(call: Call) -> str:
    """Cut a text, in code points."""
    return f"substring({call.parts[0].sql}, {int(call.parts[1].number or 1)}, {int(call.parts[2].number or 0)})"


def cast(call: Call) -> str:
    """Return a cast that gives NULL where there is no such value."""
    one, given, name = call.parts[0].sql, call.parts[0].node.type, NAMES[call.type]
    if given is call.type:
        return one
    if given is Type.TEXT:
        forms = {
            Type.INTEGER: _INTEGER_FORM,
            Type.REAL: _REAL_FORM,
            Type.DATE: f"^{DATE_FORM}$",
            Type.TIMESTAMP: f"^{TIMESTAMP_FORM}$",
        }
        # What has another form becomes the empty text, which no cast accepts.
        return f"TRY_CAST(regexp_extract({one}, {text(forms[call.type])}) AS {name})"
    return f"TRY_CAST({one} AS {name})" if given is Type.REAL else f"CAST({one} AS {name})"


def truncate(unit: str) -> Writer:
    """Return the writer of DATE_TRUNC to a unit."""
    return lambda call: f"CAST(date_trunc('{unit}', {call.parts[0].sql}) AS {NAMES[call.type]})"


def days_between(call: Call) -> str:
    """Count whole days."""
    return f"CAST({call.parts[1].sql} - {call.parts[0].sql} AS BIGINT)"


def add_days(call: Call) -> str:
    """Add days within the years 1 to 9999, else NULL."""
    start, number = call.parts[0].sql, call.parts[1].sql
    day = start if call.type is Type.DATE else f"CAST({start} AS DATE)"
    inside = f"{number} BETWEEN {FIRST_DAY} - {day} AND {LAST_DAY} - {day}"
    days = f"TRY_CAST(CASE WHEN {inside} THEN {number} END AS INTEGER)"
    return f"({start} + {days if call.type is Type.DATE else f'to_days({days})'})"


INFINITY = "'inf'::DOUBLE"


@dataclass(frozen=True, slots=True)
class Part:
    """A rendered expression, what is certain of its values, and whether it may be NaN (for NULL) or infinite."""

    sql: str
    node: Expression
    range: Interval | None
    nan: bool = False
    infinite: bool = False

    @property
    def clean(self) -> str:
        """The text with NULL for NaN."""
        return f"(CASE WHEN {self.sql} <= {INFINITY} THEN {self.sql} END)" if self.nan else self.sql

    @property
    def number(self) -> float | int | None:
        """The value of a literal number."""
        value = self.node.value if isinstance(self.node, Literal) else None
        return value if isinstance(value, int | float) else None


@dataclass(frozen=True, slots=True)
class Call:
    """An operation whose arguments are rendered."""

    type: Type
    parts: Sequence[Part]


Writer = Callable[[Call], str]
