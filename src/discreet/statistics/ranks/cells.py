"""Noisy counts of the rows between public cuts around chosen positions, and the intervals of quantiles they prove.

Once a quantile has been chosen its position is public, and so are cuts at a half, a quarter, an eighth ... of the way
to the next chosen position or to the end of the grid. Each row lies between two of them, so all counts together cost
what one costs; a few dozen cuts find an end whose distance nobody knew beforehand to within a factor of 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np

from discreet.laws import DiscreteLaplace, Law
from discreet.laws.noise import IntegerNoise
from discreet.laws.number import Number
from discreet.mechanisms import Mechanism
from discreet.privacy import Guarantee, PrivacyLoss, Relation, Target
from discreet.statistics.columns import WEIGHT_UNIT, bounded
from discreet.statistics.pricing import NoisyVector, combination_quantile, stated_relation
from discreet.statistics.pricing.laplace_sums import chernoff_reach, laplace_sum_reach
from discreet.statistics.ranks.choice import exact_level, one_price, stated_steps
from discreet.statistics.ranks.error import line_below_counts
from discreet.statistics.ranks.ranked import Integers, Ranked

_TO_THE_ENDS, _BETWEEN = 24, 12  # halvings of the way to an end of the grid, and to the next chosen position


class CountsAround(Mechanism):
    """Count the rows between cuts around positions that were released before, with noise on each count.

    The input is a pair: the positions, and the rows. `ends` makes intervals of the counts.

    Privacy. Counts are kept in units of 2^-20 rows. Laplace noise of scale c D / epsilon is epsilon-DP and Gaussian
        noise of variance c^2 D / (2 rho) is rho-zCDP, for rows of one person that weigh up to c, D = 1 under add/remove
        and 2 under change-one.
        Proof: the cuts follow from the positions, which are public. Each row adds its weight to one count. Rows of
        weight c in all move the counts by at most c in L1, so by at most c in L2. Changing rows takes a vector u away
        and adds a vector v, both with no negative entry and of L1 norm at most c: |u - v|_1 <= 2 c, and the square of
        |u - v|_2 is |u|^2 + |v|^2 - 2 u.v <= 2 c^2. The rest is `NoisyVector`.
    Accuracy. For each level a, no quantile of the table lies outside its interval, with the confidence, whatever the
        rows are; for the population, no quantile of the law that the rows are independent draws of.
        Proof: of n rows let S_j = N(x < b_j) - a n at the cut b_j. A quantile q has N(x <= q) >= a n, so q >= b_j if
        S_j < 0; and N(x < q) <= a n, so q < b_j if S_j > 0. The counts give S_j + Z_j, where Z_j weighs the noise of
        the first j counts by 1 - a and that of the others by -a; its law is known, and m_j is exceeded with chance
        (1 - confidence) / 2. The lower end is the last cut of those from the lowest on that all have S_j + Z_j < -m_j.
        S_j does not fall with j. Let b_i be the first cut with S_i >= 0: only if Z_i < -m_i, one event, does the lower
        end reach it. The upper end alike, from the highest cut down. For a population quantile, N(x < q) and N(x <= q)
        stay on their sides of the lines of `line_below_counts` but for half of that chance, and the lines take the
        place of a n.
    Cost. A search among the rows for every cut.
    Reference. Our own; the quantiles of Z_j: Davies 1973 (`laplace_sums`).

    >>> around = CountsAround(
    ...     levels=(0.5,),
    ...     epsilon=1,
    ...     relation=Relation.ADD_REMOVE,
    ...     steps=1000,
    ...     confidence=0.999999,
    ... )
    >>> [(low, high)] = around.ends([510], around(([510], list(range(1001)))))
    >>> 0 <= low <= 500 <= high <= 1000
    True
    """

    def __init__(
        self,
        *,
        levels: Sequence[Number],
        relation: Relation,
        steps: int,
        confidence: float,
        epsilon: Number | None = None,
        rho: Number | None = None,
        rows: int | None = None,
        target: Target = Target.TABLE,
        rows_expected: int = 1,
    ) -> None:
        self.levels = tuple(exact_level(level) for level in levels)
        self.relation = stated_relation(relation)
        self.steps = stated_steps(steps)
        self._epsilon, self._rho = one_price(epsilon, rho)
        self._failure = (1 - Fraction(confidence)) / (4 if target is Target.POPULATION else 2)
        self._rows_expected = rows_expected if target is Target.POPULATION else None
        self.counter = self._counter((bounded(rows) or 1) * WEIGHT_UNIT)

    def _counter(self, weight: int) -> NoisyVector:
        """Return the noise for rows of one person that weigh so much in all."""
        times = 2 if self.relation is Relation.CHANGE_ONE else 1
        moved: dict[str, Any] = {"sensitivity": times * weight, "relation": self.relation}
        if self._epsilon is not None:
            return NoisyVector.laplace(epsilon=self._epsilon, **moved)
        return NoisyVector.gaussian(rho=self._rho or Fraction(0), squared=times * weight**2, **moved)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the noise."""
        return self.counter.guarantee

    @property
    def loss(self) -> PrivacyLoss:
        """The price of the noise."""
        return self.counter.loss

    def cuts(self, chosen: Sequence[int]) -> Integers:
        """Return the cuts around released positions, in order; rows below a cut are on its left."""
        places = sorted({min(max(int(at), 0), self.steps) for at in chosen})
        found: set[int] = set()
        for index, at in enumerate(places):
            last = index + 1 == len(places)
            below = _offsets(at - (places[index - 1] if index else 0), _BETWEEN if index else _TO_THE_ENDS)
            above = _offsets((self.steps if last else places[index + 1]) - at, _TO_THE_ENDS if last else _BETWEEN)
            found.update(at - offset for offset in below)
            found.update(at + 1 + offset for offset in above)
        return np.array(sorted(cut for cut in found if 0 < cut <= self.steps), dtype=np.int64)

    def counts(self, chosen: Sequence[int], rows: Any) -> list[int]:
        """Return the exact counts, in units of 2^-20 rows: below the first cut, between two cuts, above; private."""
        return [int(count) for count in self._counts(self.cuts(chosen), rows)]

    def _counts(self, cuts: Integers, rows: Any) -> Integers:
        """Return the counts of `counts` for these cuts; their sum, the weight of all rows, is below 2^63."""
        if isinstance(rows, Ranked):
            below = np.concatenate([[0], rows.weights_before(cuts), [rows.weight]]).astype(np.int64)
            found: Integers = (below[1:] - below[:-1]) * (WEIGHT_UNIT if rows.cumulative is None else 1)
            return found
        positions, weights = rows if isinstance(rows, tuple) else (rows, None)
        cell = np.searchsorted(cuts, np.asarray(positions, dtype=np.int64), side="right")
        return np.array(weighed(cell, weights, cuts.size + 1), dtype=np.int64)

    def __call__(self, value: Any) -> list[int]:
        """Return the counts with noise, for a pair of released positions and rows."""
        return [int(count) for count in self.counter(self._vector(value))]

    def _vector(self, value: Any) -> Any:
        return np.array(self.counts(*value), dtype=object)

    def law(self, value: Any) -> Law[Any]:
        """Return the law of the counts."""
        return self.counter.law(self._vector(value))

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield tables that differ in one row, around a position in the middle."""
        top, chosen = self.steps, [self.steps // 2]
        if self.relation is Relation.ADD_REMOVE:
            yield (chosen, [0, top]), (chosen, [0, top, top])
        else:
            yield (chosen, [0, top]), (chosen, [top, top])

    def ends(self, chosen: Sequence[int], counts: Sequence[int]) -> list[tuple[int, int]]:
        """Return for each level the lowest and the highest position of its interval."""
        cuts, sums = self.cuts(chosen).tolist(), list(accumulate(counts))
        return [self._interval(level, cuts, sums) for level in self.levels]

    def ends_of_groups(self, chosen: Sequence[Sequence[int]], rows: Sequence[Any]) -> list[list[tuple[int, int]]]:
        """Count the rows of many groups, with one draw of noise for all counts, and return the ends in each group.

        Privacy. What one group costs, where the rows of one person in all groups together weigh up to c.
            Proof: the counts of all groups are one vector, to which the proof of the class applies; noises that are
            drawn together are as independent as those of several draws.
        """
        cuts = [self.cuts(at) for at in chosen]
        counts = [self._counts(own, group) for own, group in zip(cuts, rows, strict=True)]
        stops = np.cumsum([one.size for one in counts])
        noisy = self.counter(np.concatenate(counts)).tolist() if counts else []
        found = []
        for own, start, stop in zip(cuts, [0, *stops.tolist()], stops.tolist(), strict=False):
            sums = list(accumulate(noisy[start:stop]))
            found.append([self._interval(level, own.tolist(), sums) for level in self.levels])
        return found

    def _interval(self, level: Fraction, cuts: list[int], sums: list[int]) -> tuple[int, int]:
        """Go from either end of the grid inward, as far as the counts prove that no quantile lies outside."""
        (under, before), (over, after) = self._lines(level)
        low, high = 0, self.steps
        reach = _Reach(self.counter.noise, under, len(cuts), self._failure)
        share, scale, extra = _in_integers(under, before)
        for place, cut in enumerate(cuts):
            if not reach.is_below(sums[-1] * share - sums[place] * scale - extra, scale, place):
                break
            low = cut
        reach = _Reach(self.counter.noise, over, len(cuts), self._failure)
        share, scale, extra = _in_integers(over, after)
        for place in range(len(cuts) - 1, -1, -1):
            if not reach.is_below(sums[place] * scale - sums[-1] * share - extra, scale, place):
                break
            high = cuts[place] - 1
        return low, high

    def _lines(self, level: Fraction) -> tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]:
        """Return the share of the rows and what to go beyond it, for the lower and for the upper end."""
        if self._rows_expected is None:
            return (level, Fraction(0)), (level, Fraction(0))
        lower = line_below_counts(level, self._rows_expected, self._failure)
        upper = line_below_counts(1 - level, self._rows_expected, self._failure)
        return (level - lower[0], lower[1] * WEIGHT_UNIT), (level + upper[0], upper[1] * WEIGHT_UNIT)


def weighed(cells: Integers, weights: Integers | None, count: int) -> list[int]:
    """Return the exact weight of the rows in each cell, in units of 2^-20 rows: never through floats."""
    if weights is None:
        return [rows * WEIGHT_UNIT for rows in np.bincount(cells, minlength=count).tolist()]
    total = np.zeros(count, dtype=np.int64)
    np.add.at(total, cells, weights)
    return [int(weight) for weight in total]


def _offsets(gap: int, halvings: int) -> list[int]:
    """Return 0 and a half, a quarter, ... of a gap, as whole numbers."""
    return [0, *(gap >> power for power in range(1, halvings + 1) if gap >> power)]


def _in_integers(share: Fraction, beyond: Fraction) -> tuple[int, int, int]:
    """Return a share, 1 and what lies beyond it, in integers: all times the least number that makes them whole."""
    scale = math.lcm(share.denominator, beyond.denominator)
    return int(share * scale), scale, int(beyond * scale)


@lru_cache(maxsize=1 << 8)
def _rough_reaches(level: float, cuts: int, failure: float) -> list[float]:
    """Return Chernoff's bound on the noise of the rank at each of some cuts; all of it is public."""
    below = np.arange(1, cuts + 1)
    found: list[float] = chernoff_reach(level, below, cuts + 1 - below, failure).tolist()
    return found


class _Reach:
    """How far the noise of a rank goes: 1 - level times the sum of some noises less level times that of the others."""

    def __init__(self, noise: IntegerNoise, level: Fraction, cuts: int, failure: Fraction) -> None:
        self.noise, self.level, self.cuts = noise, float(level), cuts
        self.usable = 0 <= level <= 1
        self.failure = float(failure) * (1 - 1e-12)
        if self.usable and isinstance(noise, DiscreteLaplace):
            self._rough = _rough_reaches(self.level, cuts, self.failure)

    def is_below(self, excess: int, scale: int, place: int) -> bool:
        """Say whether the noise at a cut exceeds excess / scale with the failure at most; a rough bound comes first."""
        if not self.usable or excess <= 0:
            return False
        far, below, above = excess / scale * (1 - 1e-12), place + 1, self.cuts - place
        if not isinstance(self.noise, DiscreteLaplace):
            weights = [1 - self.level] * below + [self.level] * above
            return far > combination_quantile(self.noise, weights, 1 - 2 * self.failure)
        slack = (1 - self.level) * below + self.level * above  # discrete against continuous: see `combined_noise`
        in_scales = (far - slack) / float(self.noise.scale) * (1 - 1e-12)
        if in_scales > self._rough[place]:
            return True
        return in_scales > laplace_sum_reach(self.level, below, above, self.failure)
