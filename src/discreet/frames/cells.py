"""The types of columns, and one cell as a value of a type: what does not fit is missing, and nothing raises an error.

| type | cells that fit |
|---|---|
| boolean | truth values, and the numbers 0 and 1; texts of either, and t, f, yes, no, y, n |
| integer | whole numbers below 2^53 in size, however they are written: 1, 1.0, True, Decimal(1), "1" |
| real | numbers and texts of them, rounded to the nearest float; infinite ones are kept, larger numbers do not fit |
| text | texts; neither bytes nor numbers nor identifiers of other classes |
| date | days, and the day of a time; texts of either in ISO form |
| timestamp | times, to the microsecond, in UTC where they have a zone; days as their midnight; texts of either |

Times and days fit in the years 1 to 9999. NaN, NaT, NA and None fit nowhere. Larger whole numbers do not fit because
pandas makes floats of a column of integers with one missing cell, and from 2^53 on floats no longer tell them apart:
one person's cell would change the others'. Ids of units have 64 bits; columns of floats are refused there. Texts fit
for the same reason: one cell that is no number makes texts of a whole column. A number does not tell which text it was,
"007" or "7", so that it fits no text.

Stability. What becomes of a cell depends on that cell and on the type alone.

One cell that is no number makes `read_csv` of pandas and Polars return its whole column as texts. Under a declared
type the other cells must stay what they were, so that a text is read as those libraries read it where every cell
fits: digits as that integer, any other number as the nearest float, `true` and `false` as truth values. Days and times
are read in ISO form, with `/` for `-` too; a time with an offset becomes the time in UTC.

Work is bounded: a text of more than `times.LONGEST` characters does not fit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.frames.times import DAY, FIRST_MICROSECOND, LAST_MICROSECOND, microsecond, stripped

SAFE = -(2**53) + 1, 2**53 - 1
"""Whole numbers that a float never stands for in place of another."""

ALL = -(2**63), 2**63 - 1
"""Whole numbers of 64 bits."""

_MOST_DIGITS = 40  # more than any integer of a type has: a decimal number may have a billion
_DIGITS = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?|[+-]?inf(?:inity)?", re.IGNORECASE)
_BOOLEANS = {"true": True, "false": False}
_SHORT_BOOLEANS = {"t": True, "f": False, "yes": True, "no": False, "y": True, "n": False}


class Type(Enum):
    """What a value is. Integers are 64 bits wide, reals are floats, times are microseconds without a time zone.

    Every engine's own types are read as one of these.
    """

    BOOLEAN = "boolean"
    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"
    DATE = "date"
    TIMESTAMP = "timestamp"

    @property
    def numeric(self) -> bool:
        """Whether values can be added up."""
        return self in (Type.INTEGER, Type.REAL)

    def __repr__(self) -> str:
        return f"Type.{self.name}"


def fitted(cells: Iterable[Any], wanted: Type, whole: tuple[int, int] = SAFE) -> list[Any]:
    """Return the cells as values of a type, None where one does not fit; times in microseconds, dates in days.

    `whole` are the ends of the integers that fit.

    >>> fitted([1, 1.0, True, "1", 2.5, 2**70], Type.INTEGER)
    [1, 1, 1, 1, None, None]
    """
    fit = _FITS[wanted]
    found = [None if cell is None else _tried(fit, cell) for cell in cells]
    if wanted is Type.INTEGER:
        return [one if one is not None and whole[0] <= one <= whole[1] else None for one in found]
    return found


def _tried(fit: Callable[[Any], Any], cell: Any) -> Any:
    """Return what fits, None of a cell whose own methods raise: whose cell it is must not be told by an error."""
    try:
        return fit(cell)
    except Exception:
        return None


def _whole(cell: Any) -> int | None:
    """Return a whole number exactly, however it is written; None of anything else."""
    cell = _plain(cell)
    if isinstance(cell, bool | np.bool_ | int | np.integer):
        return int(cell)
    if isinstance(cell, float | np.floating) and not np.isfinite(cell):
        return None  # numpy would warn of it, and a warning tells that somebody's cell is infinite
    if isinstance(cell, float | np.floating | Fraction):
        return int(cell) if cell == cell // 1 else None
    if isinstance(cell, Decimal) and (not cell or cell.adjusted() < _MOST_DIGITS):
        return int(cell) if cell == cell.to_integral_value() else None
    return None


def _boolean(cell: Any) -> bool | None:
    whole = _whole(cell)
    if whole is None and isinstance(cell, str):
        return truth(cell)
    return bool(whole) if whole in (0, 1) else None


def _real(cell: Any) -> float | None:
    number = _plain(cell)
    if not isinstance(number, bool | np.bool_ | int | np.integer | float | np.floating | Decimal | Fraction):
        return None
    with np.errstate(all="ignore"):
        real = float(number)  # a whole number beyond all floats raises
    return None if math.isnan(real) or (math.isinf(real) and number not in (math.inf, -math.inf)) else real


def _plain(cell: Any) -> Any:
    """Return a complex number on the real line as a real one, a text as its number, anything else as it is."""
    if isinstance(cell, str):
        return number(cell)
    return cell.real if isinstance(cell, complex | np.complexfloating) and cell.imag == 0 else cell


def _text(cell: Any) -> str | None:
    if not isinstance(cell, str):
        return None
    return cell if cell.isascii() else cell.encode().decode()  # half of a surrogate pair raises


def _timestamp(cell: Any) -> int | None:
    found = microsecond(cell)
    return found if found is not None and FIRST_MICROSECOND <= found <= LAST_MICROSECOND else None


def _day(cell: Any) -> int | None:
    found = _timestamp(cell)
    return None if found is None else found // DAY


_FITS: Mapping[Type, Callable[[Any], Any]] = {
    Type.BOOLEAN: _boolean,
    Type.INTEGER: _whole,
    Type.REAL: _real,
    Type.TEXT: _text,
    Type.DATE: _day,
    Type.TIMESTAMP: _timestamp,
}


def number(text: str) -> int | float | bool | None:
    """Return the number or the truth value that a text spells, None where it spells none.

    >>> (
    ...     number(" 007 "),
    ...     number("1e3"),
    ...     number("True"),
    ...     number("1_000"),
    ...     number("9" * 401),
    ... )
    (7, 1000.0, True, None, None)
    """
    plain = stripped(text)
    if _DIGITS.fullmatch(plain) and len(plain) <= _MOST_DIGITS:
        return int(plain)
    if _NUMBER.fullmatch(plain):
        return float(plain)
    return _BOOLEANS.get(plain.lower())


def truth(text: str) -> bool | None:
    """Return the truth value of a text that names one without being a number: t, f, yes, no, y, n."""
    return _SHORT_BOOLEANS.get(stripped(text).lower())
