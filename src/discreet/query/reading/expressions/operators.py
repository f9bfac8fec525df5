"""Operators, literals, CASE and casts of SQL, one rule a node."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlglot import exp

from discreet.errors import UnsupportedSQL
from discreet.query.expression import Expression, Literal, Operation, Type, typing_rules
from discreet.query.reading.parse import only, shown

if TYPE_CHECKING:
    from discreet.query.reading.expressions import Reader

Rule = tuple[tuple[str, ...], "Callable[[Reader, exp.Expr], Expression]"]

_LARGEST_INTEGER = 2**63 - 1
_LONGEST_INTEGER = 40
_NUMBER = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,6})?")
_TIMES = (Type.DATE, Type.TIMESTAMP)
BINARY: dict[type[exp.Expr], Operation] = {
    exp.Add: Operation.ADD,
    exp.Sub: Operation.SUBTRACT,
    exp.Mul: Operation.MULTIPLY,
    exp.Div: Operation.DIVIDE,
    exp.IntDiv: Operation.FLOOR_DIVIDE,
    exp.Mod: Operation.MODULO,
    exp.Pow: Operation.POWER,
    exp.BitwiseAnd: Operation.BIT_AND,
    exp.BitwiseOr: Operation.BIT_OR,
    exp.BitwiseXor: Operation.BIT_XOR,
    exp.BitwiseLeftShift: Operation.SHIFT_LEFT,
    exp.BitwiseRightShift: Operation.SHIFT_RIGHT,
    exp.EQ: Operation.EQUAL,
    exp.NEQ: Operation.UNEQUAL,
    exp.LT: Operation.LESS,
    exp.LTE: Operation.AT_MOST,
    exp.GT: Operation.GREATER,
    exp.GTE: Operation.AT_LEAST,
    exp.And: Operation.AND,
    exp.Or: Operation.OR,
    exp.DPipe: Operation.CONCAT,
}

CAST_TYPES: dict[str, Type] = {
    "BOOLEAN": Type.BOOLEAN,
    "INT": Type.INTEGER,
    "BIGINT": Type.INTEGER,
    "DOUBLE": Type.REAL,
    "FLOAT": Type.REAL,
    "TEXT": Type.TEXT,
    "VARCHAR": Type.TEXT,
    "DATE": Type.DATE,
    "TIMESTAMP": Type.TIMESTAMP,
    "TIMESTAMPNTZ": Type.TIMESTAMP,
    "DATETIME": Type.TIMESTAMP,
}


def number(text: str) -> int | float:
    """Return a literal number; integers have 64 bits."""
    if _NUMBER.fullmatch(text) is None:
        raise UnsupportedSQL(f"{shown(text)!r} is not a number. Write numbers in decimal, such as 31, 0.5 or 1e3.")
    if not text.isdecimal():
        value = float(text)
        if math.isinf(value):
            raise UnsupportedSQL(f"{shown(text)} is too large for a number. The largest is about 1.8e308.")
        return value
    if len(text) > _LONGEST_INTEGER or int(text) > _LARGEST_INTEGER:
        raise UnsupportedSQL(f"{shown(text)} does not fit into an integer of 64 bits. Write it with a point: 1.0e20.")
    return int(text)


def simple_rule(operation: Operation) -> Rule:
    """Return the rule for an operation on one argument."""
    return (("this",), lambda reader, node: reader.apply(operation, reader.read(node.this)))


def _constant(_reader: Reader, node: exp.Expr) -> Expression:
    """Read a number, a text, a truth value or NULL."""
    if isinstance(node, exp.Null):
        return typing_rules.literal(None)
    if isinstance(node, exp.Boolean):
        return typing_rules.literal(bool(node.this))
    text = str(node.this)
    return typing_rules.literal(text if node.args.get("is_string") else number(text))


def _negative(reader: Reader, node: exp.Expr) -> Expression:
    """Read a negative number as one literal, anything else as a negation."""
    inner = node.this
    while isinstance(inner, exp.Paren):
        inner = inner.this
    if isinstance(inner, exp.Literal) and not inner.is_string:
        return typing_rules.literal(-number(str(inner.this)))
    return reader.apply(Operation.NEGATE, reader.read(inner))


def _is(reader: Reader, node: exp.Expr) -> Expression:
    """Read IS NULL, IS TRUE, IS FALSE."""
    value, what = reader.read(node.this), node.args["expression"]
    if isinstance(what, exp.Null):
        return reader.apply(Operation.IS_NULL, value)
    if isinstance(what, exp.Boolean):
        held = value if what.this else reader.apply(Operation.NOT, value)
        return reader.apply(Operation.COALESCE, held, typing_rules.literal(False))
    raise UnsupportedSQL(f"{shown(node)!r} is not understood. IS takes NULL, TRUE, FALSE or DISTINCT FROM.")


def _same(reader: Reader, node: exp.Expr) -> Expression:
    """Read IS NOT DISTINCT FROM: equal, or both NULL."""
    left, right = reader.read(node.this), reader.read(node.args["expression"])
    both = reader.apply(Operation.AND, reader.apply(Operation.IS_NULL, left), reader.apply(Operation.IS_NULL, right))
    same = reader.apply(Operation.COALESCE, reader.apply(Operation.EQUAL, left, right), both)
    return same if isinstance(node, exp.NullSafeEQ) else reader.apply(Operation.NOT, same)


def _in(reader: Reader, node: exp.Expr) -> Expression:
    """Read IN with a list of literals."""
    value = reader.read(node.this)
    options: list[Expression] = []
    for item in node.expressions:
        option = reader.read(item)
        if not isinstance(option, Literal) or option.value is None:
            raise UnsupportedSQL(f"IN takes a list of constants, and {shown(item)!r} is none. Write x = a OR x = b.")
        options.append(option)
    if not options:
        raise UnsupportedSQL("IN needs at least one constant in its list. Write x IN (1, 2, 3).")
    return reader.apply(Operation.IN, value, *options)


def _between(reader: Reader, node: exp.Expr) -> Expression:
    """Read BETWEEN as two comparisons."""
    value = reader.read(node.this)
    low, high = reader.read(node.args["low"]), reader.read(node.args["high"])
    return reader.apply(
        Operation.AND,
        reader.apply(Operation.AT_LEAST, value, low),
        reader.apply(Operation.AT_MOST, value, high),
    )


def _like(reader: Reader, node: exp.Expr) -> Expression:
    """Read LIKE with a literal pattern."""
    pattern = reader.read(node.args["expression"])
    if not isinstance(pattern, Literal) or not isinstance(pattern.value, str):
        raise UnsupportedSQL("The pattern of LIKE is a constant text of letters, % and _. Write x LIKE 'a%'.")
    if "\\" in pattern.value:
        raise UnsupportedSQL("A backslash in LIKE differs between databases. Leave it out: _ stands for any sign.")
    like = reader.apply(Operation.LIKE, reader.read(node.this), pattern)
    return reader.apply(Operation.NOT, like) if node.args.get("negate") else like


def _case(reader: Reader, node: exp.Expr) -> Expression:
    """Read both forms of CASE."""
    subject = reader.read(node.this) if node.this is not None else None
    parts: list[Expression] = []
    for branch in node.args["ifs"]:
        only(branch, "this", "true")
        if subject is None:
            parts.append(reader.condition(branch.this))
        else:
            parts.append(reader.apply(Operation.EQUAL, subject, reader.read(branch.this)))
        parts.append(reader.read(branch.args["true"]))
    default = node.args.get("default")
    otherwise = reader.read(default) if default is not None else typing_rules.literal(None)
    return reader.apply(Operation.CASE, *parts, otherwise)


def _if(reader: Reader, node: exp.Expr) -> Expression:
    """Read IF(condition, then, otherwise)."""
    default = node.args.get("false")
    otherwise = reader.read(default) if default is not None else typing_rules.literal(None)
    return reader.apply(Operation.CASE, reader.condition(node.this), reader.read(node.args["true"]), otherwise)


def cast_type(node: exp.Expr) -> Type:
    """Return the type that a CAST names."""
    name = node.this.name if hasattr(node.this, "name") else str(node.this)
    if node.args.get("expressions") or node.args.get("nested") or name not in CAST_TYPES:
        raise UnsupportedSQL(
            f"The type {shown(node)} is not understood. Write BOOLEAN, BIGINT, DOUBLE, TEXT, DATE or TIMESTAMP."
        )
    return CAST_TYPES[name]


def cast_to(reader: Reader, value: Expression, target: Type) -> Expression:
    """Return a value as one of another type; a constant text beside a date must spell one."""
    if target in _TIMES and isinstance(value, Literal) and isinstance(value.value, str):
        return typing_rules.cast_implicitly(Operation.CAST, value, target)
    return value if value.type is target else reader.apply(Operation.CAST, value, type=target)


def _cast(reader: Reader, node: exp.Expr) -> Expression:
    """Read CAST, ::, TRY_CAST and typed literals; what cannot be cast is NULL in all of them."""
    return cast_to(reader, reader.read(node.this), cast_type(node.args["to"]))


RULES: dict[type[exp.Expr], Rule] = {
    exp.Column: (("this", "table"), lambda reader, node: reader.column(node)),
    exp.Literal: (("this", "is_string"), _constant),
    exp.Boolean: (("this",), _constant),
    exp.Null: ((), _constant),
    exp.Neg: (("this",), _negative),
    exp.Not: simple_rule(Operation.NOT),
    exp.BitwiseNot: simple_rule(Operation.BIT_NOT),
    exp.Is: (("this", "expression"), _is),
    exp.NullSafeEQ: (("this", "expression"), _same),
    exp.NullSafeNEQ: (("this", "expression"), _same),
    exp.In: (("this", "expressions"), _in),
    exp.Between: (("this", "low", "high"), _between),
    exp.Like: (("this", "expression", "negate"), _like),
    exp.Case: (("this", "ifs", "default"), _case),
    exp.If: (("this", "true", "false"), _if),
    exp.Cast: (("this", "to"), _cast),
    exp.TryCast: (("this", "to", "safe"), _cast),
}
