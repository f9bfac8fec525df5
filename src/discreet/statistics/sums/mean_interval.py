"""The interval of a mean between public bounds: the one place where noise in a sum and a size becomes two ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from discreet.laws.noise import IntegerNoise
from discreet.laws.number import round_down, round_up
from discreet.statistics.columns import FixedPoint
from discreet.statistics.pricing import combination_quantile

_ITERATIONS = 60
_FEW = 4.0
Shares = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class MeanInterval:
    """Intervals for p = A / (A + B), the mean as a share of its range, from A and A + B with noise.

    A is the sum of the distances from the lower bound and B of those to the upper one, both with this noise; or, if
    `centered`, 2 A - (A + B) and A + B have it.

    Accuracy. All p for which |A - p (A + B)| stays within the quantile of its noise, a known combination of two, form
        the interval, which so has the confidence at any size.
    Reference. Intervals for ratios: Fieller 1954.

    >>> from discreet.laws import DiscreteLaplace
    >>> [
    ...     round(end, 2)
    ...     for end in MeanInterval(DiscreteLaplace(1)).shares(300.0, 1000.0, 0.95)
    ... ]
    [0.3, 0.3, 0.3]
    """

    noise: IntegerNoise
    centered: bool = False

    def shares(self, first: float, size: float, confidence: float) -> Shares:
        """Return low, value and high of p, from A and A + B."""
        return mean_shares(first, size, lambda share: self._reach(share, confidence))

    def half_width(self, size: float, rest: float) -> float:
        """Return the half-width at the worst p where A + B is `size`, its own noise included; infinite for small sizes.

        It fails with a probability of at most `rest`: a tenth of that is for the size.
        """
        lost = combination_quantile(self.noise, self._of_size, 1.0 - 0.1 * rest)
        reach = self._reach(0.0, 1.0 - 0.9 * rest)
        left = size - lost
        return math.inf if left <= _FEW * reach else reach / left

    @property
    def _of_size(self) -> list[float]:
        """The coefficients of both noises in A + B."""
        return [1.0] if self.centered else [1.0, 1.0]

    def _reach(self, share: float, confidence: float) -> float:
        """Return how far the noise of A - p (A + B) goes; it goes furthest at an end."""
        coefficients = [0.5, 0.5 - share] if self.centered else [1.0 - share, share]
        return combination_quantile(self.noise, coefficients, confidence)


def mean_shares(first: float, size: float, quantile: Callable[[float], float]) -> Shares:
    """Return low, value and high of p = A / (A + B), where |A - p (A + B)| is within quantile(p) for the true p.

    Where the size is not well above its noise every share is possible.

    >>> mean_shares(30.0, 100.0, lambda share: 2.0)
    (0.27999..., 0.3, 0.32000...)
    """
    if size <= 0 or size <= _FEW * quantile(0.0):
        return 0.0, within_range(first / size) if size > 0 else 0.5, 1.0
    return _end(first, size, -1.0, quantile), within_range(first / size), _end(first, size, 1.0, quantile)


def _end(first: float, size: float, sign: float, quantile: Callable[[float], float]) -> float:
    """Solve |A - p (A + B)| = quantile(p) on one side of the estimate; the map is a contraction for large sizes."""
    share = within_range(first / size)
    for _ in range(_ITERATIONS):
        moved = within_range((first + sign * quantile(share)) / size)
        close, share = abs(moved - share) < 1e-13, moved
        if close:
            break
    return within_range(share + sign * 1e-12)


def within_range(share: float) -> float:
    """Return the nearest share of the range that there is."""
    return min(max(share, 0.0), 1.0)


def mean_ends(scale: FixedPoint, low: float, high: float, *, rounded: Fraction) -> tuple[float, float]:
    """Return two shares of the range in the unit of the values: moved out by what rounding did, and within the bounds.

    `rounded` is how far rounding to the grid moves a value at most.
    """
    first, last = scale.value(0), scale.value(scale.steps)
    below, above = (first + Fraction(share) * (last - first) for share in (low, high))
    return round_down(max(below - rounded, first)), round_up(min(above + rounded, last))
