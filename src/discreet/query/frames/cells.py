"""One cell of a frame as a value of a type: what does not fit the type is missing, and nothing is an error.

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
for the same reason: one cell that is no number makes texts of a whole column. The other way round
nothing can be mended: a number does not tell which text it was, "007" or "7", and fits no text.

Stability. What becomes of a cell depends on that cell and on the type alone.

One cell that is no number makes `read_csv` of pandas and Polars return its whole column as texts. Under a declared
type the other cells must stay what they were, so that a text is read as those libraries read it where every cell
fits: digits as that integer, any other number as the nearest float, `true` and `false` as truth values. Days and times
are read in ISO form, with `/` for `-` too; a time with an offset becomes the time in UTC.

Work is bounded: nothing is read of a text of more than `LONGEST` characters.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.query.expression import Type

SAFE = -(2**53) + 1, 2**53 - 1  # whole numbers that a float never stands for in place of another
ALL = -(2**63), 2**63 - 1
FIRST_MICROSECOND, LAST_MICROSECOND = -62_135_596_800_000_000, 253_402_300_799_999_999
DAY = 86_400_000_000  # microseconds
_EPOCH = datetime(1970, 1, 1)
_MOST_DIGITS = 40  # more than any integer of a type has: a decimal number may have a billion
# microseconds of a numpy unit: (how many it is, how many of it are one)
UNITS: Mapping[str, tuple[int, int]] = {
    "W": (7 * DAY, 1), "D": (DAY, 1), "h": (3_600_000_000, 1), "m": (60_000_000, 1), "s": (1_000_000, 1),
    "ms": (1_000, 1), "us": (1, 1), "ns": (1, 1_000), "ps": (1, 10**6), "fs": (1, 10**9), "as": (1, 10**12),
}  # fmt: skip
LONGEST = 400
_DIGITS = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?|[+-]?inf(?:inity)?", re.IGNORECASE)
_TIME = re.compile(
    r"([0-9]{4})([-/])([0-9]{1,2})\2([0-9]{1,2})"
    r"(?:[ T]([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]+))?)?"
    r" ?(?:(?:Z|UTC)|([+-])([0-9]{2})(?::?([0-9]{2}))?)?)?"
)
_BOOLEANS = {"true": True, "false": False}
_SHORT_BOOLEANS = {"t": True, "f": False, "yes": True, "no": False, "y": True, "n": False}


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


def microseconds(counts: NDArray[np.int64], unit: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return times since 1970 in microseconds, rounded down, and which of them lie in the years 1 to 9999.

    A product that would overflow is never formed: what lies outside is 0 in the first array and False in the second.
    """
    many, parts = UNITS[unit]
    first = max(-(-FIRST_MICROSECOND * parts // many), ALL[0])
    last = min(((LAST_MICROSECOND + 1) * parts - 1) // many, ALL[1])
    inside = (counts >= first) & (counts <= last)
    return np.where(inside, counts, 0) // parts * many, inside


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
    found = _microsecond(cell)
    return found if found is not None and FIRST_MICROSECOND <= found <= LAST_MICROSECOND else None


def _microsecond(cell: Any) -> int | None:
    if isinstance(cell, np.datetime64):
        return _numpy_microsecond(cell)
    if isinstance(cell, datetime):
        if hasattr(cell, "to_datetime64"):  # pandas, whose times may be finer than Python's, and farther away
            return _numpy_microsecond(cell.to_datetime64())
        offset = cell.utcoffset() or timedelta(0)
        return (cell.replace(tzinfo=None) - _EPOCH - offset) // timedelta(microseconds=1)
    if isinstance(cell, date):
        return (date.toordinal(cell) - _EPOCH.toordinal()) * DAY
    return microsecond(cell) if isinstance(cell, str) else None


def _numpy_microsecond(cell: np.datetime64) -> int | None:
    """Return a time of numpy in microseconds by exact arithmetic: its own conversions wrap around."""
    if np.isnat(cell):
        return None
    unit, each = np.datetime_data(cell.dtype)
    count = int(cell.astype(np.int64)) * each
    if unit in ("Y", "M"):
        months = count * 12 if unit == "Y" else count
        first = date(1970 + months // 12, months % 12 + 1, 1)
        return (first.toordinal() - _EPOCH.toordinal()) * DAY
    many, parts = UNITS[unit]
    return count * many // parts


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

    >>> number(" 007 "), number("1e3"), number("True"), number("1_000"), number("9" * 401)
    (7, 1000.0, True, None, None)
    """
    plain = _stripped(text)
    if _DIGITS.fullmatch(plain) and len(plain) <= _MOST_DIGITS:
        return int(plain)
    if _NUMBER.fullmatch(plain):
        return float(plain)
    return _BOOLEANS.get(plain.lower())


def truth(text: str) -> bool | None:
    """Return the truth value of a text that names one without being a number: t, f, yes, no, y, n."""
    return _SHORT_BOOLEANS.get(_stripped(text).lower())


def microsecond(text: str) -> int | None:
    """Return the day or the time of a text in microseconds since 1970, in UTC; None where it is neither.

    A day or an hour that there is not raises ValueError.

    >>> microsecond("1970-01-02"), microsecond("1970-01-01T05:00:00.0000019+05:00"), microsecond("19700102")
    (86400000000, 1, None)
    """
    found = _TIME.fullmatch(_stripped(text))
    if found is None:
        return None
    year, _, month, day, hour, minute, second, fraction, sign, hours, minutes = found.groups(default="0")
    local = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second), int(f"{fraction:0<6}"[:6]))
    offset = timedelta(hours=int(hours), minutes=int(minutes))
    since = local - _EPOCH + (offset if sign == "-" else -offset)
    return since // timedelta(microseconds=1)


def _stripped(text: str) -> str:
    """Return a text without space around it, and an empty one where it is too long to be read."""
    return text.strip(" \t\r\n") if len(text) <= LONGEST else ""
