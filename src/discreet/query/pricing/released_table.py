"""What a query released: noisy integers, as a ledger keeps them, and what is computed from them at no price.

A ledger keeps them in an order that no spelling of a query changes. Post-processing is HAVING, ORDER BY, LIMIT,
arithmetic on answers and outer SELECTs.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from discreet.query.expression import Column, Expression, Type, Value
from discreet.query.plan import PostProcessing, QueryPlan, key_from_text, key_to_text, ordered_keys, ordered_values


@dataclass(frozen=True, slots=True)
class ReleasedTable:
    """What was released: the groups, and for each measure its noisy integers. Public from here on."""

    keys: tuple[tuple[Value, ...], ...]
    released: tuple[tuple[tuple[int, ...], ...], ...]

    def to_json(self, query: QueryPlan) -> str:
        """Write it for the ledger, in an order that does not depend on how the query lists its keys.

        Public keys are those of the query and need no writing.
        """
        columns, rows = _kept_order(query, self.keys)
        released = [[[entry[row] for row in rows] for entry in one] for one in self.released]
        texts = None
        if not query.aggregation.public:
            texts = [key_to_text([self.keys[row][column] for column in columns]) for row in rows]
        return json.dumps({"keys": texts, "released": released})

    @classmethod
    def from_json(cls, text: str, query: QueryPlan) -> ReleasedTable:
        """Read it back, as the answer to a query, in the order in which that query lists its keys."""
        plain = json.loads(text)
        keys = public_keys(query) if plain["keys"] is None else _named_keys(plain["keys"], query)
        _, rows = _kept_order(query, keys)
        places = {row: place for place, row in enumerate(rows)}
        back = [places[row] for row in range(len(keys))]
        released = [[tuple(entry[place] for place in back) for entry in one] for one in plain["released"]]
        return cls(tuple(keys), tuple(map(tuple, released)))


def _kept_order(query: QueryPlan, keys: Sequence[tuple[Value, ...]]) -> tuple[list[int], list[int]]:
    """Return the columns and the rows of some groups in the order in which a ledger keeps them."""
    aggregation = query.aggregation
    columns = ordered_keys(aggregation)
    if not aggregation.public:
        texts = [key_to_text([key[column] for column in columns]) for key in keys]
        return columns, sorted(range(len(keys)), key=texts.__getitem__)
    places = [
        {value: place for place, value in enumerate(ordered_values(aggregation.keys[column].domain or ()))}
        for column in columns
    ]

    def rank(row: int) -> list[int]:
        return [of[keys[row][column]] for of, column in zip(places, columns, strict=True)]

    return columns, sorted(range(len(keys)), key=rank)


def _named_keys(texts: Sequence[str], query: QueryPlan) -> list[tuple[Value, ...]]:
    """Return private keys as they were kept, as the query lists them and in the order of their texts."""
    columns = ordered_keys(query.aggregation)
    types = [query.aggregation.keys[column].expression.type for column in columns]
    places = [columns.index(column) for column in range(len(columns))]
    found = [key_from_text(text, types) for text in texts]
    return sorted((tuple(key[place] for place in places) for key in found), key=key_to_text)


def public_keys(query: QueryPlan) -> list[tuple[Value, ...]]:
    """Return all groups of public keys, in the order of their domains."""
    return list(itertools.product(*(key.domain or () for key in query.aggregation.keys)))


Columns = Mapping[str, list[Value]]
Evaluate = Callable[[Sequence[Expression], Columns, Mapping[str, Type]], list[list[Value]]]


@dataclass(frozen=True, slots=True)
class Finished:
    """The rows of an answer as they are shown.

    `sources` names for each row the released row it stands on, `shown` for each column the released column that it
    shows unchanged, or None.
    """

    names: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    sources: tuple[int, ...]
    shown: tuple[str | None, ...]


def finish(
    released: Columns, types: Mapping[str, Type], steps: Sequence[PostProcessing], evaluate: Evaluate
) -> Finished:
    """Run the steps in order; `evaluate` computes expressions row by row on columns that were released.

    Privacy. Costs nothing: `released` was released, and nothing else is looked at.
    """
    columns = {name: list(values) for name, values in released.items()}
    kinds = dict(types)
    shown: dict[str, str | None] = {name: name for name in columns}
    sources = list(range(len(next(iter(columns.values()), []))))
    for step in steps:
        columns, kinds, shown, sources = _step(step, columns, kinds, shown, sources, evaluate)
    rows = tuple(zip(*columns.values(), strict=True)) if columns else ()
    return Finished(tuple(columns), rows, tuple(sources), tuple(shown.values()))


State = tuple[dict[str, list[Value]], dict[str, Type], dict[str, str | None], list[int]]


def _step(
    step: PostProcessing,
    columns: dict[str, list[Value]],
    kinds: dict[str, Type],
    shown: dict[str, str | None],
    sources: list[int],
    evaluate: Evaluate,
) -> State:
    """Select rows, order them, cut them, then compute the columns."""
    wanted = [*([step.condition] if step.condition is not None else []), *(one.expression for one in step.order)]
    wanted += [expression for _, expression in step.columns]
    computed = _evaluated(wanted, columns, kinds, evaluate)
    places = list(range(len(sources)))
    if step.condition is not None:
        kept = computed.pop(0)
        places = [place for place in places if kept[place] is True]
    for term, values in reversed(list(zip(step.order, computed, strict=False))):
        there = [place for place in places if values[place] is not None]
        there.sort(key=lambda place, values=values: values[place], reverse=term.descending)  # type: ignore[misc]
        places = [*there, *(place for place in places if values[place] is None)]  # NULLs last, either way
    if step.limit is not None:
        places = places[: step.limit]
    made = computed[len(step.order) :]
    names = [name for name, _ in step.columns]
    return (
        {name: [values[place] for place in places] for name, values in zip(names, made, strict=True)},
        {name: expression.type for name, expression in step.columns},
        {name: shown.get(one.name) if isinstance(one, Column) else None for name, one in step.columns},
        [sources[place] for place in places],
    )


def _evaluated(
    wanted: Sequence[Expression], columns: Columns, kinds: Mapping[str, Type], evaluate: Evaluate
) -> list[list[Value]]:
    """Return the values of expressions; bare columns need no evaluation."""
    hard = [one for one in wanted if not isinstance(one, Column)]
    found = iter(evaluate(hard, columns, kinds) if hard else [])
    return [list(columns[one.name]) if isinstance(one, Column) else next(found) for one in wanted]
