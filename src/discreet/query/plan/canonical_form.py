"""One text for one meaning: equal queries, however they are written, have the same canonical text.

Names of tables and columns inside the query, the order and nesting of subqueries, spaces, capitals and comments leave
no trace, nor do the order of keys, of their public values and of conditions, and conditions that are always true; every
constant, range, key, aggregate, condition and name of the answer does. Equal parts are written once, so the text stays
short where a query uses a column many times.

Group keys have one text too, so that keys of any types can be compared, sorted and stored.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from discreet.query.expression import Expression, Type, Value
from discreet.query.plan.canonical_nodes import ExpressionNodes, Names, value_in_json
from discreet.query.plan.canonical_rows import rows_form
from discreet.query.plan.in_words import written
from discreet.query.plan.query_plan import Aggregate, Aggregation, AnswerWindow, Key, Order, QueryPlan, gone
from discreet.query.plan.row_sources import RowSource

VERSION = 1


def canonical(query: QueryPlan) -> str:
    """Return the canonical text of a query, as JSON.

    `names` are the columns of the answer: two queries that differ in them alone are two.
    """
    nodes = ExpressionNodes()
    steps, names = rows_form(query.aggregation.source, nodes)
    keys = _ranked_keys(query.aggregation, nodes, names)
    asked = [
        [
            one.kind.name,
            nodes.number(one.argument, names) if one.argument is not None else None,
            _ends(one.bounds),
            str(one.level) if one.level is not None else None,
            *([] if one.second is None else [nodes.number(one.second, names), _ends(one.second_bounds)]),
            *([] if one.sums is None else [_ends(one.sums)]),
        ]
        for one in query.aggregation.asked
    ]
    listed = [[nodes.number(key.expression, names), _values(key.domain)] for _, key in keys]
    finish, shown = _finish([key for _, key in keys], query, nodes)
    content = {"rows": steps, "keys": listed, "asked": asked, "finish": finish}
    return json.dumps(
        {"version": VERSION, **nodes.renumbered(content), "names": shown}, sort_keys=True, separators=(",", ":")
    )


def _ends(bounds: tuple[Fraction, Fraction] | None) -> list[str] | None:
    return [str(end) for end in bounds] if bounds is not None else None


def canonical_parts(source: RowSource, expressions: Sequence[Expression]) -> tuple[str, list[str]]:
    """Return the canonical text of some rows, and of expressions over them: equal where they mean the same."""
    nodes = ExpressionNodes()
    steps, names = rows_form(source, nodes)
    found: list[dict[str, Any]] = [{"rows": steps}]
    found += [{"value": nodes.number(one, names)} for one in expressions]
    rows, *texts = (json.dumps(nodes.renumbered(one), sort_keys=True, separators=(",", ":")) for one in found)
    return rows, texts


def ordered_keys(aggregation: Aggregation) -> list[int]:
    """Return the places of the keys in the order of their meaning, however GROUP BY lists them."""
    nodes = ExpressionNodes()
    _, names = rows_form(aggregation.source, nodes)
    return [place for place, _ in _ranked_keys(aggregation, nodes, names)]


def ordered_values(domain: Sequence[Value]) -> list[Value]:
    """Return the public values of a key in an order of their own, however they were listed."""
    return sorted(domain, key=lambda value: (type(value).__name__, value))  # one type, so that any two can be compared


def ordered_asked(aggregation: Aggregation) -> tuple[Aggregate, ...]:
    """Return what is asked in the order of its meaning, however the query lists and names it."""
    nodes = ExpressionNodes()
    _, names = rows_form(aggregation.source, nodes)

    def rank(one: Aggregate) -> tuple[str, ...]:
        first, second = (
            "" if part is None else nodes.ranks[nodes.number(part, names)] for part in (one.argument, one.second)
        )
        ends = str(one.second_bounds), str(one.sums)
        return one.kind.name, first, str(one.bounds), str(one.level), second, *ends

    return tuple(sorted(aggregation.asked, key=rank))


def _ranked_keys(aggregation: Aggregation, nodes: ExpressionNodes, names: Names) -> list[tuple[int, Key]]:
    """Return the keys with their places, in the order of their meaning."""

    def rank(pair: tuple[int, Key]) -> tuple[str, str]:
        key = pair[1]
        return nodes.ranks[nodes.number(key.expression, names)], json.dumps(_values(key.domain))

    return sorted(enumerate(aggregation.keys), key=rank)


def _finish(keys: Sequence[Key], query: QueryPlan, nodes: ExpressionNodes) -> tuple[list[Any], list[str]]:
    """Return the steps on the released table, and the names of the answer."""
    by_place = {key.name: nodes.add("key", place) for place, key in enumerate(keys)}
    known: dict[str, Any] = {key.name: by_place[key.name] for key in query.aggregation.keys}
    known.update({one.name: nodes.add("asked", place) for place, one in enumerate(query.aggregation.asked)})
    names = Names(known)
    found: list[Any] = []
    if query.totals:
        places = {key.name: place for place, key in enumerate(keys)}
        own = [places[key.name] for key in query.aggregation.keys]
        found.append(["totals", [sorted(own[place] for place in kept) for kept in query.totals]])
        known.update({gone(key.name): nodes.add("total", places[key.name]) for key in query.aggregation.keys})
        names = Names(known)
    for step in query.finish:
        windows = {name: _window(one, nodes, names) for name, one in step.windows}
        names = names.beside(windows)
        columns = [(name, nodes.number(expression, names)) for name, expression in step.columns]
        condition = nodes.number(step.condition, names) if step.condition is not None else None
        order = _order(step.order, nodes, names)
        said: list[Any] = [[number for _, number in columns], condition, order, step.limit]
        kept = None if step.kept is None else nodes.number(step.kept, names)
        more = [list(windows.values()), kept, step.distinct, step.offset]
        found.append([*said, *more] if any(more) else said)
        names = Names(dict(columns))
    return found, list(names.known)


def _order(terms: Sequence[Order], nodes: ExpressionNodes, names: Names) -> list[Any]:
    """Return the terms of ORDER BY."""
    return [[nodes.number(one.expression, names), one.descending] for one in terms]


def _window(window: AnswerWindow, nodes: ExpressionNodes, names: Names) -> Any:
    """Return the node of a window."""
    parts = [None if one is None else nodes.number(one, names) for one in (window.argument, window.condition)]
    parts += [nodes.number(one, names) for one in window.partition]
    order = _order(window.order, nodes, names)
    said = [len(window.partition), order, window.frame, window.number, value_in_json(window.default)]
    return nodes.add("window", window.kind.name, nodes.said(said), *parts)


def _values(domain: Sequence[Value] | None) -> list[Any] | None:
    """Return the values of a public key, in their own order."""
    return [value_in_json(value) for value in ordered_values(domain)] if domain is not None else None


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


__all__ = [
    "canonical",
    "canonical_parts",
    "key_from_text",
    "key_to_text",
    "ordered_asked",
    "ordered_keys",
    "ordered_values",
    "written",
]
