"""What a row's gradient is made of: its errors at the current weights, the same to the last bit beside any other rows.

The exponential function is our own, from sums and products alone: those of numpy and of a processor may round
differently at the ends of an array, and then one person's leaving would move another person's contribution.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.learning.exact.vectors import STEPS, in_ball

Floats = NDArray[np.float64]
Errors = Callable[[Floats, NDArray[Any]], Floats]
_LOWEST = -40.0
_PER_LOG2 = 1.4426950408889634
_LOG2_HIGH = 0.693147180369123816490  # its last 20 bits are 0, so that small multiples of it are exact
_LOG2_LOW = 1.90821492927058770002e-10
_TERMS = tuple(1.0 / factor for factor in (5040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0))
GRID = 2.0**-20
_FARTHEST = 2.0**13


def exponential(lines: Floats) -> Floats:
    """Return exp(x) for x <= 0, to 1e-8 of its value; everything below -40 counts as -40.

    Written x = k ln 2 + r with |r| <= 0.35, it is 2^k times a polynomial of degree 7 in r.

    >>> [round(float(value), 7) for value in exponential(np.array([0.0, -1.0, -10.0]))]
    [1.0, 0.3678794, 4.54e-05]
    """
    below = np.maximum(lines, _LOWEST)
    power = np.rint(below * _PER_LOG2)
    rest = below - power * _LOG2_HIGH - power * _LOG2_LOW
    value = np.full_like(rest, _TERMS[0])
    for term in _TERMS[1:]:
        value *= rest
        value += term
    return np.asarray(value * ((power.astype(np.int64) + 1023) << 52).view(np.float64))


def softmax_errors(scores: Floats, codes: NDArray[Any]) -> Floats:
    """Return the probabilities of the classes less the truth, a line a class; 0 for a row of no declared class."""
    shifted = scores - scores.max(axis=0)
    weights = exponential(shifted)
    total = np.zeros(scores.shape[1])
    for line in weights:
        total += line
    errors = weights / total
    declared = codes < len(scores)
    truth = np.where(declared, codes, 0).astype(np.int64)
    errors[truth, np.arange(scores.shape[1])] -= 1.0
    return np.where(declared, errors, 0.0)


def squared_errors(scores: Floats, targets: NDArray[Any]) -> Floats:
    """Return the predicted numbers less the true ones, in one line; 0 where there is no true one."""
    held = np.isfinite(targets.astype(np.float64))
    return np.where(held, scores - np.where(held, targets.astype(np.float64), 0.0), 0.0)


def on_grid(weights: Floats) -> Floats:
    """Return weights as whole multiples of 2^-20, at most 2^13 long a class, in such multiples.

    For |z| <= 2^19 all sums in z'w are then at most |z| |w| <= 2^52 by Cauchy and Schwarz: exact in every order.
    """
    norms = np.sqrt((weights * weights).sum(axis=1, keepdims=True))
    held = weights * np.minimum(1.0, _FARTHEST * (1.0 - 2.0**-30) / np.maximum(norms, 1.0))
    return np.asarray(np.trunc(held / GRID))


def clipped_errors(scores: Floats, beside: NDArray[Any], errors: Errors, clip: float) -> Floats:
    """Return every row's errors at scores in steps of 2^-39, cut to `clip`, as whole floats at most 2^19 long."""
    return in_ball(errors(scores * (GRID / STEPS), beside), clip)
