"""All small tables of units, beside their neighbors: for brute force over what one unit can move."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations_with_replacement, product

import numpy as np
from numpy.typing import NDArray

from discreet.privacy import Relation

KINDS = np.array(list(product([0, 1], repeat=2)))  # all records over two bits
SETS = ([0], [1], [0, 1])  # of attributes
Table = tuple[int, ...]


def units(rows: int, least: int = 0) -> list[Table]:
    """Return what one unit can bring: up to so many records, by their kinds; a unit may have none."""
    kinds = range(len(KINDS))
    return list(chain.from_iterable(combinations_with_replacement(kinds, count) for count in range(least, rows + 1)))


def neighboring(relation: Relation, rows: int, rest: int = 2, least: int = 0) -> Iterator[tuple[Table, Table]]:
    """Yield all pairs of tables that differ in one unit, beside up to so many records of others."""
    for others in units(rest):
        for unit in units(rows, least):
            if relation is Relation.ADD_REMOVE:
                yield others, others + unit
            else:
                yield from ((others + unit, others + instead) for instead in units(rows, least))


def histogram(table: Table, attributes: list[int]) -> NDArray[np.int64]:
    """Count the records of a table by their values of some attributes."""
    cells = KINDS[list(table)][:, attributes] @ (1 << np.arange(len(attributes)))
    return np.bincount(cells, minlength=1 << len(attributes))


def counts(table: Table) -> NDArray[np.int64]:
    """Count the records that satisfy each of all 16 queries about one record."""
    queries = (np.arange(16)[:, None] >> np.arange(4)) & 1
    return np.asarray(queries @ histogram(table, [0, 1]))
