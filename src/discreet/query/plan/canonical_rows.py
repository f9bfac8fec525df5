"""The rows of a plan by what they mean: steps in one order, without the names that a query gives to tables and columns.

Rows that are joined along their unit are one list of sources with conditions on it: inner joins have neither an order
nor a nesting, and a condition on one of their sources may stand before the join, in it or behind it. What is computed
of a unit's rows and not used leaves no trace, nor does the order of the parts of UNION ALL.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from discreet.query.expression import Column, Expression, Operation, Type
from discreet.query.plan.canonical_nodes import ExpressionNodes, Names, Reference, junction
from discreet.query.plan.row_sources import (
    FilterRows,
    MatchKind,
    PerUnit,
    PrivateJoin,
    Project,
    PublicJoin,
    RowSource,
    Scan,
    UnionAll,
    UnitValue,
)


def rows_form(rows: RowSource, nodes: ExpressionNodes) -> tuple[list[Any], Names]:
    """Return what is done to the rows, step by step, and what their columns stand for."""
    origins = list(_origins(rows))
    forms = [_origin(one, nodes) for one in origins]
    if len(forms) == 1:
        walk = _Walk(nodes, [forms[0][1]], list(forms[0][0]))
    else:
        order = sorted(range(len(forms)), key=lambda place: nodes.said(forms[place][0]))
        named = [_of(forms[place][1], order.index(place)) for place in range(len(forms))]
        walk = _Walk(nodes, named, [["of one unit", [forms[place][0] for place in order]]])
    names = walk.go(rows)
    walk.flush()
    return walk.steps, names


def _origins(rows: RowSource) -> Iterator[RowSource]:
    """Yield where rows come from: below inner joins several sources, from the left to the right."""
    if isinstance(rows, Scan | PerUnit | UnionAll):
        yield rows
    elif isinstance(rows, PrivateJoin) and rows.kind is MatchKind.INNER:
        yield from _origins(rows.source)
        yield from _origins(rows.other)
    else:
        yield from _origins(rows.sources[0])


def _origin(rows: RowSource, nodes: ExpressionNodes) -> tuple[list[Any], Names]:
    """Return how the rows of an origin come about, and what their columns stand for."""
    if isinstance(rows, Scan):
        return [["scan", rows.table]], Names()
    if isinstance(rows, PerUnit):
        steps, names = rows_form(rows.source, nodes)
        keys = {name: nodes.number(expression, names) for name, expression in rows.keys}
        listed = sorted(set(keys.values()), key=nodes.ranks.__getitem__)
        made = {name: nodes.add("key of unit", one) for name, one in keys.items()}
        made |= {one.name: _unit_value(one, nodes, names) for one in rows.values}
        return [["per unit", steps, listed]], Names(made)
    if not isinstance(rows, UnionAll):
        raise TypeError(f"no canonical form for {type(rows).__name__}")
    forms = [rows_form(part, nodes) for part in rows.parts]
    parts = []
    for steps, names in forms:
        parts.append([steps, [nodes.number(Column(kind, None, name), names) for name, kind in rows.columns]])
    parts.sort(key=nodes.said)
    columns = {
        name: nodes.add("of parts", kind.name, *(part[1][place] for part in parts))
        for place, (name, kind) in enumerate(rows.columns)
    }
    return [["union all", [steps for steps, _ in parts]]], Names(columns)


def _unit_value(one: UnitValue, nodes: ExpressionNodes, names: Names) -> Reference:
    """Return the node of what is computed of a unit's rows."""
    grid = None if one.scale is None else (one.scale.start, one.scale.steps, str(one.scale.grid))
    argument = () if one.argument is None else (nodes.number(one.argument, names),)
    return nodes.add("of unit", one.kind.name, one.type.name, grid, *argument)


def _of(names: Names, place: int) -> Names:
    """Return names that say which of several sources they belong to."""
    known = {name: ("of source", place, meant) for name, meant in names.known.items()}
    return Names(known, ("of source", place, *names.table))


class _Walk:
    """The steps above the origins, in the order in which they are met; conditions wait for the next join."""

    def __init__(self, nodes: ExpressionNodes, origins: list[Names], steps: list[Any]) -> None:
        self.nodes, self.origins, self.steps = nodes, iter(origins), steps
        self.conditions: list[Reference] = []
        self.cohorts: list[list[Any]] = []

    def go(self, rows: RowSource) -> Names:
        """Add the steps of rows, and return what their columns stand for."""
        if isinstance(rows, Scan | PerUnit | UnionAll):
            return next(self.origins)
        names = self.go(rows.sources[0])
        if isinstance(rows, FilterRows):
            self.conditions.append(self.nodes.number(rows.condition, names))
            return names
        if isinstance(rows, Project):
            return Names({name: self.nodes.number(expression, names) for name, expression in rows.columns})
        if isinstance(rows, PublicJoin):
            return self._public(rows, names)
        if not isinstance(rows, PrivateJoin):
            raise TypeError(f"no canonical form for {type(rows).__name__}")
        if rows.kind is not MatchKind.INNER:
            return self._matched(rows, names)
        others = self.go(rows.other)
        names = names.beside({name: others.meant(column) for name, column, _ in rows.columns})
        if rows.condition is not None:
            self.conditions.append(self.nodes.number(rows.condition, names))
        return names

    def flush(self) -> None:
        """Write down the conditions since the last join in one order, those on a row first; without idle ones."""
        whole = junction(self.nodes, Operation.AND, self.conditions)
        self.conditions = []
        if whole not in self.nodes.constants or self.nodes.constants[whole] is not True:
            self.steps.extend(["filter", one] for one in self.nodes.operands(whole, Operation.AND))
        listed = {self.nodes.said(one): one for one in self.cohorts}
        self.steps.extend(listed[said] for said in sorted(listed))
        self.cohorts = []

    def _public(self, rows: PublicJoin, names: Names) -> Names:
        """Add a join with a public table."""
        self.flush()
        keys = sorted(
            ([column, self.nodes.number(one, names)] for one, column in rows.keys), key=lambda pair: str(pair[0])
        )
        place = sum(1 for one in self.steps if one[0] == "join")
        self.steps.append(["join", rows.table, rows.kind.name, keys])
        return names.beside({name: ("joined", place, column) for name, column, _ in rows.columns})

    def _matched(self, rows: PrivateJoin, names: Names) -> Names:
        """Add a match with other rows of the unit; SEMI and ANTI are conditions on the row, in any order."""
        steps, others = rows_form(rows.other, self.nodes)
        place = -1
        if rows.kind is MatchKind.LEFT:
            self.flush()
            place = sum(1 for one in self.steps if one[0] == "match" and one[1] == rows.kind.name)
        added = {name: self._column(column, kind, others, place) for name, column, kind in rows.columns}
        joined = names.beside(added)
        condition = [] if rows.condition is None else self._all_of(rows.condition, joined)
        step = ["match", rows.kind.name, steps, condition]
        if rows.kind is not MatchKind.LEFT:
            self.cohorts.append(step)
            return names
        self.steps.append(step)
        return joined

    def _column(self, column: str, kind: Type, others: Names, place: int) -> Reference:
        """Return the node of a column of the rows that are matched."""
        return self.nodes.add("matched", place, self.nodes.number(Column(kind, None, column), others))

    def _all_of(self, condition: Expression, names: Names) -> Sequence[Reference]:
        """Return the conditions that AND joins, none where they are always true."""
        whole = self.nodes.number(condition, names)
        if whole in self.nodes.constants and self.nodes.constants[whole] is True:
            return []
        return list(self.nodes.operands(whole, Operation.AND))
