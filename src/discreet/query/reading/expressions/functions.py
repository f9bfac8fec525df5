"""Functions of SQL, one rule each: numbers, texts, CLAMP, BIN and WIDTH_BUCKET."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from sqlglot import exp

from discreet.errors import UnsupportedSQL
from discreet.query.expression import Expression, Literal, Operation, Type, typing_rules
from discreet.query.policy import LARGEST_DOMAIN
from discreet.query.reading.expressions.reader import (
    NAMED,
    RULES,
    Reader,
    Rule,
    refused,
    rule_of,
)
from discreet.query.reading.parse import shown

_OF_ONE_ARGUMENT: tuple[type[exp.Expr], ...] = (
    *(exp.Abs, exp.Sign, exp.Floor, exp.Ceil, exp.Sqrt, exp.Ln, exp.Exp, exp.Lower),
    *(exp.Upper, exp.Trim, exp.Length),
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
    """Read CONCAT, which leaves out NULLs and writes whole numbers, conditions and dates as texts."""
    if not node.expressions:
        raise UnsupportedSQL("CONCAT needs at least one text. Write CONCAT(a, b) or a || b.")
    parts = [
        reader.apply(Operation.COALESCE, _as_text(reader, one), typing_rules.literal("")) for one in node.expressions
    ]
    return reduce(lambda whole, one: reader.apply(Operation.CONCAT, whole, one), parts)


def _as_text(reader: Reader, node: exp.Expr) -> Expression:
    """Return an argument of CONCAT as a text."""
    value = reader.read(node)
    if value.type is Type.TEXT:
        return value
    if value.type in (Type.REAL, Type.TIMESTAMP):
        target = "BIGINT" if value.type is Type.REAL else "DATE"
        words = f"CONCAT joins texts, and {shown(node)!r} is {typing_rules.WORDS[value.type]}"
        raise UnsupportedSQL(f"{words}, which has many spellings. Write CAST({shown(node)} AS {target}).")
    return reader.apply(Operation.CAST, value, type=Type.TEXT)


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


def _width_bucket(reader: Reader, node: exp.Expr) -> Expression:
    """Read WIDTH_BUCKET(x, low, high, n): in which of n even parts x lies; 0 below, n + 1 from `high` on."""
    ends = [node.args.get(name) for name in ("min_value", "max_value", "num_buckets")]
    if None in ends:
        raise UnsupportedSQL("WIDTH_BUCKET takes four arguments. Write WIDTH_BUCKET(x, 0, 100, 10).")
    value = reader.read(node.this)
    low, high, number = (reader.read(one) for one in ends if one is not None)
    values = [one.value if isinstance(one, Literal) else None for one in (low, high, number)]
    if any(isinstance(one, bool) or not isinstance(one, int | float) for one in values):
        raise UnsupportedSQL("WIDTH_BUCKET takes constants behind its first argument: WIDTH_BUCKET(x, 0, 100, 10).")
    first, last, parts = (one for one in values if isinstance(one, int | float))
    if not first < last or not isinstance(parts, int) or not 1 <= parts <= LARGEST_DOMAIN - 2:
        raise UnsupportedSQL(
            "WIDTH_BUCKET needs its low end below its high end, and from 1 to 99998 parts: WIDTH_BUCKET(x, 0, 100, 10)."
        )
    above = reader.apply(Operation.MULTIPLY, reader.apply(Operation.SUBTRACT, value, low), number)
    share = reader.apply(Operation.DIVIDE, above, reader.apply(Operation.SUBTRACT, high, low))
    place = reader.apply(Operation.ADD, reader.apply(Operation.FLOOR, share), typing_rules.literal(1))
    inside = reader.apply(Operation.CLAMP, place, typing_rules.literal(1), number)
    below, beyond = reader.apply(Operation.LESS, value, low), reader.apply(Operation.AT_LEAST, value, high)
    outside = typing_rules.literal(0), typing_rules.literal(parts + 1)
    return reader.apply(Operation.CASE, below, outside[0], beyond, outside[1], inside)


def _of(operation: Operation) -> Callable[[Reader, Sequence[exp.Expr]], Expression]:
    """Return the reading of a function with one argument."""
    return lambda reader, arguments: reader.apply(operation, *(reader.read(one) for one in arguments))


def _named(reader: Reader, node: exp.Expr) -> Expression:
    """Read a function that sqlglot knows by name alone."""
    name = str(node.this).upper()
    if name not in NAMED:
        raise refused(node)
    count, read = NAMED[name]
    if len(node.expressions) != count:
        raise UnsupportedSQL(f"{name} takes arguments {_PLACES[count]}, and has {len(node.expressions)} of them.")
    return read(reader, node.expressions)


NAMED.update(
    {
        "CLAMP": (3, _clamp),
        "BIN": (2, _bin),
        "BIT_COUNT": (1, _of(Operation.BIT_COUNT)),
        "XOR": (2, _of(Operation.BIT_XOR)),
    }
)
RULES.update({node: rule_of(Operation[node.__name__.upper()]) for node in _OF_ONE_ARGUMENT})
RULES.update(
    {
        exp.Coalesce: _several(Operation.COALESCE),
        exp.Nullif: rule_of(Operation.NULLIF, "this", "expression"),
        exp.Greatest: _several(Operation.GREATEST),
        exp.Least: _several(Operation.LEAST),
        exp.Round: (("this", "decimals"), _round),
        exp.Log: (("this", "expression"), _log),
        exp.Substring: (("this", "start", "length"), _substring),
        exp.Left: (("this", "expression"), _left),
        exp.Concat: (("expressions", "safe", "coalesce"), _concat),
        exp.WidthBucket: (("this", "min_value", "max_value", "num_buckets"), _width_bucket),
        exp.Anonymous: (("this", "expressions"), _named),
    }
)
