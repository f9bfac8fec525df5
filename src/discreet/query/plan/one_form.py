"""Conditions in one form: what SQL's logic of true, false and NULL makes equal on every row is written alike.

The order, the nesting and the repetition of what AND or OR joins, the order of a list behind IN, the side on which a
comparison has its constant, and conditions over constants alone leave no trace. Every rule here holds for all three
truth values and on every row, so that two conditions with one form can be exchanged anywhere; what no rule covers is
left as it is, and is then another question.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from discreet.query.expression import Operation, Type, Value

_LARGEST = 2**63
_MIRRORED = {
    Operation.EQUAL: Operation.EQUAL,
    Operation.UNEQUAL: Operation.UNEQUAL,
    Operation.LESS: Operation.GREATER,
    Operation.GREATER: Operation.LESS,
    Operation.AT_MOST: Operation.AT_LEAST,
    Operation.AT_LEAST: Operation.AT_MOST,
}
_COMPARED: dict[Operation, Callable[[Any, Any], bool]] = {
    Operation.EQUAL: operator.eq,
    Operation.UNEQUAL: operator.ne,
    Operation.LESS: operator.lt,
    Operation.GREATER: operator.gt,
    Operation.AT_MOST: operator.le,
    Operation.AT_LEAST: operator.ge,
}
_WHOLE: dict[Operation, Callable[..., int]] = {
    Operation.ADD: operator.add,
    Operation.SUBTRACT: operator.sub,
    Operation.MULTIPLY: operator.mul,
    Operation.NEGATE: operator.neg,
}
JUNCTIONS = (Operation.AND, Operation.OR)


class Reference(int):
    """The number of a node, where a text holds one."""


class Nodes(Protocol):
    """Where expressions are kept, each once, by number."""

    def add(self, *content: Any) -> Reference:
        """Return the number of a node with this content."""

    def constant(self, value: Value, type: Type) -> Reference:
        """Return the number of a constant."""

    def value(self, node: Reference) -> Value:
        """Return the value of a node that is a constant."""

    def is_constant(self, node: Reference) -> bool:
        """Say whether a node is a constant."""

    def operands(self, node: Reference, operation: Operation) -> Sequence[Reference]:
        """Return what an operation joins, if the node is one; else the node alone."""

    def rank(self, node: Reference) -> str:
        """Return a text by which nodes are ordered: of what the node says, whatever its number."""


def formed(nodes: Nodes, operation: Operation, type: Type, parts: Sequence[Reference]) -> Reference:
    """Return the node of an operation in its one form."""
    if operation in JUNCTIONS:
        return junction(nodes, operation, parts)
    if operation in _MIRRORED:
        return _comparison(nodes, operation, *parts)
    if operation is Operation.IN:
        return _membership(nodes, *parts)
    if all(nodes.is_constant(part) for part in parts):
        return _of_constants(nodes, operation, type, parts)
    return nodes.add(operation.name, type.name, *parts)


def _of_constants(nodes: Nodes, operation: Operation, type: Type, parts: Sequence[Reference]) -> Reference:
    """Return the node of what follows from constants alone, where a rule says it exactly."""
    known = [nodes.value(part) for part in parts]
    if operation is Operation.IS_NULL:
        return nodes.constant(known[0] is None, Type.BOOLEAN)
    if operation is Operation.NOT:
        return nodes.constant(None if known[0] is None else not known[0], Type.BOOLEAN)
    if operation in _WHOLE and type is Type.INTEGER:
        return nodes.constant(_whole(operation, known), Type.INTEGER)
    return nodes.add(operation.name, type.name, *parts)


def junction(nodes: Nodes, operation: Operation, parts: Sequence[Reference]) -> Reference:
    """Return the node of what AND or OR joins: flat, each part once, in the order of their ranks.

    One FALSE settles AND and TRUE leaves it alone; for OR it is the other way round. NULL does neither, and stays.
    """
    settles = operation is Operation.OR
    kept: dict[Reference, None] = {}
    flat = [one for part in parts for one in nodes.operands(part, operation)]
    for part in flat:
        if not nodes.is_constant(part) or nodes.value(part) is None:
            kept[part] = None
        elif nodes.value(part) is settles:
            return nodes.constant(settles, Type.BOOLEAN)
    if not kept:
        return nodes.constant(not settles, Type.BOOLEAN)
    if len(kept) == 1:
        return next(iter(kept))
    return nodes.add(operation.name, Type.BOOLEAN.name, *sorted(kept, key=nodes.rank))


def _comparison(nodes: Nodes, operation: Operation, one: Reference, other: Reference) -> Reference:
    """Return the node of a comparison: of constants its truth, else with a constant behind, else in order of rank."""
    if nodes.is_constant(one) and nodes.is_constant(other):
        values = nodes.value(one), nodes.value(other)
        truth = None if None in values else _COMPARED[operation](*values)
        return nodes.constant(truth, Type.BOOLEAN)
    if (nodes.is_constant(one), nodes.rank(one)) > (nodes.is_constant(other), nodes.rank(other)):
        one, other, operation = other, one, _MIRRORED[operation]
    return nodes.add(operation.name, Type.BOOLEAN.name, one, other)


def _membership(nodes: Nodes, value: Reference, *listed: Reference) -> Reference:
    """Return the node of IN: the list has no order and no repetitions; a list of one is an equality."""
    unique = sorted(set(listed), key=nodes.rank)
    if nodes.is_constant(value):
        equal = [_comparison(nodes, Operation.EQUAL, value, one) for one in unique]
        return junction(nodes, Operation.OR, equal)
    if len(unique) == 1:
        return _comparison(nodes, Operation.EQUAL, value, unique[0])
    return nodes.add(Operation.IN.name, Type.BOOLEAN.name, value, *unique)


def _whole(operation: Operation, values: Sequence[Value]) -> int | None:
    """Return the result of whole numbers; NULL where one is, and beyond 64 bits."""
    if None in values:
        return None
    result = _WHOLE[operation](*values)
    return result if -_LARGEST <= result < _LARGEST else None
