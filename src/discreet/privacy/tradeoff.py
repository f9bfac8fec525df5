"""The adversary's two errors as a curve, and the test whether a normal pair is worse everywhere."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.laws.number import Number
from discreet.privacy.claim_pairs import NormalPair
from discreet.privacy.rounding import downward, number

if TYPE_CHECKING:
    from discreet.display.plots import Plot

_LINES = 128
_LARGEST_USEFUL = 700.0


@dataclass(frozen=True, slots=True, eq=False)
class TradeOff:
    """For each chance alpha of a false alarm, bounds on the least chance that the adversary's test misses.

    Without privacy the curve is 0; with perfect privacy it is 1 - alpha, the dashed line of the plot. `lower` is the
    safe end.
    """

    alpha: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    def __len__(self) -> int:
        """Return the number of points."""
        return len(self.alpha)

    def plot(self) -> Plot:
        """Draw the certified band and the line of perfect privacy; needs the extra `plot`."""
        from discreet.display.plots import plot_curve

        return plot_curve(
            self.alpha,
            self.lower,
            self.upper,
            estimate=1.0 - self.alpha,
            title="What an adversary's test can achieve",
            x_label="chance of a false alarm",
            y_label="chance of a miss",
            names=("certified band", "perfect privacy"),
        )


def normal_pair_is_worse(delta_above: Callable[[Fraction], float], largest_loss: float, mu: Number) -> bool:
    """Say whether a release is proven mu-Gaussian DP, from upper bounds on delta(epsilon) in both directions.

    Privacy. True only if the trade-off curve f of the release is at least G, the curve of `NormalPair(mu)`, everywhere.
        Proof: for each level e_j with delta(e_j) <= d_j, f(a) >= l_j(a) = 1 - d_j - e^(e_j) a. Take 0 = e_0 < ... <
        e_J, e_J the largest loss, d_J = 0, and points b_0 >= b_1 >= ... >= b_(J-1) >= b_J = 0. G is convex, so on [b_j,
        b_(j-1)] it is below l_j if it is at both ends; at b_J = 0, G(0) = 1 = l_J(0). That covers [0, b_0]. f and G are
        symmetric about the diagonal (delta bounds both directions), and l_0 has slope -1: G <= l_0 at b_0 gives
        G(l_0(b_0)) <= G(G(b_0)) = b_0 as G decreases, so convexity covers [b_0, l_0(b_0)], and the mirror image of [0,
        b_0] the rest.
    """
    if largest_loss == 0.0:
        return True
    if largest_loss > _LARGEST_USEFUL:
        return False
    levels = [Fraction(largest_loss * step / _LINES) for step in range(_LINES)] + [Fraction(largest_loss)]
    chances = list(accumulate([*(delta_above(level) for level in levels[:-1]), 0.0], min))
    worst = NormalPair(mu)
    points = _meeting_points(levels, chances)
    heights = [worst.tradeoff(point).upper for point in points]

    def below(line: int, point: int) -> bool:
        return heights[point] <= _line(levels[line], chances[line], points[point])

    pieces = (j for j in range(1, _LINES + 1) if points[j] < points[j - 1])
    return below(0, 0) and all(below(j, j) and below(j, j - 1) for j in pieces)


def _meeting_points(levels: list[Fraction], chances: list[float]) -> list[float]:
    """Return where each line meets the next steeper one (any decreasing points would be sound; these are the best)."""
    slopes = [math.exp(level) for level in levels]
    drops = zip(pairwise(chances), pairwise(slopes), strict=True)
    meetings = [(high - low) / (steep - flat) if steep > flat else 0.0 for (high, low), (flat, steep) in drops]
    return [*accumulate(meetings, min), 0.0]


def _line(level: Fraction, chance: float, alpha: float) -> float:
    """Return 1 - chance - e^level alpha, rounded down."""
    return downward(lambda: number(1 - Fraction(chance)) - number(level).exp() * number(alpha))
