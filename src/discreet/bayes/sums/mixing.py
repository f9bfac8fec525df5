"""The mixing variables of Laplace noise, as unknowns that a sampler walks about in with ease.

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
