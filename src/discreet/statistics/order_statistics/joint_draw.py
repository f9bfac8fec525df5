"""Exact draws of several positions whose ranks cut a table into gaps near given lengths, over every position."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.randomness import uniform_below
from discreet.statistics.order_statistics.joint_chain import Chain, Window
from discreet.statistics.ranks import Integers, toss

_NEGLIGIBLE = 45.0
_MOST_HALVINGS = 256


class JointDraw:
    """Draws m positions of 0, ..., steps, each tuple with probability proportional to exp(-rate * distance).

    The distance of a tuple is the sum over the m + 1 gaps that it cuts the rows into, when sorted, of |rows in the gap
    - wanted length|. k positions of one rank may stand in any order, which is counted by 1/k! in `Chain`, up to the
    common factor m!.

    Exactness. Ranks within windows are drawn by a `Chain`, then a uniform position of each. At low rates 2 h + 1
    neighboring ranks are one block, which the chain takes for the rank in its middle: the distance C that it sees
    differs from that of the tuple, D, by at most 2 m h, and the tuple is kept with probability exp(-rate (D - C +
    2 m h)). A tuple with a rank outside its window has a distance of at least |n - N| + 2 E, N being the sum of the
    wanted lengths and E the margin of the windows: a rank that is x beyond both N a and n - N (1 - a), a its share of
    N, makes the gaps on its two sides wrong by |n - N| + 2 x together. So all of them weigh at most (steps + 1)^m / m!
    exp(-rate (|n - N| + 2 E)). With the probability that a number at or above this has in the sum of it and the chain's
    total, a uniform tuple is drawn and kept, if it is outside, with its own weight over that number: whatever the
    margin is, the law is exact.
    Work. Let D be the distance of the tuple of positions nearest to the wanted ranks. It weighs at least exp(-rate D)
    / m!, so with 2 E rate = m ln(steps + 1) + rate (D - |n - N|) + 45 what is outside has less than e^-45 of the whole,
    and the windows hold that tuple. With h at most 1 / (4 m rate) a tuple is kept with probability at least 1/e. Where
    at most T rows share a position, D - |n - N| is at most 2 m (T + 2 h + 1), so a window has at most (|n - N| + 2 E) /
    (2 h + 1) + 2 blocks: a number that the positions do not enter otherwise, and never more than there are positions.
    """

    def __init__(self, positions: Integers, means: list[Fraction], rate: Fraction, steps: int) -> None:
        self._positions, self._means, self._rate, self._steps = positions, means, rate, steps
        self._rows, self._points = int(positions.size), len(means) - 1
        self._half = int(1 / (4 * self._points * rate))
        self._ranks, self._starts, self._lengths = self._blocks()
        self._centers = [self._center(point) for point in range(self._points)]
        self._off = abs(self._rows - sum(means, Fraction(0)))
        needed = Fraction(self._points * math.log(steps + 1) + _NEGLIGIBLE) + rate * (self._nearest() - self._off)
        self._margin = math.ceil(needed / (2 * rate))
        self._ends = [self._window(point) for point in range(self._points)]
        windows = [Window(self._ranks[begin:end], self._lengths[begin:end]) for begin, end in self._ends]
        self._chain = Chain(windows, means, rate, self._rows)
        self._total = Fraction(self._chain.total) + rate * 2 * self._points * self._half
        self._odds = self._odds_of_the_outside()

    def draw(self) -> list[int]:
        """Return positions in order."""
        while True:
            far = self._odds is not None and uniform_below(sum(self._odds)) >= self._odds[0]
            found = self._far() if far else self._near()
            if found is not None:
                return found

    def _near(self) -> list[int] | None:
        """Return a tuple inside the windows, or None."""
        drawn = self._chain.draw()
        if drawn is None:
            return None
        places = [int(place) for place in np.searchsorted(self._ranks, drawn)]
        found = sorted(int(self._starts[place]) + uniform_below(int(self._lengths[place])) for place in places)
        if not self._half:
            return found
        nearer = self._distance(self._ranks_of(found)) - self._distance(drawn)
        return found if toss(Fraction(1), self._rate * (nearer + 2 * self._points * self._half)) else None

    def _far(self) -> list[int] | None:
        """Return a uniform tuple if it is outside the windows and accepted."""
        found = sorted(uniform_below(self._steps + 1) for _ in range(self._points))
        ranks = self._ranks_of(found)
        blocks = [self._middle(rank) for rank in ranks]
        if all(self._ranks[a] <= block <= self._ranks[b - 1] for (a, b), block in zip(self._ends, blocks, strict=True)):
            return None
        inside, outside = self._odds or (1, 1)
        factor = Fraction((self._steps + 1) ** self._points * inside, math.factorial(self._points) * outside)
        return found if toss(factor, self._rate * self._distance(ranks) + self._total) else None

    def _blocks(self) -> tuple[Integers, Integers, Integers]:
        """Return the middle rank of each block that some position has, its first position, and how many it has."""
        ends = np.concatenate([[0], self._positions, [self._steps + 1]])
        lengths = np.diff(ends)
        ranks = np.flatnonzero(lengths)
        if not self._half:
            return ranks, ends[ranks], lengths[ranks]
        middles = self._middle(ranks)
        first = np.concatenate([[0], np.flatnonzero(np.diff(middles)) + 1])
        return middles[first], ends[ranks[first]], np.add.reduceat(lengths[ranks], first)

    def _middle(self, ranks: Any) -> Any:
        """Return the middle of the block of a rank, or of many."""
        return ranks // (2 * self._half + 1) * (2 * self._half + 1) + self._half

    def _center(self, point: int) -> tuple[Fraction, Fraction]:
        """Return N a and n - N (1 - a), the lower first: between them a rank is as wanted."""
        before = sum(self._means[: point + 1], Fraction(0))
        other = self._rows - sum(self._means[point + 1 :], Fraction(0))
        return min(before, other), max(before, other)

    def _nearest(self) -> Fraction:
        """Return the distance of a tuple of positions near the wanted ranks."""
        wanted = [math.floor(low) - self._half for low, _ in self._centers]
        places = [min(int(np.searchsorted(self._ranks, rank)), self._ranks.size - 1) for rank in wanted]
        return self._distance(self._ranks_of([int(self._starts[place]) for place in places]))

    def _window(self, point: int) -> tuple[int, int]:
        """Return where the blocks begin and end that are looked at for a point."""
        low, high = self._centers[point]
        first = np.searchsorted(self._ranks, math.floor(low) - self._margin - self._half, side="left")
        last = np.searchsorted(self._ranks, math.ceil(high) + self._margin + self._half, side="right")
        return int(first), int(last)

    def _odds_of_the_outside(self) -> tuple[int, int] | None:
        """Return the odds of windows and outside, powers of 2, or None where there is nothing outside.

        The total stands for the first number; what is outside weighs at most what the second then stands for.
        """
        if all(end - begin == self._ranks.size for begin, end in self._ends):
            return None
        volume = self._points * math.log(self._steps + 1) - math.lgamma(self._points + 1)
        inside = float(self._total + self._rate * (self._off + 2 * self._margin)) - volume
        halvings = math.floor(min(inside / math.log(2.0), _MOST_HALVINGS)) - 1
        return 1 << max(halvings, 0), 1 << max(-halvings, 0)

    def _ranks_of(self, positions: list[int]) -> list[int]:
        """Return how many rows are at or below each position."""
        return [int(rank) for rank in np.searchsorted(self._positions, positions, side="right")]

    def _distance(self, ranks: list[int]) -> Fraction:
        """Return the distance of a tuple of ranks."""
        return distance_of(ranks, self._means, self._rows)


def distance_of(ranks: list[int], means: list[Fraction], rows: int) -> Fraction:
    """Return the sum over the gaps of |rows in the gap - wanted length|."""
    ends = [0, *ranks, rows]
    gaps = zip(ends, ends[1:], means, strict=False)
    return sum((abs(second - first - mean) for first, second, mean in gaps), Fraction(0))
