"""Ranges of expressions, from the ranges of their parts: exact, rounded outward where floats round.

The same rules serve twice. On the ranges a policy declares they give the public range of an expression, which whoever
relies on it clips to. On what is certain of any data whatever (a literal, a month, a clamped value, 64 bits) they tell
a renderer where no overflow can happen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.frames import Type
from discreet.query.expression.expression import Expression, Interval, Literal, Operation, Value

SMALLEST_INTEGER = -(1 << 63)
LARGEST_INTEGER = (1 << 63) - 1
WIDEST: Interval = (Fraction(SMALLEST_INTEGER), Fraction(LARGEST_INTEGER))

_Ranges = Sequence[Interval | None]


@dataclass(frozen=True, slots=True)
class _Call:
    type: Type
    arguments: Sequence[Expression]
    ranges: _Ranges


_Rule = Callable[[_Call], Interval | None]


def interval_of(value: Value) -> Interval | None:
    """Return the range of a constant: the number itself, twice.

    >>> interval_of(3)
    (Fraction(3, 1), Fraction(3, 1))
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return Fraction(value), Fraction(value)


def interval(operation: Operation, type: Type, arguments: Sequence[Expression], ranges: _Ranges) -> Interval | None:
    """Return the range of an operation's result where one follows from the ranges of its arguments."""
    if operation in CONSTANT:
        return CONSTANT[operation]
    rule = _RULES.get(operation)
    found = rule(_Call(type, arguments, ranges)) if rule is not None and type.numeric else None
    return None if found is None else _outward(found, type)


def certain(operation: Operation, type: Type, arguments: Sequence[Expression], ranges: _Ranges) -> Interval | None:
    """Return what is true of every result whatever the data: for integers at least that they have 64 bits."""
    found = _CERTAIN.get(operation) or interval(operation, type, arguments, ranges)
    return WIDEST if found is None and type is Type.INTEGER else found


def _outward(range: Interval, type: Type) -> Interval | None:
    """Round the ends as the result is rounded, never inward; drop a range that has no such ends."""
    low, high = range
    if type is Type.INTEGER:
        whole = max(math.ceil(low), SMALLEST_INTEGER), min(math.floor(high), LARGEST_INTEGER)
        return (Fraction(whole[0]), Fraction(whole[1])) if whole[0] <= whole[1] else None
    try:  # rounding is monotone, so no rounded result lies beyond a rounded end
        return min(low, Fraction(float(low))), max(high, Fraction(float(high)))
    except OverflowError:
        return None


def _known(ranges: _Ranges) -> list[Interval] | None:
    known = [range for range in ranges if range is not None]
    return known if len(known) == len(ranges) else None


def _corners(combine: Callable[[Fraction, Fraction], Fraction]) -> _Rule:
    """Return the rule of an operation that is monotone in each argument: its extremes are at the corners."""

    def rule(call: _Call) -> Interval | None:
        known = _known(call.ranges)
        if known is None:
            return None
        (a, b), (c, d) = known
        corners = [combine(x, y) for x in (a, b) for y in (c, d)]
        return min(corners), max(corners)

    return rule


def _of_first(function: Callable[[Fraction, Fraction], tuple[Fraction | int, Fraction | int]]) -> _Rule:
    """Return the rule of a function of the first argument, from its ends to those of the result."""

    def rule(call: _Call) -> Interval | None:
        if call.ranges[0] is None:
            return None
        low, high = function(*call.ranges[0])
        return Fraction(low), Fraction(high)

    return rule


def _monotone(function: Callable[[Fraction], int]) -> _Rule:
    """Return the rule of an increasing function of the first argument."""
    return _of_first(lambda low, high: (function(low), function(high)))


def _absolute(low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    return (Fraction(0) if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))


def _clamp(call: _Call) -> Interval | None:
    value, lower, upper = call.ranges
    if lower is None or upper is None:
        return None
    low, high = lower[0], upper[1]
    if value is None:
        return low, high
    return min(max(value[0], low), high), min(max(value[1], low), high)


def _extreme(choose: Callable[[list[Fraction]], Fraction]) -> _Rule:
    """Return the rule of GREATEST or LEAST."""

    def rule(call: _Call) -> Interval | None:
        known = _known(call.ranges)
        return None if known is None else (choose([low for low, _ in known]), choose([high for _, high in known]))

    return rule


def _union(results: Sequence[Expression], ranges: _Ranges) -> Interval | None:
    """Return the hull of the ranges; a NULL has no value and widens nothing."""
    pairs = zip(results, ranges, strict=True)
    known = _known([range for result, range in pairs if not (isinstance(result, Literal) and result.value is None)])
    return (min(low for low, _ in known), max(high for _, high in known)) if known else None


def _case(call: _Call) -> Interval | None:
    chosen = [*range(1, len(call.arguments), 2), len(call.arguments) - 1]
    return _union([call.arguments[index] for index in chosen], [call.ranges[index] for index in chosen])


def _constant(argument: Expression) -> Fraction | None:
    """Return the value of a literal number."""
    found = interval_of(argument.value) if isinstance(argument, Literal) else None
    return None if found is None else found[0]


def _divide(call: _Call) -> Interval | None:
    first, divisor = call.ranges[0], _constant(call.arguments[1])
    if first is None or not divisor:
        return None
    ends = first[0] / divisor, first[1] / divisor
    return min(ends), max(ends)


def _floor_divide(call: _Call) -> Interval | None:
    found = _divide(call)
    return None if found is None else _span(math.floor(found[0]), math.floor(found[1]))


def _modulo(call: _Call) -> Interval | None:
    first, divisor = call.ranges[0], _constant(call.arguments[1])
    if divisor is None or divisor <= 0:
        return None
    if first is not None and first[0] >= 0 and first[1] < divisor:
        return first
    return Fraction(0), divisor - 1


def _bit_and(call: _Call) -> Interval | None:
    masks = [mask for mask in map(_constant, call.arguments) if mask is not None and mask >= 0]
    return (Fraction(0), min(masks)) if masks else None


def _shift_right(call: _Call) -> Interval | None:
    first, places = call.ranges[0], _constant(call.arguments[1])
    if first is None or places is None or not 0 <= places <= 63:
        return None
    return Fraction(math.floor(first[0]) >> int(places)), Fraction(math.floor(first[1]) >> int(places))


def _sign(value: Fraction) -> int:
    return (value > 0) - (value < 0)


def _round(call: _Call) -> Interval | None:
    first, digits = call.ranges[0], _constant(call.arguments[1])
    if first is None or digits is None:
        return None
    power = 10 ** int(digits)
    low, high = (Fraction(_sign(end) * math.floor(abs(end) * power + Fraction(1, 2)), power) for end in first)
    if digits == 0 or call.arguments[0].type is Type.INTEGER:
        return low, high
    # Product and quotient are rounded floats, which can move a value that lies at a half to the next step.
    return low - Fraction(1, power) - abs(low) / 2**50, high + Fraction(1, power) + abs(high) / 2**50


def _cast(call: _Call) -> Interval | None:
    if call.arguments[0].type is Type.BOOLEAN:
        return Fraction(0), Fraction(1)
    first = call.ranges[0]
    if first is None or call.type is not Type.INTEGER:
        return first
    return Fraction(round(first[0])), Fraction(round(first[1]))


def _span(low: int, high: int) -> Interval:
    return Fraction(low), Fraction(high)


CONSTANT: Mapping[Operation, Interval] = {
    Operation.BIT_COUNT: _span(0, 64),
    Operation.QUARTER: _span(1, 4),
    Operation.MONTH: _span(1, 12),
    Operation.DAY: _span(1, 31),
    Operation.WEEKDAY: _span(1, 7),
    Operation.HOUR: _span(0, 23),
    Operation.MINUTE: _span(0, 59),
}
# True of every row, but too wide to be of use as a public range.
_CERTAIN: Mapping[Operation, Interval] = {
    Operation.YEAR: _span(1, 9999),
    Operation.LENGTH: _span(0, 1 << 32),
    Operation.DAYS_BETWEEN: _span(-3_652_058, 3_652_058),
    Operation.SIGN: _span(-1, 1),
}
_RULES: Mapping[Operation, _Rule] = {
    Operation.ADD: _corners(lambda x, y: x + y),
    Operation.SUBTRACT: _corners(lambda x, y: x - y),
    Operation.MULTIPLY: _corners(lambda x, y: x * y),
    Operation.DIVIDE: _divide,
    Operation.FLOOR_DIVIDE: _floor_divide,
    Operation.MODULO: _modulo,
    Operation.NEGATE: _of_first(lambda low, high: (-high, -low)),
    Operation.BIT_AND: _bit_and,
    Operation.SHIFT_RIGHT: _shift_right,
    Operation.CASE: _case,
    Operation.COALESCE: lambda call: _union(call.arguments, call.ranges),
    Operation.NULLIF: lambda call: call.ranges[0],
    Operation.GREATEST: _extreme(max),
    Operation.LEAST: _extreme(min),
    Operation.CLAMP: _clamp,
    Operation.ABS: _of_first(_absolute),
    Operation.SIGN: _monotone(_sign),
    Operation.FLOOR: _monotone(math.floor),
    Operation.CEIL: _monotone(math.ceil),
    Operation.ROUND: _round,
    Operation.CAST: _cast,
}
