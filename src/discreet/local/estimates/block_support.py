"""Reports of a protocol in blocks: how many lie on the plane of a value, out of those in its block, and intervals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.laws.clopper_pearson import chance_at_least, chance_at_most
from discreet.local.estimates.intervals import two_sided_normal
from discreet.local.estimates.support import Support
from discreet.local.protocol import Floats, Integers
from discreet.privacy import Target

Coins = tuple[NDArray[np.int64] | NDArray[np.float64], float]
_ASIDE = 0.01  # of the allowed error is for each of three numbers that nobody sees
_SLACK = 1e-9  # relative; covers the rounding of the beta function and of the chances


class BlockChances(NamedTuple):
    """Where reports fall, seen from a value x: see `BlockSupport`."""

    held: Fraction
    inside: Fraction
    elsewhere: Fraction
    near: Fraction
    far: Fraction


@dataclass(frozen=True, eq=False)
class BlockSupport:
    """Of `in_blocks[b]` reports in block b, `counts[x]` lie on the plane of x, which is a value of the block x mod B.

    People with any value of the block report in it with chance `inside`, others with `elsewhere`. A report of a holder
    of x lies on the plane with chance `held`. A report in the block lies there with chance `near` if its person holds
    another value of the block, and with `far` >= `near` if a value of another. `frequencies` are the raw estimates,
    which every interval contains.

    Accuracy. `interval` misses a frequency with at most the stated probability, whatever the other people hold, for the
        table of those who reported and for the population they were drawn from.
        Proof: let m people hold x and F people any value of its block. Of the reports in the block G come from holders,
        A from the F - m people near, and V = N - G, of N in all, from people near or far. Given who reports in the
        block, the reports of the others are on the plane independently, and those of the holders do not depend on
        them: C = counts[x] is Bin(m, held) + Bin(A, near) + Bin(V - A, far). So its upper tail is largest for the
        largest V and the least A, its lower tail for the least V and the largest A. Nobody sees F, G and A. But N =
        Bin(F, inside) + Bin(n - F, elsewhere) bounds F (`Support`), and G = Bin(m, inside) and A = Bin(F - m, inside)
        leave their means by more than sqrt(coins ln(1 / d) / 2) with probability at most d (Hoeffding 1963); d is one
        hundredth of half the allowed error for each. With the bounds in place of the numbers a tail is not below the
        true one, and both tails are monotone in m: a holder more is a coin more with chance `held`, takes away at most
        one other coin, and turns at most one from near to far. So the m for which neither tail is below 97 hundredths
        of half the allowed error contain the true one as often as stated. For nobody, m = 0, that is nearly the
        binomial law of the reports in the block. A tail of a sum of binomials is bounded by that of the binomial law
        with the same mean and number of coins for c >= mean + 1 (Hoeffding 1956, theorem 4) and by 1 nearer; where its
        variance is at least 100 and 8 z^4, it is expanded as in `Support`, with the same margin. For a population m is
        a binomial number itself: half of the allowed error is for m, half for the frequency given m (Clopper and
        Pearson).
    Cost. Some 60 beta functions for every different pair of a block and a count.
    Reference. Hoeffding 1956, 1963; Clopper, Pearson 1934; Cornish, Fisher 1938.

    >>> chances = BlockChances(
    ...     *(Fraction(percent, 100) for percent in (50, 55, 20, 5, 6))
    ... )
    >>> counts, in_blocks, frequencies = (
    ...     np.array([30, 9, 8]),
    ...     np.array([120, 90]),
    ...     np.array([0.17, 0.0, 0.0]),
    ... )
    >>> reports = BlockSupport(counts, in_blocks, 300, chances, frequencies)
    >>> [f"{a:.2f} {b:.2f}" for a, b in zip(*reports.interval(0.05, Target.TABLE))]
    ['0.10 0.25', '0.00 0.09', '0.00 0.07']
    """

    counts: Integers
    in_blocks: Integers
    people: int
    chances: BlockChances
    frequencies: Floats
    method: ClassVar[str] = "bounded law of the reports in a block"

    def interval(self, rest: float, target: Target, chosen: Integers | None = None) -> tuple[Floats, Floats]:
        """Return ends that miss a frequency with probability `rest`, for all values or the chosen ones."""
        values = np.arange(self.counts.size, dtype=np.int64) if chosen is None else chosen
        if not values.size:
            return np.empty(0), np.empty(0)
        seen, ranks = np.unique(self.counts[values], return_inverse=True)
        pairs, places = np.unique(values % self.in_blocks.size * seen.size + ranks, return_inverse=True)
        low, high = self.ends(seen[pairs % seen.size], pairs // seen.size, rest, target)
        frequencies = self.frequencies[values]
        return np.minimum(low[places], frequencies), np.maximum(high[places], frequencies)

    def ends(self, counts: Integers, blocks: Integers, rest: float, target: Target) -> tuple[Floats, Floats]:
        """Return the ends for `counts` reports on the plane of a value of these blocks."""
        each = rest / 2 if target is Target.TABLE else rest / 4
        around = Support(self.in_blocks, self.people, self.chances.inside, self.chances.elsewhere)
        fewest, most = (end[blocks] * self.people for end in around.interval(2 * _ASIDE * each, Target.TABLE))
        reports = self.in_blocks[blocks]
        low, high = self._least(counts, reports, fewest, each), self._most(counts, reports, most, each)
        if target is Target.TABLE:
            return low / self.people, high / self.people
        return chance_at_least(low, self.people, each), chance_at_most(high, self.people, each)

    def _least(self, counts: Integers, reports: Integers, around: Floats, rest: float) -> Integers:
        """Return the least number of holders for which `counts` reports on the plane are not too many."""
        held, inside, _, near, far = (float(chance) for chance in self.chances)

        def possible(holders: Integers) -> NDArray[np.bool_]:
            others = np.maximum(reports - _fewest(holders, inside, rest), 0.0)
            neighbors = np.minimum(_fewest(np.maximum(around - holders, 0.0), inside, rest), others)
            return _exceeds(counts, [(holders, held), (neighbors, near), (others - neighbors, far)], _main(rest))

        return _least(possible, counts.size, self.people)

    def _most(self, counts: Integers, reports: Integers, around: Floats, rest: float) -> Integers:
        """Return the largest number of holders for which `counts` reports on the plane are not too few.

        Few heads are many tails: the same bound serves with the chances of the tails.
        """
        held, inside, _, near, far = (float(chance) for chance in self.chances)

        def possible(absent: Integers) -> NDArray[np.bool_]:
            holders = self.people - absent
            others = np.maximum(reports - _largest(holders, inside, rest), 0.0)
            neighbors = np.minimum(_largest(np.maximum(around - holders, 0.0), inside, rest), others)
            tails: list[Coins] = [(holders, 1 - held), (neighbors, 1 - near), (others - neighbors, 1 - far)]
            return _exceeds(holders + others - counts, tails, _main(rest))

        return np.asarray(self.people - _least(possible, counts.size, self.people))


def _main(rest: float) -> float:
    """Return what is left of the allowed error for the reports on the plane."""
    return rest * (1 - 3 * _ASIDE)


def _fewest(people: NDArray[np.int64] | NDArray[np.float64], chance: float, rest: float) -> Floats:
    """Return a number that the reports of `people` in the block reach, except for a part of the allowed error."""
    coins = people.astype(np.float64)
    return np.asarray(np.maximum(np.floor(coins * chance - np.sqrt(coins * -math.log(_ASIDE * rest) / 2)), 0.0))


def _largest(people: NDArray[np.int64] | NDArray[np.float64], chance: float, rest: float) -> Floats:
    """Return a number that the reports of `people` in the block do not exceed, except for a part of the error."""
    coins = people.astype(np.float64)
    return np.minimum(np.ceil(coins * chance + np.sqrt(coins * -math.log(_ASIDE * rest) / 2)), np.ceil(coins))


def _least(possible: Callable[[Integers], NDArray[np.bool_]], size: int, most: int) -> Integers:
    """Return, for each of `size` cases, the least number from which on it is possible, `most` if it never is."""
    low, high = np.zeros(size, dtype=np.int64), np.full(size, most, dtype=np.int64)
    while np.any(low < high):
        middle = low + (high - low) // 2
        holds = possible(middle) | (low >= high)
        low, high = np.where(holds, low, middle + 1), np.where(holds, np.minimum(middle, high), high)
    return low


def _exceeds(seen: NDArray[np.int64] | NDArray[np.float64], parts: list[Coins], rest: float) -> NDArray[np.bool_]:
    """Say where the bound on P(S >= seen) is above `rest`, for S the sum of binomials (coins, chance)."""
    from scipy.special import betainc

    number = seen.astype(np.float64)
    total, mean, variance, third = (np.zeros(number.size) for _ in range(4))
    for number_of, chance in parts:
        coins = number_of.astype(np.float64)
        spread = coins * (chance * (1 - chance))
        total, mean, variance = total + coins, mean + coins * chance, variance + spread
        third = third + spread * (1 - 2 * chance)
    near, level = number < mean + 1, two_sided_normal(2 * rest)
    large = variance >= max(100.0, 8 * level**4)
    wide = np.where(large, variance, 100.0)
    margin = level * (level**2 + 3) / (24 * np.sqrt(wide))
    expanded = number - 0.5 <= mean + level * np.sqrt(wide) + (level**2 - 1) * third / (6 * wide) + margin
    known = near | (number > total) | large  # what the beta function is not asked for
    coin = np.where(known, 0.5, mean / np.maximum(total, 1.0))
    tail = betainc(np.where(known, 1.0, number), np.where(known, 1.0, total - number + 1), coin)
    heavy = (tail > rest * (1 - _SLACK)) & (number <= total)
    return np.asarray(near | np.where(large, expanded, heavy))
