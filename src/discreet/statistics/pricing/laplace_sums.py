"""How far a difference of two sums of many equal Laplace noises goes: the quantile of a noisy rank.

Let Z = p (X_1 + ... + X_j) - a (Y_1 + ... + Y_k) with independent Laplace variables of scale 1. Its characteristic
function is phi(u) = (1 + p^2 u^2)^-j (1 + a^2 u^2)^-k, and its law is symmetric.

Lemma (tail by a square wave). For h > 0 and 0 <= t < R = 2 pi / h, P(Z > t) differs from 1/2 minus the sum over k >= 0
of sin(u_k t) phi(u_k) / (pi (k + 1/2)), u_k = (k + 1/2) h, by at most P(|Z| >= R - t).
Proof. The sum of sin(u_k y) / (pi (k + 1/2)) is a square wave in y: 1/2 sign(y) for |y| < R, and never more than 1/2 in
size. Put y = t - Z and take expectations; E sin(u (t - Z)) = sin(u t) phi(u) by symmetry. Where |t - Z| < R the wave is
1/2 - 1{Z > t}, but for a chance of 0; elsewhere it is wrong by at most 1.
Reference. Davies 1973.

Lemma (what is left of the sum). For u >= U, phi(u) <= phi(U) (U / u)^G with G = 2 j p^2 U^2 / (1 + p^2 U^2) +
2 k a^2 U^2 / (1 + a^2 U^2), because the logarithm of 1 + c^2 u^2 grows in ln u at a rate that itself grows. So the
terms beyond U add up to at most the integral of phi(U) U^G u^-(G+1) / pi, a convex function taken at midpoints:
phi(U) / (pi G).

Lemma (Chernoff). P(Z > t) <= exp(-s t) (1 - p^2 s^2)^-j (1 - a^2 s^2)^-k for every s with p s < 1 and a s < 1.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_TILTS = np.linspace(0.01, 0.99, 99)
_ALLOWED = 1e-10  # each of the two errors of the sum over frequencies
_LEAST_FAILURE = 1e-7  # below it Chernoff's bound is about as good
_MOST_TERMS = 1 << 20
_BISECTIONS = 60


def chernoff_reach(level: float, below: Any, above: Any, failure: float) -> Floats:
    """Return t with P(Z > t) <= failure by Chernoff's bound, for Z with p = 1 - level, a = level, j below, k above.

    >>> float(chernoff_reach(0.5, 20, 20, 0.025)) > laplace_sum_reach(
    ...     0.5, 20, 20, 0.025
    ... )
    True
    """
    count, rest = np.asarray(below, dtype=np.float64)[..., None], np.asarray(above, dtype=np.float64)[..., None]
    p, a = 1.0 - level, level
    tilt = _TILTS / max(p, a)
    logarithm = -count * np.log1p(-((p * tilt) ** 2)) - rest * np.log1p(-((a * tilt) ** 2))
    reach: Floats = ((logarithm - math.log(failure)) / tilt).min(axis=-1) * (1 + 1e-12)
    return reach


@lru_cache(maxsize=1 << 14)
def laplace_sum_reach(level: float, below: int, above: int, failure: float) -> float:
    """Return t with P(Z > t) <= failure, close to the least, for Z as in `chernoff_reach`; failure is at most 1/2.

    >>> round(laplace_sum_reach(0.0, 1, 0, 0.025), 4)  # one Laplace variable: ln 20
    2.9957
    """
    most = float(chernoff_reach(level, below, above, failure))
    if failure < _LEAST_FAILURE:
        return most
    tail = _tail(level, below, above, most)
    if tail is None:
        return most
    wanted = failure * (1 - 1e-9) - 3 * _ALLOWED
    low, high = 0.0, most
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if tail(middle) <= wanted else (middle, high)
        if high - low <= 1e-9 * high:
            break
    return high


def _tail(level: float, below: int, above: int, most: float) -> Any:
    """Return a function of t <= most that gives P(Z > t) to within 2 `_ALLOWED`; None where it needs too many terms."""
    p, a = 1.0 - level, level
    period = most + float(chernoff_reach(level, below, above, _ALLOWED / 2))
    step = 2 * math.pi / period

    def logarithm(u: Any) -> Any:
        return -below * np.log1p((p * u) ** 2) - above * np.log1p((a * u) ** 2)

    end = 1.0 / max(p, a)
    while True:
        rate = sum(2 * n * (c * end) ** 2 / (1 + (c * end) ** 2) for n, c in ((below, p), (above, a)))
        if float(logarithm(end)) - math.log(math.pi * rate) <= math.log(_ALLOWED):
            break
        end *= 1.25
        if end / step > _MOST_TERMS:
            return None
    half = np.arange(math.ceil(end / step)) + 0.5
    frequencies = half * step
    weights = np.exp(logarithm(frequencies)) / (math.pi * half)
    return lambda t: 0.5 - float(np.dot(np.sin(frequencies * t), weights))
