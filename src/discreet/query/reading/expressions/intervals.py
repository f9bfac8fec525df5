"""Dates moved by days, weeks, months and years: every spelling of INTERVAL, and constants computed at once."""

from __future__ import annotations

import calendar
import re
from datetime import date, timedelta
from typing import TYPE_CHECKING

from sqlglot import exp

from discreet.errors import UnsupportedSQL
from discreet.query.expression import Expression, Literal, Operation, Type, advice, declared_otherwise, typing_rules
from discreet.query.reading.parse import bare, only, shown
from discreet.query.reading.refusals import reason

if TYPE_CHECKING:
    from discreet.query.reading.expressions.reader import Reader

TIMES = (Type.DATE, Type.TIMESTAMP)
_STEPS = {
    "DAY": (Operation.ADD_DAYS, 1),
    "WEEK": (Operation.ADD_DAYS, 7),
    "MONTH": (Operation.ADD_MONTHS, 1),
    "QUARTER": (Operation.ADD_MONTHS, 3),
    "YEAR": (Operation.ADD_MONTHS, 12),
}
_WHOLE = re.compile(r"[+-]?[0-9]{1,7}")
_Move = tuple[Operation, Expression]  # by what a date is moved: days or months, and how many of them


def is_interval(node: exp.Expr) -> bool:
    """Whether a node is an INTERVAL, several added up, or a multiple of one."""
    node = bare(node)
    if isinstance(node, exp.Add | exp.Sub):
        return is_interval(node.this) and is_interval(node.args["expression"])
    if isinstance(node, exp.Mul):
        return is_interval(node.this) or is_interval(node.args["expression"])
    return isinstance(node, exp.Interval)


def sum_or_difference(reader: Reader, left: Expression, node: exp.Expr) -> Expression:
    """Read a sum or a difference, of numbers or of a date and days, whose left side was read."""
    minus = isinstance(node, exp.Sub)
    second = bare(node.args["expression"])
    if is_interval(second):
        return moved(reader, left, second, minus=minus)
    right = reader.read(second)
    if left.type in TIMES and right.type is Type.INTEGER:
        return _moved(reader, left, (Operation.ADD_DAYS, right), minus)
    if left.type is Type.DATE and right.type is Type.DATE and minus:
        return reader.apply(Operation.DAYS_BETWEEN, right, left)
    if left.type in TIMES and right.type in TIMES:
        line = declared_otherwise([left, right], Type.DATE)
        raise UnsupportedSQL(f"{shown(node)!r} mixes times: write DATEDIFF('day', first, second){line}.")
    return reader.apply(Operation.SUBTRACT if minus else Operation.ADD, left, right)


def moved(reader: Reader, moment: Expression, interval: exp.Expr, *, minus: bool) -> Expression:
    """Return a date, or a time, later or earlier by an interval."""
    interval = bare(interval)
    if isinstance(interval, exp.Add | exp.Sub):
        only(interval, "this", "expression", "typed", "safe")
        first = moved(reader, moment, interval.this, minus=minus)
        return moved(reader, first, interval.args["expression"], minus=minus != isinstance(interval, exp.Sub))
    return _moved(reader, moment, _move(reader, interval), minus)


def _move(reader: Reader, node: exp.Expr) -> _Move:
    """Return the days or the months of one INTERVAL, or of a multiple of one."""
    if isinstance(node, exp.Mul):
        only(node, "this", "expression", "typed", "safe")
        one, other = node.this, node.args["expression"]
        inner, factor = (one, other) if is_interval(one) else (other, one)
        operation, count = _move(reader, bare(inner))
        return operation, _times(reader, reader.read(factor), count)
    only(node, "this", "unit")
    unit, count = node.args.get("unit"), node.this
    step = _STEPS.get(unit.name.upper().removesuffix("S") if unit is not None else "")
    if step is None or count is None:
        raise UnsupportedSQL(reason("Interval", ""))
    if isinstance(count, exp.Literal) and count.is_string:
        text = count.name.strip()
        if _WHOLE.fullmatch(text) is None:
            raise UnsupportedSQL(reason("Interval", ""))
        return step[0], typing_rules.literal(int(text) * step[1])
    return step[0], _times(reader, reader.read(count), typing_rules.literal(step[1]))


def _times(reader: Reader, one: Expression, other: Expression) -> Expression:
    """Return a product of whole numbers; 1 and constants are not left to a database."""
    values = [part.value if isinstance(part, Literal) else None for part in (one, other)]
    if all(isinstance(value, int) for value in values):
        return typing_rules.literal(values[0] * values[1])  # type: ignore[operator]
    if 1 in values:
        return other if values[0] == 1 else one
    return reader.apply(Operation.MULTIPLY, one, other)


def _moved(reader: Reader, moment: Expression, move: _Move, minus: bool) -> Expression:
    operation, count = move
    if moment.type not in TIMES:
        hint = advice("write d + INTERVAL 7 DAY, where d is a date", [moment], *TIMES)
        raise UnsupportedSQL(f"Days can be added to a date alone: {hint}.")
    if minus and isinstance(count, Literal) and isinstance(count.value, int):
        count = typing_rules.literal(-count.value)
    elif minus:
        count = reader.apply(Operation.NEGATE, count)
    if isinstance(moment, Literal) and isinstance(count, Literal) and isinstance(moment.value, date):
        return _computed(moment.value, operation, count)
    return reader.apply(operation, moment, count)


def _computed(moment: date, operation: Operation, count: Literal) -> Expression:
    """Return a constant date moved by a constant."""
    whole = count.value
    if isinstance(whole, bool) or not isinstance(whole, int):
        raise UnsupportedSQL(reason("Interval", ""))
    try:
        if operation is Operation.ADD_DAYS:
            return typing_rules.literal(moment + timedelta(days=whole))
        year, month = divmod(moment.year * 12 + moment.month - 1 + whole, 12)
        last = calendar.monthrange(year, month + 1)[1] if 1 <= year <= 9999 else 0
        return typing_rules.literal(moment.replace(year=year, month=month + 1, day=min(moment.day, last)))
    except (OverflowError, ValueError):
        raise UnsupportedSQL("A date moved by an INTERVAL leaves the years 1 to 9999. Write a shorter one.") from None
