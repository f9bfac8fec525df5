"""Positions in order of size, each with a weight, and the runs of candidates that share a rank distance.

Let s_1 <= ... <= s_n be the positions of the rows, W_i the weight of the first i rows, and t the rank wanted. A
candidate v has rank distance max(W(x < v) - t, t - W(x <= v), 0). It is 0 for the candidates between two neighboring
rows (ends included), t - W_i for those in [s_i, s_(i+1)) left of them and W_i - t for those in (s_i, s_(i+1)] right of
them, where s_0 and s_(n+1) are the ends of the range. So the lengths of the runs are the differences of neighboring
positions, and equal positions make a run of length 0.

Random bits tell equal rows apart; `most_ties` bounds how many rows may still share a position.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, ParameterError
from discreet.statistics.columns import in_order, order, with_random_bits

Integers = NDArray[np.int64]
LARGEST_STEPS = 1 << 60


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs of candidates: the first candidate and the length of each, and its distance as `whole` + `sign` * part."""

    first: Integers
    length: Integers
    whole: Integers
    sign: Integers
    part: Fraction

    def distance(self, index: int) -> Fraction:
        """Return the exact rank distance of a run."""
        return int(self.whole[index]) + int(self.sign[index]) * self.part


@dataclass(frozen=True, slots=True, repr=False)
class Ranked:
    """Rows `begin` to `end` of a table sorted by position, in a range of candidates from `low` to `high`.

    `cumulative[i]` is the weight of the first i rows of the table; None where every row weighs 1. Each range holds its
    rows.
    """

    positions: Integers
    cumulative: Integers | None
    begin: int
    end: int
    low: int
    high: int

    @classmethod
    def of(cls, positions: Any, *, steps: int, weights: Integers | None = None) -> Ranked:
        """Sort positions between 0 and `steps`; rows of weight 0 may be among them."""
        array = checked_positions(positions, steps)
        if weights is None:
            return cls(in_order(array, steps), None, 0, array.size, 0, steps)
        places = order(array, steps)
        cumulative = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(weights[places], dtype=np.int64)])
        return cls(array[places], cumulative, 0, array.size, 0, steps)

    @classmethod
    def of_increasing(cls, positions: Integers, weights: Integers, *, steps: int) -> Ranked:
        """Take positions that increase, as engines give them, without another sort; sort what does not increase."""
        if not bool(np.all(positions[1:] > positions[:-1])):
            return cls.of(positions, steps=steps, weights=weights)
        cumulative = np.zeros(weights.size + 1, dtype=np.int64)
        np.cumsum(weights, out=cumulative[1:])
        return cls(checked_positions(positions, steps), cumulative, 0, positions.size, 0, steps)

    @property
    def candidates(self) -> int:
        """How many positions the range has."""
        return self.high - self.low + 1

    @property
    def weight(self) -> int:
        """The weight of all rows."""
        return self._before(self.end - self.begin)

    def weights_below(self, count: int) -> Integers:
        """Return the weight of the rows below each of the candidates 0, 1, ..., `count`."""
        return self.weights_before(np.arange(count + 1))

    def weights_before(self, candidates: Integers) -> Integers:
        """Return the weight of the rows of the whole table below each of some candidates."""
        places = np.searchsorted(self.positions, candidates)
        return places.astype(np.int64) if self.cumulative is None else self.cumulative[places]

    def split(self, position: int) -> tuple[Ranked, Ranked]:
        """Return the rows at or below a position with the candidates up to it, and the rows above with the others.

        On which side a row goes depends on the row and the position alone.
        """
        place = np.searchsorted(self.positions[self.begin : self.end], position, side="right")
        cut = self.begin + int(place)
        left = Ranked(self.positions, self.cumulative, self.begin, cut, self.low, position)
        return left, Ranked(self.positions, self.cumulative, cut, self.end, position, self.high)

    def distance(self, candidate: int, target: Fraction) -> Fraction:
        """Return the exact rank distance of one candidate; beyond all ranks the end of the range has distance 0."""
        if (candidate == self.low and target < 0) or (candidate == self.high and target > self.weight):
            return Fraction(0)
        rows = self.positions[self.begin : self.end]
        below = self._before(int(np.searchsorted(rows, candidate, side="left")))
        up_to = self._before(int(np.searchsorted(rows, candidate, side="right")))
        return max(below - target, target - up_to, Fraction(0))

    def runs(self, target: Fraction, reach: int) -> Runs:
        """Return the run at distance 0, and all others but some whose distance is above `reach`."""
        floor = math.floor(target)
        size = self.end - self.begin
        first_above = self._index(math.ceil(target), "left")  # the first i with W_i >= target, size + 1 if none
        last_below = self._index(floor, "right") - 1  # the last i with W_i <= target, -1 if none
        first_left = min(self._index(floor - reach, "left"), first_above)
        last_right = max(min(self._index(floor + reach + 1, "right") - 1, size), last_below)
        left = self._padded(first_left - 1, first_above - 1)
        right = self._padded(last_below, last_right)
        to_left, to_right = slice(1, left.size), slice(left.size, left.size + right.size - 1)
        first, length, whole, sign = np.empty((4, left.size + right.size - 1), dtype=np.int64)
        first[0], length[0], whole[0], sign[0] = left[-1], right[0] - left[-1] + 1, 0, 0
        first[to_left], first[to_right] = left[:-1], right[:-1] + 1
        length[to_left], length[to_right] = left[1:] - left[:-1], right[1:] - right[:-1]
        whole[to_left] = floor - self._weights(first_left, first_above)
        whole[to_right] = self._weights(last_below + 1, last_right + 1) - floor
        sign[to_left], sign[to_right] = 1, -1
        return Runs(first, length, whole, sign, part=target - floor)

    def _before(self, index: int) -> int:
        """Return the weight of the first rows of this part."""
        if self.cumulative is None:
            return index
        return int(self.cumulative[self.begin + index]) - int(self.cumulative[self.begin])

    def _weights(self, first: int, stop: int) -> Integers:
        """Return W_first, ..., W_(stop - 1)."""
        if self.cumulative is None:
            return np.arange(first, stop, dtype=np.int64)
        part: Integers = self.cumulative[self.begin + first : self.begin + stop] - self.cumulative[self.begin]
        return part

    def _index(self, weight: int, side: str) -> int:
        """Return where a weight belongs among W_0, ..., W_n."""
        size = self.end - self.begin
        if self.cumulative is None:
            return min(max(weight + (side == "right"), 0), size + 1)
        base = int(self.cumulative[self.begin])
        part = self.cumulative[self.begin : self.end + 1]
        bounded = min(max(weight + base, base - 1), int(part[-1]) + 1)
        return int(part.searchsorted(bounded, side="left" if side == "left" else "right"))

    def _padded(self, first: int, last: int) -> Integers:
        """Return the positions of the rows from `first` to `last`, counted from 0, with the ends at -1 and n."""
        size = self.end - self.begin
        rows = self.positions[self.begin + max(first, 0) : self.begin + min(last + 1, size)]
        if first >= 0 and last < size:
            return rows
        ends: list[Any] = [[self.low] * (first < 0), rows, [self.high] * (last >= size)]
        return np.concatenate(ends).astype(np.int64, copy=False)

    def __repr__(self) -> str:
        return "Ranked(...)"


def checked_positions(positions: Any, steps: int) -> Integers:
    """Return positions as int64; raise InputError, which shows no position, for those not between 0 and `steps`."""
    array = np.asarray(positions)
    if array.size == 0:
        return np.zeros(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iuf":
        raise InputError("positions must be a one-dimensional array of whole numbers")
    if not (array.min() >= 0 and array.max() <= steps):
        raise InputError("positions must be between 0 and the number of steps of the grid")
    return array.astype(np.int64)


TIE_BITS = 16


def stated_tie_bits(tie_bits: object, steps: int) -> int:
    """Return the number of random bits, fewer on a grid that has no room for more."""
    if isinstance(tie_bits, bool) or not isinstance(tie_bits, int) or not 0 <= tie_bits <= TIE_BITS:
        raise ParameterError(
            "tie_bits must be a whole number between 0 and 16; got another, write 16, for example", parameter="tie_bits"
        )
    return max(min(tie_bits, LARGEST_STEPS.bit_length() - 1 - steps.bit_length()), 0)


def told_apart(positions: Integers, tie_bits: int) -> Integers:
    """Append independent random bits to every position."""
    return with_random_bits(positions, tie_bits)


def told_apart_in_order(positions: Integers, tie_bits: int) -> Integers:
    """Return the positions with their random bits, sorted.

    More bits are drawn than asked for, and taken off again: see `even_sort`. The caller knows that there is room.
    """
    fine = told_apart(positions, TIE_BITS)
    fine.sort()
    fine >>= TIE_BITS - tie_bits
    return fine


def most_ties(rows: int, tie_bits: int, failure: float) -> int:
    """Return a number of rows that no position and bits hold more of, except with probability `failure`.

    A union over the rows: each shares its position with at most all others, and its bits with each of them with
    probability 2^-bits, independently.

    >>> most_ties(10_000, 16, 0.01), most_ties(10_000, 0, 0.01)
    (5, 10000)
    """
    from scipy.special import bdtrc

    if not tie_bits or rows <= 1:
        return max(rows, 1)
    low, high = 1, rows
    while low < high:
        middle = (low + high) // 2
        enough = rows * float(bdtrc(middle - 1, rows - 1, 2.0**-tie_bits)) <= failure * (1 - 1e-9)
        low, high = (low, middle) if enough else (middle + 1, high)
    return low
