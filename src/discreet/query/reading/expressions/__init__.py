"""One expression of SQL as one of ours: what has no rule is refused with what to write instead."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from sqlglot import exp

from discreet.errors import UnsupportedSQL
from discreet.query.expression import Expression, Operation, Type, advice, typing_rules
from discreet.query.reading.expressions import dates as read_dates
from discreet.query.reading.expressions import functions as read_functions
from discreet.query.reading.expressions import operators as read_operators
from discreet.query.reading.expressions.functions import unknown_function
from discreet.query.reading.expressions.operators import BINARY, Rule, number
from discreet.query.reading.parse import continues, only, shown, too_deep
from discreet.query.reading.refusals import UNDERSTOOD, reason
from discreet.query.reading.scope import LARGEST_EXPRESSION

LONG_CHAIN = 32
DEEPEST_EXPRESSION = 130
_SUMS = {Operation.ADD: Operation.SUBTRACT, Operation.SUBTRACT: Operation.ADD}
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
        self._sizes: dict[int, tuple[Expression, int, int]] = {}

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
            hint = advice("compare it with something, such as x > 0 or x = 'a'", [found], Type.BOOLEAN)
            raise UnsupportedSQL(f"{shown(node)!r} is no condition: {hint}.")
        return found

    def column(self, node: exp.Expr) -> Expression:
        """Return what a column stands for."""
        if not isinstance(node, exp.Column):
            raise refused(node)
        return self._resolve(node)

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
        while continues(links[-1], links[-1].this) and self._special(links[-1].this) is None:
            links.append(links[-1].this)
        for link in links:
            only(link, "this", "expression", "typed", "safe")
        first = self.read(links[-1].this)
        if len(links) < LONG_CHAIN:
            return reduce(self._joined, reversed(links), first)
        terms = [(BINARY[type(link)], self.read(link.args["expression"])) for link in reversed(links)]
        if isinstance(node, exp.Add | exp.Sub) and not all(one.type.numeric for one in (first, *(b for _, b in terms))):
            raise UnsupportedSQL(
                f"Dates and texts are not added more than {LONG_CHAIN} times in a row. Write the sum of the days in "
                "brackets."
            )
        return self._balanced([(terms[0][0], first), *terms])

    def _joined(self, left: Expression, link: exp.Expr) -> Expression:
        """Apply the operator of one link of a chain to what is left of it and to its right side."""
        if isinstance(link, exp.Add | exp.Sub):
            return read_dates.plus_minus(self, left, link)
        return self.apply(BINARY[type(link)], left, self.read(link.args["expression"]))

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


def refused(node: exp.Expr) -> UnsupportedSQL:
    """Return the refusal of a node that is not understood here."""
    name = type(node).__name__
    if isinstance(node, exp.Func) and not isinstance(node, exp.Anonymous):
        word = node.sql_name() if hasattr(node, "sql_name") else name.upper()
        otherwise = f"{word} is not understood. {UNDERSTOOD}"
    else:
        otherwise = f"{shown(node)!r} is not understood. Write it with arithmetic, comparisons, CASE or CAST."
    return UnsupportedSQL(reason(name, otherwise))
