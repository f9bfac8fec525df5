"""UNION ALL of rows of people: several SELECTs with columns of the same types, under the names of the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from discreet.errors import UnsupportedSQL
from discreet.query.expression import Column, Expression, Interval, Literal, Type, Value
from discreet.query.plan import Project, UnionAll
from discreet.query.policy import LARGEST_DOMAIN, ColumnPolicy
from discreet.query.reading.answers import Released
from discreet.query.reading.key_domains import public_domain
from discreet.query.reading.parse import only, shown
from discreet.query.reading.rows import ReadableRows, Scope, Visible
from discreet.query.reading.sources.context import Context, Known


def union_all(node: exp.Union, known: Known, context: Context) -> ReadableRows:
    """Return the rows of all SELECTs that UNION ALL puts together."""
    parts = [_part(one, known, context) for one in _selects(node)]
    first = parts[0].scope.visible
    for part in parts[1:]:
        if len(part.scope.visible) != len(first):
            raise UnsupportedSQL(
                f"The SELECTs of UNION ALL have {len(first)} and {len(part.scope.visible)} columns. Give all the same."
            )
    context.check_one_unit(*parts)
    columns = [_column(place, parts, context) for place in range(len(first))]
    made = tuple((one.name, one.column.type) for one in columns)
    sources = tuple(_projected(part, columns) for part in parts)
    return ReadableRows(UnionAll(sources, made), Scope(tuple(columns), {one.name: one for one in columns}))


def _selects(node: exp.Expr) -> list[exp.Expr]:
    """Return the SELECTs of a chain of UNION ALL, from the left to the right."""
    found: list[exp.Expr] = []
    while isinstance(node, exp.Union):
        only(node, "this", "expression", "distinct")
        if node.args.get("distinct"):
            raise UnsupportedSQL(
                "UNION compares the rows of different people to leave out repetitions. Write UNION ALL."
            )
        found.append(node.args["expression"])
        node = node.this
    return [node, *found[::-1]]


def _part(node: exp.Expr, known: Known, context: Context) -> ReadableRows:
    found = context.inner(node, known)
    if isinstance(found, Released):
        raise UnsupportedSQL(
            "UNION ALL in brackets puts rows together, and one of its SELECTs is an answer. Write UNION of answers "
            "outermost, or ask them one by one."
        )
    return found


def _column(place: int, parts: Sequence[ReadableRows], context: Context) -> Visible:
    """Return what is known about a column of the union: what holds in every part."""
    alike = [part.scope.visible[place] for part in parts]
    name, kinds = alike[0].name, {one.column.type for one in alike}
    if len(kinds) > 1:
        one, two = sorted(kind.value for kind in kinds)[:2]
        raise UnsupportedSQL(
            f"The column {shown(name)!r} of UNION ALL is {one} here and {two} there. CAST one of them."
        )
    kind = kinds.pop()
    column = Column(kind, _hull([one.column.interval for one in alike]), name)
    domain = _domain([_values(one, part.scope, context) for one, part in zip(alike, parts, strict=True)])
    declared = ColumnPolicy(name, kind, values=domain) if domain is not None else None
    anchors = {one.anchor for one in alike}
    return Visible(
        "",
        name,
        column,
        column,
        declared=declared,
        unit=all(one.unit for one in alike),
        from_unit=any(one.from_unit for one in alike),
        anchor=anchors.pop() if len(anchors) == 1 else (),
    )


def _hull(ranges: Sequence[Interval | None]) -> Interval | None:
    there = [one for one in ranges if one is not None]
    if len(there) < len(ranges):
        return None
    return min(low for low, _ in there), max(high for _, high in there)


def _values(one: Visible, scope: Scope, context: Context) -> tuple[Value, ...] | None:
    """Return the public values of a column of one part; a constant has itself."""
    definition: Expression | None = one.definition
    if isinstance(definition, Literal):
        return () if definition.value is None else (definition.value,)
    if definition is None or definition.type is Type.REAL:
        return None
    return public_domain(definition, scope.base, context.keys.evaluate)


def _domain(listed: Sequence[tuple[Value, ...] | None]) -> tuple[Value, ...] | None:
    """Return the values of all parts together."""
    known = [values for values in listed if values is not None]
    found = tuple(dict.fromkeys(value for values in known for value in values))
    return found if len(known) == len(listed) and 0 < len(found) <= LARGEST_DOMAIN else None


def _projected(part: ReadableRows, columns: Sequence[Visible]) -> Project:
    pairs = zip(columns, part.scope.visible, strict=True)
    return Project(part.rows, tuple((one.name, replace(own.column)) for one, own in pairs))
