"""The posterior of a few small counts by listing all of them: slow, and with nothing of the code it checks."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


def ways(top, a):
    """c(t, a) = (a) (a + 1) ... (a + t - 1) / t! for t < top."""
    found = [1.0]
    for t in range(1, top):
        found.append(found[-1] * (t - 1 + a) / t)
    return np.array(found)


def laplace(scale):
    q = math.exp(-1 / scale)
    return lambda x: (1 - q) / (1 + q) * q ** abs(x)


def gaussian(scale):
    total = math.fsum(
        math.exp(-x * x / (2 * scale * scale)) for x in range(-60 * math.ceil(scale), 60 * math.ceil(scale) + 1)
    )
    return lambda x: math.exp(-x * x / (2 * scale * scale)) / total


@dataclass
class Listed:
    """Weights of all tables of counts, one axis a cell."""

    weights: np.ndarray

    @property
    def counts(self):
        return np.indices(self.weights.shape)

    @property
    def masses(self):
        return self.weights / self.weights.sum()

    def law(self, cell):
        axes = tuple(axis for axis in range(self.weights.ndim) if axis != cell)
        return self.masses.sum(axis=axes)

    def total_law(self):
        return np.bincount(self.counts.sum(axis=0).ravel(), self.masses.ravel())

    def mean(self, function):
        """The posterior mean of a function of the counts."""
        return float((self.masses * function(self.counts)).sum())


def listed(tops, cells, seen, *, total=None):
    """List all tables T_j < tops[j] with weight prod cells[j](T_j) prod pmf(z - w sum of members) total(n)."""
    weights = np.ones(tops)
    counts = np.indices(tops)
    for j, cell in enumerate(cells):
        weights = weights * cell(tops[j])[counts[j]]
    for members, released, pmf, weight in seen:
        sums = counts[list(members)].sum(axis=0)
        table = np.array([pmf(released - weight * s) for s in range(sums.max() + 1)])
        weights = weights * table[sums]
    if total is not None:
        weights = weights * total(sum(tops))[counts.sum(axis=0)]
    return Listed(weights)
