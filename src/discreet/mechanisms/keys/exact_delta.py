"""The exact delta of noise and threshold together: what one person's keys can tell, new ones and known ones at once."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.laws import (
    DiscreteGaussian,
    DiscreteLaplace,
    Enclosure,
    LocationPair,
    Pair,
    RoundedGaussian,
    TruncatedLaplace,
)
from discreet.laws.noise import IntegerNoise
from discreet.laws.number import exact_rational
from discreet.privacy import PrivacyLoss
from discreet.privacy.numbers import bounds, root_upward
from discreet.privacy.pairs import NormalPair, PureApproxPair, Side, enclosed, tradeoff_from_deltas
from discreet.randomness.rigor import precision, upper_float

_METHOD = "largest over the number of new keys, each in closed form"
_TIGHT = 1e-6
_ROUNDING = 2.0**-46  # what a dozen operations and elementary functions of floats are off by, a hundred times over
_MOST_BOXES = 300
_MOST_COUNTED = 4096  # of more counts the accountant composes the losses, at a cost that does not grow with them
_LARGEST_LEVEL = 700.0  # beyond it e^level is no float, and delta next to the chance of the outcome itself
MOST_SUMMED, WIDEST_SUMMED = 16, 16  # sums of more or wider noises are as good as normal, and take longer
_DEVIATIONS, _PRECISION = 14, 128  # 14 deviations leave out less than 1e-43


@dataclass(frozen=True)
class KeysPair(Pair):
    """Thresholded noise on the keys of one person, of which any number may be new: a curve over all such neighbors.

    Of P's table at most `new` keys are held by this person alone, of Q's at most `other_new`; `moved` keys differ at
    most. A key is named where its noisy count reaches the threshold.

    Privacy. Let p = P(noise >= threshold - 1), q(a) = (1 - p)^a, and d(m; e) the curve of noise on m counts that move
        by 1. Then delta(e) is the largest over a, b of 1 - q(a) + q(a) d(moved - a - b; e + ln q(b) - ln q(a)).
        Proof: let a keys be new on P's table and b on Q's, and m others move by 1 between counts of at least 1. A new
        key is named with chance p on its own table and never on the other, independently of all else. So P names a key
        that Q cannot with chance 1 - q(a), an event that counts in full; given that it does not, the outcome without
        keys that P cannot name has the laws q(a) A and q(b) A', A and A' being thresholded noise on m moved counts.
        The best event there gives H = q(a) sup over S of A(S) - e^(e + ln q(b) - ln q(a)) A'(S), and thresholding is
        post-processing, lost on counts far above the threshold: d(m; .). It grows with m, so all other keys move.
    Cost. Boxes of (a, b) are bounded at a corner: the term falls with q(a) and q(b), and grows with m. Only boxes whose
        bound exceeds the best point found are cut: some dozens of evaluations for 1000 keys.
    Reference. Wilkins, Kifer, Zhang, Karrer 2024, for Gaussian noise under add/remove.
    """

    noise: IntegerNoise
    threshold: int
    new: int
    other_new: int
    moved: int

    @classmethod
    def of(cls, noise: IntegerNoise, threshold: int, *, keys: int, exchanged: bool, side: Side) -> KeysPair:
        """Return the pair for a person who appears with `keys` keys, or who exchanges them for others.

        Truncated noise about a count of 0 never reaches its threshold: to it no key is new.
        """
        if isinstance(noise, TruncatedLaplace):
            return cls(noise, threshold, 0, 0, 2 * keys if exchanged else keys)
        if exchanged:
            return cls(noise, threshold, keys, keys, 2 * keys)
        return cls(noise, threshold, *((keys, 0) if side is Side.REMOVE else (0, keys)), keys)

    def delta(self, epsilon: float | Fraction) -> Enclosure:
        """Enclose the largest term."""
        if isinstance(epsilon, float) and epsilon == math.inf:
            return _assuming(self._term(self.new, 0, 0, Fraction(0)))
        level = exact_rational(epsilon, name="epsilon")
        low, high = 0.0, 0.0
        for low, high in self._narrowing(level):
            if high <= low * (1 + _TIGHT):
                break
        return _assuming((low, high))

    def keeps(self, epsilon: Fraction, delta: Fraction) -> bool:
        """Say whether delta(epsilon) is certainly at most a delta; cheaper than to compute it."""
        for low, high in self._narrowing(epsilon):
            if low > delta:
                return False
            if high <= delta:
                return True
        return False

    def _narrowing(self, level: Fraction) -> Iterator[tuple[float, float]]:
        """Yield ends of the largest term, narrower and narrower."""
        best = max(self._term(a, b, self.moved - a - b, level)[0] for a in {0, self.new} for b in {0, self.other_new})
        whole = (0, self.new, 0, self.other_new)
        boxes = [(-self._above(whole, level), whole)]
        for _ in range(_MOST_BOXES):
            high = max(-boxes[0][0], best)
            yield best, high
            _, box = heapq.heappop(boxes)
            halves = list(_halved(box))
            if not halves:  # a point: its bound is the term itself
                yield best, high
                return
            for half in halves:
                first, _, second, _ = half
                best = max(best, self._term(first, second, self.moved - first - second, level)[0])
                heapq.heappush(boxes, (-self._above(half, level), half))
        yield best, high

    def _above(self, box: tuple[int, int, int, int], level: Fraction) -> float:
        """Return a bound on all terms of a box of numbers of new keys."""
        first, last, other_first, other_last = box
        return self._term(last, other_last, self.moved - first - other_first, level)[1]

    def _term(self, new: int, other: int, moved: int, level: Fraction) -> tuple[float, float]:
        """Return ends of 1 - q(a) + q(a) d(m; level + ln q(b) - ln q(a)); every sum is of positive numbers."""
        if not new and not other:
            return curve(self.noise, moved, level)
        low, high = self._rate
        near = float(level) + new * low - other * high
        far = float(level) + new * high - other * low
        slack = _ROUNDING * (abs(float(level)) + (new + other) * high)
        least, most = curve(self.noise, moved, far + slack)[0], curve(self.noise, moved, near - slack)[1]
        named = -math.expm1(-new * low), -math.expm1(-new * high)
        return (
            (named[0] + (1 - named[0]) * least) * (1 - _ROUNDING),
            (named[1] + (1 - named[1]) * most) * (1 + _ROUNDING),
        )

    @cached_property
    def _rate(self) -> tuple[float, float]:
        """Ends of -ln(1 - p), p being the chance that a new key is named."""
        return bounds(lambda: -(-self.noise.tail_ball(self.threshold - 1)).log1p())

    def max_loss(self) -> Enclosure:
        """Infinite where an outcome of P is none of Q's, or else the largest loss of the noise."""
        if self.new or self.noise.support[1] is not None:
            return Enclosure.exact(math.inf, method=_METHOD)
        high = (PrivacyLoss.from_pairs([LocationPair(self.noise, shift=1)]) * max(self.moved, 1)).max_loss().upper
        lost = self.other_new * self._rate[1]
        return Enclosure(0.0, high + lost, (high + lost) * (1 + 2.0**-50), _METHOD)

    def components(self) -> tuple[tuple[Pair, int], ...]:
        """All keys move, and one release more names a new key outright: a pair that composes fast, and dominates."""
        rate, keys = 1 / self.noise.scale, max(self.new, self.other_new)
        if isinstance(self.noise, TruncatedLaplace):
            return ((PureApproxPair(rate, self.noise.enclosed_tail(self.noise.reach)[1]), self.moved),)
        shifted = NormalPair(rate) if isinstance(self.noise, RoundedGaussian) else LocationPair(self.noise, shift=1)
        return (shifted, self.moved), (PureApproxPair(0, self._term(keys, 0, 0, Fraction(0))[1]), 1)

    def tradeoff(self, alpha: float) -> Enclosure:
        """Enclose the best miss from delta at several levels, in both directions."""
        return tradeoff_from_deltas(self.delta, self.reversed().delta, alpha)

    def reversed(self) -> KeysPair:
        """Exchange the two tables."""
        return KeysPair(self.noise, self.threshold, self.other_new, self.new, self.moved)


def _assuming(ends: tuple[float, float]) -> Enclosure:
    """Enclose a delta between ends that were computed in floats (see the threat model)."""
    return replace(enclosed(ends, method=_METHOD), assumptions=("float-elementary",))


def _halved(box: tuple[int, int, int, int]) -> Iterator[tuple[int, int, int, int]]:
    """Cut a box across its longer side; nothing for a point."""
    first, last, other_first, other_last = box
    if last - first >= other_last - other_first and last > first:
        middle = (first + last) // 2
        yield first, middle, other_first, other_last
        yield middle + 1, last, other_first, other_last
    elif other_last > other_first:
        middle = (other_first + other_last) // 2
        yield first, last, other_first, middle
        yield first, last, middle + 1, other_last


def curve(noise: IntegerNoise, moved: int, level: float | Fraction) -> tuple[float, float]:
    """Return ends of the curve d(moved; level) of noise on counts that move by 1 each, at any level."""
    if level < 0:  # P(S) - a Q(S) = 1 - a + a (Q - P/a)(the rest), and the noise is symmetric
        low, high = curve(noise, moved, -level)
        lost, ratio = -math.expm1(float(level)), math.exp(float(level))
        return (lost + ratio * low) * (1 - _ROUNDING), (lost + ratio * high) * (1 + _ROUNDING)
    if moved == 0:
        return 0.0, 0.0
    if isinstance(noise, DiscreteLaplace):
        return _responses(noise.scale, moved, Fraction(level))
    if isinstance(noise, TruncatedLaplace):  # randomized response, unless one of the counts is out of reach
        low, high = _responses(noise.scale, moved, Fraction(level))
        least, most = (-math.expm1(moved * math.log1p(-end)) for end in noise.enclosed_tail(noise.reach))
        return (least + (1 - least) * low) * (1 - _ROUNDING), (most + (1 - most) * high) * (1 + _ROUNDING)
    if isinstance(noise, DiscreteGaussian) and moved <= MOST_SUMMED and noise.scale < WIDEST_SUMMED:
        return _summed_gaussian(noise).delta(moved, Fraction(level))
    if isinstance(noise, RoundedGaussian):
        found = NormalPair(Fraction(root_upward(moved / noise.scale**2))).delta(level)
    else:
        found = (PrivacyLoss.from_pairs([LocationPair(noise, shift=1)]) * moved).delta(level)
    return found.lower, found.upper


def _responses(scale: Fraction, moved: int, level: Fraction) -> tuple[float, float]:
    """Return ends of the curve of randomized response of epsilon 1/scale, several times."""
    if moved <= _MOST_COUNTED:
        return _summed_laplace(scale, moved).delta(level)
    found = (PrivacyLoss.from_pairs([PureApproxPair(1 / scale)]) * moved).delta(level)
    return found.lower, found.upper


class SummedLaplace:
    """The curve of discrete Laplace noise of scale s on m counts that move by 1 each: m times randomized response.

    A count has the loss 1/s with chance p = 1/(1 + e^(-1/s)) and -1/s otherwise, so with i of the first kind the loss
    is (2 i - m)/s and d = the sum over losses above the level of C(m, i) p^i (1-p)^(m-i) (1 - e^(level - loss)), all
    positive. In floats each logarithm of a chance, a sum of 2 m terms, is off by at most (2 m + 4) u times the sum of
    their sizes. Which losses are above the level is decided exactly, and so is the gap of the first: no term is off by
    more than a share.
    """

    def __init__(self, scale: Fraction, moved: int) -> None:
        self._scale, self._moved, rate = scale, moved, float(1 / scale)
        places = np.arange(1, moved + 1)
        choose = np.concatenate([[0.0], np.cumsum(np.log((moved + 1.0 - places) / places))])
        likely = -math.log1p(math.exp(-rate))
        self._log_mass = choose + moved * likely - (moved - np.arange(moved + 1)) * rate
        size = moved * (rate - likely) + float(np.abs(np.diff(choose, prepend=0.0)).sum())
        self._share = (2 * moved + 8) * 2.0**-52 * (size + 2.0) + _ROUNDING

    def delta(self, level: Fraction) -> tuple[float, float]:
        """Return ends of the sum."""
        first = max(math.floor((level * self._scale + self._moved) / 2) + 1, 0)
        if first > self._moved:
            return 0.0, 0.0
        gap = float((2 * first - self._moved) / self._scale - level)
        gaps = gap + np.arange(self._moved + 1 - first) * float(2 / self._scale)
        value = float((np.exp(self._log_mass[first:]) * -np.expm1(-gaps)).sum())
        return value * (1 - self._share), value * (1 + self._share)


class SummedGaussian:
    """The curve of discrete Gaussian noise on counts that move by 1 each, from the exact law of the noises' sum.

    The loss of m such counts is (2 y - m) / (2 scale^2) with y the sum of the noisy moves, so the best event is y >= t,
    t the least integer above level scale^2 + m/2, and d = T(t - m) - e^level T(t) with T the tail of the sum.

    The tails are sums of products of positive floats, which cannot cancel: with masses off by a share e and n of them,
    m convolutions and one cumulative sum are off by a share below m (e + (n + 2) u) + N u, u = 2^-53 and N the length
    of the last array. Draws beyond the reach, which a convolution leaves out, are added to the upper end.
    """

    def __init__(self, noise: DiscreteGaussian) -> None:
        self._square = noise.scale * noise.scale
        self._reach = math.ceil(_DEVIATIONS * noise.scale) + 1
        with precision(_PRECISION):
            masses = [noise.mass_ball(place) for place in range(self._reach + 1)]
            half = np.array([float(mass) for mass in masses])  # the nearest float to a ball of relative width 2^-90
            self._beyond = upper_float(2 * noise.tail_ball(self._reach + 1))
        self._masses = np.concatenate([half[:0:-1], half])
        self._tails: dict[int, NDArray[np.float64]] = {}
        self._laws = [self._masses]

    def _tail(self, moved: int, start: int) -> tuple[float, float]:
        """Return ends of the chance that a sum of noises is at least an integer."""
        while len(self._laws) < moved:
            self._laws.append(np.convolve(self._laws[-1], self._masses))
        if moved not in self._tails:
            self._tails[moved] = np.cumsum(self._laws[moved - 1][::-1])[::-1]
        tails = self._tails[moved]
        place = start + moved * self._reach
        value = float(tails[max(place, 0)]) if place < len(tails) else 0.0
        share = (moved * (len(self._masses) + 8) + len(tails)) * 2.0**-52
        return value * (1 - share), value * (1 + share) + moved * self._beyond

    def delta(self, moved: int, level: Fraction) -> tuple[float, float]:
        """Return ends of T(t - m) - e^level T(t)."""
        start = math.floor(level * self._square + Fraction(moved, 2)) + 1
        near, far = self._tail(moved, start - moved), self._tail(moved, start)
        if level > _LARGEST_LEVEL:
            return 0.0, near[1]
        ratio = math.exp(float(level))
        low = near[0] - ratio * (1 + _ROUNDING) * far[1]
        high = near[1] - ratio * (1 - _ROUNDING) * far[0]
        return max(low * (1 - _ROUNDING), 0.0), min(max(high * (1 + _ROUNDING), 0.0), 1.0)


@lru_cache(maxsize=64)
def _summed_gaussian(noise: DiscreteGaussian) -> SummedGaussian:
    """Return the sums of a noise, kept for the last few."""
    return SummedGaussian(noise)


@lru_cache(maxsize=64)
def _summed_laplace(scale: Fraction, moved: int) -> SummedLaplace:
    """Return the sums of a noise, kept for the last few."""
    return SummedLaplace(scale, moved)
