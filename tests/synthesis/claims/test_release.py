"""What releases tell neighboring tables apart by, step by step, for many methods and neighbors of small tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from discreet.privacy import Relation
from discreet.synthesis import (
    Domain,
    Forest,
    Independent,
    Mwem,
    Neighbors,
    NoisyAnswers,
    Records,
    Reweighted,
    Synthesizer,
    SyntheticRelease,
    Tree,
    Workload,
    conjunctions,
)
from tests.synthesis.claims.transcripts import loss, released

DOMAIN = Domain.of(a=range(2), b=range(3), c=range(1), d=range(2))
CELLS = tuple(product(*map(range, DOMAIN.sizes)))
OTHERS = (CELLS[0], CELLS[0], CELLS[3], CELLS[5], CELLS[7], CELLS[8], CELLS[11])
PROTECTED = [
    Neighbors(Relation.ADD_REMOVE, 8),
    Neighbors(Relation.ADD_REMOVE, 8, rows=2),
    Neighbors(Relation.CHANGE_ONE, 8),
    Neighbors(Relation.CHANGE_ONE, 8, everyone=False),
    Neighbors(Relation.CHANGE_ONE, 8, rows=2),
]
PRICES: list[dict[str, Any]] = [{"epsilon": Fraction(1, 2)}, {"rho": Fraction(1, 9)}]


def independent(asked: Workload, neighbors: Neighbors, **price: Any) -> Synthesizer:
    return Independent.of(asked, neighbors, size=40, **price)


def tree(asked: Workload, neighbors: Neighbors, **price: Any) -> Synthesizer:
    return Tree.of(asked, neighbors, size=40, **price)


# method: how to make it, and the least part of the price that some neighbors and some transcript must cost
METHODS: dict[str, tuple[Callable[..., Synthesizer], float]] = {
    "independent": (independent, 1 - 1e-9),
    "tree": (tree, 0.94),
    "mwem": (Mwem.of, 0.6),
    "reweighted": (Reweighted.of, 0.7),
    "answers": (NoisyAnswers.of, 0.6),
}


def table(rows: tuple[tuple[int, ...], ...]) -> Records:
    return Records(DOMAIN, np.array(rows, dtype=np.uint16).reshape(-1, len(DOMAIN)).T)


def neighboring(neighbors: Neighbors) -> Iterator[tuple[Records, Records]]:
    """Yield tables that differ in one unit, whose records are all alike, or one of each of two kinds."""
    units = [(cell,) * neighbors.rows for cell in (CELLS[0], *CELLS[3::2])] + [(CELLS[0], CELLS[11])[: neighbors.rows]]
    if neighbors.relation is Relation.ADD_REMOVE:
        yield from ((table(OTHERS), table(OTHERS + unit)) for unit in units)
        yield table(()), table(units[0])
    else:
        yield from ((table(OTHERS + units[0]), table(OTHERS + unit)) for unit in units[1:])
        yield table(OTHERS), table(OTHERS + units[0])  # also where everybody is said to have a record


def assert_alike(here: SyntheticRelease, there: SyntheticRelease) -> None:
    """Compare everything that leaves."""
    np.testing.assert_array_equal(here.answers, there.answers)
    np.testing.assert_array_equal(here.table.records.codes, there.table.records.codes)
    np.testing.assert_array_equal(here.table.weights, there.table.weights)
    assert here.plan == there.plan
    assert here.evidence.keys() == there.evidence.keys()
    for name, value in here.evidence.items():
        if isinstance(value, Forest):
            other = there.evidence[name]
            assert (value.parents, value.order) == (other.parents, other.order)
            for one, conditional in zip(value.conditionals, other.conditionals, strict=True):
                np.testing.assert_array_equal(one, conditional)
        else:
            np.testing.assert_equal(value, there.evidence[name])


@pytest.mark.theorem("Independent.privacy", "Tree.privacy", "AdaptiveRounds.privacy", "Mwem.privacy")
@pytest.mark.theorem("Reweighted.privacy", "Allowance.privacy", "Neighbors.privacy")
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("neighbors", PROTECTED)
def test_no_transcript_costs_neighbors_more_than_the_price_and_all_else_follows_from_it(
    name: str, price: dict[str, Any], neighbors: Neighbors
) -> None:
    make, least = METHODS[name]
    method = make(conjunctions(DOMAIN, count=17, ways=2, seed=1), neighbors, **price)
    costs = []
    for seed, (one, other) in enumerate(neighboring(neighbors)):
        (here, steps), (there, again) = released(method, one, seed), released(method, other, seed)
        costs.append(loss(steps, again, pure=method.allowance.pure))
        assert_alike(here, there)
    assert max(costs) <= float(method.allowance.amount) * (1 + 1e-9)
    assert max(costs) >= least * float(method.allowance.amount)
