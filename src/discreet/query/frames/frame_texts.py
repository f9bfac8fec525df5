r"""Texts of a frame that spell a number, a truth value, a day or a time.

One cell that is no number makes `read_csv` of pandas and Polars return its whole column as texts. Under a declared
type the other cells must stay what they were, so that a text is read as those libraries read it where every cell
fits: digits as that integer, any other number as the nearest float, `true` and `false` as truth values. Days and times
are read in ISO form, with `/` for `-` too; a time with an offset becomes the time in UTC.

Work is bounded: nothing is read of a text of more than `LONGEST` characters.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

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
_MOST_DIGITS = 40  # more than any integer of a type has
_EPOCH = datetime(1970, 1, 1)


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
