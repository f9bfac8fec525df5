"""Literals that say an attribute has a value or has not: each listed once, however many queries share it.

Random choices that make up a public family of queries: attributes with or without repeats, and values.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.data.invention import Coins
from discreet.errors import ParameterError
from discreet.privacy.numbers import whole
from discreet.synthesis.domain import Domain
from discreet.synthesis.workloads.workload import Literals

_MOST_ENTRIES = 1 << 30
MOST_QUERIES = 100_000_000


def value_literals(
    domain: Domain, attributes: NDArray[np.int64], codes: NDArray[np.int64], negated: NDArray[np.bool_]
) -> tuple[Literals, NDArray[np.int32]]:
    """Return the distinct literals among arrays of (attribute, code, negated), and an array of their positions.

    Not having one of two values is having the other: that is one literal.
    """
    sizes = np.array(domain.sizes)
    binary = sizes[attributes] == 2
    codes = np.where(binary & negated, 1 - codes, codes)
    names = 2 * (domain.offsets[attributes] + codes) + (negated & ~binary)
    used = np.zeros(2 * domain.width, dtype=np.bool_)
    used[names] = True
    listed = np.flatnonzero(used)
    members = (np.cumsum(used) - 1)[names].astype(np.int32)
    attribute = np.searchsorted(domain.offsets, listed // 2, side="right") - 1
    room = int(sizes[attribute].max())
    check_room(len(listed), room)
    accepts = np.zeros((len(listed), room), dtype=np.bool_)
    accepts[np.arange(len(listed)), listed // 2 - domain.offsets[attribute]] = True
    accepts ^= (listed % 2 == 1)[:, None]
    accepts &= np.arange(room) < sizes[attribute][:, None]
    return Literals(attribute.astype(np.int32), accepts), members


def check_room(literals: int, codes: int) -> None:
    """Refuse literals that would need gigabytes for the codes they accept."""
    if literals * codes > _MOST_ENTRIES:
        raise ParameterError(
            f"{literals:,} literals over attributes of up to {codes:,} values are too many; put the values into fewer"
            " bins or categories",
            parameter="domain",
        )


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
        raise ParameterError(f"count must be at most {MOST_QUERIES:,}", parameter="count")
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
