"""The mean and the variance of the loss of any pair, from its curve delta(epsilon) in both directions, certified.

With L the loss under P, d(e) = delta(e) and r(e) = delta(e) of the reversed pair:

    E L   = integral over e >= 0 of d(e) + e^-e r(e)
    E L^2 = integral over e >= 0 of (2 e + 2) d(e) + (2 - 2 e) e^-e r(e)

Proof. P(L > e) = d(e) - d'(e), as d(e) = E max(0, 1 - e^(e-L)). So for a smooth g with g(0) = 0, E[g(L); L > 0] is the
integral of g'(e) (d(e) - d'(e)), by parts g'(0) d(0) + the integral of (g' + g'')(e) d(e). Losses below 0 are losses
M = -L > 0 of the reversed pair, and E[g(L); L < 0] = E_Q[e^-M g(-M); M > 0]: the same with e^-M g(-M) and r. For
g(L) = L the two boundary terms cancel, as d(0) = r(0); for L^2 they vanish. (The first formula: Sason, Verdu 2016.)

Between two levels d is convex in y = e^e, so it lies below the chord and above the chords of the neighboring cells,
extended; times the weights these are integrated in closed form, in balls.
"""

from __future__ import annotations

import math
from bisect import insort
from dataclasses import dataclass
from fractions import Fraction

from discreet.laws import Enclosure, Pair, ProductPair
from discreet.privacy.numbers import bounds, number
from discreet.privacy.pairs.derived import ComposedPair
from discreet.randomness.rigor import Ball, lower_float, precision, upper_float

Ends = tuple[float, float]

_FIRST_CELLS, _FEW_CELLS, _MOST_LEVELS, _LARGEST_LEVEL = 48, 20, 1200, 700.0
_WANTED, _NEGLIGIBLE, _FAR = 2e-7, 1e-9, 50.0
_NARROWEST = 2.0**-20
_SLACK = 2.0**-45  # far above the rounding of a few operations and of expm1
_BITS = 160
_METHOD = "integral of delta(epsilon), between chords"


@dataclass(frozen=True, slots=True)
class LossMoments:
    """The mean and the variance of a loss under P."""

    mean: Enclosure
    variance: Enclosure


def moments_of(pair: Pair) -> LossMoments:
    """Enclose the mean and the variance of the loss of a pair under P: its closed form, or an integral of its curve.

    Where the loss may be unbounded and no theorem bounds its tail, the upper ends are infinite.

    >>> from discreet.privacy.pairs import NormalPair, PoissonPair, Side
    >>> moments_of(NormalPair(2)).mean.upper, moments_of(NormalPair(2)).variance.upper
    (2.0, 4.0)
    >>> moments_of(PoissonPair(NormalPair(1), 0.1, Side.REMOVE)).mean
    Enclosure(lower=0.00725..., estimate=0.00725..., upper=0.00725..., ...)
    """
    known = pair.moments()
    if known is not None:
        return LossMoments(*known)
    if isinstance(pair, ProductPair):  # independent components: means and variances add
        parts = [moments_of(part) for part in pair.pairs]
        return LossMoments(_total([part.mean for part in parts]), _total([part.variance for part in parts]))
    curve = _Curve(pair)
    (first_low, second_low), (first_high, second_high) = curve.integrals()
    mean = _between(max(first_low, 0.0), first_high)
    # the variance is E L^2 - (E L)^2; infinite where nothing bounds the second moment
    square_low, square_high = bounds(lambda: number(mean.lower) ** 2)[0], math.inf
    if math.isfinite(mean.upper):
        square_high = bounds(lambda: number(mean.upper) ** 2)[1]
    low = max(math.nextafter(second_low - square_high, -math.inf), 0.0) if math.isfinite(square_high) else 0.0
    high = math.nextafter(second_high - square_low, math.inf)
    return LossMoments(mean, _between(low, max(high, low)))


def _between(low: float, high: float) -> Enclosure:
    """Enclose a number at least 0 between two ends, with the guess midway."""
    return Enclosure(low, low if math.isinf(high) else low + (high - low) / 2, high, _METHOD)


def _total(terms: list[Enclosure]) -> Enclosure:
    """Enclose a sum of numbers at least 0."""
    low, high = (math.fsum(ends) for ends in ([one.lower for one in terms], [one.upper for one in terms]))
    return Enclosure.outward(low, high, method="sum over the components", floor=0.0)


class _Curve:
    """delta(epsilon) of a pair and of its reverse at more and more levels >= 0."""

    def __init__(self, pair: Pair) -> None:
        self.pair, self.back = pair, pair.reversed()
        self.values: dict[float, tuple[Enclosure, Enclosure]] = {}
        self.tail, self.negative_tail = (0.0, 0.0), 0.0
        self.levels: list[float] = []
        # a curve that is itself computed from a composition costs thousands of times as much a level
        slow = isinstance(getattr(pair, "base", None), ComposedPair)
        cells, self.most = (_FEW_CELLS, 0) if slow else (_FIRST_CELLS, _MOST_LEVELS)
        reach = self._reach()
        for index in range(cells + 1):
            self._ask(reach * index / cells)
        if reach > 1.0:
            self._ask(1.0)  # where the weight 2 - 2 e changes its sign
        self._refine()

    def _ask(self, level: float) -> None:
        if level not in self.values:
            self.values[level] = (self.pair.delta(level), self.back.delta(level))
            insort(self.levels, level)

    def _reach(self) -> float:
        """Return the largest level asked for, and keep bounds on what lies beyond it."""
        largest = max(self.pair.max_loss().upper, self.back.max_loss().upper)
        if largest <= _LARGEST_LEVEL:
            return max(largest, _NARROWEST)
        rho, size = self.pair.concentration(), max(self.pair.delta(0).lower, 1e-300) ** 2
        reach = 0.5 if rho is not None else _FAR
        while True:
            self.tail = (math.inf, math.inf) if rho is None else self._beyond(reach, rho)
            if rho is None or self.tail[1] <= _NEGLIGIBLE * size or reach >= _LARGEST_LEVEL:
                break
            reach *= 1.25
        last = number(reach)
        self.negative_tail = bounds(lambda: 2 * (last + 1) * (-last).exp())[1] * self.back.delta(reach).upper
        return reach

    def _beyond(self, level: float, rho: Fraction) -> tuple[float, float]:
        """Bound both integrals beyond a level.

        d(e) <= E e^(s (L - e)) <= e^(s ((s+1) rho - e)) for every s > 0, and r falls with e. So with F that bound at
        the level, d's part is at most F/s and ((2 e + 2)/s + 2/s^2) F, r's at most r e^-e and 2 (e + 1) r e^-e.
        """
        order = Fraction(max(level / (2 * float(rho)) - 0.5, 2.0**-10)) if rho else Fraction(64)
        back = self.back.delta(level).upper

        def first() -> Ball:
            s = number(order)
            return self._chernoff(order, rho, level) / s + number(back) * number(-level).exp()

        def second() -> Ball:
            s, e = number(order), number(level)
            head = (2 * e + 2) / s + 2 / (s * s)
            return head * self._chernoff(order, rho, level) + 2 * (e + 1) * number(back) * (-e).exp()

        return bounds(first)[1], bounds(second)[1]

    @staticmethod
    def _chernoff(order: Fraction, rho: Fraction, level: float) -> Ball:
        return (number(order) * (number((order + 1) * rho) - number(level))).exp()

    def _refine(self) -> None:
        """Halve the cells that are the least certain until the second moment is narrow."""
        while len(self.levels) < self.most:
            gaps = self._gaps()
            total = max(self._rough(), 1e-300)
            if sum(gaps) <= _WANTED * total:
                return
            wide = [
                index
                for index, gap in enumerate(gaps)
                if gap > max(max(gaps) / 8, _WANTED * total / (4 * len(gaps)))
                and self.levels[index + 1] - self.levels[index] > _NARROWEST * (1 + self.levels[index])
            ]
            if not wide:
                return
            for middle in [(self.levels[index] + self.levels[index + 1]) / 2 for index in wide]:
                self._ask(middle)

    def _rough(self) -> float:
        """Return about the second moment of the loss."""
        cells = zip(self.levels, self.levels[1:], strict=False)
        return sum((b - a) * (2 * a + 2) * self.values[b][0].estimate for a, b in cells)

    def _gaps(self) -> list[float]:
        """Return about how much each cell leaves open of the second moment."""
        found = [0.0] * (len(self.levels) - 1)
        for way in (0, 1):
            for index, ((a, b), (below, above)) in enumerate(zip(self._cells(), self._ends(way), strict=True)):
                weight = 2 * a + 2 if way == 0 else 2 * (abs(1 - a) + b - a) * math.exp(-a)
                found[index] += weight * (b - a) * (sum(above) - sum(below)) / 2
        return found

    def _cells(self) -> list[tuple[float, float]]:
        return list(zip(self.levels, self.levels[1:], strict=False))

    def _ends(self, way: int) -> list[tuple[Ends, Ends]]:
        """Return for each cell the values at its ends of two functions, linear in y, below and above the curve."""
        heights = [self.values[level][way] for level in self.levels]
        found = []
        for index, (a, b) in enumerate(self._cells()):
            left, right = heights[index], heights[index + 1]
            below = [(right.lower, right.lower)]
            if index:  # the chord on the left, extended
                z, outer = self.levels[index - 1], heights[index - 1]
                drop = (outer.upper - left.lower) * math.expm1(b - a) / -math.expm1(z - a)
                below.append((left.lower, left.lower - drop * (1 + _SLACK) - _SLACK * outer.upper))
            if index + 2 < len(heights):  # the chord on the right, extended
                c, outer = self.levels[index + 2], heights[index + 2]
                rise = max(right.lower - outer.upper, 0.0) * -math.expm1(a - b) / math.expm1(c - b)
                below.append((right.lower + rise * (1 - _SLACK), right.lower))
            found.append((max(below, key=sum), (left.upper, right.upper)))
        return found

    def integrals(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return lower ends of the first and second moment, and upper ends."""
        with precision(_BITS):
            sums = [[number(0), number(0)], [number(0), number(0)]]  # lower and upper, each of both moments
            for way in (0, 1):
                for (a, b), (below, above) in zip(self._cells(), self._ends(way), strict=True):
                    for moment, (whole, rising) in enumerate(_weights(way, a, b)):
                        ends = (below, above) if whole >= 0 else (above, below)
                        for side, (at_a, at_b) in enumerate(ends):
                            sums[side][moment] += number(at_a) * whole + (number(at_b) - number(at_a)) * rising
            low, high = ([lower_float(one) for one in sums[0]], [upper_float(one) for one in sums[1]])
        far = [math.nextafter(end + rest, math.inf) for end, rest in zip(high, self.tail, strict=True)]
        return (low[0], math.nextafter(low[1] - self.negative_tail, -math.inf)), (far[0], far[1])


def _weights(way: int, a: float, b: float) -> list[tuple[Ball, Ball]]:
    """Return for both moments the integral over a cell of the weight, and of the weight times (y - y_a)/(y_b - y_a)."""
    (low, low_y), (high, high_y) = (_antiderivatives(way, number(level)) for level in (a, b))
    start, end = number(a).exp(), number(b).exp()
    found = []
    for moment in (0, 1):
        whole, with_y = high[moment] - low[moment], high_y[moment] - low_y[moment]
        found.append((whole, (with_y - start * whole) / (end - start)))
    return found


def _antiderivatives(way: int, e: Ball) -> tuple[tuple[Ball, Ball], tuple[Ball, Ball]]:
    """Return antiderivatives of the weights of the first and second moment, and of the weights times e^e."""
    if way == 0:  # 1 and 2 e + 2
        y = e.exp()
        return (e, e * e + 2 * e), (y, 2 * e * y)
    y = (-e).exp()  # e^-e and (2 - 2 e) e^-e
    return (-y, 2 * e * y), (e, 2 * e - e * e)
