"""The law of a table of which only the entries that reach a threshold are seen."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import ParameterError
from discreet.laws.enclosure import Enclosure
from discreet.laws.finite import FinitePair
from discreet.laws.law import IntegerLaw, Law, Shape, as_integers, as_size, probability_in_unit
from discreet.laws.noise import DiscreteLaplace, IntegerNoise, Product, ProductPair, TruncatedLaplace
from discreet.laws.pair import Pair
from discreet.randomness.rigor import Ball, ball, lower_float, precision, upper_float

_PRECISION = 192
_FAR = Fraction(1, 10**18)
_MOST_OUTCOMES = 1 << 20


class Thresholded(IntegerLaw):
    """Noise about a count, shown only where it reaches a threshold; `threshold - 1` means that it is not shown.

    An entry without a count (None) is never seen, whatever the noise.

    >>> law = Thresholded(DiscreteLaplace(1), 1, threshold=3)
    >>> [round(float(law.pmf(x)), 4) for x in (2, 3, 4)]
    [0.9011, 0.0625, 0.023]
    >>> float(Thresholded(DiscreteLaplace(1), None, threshold=3).pmf(2))
    1.0
    """

    def __init__(self, noise: IntegerNoise, count: int | None, *, threshold: int) -> None:
        self.noise, self.count, self.threshold = noise, count, threshold

    @property
    def support(self) -> tuple[int, int | None]:
        """All integers from `threshold - 1`, which means 'not shown'."""
        absent = self.threshold - 1
        if self.count is None:
            return absent, absent
        high = self.noise.support[1]
        return absent, None if high is None else max(self.count + high, absent)

    def _at_least(self, outcome: int) -> Ball:
        """Enclose P(X >= outcome)."""
        if outcome < self.threshold:
            return ball(1)
        return ball(0) if self.count is None else self.noise.tail_ball(outcome - self.count)

    def chance(self) -> tuple[float, float]:
        """Return floats on both sides of the chance to be seen."""
        with precision(_PRECISION):
            seen = self._at_least(self.threshold)
            return max(lower_float(seen), 0.0), min(upper_float(seen), 1.0)

    def pmf(self, outcome: ArrayLike) -> Any:
        """Return P(X = outcome)."""
        return self._each(outcome, self._mass)

    def _mass(self, outcome: int) -> Ball:
        """Enclose P(X = outcome)."""
        if outcome == self.threshold - 1:
            return self._unseen()
        if outcome < self.threshold or self.count is None:
            return ball(0)
        return self.noise.mass_ball(outcome - self.count)

    def _unseen(self) -> Ball:
        """Enclose the chance not to be seen: the noise is symmetric, so a tiny one stays accurate."""
        return ball(1) if self.count is None else self.noise.tail_ball(self.count - self.threshold + 1)

    def _between(self, start: int, end: int | None) -> Ball:
        """Enclose P(start <= X < end) from the side on which it does not cancel."""
        if start < self.threshold:
            return self._unseen()
        if self.count is not None and end is not None and end <= self.count:
            return self.noise.tail_ball(self.count - end + 1) - self.noise.tail_ball(self.count - start + 1)
        return self._at_least(start) - (ball(0) if end is None else self._at_least(end))

    def cdf(self, outcome: ArrayLike) -> Any:
        """Return P(X <= outcome)."""
        return self._each(outcome, self._at_most)

    def _at_most(self, outcome: int) -> Ball:
        """Enclose P(X <= outcome)."""
        if outcome < self.threshold - 1 or self.count is None:
            return ball(0) if outcome < self.threshold - 1 else ball(1)
        return self.noise.tail_ball(self.count - outcome)

    def sf(self, outcome: ArrayLike) -> Any:
        """Return P(X > outcome)."""
        return self._each(outcome, lambda place: self._at_least(place + 1))

    def _each(self, outcome: ArrayLike, enclose: Any) -> Any:
        """Evaluate an enclosure on an array of outcomes."""
        places = as_integers(outcome)
        with precision(_PRECISION):
            values = [float(enclose(int(place))) for place in np.atleast_1d(places).ravel()]
        return np.array(values).reshape(places.shape)[()]

    def quantile(self, probability: float | Fraction) -> int:
        """Return the least x with P(X <= x) >= probability."""
        wanted = probability_in_unit(probability)
        absent = self.threshold - 1
        return absent if self.count is None else max(self.noise.at(self.count).quantile(wanted), absent)

    def sample(self, shape: Shape | None = None) -> Any:
        """Draw one outcome, or an array of them."""
        if shape is None:
            return int(self.sample(1)[0])
        sizes, count = as_size(shape)
        if self.count is None:
            return np.full(sizes, self.threshold - 1, dtype=np.int64)
        return np.maximum(self.noise.draw(count) + self.count, self.threshold - 1).reshape(sizes)

    def pair(self, other: Law[int]) -> FinitePair:
        """Return the pair over 'not seen' and ranges of outcomes that have one loss each."""
        if not isinstance(other, Thresholded) or (other.noise, other.threshold) != (self.noise, self.threshold):
            raise ParameterError("thresholded laws are compared for the same noise and threshold")
        starts = self._starts([count for count in (self.count, other.count) if count is not None])
        ranges = [(self.threshold - 1, self.threshold), *pairwise(starts), (starts[-1], None)]
        return FinitePair(ranges, *self._enclosed(ranges), *other._enclosed(ranges))

    def _starts(self, counts: list[int]) -> list[int]:
        """Return where ranges of one loss begin, from the threshold on.

        Noise that falls geometrically has one loss on either side of both counts, and another where one law ends. Other
        noise is listed outcome by outcome, until next to nothing is left.
        """
        if not counts:
            return [self.threshold]
        low, high, reach = min(counts), max(counts), self.noise.support[1]
        if self._is_geometric:
            ends: list[int] = [] if reach is None else [count + end for count in counts for end in (-reach, reach + 1)]
            places: set[int] = {*range(max(low, self.threshold) + 1, high + 1), *ends}
        else:
            places = set(range(self.threshold, high + self.noise.half_width(1 - _FAR) + 2))
        if len(places) > _MOST_OUTCOMES:
            raise ParameterError("thresholded laws are compared over at most 2^20 outcomes")
        return sorted({self.threshold, *(place for place in places if place > self.threshold)})

    @property
    def _is_geometric(self) -> bool:
        """Whether the noise falls by one factor a step."""
        return isinstance(self.noise, DiscreteLaplace | TruncatedLaplace)

    def _enclosed(self, ranges: Sequence[tuple[int, int | None]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return floats below and above the mass of each range; of a tail with many losses only the size is known."""
        with precision(_PRECISION):
            masses = [self._between(start, end) for start, end in ranges]
            ends = [(0.0, 0.0) if mass == 0 else (lower_float(mass), upper_float(mass)) for mass in masses]
        low, high = (np.maximum(np.array(column), 0.0) for column in zip(*ends, strict=True))
        if not self._is_geometric:
            low[-1] = 0.0
        return low, high

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Thresholded) and other._key() == self._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[IntegerNoise, int | None, int]:
        return self.noise, self.count, self.threshold

    def __repr__(self) -> str:
        return f"Thresholded({self.noise!r}, ..., threshold={self.threshold})"


class ThresholdedTable(Law[tuple[int, ...]]):
    """Independent thresholded entries, one for each key; a key that a table does not hold is never seen.

    >>> noise = DiscreteLaplace(1)
    >>> one = ThresholdedTable({"a": Thresholded(noise, 1, threshold=9)})
    >>> other = ThresholdedTable({})
    >>> one.pair(other).delta(0).upper < 0.001
    True
    """

    def __init__(self, entries: Mapping[Hashable, Thresholded]) -> None:
        self._entries = dict(entries)

    @property
    def laws(self) -> tuple[Thresholded, ...]:
        """The laws of the entries, in the order of the keys."""
        return tuple(self._entries.values())

    def pmf(self, outcome: Any) -> Any:
        """Return the probability of one outcome for each key, or of each row of an array or entry of a list."""
        if self._entries:
            return Product(self.laws).pmf(outcome)
        many = (isinstance(outcome, np.ndarray) and outcome.ndim > 1) or (isinstance(outcome, list) and outcome)
        return np.ones(np.shape(outcome)[:-1]) if many else 1.0

    def sample(self, shape: Shape | None = None) -> Any:
        """Draw one outcome for each key, along the last axis of an array."""
        sizes, count = ((), 1) if shape is None else as_size(shape)
        columns = [law.sample(count) for law in self.laws]
        stacked = np.stack(columns, axis=-1) if columns else np.empty((count, 0), dtype=np.int64)
        return stacked.reshape((*sizes, len(columns)))

    def pair(self, other: Law[tuple[int, ...]]) -> Pair:
        """Return the pair of two tables over the keys of both."""
        if not isinstance(other, ThresholdedTable):
            raise ParameterError("a thresholded table is compared with one of its kind")
        keys = list(dict.fromkeys((*self._entries, *other._entries)))
        both = [(self._entry(key, other), other._entry(key, self)) for key in keys]
        nothing = Thresholded(DiscreteLaplace(1), None, threshold=0)
        mine, theirs = zip(*(both or [(nothing, nothing)]), strict=True)
        pair = Product(mine).pair(Product(theirs))
        return _TablePair(pair.pairs) if isinstance(pair, ProductPair) else pair

    def _entry(self, key: Hashable, other: ThresholdedTable) -> Thresholded:
        """Return the law of a key, which one of the two tables holds."""
        if key in self._entries:
            return self._entries[key]
        theirs = other._entries[key]
        return Thresholded(theirs.noise, None, threshold=theirs.threshold)

    def __repr__(self) -> str:
        return "ThresholdedTable(...)"


class _TablePair(ProductPair):
    """The pair of two tables: an entry that only one of them can show makes the loss infinite."""

    def max_loss(self) -> Enclosure:
        """Infinite as soon as one component's is, else the sum."""
        certain = [pair for pair in self.pairs if isinstance(pair, FinitePair) and _tells(pair)]
        return Enclosure.exact(math.inf, method="an outcome of one law only") if certain else super().max_loss()

    def reversed(self) -> _TablePair:
        """Reverse every component."""
        return _TablePair([pair.reversed() for pair in self.pairs])


def _tells(pair: FinitePair) -> bool:
    """Say whether some outcome certainly has mass under P and none under Q."""
    return bool(np.any((pair.p_low > 0) & (pair.q_high == 0)))
