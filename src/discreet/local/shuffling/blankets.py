"""How much of a report everybody imitates, and what that hides: delta(epsilon) of one report among blanket reports.

Blankets come from epsilon alone, or from the preferred sets of a protocol. Delta is summed over counts and rounded up,
with upper bounds on binomial chances in floats: ratios of neighbors from the mode on, divided by their own sum.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.errors import NoSoundConversion, ParameterError
from discreet.local.frequency import FrequencyOracle, HybridGeometry, PureOracle
from discreet.local.heavy_hitters import HeavyHitters
from discreet.local.keys import HashedGeometry
from discreet.local.protocol import Floats
from discreet.randomness.rigor import ball, ceil_of_upper, floor_of_lower, precision

_SCALE = 1 << 96
_PRECISION = 256
_COARSENESS = 2.0**-10
_SPARE_LOG = 25.0
_MOST_PEOPLE = 10**10
_RELATIVE_WIDTH = 2.0**-24
_UNDERFLOW = 2.0**-900  # more than all products that are too small for a float can amount to
UNIT = 2.0**-53


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
    def of(cls, spec: FrequencyOracle, people: int, smallest_delta: float) -> TwoLevels:
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


def distances(spec: FrequencyOracle) -> Sequence[int]:
    """Return, in order, distances among which are all that two values can have.

    Proof: a `PureOracle` states the probability `shared` that a report on another value is among the preferred ones of
    this; with k common outputs it is likely k + unlikely (inside - k), so if it is the least possible, at
    k = inside - apart, no two values have more in common. In a `HybridGeometry` two values of a block have the common
    points of two planes in common, and values of different blocks nothing. In a `HashedGeometry` and in
    `HeavyHitters` two keys differ by the same number of points in every row in which they fall on different points.
    """
    if isinstance(spec, HybridGeometry):
        return (spec.geometry.on_plane - spec.geometry.common, spec.apart)
    if isinstance(spec, HashedGeometry | HeavyHitters):
        step = spec.geometry.on_plane - spec.geometry.common
        return range(step, spec.apart + 1, step)
    least = spec.likely * (spec.inside - spec.apart) + spec.unlikely * spec.apart
    single = isinstance(spec, PureOracle) and spec.shared == least
    return (spec.apart,) if single else range(1, spec.apart + 1)


@dataclass(frozen=True)
class Blanket:
    """One report among n - 1 others that imitate it: the three kinds of output by which two values can be told apart.

    The report of the person is of kind 1, 2 or 3 with probabilities (first, second, third) if their value is x0, and
    (second, first, third) if it is x1. Each of the others is, whatever their value, of kind 1, 2 or 3 with
    probabilities at least (each, each, rest), and within a kind all reports have the same law. What the person does
    with the remaining probability, if any, is the same for x0 and x1.

    Privacy. The shuffled reports on x0 and on x1 are (epsilon, delta)-indistinguishable for every epsilon >= 0 with
        delta = E max(0, f a + g b + h c) / n, where (a, b, c) counts the kinds among n people of probabilities (each,
        each, rest), f = (first - e^epsilon second) / each, g = (second - e^epsilon first) / each and
        h = (1 - e^epsilon) third / rest (no third term if rest = 0).
        Proof: write each other report as a mixture: with probability `each` a draw from the law Q1 of kind 1, with
        `each` from Q2, with `rest` from Q3, else from a law of its own. Tell the adversary which others drew from a law
        of their own, and what; tell also if the person's report is of no kind that others imitate, which teaches
        nothing about x0 or x1 and only takes mass away. What is left is a shuffled set of M + 1 reports, M of the
        others and the person's, each drawn from Q1, Q2 or Q3 by its kind: a post-processing of the counts (a, b, c)
        of the kinds, a + b + c = M + 1. Given M the others' kinds are multinomial with probabilities q1 = q2 =
        each / s, q3 = rest / s, s = 2 each + rest. For the multinomial law T of M + 1 draws and of M draws,
        T_M(a - 1, b, c) = T_{M+1}(a, b, c) a / ((M + 1) q1), and alike for b, c; so P0(a, b, c) = T_{M+1}(a, b, c)
        (first a / q1 + second b / q2 + third c / q3) / (M + 1), and P1 has first and second exchanged. Hence
        sum max(0, P0 - e^epsilon P1) = s E max(0, f a + g b + h c) / (M + 1) under T_{M+1}. M is binomial of n - 1 and
        s; with K binomial of n and s, P(M = k) = P(K = k + 1) (k + 1) / (n s). The factors cancel, and the mean over
        M is the mean over the kinds among n people. Exchanging kinds 1 and 2
        exchanges the worlds, so the other direction is the same.
    Cost. A table of O(sqrt(n)) numbers, made once; then a look-up of at most a few hundred thousand entries for each
        epsilon.
    Reference. Balle, Bell, Gascon, Nissim 2019; Feldman, McMillan, Talwar 2021, 2023.
    """

    people: int
    first: Fraction
    second: Fraction
    third: Fraction
    each: Fraction
    rest: Fraction
    smallest_delta: float

    def delta(self, epsilon: float) -> float:
        """Return an upper bound on delta at a level epsilon >= 0.

        Proof: given v = a + b, the count a is binomial of v fair coins; put j = a - v / 2. The sum is 2 A j - B Z with
        A = (first - second)(1 + e^epsilon) / (2 each), B = e^epsilon - 1 and Z = (first + second) v / (2 each) +
        third c / rest. For a fixed Z, E max(0, 2 A j - B Z) grows with v, because j is a martingale in v; for a fixed
        v it falls with Z, which grows with v and with c; and given v the count c is binomial of n - v, smaller for
        larger v. So in a box of counts (v, c) it is at most the value for j at the largest v and Z at the least (v, c),
        and the chance of a box is bounded with the law of c at the largest v. All sums are of positive terms.
        """
        if not epsilon >= 0.0:
            raise ParameterError("epsilon must be at least 0", parameter="epsilon")
        boxes = self._boxes
        growth = math.expm1(epsilon)
        slope = float(self.first - self.second) / float(self.each) * (growth + 2.0)
        threshold = boxes.masses * (growth / slope * (1 - 64 * UNIT)) + boxes.shift
        place = np.minimum(np.floor(threshold), boxes.length).astype(np.int64)
        flat = place + boxes.row
        excess = (place + 1.0 - threshold).clip(0.0, 1.0) * boxes.tails[flat] + boxes.excesses[flat]
        total = float(np.sum(boxes.weights * excess)) * slope / self.people
        return float(min((total + boxes.beyond) * (1 + (256 + excess.size) * UNIT), 1.0))

    def epsilon(self, delta: float, *, least: float = 0.0, most: float) -> float:
        """Return a level between `least` and `most` at which delta is met: `least` or nearly the least such level."""
        low, high = least, most
        found = self.delta(low)
        if found <= delta:
            return low
        rise, fall, stuck = _log(found) - _log(delta), _log(self.delta(high)) - _log(delta), 0
        while high - low > _RELATIVE_WIDTH * high:
            # a chord of ln delta, drawn a little beyond the root so that both ends move; halves where that is slow
            part = rise / (rise - fall) if stuck < 3 and fall < rise else 0.5
            middle = low + (high - low) * min(max(part, 2.0**-12), 1 - 2.0**-12)
            found = self.delta(middle)
            height = _log(found) - _log(delta)
            stuck = 0 if stuck == 3 else stuck + 1
            if found <= delta:  # not by the logarithms, which are rounded
                high, fall, rise = middle, height, rise / 2
            else:
                low, rise, fall = middle, height, fall / 2
        return high

    @cached_property
    def _boxes(self) -> _Boxes:
        return _boxes(self)


@dataclass(frozen=True)
class _Boxes:
    """Boxes of counts: their chances, the least Z of each, and where its table of fair coins starts."""

    weights: Floats
    masses: Floats
    row: NDArray[np.int64]
    tails: Floats
    excesses: Floats
    shift: Floats
    length: int
    beyond: float


def _log(value: float) -> float:
    """Return a logarithm for the search alone, finite at 0."""
    return math.log(max(value, 5e-324))


def _boxes(blanket: Blanket) -> _Boxes:
    """Cut the range of (v, c) into boxes of relative size 2^-10 or single counts."""
    people, both = blanket.people, 2 * blanket.each
    if people > _MOST_PEOPLE:
        raise NoSoundConversion("shuffling is bounded for up to 10^10 people; fewer are safe: pass people=10**10")
    log_tail = _SPARE_LOG - math.log(blanket.smallest_delta)
    counts = BinomialWindow.of(people, both, log_tail)
    width = np.maximum(1, np.floor(_COARSENESS * np.arange(counts.first, counts.last + 1)).astype(np.int64))
    low, high, chance = counts.cut(width)
    tails, excesses = symmetric_excess(high, log_tail)
    per_pair = float((blanket.first + blanket.second) / both) * (1 - 4 * UNIT)
    length = tails.shape[1] - 1
    rows = np.arange(low.size) * (length + 1)
    masses, weights, row = _with_rest(blanket, log_tail, low.astype(np.float64) * per_pair, high, chance, rows)
    beyond = float(blanket.first) * (1 + 4 * UNIT) * counts.weighted_beyond() + _UNDERFLOW
    shift = (high % 2 / 2)[row // (length + 1)]
    return _Boxes(weights, masses, row, tails.ravel(), excesses.ravel(), shift, length, beyond)


def _with_rest(
    blanket: Blanket, log_tail: float, masses: Floats, high: NDArray[np.int64], chance: Floats, rows: NDArray[np.int64]
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Cut each slice of v into boxes of c: return the least Z, the chance and the table row of each."""
    if not (blanket.rest > 0 and blanket.third > 0):
        return masses, chance, rows
    people = blanket.people
    probability = blanket.rest / (1 - 2 * blanket.each)
    weight = float(blanket.third / blanket.rest) * (1 - 4 * UNIT)
    width = max(1, math.floor(_COARSENESS * people / weight))
    # slices whose law of c hardly differs share the law of the last one, in which c is least
    group = high // max(1, math.floor(_COARSENESS / 2 * people / (weight * float(probability))))
    found: list[tuple[Floats, Floats, NDArray[np.int64]]] = []
    for start, end in _runs(group):
        law = BinomialWindow.of(people - int(high[end - 1]), probability, log_tail)
        low, _, part = law.cut(np.full(law.chances.size, width))
        part[-1] += law.above
        z = masses[start:end, None] + weight * low[None, :]
        found.append((z.ravel(), (chance[start:end, None] * part).ravel(), np.repeat(rows[start:end], low.size)))
    return tuple(np.concatenate(columns) for columns in zip(*found, strict=True))  # type: ignore[return-value]


def _runs(group: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return the ends of runs of equal numbers."""
    ends = [0, *(np.flatnonzero(np.diff(group)) + 1).tolist(), group.size]
    return list(pairwise(ends))


@dataclass(frozen=True)
class BinomialWindow:
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
    def of(cls, trials: int, probability: Fraction, log_tail: float) -> BinomialWindow:
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
