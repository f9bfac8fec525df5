"""Parities: queries that hold where an odd number of chosen bits are one."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from discreet.data.invention import coins
from discreet.errors import MissingParameter, ParameterError
from discreet.synthesis.domain.domain import Domain
from discreet.synthesis.workloads.literals import MOST_QUERIES, value_literals
from discreet.synthesis.workloads.random_literals import checked_count, checked_ways, random_attributes, random_codes
from discreet.synthesis.workloads.workload import Workload


def parities(domain: Domain, *, ways: int, count: int | None = None, seed: int = 1) -> Workload:
    """Return queries that ask for an odd number of true literals among `ways` about different attributes.

    The literal of an attribute with two values is that it has the second. Without `count` every set of so many
    attributes is asked about, which takes attributes of two values; with it, random sets, and for an attribute of more
    values a random one.

    >>> domain = Domain.of(smokes=["no", "yes"], drinks=["no", "yes"], runs=["no", "yes"])
    >>> parities(domain, ways=2).text(0)
    "an odd number of: smokes = 'yes', drinks = 'yes'"
    """
    ways = checked_ways(ways, len(domain), repeats=False)
    if count is None:
        chosen, values = _every(domain, ways)
    else:
        chosen, values = _random(domain, ways, checked_count(count, ways=ways), seed)
    literals, members = value_literals(domain, chosen, values, np.zeros(chosen.shape, dtype=np.bool_))
    drawn = "all" if count is None else "random"
    seeded = "" if count is None else f", seed {seed}"
    odd = np.ones(len(members), dtype=np.bool_)
    return Workload(domain, literals, members, odd, ~odd, f"{drawn} {ways}-literal parities{seeded}")


def _every(domain: Domain, ways: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all sets of attributes, and the second code of each."""
    if any(size != 2 for size in domain.sizes):
        raise MissingParameter(
            "all parities are those of attributes with two values; state count= for random ones", parameter="count"
        )
    sets = comb(len(domain), ways)
    if sets > MOST_QUERIES:
        raise ParameterError(f"there are {sets:,} such parities; state count= for random ones", parameter="count")
    chosen = np.fromiter(
        (place for one in combinations(range(len(domain)), ways) for place in one), dtype=np.int64, count=sets * ways
    ).reshape(sets, ways)
    return chosen, np.ones(chosen.shape, dtype=np.int64)


def _random(domain: Domain, ways: int, count: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return random sets of attributes, and a random code of each, the second where there are two."""
    flips = coins(seed)
    chosen = random_attributes(flips, len(domain), ways=ways, count=count, repeats=False)
    return chosen, np.where(np.array(domain.sizes)[chosen] == 2, 1, random_codes(flips, domain, chosen))
