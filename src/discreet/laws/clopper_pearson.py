"""Bounds on a chance from how often it came true: Clopper and Pearson's, exact for every chance and every count."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Counts = npt.ArrayLike
Floats = npt.NDArray[np.float64]
_SLACK = 1e-9  # relative; covers the rounding of the inverse beta function


def chance_at_least(seen: Counts, draws: Counts, rest: float) -> Floats:
    """Return a lower bound on the chance of an event that occurred `seen` times in `draws` independent draws.

    Accuracy. The bound exceeds the chance with probability at most `rest`, for every chance and number of draws.
        Proof: let b(k) be the p with P(Binomial(n, p) >= k) = rest (0 for k = 0). The tail grows with p, so b(k) > p
        says that P(Binomial(n, p) >= k) < rest: the count k lies in the upper tail of p, of mass at most rest. That
        tail is the beta distribution function of p with parameters k and n - k + 1, which is inverted here.
    Reference. Clopper, Pearson 1934.

    >>> round(float(chance_at_least(100, 100, 0.025)), 4)
    0.9638
    """
    from scipy.special import betaincinv

    count, total = _counts(seen, draws)
    low = betaincinv(np.maximum(count, 1.0), total - count + 1.0, rest * (1.0 - _SLACK))
    return np.where(count <= 0.0, 0.0, low * (1.0 - _SLACK))


def chance_at_most(seen: Counts, draws: Counts, rest: float) -> Floats:
    """Return an upper bound on the chance of an event: with probability at most `rest` it is below the chance.

    The lower bound on the chance that the event does not come true, turned round.

    >>> round(float(chance_at_most(0, 100, 0.025)), 4)
    0.0362
    """
    from scipy.special import betainccinv

    count, total = _counts(seen, draws)
    high = betainccinv(count + 1.0, np.maximum(total - count, 1.0), rest * (1.0 - _SLACK))
    return np.where(count >= total, 1.0, np.minimum(high * (1.0 + _SLACK), 1.0))


def _counts(seen: Counts, draws: Counts) -> tuple[Any, Any]:
    """Return both as floats; counts of expected numbers need not be whole."""
    return np.asarray(seen, dtype=np.float64), np.asarray(draws, dtype=np.float64)
