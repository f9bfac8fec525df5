"""Answers that anybody can give without an algorithm: what a release must beat to be worth its price."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from discreet.synthesis.domain import Records
from discreet.synthesis.methods.forest import Forest
from discreet.synthesis.workloads import Workload


class Baseline(Enum):
    """A way to answer without having looked, or having looked at single attributes only."""

    ZERO = "zero"  # nobody, every time
    UNIFORM = "uniform"  # every value alike
    MODAL = "modal record"  # everybody has the most frequent value of each attribute
    INDEPENDENT = "product of one-ways"  # attributes taken to be independent

    def __repr__(self) -> str:
        """Print the name by which code reaches it."""
        return f"Baseline.{self.name}"


def one_way_shares(records: Records, weights: NDArray[np.float64] | None = None) -> list[NDArray[np.float64]]:
    """Return, for each attribute, the share of records, or of their weight, with each code."""
    sizes = records.domain.sizes
    if not len(records):
        return [np.full(size, 1 / size) for size in sizes]
    found = [
        np.bincount(codes, weights=weights, minlength=size) for codes, size in zip(records.codes, sizes, strict=True)
    ]
    return [counts / counts.sum() for counts in found]


def baseline_answers(
    baseline: Baseline, workload: Workload, shares: Sequence[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return what a baseline answers to every query, given the one-way shares it may use.

    >>> from discreet.synthesis import Domain, queries
    >>> domain = Domain.of(sex=["f", "m"], rooms=[1, 2, 3, 4])
    >>> asked = queries(domain, [{"sex": "f", "rooms": 1}])
    >>> baseline_answers(Baseline.INDEPENDENT, asked, [np.array([0.5, 0.5]), np.array([0.2, 0.4, 0.2, 0.2])]).tolist()
    [0.1]
    """
    if baseline is Baseline.ZERO:
        return np.zeros(len(workload))
    if baseline is Baseline.MODAL:
        record = np.array([int(np.argmax(one)) for one in shares], dtype=np.uint16)
        return workload.truths(record).astype(np.float64)
    if baseline is Baseline.UNIFORM:
        shares = [np.full(size, 1 / size) for size in workload.domain.sizes]
    return Forest.of(workload.domain, shares).answers(workload)
