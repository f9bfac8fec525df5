"""What every operation means, slowly and in plain Python: the reference that engines are compared with.

A row maps the names of columns to Python values; None is NULL. Nothing here is shared with what renders or types.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from typing import Any

from discreet.frames import Type
from discreet.query.expression.expression import Apply, Column, Expression, Literal, Operation, Value
from discreet.statistics.columns.fixed_point import FixedPoint

Row = Mapping[str, Any]


def evaluate(expression: Expression, row: Row) -> Any:
    """Return the value of an expression on a row."""
    if isinstance(expression, Column):
        return row[expression.name]
    if isinstance(expression, Literal):
        return expression.value
    assert isinstance(expression, Apply)
    values = [evaluate(argument, row) for argument in expression.arguments]
    if expression.operation in _NULL_AWARE:
        return _NULL_AWARE[expression.operation](values)
    if any(value is None for value in values):
        return None
    if expression.operation is Operation.CAST:
        return cast(values[0], expression.arguments[0].type, expression.type)
    result = _STRICT[expression.operation](*values)
    return finished(result, expression.type)


def finished(result: Any, type: Type) -> Any:
    """Return NULL for an integer beyond 64 bits and for NaN."""
    if type is Type.INTEGER and not -(2**63) <= result < 2**63:
        return None
    if type is Type.REAL and math.isnan(result):
        return None
    return result


def stored(value: Any, type: Type) -> Value:
    """Return how a stored value is read: NaN, wide integers and far dates are NULL."""
    if value is None:
        return None
    if type is Type.REAL:
        return finished(float(value), Type.REAL)
    return finished(value, type) if type is Type.INTEGER else value


def position(value: float | int | None, scale: FixedPoint) -> int | None:
    """Return the step of the grid that a number is clipped and rounded to: as floats, to nearest, halves to even."""
    if value is None:
        return None
    number = float(value)
    low, high = float(scale.start * scale.grid), float(scale.end * scale.grid)
    if number >= high:
        return scale.steps
    if number <= low:
        return 0
    return round(Fraction(number - low) / scale.grid)


def cast(value: Any, given: Type, wanted: Type) -> Any:
    """Return a value of another type, or NULL."""
    if given is wanted:
        return value
    if given is Type.TEXT:
        return _from_text(value, wanted)
    conversions: Mapping[tuple[Type, Type], Callable[[Any], Any]] = {
        (Type.BOOLEAN, Type.INTEGER): int,
        (Type.BOOLEAN, Type.TEXT): lambda truth: "true" if truth else "false",
        (Type.INTEGER, Type.REAL): float,
        (Type.INTEGER, Type.TEXT): str,
        (Type.REAL, Type.INTEGER): lambda number: _whole(number, round),
        (Type.DATE, Type.TIMESTAMP): lambda day: datetime.combine(day, time()),
        (Type.DATE, Type.TEXT): str,
        (Type.TIMESTAMP, Type.DATE): datetime.date,
    }
    return conversions[given, wanted](value)


def _from_text(text: str, wanted: Type) -> Any:
    if wanted is Type.INTEGER:
        return finished(_decimal(text), Type.INTEGER) if re.fullmatch(r"[+-]?[0-9]+", text) else None
    if wanted is Type.REAL:
        return float(text) if re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text) else None
    clock = "" if wanted is Type.DATE else r"([ T][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?)?"
    if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}" + clock, text) is None:
        return None
    year, month, day, *clock_numbers = [int(number) for number in re.findall("[0-9]+", text)]
    microseconds = int(f"{text.partition('.')[2]:0<6}")
    try:
        moment = datetime(year, month, day, *clock_numbers[:3], microsecond=microseconds)  # type: ignore[misc]
    except ValueError:
        return None
    return moment.date() if wanted is Type.DATE else moment


def _decimal(text: str) -> int:
    digits = text.lstrip("+-").lstrip("0")
    size = 1 << 64 if len(digits) > 20 else int(digits or "0")
    return -size if text.startswith("-") else size


def _whole(value: float, function: Callable[[float], int]) -> int | None:
    return None if math.isinf(value) else finished(function(value), Type.INTEGER)


def _half_away(value: float) -> int:
    whole = math.trunc(value)
    return whole + (1 if value > 0 else -1) if abs(value - whole) >= 0.5 else whole


def _divide(one: float, two: float) -> float:
    return math.nan if two == 0 else one / two


def _floor_divide(one: int, two: int) -> int:
    return 2**64 if two == 0 else one // two


def _modulo(one: int, two: int) -> int:
    return 2**64 if two == 0 else one % two


def _shift(one: int, places: int, *, left: bool) -> int:
    if not 0 <= places <= 63:
        return 2**64
    return one << places if left else one >> places


def _logarithm(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda value: function(value) if value > 0 else math.nan


def _exponential(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def _power(base: float, exponent: float) -> float:
    if base == 0 and exponent < 0:
        return math.nan
    try:
        return math.pow(base, exponent)
    except ValueError:
        return math.nan
    except OverflowError:
        return -math.inf if base < 0 and exponent % 2 == 1 else math.inf


def _round(value: float | int, digits: int) -> Any:
    if isinstance(value, int):
        return value
    if digits == 0:
        return 2**64 if math.isinf(value) else _half_away(value)
    return _half_away(value * 10.0**digits) / 10.0**digits if abs(value) < 2.0**52 else value


def _integral(function: Callable[[float], int]) -> Callable[[Any], int]:
    return lambda value: value if isinstance(value, int) else 2**64 if math.isinf(value) else function(value)


def _letters(text: str, *, lower: bool) -> str:
    change = str.lower if lower else str.upper
    return "".join(change(character) if character.isascii() else character for character in text)


def _like(text: str, pattern: str) -> bool:
    pieces = [{"%": ".*", "_": "."}.get(character, re.escape(character)) for character in pattern]
    return re.fullmatch("".join(pieces), text, flags=re.DOTALL) is not None


def _truncate(value: Any, day: date) -> Any:
    return datetime.combine(day, time()) if isinstance(value, datetime) else day


def _day(value: Any) -> date:
    return value.date() if isinstance(value, datetime) else value


def _add_days(value: Any, days: int) -> Any:
    try:
        return value + timedelta(days=days)
    except OverflowError:
        return None


def _add_months(value: Any, months: int) -> Any:
    month = value.year * 12 + value.month - 1 + months
    if not 12 <= month < 120_000:
        return None
    for day in range(value.day, 27, -1):
        try:
            return value.replace(year=month // 12, month=month % 12 + 1, day=day)
        except ValueError:
            continue
    return value.replace(year=month // 12, month=month % 12 + 1)


def _and(values: Sequence[Any]) -> Any:
    return False if any(value is False for value in values) else None if None in values else True


def _or(values: Sequence[Any]) -> Any:
    return True if any(value is True for value in values) else None if None in values else False


def _case(values: Sequence[Any]) -> Any:
    for condition, result in zip(values[:-1:2], values[1::2], strict=True):
        if condition is True:
            return result
    return values[-1]


_NULL_AWARE: Mapping[Operation, Callable[[Sequence[Any]], Any]] = {
    Operation.IS_NULL: lambda values: values[0] is None,
    Operation.AND: _and,
    Operation.OR: _or,
    Operation.CASE: _case,
    Operation.COALESCE: lambda values: next((value for value in values if value is not None), None),
    Operation.NULLIF: lambda values: None if values[0] is not None and values[0] == values[1] else values[0],
}
_STRICT: Mapping[Operation, Callable[..., Any]] = {
    Operation.ADD: lambda one, two: one + two,
    Operation.SUBTRACT: lambda one, two: one - two,
    Operation.MULTIPLY: lambda one, two: one * two,
    Operation.DIVIDE: _divide,
    Operation.FLOOR_DIVIDE: _floor_divide,
    Operation.MODULO: _modulo,
    Operation.NEGATE: lambda value: -value,
    Operation.BIT_AND: lambda one, two: one & two,
    Operation.BIT_OR: lambda one, two: one | two,
    Operation.BIT_XOR: lambda one, two: one ^ two,
    Operation.BIT_NOT: lambda value: ~value,
    Operation.SHIFT_LEFT: lambda one, two: _shift(one, two, left=True),
    Operation.SHIFT_RIGHT: lambda one, two: _shift(one, two, left=False),
    Operation.BIT_COUNT: lambda value: (value % 2**64).bit_count(),
    Operation.EQUAL: lambda one, two: one == two,
    Operation.UNEQUAL: lambda one, two: one != two,
    Operation.LESS: lambda one, two: one < two,
    Operation.AT_MOST: lambda one, two: one <= two,
    Operation.GREATER: lambda one, two: one > two,
    Operation.AT_LEAST: lambda one, two: one >= two,
    Operation.NOT: lambda value: not value,
    Operation.IN: lambda value, *members: value in members,
    Operation.LIKE: _like,
    Operation.GREATEST: max,
    Operation.LEAST: min,
    Operation.CLAMP: lambda value, low, high: min(max(value, low), high),
    Operation.ABS: abs,
    Operation.SIGN: lambda value: (value > 0) - (value < 0),
    Operation.FLOOR: _integral(math.floor),
    Operation.CEIL: _integral(math.ceil),
    Operation.ROUND: _round,
    Operation.SQRT: lambda value: math.sqrt(value) if value >= 0 else math.nan,
    Operation.LN: _logarithm(math.log),
    Operation.LOG10: _logarithm(math.log10),
    Operation.EXP: _exponential,
    Operation.POWER: _power,
    Operation.LOWER: lambda text: _letters(text, lower=True),
    Operation.UPPER: lambda text: _letters(text, lower=False),
    Operation.TRIM: lambda text: text.strip(" "),
    Operation.LENGTH: len,
    Operation.SUBSTRING: lambda text, first, length: text[first - 1 : first - 1 + length],
    Operation.CONCAT: lambda one, two: (one + two)[:65_536],
    Operation.YEAR: lambda value: value.year,
    Operation.QUARTER: lambda value: (value.month + 2) // 3,
    Operation.MONTH: lambda value: value.month,
    Operation.DAY: lambda value: value.day,
    Operation.WEEKDAY: lambda value: value.isoweekday(),
    Operation.HOUR: lambda value: value.hour,
    Operation.MINUTE: lambda value: value.minute,
    Operation.TRUNCATE_YEAR: lambda value: _truncate(value, date(value.year, 1, 1)),
    Operation.TRUNCATE_QUARTER: lambda value: _truncate(value, date(value.year, (value.month - 1) // 3 * 3 + 1, 1)),
    Operation.TRUNCATE_MONTH: lambda value: _truncate(value, date(value.year, value.month, 1)),
    Operation.TRUNCATE_WEEK: lambda value: _truncate(value, _day(value) - timedelta(days=value.weekday())),
    Operation.TRUNCATE_DAY: lambda value: _truncate(value, _day(value)),
    Operation.TRUNCATE_HOUR: lambda value: value.replace(minute=0, second=0, microsecond=0),
    Operation.DAYS_BETWEEN: lambda first, second: (second - first).days,
    Operation.ADD_DAYS: _add_days,
    Operation.ADD_MONTHS: _add_months,
}
