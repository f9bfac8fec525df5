"""Constants in expressions: which Python values they can have, and how a text is read as a date."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any

import numpy as np

from discreet.errors import UnsupportedSQL
from discreet.frames import Type, python_times
from discreet.query.expression import ranges
from discreet.query.expression.expression import Expression, Literal, Value

LONGEST_TEXT = 10_000
DATE_FORM = r"(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])-[0-9]{2}-[0-9]{2}"
TIMESTAMP_FORM = DATE_FORM + r"(?:[ T](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?)?"
WORDS: Mapping[Type, str] = {
    Type.BOOLEAN: "a condition",
    Type.INTEGER: "a whole number",
    Type.REAL: "a real number",
    Type.TEXT: "a text",
    Type.DATE: "a date",
    Type.TIMESTAMP: "a time",
}


def literal(value: Value) -> Literal:
    """Return a constant, its type read off the Python value; None is a NULL that takes the type of its surroundings.

    >>> literal(2).type, literal(2.5).type, literal(True).type
    (Type.INTEGER, Type.REAL, Type.BOOLEAN)
    """
    if value is None:
        return Literal(Type.TEXT, None, None)
    return Literal(_type_of_value(value), ranges.interval_of(value), value)


def plain_value(value: object) -> object:
    """Return a scalar of numpy, pandas, Polars or Arrow as Python has it; None where it has none, as for a missing one.

    None for a time that is finer than microseconds, or beyond the years that Python has.

    >>> import numpy as np
    >>> (
    ...     plain_value(np.int8(3)),
    ...     plain_value(np.datetime64("2020-05-01")),
    ...     plain_value("north"),
    ... )
    (3, datetime.date(2020, 5, 1), 'north')
    """
    if hasattr(value, "as_py"):  # of Arrow
        value = _tried(value.as_py)
    if hasattr(value, "to_pydatetime"):  # of pandas; NaT is a number of no type, and becomes None below
        value = _tried(value.to_pydatetime, warn=False) if getattr(value, "nanosecond", 1) == 0 else None
    if isinstance(value, np.datetime64):
        return python_times(np.array([value]))[0]
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, bool | int | float | str | date) else None


def _tried(convert: Callable[..., object], **named: Any) -> object:
    try:
        return convert(**named)
    except (ArithmeticError, ValueError):  # a time, or a year, that Python does not have
        return None


def is_null(expression: Expression) -> bool:
    """Tell whether an expression is the constant NULL."""
    return isinstance(expression, Literal) and expression.value is None


def check_text(value: str) -> None:
    """Refuse a text that cannot stand in a statement: too long, a NUL character, or half of a surrogate pair."""
    if len(value) > LONGEST_TEXT:
        raise UnsupportedSQL(f"a text in a query has at most {LONGEST_TEXT} characters")
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise UnsupportedSQL("a text in a query has no NUL character and no half of a surrogate pair: leave it out")


def read_day(text: str, type: Type) -> date | datetime:
    """Read a text literal beside a date or a time as one, or say which form it must have."""
    form = DATE_FORM if type is Type.DATE else TIMESTAMP_FORM
    if re.fullmatch(form, text) is not None:
        try:
            return date.fromisoformat(text) if type is Type.DATE else datetime.fromisoformat(_six_digits(text))
        except ValueError:
            pass
    shape = "a date, 'YYYY-MM-DD'" if type is Type.DATE else "a time, 'YYYY-MM-DD HH:MM:SS' or 'YYYY-MM-DD'"
    raise UnsupportedSQL(f"a text beside {WORDS[type]} must be {shape}; {text[:40]!r} is not one")


def _type_of_value(value: Value) -> Type:
    if isinstance(value, bool):
        return Type.BOOLEAN
    if isinstance(value, int):
        if not ranges.SMALLEST_INTEGER <= value <= ranges.LARGEST_INTEGER:
            raise UnsupportedSQL("whole numbers have 64 bits here: write the number with a decimal point")
        return Type.INTEGER
    if isinstance(value, float):
        if not math.isfinite(value):
            raise UnsupportedSQL("a constant must be a finite number: leave NaN and infinities out")
        return Type.REAL
    if isinstance(value, str):
        check_text(value)
        return Type.TEXT
    if isinstance(value, datetime):
        if value.tzinfo is not None:
            raise UnsupportedSQL("times have no time zone here: write the time in UTC, without an offset")
        return Type.TIMESTAMP
    if isinstance(value, date):
        return Type.DATE
    raise UnsupportedSQL("a constant must be a truth value, a number, a text, a date or a time")


def _six_digits(text: str) -> str:
    """Fill the fraction of a second up to microseconds."""
    whole, point, fraction = text.partition(".")
    return f"{whole}.{fraction:0<6}" if point else whole
