"""Mondrian: k-anonymous boxes, by halving groups of people along their widest column while both halves keep k."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.attacks.asking import Columns, Integers, array_of, columns_of, distinct
from discreet.attacks.results import read_only
from discreet.display.result import told_in_rows
from discreet.errors import InputError, ParameterError
from discreet.frames import Frame

Floats = NDArray[np.float64]

_LARGEST = 2.0**53  # below it whole numbers stay different as floats


@told_in_rows
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Boxes:
    """A k-anonymous release: everybody's values are replaced by the box of their group.

    `group` is the number of each row's group; `low` and `high` are the ends of the boxes, a row a group and a column a
    column, as numbers (a text is the place of its value among the sorted ones, a date the day); `span` is how far each
    column reaches over all rows.
    """

    k: int
    columns: tuple[str, ...]
    group: Integers
    sizes: Integers
    low: Floats
    high: Floats
    span: Floats
    seconds: float

    def __post_init__(self) -> None:
        read_only(self.group, self.sizes, self.low, self.high, self.span)

    @property
    def anonymity(self) -> int:
        """The size of the smallest group: at least k."""
        return int(self.sizes.min())

    @property
    def sides(self) -> Floats:
        """How much of its column each side of each box covers, from 0 to 1; 0 where a column is constant."""
        reach = np.where(self.span > 0, self.span, 1.0)
        return (self.high - self.low) / reach

    @property
    def mean_side(self) -> float:
        """The mean side of a person's box: 0 tells everything, 1 nothing."""
        return float(self.sizes @ self.sides.mean(axis=1) / self.sizes.sum())

    def _rows(self) -> list[tuple[str, str]]:
        """Return what people want to read, in order."""
        return [
            ("people", f"{len(self.group):,}"),
            ("columns", f"{len(self.columns)}"),
            ("groups", f"{len(self.sizes):,}"),
            ("smallest", f"{self.anonymity}"),
            ("mean side", f"{self.mean_side:.3f}"),
            ("seconds", f"{self.seconds:.2f}"),
        ]


def mondrian(data: Columns | ArrayLike, *, k: int, columns: Sequence[str] | None = None) -> Boxes:
    """Put people into boxes of at least k, by Mondrian's rule: cut the widest side nearest to its median.

    `data` is a table with the names of `columns`, or an array with a row a person. A cut leaves equal values on one
    side, so that boxes do not overlap; where no cut of the widest side leaves k on both, the next widest is tried.

    Accuracy. Every group has at least k people, everybody lies in the box of their group, boxes share no value
        combination, and no group can be cut further.
        Proof: a cut is made only between different values of a column and only if k rows lie on either side, and a box
        is the least one around its rows. Two groups were parted by one cut of one column, on whose two sides they still
        lie. A column in which a group cannot be cut stays so for its parts: fewer rows lie on either side of any value.
        So a group is closed only when every column has been tried in it or in one that held it.
    Cost. A sort of the open groups a level, about log2(people / k) levels: a second or two for 200 000 people and
        twelve columns.
    Reference. LeFevre, DeWitt, Ramakrishnan 2006.

    >>> from discreet.data import register
    >>> table = register(people=4000, seed=1).discharges
    >>> boxes = mondrian(table, k=10, columns=["zip_code", "birth_date", "sex"])
    >>> boxes.anonymity >= 10, len(boxes.sizes)
    (True, 63)
    """
    started = time.perf_counter()
    names, points = _points(data, columns)
    people = len(points)
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ParameterError("k must be a whole number of at least 1", parameter="k")
    if people < k:
        raise InputError("there are fewer people than k: no group of them is k-anonymous")
    span = np.ptp(points, axis=0)
    group = _grouped(points, span, k)
    order = np.argsort(group, kind="stable")
    sizes = np.bincount(group)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    low, high = (ends.reduceat(points[order], starts, axis=0) for ends in (np.minimum, np.maximum))
    return Boxes(k, names, group, sizes, low, high, span, time.perf_counter() - started)


def _points(data: Columns | ArrayLike, columns: Sequence[str] | None) -> tuple[tuple[str, ...], Floats]:
    """Return the names of the columns, and the data as numbers in the same order."""
    if Frame.is_one(data):
        if columns is None:
            raise ParameterError("say which columns of the table to put into boxes: pass columns=", parameter="columns")
        names = distinct(columns)
        parts = list(columns_of(cast("Columns", data), names).values())
    else:
        array = array_of(data)
        if array.ndim != 2 or array.size == 0 or array.dtype.kind not in "biuf":
            raise InputError("the data must be an array of numbers with a row a person and a column a fact")
        parts = list(array.T)
        names = distinct([str(place) for place in range(len(parts))] if columns is None else columns)
        if len(names) != len(parts):
            raise ParameterError("give one name for each column", parameter="columns")
    points = np.column_stack([_numbers(part) for part in parts])
    if not np.all(np.abs(points) < _LARGEST):
        raise InputError("every value must be a number of a size below 2^53; drop rows with missing or endless ones")
    return names, points


def _numbers(column: NDArray[np.generic]) -> Floats:
    """Return a column as numbers; texts become their places among the sorted ones."""
    if column.dtype.kind in "US":
        column = np.unique(column, return_inverse=True)[1]
    elif column.dtype.kind == "M":
        days = column.astype("datetime64[D]")
        column = (days if np.all(days == column) else column).astype(np.int64)  # other times in their own unit
    elif column.dtype.kind == "m":
        column = column.astype(np.int64)
    return column.astype(np.float64)


def _grouped(points: Floats, span: Floats, k: int) -> Integers:
    """Return everybody's group: cut all open groups at once until no cut is left."""
    people, width = points.shape
    ranks = np.argsort(np.argsort(points, axis=0, kind="stable"), axis=0)
    scale = np.where(span > 0, span, 1.0)
    final, closed = np.full(people, -1), 0
    rows = np.arange(people)  # of open groups, each group's together
    starts = np.zeros(1, dtype=np.int64)
    tried = np.zeros((1, width), dtype=bool)
    while len(rows):
        sizes = np.diff(np.append(starts, len(rows)))
        inside = points[rows]
        reach = np.maximum.reduceat(inside, starts) - np.minimum.reduceat(inside, starts)
        tried |= reach == 0  # of the reach itself: its share of a span may be too small for a float
        widest = np.argmax(np.where(tried, -1.0, reach / scale), axis=1)
        alive = ~tried.all(axis=1) & (sizes >= 2 * k)
        ended = np.repeat(~alive, sizes)
        final[rows[ended]] = closed + np.repeat((np.cumsum(~alive) - 1), sizes)[ended]
        closed += int(np.count_nonzero(~alive))
        rows, sizes, tried, widest = rows[~ended], sizes[alive], tried[alive], widest[alive]
        if not len(rows):
            break
        rows, starts, tried = _cut(points, ranks, rows, sizes, widest, tried, k)
    return final


def _cut(
    points: Floats, ranks: Integers, rows: Integers, sizes: Integers, widest: Integers, tried: NDArray[np.bool_], k: int
) -> tuple[Integers, Integers, NDArray[np.bool_]]:
    """Sort every open group by its widest column and cut it nearest to the middle, or note that it cannot be."""
    starts = np.cumsum(sizes) - sizes
    owner = np.repeat(np.arange(len(sizes)), sizes)
    rows = rows[np.argsort(owner * len(points) + ranks[rows, widest[owner]])]
    values = points[rows, widest[owner]]
    place = np.arange(len(rows))
    fresh = np.ones(len(rows), dtype=bool)  # a cut just before this row parts different values
    fresh[1:] = values[1:] != values[:-1]
    allowed = fresh & (place - starts[owner] >= k) & ((starts + sizes)[owner] - place >= k)
    # the allowed cut nearest to the middle of each group, from the last one before it and the first one after
    middle = starts + sizes // 2
    before = np.maximum.accumulate(np.where(allowed, place, -1))[middle]
    after = np.minimum.accumulate(np.where(allowed, place, len(rows))[::-1])[::-1][middle]
    has_before, has_after = before >= starts, after < starts + sizes
    cut = np.where(has_before & (~has_after | (middle - before <= after - middle)), before, after)
    found = has_before | has_after
    tried[np.arange(len(sizes))[~found], widest[~found]] = True
    merged = np.argsort(np.concatenate([starts, cut[found]]), kind="stable")
    return rows, np.concatenate([starts, cut[found]])[merged], np.concatenate([tried, tried[found]])[merged]
