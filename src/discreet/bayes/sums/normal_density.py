"""The density of noisy sums with normal noise, for many laws of the sums at once."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_LOG_ROOT = 0.5 * math.log(2.0 * math.pi)


def log_normal(residual: Floats, factor: Floats) -> Floats:
    """Return ln of the density of N(0, I + F F') at residuals (entries, points), F (entries, latent, points).

    A Cholesky factor, bordered by the residuals, is computed for all points at once; the border of the factor is then
    its inverse times the residuals. Inverting I + F'F instead would be shorter, and wrong far out: where F is huge the
    difference of two huge squares can have any sign.

    >>> two = log_normal(np.zeros((2, 1)), np.ones((2, 1, 1)))
    >>> round(float(two[0]), 6), round(float(-np.log(2 * np.pi) - np.log(3) / 2), 6)
    (-2.387183, -2.387183)
    """
    size, points = residual.shape
    bordered = np.empty((size + 1, size, points))
    for place in range(size):
        bordered[place:size, place] = np.einsum("jn,kjn->kn", factor[place], factor[place:])
        bordered[place, place] += 1.0
    bordered[size] = residual
    log_determinant = np.zeros(points)
    for place in range(size):
        pivot = np.sqrt(bordered[place, place])
        log_determinant += np.log(pivot)
        bordered[place:, place] /= pivot
        for later in range(place + 1, size):
            bordered[later:, later] -= bordered[later:, place] * bordered[later, place]
    quadratic = np.einsum("kn,kn->n", bordered[size], bordered[size])
    return np.asarray(-0.5 * quadratic - log_determinant - size * _LOG_ROOT)
