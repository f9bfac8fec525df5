"""All small tables over a small domain, and their neighbors: what brute force runs over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement
from typing import Any

import discreet as dp


def tables(domain: Sequence[Any], largest: int) -> Iterator[tuple[Any, ...]]:
    for size in range(largest + 1):
        yield from combinations_with_replacement(domain, size)


def neighbors(domain: Sequence[Any], largest: int, relation: dp.Relation) -> Iterator[tuple[list[Any], list[Any]]]:
    """Every pair of neighboring tables once in each direction that matters: order never does."""
    for table in tables(domain, largest - 1):
        if relation is dp.Relation.ADD_REMOVE:
            for row in domain:
                yield list(table), [*table, row]
        else:
            for one in domain:
                for other in domain:
                    if one is not other:
                        yield [*table, one], [*table, other]
