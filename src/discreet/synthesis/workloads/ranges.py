"""Ranges of ordered attributes, and boxes that are ranges of several at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.data.invention import coins
from discreet.errors import MissingParameter, ParameterError
from discreet.synthesis.domain.domain import Domain
from discreet.synthesis.workloads.literals import MOST_QUERIES, check_room
from discreet.synthesis.workloads.random_literals import checked_count, checked_ways, random_attributes
from discreet.synthesis.workloads.workload import Literals, Workload


def ranges(
    domain: Domain,
    *,
    attributes: Sequence[str] | None = None,
    ways: int = 1,
    count: int | None = None,
    seed: int = 1,
) -> Workload:
    """Return queries that ask for values from one to another, in the order of the codes, of `ways` attributes at once.

    Without `count`: every range of every attribute named (all by default). With it: random boxes over `ways` different
    attributes, each range uniform among the m (m + 1) / 2 of an attribute with m values. No range takes in what is
    missing.

    >>> domain = Domain.of(rooms=range(1, 6), floor=range(4), sex=["f", "m"])
    >>> every = ranges(domain, attributes=["rooms", "floor"])
    >>> len(every), every.text(2), len(ranges(domain, ways=2, count=1_000))
    (25, 'rooms from 1 to 3', 1000)
    """
    named = np.array([domain.place(name) for name in (domain.names if attributes is None else attributes)], np.int64)
    if len(named) == 0 or len(set(named.tolist())) != len(named):
        raise ParameterError("name attributes, each once", parameter="attributes")
    ways = checked_ways(ways, len(named), repeats=False)
    lengths = np.array([len(one.values) for one in domain.attributes], dtype=np.int64)
    if count is None:
        if ways > 1:
            raise MissingParameter("state count=: boxes of several attributes are drawn at random", parameter="count")
        chosen, ranks = _every(named, lengths)
        description = "all ranges of an attribute"
    else:
        flips, count = coins(seed), checked_count(count, ways=ways)
        chosen = named[random_attributes(flips, len(named), ways=ways, count=count, repeats=False)]
        ranks = flips.integers(0, lengths[chosen] * (lengths[chosen] + 1) // 2)
        description = f"random {ways}-attribute ranges, seed {seed}"
    literals, members = _range_literals(domain, lengths, chosen, ranks)
    none = np.zeros(len(members), dtype=np.bool_)
    return Workload(domain, literals, members, none, none.copy(), description)


def _every(named: NDArray[np.int64], lengths: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return an attribute and the rank of a range for every range."""
    each = lengths[named] * (lengths[named] + 1) // 2
    if int(each.sum()) > MOST_QUERIES:
        raise ParameterError(f"there are {int(each.sum()):,} ranges; state count= for random ones", parameter="count")
    ranks = np.concatenate([np.arange(ranges) for ranges in each])
    return np.repeat(named, each)[:, None], ranks[:, None]


def _range_literals(
    domain: Domain, lengths: NDArray[np.int64], chosen: NDArray[np.int64], ranks: NDArray[np.int64]
) -> tuple[Literals, NDArray[np.int32]]:
    """Return the distinct ranges and their positions; ranks list the ranges of m values by their first value."""
    most = int(lengths.max()) * (int(lengths.max()) + 1) // 2
    listed, positions = np.unique(chosen * most + ranks, return_inverse=True)
    attribute, rank = np.divmod(listed, most)
    low, high = _ends(rank, lengths[attribute])
    room = max(domain.sizes[place] for place in attribute)
    check_room(len(listed), room)
    code = np.arange(room)
    accepts = (code >= low[:, None]) & (code <= high[:, None])
    return Literals(attribute.astype(np.int32), accepts), positions.reshape(chosen.shape).astype(np.int32)


def _ends(rank: NDArray[np.int64], length: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and last code of ranges by rank: rank r of m values starts at the a with a m - a (a-1)/2 <= r.

    >>> [end.tolist() for end in _ends(np.arange(6), np.full(6, 3))]
    [[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
    """
    low = np.floor(length + 0.5 - np.sqrt((length + 0.5) ** 2 - 2 * rank)).astype(np.int64)
    for _ in range(2):  # the root may be a rounding error off, to either side
        low -= low * length - low * (low - 1) // 2 > rank
        low += (low + 1) * length - (low + 1) * low // 2 <= rank
    return low, rank - (low * length - low * (low - 1) // 2) + low
