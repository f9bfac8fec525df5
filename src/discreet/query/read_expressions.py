"""One expression of SQL as one of ours: what has no rule is refused with what to write instead."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from discreet.errors import UnsupportedSQL
from discreet.query import read_dates, read_functions, read_operators, typing_rules
from discreet.query.expression import Expression, Operation
from discreet.query.parse import only, shown
from discreet.query.read_operators import BINARY, Rule
from discreet.query.refusals import UNDERSTOOD, reason
from discreet.query.scope import LARGEST_EXPRESSION
from discreet.query.types import Type

RULES: dict[type[exp.Expr], Rule] = {**read_operators.RULES, **read_functions.RULES, **read_dates.RULES}


def nothing_special(_node: exp.Expr) -> Expression | None:
    """Take no node before the rules do."""
    return None


class Reader:
    """Reads expressions in one place of a query.

    `resolve` says what a column stands for there; `special` may take any node before the rules below do.
    """

    def __init__(
        self,
        resolve: Callable[[exp.Column], Expression],
        special: Callable[[exp.Expr], Expression | None] = nothing_special,
    ) -> None:
        """Start with nothing read."""
        self._resolve = resolve
        self._special = special
        self._sizes: dict[int, tuple[Expression, int]] = {}

    def read(self, node: exp.Expr) -> Expression:
        """Return the expression, or refuse."""
        while isinstance(node, exp.Paren):
            only(node, "this")
            node = node.this
        taken = self._special(node)
        if taken is not None:
            return taken
        if type(node) in BINARY:
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
            raise UnsupportedSQL(
                f"{shown(node)!r} is no condition. Compare it with something, such as x > 0 or x = 'a'."
            )
        return found

    def column(self, node: exp.Expr) -> Expression:
        """Return what a column stands for."""
        if not isinstance(node, exp.Column):
            raise refused(node)
        return self._resolve(node)

    def apply(self, operation: Operation, *arguments: Expression, type: Type | None = None) -> Expression:
        """Apply an operation, within the limit on the size of an expression.

        Shared parts count as often as they are written out: CASE x WHEN ... repeats x for every branch.
        """
        size = 1 + sum(self._size(argument) for argument in arguments)
        if size > LARGEST_EXPRESSION:
            raise UnsupportedSQL(
                f"An expression would have more than {LARGEST_EXPRESSION} parts when written out. Split it into "
                "several queries, or join a public table."
            )
        made = typing_rules.apply(operation, *arguments, type=type)
        self._sizes[id(made)] = (made, size)
        return made

    def _size(self, expression: Expression) -> int:
        """Return the size of an expression made before; columns and literals are 1."""
        known = self._sizes.get(id(expression))
        if known is not None:
            return known[1]
        return 1 + sum(self._size(part) for part in expression.parts)

    def _binary(self, node: exp.Expr) -> Expression:
        """Read an operator between two expressions."""
        only(node, "this", "expression", "typed", "safe")
        if isinstance(node, exp.Add | exp.Sub):
            return read_dates.plus_minus(self, node)
        left, right = self.read(node.this), self.read(node.args["expression"])
        return self.apply(BINARY[type(node)], left, right)


def refused(node: exp.Expr) -> UnsupportedSQL:
    """Return the refusal of a node that is not understood here."""
    name = type(node).__name__
    if isinstance(node, exp.Func) and not isinstance(node, exp.Anonymous):
        word = node.sql_name() if hasattr(node, "sql_name") else name.upper()
        otherwise = f"{word} is not understood. {UNDERSTOOD}"
    else:
        otherwise = f"{shown(node)!r} is not understood. Write it with arithmetic, comparisons, CASE or CAST."
    return UnsupportedSQL(reason(name, otherwise))
