"""Exact draws of several positions whose ranks cut a table into gaps near given lengths, over every position."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from discreet.randomness.rigour import ball, precision, upper_float
from discreet.randomness.uniform import uniform_below
from discreet.statistics.exact_coin import toss
from discreet.statistics.joint_chain import LOOSE, Chain, Window
from discreet.statistics.ranked import Integers

_NEGLIGIBLE = 45.0
_ROUNDS = 64


class JointDraw:
    """Draws m positions of 0, ..., steps, each tuple with probability proportional to exp(-rate * distance).

    The distance of a tuple is the sum over the m + 1 gaps that it cuts the rows into, when sorted, of |rows in the gap
    - wanted length|. k positions of one rank may stand in any order, which is counted by 1/k! in `Chain`, up to the
    common factor m!.

    Exactness. Ranks within windows are drawn by a `Chain`. A tuple with a rank outside its window has a distance of at
    least |n - N| + 2 E, N being the sum of the wanted lengths and E the margin of the windows: a rank that is x beyond
    both N a and n - N (1 - a), a its share of N, makes the gaps on its two sides wrong by |n - N| + 2 x together. So
    all of them weigh at most (steps + 1)^m / m! exp(-rate (|n - N| + 2 E)). With the probability that this number has
    in the sum of it and the chain's total, a uniform tuple is drawn and kept, if it is outside, with its own weight
    over that bound. The margin is widened until the outside is negligible; whatever it is, the law is exact.
    """

    def __init__(self, positions: Integers, means: list[Fraction], rate: Fraction, steps: int) -> None:
        """`positions` are sorted; `means` are the wanted lengths of the gaps, from left to right."""
        self._positions, self._means, self._rate, self._steps = positions, means, rate, steps
        self._rows, self._points = int(positions.size), len(means) - 1
        volume = self._points * math.log(steps + 1) - math.lgamma(self._points + 1)
        needed = self._points * math.log(self._rows + 2) + _NEGLIGIBLE
        for _ in range(_ROUNDS):
            self._margin = math.ceil(Fraction(needed) / (2 * rate))
            self._windows = [self._window(point) for point in range(self._points)]
            self._chain = Chain(self._windows, means, rate, self._rows)
            self._outside = self._outside_weight()
            if self._outside <= self._chain.total / (1 << 30):
                break
            reached = _log(self._chain.total) + float(rate * abs(self._rows - sum(means, Fraction(0))))
            needed = max(needed + 1.0, volume - reached + _NEGLIGIBLE)

    def draw(self) -> list[int]:
        """Return positions in order."""
        inside = self._chain.total * LOOSE ** (self._points + 1)
        while True:
            if self._outside and not toss(inside / (inside + self._outside), Fraction(0)):
                found = self._far()
            else:
                ranks = self._chain.draw()
                found = None if ranks is None else sorted(self._position(rank) for rank in ranks)
            if found is not None:
                return found

    def _window(self, point: int) -> Window:
        """Return the ranks of a point that are looked at, and how many positions each has."""
        before = sum(self._means[: point + 1], Fraction(0))
        other = self._rows - sum(self._means[point + 1 :], Fraction(0))
        low = min(max(math.floor(min(before, other)) - self._margin, 0), self._rows)
        high = max(min(math.ceil(max(before, other)) + self._margin, self._rows), low)
        low, high = self._to_positions(low, high)
        rows = self._positions[max(low - 1, 0) : high + 1]
        left = [np.zeros(1, dtype=np.int64)] if low == 0 else []
        right = [np.full(1, self._steps + 1, dtype=np.int64)] if high == self._rows else []
        return Window(low, high, np.diff(np.concatenate([*left, rows, *right])))

    def _to_positions(self, low: int, high: int) -> tuple[int, int]:
        """Widen a window to the nearest ranks that some position has: equal rows have none between them."""
        if low < self._rows:
            low = int(np.searchsorted(self._positions, self._positions[low], side="left"))
        if self._rows and (high or self._positions[0] == 0):
            high = int(np.searchsorted(self._positions, self._positions[max(high - 1, 0)], side="right"))
        return low, high

    def _outside_weight(self) -> Fraction:
        """Return a number at or above what all tuples outside the windows weigh, 0 where there are none."""
        if all(window.low == 0 and window.high == self._rows for window in self._windows):
            return Fraction(0)
        return Fraction((self._steps + 1) ** self._points, math.factorial(self._points)) * self._far_weight()

    def _far_weight(self) -> Fraction:
        """Return a number at or above exp(-rate * (|n - N| + 2 margin))."""
        distance = abs(self._rows - sum(self._means, Fraction(0))) + 2 * self._margin
        whole = int(self._rate * distance / Fraction(693_148, 1_000_000))  # at most the exponent over ln 2
        with precision(64):
            rest = (-ball(self._rate * distance)).exp() * ball(Fraction(2) ** whole)
            return Fraction(upper_float(rest)) / Fraction(2) ** whole

    def _far(self) -> list[int] | None:
        """Return a uniform tuple if it is outside the windows and accepted."""
        found = sorted(uniform_below(self._steps + 1) for _ in range(self._points))
        ranks = [int(np.searchsorted(self._positions, position, side="right")) for position in found]
        if all(window.low <= rank <= window.high for window, rank in zip(self._windows, ranks, strict=True)):
            return None
        distance = distance_of(ranks, self._means, self._rows)
        return found if toss(1 / self._far_weight(), self._rate * distance) else None

    def _position(self, rank: int) -> int:
        """Return a uniform position of a rank."""
        low = int(self._positions[rank - 1]) if rank else 0
        high = int(self._positions[rank]) if rank < self._rows else self._steps + 1
        return low + uniform_below(high - low)


def distance_of(ranks: list[int], means: list[Fraction], rows: int) -> Fraction:
    """Return the sum over the gaps of |rows in the gap - wanted length|."""
    ends = [0, *ranks, rows]
    gaps = zip(ends, ends[1:], means, strict=False)
    return sum((abs(second - first - mean) for first, second, mean in gaps), Fraction(0))


def _log(value: Fraction) -> float:
    """Return the logarithm of a positive rational of any size, approximately."""
    bits = value.numerator.bit_length() - value.denominator.bit_length()
    return math.log(value / Fraction(2) ** bits) + bits * math.log(2.0)
