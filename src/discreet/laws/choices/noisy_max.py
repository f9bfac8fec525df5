"""The law of the position of the largest noised score, alone or with its lead over the second: sums over the winner.

With the lead, ties are decided by random fractions. Score i becomes V_i = s_i + X_i + F_i with integer noise X_i and an
independent uniform fraction F_i. The winner is the largest V_i, and what is told of its lead is floor(V_i - largest
other V).

Lemma (fractions). Only equal integer parts ask for fractions, and what they ask for is a fair choice among a few. Let
K be the largest integer part of the others and T how many of them have it. If the winner's integer part z exceeds K,
its lead is z - K + F_i - (largest of T fractions): its floor is z - K if F_i is the largest of T + 1 independent
uniform fractions, which has probability 1 / (T + 1), and z - K - 1 otherwise. If several share the largest integer
part, the winner is any of them with equal probability, and the floor of its lead is 0. QED. So no fraction is ever
drawn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws.finite import FinitePair, Floats, Tabulated
from discreet.laws.law import Law, Shape, as_size
from discreet.laws.noise import DiscreteLaplace
from discreet.randomness import uniform_below

_REACH = 64
_LARGEST_WINDOW = 1 << 21
_UNIT = 2.0**-42
_LEAST_NORMAL = 2.0**-1020
_CAP = 40
_LARGEST_TABLE = 1 << 24
_ADDITION = 2.0**-52


class NoisyMaxLaw(Tabulated):
    """Scores plus independent discrete Laplace noise; the position of the largest, the first one on a tie.

    P(i) = sum over z of p(z - s_i) * product over j < i of P(s_j + X < z) * product over j > i of P(s_j + X <= z). The
    sum runs over a window that reaches 64 scales beyond all scores; what lies outside is bounded by the tail and added
    to the upper bound. Every term is positive, so rounding is relative: 2^-42 for each factor covers it generously.
    """

    def __init__(self, scores: NDArray[np.int64], noise: DiscreteLaplace) -> None:
        self.scores = np.asarray(scores, dtype=np.int64)
        self.noise = noise

    def table(self) -> tuple[list[Any], Floats, Floats]:
        """Return the probabilities with bounds."""
        return self._table

    @cached_property
    def _table(self) -> tuple[list[Any], Floats, Floats]:
        """Compute the probabilities once."""
        count = self.scores.size
        reach = int(_REACH * self.noise.scale) + 2
        low, high = int(self.scores.min()) - reach, int(self.scores.max()) + reach
        if (high - low) * count > _LARGEST_WINDOW * 8 or high - low > _LARGEST_WINDOW:
            raise ParameterError(
                "the exact law of these scores needs too many grid points; use a coarser grid= (or fewer "
                "candidates) to look at it"
            )
        centered = np.arange(low, high + 1)[:, None] - self.scores[None, :]
        at_most, less = self.noise.cdf(centered), self.noise.cdf(centered - 1)
        before = np.cumprod(np.hstack([np.ones((centered.shape[0], 1)), less[:, :-1]]), axis=1)
        after = np.cumprod(np.hstack([np.ones((centered.shape[0], 1)), at_most[:, :0:-1]]), axis=1)[:, ::-1]
        terms = np.ascontiguousarray((self.noise.pmf(centered) * before * after).T)
        values = terms.sum(axis=1)  # along the contiguous axis numpy sums pairwise: an error of log2(n) roundings
        outside = self.noise.sf(high - self.scores) + self.noise.cdf(low - 1 - self.scores)
        error = _UNIT * (count + 2)
        low_bounds = np.where(values < _LEAST_NORMAL, 0.0, values * (1 - error))
        return list(range(count)), low_bounds, values * (1 + error) + outside * (1 + error) + _LEAST_NORMAL

    def sample(self, shape: Shape | None = None) -> Any:
        """Run the mechanism: add noise, take the first largest."""
        if shape is None:
            return int(self.sample(1)[0])
        sizes, count = as_size(shape)
        noise = self.noise.draw(count * self.scores.size).reshape(count, self.scores.size)
        return np.argmax(noise + self.scores, axis=1).astype(np.int64).reshape(sizes)


@dataclass(frozen=True, slots=True)
class Winner:
    """The position of the largest noised score, and how far it is ahead of the second, rounded down to the grid."""

    index: int
    gap: int | float


def leader(noised: NDArray[Any]) -> tuple[int, int]:
    """Return the position of the largest of two or more integers and its lead, as if each had a random fraction."""
    top = noised.max()
    ties = np.flatnonzero(noised == top)
    if ties.size > 1:
        return int(ties[uniform_below(int(ties.size))]), 0
    rest = np.delete(noised, ties[0])
    second = rest.max()
    equal = int(np.count_nonzero(rest == second))
    return int(ties[0]), int(top) - int(second) - int(uniform_below(equal + 1) != 0)


class NoisyMaxGapLaw(Tabulated):
    """Scores plus discrete Laplace noise plus uniform fractions: who is largest, and the floor of its lead.

    With K the largest integer part of the candidates other than i and T how many of them have it, the lemma above gives

        P(i, g) = sum over k of A(k) p(k + g - s_i) + B(k) p(k + g + 1 - s_i),
        A(k) = sum over t >= 1 of P(K = k, T = t) / (t + 1),  B(k) = sum over t >= 1 of P(K = k, T = t) t / (t + 1),

    and P(K = k, T = t) is the coefficient of x^t in the product over j != i of P(s_j + X < k) + x P(s_j + X = k). Every
    term is positive, so rounding is relative. Leads of `cap` or more are put together and called `cap`; it lies beyond
    what is ever drawn, 40 scales above the largest difference of scores, unless it is given. The sum reaches 64 scales
    beyond all that matters; what lies outside is added to the upper bounds.

    >>> law = NoisyMaxGapLaw(np.array([2, 0]), DiscreteLaplace(1))
    >>> round(law.pmf(Winner(0, 1)), 4), round(law.pmf(Winner(1, 0)), 4)
    (0.2311, 0.0708)
    """

    def __init__(
        self,
        scores: NDArray[np.int64],
        noise: DiscreteLaplace,
        *,
        grid: Fraction = Fraction(1),
        cap: int | None = None,
    ) -> None:
        self.scores = np.asarray(scores, dtype=np.int64)
        self.noise = noise
        self.grid = grid
        span = int(self.scores.max()) - int(self.scores.min())
        self.cap = span + math.ceil(_CAP * noise.scale) if cap is None else cap

    def table(self) -> tuple[list[Any], Floats, Floats]:
        """Return the winners with their leads, and the probabilities with bounds."""
        return self._table

    @cached_property
    def _table(self) -> tuple[list[Any], Floats, Floats]:
        """Compute the probabilities once."""
        count, span = self.scores.size, int(self.scores.max()) - int(self.scores.min())
        # the rarest outcome has a chance of about exp(-(cap + 2 span) / scale)
        reach = self.cap + 2 * span + math.ceil(_REACH * self.noise.scale) + 2
        if (2 * reach + span) * max(self.cap, count * count) > _LARGEST_TABLE:
            raise ParameterError(
                "the exact law of these scores needs too many grid points; use a coarser grid= (or fewer candidates) "
                "to look at it"
            )
        window = np.arange(int(self.scores.min()) - reach, int(self.scores.max()) + reach + 1)
        rows = [self._row(index, window) for index in range(count)]
        outcomes = [Winner(index, self._lead(gap)) for index in range(count) for gap in range(self.cap + 1)]
        values = np.concatenate([row for row, _ in rows])
        outside = np.repeat([beyond for _, beyond in rows], self.cap + 1)
        error = _UNIT * (count + 4) + _ADDITION * window.size
        low = np.where(values < _LEAST_NORMAL, 0.0, values * (1 - error))
        return outcomes, low, values * (1 + error) + outside * (1 + error) + _LEAST_NORMAL

    def _row(self, index: int, window: NDArray[np.int64]) -> tuple[Floats, float]:
        """Return P(index, g) for g below cap, then P(index, g >= cap), and a bound on what is left out of each."""
        others = np.delete(self.scores, index)
        places = window[:, None] - others[None, :]
        ways = _ways(self.noise.cdf(places - 1), self.noise.pmf(places))
        tied = np.arange(ways.shape[0])[1:, None]
        alone, behind = (ways[1:] / (tied + 1)).sum(axis=0), (ways[1:] * (tied / (tied + 1))).sum(axis=0)
        start = window - int(self.scores[index])
        masses = self.noise.pmf(np.arange(start[0], start[-1] + self.cap + 1))
        row = np.correlate(masses[:-1], alone) + np.correlate(masses[1:], behind)
        last = self.noise.sf(start + self.cap - 1) @ alone + self.noise.sf(start + self.cap) @ behind
        low, high = self.noise.cdf(window[0] - 1 - others), self.noise.sf(window[-1] - others)
        return np.append(row, last), 2.0 * (float(np.prod(low)) + float(np.sum(high)))

    def _lead(self, gap: int) -> int | float:
        """Return a lead in the unit of the scores: an integer on grid 1, else a float."""
        return gap if self.grid == 1 else float(gap * self.grid)

    def pair(self, other: Law[Any]) -> FinitePair:
        """Return the pair of two laws, both with the larger of their caps."""
        if isinstance(other, NoisyMaxGapLaw) and other.cap != self.cap:
            cap = max(self.cap, other.cap)
            mine, theirs = (NoisyMaxGapLaw(law.scores, law.noise, grid=law.grid, cap=cap) for law in (self, other))
            return mine.pair(theirs)
        return super().pair(other)

    def sample(self, shape: Shape | None = None) -> Any:
        """Run the mechanism: add noise, find the largest and its lead."""
        if shape is None:
            return self.sample(1)[0]
        sizes, count = as_size(shape)
        noise = self.noise.draw(count * self.scores.size).reshape(count, self.scores.size)
        out = np.empty(count, dtype=object)
        for place, noised in enumerate(noise + self.scores):
            index, gap = leader(noised)
            out[place] = Winner(index, self._lead(gap))
        return out.reshape(sizes)


def _ways(less: Floats, equal: Floats) -> Floats:
    """Return the coefficients of the product of less_j + x equal_j over the columns j: one row for each power of x."""
    ways = np.zeros((less.shape[1] + 1, less.shape[0]))
    ways[0] = 1.0
    for column in range(less.shape[1]):
        ways[1 : column + 2] = ways[1 : column + 2] * less[:, column] + ways[: column + 1] * equal[:, column]
        ways[0] *= less[:, column]
    return ways
