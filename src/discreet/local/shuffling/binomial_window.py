"""Upper bounds on binomial chances, in floats: ratios of neighbours from the mode on, divided by their own sum."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
UNIT = 2.0**-53


@dataclass(frozen=True)
class Window:
    """The counts first..last of a binomial law, an upper bound on the chance of each, and of what lies outside.

    Proof: starting from the mode the chances relative to it are products of the ratios P(k + 1) / P(k) =
    (n - k) p / ((k + 1) (1 - p)); a step costs at most four roundings, so after K steps the relative error is below
    5 K 2^-53. Their sum over the window is at most the sum over all counts, so dividing by it only raises the chances;
    the stated slack covers the roundings of products, sum and quotient. The ratios fall with k, so what lies above the
    window is less than a geometric series, and likewise below.
    """

    trials: int
    probability: Fraction
    first: int
    chances: Floats
    below: float
    above: float
    fall: float

    @classmethod
    def of(cls, trials: int, probability: Fraction, log_tail: float) -> Window:
        """Cover all counts but about e^-log_tail of the mass (by Bernstein's inequality; the bounds do not need it)."""
        mode = min(math.floor((trials + 1) * probability), trials)
        reach = 1 + math.ceil(_deviation(float(trials * probability * (1 - probability)), log_tail))
        first, last = max(0, mode - reach), min(trials, mode + reach)
        odds = float(probability / (1 - probability))
        up = np.arange(mode, last, dtype=np.float64)
        down = np.arange(mode, first, -1, dtype=np.float64)
        rising = np.cumprod((trials - up) / (up + 1) * odds)
        falling = np.cumprod(down / ((trials - down + 1) * odds))
        relative = np.concatenate([falling[::-1], [1.0], rising])
        slack = 1 + 16 * (relative.size + 4) * UNIT
        chances = relative / np.sum(relative) * slack
        fall = (trials - last) / (last + 1) * odds * (1 + 8 * UNIT)
        fade = first / ((trials - first + 1) * odds) * (1 + 8 * UNIT)
        below = float(chances[0]) * fade / (1 - fade) * slack if first else 0.0
        above = float(chances[-1]) * fall / (1 - fall) * slack if last < trials else 0.0
        return cls(trials, probability, first, chances, below, above, fall)

    @property
    def last(self) -> int:
        """The largest count in the window."""
        return self.first + self.chances.size - 1

    def cut(self, width: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
        """Return slices of about these widths as (least, largest, chance); a first one holds the counts below."""
        starts = [0]
        while starts[-1] < self.chances.size:
            starts.append(starts[-1] + int(width[starts[-1]]))
        begins = np.array(starts[:-1], dtype=np.int64)
        ends = np.append(begins[1:], self.chances.size) - 1
        chance = np.add.reduceat(self.chances, begins) * (1 + 2 * self.chances.size * UNIT)
        low, high = begins + self.first, ends + self.first
        if not self.first:
            return low, high, chance
        return np.append(0, low), np.append(self.first, high), np.append(self.below, chance)

    def weighted_beyond(self) -> float:
        """Bound E[K; K > last] / E[K]: the chance above the window with one person's own report counted in."""
        if self.above == 0.0:
            return 0.0
        mean = float(self.trials * self.probability)
        return self.above * (self.last / mean + 1 / ((1 - self.fall) * mean)) * (1 + 16 * UNIT)


def symmetric_excess(coins: NDArray[np.int64], log_tail: float) -> tuple[Floats, Floats]:
    """Tabulate, for the lead j of heads among v fair coins, P(j >= t + 1) and E max(0, j - t - 1) for t = 0, 1, ...

    The lead is heads - v / 2 for an even v and heads - v / 2 + 1 / 2 for an odd one: an integer. One row for each v,
    rounded up. The last column bounds E max(0, j - y) for every larger y, its first entry being 0. Between,
    E max(0, j - y) is (t + 1 - y) P(j >= t + 1) + E max(0, j - t - 1) for t <= y <= t + 1.
    """
    odd = (coins % 2).astype(np.float64)[:, None]
    half = (coins // 2).astype(np.float64)[:, None]
    length = 2 + math.ceil(math.sqrt(log_tail * float(half.max() + 1)))
    steps = np.arange(1, length + 1, dtype=np.float64)[None, :]
    relative = np.cumprod(np.maximum(half - steps + 1 + odd, 0.0) / (half + steps), axis=1)
    slack = 1 + 32 * (length + 4) * UNIT
    chances = relative / (1 - odd + 2 * np.sum(relative, axis=1, keepdims=True)) * slack
    fall = np.maximum(half - length + odd, 0.0) / (half + length + 1)
    beyond = chances[:, -1:] * fall / (1 - fall)
    tails = np.cumsum(np.hstack([beyond, chances[:, ::-1]]), axis=1)[:, ::-1]  # P(j >= 1), ..., P(j > length)
    sums = np.cumsum(np.hstack([beyond / (1 - fall), tails[:, -2::-1]]), axis=1)[:, ::-1]
    # sums[t] = P(j >= t + 1) + P(j >= t + 2) + ...; the excess over t + 1 leaves out the first
    excesses = np.hstack([sums[:, 1:], sums[:, -1:]]) * slack
    tails = np.hstack([tails[:, :-1], np.zeros_like(beyond)]) * slack
    return tails, excesses


def _deviation(variance: float, log_tail: float) -> float:
    """Return the t at which Bernstein's bound exp(-t^2 / (2 variance + 2 t / 3)) is e^-log_tail."""
    third = log_tail / 3
    return third + math.sqrt(third * third + 2 * log_tail * variance)
