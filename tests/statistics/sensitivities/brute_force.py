"""Queries in plain exact arithmetic, all small tables and all their neighbors: the other side of every formula."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement

from discreet.privacy import Norm, Relation
from discreet.statistics.sensitivities import Query

CELLS = ("A", "B", "C")
NUMBERED = range(1, 7)


@dataclass(frozen=True)
class Gap:
    """The distance of two answers: a sum of parts, or the root of a sum of squares, or a difference of two roots."""

    parts: Fraction = Fraction(0)
    square: Fraction = Fraction(0)
    roots: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))

    def _sides(self, value: Fraction) -> tuple[Fraction, Fraction]:
        """Return two numbers whose order is that of the distance and the value."""
        if self.parts:
            return self.parts, value
        if self.square:
            return self.square, value**2
        low, high = sorted(self.roots)
        # sqrt(high) - sqrt(low) <= value, squared twice with the sign kept
        excess = high - low - value**2
        return excess * abs(excess), 4 * value**2 * low

    def at_most(self, value: Fraction) -> bool:
        left, right = self._sides(value)
        return left <= right

    def equals(self, value: Fraction) -> bool:
        left, right = self._sides(value)
        return left == right


def gap(query: Query, first: tuple[Fraction, ...], second: tuple[Fraction, ...], norm: Norm) -> Gap:
    """Return how far two answers are apart; a deviation is handed over as its variance."""
    if query in (Query.STANDARD_DEVIATION, Query.SAMPLE_STANDARD_DEVIATION):
        return Gap(roots=(first[0], second[0]))
    moved = [abs(one - other) for one, other in zip(first, second, strict=True)]
    if norm is Norm.L2:
        return Gap(square=sum((step**2 for step in moved), Fraction(0)))
    return Gap(parts=sum(moved, Fraction(0)) if norm is Norm.L1 else max(moved))


def squares(rows: Sequence[Fraction]) -> Fraction:
    mean = Fraction(sum(rows), len(rows))
    return sum(((row - mean) ** 2 for row in rows), Fraction(0))


def order_statistic(rows: Sequence[Fraction], level: Fraction) -> Fraction:
    """Return the least row that at least a share of the rows do not exceed."""
    return next(row for row in sorted(rows) if sum(other <= row for other in rows) >= level * len(rows))


def interpolated(rows: Sequence[Fraction], level: Fraction) -> Fraction:
    """Return the quantile on the line through the sorted rows, as most packages do."""
    place = level * (len(rows) - 1)
    below, above = sorted(rows)[math.floor(place)], sorted(rows)[math.ceil(place)]
    return below + (above - below) * (place - math.floor(place))


@dataclass(frozen=True)
class Known:
    """What an answer depends on beside the rows: the level of a quantile, and what an empty table answers."""

    level: Fraction = Fraction(0)
    empty: Fraction = Fraction(0)


NOTHING_KNOWN = Known()


def mean_square(rows: tuple, _: Known) -> list:
    return [squares(rows) / len(rows)]


def sample_mean_square(rows: tuple, _: Known) -> list:
    return [squares(rows) / (len(rows) - 1)]


ANSWERS: dict[Query, Callable[[tuple, Known], list]] = {
    Query.COUNT: lambda rows, _: [rows.count("yes")],
    Query.COUNT_DISTINCT: lambda rows, _: [len(set(rows))],
    Query.SUM: lambda rows, _: [sum(rows)],
    Query.MEAN: lambda rows, _: [Fraction(sum(rows), len(rows))],
    Query.VARIANCE: mean_square,
    Query.STANDARD_DEVIATION: mean_square,
    Query.SAMPLE_VARIANCE: sample_mean_square,
    Query.SAMPLE_STANDARD_DEVIATION: sample_mean_square,
    Query.RANGE: lambda rows, _: [max(rows) - min(rows) if rows else 0],
    Query.MINIMUM: lambda rows, known: [min(rows, default=known.empty)],
    Query.MAXIMUM: lambda rows, known: [max(rows, default=known.empty)],
    Query.MEDIAN: lambda rows, known: [order_statistic(rows, Fraction(1, 2)) if rows else known.empty],
    Query.MIDDLE_MEDIAN: lambda rows, _: [interpolated(rows, Fraction(1, 2))],
    Query.QUANTILE: lambda rows, known: [order_statistic(rows, known.level) if rows else known.empty],
    Query.RANK_SCORE: lambda rows, known: [-abs(rows.count("below") - known.level * len(rows))],
    Query.HISTOGRAM: lambda rows, _: [rows.count(cell) for cell in CELLS],
    Query.PEOPLE_PER_CELL: lambda rows, _: [rows.count(cell) for cell in NUMBERED],
    Query.VECTOR_SUM: lambda rows, _: [sum(row[place] for row in rows) for place in range(2)],
    Query.SECOND_MOMENT: lambda rows, _: [sum(row[i] * row[j] for row in rows) for i in range(2) for j in range(2)],
}


@lru_cache(maxsize=200_000)
def answer(query: Query, rows: tuple, known: Known = NOTHING_KNOWN) -> tuple[Fraction, ...]:
    """Return the answer as a vector; a deviation is answered by its variance, which is rational."""
    return tuple(Fraction(one) for one in ANSWERS[query](rows, known))


def tables(values: Sequence, rows: int) -> Iterator[tuple]:
    """Yield every table of so many rows; the order of rows never matters here."""
    return combinations_with_replacement(values, rows)


def neighbors(values: Sequence, relation: Relation, sizes: Sequence[int], rows_of_one: int) -> Iterator[tuple]:
    """Yield all pairs whose smaller table (add/remove) or whose tables (change one) have one of the sizes."""
    for size in sizes:
        if relation is Relation.ADD_REMOVE:
            for kept in tables(values, size):
                for count in range(1, rows_of_one + 1):
                    yield from ((kept, in_order(values, kept + added)) for added in tables(values, count))
        else:
            changed = min(rows_of_one, size)
            for kept in tables(values, size - changed):
                versions = [in_order(values, kept + own) for own in tables(values, changed)]
                yield from combinations_with_replacement(versions, 2)


def in_order(values: Sequence, rows: tuple) -> tuple:
    """Return one writing of a table, so that the same table is answered once."""
    return tuple(sorted(rows, key=values.index))


def are_neighbors(first: Sequence, second: Sequence, relation: Relation, rows_of_one: int) -> bool:
    """Say whether one person with so many rows lies between two tables."""
    lost, gained = Counter(first) - Counter(second), Counter(second) - Counter(first)
    if relation is Relation.CHANGE_ONE:
        return len(first) == len(second) and lost.total() <= rows_of_one
    return not (lost and gained) and lost.total() + gained.total() <= rows_of_one
