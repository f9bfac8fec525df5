"""How much of a report everybody imitates: blankets from epsilon alone, or from the preferred sets of a protocol."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.local.protocol import Oracle, PureOracle
from discreet.local.shuffling.bound import Blanket
from discreet.randomness.rigour import ball, ceil_of_upper, floor_of_lower, precision

_SCALE = 1 << 96
_PRECISION = 256


def clones(epsilon: Fraction, people: int, smallest_delta: float) -> Blanket:
    """Return the blanket of any epsilon-local protocol whatsoever.

    Privacy. The blanket holds for every pair of values of every epsilon-local protocol.
        Proof: the laws R(x0) and R(x1) of two values are a post-processing of randomized response with probability
        t = e^epsilon / (e^epsilon + 1) (`PureApproxPair`), so R(x0) = t Q1 + (1 - t) Q2 and R(x1) = (1 - t) Q1 + t Q2.
        Every other law is at least e^-epsilon R(x0) and at least e^-epsilon R(x1), so at least their mean, which is
        e^-epsilon (Q1 + Q2) / 2. A larger t and a smaller e^-epsilon only weaken what is used: they are rounded.
    Reference. Feldman, McMillan, Talwar 2021.
    """
    with precision(_PRECISION):
        clone = Fraction(floor_of_lower(_SCALE * (-ball(epsilon)).exp()), _SCALE)
        truth = Fraction(ceil_of_upper(_SCALE / (1 + (-ball(epsilon)).exp())), _SCALE)
    return Blanket(people, truth, 1 - truth, Fraction(0), clone / 2, Fraction(0), smallest_delta)


@dataclass(frozen=True)
class TwoLevels:
    """The blankets of a protocol in which every output is `likely` or `unlikely`, whatever the value.

    Privacy. The blankets hold for two values x0, x1 with m outputs that x0 prefers and x1 does not.
        Proof: all preferred sets have the same size, so m outputs are preferred by x1 and not by x0. Let kind 1 be the
        first m outputs and kind 2 the second; a report is of kind 1 with probability m likely on x0 and m unlikely on
        x1, for kind 2 the other way round, and uniform within each. On all other outputs the two laws agree. Every
        output has at least the probability `unlikely` on every value, so the others imitate each of the two kinds with
        m unlikely. Of the other outputs s = inside - m are preferred by both and w = cells - inside - m by neither.
        For 1 <= t <= likely / unlikely let kind 3 be the measure that is t unlikely on each of the s and unlikely on
        each of the w. The person's law is at least that; what it has more is the same on x0 and x1. The others' laws
        are at least that divided by t. So third = unlikely (w + t s) and rest = third / t; with s = 0 take t = 1.
    """

    people: int
    likely: Fraction
    unlikely: Fraction
    inside: int
    cells: int
    smallest_delta: float

    @classmethod
    def of(cls, spec: Oracle, people: int, smallest_delta: float) -> TwoLevels:
        """Read the levels of a protocol's real coin."""
        return cls(people, spec.likely, spec.unlikely, spec.inside, spec.cells, smallest_delta)

    def exactly(self, apart: int) -> Iterator[Blanket]:
        """Yield blankets for values that are exactly so far apart; each of them holds, so the best may be taken."""
        both, neither = self.inside - apart, self.cells - self.inside - apart
        ratio = self.likely / self.unlikely
        between = min(Fraction(math.sqrt(ratio)), ratio)
        for tilt in (Fraction(1),) if both == 0 else (ratio, between, Fraction(1)):
            third = self.unlikely * (neither + tilt * both)
            yield self._blanket(apart, third, third / tilt)

    def between(self, least: int, most: int) -> Blanket | None:
        """Return a blanket for all values whose distance m lies between two numbers, or None where none is proven.

        Privacy. It holds for every m from `least` to `most`.
            Proof: start from a person and others of kinds (m1 likely, m1 unlikely, r1) and (m1 unlikely, m1 unlikely,
            k) with m1 = most and r1 = 1 - m1 (likely + unlikely), and turn each report of kind 1 or 2 into kind 3 with
            probability 1 - m / m1. That is a post-processing, and gives the kinds of a person at distance m and others
            who imitate kind 3 with probability k + 2 (m1 - m) unlikely. It is a blanket at distance m if that is at
            most (1 - m (likely + unlikely)) unlikely / likely, the case t = likely / unlikely above. Both sides are
            linear in m, so it is enough that it holds for both ends. Where not even k = 0 does, nothing is claimed.
        """
        ratio = self.unlikely / self.likely

        def room(apart: int) -> Fraction:
            imitated = (1 - apart * (self.likely + self.unlikely)) * ratio
            return imitated - 2 * (most - apart) * self.unlikely

        rest = min(room(least), room(most))
        if rest < 0:
            return None
        return self._blanket(most, 1 - most * (self.likely + self.unlikely), rest)

    def _blanket(self, apart: int, third: Fraction, rest: Fraction) -> Blanket:
        first, second = apart * self.likely, apart * self.unlikely
        return Blanket(self.people, first, second, third, second, rest, self.smallest_delta)


def distances(spec: Oracle) -> Sequence[int]:
    """Return, in order, distances among which are all that two values can have.

    Proof: a `PureOracle` states the probability `shared` that a report on another value is among the preferred ones of
    this; with k common outputs it is likely k + unlikely (inside - k), so if it is the least possible, at
    k = inside - apart, no two values have more in common. In a `HybridGeometry` two values of a block have the common
    points of two planes in common, and values of different blocks nothing. In a `HashedGeometry` and in
    `HeavyHitters` two keys differ by the same number of points in every row in which they fall on different points.
    """
    from discreet.local.frequency import HybridGeometry
    from discreet.local.heavy_hitters import HeavyHitters
    from discreet.local.keys import HashedGeometry

    if isinstance(spec, HybridGeometry):
        return (spec.geometry.on_plane - spec.geometry.common, spec.apart)
    if isinstance(spec, HashedGeometry | HeavyHitters):
        step = spec.geometry.on_plane - spec.geometry.common
        return range(step, spec.apart + 1, step)
    least = spec.likely * (spec.inside - spec.apart) + spec.unlikely * spec.apart
    single = isinstance(spec, PureOracle) and spec.shared == least
    return (spec.apart,) if single else range(1, spec.apart + 1)
