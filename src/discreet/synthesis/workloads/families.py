"""Random conjunctions and disjunctions of literals: the workload that DualQuery was first measured on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.data.invention import coins
from discreet.synthesis.domain.domain import Domain
from discreet.synthesis.workloads.literals import value_literals
from discreet.synthesis.workloads.random_literals import checked_count, checked_ways, random_attributes, random_codes
from discreet.synthesis.workloads.workload import Literals, Workload


def conjunctions(
    domain: Domain,
    *,
    ways: int = 3,
    count: int = 100_000,
    seed: int = 1,
    repeats: bool = True,
    negation: bool = True,
) -> Workload:
    """Return random queries that ask for all of `ways` literals: an attribute each, a value of it, perhaps negated.

    Attribute and value are uniform; attributes may repeat within a query unless `repeats` is False, and each literal
    is negated with probability 1/2 unless `negation` is False. The seed is public, as the queries are.

    Reference. Gaboardi, Gallego Arias, Hsu, Roth, Wu 2014, section 5: what their experiments call 3-way marginals.

    >>> domain = Domain.of(sex=["f", "m"], rooms=range(1, 6), tenure=["own", "rent"])
    >>> conjunctions(domain, count=1_000)
    Workload(1,000 queries: random 3-literal conjunctions, seed 1)
    """
    ways = checked_ways(ways, len(domain), repeats=repeats)
    count = checked_count(count, ways=ways)
    literals, members = _drawn(domain, ways, count, seed, repeats, negation, turn=False)
    none = np.zeros(count, dtype=np.bool_)
    return Workload(domain, literals, members, none, none.copy(), f"random {ways}-literal conjunctions, seed {seed}")


def disjunctions(
    domain: Domain,
    *,
    ways: int = 3,
    count: int = 100_000,
    seed: int = 1,
    repeats: bool = True,
    negation: bool = True,
) -> Workload:
    """Return random queries that ask for at least one of `ways` literals, drawn as `conjunctions` draws them.

    `a or b` is the negation of `not a and not b`, and that is how it is kept.

    >>> domain = Domain.of(sex=["f", "m"], rooms=range(1, 6), tenure=["own", "rent"])
    >>> disjunctions(domain, ways=2, count=10).text(0).count(" or ")
    1
    """
    ways = checked_ways(ways, len(domain), repeats=repeats)
    count = checked_count(count, ways=ways)
    literals, members = _drawn(domain, ways, count, seed, repeats, negation, turn=True)
    none, every = np.zeros(count, dtype=np.bool_), np.ones(count, dtype=np.bool_)
    return Workload(domain, literals, members, none, every, f"random {ways}-literal disjunctions, seed {seed}")


def _drawn(
    domain: Domain, ways: int, count: int, seed: int, repeats: bool, negation: bool, *, turn: bool
) -> tuple[Literals, NDArray[np.int32]]:
    """Return random literals, all turned round if asked."""
    flips = coins(seed)
    chosen = random_attributes(flips, len(domain), ways=ways, count=count, repeats=repeats)
    values = random_codes(flips, domain, chosen)
    negated = flips.integers(0, 2, size=chosen.shape) == 1 if negation else np.zeros(chosen.shape, dtype=np.bool_)
    return value_literals(domain, chosen, values, negated ^ turn)
