"""From the table to the population: how far a mean of independent values in [0, 1] strays from its expectation.

Lemma. For n independent values in [0, 1] with mean expectation m, P(average <= a) <= exp(-n kl(a, m)) for a <= m, and
the same above, where kl(a, m) = a ln(a / m) + (1 - a) ln((1 - a) / (1 - m)). Proof. exp(s x) is convex in x, so its
expectation is at most that of a coin with the same mean; Chernoff's bound for coins, the best s put in. Reference.
Hoeffding 1963.
"""

from __future__ import annotations

import math

_BISECTIONS = 60


def mean_of_population(low: float, high: float, size: float, rest: float) -> tuple[float, float]:
    """Return bounds on the expectation when the table's mean lies in [low, high] and there are at least `size` values.

    >>> [round(end, 3) for end in mean_of_population(0.5, 0.5, 1000, 0.05)]
    [0.457, 0.543]
    """
    if size <= 0:
        return 0.0, 1.0
    allowed = math.log(2.0 / rest) / size
    return 1.0 - _upper(1.0 - low, allowed), _upper(high, allowed)


def _upper(mean: float, allowed: float) -> float:
    """Return the greatest m with kl(mean, m) <= allowed."""
    low, high = mean, 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if _divergence(mean, middle) <= allowed else (low, middle)
    return high


def _divergence(first: float, second: float) -> float:
    """Return kl(first, second) for second at or above first."""
    if second >= 1.0:
        return 0.0 if first >= 1.0 else math.inf
    inner = first * math.log(first / second) if first > 0.0 else 0.0
    return inner + ((1.0 - first) * math.log((1.0 - first) / (1.0 - second)) if first < 1.0 else 0.0)
