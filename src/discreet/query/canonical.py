"""One text for one meaning: equal queries, however they are written, have the same canonical text.

Names of tables and columns inside the query, the order and nesting of subqueries, spaces, capitals and comments leave
no trace; every constant, range, key, aggregate, condition and name of the answer does. Equal parts are written once, so
the text stays short where a query uses a column many times.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date
from fractions import Fraction
from typing import Any

from discreet.query.expression import Apply, Column, Expression, Literal, Operation, Value
from discreet.query.plan import Aggregation, Filter, Finish, Project, PublicJoin, Query, Rows, Scan
from discreet.query.written import written

VERSION = 1
_Names = Mapping[str, "int | tuple[Any, ...]"]


def canonical(query: Query) -> str:
    """Return the canonical text of a query, as JSON.

    `names` are the columns of the answer: two queries that differ in them alone are two.
    """
    nodes = _Nodes()
    steps, names = _rows(query.aggregation.source, nodes)
    keys = [[nodes.number(key.expression, names), _values(key.domain)] for key in query.aggregation.keys]
    asked = [
        [
            one.kind.name,
            nodes.number(one.argument, names) if one.argument is not None else None,
            [str(end) for end in one.bounds] if one.bounds is not None else None,
            str(one.level) if one.level is not None else None,
        ]
        for one in query.aggregation.asked
    ]
    finish, shown = _finish(query.aggregation, query.finish, nodes)
    content = {"rows": steps, "keys": keys, "asked": asked, "finish": finish}
    return json.dumps(
        {"version": VERSION, **nodes.renumbered(content), "names": shown}, sort_keys=True, separators=(",", ":")
    )


class Reference(int):
    """The number of a node, where a text holds one."""


class _Nodes:
    """Every expression once, by number."""

    def __init__(self) -> None:
        """Start without nodes."""
        self._numbers: dict[tuple[Any, ...], Reference] = {}
        self._content: list[tuple[Any, ...]] = []
        self._known: dict[tuple[int, int], tuple[Expression, _Names, Reference]] = {}

    def add(self, *content: Any) -> Reference:
        """Return the number of a node with this content."""
        key = tuple((type(one).__name__, one) for one in content)
        if key not in self._numbers:
            self._numbers[key] = Reference(len(self._content))
            self._content.append(content)
        return self._numbers[key]

    def number(self, expression: Expression, names: _Names) -> Reference:
        """Return the number of an expression over columns that stand for other nodes."""
        seen = self._known.get((id(expression), id(names)))
        if seen is not None:
            return seen[2]
        found = self._number(expression, names)
        self._known[id(expression), id(names)] = expression, names, found
        return found

    def _number(self, expression: Expression, names: _Names) -> Reference:
        """Return the number of an expression that was not met before."""
        if isinstance(expression, Column):
            meant = names.get(expression.name, ("column", expression.name))
            if isinstance(meant, Reference):
                return meant
            return self.add(*meant, expression.type.name, _ends(expression.interval))  # type: ignore[misc]
        if isinstance(expression, Literal):
            return self.add("literal", expression.type.name, _value(expression.value))
        parts = [self.number(part, names) for part in expression.parts]
        name = expression.operation.name if isinstance(expression, Apply) else type(expression).__name__
        return self.add(name, expression.type.name, *parts)

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


def _rows(rows: Rows, nodes: _Nodes) -> tuple[list[list[Any]], dict[str, Any]]:
    """Return what is done to the rows, step by step, and what their columns stand for."""
    chain = [rows]
    while not isinstance(chain[-1], Scan):
        chain.append(chain[-1].source)  # type: ignore[attr-defined]
    steps: list[list[Any]] = []
    names: dict[str, Any] = {}
    for step in reversed(chain):
        if isinstance(step, Scan):
            steps.append(["scan", step.table])
        elif isinstance(step, Filter):
            steps.extend(["filter", nodes.number(one, names)] for one in _conjuncts(step.condition))
        elif isinstance(step, Project):
            names = {name: nodes.number(expression, names) for name, expression in step.columns}
        elif isinstance(step, PublicJoin):
            keys = sorted(
                ([column, nodes.number(one, names)] for one, column in step.keys), key=lambda pair: str(pair[0])
            )
            place = sum(1 for one in steps if one[0] == "join")
            steps.append(["join", step.table, step.kind.name, keys])
            names = {**names, **{name: ("joined", place, column) for name, column, _ in step.columns}}
        else:
            raise TypeError(f"no canonical form for {type(step).__name__}")
    return steps, names


def _conjuncts(condition: Expression) -> list[Expression]:
    """Return the conditions that AND joins, in order."""
    found, pending = [], [condition]
    while pending:
        one = pending.pop()
        if isinstance(one, Apply) and one.operation is Operation.AND:
            pending.extend(reversed(one.arguments))
        else:
            found.append(one)
    return found


def _finish(aggregation: Aggregation, steps: Sequence[Finish], nodes: _Nodes) -> tuple[list[Any], list[str]]:
    """Return the steps on the released table, and the names of the answer."""
    names: dict[str, Any] = {key.name: nodes.add("key", place) for place, key in enumerate(aggregation.keys)}
    names.update({one.name: nodes.add("asked", place) for place, one in enumerate(aggregation.asked)})
    found = []
    for step in steps:
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
    """Return the values of a public key."""
    return [_value(value) for value in domain] if domain is not None else None


def _value(value: Value) -> Any:
    """Return a constant as JSON has it, floats to the last bit, and apart from other types."""
    if isinstance(value, float):
        return "float " + value.hex()
    if isinstance(value, date):
        return "date " + value.isoformat()
    return f"text {value}" if isinstance(value, str) else value


__all__ = ["canonical", "written"]
