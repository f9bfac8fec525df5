"""Whole numbers, and none below 0, on request: post-processing of released counts and sums that keeps their total."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Flag, auto
from fractions import Fraction

from discreet.errors import ParameterError
from discreet.query.plan import Aggregate, MeasureKind

Number = int | float
_COUNTS = (
    MeasureKind.COUNT_ROWS,
    MeasureKind.COUNT_VALUES,
    MeasureKind.COUNT_UNITS,
    MeasureKind.COUNT_DISTINCT,
)


class Rounding(Flag):
    """What is done to released numbers so that they look like counts; both together: `INTEGER | NONNEGATIVE`.

    Privacy. Costs nothing: it is a function of what was released. Intervals stay those of the released numbers.
    Accuracy. Counts become whole numbers, or numbers that are not below 0, whose sum over all groups is the one that
        was released, rounded, or 0 where it lies below 0; so totals, shares and the parts of a margin agree. A group
        that has nobody is then too high on average, and the others too low.
    """

    NONE = 0
    INTEGER = auto()  # counts
    NONNEGATIVE = auto()  # counts, and sums of what is not below 0

    @property
    def words(self) -> str:
        """Say what was done."""
        said = {Rounding.INTEGER: "counts are whole numbers", Rounding.NONNEGATIVE: "no count or sum is below 0"}
        done = ", ".join(words for one, words in said.items() if one in self)
        return f"{done}; their sum over all groups is kept, and intervals are those of the released numbers"


def check_rounding(given: object) -> None:
    """Refuse what is no rounding, before anything is charged."""
    if not isinstance(given, Rounding):
        raise ParameterError(
            f"rounding= must be a Rounding; got {type(given).__name__}, write rounding=dp.Rounding.INTEGER. "
            "Nothing was spent.",
            parameter="rounding",
        )


def adjusted(values: Sequence[Number], asked: Aggregate, how: Rounding) -> list[Number]:
    """Return the numbers of one aggregate in all groups, as it is asked for."""
    found = list(values)
    if Rounding.NONNEGATIVE in how and _never_negative(asked):
        found = _not_below_zero(found)
    return _whole(found) if Rounding.INTEGER in how and asked.kind in _COUNTS else found


def _never_negative(asked: Aggregate) -> bool:
    """Whether the true number cannot lie below 0, for public reasons."""
    if asked.kind in _COUNTS:
        return True
    return asked.kind is MeasureKind.SUM and asked.bounds is not None and asked.bounds[0] >= 0


def _not_below_zero(values: Sequence[Number]) -> list[Number]:
    """Return the nearest numbers from 0 on that have the same sum: all are lowered alike, and what falls below 0 is 0.

    >>> _not_below_zero([5.0, -1.0, 2.0]), _not_below_zero([-1.0, -2.0])
    ([4.5, 0.0, 1.5], [0.0, 0.0])
    """
    exact = [Fraction(one) for one in values]
    total = max(sum(exact, Fraction(0)), Fraction(0))
    lowered, kept = Fraction(0), Fraction(0)
    for count, one in enumerate(sorted(exact, reverse=True), 1):
        kept += one
        if one - (kept - total) / count <= 0:
            break
        lowered = (kept - total) / count
    return [float(max(one - lowered, Fraction(0))) if total else 0.0 for one in exact]


def _whole(values: Sequence[Number]) -> list[Number]:
    """Return whole numbers, each within 1 of its own, whose sum is the rounded sum: the largest remainders go up.

    >>> _whole([1.5, 2.25, 0.25]), _whole([-0.5, 3.0])
    ([2, 2, 0], [-1, 3])
    """
    exact = [Fraction(one) for one in values]
    low = [math.floor(one) for one in exact]
    more = round(sum(exact, Fraction(0))) - sum(low)
    rest = sorted(range(len(exact)), key=lambda place: (low[place] - exact[place], place))
    up = set(rest[:more])
    return [one + (place in up) for place, one in enumerate(low)]
