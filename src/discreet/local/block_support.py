"""Reports of a protocol in blocks: how many lie on the plane of a value, out of those in its block, and intervals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.laws.clopper_pearson import chance_at_least, chance_at_most
from discreet.local.items import Integers
from discreet.local.normal import two_sided_normal
from discreet.privacy import Target

Floats = NDArray[np.float64]
_ASIDE = 0.05  # of the allowed error is for the number of reports that the holders themselves have in the block
_SLACK = 1e-9  # relative; covers the rounding of the beta function and of the chances


@dataclass(frozen=True, eq=False)
class BlockSupport:
    """Of `in_blocks[b]` reports in block b, `counts[x]` lie on the plane of x, which is a value of the block x mod B.

    A holder of x reports on its plane with chance `held` and anywhere in its block with chance `inside`. A report in
    the block of another person lies on that plane with chance `near` if the person holds another value of the block,
    and with chance `far` >= `near` if not. `shares` are the raw estimates, which every interval contains.

    Accuracy. `interval` misses a share with at most the stated probability, whatever the other people hold, for the
        table of those who reported and for the population they were drawn from.
        Proof: let m people hold x, let V be the number of reports of other people in the block of x, and G that of the
        holders. Given which of the other people report in the block, their reports are on the plane independently, with
        chances from `near` to `far`, and the holders' reports do not depend on them. So C = counts[x] is stochastically
        at most Bin(m, held) + Bin(V, far) and at least Bin(m, held) + Bin(V, near), given V. Nobody sees V, but V + G
        is seen, and G = Bin(m, inside) leaves m inside -+ sqrt(m ln(1 / d) / 2) with probability at most d on each side
        (Hoeffding 1963). With the largest V that this leaves the upper tail P(C >= c), with the least the lower one, is
        not below the true one; both bounds are monotone in m, since `held` > `far` and a holder more takes away at most
        one other report. So the m for which neither is below half the allowed error less d, d being a twentieth of that
        half, contain the true one as often as stated. For nobody, m = 0, that is the binomial law of the reports in the
        block with the chance `far`. A tail of a sum of two binomials is bounded by that of the binomial law with the
        same mean and number of coins for c >= mean + 1 (Hoeffding 1956, theorem 4) and by 1 nearer; where its variance
        is at least 100 and 8 z^4, it is expanded as in `Support`, with the same margin. For a population m is a
        binomial number itself: half of the allowed error is for m, half for the share given m (Clopper and Pearson).
    Cost. Some 60 beta functions for every different pair of a block and a count.
    Reference. Hoeffding 1956, 1963; Clopper, Pearson 1934; Cornish, Fisher 1938.

    >>> counts, in_blocks, shares = np.array([30, 9, 8]), np.array([120, 90]), np.array([0.17, 0.0, 0.0])
    >>> reports = BlockSupport(counts, in_blocks, 300, 0.5, 0.55, 0.05, 0.06, shares)
    >>> [f"{a:.2f} {b:.2f}" for a, b in zip(*reports.interval(0.05, Target.TABLE))]
    ['0.30 0.68', '0.00 0.22', '0.00 0.14']
    """

    counts: Integers
    in_blocks: Integers
    people: int
    held: float
    inside: float
    near: float
    far: float
    shares: Floats
    method: ClassVar[str] = "bounded law of the reports in a block"

    def interval(self, rest: float, target: Target, chosen: Integers | None = None) -> tuple[Floats, Floats]:
        """Return ends that miss a share with probability `rest`, for all values or the chosen ones."""
        values = np.arange(self.counts.size, dtype=np.int64) if chosen is None else chosen
        blocks = values % self.in_blocks.size
        seen, ranks = np.unique(self.counts[values], return_inverse=True)
        pairs, places = np.unique(blocks * max(seen.size, 1) + ranks, return_inverse=True)
        counts = seen[pairs % max(seen.size, 1)] if seen.size else seen
        reports = self.in_blocks[pairs // max(seen.size, 1)]
        low, high = self._ends(counts, reports, rest, target)
        shares = self.shares[values]
        return np.minimum(low[places], shares), np.maximum(high[places], shares)

    def _ends(self, counts: Integers, reports: Integers, rest: float, target: Target) -> tuple[Floats, Floats]:
        """Return the ends for so many reports on the plane out of so many in the block."""
        each = rest / 2 if target is Target.TABLE else rest / 4
        least, most = self._least(counts, reports, each), self._most(counts, reports, each)
        if target is Target.TABLE:
            return least / self.people, most / self.people
        return chance_at_least(least, self.people, each), chance_at_most(most, self.people, each)

    def _least(self, counts: Integers, reports: Integers, rest: float) -> Integers:
        """Return the least number of holders for which so many reports on the plane are not too many."""

        def possible(holders: Integers) -> NDArray[np.bool_]:
            others = reports - np.maximum(np.floor(self.inside * holders - _reach(holders, rest)), 0.0)
            return _exceeds(counts, (holders, self.held), (np.maximum(others, 0.0), self.far), rest * (1 - _ASIDE))

        return _least(possible, counts.size, self.people)

    def _most(self, counts: Integers, reports: Integers, rest: float) -> Integers:
        """Return the largest number of holders for which so few reports on the plane are not too few.

        Few heads are many tails: the same bound serves with the chances of the tails.
        """

        def possible(absent: Integers) -> NDArray[np.bool_]:
            holders = self.people - absent
            own = np.minimum(np.ceil(self.inside * holders + _reach(holders, rest)), holders)
            others = np.maximum(reports - own, 0.0)
            tails = (holders, 1 - self.held), (others, 1 - self.near)
            return _exceeds(holders + others - counts, *tails, rest * (1 - _ASIDE))

        return np.asarray(self.people - _least(possible, counts.size, self.people))


def _reach(holders: Integers, rest: float) -> Floats:
    """Return how far the number of holders' reports in the block may be from its mean."""
    return np.asarray(np.sqrt(holders * (-math.log(_ASIDE * rest) / 2)))


def _least(possible: Callable[[Integers], NDArray[np.bool_]], size: int, most: int) -> Integers:
    """Return, for each of `size` cases, the least number from which on it is possible, `most` if it never is."""
    low, high = np.zeros(size, dtype=np.int64), np.full(size, most, dtype=np.int64)
    while np.any(low < high):
        middle = low + (high - low) // 2
        holds = possible(middle) | (low >= high)
        low, high = np.where(holds, low, middle + 1), np.where(holds, np.minimum(middle, high), high)
    return low


def _exceeds(
    seen: NDArray[np.generic],
    first: tuple[Integers, float],
    second: tuple[Floats, float],
    rest: float,
) -> NDArray[np.bool_]:
    """Say where the bound on P(S >= seen) is above `rest`, for S the sum of two binomials (coins, chance)."""
    from scipy.special import betainc

    number, (coins, chance), (others, other) = seen.astype(np.float64), first, second
    total, mean = coins + others, coins * chance + others * other
    spreads = coins * chance * (1 - chance), others * other * (1 - other)
    variance = spreads[0] + spreads[1]
    near = number < mean + 1
    level = two_sided_normal(2 * rest)
    large = variance >= max(100.0, 8 * level**4)
    wide = np.where(large, variance, 100.0)
    skewness = (level**2 - 1) * (spreads[0] * (1 - 2 * chance) + spreads[1] * (1 - 2 * other)) / (6 * wide)
    margin = level * (level**2 + 3) / (24 * np.sqrt(wide))
    expanded = number - 0.5 <= mean + level * np.sqrt(wide) + skewness + margin
    sure = near | (number > total) | large  # what the beta function is not asked for
    coin = np.where(sure, 0.5, mean / np.maximum(total, 1.0))
    tail = betainc(np.where(sure, 1.0, number), np.where(sure, 1.0, total - number + 1), coin)
    heavy = tail > rest * (1 - _SLACK)
    return np.asarray(near | np.where(large, expanded, heavy & (number <= total)))
