"""Many quantiles at one price, all chosen at once: the points that cut the rows into parts of about the right size.

The exact law lists every count, every way to tell equal rows apart, and every tuple.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws.noise import IntegerNoise
from discreet.laws.number import Number
from discreet.mechanisms.choices import truth_value
from discreet.privacy import PrivacyLoss, Relation, bounded_range_loss, warn_if_senseless
from discreet.randomness.rigor import Ball, ball
from discreet.statistics.order_statistics.joint_draw import JointDraw, distance_of
from discreet.statistics.order_statistics.tree import ManyQuantiles, increasing_levels
from discreet.statistics.pricing import NoisyVector
from discreet.statistics.ranks import (
    TIE_BITS,
    ListedLaw,
    checked_positions,
    most_ties,
    one_price,
    range_of_rho,
    rank_error,
    told_apart_in_order,
)

MOST_LEVELS = 100
_FEW_POSITIONS = 1 << 17
_SHARES = 64
_LARGEST_RATE = Fraction(32)


class JointQuantiles(ManyQuantiles):
    """Return a position of 0, ..., steps for each of several levels, in order.

    First a noisy number of rows N, where the true one is private. Then the exponential mechanism over all tuples of m
    positions: sorted, they cut the rows into m + 1 parts of c_1, c_2, ... rows (those above one and up to the next),
    which ought to have N d_j rows each, d_j the difference of neighboring levels; a tuple is chosen with probability
    proportional to exp(-rate * sum of |c_j - N d_j|). Rows with equal positions are told apart by `tie_bits` random
    bits appended to every position and taken off every answer, so that a point can divide them.

    Privacy. epsilon-DP for a count with e0 and a rate of e1 / (2 D), e0 + e1 = epsilon, where D = 1 under add/remove
        and 2 under change-one; no count is needed under change-one if every row has a value. The choice has bounded
        range e1, so with e1 = sqrt(8 r) it is r-zCDP.
        Proof: N is a public number once it is released. One row more changes one of the c_j by 1 and none of the N
        d_j, so the distance of every tuple by at most 1; changing a row changes at most two of the c_j by 1 each. All
        tuples are candidates on every table. The exponents of any two tuples so change by at most rate * D each, apart
        by at most 2 rate D = e1. The random bits of a row are drawn independently of all rows: couple them and
        condition on them. With the private n in the place of N this would fail: then one row moves all parts at once,
        and D is almost twice as large.
    Accuracy. With the given confidence every answer is within `error` of its rank, in rows.
        Proof: let at most T rows share a position and its bits. Some tuple has ranks within T of the wanted ones, so
        a distance of at most |n - N| + (m + 1) T; those with a distance larger by more than t have together a
        probability of at most (number of tuples) exp(-rate t). A rank r_j splits the distance into two sides of at
        least |r_j - N a_j| + |n - r_j - N (1 - a_j)|, which is |n - N| between N a_j and n - N (1 - a_j), and 2 x more
        at x beyond; the wanted rank n a_j lies between, at most max(a_j, 1 - a_j) |n - N| from either.
    Cost. One sort; then a few passes over at most 2 (m ln(steps + 1) + 45) / rate ranks around each wanted one, or over
        2 m times that many blocks without the rate: public numbers, whatever the rows. See `joint_draw`.
    Reference. Gillenwater, Joseph, Kulesza 2021, who take n for N; the exact sampler is our own (`joint_chain`).

    >>> both = JointQuantiles(
    ...     levels=(0.25, 0.75), epsilon=1, relation=Relation.ADD_REMOVE, steps=1000
    ... )
    >>> low, high = both(list(range(1001)))
    >>> 0 <= low <= high <= 1000
    True
    """

    def __init__(
        self,
        *,
        levels: Any,
        relation: Relation,
        steps: int,
        epsilon: Number | None = None,
        rho: Number | None = None,
        size_is_public: bool = False,
        tie_bits: int = TIE_BITS,
    ) -> None:
        exact = increasing_levels(levels)
        if len(exact) > MOST_LEVELS:
            raise ParameterError(
                f"there must be at most {MOST_LEVELS} levels at once; got more, write fewer, or use QuantileTree",
                parameter="levels",
            )
        super().__init__(exact, relation, steps, tie_bits)
        if not can_be_told_apart(self.tie_bits, self.steps):
            raise ParameterError(
                "tie_bits must be 16 on a grid of fewer than 2^44 steps, or (steps + 1) 2^tie_bits at most 2^17; got "
                "neither, write tie_bits=16 or fewer steps=, or use QuantileTree",
                parameter="tie_bits",
            )
        self._epsilon, self._rho = one_price(epsilon, rho)
        self.count: NoisyVector | None = None
        asked = self._epsilon or self._rho or Fraction(0)
        self._spent = Fraction(0)
        known = truth_value(size_is_public, name="size_is_public")
        if not (known and self.relation is Relation.CHANGE_ONE):
            self._spent = asked * self._count_share()
            self.count = self._counter()
        rest = asked - self._spent
        self.choice_epsilon = rest if self._epsilon is not None else range_of_rho(rest)
        warn_if_senseless(self.guarantee, people=None)

    def _counter(self) -> NoisyVector:
        """Return the noise of the count."""
        if self._epsilon is not None:
            return NoisyVector.laplace(epsilon=self._spent, sensitivity=1, relation=self.relation, scalar=True)
        return NoisyVector.gaussian(rho=self._spent, sensitivity=1, squared=1, relation=self.relation, scalar=True)

    @property
    def loss(self) -> PrivacyLoss:
        """The price of bounded range, and that of the count."""
        choice = bounded_range_loss(self.choice_epsilon, relation=self.relation)
        return choice if self.count is None else choice + self.count.loss

    @property
    def sensitivity(self) -> int:
        """How far one person can move the distance of a tuple."""
        return 2 if self.relation is Relation.CHANGE_ONE else 1

    @property
    def rate(self) -> Fraction:
        """What the distance of a tuple is multiplied by; a higher one would change nothing but the last row."""
        return min(self.choice_epsilon / (2 * self.sensitivity), _LARGEST_RATE)

    def __call__(self, value: Any) -> tuple[int, ...]:
        """Return the positions, for an array of positions."""
        array = checked_positions(value, self.steps)
        fine = told_apart_in_order(array, self.tie_bits)
        size = array.size if self.count is None else max(int(self.count(int(array.size))), 0)
        drawn = JointDraw(fine, self._means(size), self.rate, self._fine_steps).draw()
        return tuple(position >> self.tie_bits for position in drawn)

    def _means(self, size: int) -> list[Fraction]:
        """Return how many rows each part ought to have."""
        return [size * (second - first) for first, second in pairwise([Fraction(0), *self.levels, Fraction(1)])]

    def law(self, value: Any) -> JointLaw:
        """Return the law of the positions, for tables and grids of a few rows and steps."""
        array = checked_positions(value, self.steps)
        noise = None if self.count is None else self.count.noise
        return JointLaw(array, self._means, self.rate, self.steps, self.tie_bits, noise, lambda: self(value))

    def variance(self) -> float:
        """Return about the mean squared rank error of all levels, in rows, on a table without empty stretches.

        The parts have independent errors of variance 2 / rate^2, and a rank inherits those on either side in
        proportion; an error of the count is divided among the parts like a broken stick.
        """
        return self._variance(float(self.rate), 0.0 if self.count is None else self._count_variance(float(self._spent)))

    def _variance(self, rate: float, count_variance: float) -> float:
        """Return the mean squared rank error for a rate and a noise of the count."""
        parts = len(self.levels) + 1
        total = 0.0
        for place, level in enumerate(map(float, self.levels), start=1):
            total += (place * (1 - level) ** 2 + (parts - place) * level**2) * 2.0 / rate**2
            total += level * (1 - level) / (parts + 1) * count_variance
        return total / len(self.levels)

    def _count_variance(self, spent: float) -> float:
        """Return about the variance of a count at a price."""
        return 2.0 / spent**2 if self._epsilon is not None else 1.0 / (2.0 * spent)

    def _count_share(self) -> Fraction:
        """Return the share of the price that the count gets: the one with the least predicted error, in 64ths."""

        def predicted(share: int) -> float:
            part = share / _SHARES
            left = 1 - part if self._epsilon is not None else math.sqrt(8 * (1 - part))
            return self._variance(left / (2 * self.sensitivity), self._count_variance(part))

        return Fraction(min(range(1, _SHARES), key=predicted), _SHARES)

    def error(self, confidence: float, *, rows_expected: int) -> list[float]:
        """Return the rank distance of each level that, over all of them at once, holds with the confidence.

        `rows_expected` bounds the number of rows.
        """
        failure = (1 - Fraction(confidence)) / 3
        candidates = (self._fine_steps + 1) ** len(self.levels)
        choice = rank_error(rate=self.rate, candidates=candidates, failure=failure)
        ties = most_ties(rows_expected, self.tie_bits, float(failure))
        off = 0 if self.count is None else self.count.error(float(1 - failure))
        half = (choice + ties * (len(self.levels) + 1)) / 2
        return [(half + off * float(max(level, 1 - level))) * (1 + 1e-12) for level in self.levels]

    def left_out(self) -> Mapping[str, Iterable[tuple[Any, Any]]]:
        """Tables that differ in their number of rows, where it was stated to be public."""
        if self.count is not None:
            return {}
        return {"size_is_public=True: neighbors have the same number of rows": [([0], []), ([0, self.steps], [0])]}


def can_be_told_apart(tie_bits: int, steps: int) -> bool:
    """Say whether so few rows share a position and its bits, or so few positions there are, that a draw is soon done.

    Where neither holds, the chance of a tuple can be the same over very many ranks, all of which must be looked at.

    >>> (
    ...     can_be_told_apart(16, 1 << 30),
    ...     can_be_told_apart(0, 1000),
    ...     can_be_told_apart(0, 1 << 30),
    ... )
    (True, True, False)
    """
    return tie_bits == TIE_BITS or (steps + 1) << tie_bits <= _FEW_POSITIONS


_LARGEST = 1 << 18
_LEFT_OUT = Fraction(1, 10**15)


class JointLaw(ListedLaw):
    """A sorted tuple of positions, averaged over the noise of the count and over the random bits that break ties.

    Sizes whose noise has a probability of less than 1e-15 in all are left out and added to the upper bounds.
    """

    def __init__(
        self,
        positions: NDArray[np.int64],
        means: Callable[[int], list[Fraction]],
        rate: Fraction,
        steps: int,
        tie_bits: int,
        count_noise: IntegerNoise | None,
        draw: Callable[[], tuple[int, ...]],
    ) -> None:
        self._positions, self._means, self._rate = positions, means, rate
        self._steps, self._tie_bits = steps, tie_bits
        self._noise, self._draw = count_noise, draw
        self._left_out = 0.0 if count_noise is None else float(_LEFT_OUT)

    def _enclosed(self) -> tuple[list[Any], list[Ball]]:
        """Add up over sizes and random bits."""
        points, rows = len(self._means(0)) - 1, self._positions.size
        reach = 0 if self._noise is None else self._noise.half_width(1 - _LEFT_OUT)
        tables = 1 << (self._tie_bits * rows)
        if (2 * reach + 1) * tables * ((self._steps + 1) << self._tie_bits) ** points > _LARGEST:
            raise ParameterError(
                "the grid must have few steps for the exact law, which lists every tuple for every size and every way "
                "to tell equal rows apart; got more, write a coarser grid=, tie_bits=0 or 1, and a larger epsilon",
                parameter="grid",
            )
        outcomes = list(combinations_with_replacement(range(self._steps + 1), points))
        total = dict.fromkeys(outcomes, ball(0))
        for noise in range(-reach, reach + 1):
            chance = ball(1) if self._noise is None else self._noise.mass_ball(noise)
            for outcome, mass in self._given(max(rows + noise, 0)).items():
                total[outcome] += chance * mass
        return outcomes, list(total.values())

    def _given(self, size: int) -> dict[tuple[int, ...], Ball]:
        """Enclose the law for one size."""
        bits, rows = self._tie_bits, self._positions.size
        means = self._means(size)
        found: dict[tuple[int, ...], Ball] = {}
        for added in product(range(1 << bits), repeat=rows):
            fine = np.sort((self._positions << bits) + np.array(added, dtype=np.int64))
            weights: dict[tuple[int, ...], Ball] = {}
            for places in product(range((self._steps + 1) << bits), repeat=len(means) - 1):
                ordered = sorted(places)
                ranks = [int(rank) for rank in np.searchsorted(fine, ordered, side="right")]
                outcome = tuple(place >> bits for place in ordered)
                weight = (-ball(self._rate * distance_of(ranks, means, rows))).exp()
                weights[outcome] = weights.get(outcome, ball(0)) + weight
            total = sum(weights.values(), ball(0)) * (1 << (bits * rows))
            for outcome, weight in weights.items():
                found[outcome] = found.get(outcome, ball(0)) + weight / total
        return found
