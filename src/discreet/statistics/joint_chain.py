"""Exact draws of several ranks at once: a chain of gaps whose lengths should be near given ones.

The ranks 0 <= r_1 <= ... <= r_m <= n of m points cut n rows into m + 1 gaps. Gap j of length c_j = r_j - r_(j-1) weighs
exp(-rate |c_j - mu_j|); rank r weighs the number l_r of positions that have it; k points with one rank weigh 1/k!. What
is drawn is a tuple of ranks with probability proportional to the product, each rank within its window.

Exactness. Numbers B_j[r, k] are computed backwards from j = m. They bound from above what all continuations weigh from
a state where the jth point has rank r and is the kth in a row there: B_j[r, k] >= the sum, over the next rank r', of
its weight times B_(j+1)[r', 1], or B_(j+1)[r, k + 1] / (k + 1) for r' = r. The draw walks forward; it takes the next
rank with the probability weight * B_(j+1) / B_j, and with what is missing to 1 it gives up and starts again. The
product of these probabilities telescopes to the weight of the whole tuple over B_0: exactly proportional, however loose
the bounds. A step is taken by an integer envelope and a coin in ball arithmetic, as in `rank_draw`.

Lemma (bounds). The sum over r' > r is of the form sum of f[r'] exp(-rate |r' - r - mu|): two geometrically weighted
running sums, one from each side, all of whose terms are positive. A float sum of w positive terms, each passing through
at most 2 w products and sums, is within (4 w + 8) 2^-53 of the truth, factors exp within 2^-40 (assumption
float-log-exp with its slack) and a rate rounded down err upward only. The sum over c <= mu is the difference of two
running sums; its error is at most that share of the larger one, which is added to it. The factor 1 + 2^-28 + w 2^-48
covers all of it; numbers below 2^-900 of the largest are raised to that.
Cost. A few passes over a window for each of the m points.
Reference. The exponential mechanism for several quantiles at once: Gillenwater, Joseph, Kulesza 2021.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import AssumptionFailed
from discreet.laws.floating import ensure_tested
from discreet.laws.number import round_down
from discreet.randomness.uniform import uniform_below
from discreet.statistics.exact_coin import toss

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_FLOOR = 2.0**-900
_BLOCK_EXPONENT = 30.0
_LARGEST_EXPONENT = 700.0
_LARGEST_RATE = 1e280
_ROOM = 1 << 24
_UNITS = 1 << 60
LOOSE = 1 + Fraction(1, 1 << 20)


@dataclass(frozen=True, slots=True)
class Window:
    """The ranks from `low` to `high`, and how many positions have each."""

    low: int
    high: int
    lengths: Integers

    @property
    def size(self) -> int:
        """How many ranks."""
        return self.high - self.low + 1


class Chain:
    """The bounds for one table and the draws by them.

    `windows` are those of the m ranks, whose ends never fall; `means` are the m + 1 wanted lengths of the gaps.
    """

    def __init__(self, windows: list[Window], means: list[Fraction], rate: Fraction, rows: int) -> None:
        """Compute the bounds, last point first; row k - 1 of `_bounds` is for the kth point in a row at one rank."""
        ensure_tested()
        self._windows, self._means, self._rate, self._rows = windows, means, rate, rows
        self._slow = min(round_down(rate), _LARGEST_RATE)
        widest = max(window.size for window in windows)
        self._most = max(2, min(len(windows), _ROOM // (widest * len(windows)) + 1))
        self._inflation = 1.0 + 2.0**-28 + widest * 2.0**-48
        last = windows[-1]
        ends = self._kernel(rows - np.arange(last.low, last.high + 1), means[-1]) * self._inflation
        self._bounds: list[list[Floats]] = [[] for _ in windows]
        self._bounds[-1] = [np.maximum(ends, _FLOOR)] * self._most
        self._shifts = [0] * len(windows)  # the bounds of a point are to be multiplied by 2^shift
        for point in range(len(windows) - 2, -1, -1):
            self._extend(point)
        self.total = self._total()

    def draw(self) -> list[int] | None:
        """Return ranks, each tuple with probability weight / (total * LOOSE^(m + 1)), and None with what is missing."""
        rank, repeats, bound = 0, 0, self.total
        found: list[int] = []
        for point in range(len(self._windows)):
            step = self._step(point, rank, repeats, bound)
            if step is None:
                return None
            repeats = repeats + 1 if repeats and step == rank else 1
            rank = step
            found.append(rank)
            bound = self._bound(point, rank, repeats)
        exponent = self._rate * abs(self._rows - rank - self._means[-1])
        return found if toss(1 / (bound * LOOSE), exponent) else None

    def _extend(self, point: int) -> None:
        """Bound the continuations after a point from those after the next."""
        here, there, after = self._windows[point], self._windows[point + 1], self._bounds[point + 1]
        ahead = self._ahead(np.arange(here.low, here.high + 1), point + 1)
        same = max(here.low, there.low)
        stay = self._stay(point + 1) * self._inflation
        bounds = []
        for repeats in range(1, self._most + 1):
            bound = ahead.copy()
            if same <= here.high:
                again = after[min(repeats, self._most - 1)][same - there.low : here.high + 1 - there.low]
                bound[same - here.low :] += again * (stay / (repeats + 1)) * here.lengths[same - here.low :]
            bounds.append(bound)
        scale = math.frexp(float(bounds[0].max()))[1]
        self._shifts[point] = self._shifts[point + 1] + scale
        self._bounds[point] = [np.maximum(np.ldexp(bound, -scale) * self._inflation, _FLOOR) for bound in bounds]

    def _total(self) -> Fraction:
        """Return a number at or above what all tuples weigh."""
        first = self._windows[0]
        total = float(self._ahead(np.zeros(1, dtype=np.int64), 0)[0])
        if first.low == 0:
            total += float(self._bounds[0][0][0]) * float(first.lengths[0]) * self._stay(0)
        return Fraction(max(total * self._inflation, _FLOOR)) * Fraction(2) ** self._shifts[0]

    def _ahead(self, ranks: Integers, point: int) -> Floats:
        """Return floats at or above the sum of exp(-rate |r' - r - mu|) l_r' B[r', 1] over the r' > r of a point."""
        there, mean = self._windows[point], self._means[point]
        weights = self._bounds[point][0] * there.lengths
        whole = math.floor(mean)
        part = float(mean - whole)
        from_left, from_right = self._running(weights), self._running(weights[::-1])[::-1]
        reached = ranks + whole
        below = _looked_up(from_left, reached - there.low) * self._decay(reached - there.high)
        below[reached < there.low] = 0.0
        start = _looked_up(from_left, ranks - there.low) * _vanishing(self._slow * whole)
        start[ranks < there.low] = 0.0
        above = _looked_up(from_right, reached + 1 - there.low) * self._decay(there.low - reached - 1)
        above[reached + 1 > there.high] = 0.0
        shorter = np.maximum(below - start, 0.0) + below * (self._inflation - 1.0)
        shorter *= self._nearest(part) if whole else 0.0  # no rank lies above r and at or below r + 0
        total: Floats = shorter + above * self._nearest(1.0 - part)
        total[ranks >= there.high] = 0.0  # no rank lies ahead: what rounding left would swamp the bound
        return total * self._inflation

    def _kernel(self, counts: Integers, mean: Fraction) -> Floats:
        """Return floats at or above exp(-rate |count - mean|)."""
        whole = math.floor(mean)
        distance = np.abs((counts - whole).astype(np.float64) - float(mean - whole))
        exponent = self._slow * distance - 2.0**-49 * self._slow * (distance + 1.0)
        kernel: Floats = np.exp(-np.clip(exponent, 0.0, _LARGEST_EXPONENT)) * (1.0 + 2.0**-38)
        return kernel

    def _stay(self, point: int) -> float:
        """Return a float at or above the weight of an empty gap before a point."""
        return float(self._kernel(np.zeros(1, dtype=np.int64), self._means[point])[0])

    def _nearest(self, part: float) -> float:
        """Return a float at or above exp(-rate * part) for a part of a step known to 2^-53."""
        return math.exp(-min(self._slow * max(part - 2.0**-50, 0.0), _LARGEST_EXPONENT))

    def _decay(self, distance: Integers) -> Floats:
        """Return exp(-rate * distance) for positive distances, 1 for others."""
        exponent = np.maximum(distance, 0).astype(np.float64) * self._slow
        return np.exp(-np.minimum(exponent, _LARGEST_EXPONENT))

    def _running(self, values: Floats) -> Floats:
        """Return the sums over q >= 0 of exp(-rate q) * values[i - q], in blocks too short for any exponent."""
        size = min(max(int(_BLOCK_EXPONENT / self._slow), 1), values.size)
        count = -(-values.size // size)
        padded = np.zeros(count * size)
        padded[: values.size] = values
        decay = self._decay(np.arange(size))
        sums = np.cumsum(padded.reshape(count, size) / decay, axis=1) * decay
        carried = decay * self._nearest(1.0)
        for block in range(1, count):
            sums[block] += sums[block - 1, -1] * carried
        return sums.ravel()[: values.size]

    def _bound(self, point: int, rank: int, repeats: int) -> Fraction:
        """Return B of a state exactly as the floats have it."""
        row = self._bounds[point][min(repeats, self._most) - 1]
        return Fraction(float(row[rank - self._windows[point].low])) * Fraction(2) ** self._shifts[point]

    def _step(self, point: int, rank: int, repeats: int, bound: Fraction) -> int | None:
        """Take the rank of the next point, or None."""
        window = self._windows[point]
        first = max(window.low, rank)
        lengths = window.lengths[first - window.low :]
        values = self._bounds[point][0][first - window.low :] * lengths
        if first == rank and repeats:
            again = self._bounds[point][min(repeats, self._most - 1)][rank - window.low]
            values[0] = again / (repeats + 1) * lengths[0]
        kernel = self._kernel(np.arange(first - rank, window.high + 1 - rank), self._means[point])
        size = math.frexp(float(values.max()))[1]
        factor = Fraction(2) ** (self._shifts[point] + size) / (bound * LOOSE)
        weights = np.ldexp(values, -size) * kernel * (1.0 + 2.0**-45) * float(factor * _UNITS)
        envelope = np.ceil(weights).astype(np.int64) + (lengths > 0)
        ends = np.cumsum(envelope)
        if int(ends[-1]) > _UNITS:
            raise AssumptionFailed("bounds computed in floats lie below the law: nothing was released")
        index = int(np.searchsorted(ends, uniform_below(_UNITS), side="right"))
        if index == ends.size:
            return None
        chosen = first + index
        again_here = repeats + 1 if repeats and chosen == rank else 1
        weight = self._bound(point, chosen, again_here) / again_here * int(lengths[index]) / (bound * LOOSE)
        exponent = self._rate * abs(chosen - rank - self._means[point])
        return chosen if toss(weight * _UNITS / int(envelope[index]), exponent) else None


def _looked_up(values: Floats, places: Integers) -> Floats:
    """Return values at places, the nearest end beyond them."""
    return values[np.clip(places, 0, values.size - 1)]


def _vanishing(exponent: float) -> float:
    """Return exp(-exponent), 0 where it is negligible: what is subtracted must not be too large."""
    return math.exp(-exponent) if exponent <= _LARGEST_EXPONENT else 0.0
