"""Dates and times of SQL: parts, truncation, days added and days between."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from discreet.errors import UnsupportedSQL
from discreet.query.expression import Expression, Literal, Operation, Type, advice, declared_otherwise, typing_rules
from discreet.query.reading.expressions.operators import Rule, cast_to, simple_rule
from discreet.query.reading.parse import only, shown
from discreet.query.reading.refusals import reason

if TYPE_CHECKING:
    from discreet.query.reading.expressions import Reader

_TIMES = (Type.DATE, Type.TIMESTAMP)
PARTS: dict[str, Operation] = {
    "YEAR": Operation.YEAR,
    "QUARTER": Operation.QUARTER,
    "MONTH": Operation.MONTH,
    "DAY": Operation.DAY,
    "DAYOFMONTH": Operation.DAY,
    "ISODOW": Operation.WEEKDAY,
    "HOUR": Operation.HOUR,
    "MINUTE": Operation.MINUTE,
}


def plus_minus(reader: Reader, left: Expression, node: exp.Expr) -> Expression:
    """Read a sum or a difference, of numbers or of a date and days, whose left side was read."""
    minus = isinstance(node, exp.Sub)
    second = node.args["expression"]
    while isinstance(second, exp.Paren):
        second = second.this
    if isinstance(second, exp.Interval):
        return _add_days(reader, left, _days(reader, second), minus)
    right = reader.read(second)
    if left.type in _TIMES and right.type is Type.INTEGER:
        return _add_days(reader, left, right, minus)
    if left.type is Type.DATE and right.type is Type.DATE and minus:
        return reader.apply(Operation.DAYS_BETWEEN, right, left)
    if left.type in _TIMES and right.type in _TIMES:
        line = declared_otherwise([left, right], Type.DATE)
        raise UnsupportedSQL(f"{shown(node)!r} mixes times: write DATEDIFF('day', first, second){line}.")
    return reader.apply(Operation.SUBTRACT if minus else Operation.ADD, left, right)


def _add_days(reader: Reader, moment: Expression, days: Expression, minus: bool) -> Expression:
    """Return a date some days later or earlier."""
    if moment.type not in _TIMES:
        hint = advice("write d + INTERVAL 7 DAY, where d is a date", [moment], *_TIMES)
        raise UnsupportedSQL(f"Days can be added to a date alone: {hint}.")
    if minus and isinstance(days, Literal) and isinstance(days.value, int):
        days = typing_rules.literal(-days.value)
    elif minus:
        days = reader.apply(Operation.NEGATE, days)
    return reader.apply(Operation.ADD_DAYS, moment, days)


def _days(reader: Reader, node: exp.Expr) -> Expression:
    """Return the number of days of an INTERVAL."""
    only(node, "this", "unit")
    unit = node.args.get("unit")
    factor = {"DAY": 1, "WEEK": 7}.get(unit.name.upper().removesuffix("S") if unit is not None else "")
    count = node.this
    if factor is None or count is None:
        raise UnsupportedSQL(reason("Interval", ""))
    if isinstance(count, exp.Literal) and count.is_string:
        text = count.name.strip()
        if not (text.isascii() and text.lstrip("+-").isdecimal()) or len(text) > 8 or text[1:].strip("0123456789"):
            raise UnsupportedSQL(reason("Interval", ""))
        return typing_rules.literal(int(text) * factor)
    days = reader.read(count)
    return days if factor == 1 else reader.apply(Operation.MULTIPLY, days, typing_rules.literal(factor))


def date_part(reader: Reader, part: str, moment_of: exp.Expr) -> Expression:
    """Read EXTRACT and its relatives."""
    operation = PARTS.get(part.upper().strip())
    if operation is None:
        raise UnsupportedSQL(
            f"{shown(part)!r} is no part of a date here. Write YEAR, QUARTER, MONTH, DAY, ISODOW, HOUR or MINUTE."
        )
    return reader.apply(operation, reader.read(moment_of))


def _extract(reader: Reader, node: exp.Expr) -> Expression:
    """Read EXTRACT(part FROM x)."""
    return date_part(reader, node.this.name, node.args["expression"])


def _to_date(reader: Reader, node: exp.Expr) -> Expression:
    """Read DATE(x)."""
    return cast_to(reader, reader.read(node.this), Type.DATE)


def _truncate(reader: Reader, node: exp.Expr) -> Expression:
    """Read DATE_TRUNC."""
    unit = node.args.get("unit")
    name = f"TRUNCATE_{(unit.name if unit is not None else '').upper()}"
    if name not in Operation.__members__:
        raise UnsupportedSQL("DATE_TRUNC takes 'year', 'quarter', 'month', 'week', 'day' or 'hour'.")
    return reader.apply(Operation[name], reader.read(node.this))


def _difference(reader: Reader, node: exp.Expr) -> Expression:
    """Read DATEDIFF('day', first, second)."""
    unit = node.args.get("unit")
    if unit is None or unit.name.upper() not in ("DAY", "DAYS"):
        raise UnsupportedSQL("Dates are subtracted in days alone. Write DATEDIFF('day', first, second).")
    second, first = reader.read(node.this), reader.read(node.args["expression"])
    return reader.apply(Operation.DAYS_BETWEEN, first, second)


def _date_add(reader: Reader, node: exp.Expr) -> Expression:
    """Read DATE_ADD(d, INTERVAL n DAY)."""
    amount = node.args.get("expression")
    if not isinstance(amount, exp.Interval):
        raise UnsupportedSQL(reason("Interval", ""))
    return _add_days(reader, reader.read(node.this), _days(reader, amount), False)


RULES: dict[type[exp.Expr], Rule] = {
    exp.Extract: (("this", "expression"), _extract),
    exp.Year: simple_rule(Operation.YEAR),
    exp.Quarter: simple_rule(Operation.QUARTER),
    exp.Month: simple_rule(Operation.MONTH),
    exp.Day: simple_rule(Operation.DAY),
    exp.DayOfMonth: simple_rule(Operation.DAY),
    exp.DayOfWeekIso: simple_rule(Operation.WEEKDAY),
    exp.Hour: simple_rule(Operation.HOUR),
    exp.Minute: simple_rule(Operation.MINUTE),
    exp.TimestampTrunc: (("this", "unit"), _truncate),
    exp.DateTrunc: (("this", "unit"), _truncate),
    exp.DateDiff: (("this", "expression", "unit", "date_part_boundary"), _difference),
    exp.DateAdd: (("this", "expression"), _date_add),
    exp.Date: (("this",), _to_date),
}
