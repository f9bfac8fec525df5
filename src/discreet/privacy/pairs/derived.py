"""Pairs made from others: on a secret sample of the people, the worst of several, and a whole price as one pair."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws import Enclosure, Pair, SafeEnd
from discreet.laws.number import Number, exact_rational
from discreet.laws.pair import unit_floats
from discreet.privacy.numbers import bounds, number, probability
from discreet.privacy.pairs.tradeoff import tradeoff_from_deltas
from discreet.privacy.pairs.worst_pairs import enclosed
from discreet.randomness.rigor import Ball

_LARGE, _RARE, _DOTS = 500.0, 1e-9, 4001
_METHOD = "delta of the release on everybody, at the level and in the proportion that sampling gives"


class Side(Enum):
    """Which table of the two neighbors holds the person: the one whose output law is P, or the other."""

    REMOVE = "remove"
    ADD = "add"

    @property
    def opposite(self) -> Side:
        """The other direction."""
        return Side.ADD if self is Side.REMOVE else Side.REMOVE


@dataclass(frozen=True, slots=True)
class PoissonPair(Pair):
    """A release on a Poisson sample, each person in it with probability `rate`; `base` is the pair of the release.

    On the side `REMOVE` the base is (with the person, without), on `ADD` (without, with).

    Privacy. With g the rate and (P, Q) dominating the release, ((1-g) Q + g P, Q) dominates the sampled release when a
        person is removed and (P, (1-g) P + g Q) when one is added.
        Proof: draw the sample of the others first. With m0 and m1 the output laws without and with the person, averaged
        over that sample, the tables have the laws m0 and (1-g) m0 + g m1. Remove, at a = e^e > 1 - g: the sup over
        events of (1-g) m0 + g m1 - a m0 is g times that of m1 - (1 + (a-1)/g) m0, which by joint convexity is at most
        the average over samples, hence at most the base's delta there; for a <= 1 - g it is 1 - a for every pair. Add,
        at a (1-g) < 1: the sup of m0 - a ((1-g) m0 + g m1) is 1 - a (1-g) times that of m0 - a g/(1 - a (1-g)) m1; for
        larger a it is 0. Both are the curves of the pairs named, computed the same way.
    Reference. Li, Qardaji, Su 2012; Balle, Barthe, Gaboardi 2018; Zhu, Dong, Wang 2022.

    >>> from discreet.privacy.pairs.worst_pairs import NormalPair
    >>> PoissonPair(NormalPair(1), 0.01, Side.REMOVE).epsilon(1e-5).upper
    0.1...
    """

    base: Pair
    rate: Number
    side: Side

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", probability(self.rate, name="rate"))
        if self.rate == 0:
            raise ParameterError("a sampling rate of 0 releases nothing about anybody", parameter="rate")

    def delta(self, epsilon: float | Fraction) -> Enclosure:
        """Enclose the base's delta at the level that sampling leads to, times a proportion."""
        if isinstance(epsilon, float) and epsilon == math.inf:
            left = self.base.delta(math.inf)
            share = Fraction(self.rate) if self.side is Side.REMOVE else Fraction(int(self.rate == 1))
            return enclosed((float(share) * left.lower * (1 - 2**-50), float(share) * left.upper * (1 + 2**-50)))
        level = exact_rational(epsilon, name="epsilon")
        return self._removed(level) if self.side is Side.REMOVE else self._added(level)

    def _removed(self, level: Fraction) -> Enclosure:
        rate = Fraction(self.rate)

        def moved() -> Ball:
            return (number(level).expm1() / number(rate)).log1p()

        certain = bounds(lambda: number(level).exp() - number(1 - rate))
        if certain[0] <= 0:  # at or below the least ratio 1 - g every outcome counts
            whole = bounds(lambda: -number(level).expm1())
            return enclosed((whole[0], whole[1] if certain[1] <= 0 else 1.0), method=_METHOD)
        return _scaled(self.base, bounds(moved), bounds(lambda: number(rate)))

    def _added(self, level: Fraction) -> Enclosure:
        rate = Fraction(self.rate)

        def share() -> Ball:
            return 1 - number(level).exp() * number(1 - rate)

        low, high = bounds(share)
        if high <= 0:
            return enclosed((0.0, 0.0), method=_METHOD)
        if low <= 0:
            return enclosed((0.0, high), method=_METHOD)
        return _scaled(self.base, bounds(lambda: number(level) + number(rate).log() - share().log()), (low, high))

    def max_loss(self) -> Enclosure:
        """Enclose ln(1 + g (e^m - 1)) when a person is removed, -ln(1 - g + g e^-m) when one is added."""
        rate, largest = Fraction(self.rate), self.base.max_loss()

        def at(loss: float) -> tuple[float, float]:
            if math.isinf(loss) and (self.side is Side.REMOVE or rate == 1):
                return math.inf, math.inf
            if math.isinf(loss):
                return bounds(lambda: -number(1 - rate).log())
            if self.side is Side.REMOVE:
                return bounds(lambda: number(loss) + (number(rate) + number(1 - rate) * (-number(loss)).exp()).log())
            return bounds(lambda: -(number(rate) * (-number(loss)).expm1()).log1p())

        low, high = at(largest.lower)[0], at(largest.upper)[1]
        return Enclosure(low, low, high, _METHOD)

    def tradeoff(self, alpha: float) -> Enclosure:
        """Enclose the best miss from delta at several levels, in both directions."""
        return tradeoff_from_deltas(self.delta, self.reversed().delta, alpha)

    def concentration(self) -> Fraction | None:
        """Mixing in the other law only lowers a divergence (joint quasi-convexity): the base's rho holds."""
        return self.base.concentration()

    def gaussian_square(self) -> Fraction | None:
        """To somebody who is told whether the person was sampled it is the base or nothing: the base's mu holds."""
        return self.base.gaussian_square()

    def draw_losses(self, count: int) -> NDArray[np.float64]:
        """Draw losses of the release and move them as sampling does; under Q they are those of the reverse, negated."""
        rate = float(self.rate)
        if self.side is Side.ADD:
            return -np.log1p(rate * np.expm1(-self.base.draw_losses(count)))
        drawn = np.where(
            unit_floats(count) < rate, self.base.draw_losses(count), -self.base.reversed().draw_losses(count)
        )
        # ln(1 - g + g e^l), without overflow where l is large
        large = drawn > _LARGE
        small = np.log1p(rate * np.expm1(np.where(large, 0.0, drawn)))
        return np.where(large, drawn + math.log(rate), small)

    def reversed(self) -> PoissonPair:
        """Exchange P and Q: the other direction."""
        return PoissonPair(self.base.reversed(), self.rate, self.side.opposite)


@dataclass(frozen=True, slots=True)
class FixedSizePair(Pair):
    """A release on a sample of fixed size without replacement, a share `rate` of all rows, when one row is changed.

    Privacy. If (P, Q) dominates the release under change-one in both directions, the sampled release has delta(e) <= g
        delta_base(ln(1 + (e^e - 1)/g)) for e >= 0, and for e < 0 the curve continues as 1 - e^e + e^e delta(-e).
        Proof: let row i be changed. A sample without i has one law p0 on both tables; with i the laws are p1 and p1'.
        For a = e^e >= 1 put b = 1 + (a-1)/g. Then (1-g) p0 + g p1 - a ((1-g) p0 + g p1') = g (p1 - b ((1-t) p0 + t
        p1')) with t = a/b in [0, 1], as g b (1 - t) = g b - g a = (a-1)(1-g). The sup over events is at most g times a
        convex combination of those of p1 - b p0 and p1 - b p1'. Exchanging i for a uniformly chosen row outside the
        sample turns a sample with i into one without i, so p1 and p0 are averages over couples of tables of equal size
        that differ in one row, like p1 and p1': both are at most the base's delta at b. Negative levels: P(S) - a Q(S)
        = 1 - a + a (Q - P/a)(complement of S), and the relation is symmetric.
    Reference. Balle, Barthe, Gaboardi 2018; Zhu, Dong, Wang 2022.

    >>> from discreet.privacy.pairs.worst_pairs import NormalPair
    >>> FixedSizePair(NormalPair(1), 0.01).delta(0.5) == PoissonPair(
    ...     NormalPair(1), 0.01, Side.REMOVE
    ... ).delta(0.5)
    True
    """

    base: Pair
    rate: Number

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", probability(self.rate, name="rate"))
        if self.rate == 0:
            raise ParameterError("an empty sample releases nothing about anybody", parameter="rate")

    @property
    def removed(self) -> PoissonPair:
        """The pair with the same curve at levels of 0 and above."""
        return PoissonPair(self.base, self.rate, Side.REMOVE)

    def delta(self, epsilon: float | Fraction) -> Enclosure:
        """Enclose the curve of the removed person at levels >= 0, and its mirror image below."""
        if epsilon >= 0:
            return self.removed.delta(epsilon)
        level = exact_rational(epsilon, name="epsilon")
        return _mirrored(self.removed.delta(-level), level, _METHOD)

    def max_loss(self) -> Enclosure:
        """Enclose ln(1 + g (e^m - 1))."""
        return self.removed.max_loss()

    def tradeoff(self, alpha: float) -> Enclosure:
        """Enclose the best miss from delta at several levels."""
        return tradeoff_from_deltas(self.delta, self.delta, alpha)

    def concentration(self) -> Fraction | None:
        """By the same joint quasi-convexity the base's rho holds."""
        return self.base.concentration()

    def gaussian_square(self) -> Fraction | None:
        """The base's mu: at e >= 0 the curve is that of `removed`, and below 0 a normal pair's is its mirror image."""
        return self.removed.gaussian_square()

    def draw_losses(self, count: int) -> NDArray[np.float64]:
        """Draw from the discrete law that joins the dots of the curve at many levels: within a step of the true law."""
        reach = min(self.max_loss().upper, 2 * self.epsilon(_RARE).upper + 1, _LARGE / 10)
        levels = np.linspace(-reach, reach, _DOTS)
        slopes, heights = np.exp(levels), np.array([self.delta(float(level)).estimate for level in levels])
        descents = np.diff(heights) / np.diff(slopes)
        before = np.append((heights[0] - 1) / slopes[0], descents)
        chances = np.maximum(slopes * (np.append(descents, 0.0) - before), 0.0)
        places = np.searchsorted(np.cumsum(chances), unit_floats(count) * np.sum(chances))
        return np.asarray(levels[np.minimum(places, len(levels) - 1)])

    def reversed(self) -> FixedSizePair:
        """Return the same pair: changing a row back is changing a row."""
        return self


def _scaled(base: Pair, levels: tuple[float, float], shares: tuple[float, float]) -> Enclosure:
    """Enclose a share of the base's delta, each known between two ends; delta falls as the level grows."""
    low = shares[0] * (base.delta(levels[1]).lower if levels[1] > -math.inf else 1.0) * (1 - 2.0**-51)
    high = shares[1] * (base.delta(levels[0]).upper if levels[0] > -math.inf else 1.0) * (1 + 2.0**-51)
    return enclosed((max(low - 5e-324, 0.0), high + 5e-324 if high else high), method=_METHOD)


def _mirrored(other: Enclosure, level: Fraction, method: str) -> Enclosure:
    """Enclose delta at a level below 0 from the other direction's at the level's opposite: 1 - e^level (1 - delta)."""

    def ends(chance: float) -> tuple[float, float]:
        return bounds(lambda: 1 - number(level).exp() * number(1 - Fraction(chance)))

    return enclosed((ends(other.lower)[0], ends(other.upper)[1]), method=method)


@dataclass(frozen=True, slots=True)
class WorstPair(Pair):
    """The pair whose delta(epsilon) is at each level the largest of several pairs'.

    Privacy. If each of the pairs may be the laws of a release on some neighbors, this one dominates the release.
        Proof: a pointwise maximum of curves that are convex and decreasing in e^epsilon, lie between (1 - e^epsilon)^+
        and 1, is another such curve, and every such curve is the delta of some pair.
    Reference. Zhu, Dong, Wang 2022.

    >>> from discreet.privacy.pairs.worst_pairs import NormalPair, PureApproxPair
    >>> WorstPair((NormalPair(1), PureApproxPair(1))).delta(
    ...     0.5
    ... ).upper == PureApproxPair(1).delta(0.5).upper
    True
    """

    pairs: tuple[Pair, ...]

    def delta(self, epsilon: float | Fraction) -> Enclosure:
        """Enclose the largest delta."""
        return _largest([pair.delta(epsilon) for pair in self.pairs])

    def max_loss(self) -> Enclosure:
        """Enclose the largest loss of any."""
        return _largest([pair.max_loss() for pair in self.pairs])

    def tradeoff(self, alpha: float) -> Enclosure:
        """Enclose the least miss of any: a bound on the curve's own from above, and equal to it for nested pairs."""
        found = [pair.tradeoff(alpha) for pair in self.pairs]
        best = min(found, key=lambda one: one.lower)
        return Enclosure(
            best.lower, best.lower, min(one.upper for one in found), "worst of several pairs", SafeEnd.LOWER
        )

    def reversed(self) -> WorstPair:
        """Reverse each pair."""
        return WorstPair(tuple(pair.reversed() for pair in self.pairs))


def worst_of(pairs: Iterable[Pair]) -> Pair | None:
    """Return the only pair, or the worst of several, or None for an empty list."""
    found = tuple(dict.fromkeys(pairs))
    if len(found) > 1:
        return WorstPair(found)
    return found[0] if found else None


def _largest(found: list[Enclosure]) -> Enclosure:
    """Enclose the maximum of several enclosed numbers."""
    lower, upper = max(one.lower for one in found), max(one.upper for one in found)
    estimate = max(one.estimate for one in found)
    return Enclosure(lower, min(max(estimate, lower), upper), upper, "worst of several pairs")


class Directed(Protocol):
    """What a privacy loss answers in one direction."""

    def delta(self, epsilon: float | Fraction, /) -> Enclosure:
        """Enclose the least delta at an epsilon."""

    def epsilon(self, delta: float, /) -> Enclosure:
        """Enclose the least epsilon at a delta."""

    def max_loss(self) -> Enclosure:
        """Enclose the largest loss."""

    def tradeoff(self, alpha: float, /) -> Enclosure:
        """Enclose the least chance of a miss at a chance of a false alarm."""

    @property
    def mean(self) -> Enclosure:
        """The mean loss."""

    @property
    def variance(self) -> Enclosure:
        """The variance of the loss."""

    def sample(self, count: int, /) -> NDArray[np.float64]:
        """Draw losses."""


class TwoDirections(Protocol):
    """The privacy loss of releases, as far as their pair needs to know it: its two directions."""

    @property
    def remove(self) -> Directed:
        """The loss with the person in the first table only."""

    @property
    def add(self) -> Directed:
        """The loss with the person in the second table only."""


@dataclass(frozen=True, slots=True)
class ComposedPair(Pair):
    """The dominating pair of several releases in one direction, known by its curve delta(epsilon).

    At negative levels delta(-e) = 1 - e^-e + e^-e times the other direction's delta(e).
    """

    loss: TwoDirections
    side: Side

    def _towards(self, side: Side) -> Directed:
        return self.loss.remove if side is Side.REMOVE else self.loss.add

    def delta(self, epsilon: float | Fraction) -> Enclosure:
        """Enclose the delta of the releases together, in this direction."""
        level = exact_rational(epsilon, name="epsilon")
        if level >= 0:
            return self._towards(self.side).delta(level)
        other = self._towards(self.side.opposite).delta(-level)
        return _mirrored(other, level, other.method)

    def epsilon(self, delta: float) -> Enclosure:
        """Enclose the least epsilon."""
        return self._towards(self.side).epsilon(delta)

    def max_loss(self) -> Enclosure:
        """Enclose the largest loss."""
        return self._towards(self.side).max_loss()

    def tradeoff(self, alpha: float) -> Enclosure:
        """Enclose the best miss."""
        return self._towards(self.side).tradeoff(alpha)

    def moments(self) -> tuple[Enclosure, Enclosure]:
        """The mean and the variance of the releases together."""
        loss = self._towards(self.side)
        return loss.mean, loss.variance

    def draw_losses(self, count: int) -> NDArray[np.float64]:
        """Draw losses of all releases, added."""
        return self._towards(self.side).sample(count)

    def reversed(self) -> ComposedPair:
        """Return the other direction."""
        return ComposedPair(self.loss, self.side.opposite)
