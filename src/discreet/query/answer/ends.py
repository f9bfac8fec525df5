"""Ends of intervals beside the values that are shown: they hold the value, and what was cut where that was bought."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime, time
from fractions import Fraction

from discreet.display import Table
from discreet.privacy import Estimate
from discreet.query.expression import Value
from discreet.query.measures import Estimated

_LEAST = Fraction(1, 10**300)


def around(value: float, low: float | None, high: float | None) -> tuple[float | None, float | None]:
    """Return an interval that holds its value; None and None where none was bought."""
    return (None, None) if low is None or high is None else (min(low, value), max(high, value))


def shown(value: Value, low: float | None, high: float | None) -> tuple[Value, float | None, float | None]:
    """Return a value and its ends as people read them: no digits that the noise decides, ends rounded outward.

    >>> (
    ...     shown(12344.7, 12284.1, 12405.3),
    ...     shown(3.14159, 3.1, 3.2),
    ...     shown(41, None, None),
    ... )
    ((12340, 12280, 12410), (3.14, 3.1, 3.2), (41, None, None))
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or low is None or high is None:
        return value, low, high
    if not all(map(math.isfinite, (value, low, high))):
        return value, low, high
    middle, least_end, most_end = (Fraction(str(one)) for one in (value, low, high))  # as decimals, not as sums of 2^-k
    width = (most_end - least_end) / 2
    if not width or not _LEAST < width < 1 / _LEAST:
        return value, low, high
    places = math.floor(math.log10(width / 4))
    unit = Fraction(10) ** places
    found = round(middle / unit), math.floor(least_end / unit), math.ceil(most_end / unit)
    if places >= 0:
        one, least, most = (whole * int(unit) for whole in found)
        return one, least, most
    return float(found[0] * unit), float(found[1] * unit), float(found[2] * unit)


def halved(confidence: float) -> float:
    """Return the confidence of each of two intervals that hold together with this one."""
    return 1.0 - (1.0 - confidence) / 2.0


def widened(bounded: Sequence[Estimated], cut: Sequence[Estimated]) -> list[Estimated]:
    """Return intervals for what is not bounded: those of what is, and of what was cut, end by end, and the value.

    Accuracy. Each of the two holds with half of the chance of error; if both hold, so does their sum.
    """
    return [
        (value, min((low or 0.0) + (least or 0.0), value), max((high or 0.0) + (most or 0.0), value))
        for (value, low, high), (_, least, most) in zip(bounded, cut, strict=True)
    ]


def with_ends(value: Value, low: float | None, high: float | None) -> Estimated:
    """Return a value with its ends, moved by the rounding of a last digit where the value lies outside."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value, None, None  # type: ignore[return-value]  # NULL, where there is nothing to compute
    return value, *around(value, low, high)


def rounded_table(whole: Table, names: Sequence[str]) -> Table:
    """Return a table of intervals with the values of these columns rounded to their noise."""
    columns = [list(column) for column in zip(*whole.rows, strict=True)]
    for name in names if columns else ():
        place = list(whole.columns).index(name)
        three = [shown(*row) for row in zip(*columns[place : place + 3], strict=True)]
        columns[place : place + 3] = [list(one) for one in zip(*three, strict=True)]
    rows = [list(row) for row in zip(*columns, strict=True)]
    return Table(whole.columns, rows, whole.caption, labels=whole.labels)


def only_days(column: Sequence[Value]) -> bool:
    """Say whether a column holds times that are all midnights, as those of DATE_TRUNC are: people read days."""
    times = [one for one in column if one is not None]
    return bool(times) and all(isinstance(one, datetime) and one.time() == time() for one in times)


def in_words_with_ends(named: Sequence[tuple[str, Estimate]]) -> str:
    """Write named estimates in one line."""
    return "; ".join(f"{name} {float(one.value):,.6g} [{one.low:,.6g}, {one.high:,.6g}]" for name, one in named)


def free_name(name: str, taken: Sequence[str]) -> str:
    """Return a name for an end of an interval that no column of the answer has."""
    while name in taken:
        name += "_"
    return name


def plain(value: Value) -> bool | int | float | str | None:
    """Return a value as JSON can hold it."""
    return value.isoformat() if isinstance(value, date | datetime) else value
