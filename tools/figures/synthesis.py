"""Draw what query release reaches on invented people; run as a module, measure the crosses of DualQuery elsewhere."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.data import population, population_values
from discreet.display.plots import Plot
from discreet.privacy import Relation
from discreet.synthesis import (
    Best,
    Domain,
    Independent,
    Neighbors,
    Records,
    Synthesizer,
    Tree,
    Workload,
    conjunctions,
    error_curve,
)
from discreet.synthesis.methods.dual_query.method import DualQuery

PEOPLE, QUERIES, SEED = 10_000, 20_000, 7
EPSILONS, DELTA, REPEATS = (0.1, 0.3, 1.0, 3.0, 10.0), 1e-9, 3


def synthesis_error() -> Plot:
    """Draw the average and the maximum error of four methods against epsilon, on the invented population."""
    domain = Domain.of(population_values())
    people = domain.encode(population(PEOPLE, seed=SEED).binned())
    asked = conjunctions(domain, count=QUERIES)
    protected = Neighbors(Relation.CHANGE_ONE, PEOPLE)

    def at(make: Callable[..., Synthesizer]) -> Callable[[float], Synthesizer]:
        return lambda epsilon: make(asked, protected, epsilon=epsilon, delta=DELTA)

    methods = {
        "DualQuery": at(DualQuery.of),
        "independent": at(Independent.of),
        "tree": at(Tree.of),
        "best": at(Best.of),
    }
    curves = error_curve(methods, people, EPSILONS, repeats=REPEATS)
    return curves.plot(title=f"{QUERIES:,} queries of three literals about {PEOPLE:,} people")


def related_bits(people: int, attributes: int, *, seed: int = SEED) -> Records:
    """Return binary records of which each attribute follows one of three hidden types, four times in five."""
    random = np.random.default_rng(seed)  # noqa: TID251  invented people
    hidden = random.random((3, people)) < np.array([[0.3], [0.5], [0.7]])
    own = random.random((attributes, people)) < 0.3
    told = random.random((attributes, people)) < 0.8
    codes = np.where(told, hidden[np.arange(attributes) % 3], own)
    return Records(Domain.of({f"bit {place}": (0, 1) for place in range(attributes)}), codes.astype(np.uint16))


def dual_query_largest(
    records: Records, asked: Workload, *, epsilon: float, delta: float, confidence: float, runs: int
) -> float:
    """Return the error that so large a share of runs of DualQuery stays within, in people."""
    synthesizer = DualQuery.of(asked, Neighbors(Relation.CHANGE_ONE, len(records)), epsilon=epsilon, delta=delta)
    exact = asked.frequencies(records)
    largest = [float(np.abs(synthesizer(records).answers - exact).max()) for _ in range(runs)]
    return len(records) * float(np.quantile(largest, confidence))


def measured(people: int = 10_000, attributes: int = 20, powers: range = range(4, 17, 2)) -> dict[int, int]:
    """Return the largest error of ten runs, in people, for each number of queries: `prices.MEASURED`."""
    records = related_bits(people, attributes)
    asked = {2**power: conjunctions(records.domain, count=2**power) for power in powers}
    return {
        count: round(dual_query_largest(records, one, epsilon=1, delta=1e-6, confidence=1, runs=10))
        for count, one in asked.items()
    }


if __name__ == "__main__":
    print(measured())
