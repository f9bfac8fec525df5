"""Expressions by what they mean: every part once, by number, however it is written.

Conditions have one form: what SQL's logic of true, false and NULL makes equal on every row is written alike. The order,
the nesting and the repetition of what AND or OR joins, the order of a list behind IN, the side on which a comparison
has its constant, and conditions over constants alone leave no trace. Every rule here holds for all three truth values
and on every row, so that two conditions with one form can be exchanged anywhere; what no rule covers is left as it is,
and is then another question.
"""

from __future__ import annotations

import hashlib
import json
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from typing import Any

from discreet.query.expression import Apply, Column, Expression, Literal, Operation, Type, Value

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
_JUNCTIONS = (Operation.AND, Operation.OR)


@dataclass(eq=False, slots=True)
class Names:
    """What the columns of some rows stand for: nodes, or by default columns of a table, told apart by `table`."""

    known: Mapping[str, Any] = field(default_factory=dict)
    table: tuple[Any, ...] = ("column",)

    def meant(self, name: str) -> Any:
        """Return the node of a column, or how one is made."""
        return self.known.get(name, (*self.table, name))

    def beside(self, more: Mapping[str, Any]) -> Names:
        """Return these names and others, which go first."""
        return Names({**self.known, **more}, self.table)


class Reference(int):
    """The number of a node, where a text holds one."""


class ExpressionNodes:
    """Every expression once, by number."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Any, ...], Reference] = {}
        self._content: list[tuple[Any, ...]] = []
        self.ranks: list[str] = []  # the hashes of what the nodes say
        self.constants: dict[Reference, Value] = {}
        self._known: dict[tuple[int, int], tuple[Expression, Names, Reference]] = {}

    def add(self, *content: Any) -> Reference:
        """Return the number of a node with this content."""
        key = tuple((type(one).__name__, one) for one in content)
        if key not in self._numbers:
            self._numbers[key] = Reference(len(self._content))
            self._content.append(content)
            said = [["node", self.ranks[one]] if isinstance(one, Reference) else one for one in content]
            self.ranks.append(hashlib.sha256(json.dumps(said).encode()).hexdigest())
        return self._numbers[key]

    def constant(self, value: Value, type: Type) -> Reference:
        """Return the number of a constant."""
        found = self.add("literal", type.name, value_in_json(value))
        self.constants[found] = value
        return found

    def operands(self, node: Reference, operation: Operation) -> Sequence[Reference]:
        """Return what AND or OR joins in a node, which is flat already, or the node alone."""
        content = self._content[node]
        return content[2:] if content[0] == operation.name else (node,)

    def number(self, expression: Expression, names: Names) -> Reference:
        """Return the number of an expression over columns that stand for other nodes; long chains do not recurse."""
        pending = [expression]
        while pending:
            one = pending[-1]
            parts = _parts(one)
            missing = [part for part in parts if (id(part), id(names)) not in self._known]
            if missing:
                pending.extend(reversed(missing))
                continue
            pending.pop()
            if (id(one), id(names)) not in self._known:
                found = [self._known[id(part), id(names)][2] for part in parts]
                self._known[id(one), id(names)] = one, names, self._number(one, found, names)
        return self._known[id(expression), id(names)][2]

    def _number(self, expression: Expression, parts: Sequence[Reference], names: Names) -> Reference:
        """Return the number of an expression whose parts have theirs."""
        if isinstance(expression, Column):
            meant = names.meant(expression.name)
            if isinstance(meant, Reference):
                return meant
            return self.add(*meant, expression.type.name, _ends(expression.interval))
        if isinstance(expression, Literal):
            return self.constant(expression.value, expression.type)
        if isinstance(expression, Apply):
            return _formed(self, expression.operation, expression.type, parts)
        return self.add(type(expression).__name__, expression.type.name, *parts)

    def said(self, content: Any) -> str:
        """Return a text of some content that does not hang on the numbers of its nodes: an order for parts."""

        def ranked(part: Any) -> Any:
            if isinstance(part, Reference):
                return ["node", self.ranks[part]]
            return [ranked(one) for one in part] if isinstance(part, list | tuple) else part

        return json.dumps(ranked(content))

    def renumbered(self, content: dict[str, Any]) -> dict[str, Any]:
        """Return content with the nodes it refers to, numbered in the order in which they are met."""
        order: dict[int, int] = {}
        pending = _references(content)[::-1]
        while pending:
            number = pending.pop()
            if number in order:
                continue
            missing = [one for one in _references(self._content[number]) if one not in order]
            if missing:
                pending.extend((number, *reversed(missing)))
            else:
                order[number] = len(order)
        nodes = [_replaced(self._content[number], order) for number in order]
        return {"nodes": nodes, **{name: _replaced(part, order) for name, part in content.items()}}


def _references(content: Any) -> list[int]:
    """Return the numbers of nodes in some content, in order."""
    if isinstance(content, Reference):
        return [int(content)]
    if isinstance(content, dict):
        return [one for part in content.values() for one in _references(part)]
    if isinstance(content, list | tuple):
        return [one for part in content for one in _references(part)]
    return []


def _replaced(content: Any, order: Mapping[int, int]) -> Any:
    """Return content with other numbers, each marked as the number of a node."""
    if isinstance(content, Reference):
        return {"node": order[int(content)]}
    if isinstance(content, list | tuple):
        return [_replaced(part, order) for part in content]
    return content


def _formed(nodes: ExpressionNodes, operation: Operation, type: Type, parts: Sequence[Reference]) -> Reference:
    """Return the node of an operation in its one form."""
    if operation in _JUNCTIONS:
        return junction(nodes, operation, parts)
    if operation in _MIRRORED:
        return _comparison(nodes, operation, *parts)
    if operation is Operation.IN:
        return _membership(nodes, *parts)
    if all(part in nodes.constants for part in parts):
        return _of_constants(nodes, operation, type, parts)
    return nodes.add(operation.name, type.name, *parts)


def _of_constants(nodes: ExpressionNodes, operation: Operation, type: Type, parts: Sequence[Reference]) -> Reference:
    """Return the node of what follows from constants alone, where a rule says it exactly."""
    known = [nodes.constants[part] for part in parts]
    if operation is Operation.IS_NULL:
        return nodes.constant(known[0] is None, Type.BOOLEAN)
    if operation is Operation.NOT:
        return nodes.constant(None if known[0] is None else not known[0], Type.BOOLEAN)
    if operation in _WHOLE and type is Type.INTEGER:
        return nodes.constant(_whole(operation, known), Type.INTEGER)
    return nodes.add(operation.name, type.name, *parts)


def junction(nodes: ExpressionNodes, operation: Operation, parts: Sequence[Reference]) -> Reference:
    """Return the node of what AND or OR joins: flat, each part once, in the order of their ranks.

    One FALSE settles AND and TRUE leaves it alone; for OR it is the other way round. NULL does neither, and stays.
    """
    settles = operation is Operation.OR
    kept: dict[Reference, None] = {}
    flat = [one for part in parts for one in nodes.operands(part, operation)]
    for part in flat:
        if part not in nodes.constants or nodes.constants[part] is None:
            kept[part] = None
        elif nodes.constants[part] is settles:
            return nodes.constant(settles, Type.BOOLEAN)
    if not kept:
        return nodes.constant(not settles, Type.BOOLEAN)
    if len(kept) == 1:
        return next(iter(kept))
    return nodes.add(operation.name, Type.BOOLEAN.name, *sorted(kept, key=nodes.ranks.__getitem__))


def _comparison(nodes: ExpressionNodes, operation: Operation, one: Reference, other: Reference) -> Reference:
    """Return the node of a comparison: of constants its truth, else with a constant behind, else in order of rank."""
    if one in nodes.constants and other in nodes.constants:
        values = nodes.constants[one], nodes.constants[other]
        truth = None if None in values else _COMPARED[operation](*values)
        return nodes.constant(truth, Type.BOOLEAN)
    if (one in nodes.constants, nodes.ranks[one]) > (other in nodes.constants, nodes.ranks[other]):
        one, other, operation = other, one, _MIRRORED[operation]
    return nodes.add(operation.name, Type.BOOLEAN.name, one, other)


def _membership(nodes: ExpressionNodes, value: Reference, *listed: Reference) -> Reference:
    """Return the node of IN: the list has no order and no repetitions; a list of one is an equality."""
    unique = sorted(set(listed), key=nodes.ranks.__getitem__)
    if value in nodes.constants:
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


def _parts(expression: Expression) -> list[Expression]:
    """Return the parts of an expression; of a chain of AND or of OR all that it joins."""
    if isinstance(expression, Column | Literal):
        return []
    if not isinstance(expression, Apply) or expression.operation not in _JUNCTIONS:
        return list(expression.parts)
    found: list[Expression] = []
    pending = list(reversed(expression.arguments))
    while pending:
        one = pending.pop()
        if isinstance(one, Apply) and one.operation is expression.operation:
            pending.extend(reversed(one.arguments))
        else:
            found.append(one)
    return found


def _ends(interval: tuple[Fraction, Fraction] | None) -> tuple[str, str] | None:
    """Return the ends of a range exactly."""
    return (str(interval[0]), str(interval[1])) if interval is not None else None


def value_in_json(value: Value) -> Any:
    """Return a constant as JSON has it, floats to the last bit, and apart from other types."""
    if isinstance(value, float):
        return "float " + value.hex()
    if isinstance(value, date):
        return "date " + value.isoformat()
    return f"text {value}" if isinstance(value, str) else value


__all__ = ["ExpressionNodes", "Names", "Reference", "junction", "value_in_json"]
