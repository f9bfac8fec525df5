"""What tells two persons apart: the identity of one entry of a unit column, and the kind of ids that it belongs to.

Equal ids are one person, whatever type they are written with; different ids are two. Nothing is rounded on the way.

| entry | kind | identity |
|---|---|---|
| bool, int, Decimal, Fraction, numpy's and Arrow's | number | its exact value: 1, True and Decimal("1.00") are one |
| float | number | the integer that it is, if every integer up to it is a float of its type; all others are refused |
| str | text | its code points: nothing is normalized, trimmed or folded, so "é" in one and in two code points are two |
| bytes; UUID; date; time span | bytes; UUID; day; span | its value |
| datetime, numpy's and pandas' times | time, or time with a zone | the instant, in attoseconds; in UTC with a zone |
| tuple | the kinds of its entries | the identities of its entries; it names nobody where one of them is missing |
| None, NaN, NA, NaT, NULL | none | nobody |

An identity is of a type of Python, made by the methods of that type: a subclass cannot say what it equals.

Ids of two kinds are not compared: it is not stated whether the text "1" is the number 1, or a day its midnight.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np

from discreet.frames.column import frame_library
from discreet.frames.times import ATTOSECONDS, EPOCH, attoseconds

Identity = Any  # hashable; equal exactly where two entries of one kind name the same person
_FLOAT_BITS = {float: 53}
ZONED = "time with a zone"
_DAYS = ("Y", "M", "W", "D")


class Named(NamedTuple):
    """Whom an entry names: the kind of the id, and its identity among ids of that kind."""

    kind: Any
    identity: Identity


class NoUnit(Exception):
    """An entry cannot name a person; this room catches it."""


class NoFloat(NoUnit):
    """An entry is a float that several integers may have become."""


def named(entry: Any) -> Named | None:
    """Return whom an entry names, None for nobody; raise `NoUnit` for what cannot name a person.

    >>> named(True) == named(Decimal("1.00")) == named(np.float64(1.0))
    True
    >>> named(float("nan")) is None, named("1") == named(1)
    (True, False)
    """
    kind = type(entry)
    if entry is None or kind.__name__ in ("NAType", "NaTType"):
        return None
    if kind is int or kind is bool:
        return Named("number", entry)
    for kinds, read in _READERS:
        if isinstance(entry, kinds):
            found: Named | None = read(entry)
            return found
    if frame_library(entry) == "pyarrow" and hasattr(entry, "as_py"):
        return _of_arrow(entry)
    raise NoUnit


def _of_float(entry: Any) -> Named | None:
    """Return the integer that a float is; a larger float is what several integers become."""
    if isinstance(entry, float):
        entry = float.__float__(entry)
    if entry != entry:  # noqa: PLR0124  only NaN differs from itself
        return None
    kind = type(entry)
    bits = _FLOAT_BITS.get(kind) or (53 if isinstance(entry, float) else int(np.finfo(kind).nmant) + 1)
    exact = (
        float.is_integer(entry) if isinstance(entry, float) else bool(np.isfinite(entry) and entry == np.rint(entry))
    )
    if not exact or not abs(entry) < 2.0**bits:
        raise NoFloat
    return Named("number", int(entry))


def _of_decimal(entry: Decimal) -> Named | None:
    """Return a decimal as it is: Python compares it exactly with integers and fractions, however large it is."""
    plain = Decimal(entry)  # exact, whatever the precision
    if plain.is_nan():
        return None
    if plain.is_infinite():
        raise NoUnit
    return Named("number", plain)


def _of_fraction(entry: Fraction) -> Named:
    """Return a fraction by the two integers that it holds, not by what a subclass says they are."""
    above, below = (vars(Fraction)[slot].__get__(entry) for slot in ("_numerator", "_denominator"))
    return Named("number", Fraction(int.__int__(above), int.__int__(below)))


def _of_numpy(entry: np.generic) -> Named | None:
    """Return a truth value, an integer, a text or bytes of numpy as Python has them."""
    if entry.dtype.kind not in "biuSU":
        raise NoUnit
    return named(entry.item())


def _of_arrow(entry: Any) -> Named | None:
    """Return a scalar of Arrow as Python has it."""
    plain: Any = NotImplemented
    try:
        kind = str(entry.type)
        plain = entry.as_py()
    except Exception:  # Arrow's own errors may show the value
        plain = NotImplemented
    if plain is NotImplemented or frame_library(plain) == "pyarrow":
        raise NoUnit
    if plain is not None and kind in ("halffloat", "float", "double"):
        raise NoFloat
    return named(plain)


def _of_datetime(entry: datetime) -> Named:
    """Return an instant; pandas' times have nanoseconds."""
    fine = int(getattr(entry, "nanosecond", 0)) * 10**9
    shift = entry.utcoffset()
    clock = datetime(entry.year, entry.month, entry.day, entry.hour, entry.minute, entry.second, entry.microsecond)
    instant = attoseconds(clock - EPOCH) - (0 if shift is None else attoseconds(shift)) + fine
    return Named("time" if shift is None else ZONED, instant)


def _of_numpy_time(entry: np.datetime64 | np.timedelta64) -> Named | None:
    """Return an instant, a day or a span of numpy, whatever it is counted in."""
    if np.isnat(entry):
        return None
    unit, count = np.datetime_data(entry.dtype)
    is_time = isinstance(entry, np.datetime64)
    if is_time and unit in ("Y", "M"):
        return Named("day", int(entry.astype("datetime64[D]").astype(np.int64)) * ATTOSECONDS["D"])
    if unit not in ATTOSECONDS:
        raise NoUnit
    size = int(entry.astype(np.int64)) * count * ATTOSECONDS[unit]
    return Named("span" if not is_time else "day" if unit in _DAYS else "time", size)


def _of_span(entry: timedelta) -> Named:
    """Return a span; pandas' spans have nanoseconds."""
    plain = timedelta(entry.days, entry.seconds, entry.microseconds)
    return Named("span", attoseconds(plain) + int(getattr(entry, "nanoseconds", 0)) * 10**9)


def _of_tuple(entry: tuple[Any, ...]) -> Named | None:
    """Return a plain tuple by its entries; tuples with names are no ids."""
    if type(entry) is not tuple:
        raise NoUnit
    parts = [named(one) for one in entry]
    present = [one for one in parts if one is not None]
    if len(present) < len(parts):
        return None
    return Named(tuple(one.kind for one in present), tuple(one.identity for one in present))


_READERS: tuple[tuple[Any, Any], ...] = (
    (str, lambda entry: Named("text", str.__str__(entry))),
    ((float, np.floating), _of_float),
    ((np.datetime64, np.timedelta64), _of_numpy_time),
    (bytes, lambda entry: Named("bytes", bytes.__add__(entry, b""))),
    (np.generic, _of_numpy),
    (int, lambda entry: Named("number", int.__int__(entry))),
    (Decimal, _of_decimal),
    (Fraction, _of_fraction),
    (datetime, _of_datetime),
    (date, lambda entry: Named("day", (date.toordinal(entry) - EPOCH.toordinal()) * ATTOSECONDS["D"])),
    (timedelta, _of_span),
    (UUID, lambda entry: Named("UUID", int.__int__(entry.int))),
    (tuple, _of_tuple),
)
