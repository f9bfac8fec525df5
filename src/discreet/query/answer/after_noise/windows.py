"""Windows over the rows of an answer, in plain Python: nothing here raises, whatever the numbers are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.query.expression import Expression, Value
from discreet.query.plan import AnswerWindow, WindowKind

Lookup = Callable[[Expression], Sequence[Value]]
Column = Sequence[Value]


@dataclass(frozen=True, slots=True)
class WindowFrame:
    """What a window sees from one row: the rows of its partition in their order, from `start` up to `end`.

    `place` is where the row itself stands; `peers` is the half-open run of rows that the order does not tell from it,
    the one of this `number` in the partition.
    """

    rows: list[int]
    place: int
    start: int
    end: int
    peers: tuple[int, int]
    number: int

    @property
    def seen(self) -> list[int]:
        """The rows that are seen."""
        return self.rows[self.start : self.end]


def partitions(window: AnswerWindow, values: Lookup, count: int) -> list[list[int]]:
    """Return the rows of each partition in the order of the window; NULLs come last, and ties stay as they were."""
    keys = list(zip(*(values(one) for one in window.partition), strict=True)) if window.partition else [()] * count
    found: dict[tuple[Value, ...], list[int]] = {}
    for row in range(count):
        found.setdefault(keys[row], []).append(row)
    for term in reversed(window.order):
        by = values(term.expression)
        for key, rows in found.items():
            there = [row for row in rows if by[row] is not None]
            there.sort(key=by.__getitem__, reverse=term.descending)  # type: ignore[arg-type]
            found[key] = [*there, *(row for row in rows if by[row] is None)]
    return list(found.values())


def frames(window: AnswerWindow, values: Lookup, count: int) -> list[WindowFrame]:
    """Return what the window sees from each row."""
    found: list[WindowFrame | None] = [None] * count
    by = [values(term.expression) for term in window.order]
    for rows in partitions(window, values, count):
        runs = _runs(rows, by)
        numbers = {run: number for number, run in enumerate(dict.fromkeys(runs), 1)}
        for place, row in enumerate(rows):
            start, end = _ends(window, place, len(rows), runs[place])
            found[row] = WindowFrame(rows, place, start, end, runs[place], numbers[runs[place]])
    return [one for one in found if one is not None]


def _runs(rows: list[int], by: list[Sequence[Value]]) -> list[tuple[int, int]]:
    """Return for each place the run of rows with equal values in the order."""
    found: list[tuple[int, int]] = []
    start = 0
    for place in range(1, len(rows) + 1):
        if place == len(rows) or any(one[rows[place]] != one[rows[start]] for one in by):
            found += [(start, place)] * (place - start)
            start = place
    return found


def _ends(window: AnswerWindow, place: int, size: int, run: tuple[int, int]) -> tuple[int, int]:
    """Return from where to where a window sees."""
    if window.frame is None:
        return 0, run[1]
    before, after = window.frame
    start = 0 if before is None else min(max(place + before, 0), size)
    end = size if after is None else min(max(place + after + 1, 0), size)
    return start, max(start, end)


def computed(window: AnswerWindow, values: Lookup, count: int) -> list[Value]:
    """Return the value of a window for each row."""
    seen = frames(window, values, count)
    if window.kind in _PLACES:
        return [_PLACES[window.kind](window, one) for one in seen]
    if window.kind in _LOOKED_UP:
        return [_taken(window, row, values) for row in chosen(window, seen)]
    column = counted(window, values, count)
    if window.kind is WindowKind.COUNT:
        column = [0 if one is None else 1 for one in column]
        return [0 if one is None else one for one in _over(WindowKind.SUM, seen, column)]
    return _over(window.kind, seen, column)


def counted(window: AnswerWindow, values: Lookup, count: int) -> list[Value]:
    """Return what each row brings to a window that adds up: nothing where FILTER leaves it out."""
    column = [True] * count if window.argument is None else list(values(window.argument))
    if window.condition is None:
        return list(column)
    kept = values(window.condition)
    return [one if kept[row] is True else None for row, one in enumerate(column)]


def chosen(window: AnswerWindow, seen: Sequence[WindowFrame]) -> list[int | None]:
    """Return the row that LAG, LEAD, FIRST_VALUE, LAST_VALUE or NTH_VALUE shows, or None."""
    return [_LOOKED_UP[window.kind](window, one) for one in seen]


def _taken(window: AnswerWindow, row: int | None, values: Lookup) -> Value:
    if row is None or window.argument is None:
        return window.default
    return values(window.argument)[row]


def _over(kind: WindowKind, seen: Sequence[WindowFrame], column: Column) -> list[Value]:
    """Return sums, means and extremes over what is seen; each run of rows is added up once."""
    known: dict[tuple[int, int, int], Value] = {}
    found: list[Value] = []
    for one in seen:
        key = (id(one.rows), one.start, one.end)
        if key not in known:
            there = [column[row] for row in one.seen if column[row] is not None]
            known[key] = _SUMS[kind](there) if there else None
        found.append(known[key])
    return found


def added(numbers: Sequence[Any]) -> Value:
    """Return a sum, exact for whole numbers and rounded once for others; beyond all floats it is infinite.

    >>> added([0.1] * 10), added([1e308, 1e308]), added([math.inf, -math.inf])
    (1.0, inf, None)
    """
    if all(isinstance(one, int) for one in numbers):
        return int(sum(numbers))
    try:
        return math.fsum(numbers)
    except OverflowError:
        return math.copysign(math.inf, sum(one / 2.0**60 for one in numbers))
    except ValueError:
        return None


def _mean(numbers: Sequence[Any]) -> Value:
    whole = added([one / len(numbers) for one in numbers]) if _huge(numbers) else added(numbers)
    if whole is None or not isinstance(whole, int | float):
        return None
    return whole if _huge(numbers) else whole / len(numbers)


def _huge(numbers: Sequence[Any]) -> bool:
    """Whether a sum of the numbers would not be a float any more."""
    return any(abs(one) > 1e300 for one in numbers)


_SUMS: dict[WindowKind, Callable[[Sequence[Any]], Any]] = {
    WindowKind.SUM: added,
    WindowKind.MEAN: _mean,
    WindowKind.MIN: min,
    WindowKind.MAX: max,
}


def _tile(window: AnswerWindow, frame: WindowFrame) -> int:
    """Return in which of n parts a row falls; the first parts are larger by one where they do not come out even."""
    small, more = divmod(len(frame.rows), window.number)
    if frame.place < more * (small + 1):
        return frame.place // (small + 1) + 1
    return more + (frame.place - more * (small + 1)) // max(small, 1) + 1


_PLACES: dict[WindowKind, Callable[[AnswerWindow, WindowFrame], Value]] = {
    WindowKind.ROW_NUMBER: lambda _, one: one.place + 1,
    WindowKind.RANK: lambda _, one: one.peers[0] + 1,
    WindowKind.DENSE_RANK: lambda _, one: one.number,
    WindowKind.PERCENT_RANK: lambda _, one: one.peers[0] / (len(one.rows) - 1) if len(one.rows) > 1 else 0.0,
    WindowKind.CUME_DIST: lambda _, one: one.peers[1] / len(one.rows),
    WindowKind.NTILE: _tile,
}


def _row(frame: WindowFrame, place: int, start: int, end: int) -> int | None:
    return frame.rows[place] if start <= place < end else None


_LOOKED_UP: dict[WindowKind, Callable[[AnswerWindow, WindowFrame], int | None]] = {
    WindowKind.LAG: lambda window, one: _row(one, one.place - window.number, 0, len(one.rows)),
    WindowKind.LEAD: lambda window, one: _row(one, one.place + window.number, 0, len(one.rows)),
    WindowKind.FIRST: lambda _, one: _row(one, one.start, one.start, one.end),
    WindowKind.LAST: lambda _, one: _row(one, one.end - 1, one.start, one.end),
    WindowKind.NTH: lambda window, one: _row(one, one.start + window.number - 1, one.start, one.end),
}
