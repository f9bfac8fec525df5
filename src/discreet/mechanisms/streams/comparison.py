"""How far comparisons of noisy values with one noisy threshold can be from the truth, by their exact law."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.laws.noise.discrete_laplace import DiscreteLaplace

_CELLS = 1 << 14


def comparison_width(
    threshold_noise: DiscreteLaplace, query_noise: DiscreteLaplace, *, queries: int, beta: float
) -> int:
    """Return the least a for which all of k query noises are within a of the threshold's with probability 1 - beta.

    P(|N_i - R| <= a for all k) = sum over r of P(R = r) P(|N - r| <= a)^k, evaluated on the law. On fine grids r runs
    over cells of 1/200 of the scale, each counted at its worst point, which errs upward.
    """
    low, each = -1, 1 - Fraction(beta) / 2
    high = threshold_noise.half_width(each) + query_noise.half_width(each, queries)
    while high - low > 1:
        middle = (low + high) // 2
        enough = _inside(threshold_noise, query_noise, middle, queries) >= 1 - beta
        low, high = (low, middle) if enough else (middle, high)
    return high


def _inside(threshold_noise: DiscreteLaplace, query_noise: DiscreteLaplace, width: int, queries: int) -> float:
    """Return a lower bound on P(all |N_i - R| <= width), exact to rounding where cells are single steps."""
    reach = int(40 * threshold_noise.scale) + 2
    cell = max(1, 2 * reach // _CELLS)
    first = np.arange(-reach, reach + 1, cell)
    last = first + cell - 1
    mass = threshold_noise.cdf(last) - threshold_noise.cdf(first - 1)
    each = query_noise.cdf(first + width) - query_noise.cdf(last - width - 1)
    slack = (queries + _CELLS) * 2.0**-50  # a relative error in each power, and in the sum
    return float(np.sum(mass * np.clip(each, 0.0, 1.0) ** queries)) * (1.0 - slack) - slack
