"""Functions of SQL, one rule each: numbers, texts, CLAMP and BIN, parts of dates, truncation, days between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from sqlglot import exp

from discreet.errors import UnsupportedSQL
from discreet.query.expression import Expression, Literal, Operation, Type, typing_rules
from discreet.query.reading.expressions.reader import (
    NAMED,
    RULES,
    Reader,
    Rule,
    add_days,
    cast_to,
    days_of,
    refused,
    rule_of,
)
from discreet.query.reading.parse import shown
from discreet.query.reading.refusals import reason

_PARTS = {name: Operation[name] for name in ("YEAR", "QUARTER", "MONTH", "DAY", "HOUR", "MINUTE")}
_PARTS |= {"DAYOFMONTH": Operation.DAY, "ISODOW": Operation.WEEKDAY}
_OF_ONE_ARGUMENT: tuple[type[exp.Expr], ...] = (
    *(exp.Abs, exp.Sign, exp.Floor, exp.Ceil, exp.Sqrt, exp.Ln, exp.Exp, exp.Lower),
    *(exp.Upper, exp.Trim, exp.Length, exp.Year, exp.Quarter, exp.Month, exp.Day, exp.Hour, exp.Minute),
)  # called as the operations are
_PLACES = {1: "(x)", 2: "(x, y)", 3: "(x, low, high)"}


def _several(operation: Operation) -> Rule:
    """Return the rule for a function of any number of arguments."""
    understood = ("this", "expressions", "ignore_nulls", "is_nvl", "is_null")
    return (
        understood,
        lambda reader, node: reader.apply(operation, *(reader.read(one) for one in (node.this, *node.expressions))),
    )


def _round(reader: Reader, node: exp.Expr) -> Expression:
    """Read ROUND with or without a number of digits."""
    places = reader.optional(node.args.get("decimals"), 0)
    return reader.apply(Operation.ROUND, reader.read(node.this), places)


def _log(reader: Reader, node: exp.Expr) -> Expression:
    """Read LOG(x) and LOG10(x); LOG is to the base 10, as in DuckDB."""
    argument = node.args.get("expression")
    if argument is None:
        return reader.apply(Operation.LOG10, reader.read(node.this))
    if isinstance(node.this, exp.Literal) and node.this.name == "10":
        return reader.apply(Operation.LOG10, reader.read(argument))
    raise UnsupportedSQL("Logarithms are LN(x) and LOG10(x). For another base write LN(x) / LN(base).")


def _substring(reader: Reader, node: exp.Expr) -> Expression:
    """Read SUBSTRING with literal positions."""
    start = reader.optional(node.args.get("start"), 1)
    length = reader.optional(node.args.get("length"), 1_000_000)
    return reader.apply(Operation.SUBSTRING, reader.read(node.this), start, length)


def _left(reader: Reader, node: exp.Expr) -> Expression:
    """Read LEFT(x, n) as the first n signs."""
    return reader.apply(
        Operation.SUBSTRING, reader.read(node.this), typing_rules.literal(1), reader.read(node.args["expression"])
    )


def _concat(reader: Reader, node: exp.Expr) -> Expression:
    """Read CONCAT, which leaves out NULLs."""
    read = [(one, reader.read(one)) for one in node.expressions]
    if not read:
        raise UnsupportedSQL("CONCAT needs at least one text. Write CONCAT(a, b) or a || b.")
    for one, value in read:
        if value.type is not Type.TEXT:
            words = f"CONCAT joins texts, and {shown(one)!r} is {typing_rules.WORDS[value.type]}."
            raise UnsupportedSQL(f"{words} Write CAST({shown(one)} AS VARCHAR).")
    parts = [reader.apply(Operation.COALESCE, value, typing_rules.literal("")) for _, value in read]
    return reduce(lambda whole, one: reader.apply(Operation.CONCAT, whole, one), parts)


def _clamp(reader: Reader, arguments: Sequence[exp.Expr]) -> Expression:
    """Read CLAMP(x, low, high)."""
    value, low, high = (reader.read(one) for one in arguments)
    for end in (low, high):
        if not isinstance(end, Literal) or isinstance(end.value, bool) or not isinstance(end.value, int | float):
            raise UnsupportedSQL("The ends of CLAMP must be constant numbers. Write CLAMP(x, 0, 100).")
    if not low.value < high.value:  # type: ignore[attr-defined]
        raise UnsupportedSQL("CLAMP needs its lower end below its upper end. Write CLAMP(x, 0, 100).")
    return reader.apply(Operation.CLAMP, value, low, high)


def _bin(reader: Reader, arguments: Sequence[exp.Expr]) -> Expression:
    """Read BIN(x, width): the lower end of the bin of this width that x lies in."""
    value, width = (reader.read(one) for one in arguments)
    if not isinstance(width, Literal) or isinstance(width.value, bool) or not isinstance(width.value, int | float):
        raise UnsupportedSQL("The width of BIN must be a constant number. Write BIN(x, 10).")
    if not width.value > 0:
        raise UnsupportedSQL("The width of BIN must be positive. Write BIN(x, 10).")
    if value.type is Type.INTEGER and width.type is Type.INTEGER:
        number_of_bin = reader.apply(Operation.FLOOR_DIVIDE, value, width)
    else:
        number_of_bin = reader.apply(Operation.FLOOR, reader.apply(Operation.DIVIDE, value, width))
    return reader.apply(Operation.MULTIPLY, number_of_bin, width)


def _of(operation: Operation) -> Callable[[Reader, Sequence[exp.Expr]], Expression]:
    """Return the reading of a function with one argument."""
    return lambda reader, arguments: reader.apply(operation, *(reader.read(one) for one in arguments))


def _part_of(reader: Reader, arguments: Sequence[exp.Expr]) -> Expression:
    """Read DATE_PART('year', x)."""
    return _date_part(reader, arguments[0].name if isinstance(arguments[0], exp.Literal) else "", arguments[1])


def _named(reader: Reader, node: exp.Expr) -> Expression:
    """Read a function that sqlglot knows by name alone."""
    name = str(node.this).upper()
    if name not in NAMED:
        raise refused(node)
    count, read = NAMED[name]
    if len(node.expressions) != count:
        raise UnsupportedSQL(f"{name} takes arguments {_PLACES[count]}, and has {len(node.expressions)} of them.")
    return read(reader, node.expressions)


def _date_part(reader: Reader, part: str, moment_of: exp.Expr) -> Expression:
    """Read EXTRACT and its relatives."""
    operation = _PARTS.get(part.upper().strip())
    if operation is None:
        raise UnsupportedSQL(
            f"{shown(part)!r} is not a part of a date here. Write YEAR, QUARTER, MONTH, DAY, ISODOW, HOUR or MINUTE."
        )
    return reader.apply(operation, reader.read(moment_of))


def _extract(reader: Reader, node: exp.Expr) -> Expression:
    """Read EXTRACT(part FROM x)."""
    return _date_part(reader, node.this.name, node.args["expression"])


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
    return add_days(reader, reader.read(node.this), days_of(reader, amount), False)


NAMED.update(
    {
        "CLAMP": (3, _clamp),
        "BIN": (2, _bin),
        "BIT_COUNT": (1, _of(Operation.BIT_COUNT)),
        "XOR": (2, _of(Operation.BIT_XOR)),
        "DATE_PART": (2, _part_of),
        "DATEPART": (2, _part_of),
    }
)
RULES.update({node: rule_of(Operation[node.__name__.upper()]) for node in _OF_ONE_ARGUMENT})
RULES.update(
    {
        exp.DayOfMonth: rule_of(Operation.DAY),
        exp.DayOfWeekIso: rule_of(Operation.WEEKDAY),
        exp.Coalesce: _several(Operation.COALESCE),
        exp.Nullif: rule_of(Operation.NULLIF, "this", "expression"),
        exp.Greatest: _several(Operation.GREATEST),
        exp.Least: _several(Operation.LEAST),
        exp.Round: (("this", "decimals"), _round),
        exp.Log: (("this", "expression"), _log),
        exp.Substring: (("this", "start", "length"), _substring),
        exp.Left: (("this", "expression"), _left),
        exp.Concat: (("expressions", "safe", "coalesce"), _concat),
        exp.Anonymous: (("this", "expressions"), _named),
        exp.Extract: (("this", "expression"), _extract),
        exp.TimestampTrunc: (("this", "unit"), _truncate),
        exp.DateTrunc: (("this", "unit"), _truncate),
        exp.DateDiff: (("this", "expression", "unit", "date_part_boundary"), _difference),
        exp.DateAdd: (("this", "expression"), _date_add),
        exp.Date: (("this",), _to_date),
    }
)
