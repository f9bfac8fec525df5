"""One expression of SQL as one of ours: operators, literals, CASE and casts; what has no rule is refused.

Every kind of node has one rule in `RULES`, and every function that sqlglot knows by name alone one in `NAMED`;
`functions` and `dates` add theirs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce

from sqlglot import exp

from discreet.errors import QueryRefused, UnknownName, UnsupportedSQL
from discreet.query.expression import (
    Expression,
    Literal,
    Operation,
    Type,
    Value,
    advice,
    typing_rules,
)
from discreet.query.reading.expressions.intervals import TIMES, is_interval, moved, sum_or_difference
from discreet.query.reading.parse import bare, continues, did_you_mean, fold, only, shown, too_deep
from discreet.query.reading.refusals import FUNCTIONS, UNDERSTOOD, reason

LARGEST_EXPRESSION = 20_000
LONG_CHAIN = 32
DEEPEST_EXPRESSION = 130
_SUMS = {Operation.ADD: Operation.SUBTRACT, Operation.SUBTRACT: Operation.ADD}
_LARGEST_INTEGER = 2**63 - 1
_LONGEST_INTEGER = 40
_NUMBER = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,6})?")
_BINARY: dict[type[exp.Expr], Operation] = {
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

_CAST_TYPES: dict[str, Type] = {
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


@dataclass(slots=True)
class Reader:
    """Reads expressions in one place of a query.

    `resolve` says what a column stands for there; `special` may take any node before the rules below do.
    """

    resolve: Callable[[exp.Column], Expression]
    special: Callable[[exp.Expr], Expression | None] = lambda _node: None
    _sizes: dict[int, tuple[Expression, int, int]] = field(default_factory=dict, init=False)

    def read(self, node: exp.Expr) -> Expression:
        """Return the expression, or refuse."""
        while isinstance(node, exp.Paren):
            only(node, "this")
            node = node.this
        taken = self.special(node)
        if taken is not None:
            return taken
        if type(node) in _BINARY:
            return self._binary(node)
        rule = RULES.get(type(node))
        if rule is None:
            raise refused(node)
        understood, read = rule
        only(node, *understood)
        return read(self, node)

    def condition(self, node: exp.Expr) -> Expression:
        """Return an expression that must be true or false."""
        found = self.read(node)
        if found.type is not Type.BOOLEAN:
            hint = advice("compare it with something, such as x > 0 or x = 'a'", [found], Type.BOOLEAN)
            raise UnsupportedSQL(f"{shown(node)!r} is not a condition: {hint}.")
        return found

    def clause(self, node: exp.Expr) -> Expression:
        """Return the condition of WHERE or HAVING."""
        only(node, "this")
        return self.condition(node.this)

    def optional(self, node: exp.Expr | None, otherwise: Value) -> Expression:
        """Return the expression, or a constant where none is written."""
        return self.read(node) if node is not None else typing_rules.literal(otherwise)

    def apply(self, operation: Operation, *arguments: Expression, type: Type | None = None) -> Expression:
        """Apply an operation, within the limits on the size and the depth of an expression.

        Shared parts count as often as they are written out: CASE x WHEN ... repeats x for every branch.
        """
        below = [self._size(argument) for argument in arguments]
        size, depth = 1 + sum(one for one, _ in below), 1 + max((one for _, one in below), default=0)
        if size > LARGEST_EXPRESSION:
            raise UnsupportedSQL(
                f"An expression would have more than {LARGEST_EXPRESSION} parts when written out. Split it into "
                "several queries, or join a public table."
            )
        if depth > DEEPEST_EXPRESSION:
            raise too_deep()
        made = typing_rules.apply(operation, *arguments, type=type)
        self._sizes[id(made)] = made, size, depth
        return made

    def _size(self, expression: Expression) -> tuple[int, int]:
        """Return the size and the depth of an expression made before; columns and literals are 1."""
        known = self._sizes.get(id(expression))
        if known is not None:
            return known[1:]
        below = [self._size(part) for part in expression.parts]
        return 1 + sum(size for size, _ in below), 1 + max((depth for _, depth in below), default=0)

    def _binary(self, node: exp.Expr) -> Expression:
        """Read an operator between two expressions, with all of the chain that it ends."""
        links = [node]
        while continues(links[-1], links[-1].this) and self.special(links[-1].this) is None:
            links.append(links[-1].this)
        for link in links:
            only(link, "this", "expression", "typed", "safe")
        if isinstance(links[-1], exp.Add) and is_interval(links[-1].this):
            swapped = links.pop()
            first = moved(self, self.read(swapped.args["expression"]), swapped.this, minus=False)
        else:
            first = self.read(links[-1].this)
        if len(links) < LONG_CHAIN:
            return reduce(self._joined, reversed(links), first)
        terms = [(_BINARY[type(link)], self.read(link.args["expression"])) for link in reversed(links)]
        if isinstance(node, exp.Add | exp.Sub) and not all(one.type.numeric for one in (first, *(b for _, b in terms))):
            raise UnsupportedSQL(
                f"Dates and texts are not added more than {LONG_CHAIN} times in a row. Write the sum of the days in "
                "brackets."
            )
        return self._balanced([(terms[0][0], first), *terms])

    def _joined(self, left: Expression, link: exp.Expr) -> Expression:
        """Apply the operator of one link of a chain to what is left of it and to its right side."""
        if isinstance(link, exp.Add | exp.Sub):
            return sum_or_difference(self, left, link)
        return self.apply(_BINARY[type(link)], left, self.read(link.args["expression"]))

    def _balanced(self, terms: list[tuple[Operation, Expression]]) -> Expression:
        """Join the terms of a long chain, each with the operator before it, half by half: nothing is nested deeply.

        The operator of the first term is not looked at. What is subtracted turns the signs of the half behind it.
        """
        if len(terms) == 1:
            return terms[0][1]
        half = len(terms) // 2
        between, right = terms[half][0], terms[half:]
        if between is Operation.SUBTRACT:
            right = [(_SUMS[operation], term) for operation, term in right]
        return self.apply(between, self._balanced(terms[:half]), self._balanced(right))


def refused(node: exp.Expr) -> QueryRefused:
    """Return the refusal of a node that is not understood here."""
    name = type(node).__name__
    if isinstance(node, exp.Anonymous):
        return _unknown_function(str(node.this).upper())
    if isinstance(node, exp.Func):
        word = node.sql_name() if hasattr(node, "sql_name") else name.upper()
        otherwise = f"{word} is not understood. {UNDERSTOOD}"
    else:
        otherwise = f"{shown(node)!r} is not understood. Write it with arithmetic, comparisons, CASE or CAST."
    return UnsupportedSQL(reason(name, otherwise))


def _unknown_function(name: str) -> QueryRefused:
    """Return the refusal of a function that has no rule, by its name in capitals."""
    if name in FUNCTIONS:
        return UnsupportedSQL(FUNCTIONS[name])
    known = did_you_mean(name, [*NAMED, "COUNT", "SUM", "AVG", "MEDIAN", "QUANTILE", "FLOOR", "ROUND"])
    hint = known if known.startswith("Did") else UNDERSTOOD
    return UnknownName(f"There is no function {shown(name)!r} here. {hint}")


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


def rule_of(operation: Operation, *arguments: str) -> Rule:
    """Return the rule for an operation on these arguments of its node; without any on its one argument."""
    names = arguments or ("this",)
    return names, lambda reader, node: reader.apply(operation, *(reader.read(node.args.get(name)) for name in names))


def _column(reader: Reader, node: exp.Expr) -> Expression:
    """Read a name as what it stands for."""
    if not isinstance(node, exp.Column):
        raise refused(node)
    return reader.resolve(node)


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
    inner = bare(node.this)
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
            raise UnsupportedSQL(
                f"IN takes a list of constants, and {shown(item)!r} is not a constant. Write x = a OR x = b."
            )
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
    """Read LIKE, or ILIKE, with a literal pattern; to ILIKE the capitals A to Z are small letters."""
    pattern = reader.read(node.args["expression"])
    if not isinstance(pattern, Literal) or not isinstance(pattern.value, str):
        raise UnsupportedSQL("The pattern of LIKE must be a constant text of letters, % and _. Write x LIKE 'a%'.")
    if "\\" in pattern.value:
        raise UnsupportedSQL("A backslash in LIKE differs between databases. Leave it out: _ stands for any sign.")
    text = reader.read(node.this)
    if isinstance(node, exp.ILike):
        text, pattern = reader.apply(Operation.LOWER, text), typing_rules.literal(fold(pattern.value))
    like = reader.apply(Operation.LIKE, text, pattern)
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
    return reader.apply(Operation.CASE, *parts, reader.optional(node.args.get("default"), None))


def _if(reader: Reader, node: exp.Expr) -> Expression:
    """Read IF(condition, then, otherwise)."""
    otherwise = reader.optional(node.args.get("false"), None)
    return reader.apply(Operation.CASE, reader.condition(node.this), reader.read(node.args["true"]), otherwise)


def _cast_type(node: exp.Expr) -> Type:
    """Return the type that a CAST names."""
    name = node.this.name if hasattr(node.this, "name") else str(node.this)
    if node.args.get("expressions") or node.args.get("nested") or name not in _CAST_TYPES:
        raise UnsupportedSQL(
            f"The type {shown(node)} is not understood. Write BOOLEAN, BIGINT, DOUBLE, TEXT, DATE or TIMESTAMP."
        )
    return _CAST_TYPES[name]


def cast_to(reader: Reader, value: Expression, target: Type) -> Expression:
    """Return a value as one of another type; a constant text beside a date must spell one."""
    if target in TIMES and isinstance(value, Literal) and isinstance(value.value, str):
        return typing_rules.cast_implicitly(Operation.CAST, value, target)
    return value if value.type is target else reader.apply(Operation.CAST, value, type=target)


def _cast(reader: Reader, node: exp.Expr) -> Expression:
    """Read CAST, ::, TRY_CAST and typed literals; what cannot be cast is NULL in all of them."""
    return cast_to(reader, reader.read(node.this), _cast_type(node.args["to"]))


Rule = tuple[tuple[str, ...], Callable[[Reader, exp.Expr], Expression]]  # the arguments that it understands first
RULES: dict[type[exp.Expr], Rule] = {
    exp.Column: (("this", "table"), _column),
    exp.Literal: (("this", "is_string"), _constant),
    exp.Boolean: (("this",), _constant),
    exp.Null: ((), _constant),
    exp.Neg: (("this",), _negative),
    exp.Not: rule_of(Operation.NOT),
    exp.BitwiseNot: rule_of(Operation.BIT_NOT),
    exp.Is: (("this", "expression"), _is),
    exp.NullSafeEQ: (("this", "expression"), _same),
    exp.NullSafeNEQ: (("this", "expression"), _same),
    exp.In: (("this", "expressions"), _in),
    exp.Between: (("this", "low", "high"), _between),
    exp.Like: (("this", "expression", "negate"), _like),
    exp.ILike: (("this", "expression", "negate"), _like),
    exp.Case: (("this", "ifs", "default"), _case),
    exp.If: (("this", "true", "false"), _if),
    exp.Cast: (("this", "to"), _cast),
    exp.TryCast: (("this", "to", "safe"), _cast),
}
# by name: the number of arguments, and what reads them
NAMED: dict[str, tuple[int, Callable[[Reader, Sequence[exp.Expr]], Expression]]] = {}
