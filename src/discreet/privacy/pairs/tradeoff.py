"""The adversary's two errors as a curve, and the test whether a normal pair is worse everywhere."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws import Enclosure, SafeEnd
from discreet.laws.number import Number
from discreet.privacy.numbers import downward, number
from discreet.privacy.pairs.worst_pairs import NormalPair

if TYPE_CHECKING:
    from discreet.display.plots import Plot

_LINES = 128
_LARGEST_USEFUL = 700.0
_SLACK = 2.0**-49
_LARGEST_LEVEL = 600.0
_SCAN, _SECTIONS, _GOLDEN = 60, 36, (5**0.5 - 1) / 2
_GAPS = (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0)


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


def tradeoff_from_deltas(
    delta: Callable[[float], Enclosure],
    delta_reversed: Callable[[float], Enclosure],
    alpha: float,
    *,
    reach: float | None = None,
) -> Enclosure:
    """Enclose the least chance of a miss at a chance alpha of a false alarm, from delta(epsilon) of both directions.

    Privacy. The miss is f(alpha) = sup over real e of h(y) = 1 - delta(e) - y alpha, y = e^e; delta(-e) = 1 - e^-e +
        e^-e times the other direction's delta(e).
        Proof: `lower` is h at one level, so at most the supremum (Neyman and Pearson: f is the conjugate of delta). h
        is concave in y. Where h(y1) and h(y3) are at most h(y2), y1 < y2 < y3, the supremum lies between y1 and y3;
        left of y2 a concave function is below the line through its points at y2 and y3, right of y2 below that through
        y1 and y2: `upper` is the larger of the two lines' values at y1 and y3.
    Reference. Dong, Roth, Su 2022.
    """
    if not 0.0 <= alpha <= 1.0:
        raise ParameterError(f"a test's size must lie in [0, 1], got {alpha}", parameter="alpha")
    method = "conjugate of delta(epsilon), by tangents"

    @cache
    def height(level: float) -> tuple[float, float]:
        """Bound h at a level; the slack covers the roundings of a handful of operations on numbers up to 1."""
        slope = math.exp(level)
        chance, share = (delta(level), 1.0) if level >= 0 else (delta_reversed(-level), slope)
        low, high = share * (1 - chance.upper), share * (1 - chance.lower)
        return low - slope * alpha * (1 + _SLACK) - _SLACK, high - slope * alpha * (1 - _SLACK) + _SLACK

    peak = _peak(lambda level: sum(height(level)), reach)
    low, high = height(peak)
    upper = _ceiling(height, peak, high)
    lower = min(max(low, 0.0), 1.0)
    upper = max(min(upper, 1.0 - alpha), lower)
    return Enclosure(lower, lower + (upper - lower) / 2, upper, method, SafeEnd.LOWER)


def _peak(score: Callable[[float], float], reach: float | None) -> float:
    """Return a level near the largest score: golden sections, after a scan where the levels that matter are unknown."""
    low, high = (-reach, reach) if reach is not None else _scanned(score)
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = score(left), score(right)
    for _ in range(_SECTIONS):
        if at_left >= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = score(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = score(right)
    return left if at_left >= at_right else right


def _scanned(score: Callable[[float], float]) -> tuple[float, float]:
    """Return the ends of a stretch of levels that holds the largest score."""
    step = 2 * _LARGEST_LEVEL / _SCAN
    start = max((-_LARGEST_LEVEL + step * index for index in range(_SCAN + 1)), key=score)
    return max(start - step, -_LARGEST_LEVEL), min(start + step, _LARGEST_LEVEL)


def tradeoff_lines(
    levels: NDArray[np.float64], forward: list[Enclosure], backward: list[Enclosure], alphas: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bound the best miss at many alphas from delta at levels >= 0 in both directions; see `tradeoff_from_deltas`."""
    slopes = np.concatenate([np.exp(-levels[:0:-1]), np.exp(levels)])
    # one by one: an array's exponentials may differ from a number's in the last place
    mirrored = [(np.exp(-level), one) for level, one in zip(levels[:0:-1], backward[:0:-1], strict=True)]
    low = (
        np.array([*(share * (1 - one.upper) for share, one in mirrored), *(1 - one.upper for one in forward)]) - _SLACK
    )
    high = (
        np.array([*(share * (1 - one.lower) for share, one in mirrored), *(1 - one.lower for one in forward)]) + _SLACK
    )
    below, above = np.empty(len(alphas)), np.empty(len(alphas))
    for index, alpha in enumerate(alphas):
        bottom = low - slopes * alpha * (1 + _SLACK)
        top = high - slopes * alpha * (1 - _SLACK)
        below[index] = np.max(bottom)
        # above all levels h <= 1 - y alpha, below all h <= y (1 - alpha)
        ends = max(1.0 - slopes[-1] * alpha, slopes[0] * (1.0 - alpha))
        above[index] = max(_highest(slopes, bottom, top), ends)
    lower = np.clip(below, 0.0, 1.0)
    return lower, np.maximum(np.minimum(above + _SLACK, 1.0 - alphas), lower)


def _highest(slopes: NDArray[np.float64], bottom: NDArray[np.float64], top: NDArray[np.float64]) -> float:
    """Bound a concave function, known between two ends at some points, on the stretch that they span.

    Between two of them it is below the line through the two points to their left, and below that to their right.
    """
    gaps = np.diff(slopes)
    rising = np.maximum((top[1:] - bottom[:-1]) / gaps, 0.0)  # at least the slope just left of a point, if it rises
    falling = np.maximum((top[:-1] - bottom[1:]) / gaps, 0.0)
    from_left = np.append(math.inf, top[1:-1] + rising[:-1] * gaps[1:])
    from_right = np.append(top[1:-1] + falling[1:] * gaps[:-1], math.inf)
    return float(np.max(np.minimum(from_left, from_right)))


def _ceiling(height: Callable[[float], tuple[float, float]], peak: float, top: float) -> float:
    """Return a bound on the supremum from the lines through three points about the peak; 1 if no line encloses it."""
    middle = math.exp(peak)
    for gap in _GAPS:
        near, far = height(peak - gap), height(peak + gap)
        best = height(peak)[0]
        if near[1] <= best and far[1] <= best:
            left, right = middle * -math.expm1(-gap), middle * math.expm1(gap)
            rise = max((top - far[0]) * left / right, (top - near[0]) * right / left)
            return top + rise * (1 + _SLACK) + _SLACK
    return 1.0


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
