"""Exact draws of several ranks at once: a chain of gaps whose lengths should be near given ones.

The ranks 0 <= r_1 <= ... <= r_m <= n of m points cut n rows into m + 1 gaps. Gap j of length c_j = r_j - r_(j-1) weighs
exp(-rate |c_j - mu_j|); rank r weighs the number l_r of positions that have it; k points with one rank weigh 1/k!. What
is drawn is a tuple of ranks with probability proportional to the product, each rank within its window.

Exactness. Two tables of bounds are computed backwards from j = m. A_j[r] is at or above what all continuations weigh
after point j at rank r, the next point being at a higher rank; G_j[r] is at or above what everything weighs from a
group of points j, j + 1, ... that all have rank r, on: the sum over the number k of points in the group of l_r^k / k!,
the weights of k - 1 empty gaps, and A_(j+k-1)[r]. So A_j[r] is at or above the sum over r' > r of exp(-rate |r' - r -
mu|) G_(j+1)[r']. The draw walks forward: it takes the next rank with the probability weight * G / A, the number of
points there with the probability weight * A / G, and with what is missing to 1 it gives up and starts again. The
product of these probabilities telescopes to the weight of the whole tuple over the bound of all: exactly proportional,
however loose the bounds. A step is taken by an integer envelope and a coin in ball arithmetic, as in `ranks.draw`.

Lemma (bounds). Tables hold logarithms. Numbers ahead of r' = r + floor(mu) are added by running sums from the right;
those between r and r + floor(mu) are a part of two neighboring blocks of floor(mu) ranks, so a running sum from the
right in one and from the left in the other. Nothing is subtracted: the sums below bound the error by a number that
`slack` exceeds eight times, whatever the weights; it is added to every bound. So no envelope is below its weight, and
all of them together are within the bound they divide.
Lemma (work). A draw gives up with probability at most 2 (m + 1) slack, for every table: it starts again once in
thousands. The bounds take a few passes over the ranks of each window that some position has, and m^2 / 2 over those
that several windows share. Where rows are told apart by 16 bits, neither depends on what the positions are. On grids of
few positions, which serve audits, fewer ranks have a position the more rows are equal, and the work is less.
Reference. The exponential mechanism for several quantiles at once: Gillenwater, Joseph, Kulesza 2021.

Sums of positive numbers known by their logarithms, of any size, running along an array and never by subtraction.

Every function errs by a little only. Let x_i be floats and M the largest |x_i|.

Lemma (running sums). `running` and `running_back` return, for every place, a float within (w + 64) 2^-46 + M 2^-46 of
the logarithm of the sum of exp(x) over the places of the same block up to (or from) that place, w the array's size.
Proof. In one piece: no partial sum is below e^-600 of the largest term, the reference, and terms are cut at e^-700 of
it, which adds less than w e^-100 of a sum. A difference to the reference is rounded by 2^-52 M, exp is within 2^-40
(assumption float-log-exp with its slack), w additions of positive floats are within w 2^-53, the logarithm and its sum
with the reference are within 2^-40 and 2^-53 (M + 64). What is carried from piece to piece passes through at most 64 of
them. By doubling: an addition of two logarithms is within 2^-53 M + 2^-39, does not increase errors it is given, and
there are at most 62 in a row.
Cost. Pieces are taken one by one if there are at most 64, otherwise at most log2 w passes are made: the numbers that
are added do not matter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.errors import AssumptionFailed
from discreet.randomness import uniform_below
from discreet.randomness.rigor import ensure_tested
from discreet.statistics.ranks import toss

_NEGLIGIBLE = -60.0
_UNITS = 1 << 60
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
NOTHING = -(2.0**900)  # the logarithm of nothing: finite, so that differences are numbers, and below every other
_LN_2 = math.log(2.0)
_RISE = 600.0
_CUT = -700.0
_MOST_PIECES = 64


@dataclass(frozen=True, slots=True, repr=False)
class Window:
    """Ranks in order that some position has, and how many positions have each."""

    ranks: Integers
    lengths: Integers


class Chain:
    """The bounds for one table and the draws by them.

    `windows` are those of the m ranks, whose ends never fall; `means` are the m + 1 wanted lengths of the gaps.
    """

    def __init__(self, windows: list[Window], means: list[Fraction], rate: Fraction, rows: int) -> None:
        ensure_tested()
        self._windows, self._means, self._rate, self._rows = windows, means, rate, rows
        self._speed = float(rate)
        self._logs = [logs(window.lengths) for window in windows]
        self._wanted = [Fraction(0), *accumulate(means)]  # rows wanted before the gap at each place
        self._slack = slack(max(window.ranks.size for window in windows), self._largest())
        last = windows[-1]
        self._ahead = [np.zeros(0)] * len(windows)
        self._group = [np.zeros(0)] * len(windows)
        self._ahead[-1] = self._kernel(rows - last.ranks, means[-1]) + self._slack
        for point in range(len(windows) - 1, -1, -1):
            if point < len(windows) - 1:
                self._ahead[point] = self._continued(point) + self._slack
            self._group[point] = self._grouped(point) + self._slack
        self.total = total(self._group[0] + self._kernel(windows[0].ranks, means[0])) + self._slack

    def _largest(self) -> float:
        """Return a number that no logarithm exceeds in magnitude: what the worst gaps and ranks weigh."""
        ends = [(0, 0), *((int(window.ranks[0]), int(window.ranks[-1])) for window in self._windows)]
        found, widest = 0.0, 0
        for (low, high), (next_low, next_high), mean in zip(
            ends, [*ends[1:], (self._rows,) * 2], self._means, strict=True
        ):
            found += 64.0 + self._speed * float(max(abs(next_high - low - mean), abs(max(next_low - high, 0) - mean)))
            widest = max(widest, next_high - next_low)
        return found + self._speed * 2 * widest

    def draw(self) -> list[int] | None:
        """Return ranks, each tuple with probability weight / exp(total), and None with what is missing."""
        found: list[int] = []
        rank, bound = -1, self.total
        while (point := len(found)) < len(self._windows):
            place, factor, exponent = self._next(point, rank, bound)
            count, share = (0, Fraction(0)) if place is None else self._count(point, place)
            if place is None or not count:
                return None
            rank, last = int(self._windows[point].ranks[place]), point + count - 1
            exponent += Fraction(bound) + self._rate * (self._wanted[last + 1] - self._wanted[point + 1])
            bound = float(self._ahead[last][self._place(last, rank)])
            if not toss(factor * share, exponent - Fraction(bound)):
                return None
            found += [rank] * count
        return found if toss(Fraction(1), Fraction(bound) + self._exponent(self._rows - rank, len(found))) else None

    def _kernel(self, counts: Integers, mean: Fraction) -> Floats:
        """Return -rate |count - mean|."""
        whole = math.floor(mean)
        kernel: Floats = np.abs((counts - whole).astype(np.float64) - float(mean - whole)) * -self._speed
        return kernel

    def _exponent(self, count: int, gap: int) -> Fraction:
        """Return rate |count - mean| exactly."""
        return self._rate * abs(count - self._means[gap])

    def _continued(self, point: int) -> Floats:
        """Return the logarithm of the sum of exp(-rate |r' - r - mu|) G[r'] over the r' > r of the next point."""
        here, there, mean = self._windows[point].ranks, self._windows[point + 1].ranks, self._means[point + 1]
        whole, origin, group = math.floor(mean), int(there[0]), self._group[point + 1]
        apart = (there - origin) * self._speed
        level = ((here - origin + whole) + float(mean - whole)) * self._speed
        longer = running_back(group - apart, np.zeros(there.size, dtype=np.int64))
        beyond = np.searchsorted(there, here + whole, side="right")
        found = _looked_up(longer, beyond, beyond < there.size) + level
        if not whole:
            return found
        first = np.searchsorted(there, here, side="right")
        block, own = (there - origin) // whole, (here + 1 - origin) // whole
        right, left = running_back(group + apart, block), running(group + apart, block)
        in_own = (first < there.size) & (block[np.minimum(first, there.size - 1)] == own)
        in_next = (beyond > first) & (block[np.maximum(beyond - 1, 0)] == own + 1)
        shorter = added(_looked_up(right, first, in_own), _looked_up(left, beyond - 1, in_next)) - level
        return added(found, shorter)

    def _grouped(self, point: int) -> Floats:
        """Return the logarithm of the sum over k of l^k / k! exp(-rate * empty gaps) A_(point+k-1)[r]."""
        ranks = self._windows[point].ranks
        found = self._ahead[point] + self._logs[point]
        for other in range(point + 1, len(self._windows)):
            there, count = self._windows[other].ranks, other - point + 1
            if there[0] > ranks[-1]:
                break
            shared = slice(int(np.searchsorted(ranks, there[0])), ranks.size)  # windows end at ranks that never fall
            first = self._place(other, int(ranks[shared.start]))
            after = self._ahead[other][first : first + ranks.size - shared.start]
            weight = count * self._logs[point][shared] + after
            weight -= math.lgamma(count + 1) + self._empty(point, other)
            if float((weight - found[shared]).max()) > _NEGLIGIBLE:
                found[shared] = added(found[shared], weight)
        return found

    def _place(self, point: int, rank: int) -> int:
        """Return where a rank stands in a window."""
        return int(np.searchsorted(self._windows[point].ranks, rank))

    def _empty(self, point: int, other: int) -> float:
        """Return rate times what is wanted between a point and a later one: the exponent if they have one rank."""
        return float(self._rate * (self._wanted[other + 1] - self._wanted[point + 1]))

    def _next(self, point: int, rank: int, bound: float) -> tuple[int | None, Fraction, Fraction]:
        """Take the place of the next rank in the window of a point, or None; a rank of -1 is the start.

        The weight of the gap over the envelope is the second number times exp(-third number - bound) times G.
        """
        ranks = self._windows[point].ranks
        first = int(np.searchsorted(ranks, rank, side="right"))
        counts = ranks[first:] - max(rank, 0)
        index, share = self._taken(self._group[point][first:] + self._kernel(counts, self._means[point]) - bound)
        if index is None:
            return None, share, Fraction(0)
        return first + index, share, self._exponent(int(counts[index]), point)

    def _count(self, point: int, place: int) -> tuple[int, Fraction]:
        """Take how many points share a rank, or 0, with l^k / k! over the envelope."""
        rank, length = (int(values[place]) for values in (self._windows[point].ranks, self._windows[point].lengths))
        bound, weights = float(self._group[point][place]), []
        for other in range(point, len(self._windows)):
            if rank < self._windows[other].ranks[0]:
                break
            after, count = float(self._ahead[other][self._place(other, rank)]), other - point + 1
            weight = count * float(self._logs[point][place]) - math.lgamma(count + 1) - self._empty(point, other)
            weights.append(weight + after - bound)
        index, share = self._taken(np.array(weights))
        count = 0 if index is None else index + 1
        return count, share * Fraction(length**count, math.factorial(count))

    def _taken(self, weights: Floats) -> tuple[int | None, Fraction]:
        """Take an index by an envelope of exp(weights), which add up to at most 1; return it and 1 / its share."""
        envelope = np.ceil(exps(np.minimum(weights + self._slack / 4, 0.0)) * _UNITS).astype(np.int64) + 1
        ends = np.cumsum(envelope)
        if int(ends[-1]) > _UNITS:
            raise AssumptionFailed("bounds computed in floats lie below the law: nothing was released")
        index = int(np.searchsorted(ends, uniform_below(_UNITS), side="right"))
        return (None, Fraction(0)) if index == ends.size else (index, Fraction(_UNITS, int(envelope[index])))


def _looked_up(values: Floats, places: Integers, where: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Floats:
    """Return values at places, nothing elsewhere."""
    found: Floats = np.where(where, values[np.clip(places, 0, values.size - 1)], NOTHING)
    return found


def slack(size: int, largest: float) -> float:
    """Return more than what a running sum over this many numbers of at most this magnitude errs by, with room to spare.

    >>> slack(1000, 500.0) < 1e-5
    True
    """
    return 2.0**-20 + (size + 64 + largest) * 2.0**-43


def exps(values: Floats) -> Floats:
    """Return exp of numbers at or below 0, those below -700 raised to it."""
    found: Floats = np.exp(np.maximum(values, _CUT))
    return found


def logs(values: NDArray[np.float64] | Integers) -> Floats:
    """Return the logarithms of positive numbers, of any size."""
    part, power = np.frexp(values.astype(np.float64))
    found: Floats = np.log(part) + power * _LN_2
    return found


def added(first: Floats, second: Floats) -> Floats:
    """Return log(exp(first) + exp(second)), place by place.

    >>> round(float(added(np.array([0.0]), np.array([0.0]))[0]), 6)
    0.693147
    """
    high = np.maximum(first, second)
    found: Floats = high + np.log(1.0 + exps(np.minimum(first, second) - high))
    return found


def total(values: Floats) -> float:
    """Return the logarithm of the sum of all exp(values)."""
    high = float(values.max())
    return high + float(logs(np.array([exps(values - high).sum()]))[0])


def running(values: Floats, block: Integers) -> Floats:
    """Return the sums up to each place, anew where `block`, which never falls, changes.

    >>> running(np.zeros(4), np.array([0, 0, 1, 1])).round(4).tolist()
    [0.0, 0.6931, 0.0, 0.6931]
    """
    if not values.size:
        return values
    starts = np.flatnonzero(np.diff(block)) + 1
    pieces = starts.size + 1 + (float(values.max()) - float(values.min())) / _RISE
    if pieces > _MOST_PIECES:
        return _doubled(values, block)
    ends = [0, *(int(start) for start in starts), values.size]
    return np.concatenate([_piecewise(values[a:b]) for a, b in pairwise(ends)])


def running_back(values: Floats, block: Integers) -> Floats:
    """Return the sums from each place on, up to where `block` changes."""
    return running(values[::-1], -block[::-1])[::-1]


def _piecewise(values: Floats) -> Floats:
    """Return running sums in pieces within which the largest number so far rises by at most 600."""
    highest = np.maximum.accumulate(values)
    found = np.empty_like(values)
    begin, carried = 0, NOTHING
    while begin < values.size:
        end = int(np.searchsorted(highest, float(highest[begin]) + _RISE, side="right"))
        reference = float(highest[end - 1])
        terms = exps(values[begin:end] - reference)
        terms[0] += math.exp(max(carried - reference, _CUT))
        found[begin:end] = logs(np.cumsum(terms)) + reference
        begin, carried = end, float(found[end - 1])
    return found


def _doubled(values: Floats, block: Integers) -> Floats:
    """Return running sums by adding over 1, 2, 4, ... places."""
    found = values.copy()
    longest = int(np.diff(np.concatenate([[0], np.flatnonzero(np.diff(block)) + 1, [values.size]])).max())
    reach = 1
    while reach < longest:
        same = block[reach:] == block[:-reach]
        found[reach:] = np.where(same, added(found[reach:], found[:-reach]), found[reach:])
        reach *= 2
    return found
