"""Gauss-Legendre panels for smooth pieces between kinks, and the standard Laplace and exponential laws."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
TAILS = 45.0  # e^-45 is 3e-20: what lies beyond this many scales is left out


@cache
def _rule(count: int) -> tuple[Floats, Floats, Floats]:
    """Return nodes and weights on [0, 1], and the matrix of integrals from 0 to each node."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    legendre = np.polynomial.legendre.legvander(nodes, count - 1)
    integrals = np.empty((count, count))
    for degree in range(count):
        unit = np.zeros(count)
        unit[degree] = 1.0
        primitive = np.polynomial.legendre.legint(unit, lbnd=-1.0)
        integrals[:, degree] = np.polynomial.legendre.legval(nodes, primitive)
    return (nodes + 1) / 2, weights / 2, integrals @ np.linalg.inv(legendre) / 2


class Panels:
    """A line cut into panels with Gauss-Legendre nodes on each."""

    def __init__(self, edges: Floats, nodes: int) -> None:
        places, self._rule, self._inside = _rule(nodes)
        self.edges = edges
        self.widths = np.diff(edges)
        # one row a node and one column a panel: sums over nodes then run along memory
        self.nodes: Floats = edges[:-1] + self.widths * places[:, None]
        self.weights: Floats = self.widths * self._rule[:, None]

    def integrals(self, values: Floats) -> Floats:
        """Return the integral over each panel of a function given at the nodes."""
        total: Floats = (self._rule @ values) * self.widths
        return total

    def primitive(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the integral from the left end up to each node, and up to each edge."""
        at_edges = np.concatenate([[0.0], np.cumsum(self.integrals(values))])
        return at_edges[:-1] + self.widths * (self._inside @ values), at_edges


def cut(kinks: Floats, *, width: float, reach: float) -> Floats:
    """Return edges at all kinks, at most `width` apart, to `reach` beyond the outermost."""
    kinks = np.unique(kinks)
    ends = np.concatenate([[kinks[0] - reach], kinks, [kinks[-1] + reach]])
    pieces = [
        np.linspace(a, b, max(int(np.ceil((b - a) / width)), 1), endpoint=False)
        for a, b in pairwise(ends.tolist())
        if b > a
    ]
    return np.concatenate([*pieces, ends[-1:]])


def laplace_below(distance: Floats) -> Floats:
    """Return the chance that standard Laplace noise is below a number."""
    half = 0.5 * np.exp(-np.abs(distance))
    return np.where(distance < 0, half, 1.0 - half)


def laplace_density(distance: Floats) -> Floats:
    """Return the density of standard Laplace noise."""
    return 0.5 * np.exp(-np.abs(distance))


def laplace_between(low: Floats, high: Floats) -> Floats:
    """Return the chance that standard Laplace noise lies between two numbers, accurate in both tails."""
    same = np.sign(low) * np.sign(high) >= 0
    near, far = np.minimum(np.abs(low), np.abs(high)), np.maximum(np.abs(low), np.abs(high))
    with np.errstate(invalid="ignore"):
        one_side = -0.5 * np.exp(-near) * np.expm1(near - far)
        around = -0.5 * (np.expm1(-np.abs(low)) + np.expm1(-np.abs(high)))
    return np.where(low >= high, 0.0, np.where(same, one_side, around))
