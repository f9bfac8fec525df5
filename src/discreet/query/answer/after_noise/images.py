"""Ends of intervals for what a function makes of numbers with intervals: its range over them.

A function of one number takes, on an interval that holds the number, all the values that the function of the number may
have: so their range has the same confidence, also where the function folds the interval, as |x| and x^2 do near 0. Of
several numbers each interval gets a part of the chance of error, and all of them hold together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from discreet.query.answer.after_noise.forms import End, Ends, Floats, numbers
from discreet.query.expression import Apply, Column, Expression, Literal, Operation, Type, Value

_POINTS, _LEAST_POINTS = 256, 8  # of an interval, at which a function is computed
_MOST_POINTS = 1_000_000
# where a function of one number may turn around, so that samples of it do not tell how far the true one may be
FOLDING = (
    Operation.ABS,
    Operation.POWER,
    Operation.MULTIPLY,
    Operation.MODULO,
    Operation.GREATEST,
    Operation.LEAST,
)
_CORNERS = {
    Operation.ADD: np.add,
    Operation.SUBTRACT: np.subtract,
    Operation.MULTIPLY: np.multiply,
    Operation.DIVIDE: np.divide,
}
Compute = Callable[[Sequence[Expression], dict[str, list[Value]], dict[str, Type], int], list[list[Value]]]


def image(
    expression: Apply, noisy: Expression, ends: Ends, known: Mapping[Expression, Sequence[Value]], compute: Compute
) -> Ends:
    """Return the range of a function of one number over its interval, in every row.

    The function is computed at both ends, at 0 where it lies between them, and at 256 points; `known` are the values of
    its other arguments. There is no interval where the function has no value at one of these points.
    """
    rows, count = len(ends), min(_POINTS, _MOST_POINTS // max(len(ends), 1))
    if count < _LEAST_POINTS:
        return [(None, None)] * rows
    low, high = _columns(ends)
    inside = low[:, None] + (high - low)[:, None] * np.linspace(0.0, 1.0, count - 1)[:-1]
    points = np.column_stack([inside, np.clip(0.0, low, high), high])
    if noisy.type is Type.INTEGER:
        points = np.rint(points)
    columns: dict[str, list[Value]] = {"#0": _values(points.ravel(), noisy.type)}
    stand_ins: dict[Expression, Expression] = {noisy: Column(noisy.type, None, "#0")}
    for place, (one, values) in enumerate(known.items(), 1):
        if not isinstance(one, Literal):
            stand_ins[one] = Column(one.type, None, f"#{place}")
            columns[f"#{place}"] = [value for value in values for _ in range(count)]
    types = {column.name: column.type for column in stand_ins.values() if isinstance(column, Column)}
    replaced = replace(expression, arguments=tuple([stand_ins.get(one, one) for one in expression.arguments]))
    found = numbers(compute([replaced], columns, types, rows * count)[0]).reshape(rows, count)
    return _between(found.min(axis=1), found.max(axis=1))


def extremes(operation: Operation, ends: Sequence[Ends]) -> Ends:
    """Return the ends of GREATEST or LEAST, given those of its arguments, which hold together."""
    choose = np.maximum if operation is Operation.GREATEST else np.minimum
    low, high = _columns(ends[0])
    for one in ends[1:]:
        other = _columns(one)
        low, high = choose(low, other[0]), choose(high, other[1])
    return _between(low, high)


def has_corners(operation: Operation) -> bool:
    """Say whether `corners` knows an operation."""
    return operation in _CORNERS


def corners(operation: Operation, ends: Sequence[Ends]) -> Ends:
    """Return the ends of a sum, a difference, a product or a quotient, given those of both numbers."""
    (low, high), (least, most) = map(_columns, ends)
    with np.errstate(all="ignore"):
        found = np.stack([_CORNERS[operation](one, two) for one in (low, high) for two in (least, most)])
    if operation is Operation.DIVIDE:
        found[:, (least <= 0.0) & (most >= 0.0)] = np.nan
    return _between(found.min(axis=0), found.max(axis=0))


def exactly(values: Floats) -> Ends:
    """Return numbers without noise as intervals."""
    return [(None, None) if math.isnan(one) else (float(one), float(one)) for one in values]


def _columns(ends: Ends) -> tuple[Floats, Floats]:
    """Return the lower and the upper ends; NaN where there are none."""
    low, high = (numbers([pair[side] for pair in ends]) for side in (0, 1))
    return low, high


def _values(points: Floats, type: Type) -> list[Value]:
    """Return numbers as the values of a column."""
    whole = type is Type.INTEGER
    return [None if math.isnan(one) else int(one) if whole else one for one in points.tolist()]


def _between(low: Floats, high: Floats) -> Ends:
    """Return ends, moved outward by what a last operation rounds; none where one of them is no finite number."""
    found: Ends = []
    for one, two in zip(low.tolist(), high.tolist(), strict=True):
        pair: tuple[End, End] = math.nextafter(one, -math.inf), math.nextafter(two, math.inf)
        found.append(pair if math.isfinite(one) and math.isfinite(two) else (None, None))
    return found
