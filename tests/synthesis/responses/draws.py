"""Small domains with drawn queries of every form, whose best response is found by looking at every record."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet.synthesis import Domain, Literals, Workload


@dataclass(frozen=True, eq=False)
class Draws:
    """Queries of a workload with their weights."""

    workload: Workload
    queries: NDArray[np.int64]
    weights: NDArray[np.int64]

    def value(self, record: NDArray[np.uint16]) -> int:
        """Return the weight of the queries that a record satisfies, by the workload's own words."""
        return int(self.weights[self.workload.truths(record)[self.queries]].sum())

    def records(self) -> list[NDArray[np.uint16]]:
        """Return every record of the domain."""
        return [np.array(one, dtype=np.uint16) for one in product(*map(range, self.workload.domain.sizes))]

    def best(self) -> int:
        """Return the largest value of all records."""
        return max(map(self.value, self.records()))


def draws(*, seed: int, sizes: tuple[int, ...], count: int, parities: float = 0.3, wide: int = 4) -> Draws:
    """Return seeded queries: any sets of values, several about one attribute, products and parities, some negated."""
    coins = np.random.default_rng(seed)
    domain = Domain.of({f"a{place}": range(size) for place, size in enumerate(sizes)})
    attribute = coins.integers(len(sizes), size=3 * len(sizes)).astype(np.int32)
    accepts = coins.random((len(attribute), max(sizes))) < coins.random((len(attribute), 1))
    accepts &= np.arange(max(sizes)) < np.array(sizes)[attribute][:, None]
    members = coins.integers(len(attribute), size=(count, wide)).astype(np.int32)
    members[np.arange(wide) > coins.integers(wide, size=(count, 1))] = -1
    odd, negated = coins.random(count) < parities, coins.random(count) < 0.3
    workload = Workload(domain, Literals(attribute, accepts), members, odd, negated, "every form")
    queries = np.flatnonzero(coins.random(count) < 0.8)
    weights = coins.integers(1, 6, size=len(queries)) * coins.choice([-1, 1], size=len(queries))
    return Draws(workload, queries, weights)


def signed_triples(*, seed: int, attributes: int, count: int) -> Draws:
    """Return queries of three yes or no literals each, half of them with weight -1."""
    coins = np.random.default_rng(seed)
    domain = Domain.of({f"a{place}": (0, 1) for place in range(attributes)})
    attribute = np.repeat(np.arange(attributes, dtype=np.int32), 2)
    literals = Literals(attribute, np.tile(np.eye(2, dtype=bool), (attributes, 1)))
    members = coins.integers(2 * attributes, size=(count, 3)).astype(np.int32)
    no = np.zeros(count, dtype=bool)
    workload = Workload(domain, literals, members, no, no, "signed triples")
    return Draws(workload, np.arange(count), coins.choice([-1, 1], size=count))


small_draws: st.SearchStrategy[Draws] = st.builds(
    draws,
    seed=st.integers(0, 2**32),
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple),
    count=st.integers(1, 25),
    parities=st.sampled_from([0.0, 0.3, 1.0]),
)
