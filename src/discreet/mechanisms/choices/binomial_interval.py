"""Intervals for a fraction from randomized reports, by inverting the exact law of the number of reports.

A table with m of n people in the category gives S = Bin(m, q) + Bin(n - m, r) reports of it, which grows stochastically
with m when q > r. All m for which neither P(S <= s) nor P(S >= s) falls to (1 - confidence) / 2 form an interval that
holds with at least the stated confidence for every table. For a population fraction p every report is Bernoulli(r + p
(q - r)): Clopper-Pearson.
"""

from __future__ import annotations

import numpy as np

from discreet.errors import ParameterError
from discreet.laws.clopper_pearson import chance_at_least, chance_at_most

_SPREAD = 40.0


def interval_for_table(seen: int, people: int, truth: float, lie: float, confidence: float) -> tuple[float, float]:
    """Return bounds on the fraction in the table, clipped to [0, 1]."""
    rest = _rest(confidence) / 2

    def too_many(members: int) -> bool:
        return _at_most(seen, members, people, truth, lie) <= rest

    def too_few(members: int) -> bool:
        return 1.0 - _at_most(seen - 1, members, people, truth, lie) <= rest

    low, high = 0, people + 1
    while low < high:  # the least number of members that is not too few
        middle = (low + high) // 2
        low, high = (middle + 1, high) if middle <= people and too_few(middle) else (low, middle)
    least = min(low, people)
    low, high = -1, people
    while low < high:  # the greatest number of members that is not too many
        middle = (low + high + 1) // 2
        low, high = (low, middle - 1) if middle >= 0 and too_many(middle) else (middle, high)
    return least / people, max(low, 0) / people


def _at_most(seen: int, members: int, people: int, truth: float, lie: float) -> float:
    """Return P(Bin(members, truth) + Bin(people - members, lie) <= seen)."""
    from scipy.special import bdtr
    from scipy.stats import binom

    if seen < 0:
        return 0.0
    if seen >= people:
        return 1.0
    spread = _SPREAD * np.sqrt(members * truth * (1 - truth) + 1.0)
    low, high = max(int(members * truth - spread), 0), min(int(members * truth + spread) + 1, members)
    counts = np.arange(low, high + 1)
    others = people - members
    left = seen - counts
    cdf = np.where(
        left < 0, 0.0, np.where(left >= others, 1.0, bdtr(np.clip(left, 0, max(others, 1)), max(others, 1), lie))
    )
    if others == 0:
        cdf = (left >= 0).astype(np.float64)
    return float(np.sum(binom.pmf(counts, members, truth) * cdf))


def interval_for_population(seen: int, people: int, truth: float, lie: float, confidence: float) -> tuple[float, float]:
    """Return bounds on the fraction in the population the people are a sample of, clipped to [0, 1]."""
    rest = _rest(confidence) / 2
    ends = float(chance_at_least(seen, people, rest)), float(chance_at_most(seen, people, rest))
    return tuple(min(max((end - lie) / (truth - lie), 0.0), 1.0) for end in ends)  # type: ignore[return-value]


def _rest(confidence: float) -> float:
    """Return the allowed error."""
    if not 0.0 < confidence < 1.0:
        raise ParameterError(f"a confidence lies strictly between 0 and 1, got {confidence}", parameter="confidence")
    return (1.0 - confidence) * (1.0 - 1e-9)  # covers the rounding of the distribution functions
