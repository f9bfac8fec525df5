"""The exact law of the number of reports that speak for a value, inverted for one count."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

_SPREAD = 40.0  # what lies further than 40 standard deviations away is below any confidence a float can state
_SLACK = 1e-9  # relative; covers the rounding of the distribution functions


def table_interval(
    seen: int, people: int, preference: float, shared: float, rest: float, within: tuple[float, float]
) -> tuple[float, float]:
    """Return the least and the greatest share whose two tails both exceed rest / 2, for `seen` out of `people` reports.

    `within` holds shares that are known to contain both. Each tail is summed itself, never taken from 1, so that levels
    far below the rounding of 1 are right.

    >>> table_interval(8, 10, 0.75, 0.25, 0.05, (-1.0, 2.0))
    (0.5, 1.0)
    """
    level = rest / 2 * (1 - _SLACK)
    first = min(max(math.floor(within[0] * people), 0), people)
    last = min(max(math.ceil(within[1] * people), 0), people)

    def enough(members: int) -> bool:
        return _tail(seen, members, people, preference, shared, upper=True) > level

    def few_enough(others: int) -> bool:
        return _tail(seen, people - others, people, preference, shared, upper=False) > level

    least, most_others = _least(enough, first, last), _least(few_enough, people - last, people - first)
    return least / people, (people - most_others) / people


def _least(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the least number from which on something holds, the highest if it never does."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _tail(seen: int, members: int, people: int, truth: float, lie: float, *, upper: bool) -> float:
    """Return P(S >= seen), or P(S <= seen), for S = Bin(members, truth) + Bin(people - members, lie)."""
    from scipy.stats import binom

    spread = _SPREAD * math.sqrt(members * truth * (1 - truth) + 1.0)
    start, end = max(int(members * truth - spread), 0), min(int(members * truth + spread) + 1, members)
    own: NDArray[np.int64] = np.arange(start, end + 1)
    left = seen - own
    rest = binom.sf(left - 1, people - members, lie) if upper else binom.cdf(left, people - members, lie)
    return float(np.sum(binom.pmf(own, members, truth) * rest))
