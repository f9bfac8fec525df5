"""The only way to make an expression: types are checked, implicit casts inserted, and ranges carried along.

Numbers mix as reals, dates mix with times as times, and a text literal beside a date is read as a date. Nothing else is
converted silently; what does not fit is refused with what to write instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, time

from discreet.errors import UnsupportedSQL
from discreet.frames import Type
from discreet.query.expression import ranges
from discreet.query.expression.expression import (
    PARTS_OF_DAYS,
    TRUNCATED_DAYS,
    Apply,
    Column,
    Expression,
    Interval,
    Literal,
    Operation,
    advice,
)
from discreet.query.expression.literals import WORDS, is_null, literal, read_day

__all__ = ["apply", "cast_implicitly", "column", "is_null", "literal"]

MOST_DIGITS = 15

_Arguments = tuple[Expression, ...]
_Rule = Callable[[Operation, _Arguments], tuple[Type, _Arguments]]
_DAYS = (Type.DATE, Type.TIMESTAMP)
_CASTS: Mapping[Type, tuple[Type, ...]] = {
    Type.BOOLEAN: (Type.BOOLEAN, Type.INTEGER, Type.TEXT),
    Type.INTEGER: (Type.INTEGER, Type.REAL, Type.TEXT),
    Type.REAL: (Type.REAL, Type.INTEGER),
    Type.TEXT: (Type.TEXT, Type.INTEGER, Type.REAL, Type.DATE, Type.TIMESTAMP),
    Type.DATE: (Type.DATE, Type.TIMESTAMP, Type.TEXT),
    Type.TIMESTAMP: (Type.TIMESTAMP, Type.DATE),
}
_REMEDIES: Mapping[tuple[Type, Type], str] = {
    (Type.REAL, Type.TEXT): "round it to a whole number first: CAST(CAST(x AS INTEGER) AS TEXT)",
    (Type.TIMESTAMP, Type.TEXT): "write CAST(CAST(x AS DATE) AS TEXT)",
    (Type.INTEGER, Type.BOOLEAN): "write x <> 0",
    (Type.REAL, Type.BOOLEAN): "write x <> 0",
    (Type.TEXT, Type.BOOLEAN): "write x = 'true'",
    (Type.BOOLEAN, Type.REAL): "write CASE WHEN x THEN 1.0 ELSE 0.0 END",
}


def column(name: str, type: Type, interval: Interval | None = None) -> Column:
    """Return a column of the rows, with the range that the policy declares for it.

    >>> column("age", Type.INTEGER).name
    'age'
    """
    return Column(type, interval, name)


def apply(operation: Operation, *arguments: Expression, type: Type | None = None) -> Apply:
    """Return the operation on these arguments; `type=` says what CAST casts to.

    Raises:
        UnsupportedSQL: where the number of arguments or their types do not fit; the message says what to write.

    >>> age = column("age", Type.INTEGER, ranges.interval_of(40))
    >>> half = apply(Operation.DIVIDE, age, literal(2))
    >>> half.type, half.interval
    (Type.REAL, (Fraction(20, 1), Fraction(20, 1)))
    """
    if operation is Operation.CAST:
        return _explicit_cast(arguments, type)
    result, fitted = _RULES[operation](operation, arguments)
    return _make(operation, result, fitted)


def _make(operation: Operation, type: Type, arguments: _Arguments) -> Apply:
    interval = ranges.interval(operation, type, arguments, [argument.interval for argument in arguments])
    return Apply(type, interval, operation, arguments)


def cast_implicitly(
    operation: Operation, expression: Expression, type: Type, *, advised: Type | None = None
) -> Expression:
    """Return the expression as one of the type, if that conversion needs no word of the analyst.

    `advised` is the type that a refusal names, where that is a wider one.
    """
    if expression.type is type and not is_null(expression):
        return expression
    if is_null(expression):
        return Literal(type, None, None)
    pair = expression.type, type
    if isinstance(expression, Literal):
        if pair == (Type.INTEGER, Type.REAL):
            return literal(float(expression.value))  # type: ignore[arg-type]
        if expression.type is Type.TEXT and type in _DAYS:
            return literal(read_day(str(expression.value), type))
        if pair == (Type.DATE, Type.TIMESTAMP):
            return literal(datetime.combine(expression.value, time()))  # type: ignore[arg-type]
    if pair in ((Type.INTEGER, Type.REAL), (Type.DATE, Type.TIMESTAMP)):
        return _make(Operation.CAST, type, (expression,))
    wider = advised or type
    hint = advice(_hint(expression.type, wider), [expression], wider)
    raise UnsupportedSQL(f"{operation.value} needs {WORDS[wider]} here and was given {WORDS[expression.type]}: {hint}")


def _hint(given: Type, wanted: Type) -> str:
    if wanted is Type.INTEGER and given is Type.REAL:
        return "write FLOOR(x), or CAST(x AS INTEGER), which rounds"
    if wanted is Type.BOOLEAN:
        return _REMEDIES.get((given, wanted), "write a comparison")
    if given is Type.BOOLEAN and wanted.numeric:
        return "write CASE WHEN x THEN 1 ELSE 0 END"
    if wanted in _CASTS[given]:
        return f"write CAST(x AS {wanted.name})"
    if wanted is Type.TEXT and (given, wanted) in _REMEDIES:
        return _REMEDIES[given, wanted]
    return "another operation is needed"


def _explicit_cast(arguments: _Arguments, type: Type | None) -> Apply:
    if type is None:
        raise UnsupportedSQL("CAST needs the type to cast to: BOOLEAN, INTEGER, REAL, TEXT, DATE or TIMESTAMP")
    (argument,) = _counted(Operation.CAST, arguments, 1, 1)
    if is_null(argument):
        argument = Literal(type, None, None)
    if type not in _CASTS[argument.type]:
        remedy = _REMEDIES.get((argument.type, type), "there is no such conversion")
        raise UnsupportedSQL(f"{WORDS[argument.type]} cannot be cast to {type.name}: {remedy}")
    return _make(Operation.CAST, type, (argument,))


def _counted(operation: Operation, arguments: _Arguments, least: int, most: int | None) -> _Arguments:
    if len(arguments) < least or (most is not None and len(arguments) > most):
        wanted = f"{least}" if least == most else (f"{least} or more" if most is None else f"{least} to {most}")
        raise UnsupportedSQL(f"{operation.value} takes {wanted} arguments and was given {len(arguments)}")
    return arguments


def _common(operation: Operation, arguments: Sequence[Expression]) -> Type:
    """Return the one type that all arguments can have."""
    kinds = {argument.type for argument in arguments if not is_null(argument)}
    days = kinds.intersection(_DAYS)
    if days and Type.TEXT in kinds:
        texts = [argument for argument in arguments if argument.type is Type.TEXT and not is_null(argument)]
        if all(isinstance(argument, Literal) for argument in texts):
            kinds.discard(Type.TEXT)
            if any(len(str(argument.value)) > 10 for argument in texts if isinstance(argument, Literal)):
                kinds.add(Type.TIMESTAMP)
    if len(kinds) <= 1:
        return next(iter(kinds), arguments[0].type)
    if kinds == {Type.INTEGER, Type.REAL}:
        return Type.REAL
    if kinds == set(_DAYS):
        return Type.TIMESTAMP
    one, other = sorted(kinds, key=lambda kind: kind.name)[:2]
    hint = "write CASE WHEN x THEN 1 ELSE 0 END" if Type.BOOLEAN in kinds else "CAST one to the type of the other"
    texts = [argument for argument in arguments if argument.type is Type.TEXT]
    if Type.TEXT in kinds:
        wanted = other if one is Type.TEXT else one
        hint = advice(hint, texts, Type.REAL if wanted.numeric else wanted)
    raise UnsupportedSQL(f"{operation.value} cannot mix {WORDS[one]} with {WORDS[other]}: {hint}")


def _unified(operation: Operation, arguments: Sequence[Expression]) -> tuple[Type, _Arguments]:
    type = _common(operation, arguments)
    return type, tuple(cast_implicitly(operation, argument, type) for argument in arguments)


def _arithmetic(least: int, most: int, *, integer: bool = True, real: bool = True, result: Type | None = None) -> _Rule:
    """Return the rule of an operation on numbers, of one common type."""

    def rule(operation: Operation, arguments: _Arguments) -> tuple[Type, _Arguments]:
        _counted(operation, arguments, least, most)
        kinds = {argument.type for argument in arguments if not is_null(argument)}
        if kinds.intersection(_DAYS):
            hint = "between dates write DATE_DIFF('day', a, b), and to move a date write x + INTERVAL 7 DAY"
            raise UnsupportedSQL(f"{operation.value} works on numbers: {advice(hint, arguments, Type.DATE)}")
        type = Type.REAL if not integer or (real and Type.REAL in kinds) else Type.INTEGER
        advised = Type.REAL if real else Type.INTEGER
        fitted = tuple(
            cast_implicitly(operation, argument, type, advised=advised if argument.type is Type.TEXT else None)
            for argument in arguments
        )
        return result or type, fitted

    return rule


def _fixed(result: Type, *wanted: Type) -> _Rule:
    """Return the rule of an operation whose arguments have given types."""

    def rule(operation: Operation, arguments: _Arguments) -> tuple[Type, _Arguments]:
        _counted(operation, arguments, len(wanted), len(wanted))
        pairs = zip(arguments, wanted, strict=True)
        return result, tuple(cast_implicitly(operation, argument, type) for argument, type in pairs)

    return rule


def _alike(most: int | None, *, result: Type | None = None) -> _Rule:
    """Return the rule of an operation on arguments of one type, from two on; the result has it if none is given."""

    def rule(operation: Operation, arguments: _Arguments) -> tuple[Type, _Arguments]:
        type, fitted = _unified(operation, _counted(operation, arguments, 2, most))
        return result or type, fitted

    return rule


def _logical(operation: Operation, arguments: _Arguments) -> tuple[Type, _Arguments]:
    _counted(operation, arguments, 2, None)
    return Type.BOOLEAN, tuple(cast_implicitly(operation, argument, Type.BOOLEAN) for argument in arguments)


def _anything(operation: Operation, arguments: _Arguments) -> tuple[Type, _Arguments]:
    return Type.BOOLEAN, _counted(operation, arguments, 1, 1)


def _membership(operation: Operation, arguments: _Arguments) -> tuple[Type, _Arguments]:
    _counted(operation, arguments, 2, None)
    if not all(isinstance(argument, Literal) for argument in arguments[1:]):
        raise UnsupportedSQL("IN takes a list of constants: write x = y OR x = z for anything else")
    if any(is_null(argument) for argument in arguments[1:]):
        raise UnsupportedSQL("IN (..., NULL) is never false: leave NULL out, and add OR x IS NULL if it is meant")
    return Type.BOOLEAN, _unified(operation, arguments)[1]


def _like(operation: Operation, arguments: _Arguments) -> tuple[Type, _Arguments]:
    result, fitted = _fixed(Type.BOOLEAN, Type.TEXT, Type.TEXT)(operation, arguments)
    if not isinstance(fitted[1], Literal) or fitted[1].value is None:
        raise UnsupportedSQL("the pattern of LIKE must be a constant text with % and _")
    return result, fitted


def _case(operation: Operation, arguments: _Arguments) -> tuple[Type, _Arguments]:
    if len(arguments) < 3 or len(arguments) % 2 == 0:
        raise UnsupportedSQL("CASE is written CASE WHEN condition THEN result ... ELSE result END")
    chosen = [*range(1, len(arguments), 2), len(arguments) - 1]
    type, results = _unified(operation, [arguments[index] for index in chosen])
    fitted = [cast_implicitly(operation, argument, Type.BOOLEAN) for argument in arguments[:-1:2]]
    interleaved = [part for pair in zip(fitted, results[:-1], strict=True) for part in pair]
    return type, (*interleaved, results[-1])


def _clamp(operation: Operation, arguments: _Arguments) -> tuple[Type, _Arguments]:
    result, fitted = _arithmetic(3, 3)(operation, arguments)
    low, high = (ranges.interval_of(bound.value) if isinstance(bound, Literal) else None for bound in fitted[1:])
    if low is None or high is None or low[0] > high[0]:
        raise UnsupportedSQL("CLAMP takes a value and two constants, low <= high: CLAMP(x, 0, 100)")
    return result, fitted


def _whole_literal(operation: Operation, argument: Expression, low: int, high: int) -> None:
    value = argument.value if isinstance(argument, Literal) else None
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise UnsupportedSQL(f"{operation.value} needs a whole constant from {low} to {high} there")


def _round(operation: Operation, arguments: _Arguments) -> tuple[Type, _Arguments]:
    _counted(operation, arguments, 1, 2)
    digits = arguments[1] if len(arguments) == 2 else literal(0)
    _whole_literal(operation, digits, 0, MOST_DIGITS)
    type, (value,) = _arithmetic(1, 1)(operation, arguments[:1])
    whole = isinstance(digits, Literal) and digits.value == 0
    return (Type.INTEGER if whole else type), (value, digits)


def _substring(operation: Operation, arguments: _Arguments) -> tuple[Type, _Arguments]:
    _counted(operation, arguments, 3, 3)
    _whole_literal(operation, arguments[1], 1, 1_000_000)
    _whole_literal(operation, arguments[2], 0, 1_000_000)
    return Type.TEXT, (cast_implicitly(operation, arguments[0], Type.TEXT), *arguments[1:])


def _calendar(*kinds: Type, result: Type | None = None) -> _Rule:
    """Return the rule of a part of a date or a time, or of its truncation, which keeps the type."""

    def rule(operation: Operation, arguments: _Arguments) -> tuple[Type, _Arguments]:
        (argument,) = _counted(operation, arguments, 1, 1)
        if is_null(argument):
            argument = Literal(kinds[0], None, None)
        if argument.type not in kinds:
            wanted = " or ".join(WORDS[kind] for kind in kinds)
            hint = f"write CAST(x AS {kinds[-1].name}), or {kinds[-1].name} before a constant"
            raise UnsupportedSQL(
                f"{operation.value} needs {wanted} and was given {WORDS[argument.type]}: "
                f"{advice(hint, [argument], *kinds)}"
            )
        return result or argument.type, (argument,)

    return rule


def _as_date(operation: Operation, argument: Expression) -> Expression:
    if argument.type is Type.TIMESTAMP and not is_null(argument):
        return _make(Operation.CAST, Type.DATE, (argument,))
    return cast_implicitly(operation, argument, Type.DATE)


def _days_between(operation: Operation, arguments: _Arguments) -> tuple[Type, _Arguments]:
    _counted(operation, arguments, 2, 2)
    return Type.INTEGER, tuple(_as_date(operation, argument) for argument in arguments)


def _add_days(operation: Operation, arguments: _Arguments) -> tuple[Type, _Arguments]:
    day, number = _counted(operation, arguments, 2, 2)
    if day.type is not Type.TIMESTAMP or is_null(day):
        day = cast_implicitly(operation, day, Type.DATE)
    return day.type, (day, cast_implicitly(operation, number, Type.INTEGER))


_RULES: Mapping[Operation, _Rule] = {
    **dict.fromkeys((Operation.ADD, Operation.SUBTRACT, Operation.MULTIPLY), _arithmetic(2, 2)),
    **dict.fromkeys((Operation.DIVIDE, Operation.POWER), _arithmetic(2, 2, integer=False)),
    **dict.fromkeys(
        (
            Operation.FLOOR_DIVIDE,
            Operation.MODULO,
            Operation.BIT_AND,
            Operation.BIT_OR,
            Operation.BIT_XOR,
            Operation.SHIFT_LEFT,
            Operation.SHIFT_RIGHT,
        ),
        _arithmetic(2, 2, real=False),
    ),
    **dict.fromkeys((Operation.NEGATE, Operation.ABS), _arithmetic(1, 1)),
    **dict.fromkeys((Operation.BIT_NOT, Operation.BIT_COUNT), _arithmetic(1, 1, real=False)),
    **dict.fromkeys(
        (Operation.EQUAL, Operation.UNEQUAL, Operation.LESS, Operation.AT_MOST, Operation.GREATER, Operation.AT_LEAST),
        _alike(2, result=Type.BOOLEAN),
    ),
    **dict.fromkeys((Operation.AND, Operation.OR), _logical),
    Operation.NOT: _fixed(Type.BOOLEAN, Type.BOOLEAN),
    Operation.IS_NULL: _anything,
    Operation.IN: _membership,
    Operation.LIKE: _like,
    Operation.CASE: _case,
    **dict.fromkeys((Operation.COALESCE, Operation.GREATEST, Operation.LEAST), _alike(None)),
    Operation.NULLIF: _alike(2),
    Operation.CLAMP: _clamp,
    **dict.fromkeys((Operation.SIGN, Operation.FLOOR, Operation.CEIL), _arithmetic(1, 1, result=Type.INTEGER)),
    Operation.ROUND: _round,
    **dict.fromkeys((Operation.SQRT, Operation.LN, Operation.LOG10, Operation.EXP), _arithmetic(1, 1, integer=False)),
    **dict.fromkeys((Operation.LOWER, Operation.UPPER, Operation.TRIM), _fixed(Type.TEXT, Type.TEXT)),
    Operation.LENGTH: _fixed(Type.INTEGER, Type.TEXT),
    Operation.SUBSTRING: _substring,
    Operation.CONCAT: _fixed(Type.TEXT, Type.TEXT, Type.TEXT),
    **dict.fromkeys(PARTS_OF_DAYS, _calendar(Type.DATE, Type.TIMESTAMP, result=Type.INTEGER)),
    **dict.fromkeys((Operation.HOUR, Operation.MINUTE), _calendar(Type.TIMESTAMP, result=Type.INTEGER)),
    **dict.fromkeys(TRUNCATED_DAYS, _calendar(Type.DATE, Type.TIMESTAMP)),
    Operation.TRUNCATE_HOUR: _calendar(Type.TIMESTAMP),
    Operation.DAYS_BETWEEN: _days_between,
    **dict.fromkeys((Operation.ADD_DAYS, Operation.ADD_MONTHS), _add_days),
}
