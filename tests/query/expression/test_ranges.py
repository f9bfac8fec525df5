"""Ranges: whatever lies within the declared ranges gives a value within the range of the expression."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import pytest

from discreet.frames import Type
from discreet.query.expression.expression import Apply, Column, Expression, Interval, Operation
from discreet.query.expression.typing_rules import apply, column, literal
from tests.conftest import Rounds
from tests.query import oracle
from tests.query.expressions import COLUMNS, LARGEST, Maker


def span(low: float, high: float) -> Interval:
    return Fraction(low), Fraction(high)


AGE = column("age", Type.INTEGER, span(0, 120))
COST = column("cost", Type.REAL, span(-2.5, 0.5))
FREE = column("free", Type.INTEGER)


@pytest.mark.parametrize(
    ("expression", "interval"),
    [
        (apply(Operation.ADD, AGE, AGE), span(0, 240)),
        (apply(Operation.SUBTRACT, literal(10), AGE), span(-110, 10)),
        (apply(Operation.MULTIPLY, COST, COST), span(-1.25, 6.25)),
        (apply(Operation.NEGATE, COST), span(-0.5, 2.5)),
        (apply(Operation.ABS, COST), span(0, 2.5)),
        (apply(Operation.SIGN, AGE), span(0, 1)),
        (apply(Operation.DIVIDE, AGE, literal(-2)), span(-60, 0)),
        (apply(Operation.FLOOR_DIVIDE, AGE, literal(10)), span(0, 12)),
        (apply(Operation.MODULO, FREE, literal(7)), span(0, 6)),
        (apply(Operation.MODULO, AGE, literal(1000)), span(0, 120)),
        (apply(Operation.BIT_AND, FREE, literal(12)), span(0, 12)),
        (apply(Operation.SHIFT_RIGHT, AGE, literal(3)), span(0, 15)),
        (apply(Operation.FLOOR, COST), span(-3, 0)),
        (apply(Operation.CEIL, COST), span(-2, 1)),
        (apply(Operation.ROUND, COST), span(-3, 1)),
        (apply(Operation.CLAMP, FREE, literal(3), literal(9)), span(3, 9)),
        (apply(Operation.CLAMP, AGE, literal(100), literal(900)), span(100, 120)),
        (apply(Operation.GREATEST, AGE, literal(18)), span(18, 120)),
        (apply(Operation.LEAST, AGE, literal(18)), span(0, 18)),
        (apply(Operation.COALESCE, AGE, literal(-1)), span(-1, 120)),
        (apply(Operation.CASE, apply(Operation.IS_NULL, FREE), AGE, literal(None)), span(0, 120)),
        (apply(Operation.CAST, COST, type=Type.INTEGER), span(-2, 0)),
        (apply(Operation.CAST, apply(Operation.IS_NULL, FREE), type=Type.INTEGER), span(0, 1)),
        (apply(Operation.MONTH, column("d", Type.DATE)), span(1, 12)),
        (apply(Operation.BIT_COUNT, FREE), span(0, 64)),
        (apply(Operation.MULTIPLY, literal(LARGEST), AGE), span(0, LARGEST)),
        (apply(Operation.YEAR, column("d", Type.DATE)), None),
        (apply(Operation.ADD, AGE, FREE), None),
        (apply(Operation.DIVIDE, AGE, AGE), None),
        (apply(Operation.LENGTH, column("t", Type.TEXT)), None),
        (apply(Operation.EQUAL, AGE, AGE), None),
    ],
)
def test_the_range_of_an_operation(expression: Expression, interval: Interval | None) -> None:
    assert expression.interval == interval


def test_ends_are_rounded_outward_as_floats_round() -> None:
    tenths = apply(Operation.ADD, literal(0.1), literal(0.2))
    assert tenths.interval is not None
    low, high = tenths.interval
    assert low <= Fraction(0.1) + Fraction(0.2) <= high == Fraction(0.1 + 0.2)


def test_a_range_beyond_the_floats_is_no_range() -> None:
    assert apply(Operation.MULTIPLY, literal(1e300), literal(1e300)).interval is None


def test_rows_within_their_ranges_give_values_within_the_range(rounds: Rounds) -> None:
    source = random.Random(1)  # noqa: S311 - the same expressions every time
    maker = Maker(source)
    checked, wanted = 0, rounds(sample=500, full=10_000)
    while checked < wanted:
        row, intervals = _mild_row(source)
        expression = _declared(maker.make(source.choice([Type.INTEGER, Type.REAL]), 3), intervals)
        if expression.interval is None:
            continue
        value = oracle.evaluate(expression, row)
        checked += 1
        if value is not None and math.isfinite(value):
            assert expression.interval[0] <= Fraction(value) <= expression.interval[1], expression


def _mild_row(source: random.Random) -> tuple[dict[str, Any], dict[str, Interval]]:
    """Return a row whose numbers lie in ranges around them; everything else is NULL."""
    row: dict[str, Any] = dict.fromkeys(COLUMNS)
    intervals: dict[str, Interval] = {}
    for name, kind in COLUMNS.items():
        if kind is Type.INTEGER:
            row[name] = source.choice([0, 1, -1, 17, 2**40, LARGEST])
        elif kind is Type.REAL:
            row[name] = source.choice([0.0, 0.5, -2.5, 1e-300, 0.1, 1e17, source.uniform(-10, 10)])
        if kind.numeric:
            value = Fraction(row[name])
            intervals[name] = value - source.randint(0, 3), value + Fraction(source.randint(0, 3), 2)
    return row, intervals


def _declared(expression: Expression, intervals: dict[str, Interval]) -> Expression:
    """Make the expression anew over columns with declared ranges."""
    if isinstance(expression, Column):
        return column(expression.name, expression.type, intervals.get(expression.name))
    if not isinstance(expression, Apply):
        return expression
    parts = [_declared(part, intervals) for part in expression.arguments]
    wanted = expression.type if expression.operation is Operation.CAST else None
    return apply(expression.operation, *parts, type=wanted)
