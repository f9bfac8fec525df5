"""One text for one meaning: equal queries, however they are written, have the same canonical text.

Names of tables and columns inside the query, the order and nesting of subqueries, spaces, capitals and comments leave
no trace, nor do the order of keys, of their public values and of conditions, and conditions that are always true; every
constant, range, key, aggregate, condition and name of the answer does. Equal parts are written once, so the text stays
short where a query uses a column many times.

Conditions have one form: what SQL's logic of true, false and NULL makes equal on every row is written alike. The order,
the nesting and the repetition of what AND or OR joins, the order of a list behind IN, the side on which a comparison
has its constant, and conditions over constants alone leave no trace. Every rule here holds for all three truth values
and on every row, so that two conditions with one form can be exchanged anywhere; what no rule covers is left as it is,
and is then another question.

Group keys have one text too, so that keys of any types can be compared, sorted and stored.
"""

from __future__ import annotations

import hashlib
import json
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from discreet.query.expression import Apply, Column, Expression, Literal, Operation, Type, Value
from discreet.query.plan.in_words import written
from discreet.query.plan.query_plan import (
    Aggregate,
    Aggregation,
    FilterRows,
    Key,
    Project,
    PublicJoin,
    QueryPlan,
    RowSource,
    Scan,
)

VERSION = 1
_Names = Mapping[str, "int | tuple[Any, ...]"]
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


def canonical(query: QueryPlan) -> str:
    """Return the canonical text of a query, as JSON.

    `names` are the columns of the answer: two queries that differ in them alone are two.
    """
    nodes = _Nodes()
    steps, names = _rows(query.aggregation.source, nodes)
    keys = _ranked_keys(query.aggregation, nodes, names)
    asked = [
        [
            one.kind.name,
            nodes.number(one.argument, names) if one.argument is not None else None,
            [str(end) for end in one.bounds] if one.bounds is not None else None,
            str(one.level) if one.level is not None else None,
        ]
        for one in query.aggregation.asked
    ]
    listed = [[nodes.number(key.expression, names), _values(key.domain)] for _, key in keys]
    finish, shown = _finish([key for _, key in keys], query, nodes)
    content = {"rows": steps, "keys": listed, "asked": asked, "finish": finish}
    return json.dumps(
        {"version": VERSION, **nodes.renumbered(content), "names": shown}, sort_keys=True, separators=(",", ":")
    )


def ordered_keys(aggregation: Aggregation) -> list[int]:
    """Return the places of the keys in the order of their meaning, however GROUP BY lists them."""
    nodes = _Nodes()
    _, names = _rows(aggregation.source, nodes)
    return [place for place, _ in _ranked_keys(aggregation, nodes, names)]


def ordered_values(domain: Sequence[Value]) -> list[Value]:
    """Return the public values of a key in an order of their own, however they were listed."""
    return sorted(domain, key=lambda value: (type(value).__name__, value))  # one type, so that any two can be compared


def ordered_asked(aggregation: Aggregation) -> tuple[Aggregate, ...]:
    """Return what is asked in the order of its meaning, however the query lists and names it."""
    nodes = _Nodes()
    _, names = _rows(aggregation.source, nodes)

    def rank(one: Aggregate) -> tuple[str, str, str, str]:
        argument = "" if one.argument is None else nodes.ranks[nodes.number(one.argument, names)]
        return one.kind.name, argument, str(one.bounds), str(one.level)

    return tuple(sorted(aggregation.asked, key=rank))


def _ranked_keys(aggregation: Aggregation, nodes: _Nodes, names: _Names) -> list[tuple[int, Key]]:
    """Return the keys with their places, in the order of their meaning."""

    def rank(pair: tuple[int, Key]) -> tuple[str, str]:
        key = pair[1]
        return nodes.ranks[nodes.number(key.expression, names)], json.dumps(_values(key.domain))

    return sorted(enumerate(aggregation.keys), key=rank)


class _Reference(int):
    """The number of a node, where a text holds one."""


class _Nodes:
    """Every expression once, by number."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Any, ...], _Reference] = {}
        self._content: list[tuple[Any, ...]] = []
        self.ranks: list[str] = []  # the hashes of what the nodes say
        self.constants: dict[_Reference, Value] = {}
        self._known: dict[tuple[int, int], tuple[Expression, _Names, _Reference]] = {}

    def add(self, *content: Any) -> _Reference:
        """Return the number of a node with this content."""
        key = tuple((type(one).__name__, one) for one in content)
        if key not in self._numbers:
            self._numbers[key] = _Reference(len(self._content))
            self._content.append(content)
            said = [["node", self.ranks[one]] if isinstance(one, _Reference) else one for one in content]
            self.ranks.append(hashlib.sha256(json.dumps(said).encode()).hexdigest())
        return self._numbers[key]

    def constant(self, value: Value, type: Type) -> _Reference:
        """Return the number of a constant."""
        found = self.add("literal", type.name, _value(value))
        self.constants[found] = value
        return found

    def operands(self, node: _Reference, operation: Operation) -> Sequence[_Reference]:
        """Return what AND or OR joins in a node, which is flat already, or the node alone."""
        content = self._content[node]
        return content[2:] if content[0] == operation.name else (node,)

    def number(self, expression: Expression, names: _Names) -> _Reference:
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

    def _number(self, expression: Expression, parts: Sequence[_Reference], names: _Names) -> _Reference:
        """Return the number of an expression whose parts have theirs."""
        if isinstance(expression, Column):
            meant = names.get(expression.name, ("column", expression.name))
            if isinstance(meant, _Reference):
                return meant
            return self.add(*meant, expression.type.name, _ends(expression.interval))  # type: ignore[misc]
        if isinstance(expression, Literal):
            return self.constant(expression.value, expression.type)
        if isinstance(expression, Apply):
            return _formed(self, expression.operation, expression.type, parts)
        return self.add(type(expression).__name__, expression.type.name, *parts)

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
    if isinstance(content, _Reference):
        return [int(content)]
    if isinstance(content, dict):
        return [one for part in content.values() for one in _references(part)]
    if isinstance(content, list | tuple):
        return [one for part in content for one in _references(part)]
    return []


def _replaced(content: Any, order: Mapping[int, int]) -> Any:
    """Return content with other numbers, each marked as the number of a node."""
    if isinstance(content, _Reference):
        return {"node": order[int(content)]}
    if isinstance(content, list | tuple):
        return [_replaced(part, order) for part in content]
    return content


def _formed(nodes: _Nodes, operation: Operation, type: Type, parts: Sequence[_Reference]) -> _Reference:
    """Return the node of an operation in its one form."""
    if operation in _JUNCTIONS:
        return _junction(nodes, operation, parts)
    if operation in _MIRRORED:
        return _comparison(nodes, operation, *parts)
    if operation is Operation.IN:
        return _membership(nodes, *parts)
    if all(part in nodes.constants for part in parts):
        return _of_constants(nodes, operation, type, parts)
    return nodes.add(operation.name, type.name, *parts)


def _of_constants(nodes: _Nodes, operation: Operation, type: Type, parts: Sequence[_Reference]) -> _Reference:
    """Return the node of what follows from constants alone, where a rule says it exactly."""
    known = [nodes.constants[part] for part in parts]
    if operation is Operation.IS_NULL:
        return nodes.constant(known[0] is None, Type.BOOLEAN)
    if operation is Operation.NOT:
        return nodes.constant(None if known[0] is None else not known[0], Type.BOOLEAN)
    if operation in _WHOLE and type is Type.INTEGER:
        return nodes.constant(_whole(operation, known), Type.INTEGER)
    return nodes.add(operation.name, type.name, *parts)


def _junction(nodes: _Nodes, operation: Operation, parts: Sequence[_Reference]) -> _Reference:
    """Return the node of what AND or OR joins: flat, each part once, in the order of their ranks.

    One FALSE settles AND and TRUE leaves it alone; for OR it is the other way round. NULL does neither, and stays.
    """
    settles = operation is Operation.OR
    kept: dict[_Reference, None] = {}
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


def _comparison(nodes: _Nodes, operation: Operation, one: _Reference, other: _Reference) -> _Reference:
    """Return the node of a comparison: of constants its truth, else with a constant behind, else in order of rank."""
    if one in nodes.constants and other in nodes.constants:
        values = nodes.constants[one], nodes.constants[other]
        truth = None if None in values else _COMPARED[operation](*values)
        return nodes.constant(truth, Type.BOOLEAN)
    if (one in nodes.constants, nodes.ranks[one]) > (other in nodes.constants, nodes.ranks[other]):
        one, other, operation = other, one, _MIRRORED[operation]
    return nodes.add(operation.name, Type.BOOLEAN.name, one, other)


def _membership(nodes: _Nodes, value: _Reference, *listed: _Reference) -> _Reference:
    """Return the node of IN: the list has no order and no repetitions; a list of one is an equality."""
    unique = sorted(set(listed), key=nodes.ranks.__getitem__)
    if value in nodes.constants:
        equal = [_comparison(nodes, Operation.EQUAL, value, one) for one in unique]
        return _junction(nodes, Operation.OR, equal)
    if len(unique) == 1:
        return _comparison(nodes, Operation.EQUAL, value, unique[0])
    return nodes.add(Operation.IN.name, Type.BOOLEAN.name, value, *unique)


def _whole(operation: Operation, values: Sequence[Value]) -> int | None:
    """Return the result of whole numbers; NULL where one is, and beyond 64 bits."""
    if None in values:
        return None
    result = _WHOLE[operation](*values)
    return result if -_LARGEST <= result < _LARGEST else None


def _rows(rows: RowSource, nodes: _Nodes) -> tuple[list[list[Any]], dict[str, Any]]:
    """Return what is done to the rows, step by step, and what their columns stand for."""
    chain = [rows]
    while not isinstance(chain[-1], Scan):
        chain.append(chain[-1].source)  # type: ignore[attr-defined]
    steps: list[list[Any]] = []
    conditions: list[_Reference] = []
    names: dict[str, Any] = {}
    for step in reversed(chain):
        if isinstance(step, Scan):
            steps.append(["scan", step.table])
        elif isinstance(step, FilterRows):
            conditions.append(nodes.number(step.condition, names))
        elif isinstance(step, Project):
            names = {name: nodes.number(expression, names) for name, expression in step.columns}
        elif isinstance(step, PublicJoin):
            steps.extend(_filters(conditions, nodes))
            conditions = []
            keys = sorted(
                ([column, nodes.number(one, names)] for one, column in step.keys), key=lambda pair: str(pair[0])
            )
            place = sum(1 for one in steps if one[0] == "join")
            steps.append(["join", step.table, step.kind.name, keys])
            names = {**names, **{name: ("joined", place, column) for name, column, _ in step.columns}}
        else:
            raise TypeError(f"no canonical form for {type(step).__name__}")
    return [*steps, *_filters(conditions, nodes)], names


def _filters(conditions: Sequence[_Reference], nodes: _Nodes) -> list[list[Any]]:
    """Return the conditions between two joins in one order, without those that are always true."""
    whole = _junction(nodes, Operation.AND, conditions)
    if whole in nodes.constants and nodes.constants[whole] is True:
        return []
    return [["filter", one] for one in nodes.operands(whole, Operation.AND)]


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


def _finish(keys: Sequence[Key], query: QueryPlan, nodes: _Nodes) -> tuple[list[Any], list[str]]:
    """Return the steps on the released table, and the names of the answer."""
    by_place = {key.name: nodes.add("key", place) for place, key in enumerate(keys)}
    names: dict[str, Any] = {key.name: by_place[key.name] for key in query.aggregation.keys}
    names.update({one.name: nodes.add("asked", place) for place, one in enumerate(query.aggregation.asked)})
    found = []
    for step in query.finish:
        columns = [(name, nodes.number(expression, names)) for name, expression in step.columns]
        condition = nodes.number(step.condition, names) if step.condition is not None else None
        order = [[nodes.number(one.expression, names), one.descending] for one in step.order]
        found.append([[number for _, number in columns], condition, order, step.limit])
        names = dict(columns)
    return found, list(names)


def _ends(interval: tuple[Fraction, Fraction] | None) -> tuple[str, str] | None:
    """Return the ends of a range exactly."""
    return (str(interval[0]), str(interval[1])) if interval is not None else None


def _values(domain: Sequence[Value] | None) -> list[Any] | None:
    """Return the values of a public key, in their own order."""
    return [_value(value) for value in ordered_values(domain)] if domain is not None else None


def _value(value: Value) -> Any:
    """Return a constant as JSON has it, floats to the last bit, and apart from other types."""
    if isinstance(value, float):
        return "float " + value.hex()
    if isinstance(value, date):
        return "date " + value.isoformat()
    return f"text {value}" if isinstance(value, str) else value


def key_to_text(key: Sequence[Value]) -> str:
    """Write the values of a key as JSON; times in their standard form, reals that JSON has no word for as text.

    Whatever the data holds, this raises nothing: whether a query fails must not depend on a row.

    >>> key_to_text(("north", 3, None, date(2026, 11, 15)))
    '["north", 3, null, "2026-11-15"]'
    >>> key_to_text((math.inf,))
    '["inf"]'
    """
    return json.dumps([_storable(value) for value in key], allow_nan=False)


def key_from_text(text: str, types: Sequence[Type]) -> tuple[Value, ...]:
    """Read the values of a key, given their types.

    >>> key_from_text('["2026-11-15"]', [Type.DATE])
    (datetime.date(2026, 11, 15),)
    """
    return tuple(_read_value(value, kind) for value, kind in zip(json.loads(text), types, strict=True))


def _storable(value: Value) -> bool | int | float | str | None:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value.isoformat() if isinstance(value, date | datetime) else value


def _read_value(value: bool | int | float | str | None, kind: Type) -> Value:
    if value is None:
        return None
    if kind is Type.DATE:
        return date.fromisoformat(str(value))
    if kind is Type.TIMESTAMP:
        return datetime.fromisoformat(str(value))
    return float(value) if kind is Type.REAL else value


__all__ = ["canonical", "key_from_text", "key_to_text", "ordered_asked", "ordered_keys", "ordered_values", "written"]
