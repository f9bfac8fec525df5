"""What a query released: noisy integers, as a ledger keeps them, in an order that no spelling of a query changes."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass

from discreet.query.expression import Value
from discreet.query.plan import QueryPlan, key_from_text, key_to_text, ordered_keys, ordered_values


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
