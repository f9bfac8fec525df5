"""Small tables whose posterior is also a plain sum over every table: exact laws and draws held against it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from benchmarks.common.bars import Bar
from discreet.bayes import DirichletMultinomial, NegativeBinomialPeople, noisy_counts, posterior
from discreet.laws import DiscreteLaplace

Floats = NDArray[np.float64]
DRAWS, MOST, PRIOR = 40_000, 60, 0.7
KEYS = (("x", "a"), ("x", "b"), ("y", "c"))
CELLS, REGIONS = (5, -1, 3), {"x": 3, "y": 2}
UNKNOWN = NegativeBinomialPeople(mean=8, dispersion=3)


def sums() -> Iterator[Bar]:
    """Return how far a public n, noisy regions and an unknown n are from the sum over all tables."""
    for people, regions in ((12, False), (12, True), (UNKNOWN, False), (UNKNOWN, True)):
        words = f"3 cells{' with noisy regions' if regions else ''}, n {people if people == 12 else 'unknown'}"
        yield from _held(words, people, regions=regions)


def _held(words: str, people: Any, *, regions: bool) -> Iterator[Bar]:
    noise = DiscreteLaplace(2)
    measured = noisy_counts(
        dict(zip(KEYS, CELLS, strict=True)), noise=noise, key=["region", "cell"], table="t", release="1"
    )
    released = [measured]
    if regions:
        released.append(noisy_counts(REGIONS, noise=noise, key="region", table="t", release="2"))
    found = posterior(released, DirichletMultinomial(PRIOR, people=people, exhaustive=True), seed=7)
    tables = np.array(list(product(range(MOST), repeat=len(CELLS))), dtype=np.int64)
    tables = tables[tables.sum(axis=1) == people] if people == 12 else tables
    logs = _log_weights(tables, people)
    for place, one in enumerate(CELLS):
        logs = logs + noise.log_pmf(one - tables[:, place])
    if regions:
        logs = logs + noise.log_pmf(REGIONS["x"] - tables[:, 0] - tables[:, 1])
        logs = logs + noise.log_pmf(REGIONS["y"] - tables[:, 2])
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    off = 0.0
    for place, law in enumerate(found.marginals("count")):
        exact = np.bincount(tables[:, place], weights=weights, minlength=MOST)
        off = max(off, *(abs(law.pmf(value) - float(exact[value])) for value in range(MOST)))  # type: ignore[attr-defined]
    yield Bar(f"{words}: exact laws of the cells", f"{off:.1e} apart", "<= 1e-12", off <= 1e-12)
    drawn = found.drawn(1, DRAWS)["count"][0]  # type: ignore[operator]
    farthest = max(_apart(weights, tables, drawn, *pair) for pair in combinations_with_replacement(range(4), 2))
    yield Bar(f"{words}: means and products of {DRAWS:,} draws", f"{farthest:.2f} se apart", "<= 4 se", farthest <= 4.0)


def _apart(weights: Floats, tables: NDArray[Any], drawn: NDArray[Any], one: int, other: int) -> float:
    """Return how many standard errors the draws' mean product of two cells is off; cell 0 is always 1."""
    ours, theirs = (np.column_stack([np.ones(len(part)), part]) for part in (drawn, tables))
    values = theirs[:, one] * theirs[:, other]
    mean = float(weights @ values)
    deviation = float(np.sqrt(weights @ (values - mean) ** 2))
    average = float((ours[:, one] * ours[:, other]).mean())
    return abs(average - mean) / deviation * float(np.sqrt(len(drawn))) if deviation > 1e-9 else 0.0


def _log_weights(tables: NDArray[np.int64], people: Any) -> Floats:
    """Return ln of the prior probability of tables, but for a constant."""
    total = tables.sum(axis=1)
    logs = (gammaln(tables + PRIOR) - gammaln(tables + 1)).sum(axis=1)
    if people != 12:
        whole = PRIOR * tables.shape[1]
        share = people.mean / (people.mean + people.dispersion)
        logs = logs - (gammaln(total + whole) - gammaln(total + 1))
        logs = logs + gammaln(total + people.dispersion) - gammaln(total + 1) + total * np.log(share)
    return np.asarray(logs)
