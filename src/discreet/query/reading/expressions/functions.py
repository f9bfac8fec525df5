"""Functions of SQL, one rule each: numbers, texts, CLAMP and BIN."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from discreet.errors import QueryRefused, UnknownName, UnsupportedSQL
from discreet.query.expression import Expression, Literal, Operation, Type, typing_rules
from discreet.query.reading.expressions.dates import date_part
from discreet.query.reading.expressions.operators import Rule, simple_rule
from discreet.query.reading.parse import shown
from discreet.query.reading.refusals import FUNCTIONS, UNDERSTOOD
from discreet.query.reading.scope import did_you_mean

if TYPE_CHECKING:
    from discreet.query.reading.expressions import Reader


def _several(operation: Operation) -> Rule:
    """Return the rule for a function of any number of arguments."""
    understood = ("this", "expressions", "ignore_nulls", "is_nvl", "is_null")
    return (
        understood,
        lambda reader, node: reader.apply(operation, *(reader.read(one) for one in (node.this, *node.expressions))),
    )


def _round(reader: Reader, node: exp.Expr) -> Expression:
    """Read ROUND with or without a number of digits."""
    digits = node.args.get("decimals")
    places = reader.read(digits) if digits is not None else typing_rules.literal(0)
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
    first, length = node.args.get("start"), node.args.get("length")
    start = reader.read(first) if first is not None else typing_rules.literal(1)
    many = reader.read(length) if length is not None else typing_rules.literal(1_000_000)
    return reader.apply(Operation.SUBSTRING, reader.read(node.this), start, many)


def _left(reader: Reader, node: exp.Expr) -> Expression:
    """Read LEFT(x, n) as the first n signs."""
    return reader.apply(
        Operation.SUBSTRING, reader.read(node.this), typing_rules.literal(1), reader.read(node.args["expression"])
    )


def _concat(reader: Reader, node: exp.Expr) -> Expression:
    """Read CONCAT, which leaves out NULLs."""
    parts = [reader.apply(Operation.COALESCE, reader.read(one), typing_rules.literal("")) for one in node.expressions]
    if not parts:
        raise UnsupportedSQL("CONCAT needs at least one text. Write CONCAT(a, b) or a || b.")
    whole: Expression = parts[0]
    for one in parts[1:]:
        whole = reader.apply(Operation.CONCAT, whole, one)
    return whole


def _clamp(reader: Reader, arguments: Sequence[exp.Expr]) -> Expression:
    """Read CLAMP(x, low, high)."""
    value, low, high = (reader.read(one) for one in arguments)
    for end in (low, high):
        if not isinstance(end, Literal) or isinstance(end.value, bool) or not isinstance(end.value, int | float):
            raise UnsupportedSQL("The ends of CLAMP are constant numbers. Write CLAMP(x, 0, 100).")
    if not low.value < high.value:  # type: ignore[attr-defined]
        raise UnsupportedSQL("CLAMP needs its lower end below its upper end. Write CLAMP(x, 0, 100).")
    return reader.apply(Operation.CLAMP, value, low, high)


def _bin(reader: Reader, arguments: Sequence[exp.Expr]) -> Expression:
    """Read BIN(x, width): the lower end of the bin of this width that x lies in."""
    value, width = (reader.read(one) for one in arguments)
    if not isinstance(width, Literal) or isinstance(width.value, bool) or not isinstance(width.value, int | float):
        raise UnsupportedSQL("The width of BIN is a constant number. Write BIN(x, 10).")
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
    return date_part(reader, arguments[0].name if isinstance(arguments[0], exp.Literal) else "", arguments[1])


NAMED: dict[str, tuple[int, Callable[[Reader, Sequence[exp.Expr]], Expression]]] = {
    "CLAMP": (3, _clamp),
    "BIN": (2, _bin),
    "BIT_COUNT": (1, _of(Operation.BIT_COUNT)),
    "XOR": (2, _of(Operation.BIT_XOR)),
    "DATE_PART": (2, _part_of),
    "DATEPART": (2, _part_of),
}


def _null_if(reader: Reader, node: exp.Expr) -> Expression:
    """Read NULLIF(x, y)."""
    return reader.apply(Operation.NULLIF, reader.read(node.this), reader.read(node.args["expression"]))


_PLACES = {1: "(x)", 2: "(x, y)", 3: "(x, low, high)"}


def unknown_function(name: str) -> QueryRefused:
    """Return the refusal of a function that has no rule, by its name in capitals."""
    if name in FUNCTIONS:
        return UnsupportedSQL(FUNCTIONS[name])
    known = did_you_mean(name, [*NAMED, "COUNT", "SUM", "AVG", "MEDIAN", "QUANTILE", "FLOOR", "ROUND"])
    hint = known if known.startswith("Did") else UNDERSTOOD
    return UnknownName(f"There is no function {shown(name)!r} here. {hint}")


def _named(reader: Reader, node: exp.Expr) -> Expression:
    """Read a function that sqlglot knows by name alone."""
    name = str(node.this).upper()
    if name not in NAMED:
        raise unknown_function(name)
    count, read = NAMED[name]
    if len(node.expressions) != count:
        raise UnsupportedSQL(f"{name} takes arguments {_PLACES[count]}, and has {len(node.expressions)} of them.")
    return read(reader, node.expressions)


RULES: dict[type[exp.Expr], Rule] = {
    exp.Coalesce: _several(Operation.COALESCE),
    exp.Nullif: (("this", "expression"), _null_if),
    exp.Greatest: _several(Operation.GREATEST),
    exp.Least: _several(Operation.LEAST),
    exp.Abs: simple_rule(Operation.ABS),
    exp.Sign: simple_rule(Operation.SIGN),
    exp.Floor: simple_rule(Operation.FLOOR),
    exp.Ceil: simple_rule(Operation.CEIL),
    exp.Round: (("this", "decimals"), _round),
    exp.Sqrt: simple_rule(Operation.SQRT),
    exp.Ln: simple_rule(Operation.LN),
    exp.Log: (("this", "expression"), _log),
    exp.Exp: simple_rule(Operation.EXP),
    exp.Lower: simple_rule(Operation.LOWER),
    exp.Upper: simple_rule(Operation.UPPER),
    exp.Trim: simple_rule(Operation.TRIM),
    exp.Length: simple_rule(Operation.LENGTH),
    exp.Substring: (("this", "start", "length"), _substring),
    exp.Left: (("this", "expression"), _left),
    exp.Concat: (("expressions", "safe", "coalesce"), _concat),
    exp.Anonymous: (("this", "expressions"), _named),
}
