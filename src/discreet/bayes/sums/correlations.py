"""Correlation matrices with a flat prior, by unknowns without bounds: hyperbolic angles of partial correlations.

The rows of the Cholesky factor of a correlation matrix of d columns have norm 1; with partial correlations p_ij, j <
i, an entry is p_ij times the root of what the squares before it leave. The density of the matrix is flat where p_ij is
2 B - 1 with B ~ Beta(b, b), b = 1 + (d - 2 - j) / 2, independently (j from 0).

Reference. Lewandowski, Kurowicka, Joe 2009.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def _shapes(size: int) -> Floats:
    """Return b for each partial correlation, row by row."""
    return np.array([1.0 + (size - 2 - column) / 2.0 for row in range(size) for column in range(row)])


def partial_correlations(size: int, count: int, generator: np.random.Generator) -> Floats:
    """Draw inverse hyperbolic tangents of partial correlations, (count, pairs), from the flat prior.

    >>> partial_correlations(3, 2, np.random.default_rng(1)).shape
    (2, 3)
    """
    shapes = _shapes(size)
    share = generator.beta(shapes, shapes, size=(count, shapes.size))
    return np.asarray(0.5 * (np.log(share) - np.log1p(-share)))


def log_correlations(size: int, angles: Floats) -> Floats:
    """Return ln of the prior density of the inverse hyperbolic tangents."""
    shapes = _shapes(size)
    constants = [math.lgamma(2.0 * b) - 2.0 * math.lgamma(b) + (1.0 - 2.0 * b) * math.log(2.0) for b in shapes.tolist()]
    height = np.abs(angles)
    log_rest = math.log(4.0) - 2.0 * height - 2.0 * np.log1p(np.exp(-2.0 * height))  # ln (1 - p^2)
    return np.asarray(log_rest @ shapes + sum(constants))


def correlation_root(size: int, angles: Floats) -> Floats:
    """Return Cholesky factors (size, size, points) of correlation matrices from inverse hyperbolic tangents.

    >>> root = correlation_root(2, np.array([[np.arctanh(0.6)]]))[..., 0]
    >>> (root @ root.T).round(6).tolist()
    [[1.0, 0.6], [0.6, 1.0]]
    """
    partial = np.tanh(angles.T)
    root = np.zeros((size, size, len(angles)))
    place = 0
    for row in range(size):
        left = np.ones(len(angles))
        for column in range(row):
            root[row, column] = partial[place] * np.sqrt(left)
            left = left * (1.0 - partial[place] ** 2)
            place += 1
        root[row, row] = np.sqrt(left)
    return root
