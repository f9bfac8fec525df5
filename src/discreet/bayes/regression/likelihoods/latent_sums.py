"""Sums over a count that nobody saw: what was released about it weighs every value it may have had.

The weight of a count t is the product of the probabilities of what was released, pmf(z - weight t). It is log-concave,
and so is its product with a Poisson or a binomial probability. A sum of such terms is therefore found around its one
peak, and what is left out on either side is bounded by the last ratio of two terms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.evidence import Observation
from discreet.errors import InputError
from discreet.laws.noise import IntegerNoise

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
DEPTH = 60.0  # tables are exact down to e^-60 of their largest value, if not said otherwise, and go on straight below
DEPTHS = (DEPTH, 1000.0, 20_000.0)  # tried until draws stay above; from milliseconds a cell to seconds
_BELOW = 20.0  # noise that is by e^-20 less likely than that is left out
_AT_ONCE = 1 << 20
_TABLED = 1 << 21
_LARGEST_SCALE, _LARGEST_COUNT = 1_000_000, 1 << 50


@dataclass(frozen=True)
class CountEvidence:
    """What was released about one count: ln of the weight of each value, between the ends that matter."""

    observations: tuple[Observation, ...]
    depth: float = DEPTH

    @cached_property
    def center(self) -> float:
        """About the most likely count: the mean of what was released, by the inverse of its variance."""
        parts = [
            (one.released / one.weight, (one.weight / noise_deviation(one.noise)) ** 2) for one in self.observations
        ]
        return float(sum(value * precision for value, precision in parts) / sum(precision for _, precision in parts))

    @property
    def scale(self) -> float:
        """The scale of the narrowest noise, as a count; infinite where nothing was released."""
        return min((float(one.noise.scale) / one.weight for one in self.observations), default=math.inf)

    @cached_property
    def ends(self) -> tuple[int, int]:
        """The least and the largest count that matters."""
        low, high = [], []
        for one in self.observations:
            reach = -(-reach_of(one.noise, self.depth + _BELOW) // one.weight)
            place = one.released // one.weight
            low.append(max(place - reach, 0))
            high.append(max(place, 0) + reach + 1)
        return min(low), max(high)

    @property
    def lift(self) -> float:
        """How much likelier the count 1 is than 0, as a logarithm between 0 and 40; 0 where neither matters."""
        if self.ends[0] > 0:
            return 0.0
        first, second = self.log_weight(np.array([0, 1]))
        return float(np.clip(second - first, 0.0, 40.0))

    def log_weight(self, count: NDArray[Any]) -> Floats:
        """Return ln of the weight of counts, between the ends."""
        low, high = self.ends
        if high - low < _TABLED:
            return np.asarray(self._table[count - low])
        return self._direct(count)

    @cached_property
    def _table(self) -> Floats:
        low, high = self.ends
        return self._direct(np.arange(low, high + 1))

    def _direct(self, count: NDArray[Any]) -> Floats:
        total = np.zeros(np.shape(count))
        for one in self.observations:
            far = one.weight * max(self.ends[1], 1) + abs(one.released) >= 1 << 62
            counted = count.astype(object) if far else count
            total += one.noise.log_pmf(one.released - one.weight * counted)
        return total


def noise_deviation(noise: IntegerNoise) -> float:
    """Return the standard deviation of noise, and never 0."""
    variance = float(getattr(noise, "variance", float(noise.scale) ** 2))
    return max(math.sqrt(variance), 1e-3)


@lru_cache(maxsize=256)
def reach_of(noise: IntegerNoise, nats: float) -> int:
    """Return how far from its center noise may be before it is less likely than e^-nats of its peak."""
    peak = float(noise.log_pmf(noise.center))

    def matters(distance: int) -> bool:
        return float(noise.log_pmf(noise.center + distance)) > peak - nats

    far = 1
    while matters(far):
        far *= 2
    near = far // 2
    while far - near > 1:
        middle = (near + far) // 2
        near, far = (middle, far) if matters(middle) else (near, middle)
    return far


def log_sums(
    term: Callable[[Whole, slice], Floats],
    low: Whole,
    high: Whole,
    spread: Callable[[Whole, slice], Floats],
    *,
    scale: float,
) -> Floats:
    """Return ln of the sum of exp(term(t)) over low <= t <= high, for many sums at once.

    `term(t, rows)` is concave in t for each row; t is (rows, counts). `spread(t, rows)` bounds the standard deviation
    of a law as curved as the term is at its peak t; `scale` is that of the narrowest noise, as a count.

    Accuracy. Terms beyond 9.5 spreads and 40 counts from the peak are left out, below 1e-15 of the sum. Where spread
        and scale are wide, terms are taken at even steps h: sums of smooth terms lose nothing by that, and the kink of
        Laplace noise costs at most h^2 / (6 scale spread) of the sum, which is kept below 1e-7.
    Cost. One exponential a term, in parts of a million.
    """
    peak = _peaks(term, low, high)
    width = spread(peak, slice(0, len(peak)))
    reach = np.ceil(9.5 * width + 40.0).astype(np.int64)
    base, top = np.maximum(low, peak - reach), np.minimum(high, peak + reach)
    steps = np.maximum(np.minimum(np.sqrt(6e-7 * scale * width), width / 4.0), 1.0).astype(np.int64)
    found = np.empty(len(peak))
    start = 0
    while start < len(peak):
        stop = _stop((top - base) // steps + 1, start)
        rows = slice(start, stop)
        step = int(steps[rows].min())
        counts = base[rows, np.newaxis] + step * np.arange(int((top[rows] - base[rows]).max()) // step + 1)
        inside = counts <= top[rows, np.newaxis]
        terms = np.where(inside, term(np.minimum(counts, top[rows, np.newaxis]), rows), -np.inf)
        largest = terms.max(axis=1)
        found[rows] = largest + np.log(np.exp(terms - largest[:, np.newaxis]).sum(axis=1)) + math.log(step)
        start = stop
    return found


def _stop(widths: Whole, start: int) -> int:
    """Return where a part of the rows ends that is small enough for memory."""
    most = np.maximum.accumulate(widths[start : start + _AT_ONCE])
    room = most * np.arange(1, len(most) + 1) <= _AT_ONCE
    return start + max(int(room.sum()), 1)


def _peaks(term: Callable[[Whole, slice], Floats], low: Whole, high: Whole) -> Whole:
    """Return, for each row, the count where a concave term is largest, by bisection of its rise."""
    every = slice(0, len(low))
    left, right = low.copy(), high.copy()
    while (left < right).any():
        middle = (left + right) // 2
        pair = np.stack([middle, np.minimum(middle + 1, high)], axis=1)
        values = term(pair, every)
        rises = (values[:, 1] > values[:, 0]) & (left < right)
        left, right = np.where(rises, middle + 1, left), np.where(rises, right, np.minimum(middle, right))
    return left


def too_far() -> InputError:
    """Return the error for a release that the model makes less likely than the deepest tables know."""
    return InputError(
        "the model must be able to lead to what was released; got groups that it makes less likely than "
        f"e^-{DEPTHS[-1]:.0f} of what they could be, write wider priors, add predictors, or let areas differ more"
    )


def evidence(observations: Sequence[Observation], depth: float = DEPTH) -> CountEvidence:
    """Return what was released about one count; refuse noise or counts beyond all numbers of people."""
    for one in observations:
        if one.noise.scale > one.weight * _LARGEST_SCALE:
            raise InputError(
                f"noise must be of a scale of at most {_LARGEST_SCALE:,} people, beyond which a model of cells learns "
                "nothing; got more, ask for the release with more privacy budget"
            )
        if abs(one.released) > one.weight * _LARGEST_COUNT:
            raise InputError(
                "released counts must be of people, of whom there are never 2^50; got more, hand over the integers as "
                "they were released"
            )
    return CountEvidence(tuple(observations), depth)
