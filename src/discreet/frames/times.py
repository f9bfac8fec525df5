"""Points in time and spans: exact conversions between the units of numpy, Python's own objects, and texts.

numpy and Arrow convert between units by multiplication that wraps around: the year 300,000 becomes some other one.
Here what does not fit is missing, and no other time.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

FIRST_MICROSECOND, LAST_MICROSECOND = -62_135_596_800_000_000, 253_402_300_799_999_999  # of the years 1 to 9999
DAY = 86_400_000_000  # microseconds
EPOCH = datetime(1970, 1, 1)
_SECONDS = {"W": 7 * 86400, "D": 86400, "h": 3600, "m": 60, "s": 1}
ATTOSECONDS = {unit: count * 10**18 for unit, count in _SECONDS.items()} | {
    unit: 10**power for unit, power in (("ms", 15), ("us", 12), ("ns", 9), ("ps", 6), ("fs", 3), ("as", 0))
}
_FINER = frozenset({"ns", "ps", "fs", "as"})
_TIME = re.compile(
    r"([0-9]{4})([-/])([0-9]{1,2})\2([0-9]{1,2})"
    r"(?:[ T]([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]+))?)?"
    r" ?(?:(?:Z|UTC)|([+-])([0-9]{2})(?::?([0-9]{2}))?)?)?"
)


def in_microseconds(times: NDArray[Any]) -> NDArray[Any]:
    """Return datetime64 or timedelta64 of any unit in microseconds, rounded down; NaT where 64 bits do not hold them.

    >>> in_microseconds(np.array(["2026-01-01", "300000-01-01"], dtype="datetime64[s]"))
    array(['2026-01-01T00:00:00.000000',                        'NaT'],
          dtype='datetime64[us]')
    """
    unit, each = np.datetime_data(times.dtype)
    kind = f"{times.dtype.kind}8[us]"
    missing = np.isnat(times)
    made: NDArray[Any]
    if unit in _FINER:
        counts = times.astype(f"{times.dtype.kind}8[{each}{unit}]").view(np.int64)
        finer = ATTOSECONDS["us"] // ATTOSECONDS[unit]
        # numpy's own division wraps around at the far end of a type, and so do products by an odd number of units
        whole = counts // (finer // each) if finer % each == 0 else counts.astype(object) * each // finer
        made = whole.astype(np.int64).view(kind)
    else:
        made = times.astype(kind)
        # a time that wrapped around lies nearer to 1970 than any that does not fit, so it does not lead back
        missing = missing | (made.astype(times.dtype) != times)
    made[missing] = np.array("NaT", dtype=kind)
    return made


def calendar_microseconds(times: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return times in microseconds since 1970, 0 for those that are missing or outside the years 1 to 9999, and which.

    >>> calendar_microseconds(
    ...     np.array(["1970-01-02", "20000-01-01", "NaT"], dtype="datetime64[D]")
    ... )
    (array([86400000000,           0,           0]), array([ True, False, False]))
    """
    counts = in_microseconds(times).view(np.int64)  # NaT is the least integer
    inside = (counts >= FIRST_MICROSECOND) & (counts <= LAST_MICROSECOND)
    return np.where(inside, counts, 0), inside


def python_times(times: NDArray[Any], *, zone: bool = False) -> list[Any]:
    """Return times as Python's own, in UTC with `zone`; None for those that Python has none for.

    >>> python_times(
    ...     np.array(
    ...         ["2026-01-01T00:00:00.000000001", "2026-01-01", "NaT"],
    ...         dtype="datetime64[ns]",
    ...     )
    ... )
    [None, datetime.datetime(2026, 1, 1, 0, 0), None]
    """
    coarse = times
    if np.datetime_data(times.dtype)[0] in _FINER:  # Python's own times end at microseconds
        coarse = times.astype(f"{times.dtype.kind}8[us]")
    # numpy lists a time that wrapped around as if it were another
    same = ((coarse == times) & ~np.isnat(in_microseconds(times))).tolist()
    # numpy lists integers where Python has no such time
    found = [one if held and type(one) is not int else None for one, held in zip(coarse.tolist(), same, strict=True)]
    return [None if one is None else one.replace(tzinfo=UTC) for one in found] if zone else found


def attoseconds(span: timedelta) -> int:
    """Return a span of Python as an integer."""
    return ((span.days * 86400 + span.seconds) * 10**6 + span.microseconds) * 10**12


def microsecond(cell: Any) -> int | None:
    """Return a time, a day or a text of either in microseconds since 1970, in UTC; None if it is not a time.

    Objects of foreign classes may raise anything.
    """
    if isinstance(cell, np.datetime64):
        return _of_numpy(cell)
    if isinstance(cell, datetime):
        if hasattr(cell, "to_datetime64"):  # pandas, whose times may be finer than Python's, and farther away
            return _of_numpy(cell.to_datetime64())
        offset = cell.utcoffset() or timedelta(0)
        return (cell.replace(tzinfo=None) - EPOCH - offset) // timedelta(microseconds=1)
    if isinstance(cell, date):
        return (date.toordinal(cell) - EPOCH.toordinal()) * DAY
    return written_microsecond(cell) if isinstance(cell, str) else None


def _of_numpy(cell: np.datetime64) -> int | None:
    """Return a time of numpy in microseconds by exact arithmetic."""
    if np.isnat(cell):
        return None
    unit, each = np.datetime_data(cell.dtype)
    count = int(cell.astype(np.int64)) * each
    if unit in ("Y", "M"):
        months = count * 12 if unit == "Y" else count
        first = date(1970 + months // 12, months % 12 + 1, 1)
        return (first.toordinal() - EPOCH.toordinal()) * DAY
    return int(count * ATTOSECONDS[unit] // ATTOSECONDS["us"])


def written_microsecond(text: str) -> int | None:
    """Return the day or the time of a text in microseconds since 1970, in UTC; None where it is neither.

    A day or an hour that does not exist raises ValueError.

    >>> (
    ...     written_microsecond("1970-01-02"),
    ...     written_microsecond("1970-01-01T05:00:00.0000019+05:00"),
    ... )
    (86400000000, 1)
    """
    found = _TIME.fullmatch(stripped(text))
    if found is None:
        return None
    year, _, month, day, hour, minute, second, fraction, sign, hours, minutes = found.groups(default="0")
    local = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second), int(f"{fraction:0<6}"[:6]))
    offset = timedelta(hours=int(hours), minutes=int(minutes))
    since = local - EPOCH + (offset if sign == "-" else -offset)
    return since // timedelta(microseconds=1)


LONGEST = 400


def stripped(text: str) -> str:
    """Return a text without space around it, and an empty one where it has more than `LONGEST` characters."""
    return text.strip(" \t\r\n") if len(text) <= LONGEST else ""
