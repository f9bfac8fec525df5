"""Sums with normal noise, and with Laplace noise as a mixture of normals: densities of both.

Laplace noise of scale b is a normal of variance 2 b^2 w, w exponential (Andrews, Mallows 1974). The unknown is not w,
whose logarithm has one long tail, but the normal score u of w: w = -ln(1 - Phi(u)) is exponential where u is standard
normal, because 1 - Phi(u) is uniform. What is known of u is then near a normal law, and moves that follow a fitted
one are accepted several times as often.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_LOG_ROOT = 0.5 * math.log(2.0 * math.pi)
_LEAST = 1e-300


def log_mixing(scores: Floats) -> Floats:
    """Return ln w at normal scores of mixing variables.

    >>> round(float(log_mixing(np.zeros(1))[0]), 6) == round(math.log(math.log(2)), 6)
    True
    """
    from scipy.special import log_ndtr

    return np.asarray(np.log(np.maximum(-log_ndtr(-scores), _LEAST)))


def log_scores(scores: Floats) -> Floats:
    """Return ln of the prior density of scores (points, variables).

    >>> round(float(log_scores(np.zeros((1, 2)))[0]), 6)
    -1.837877
    """
    return np.asarray(-0.5 * np.einsum("nk,nk->n", scores, scores) - scores.shape[1] * _LOG_ROOT)


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
