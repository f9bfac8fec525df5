"""Random choices that make up a public family of queries: attributes with or without repeats, and values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.data.invention import Coins
from discreet.errors import ParameterError
from discreet.privacy.numbers.arguments import whole
from discreet.synthesis.domain.domain import Domain
from discreet.synthesis.workloads.literals import MOST_QUERIES

Integers = NDArray[np.int64]
_MOST_MEMBERS = 3 * MOST_QUERIES  # literals in all queries together: some gigabytes


def checked_ways(ways: int, attributes: int, *, repeats: bool) -> int:
    """Return how many literals a query has, at most one for each attribute where none may repeat."""
    ways = whole(ways, name="ways")
    if not repeats and ways > attributes:
        raise ParameterError(
            f"{ways} different attributes cannot be had from {attributes}; lower ways", parameter="ways"
        )
    return ways


def checked_count(count: int, *, ways: int) -> int:
    """Return how many queries of `ways` literals to draw."""
    count = whole(count, name="count")
    if count > MOST_QUERIES:
        raise ParameterError(f"count is at most {MOST_QUERIES:,}", parameter="count")
    if ways * count > _MOST_MEMBERS:
        raise ParameterError(
            f"ways times count is at most {_MOST_MEMBERS:,} literals; lower ways or count", parameter="ways"
        )
    return count


def random_attributes(coins: Coins, among: int, *, ways: int, count: int, repeats: bool) -> Integers:
    """Return `count` rows of `ways` positions below `among`: uniform, or uniform over rows without repeats."""
    if repeats:
        return coins.integers(0, among, size=(count, ways))
    chosen = np.empty((count, ways), dtype=np.int64)
    for way in range(ways):
        # The rank among positions not chosen yet becomes a position by stepping over the chosen ones in rising order.
        position = coins.integers(0, among - way, size=count)
        for earlier in np.sort(chosen[:, :way], axis=1).T:
            position += position >= earlier
        chosen[:, way] = position
    return chosen


def random_codes(coins: Coins, domain: Domain, chosen: Integers) -> Integers:
    """Return a uniform code of every chosen attribute."""
    return coins.integers(0, np.array(domain.sizes)[chosen])
