"""One direction of a composition: the best certified answer of the closed forms and the two engines."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np

from discreet.errors import AssumptionFailed
from discreet.laws import Enclosure, Pair
from discreet.laws.number import round_down, round_up
from discreet.privacy.accounting.contour import (
    Bounds,
    ClaimFactor,
    ContourEngine,
    Factor,
    LesserFactor,
    Unsuitable,
    flattened,
    gathered,
    total_square,
)
from discreet.privacy.guarantees import ApproxDP, Guarantee, PureDP
from discreet.privacy.numbers import root_upward
from discreet.privacy.pairs import NormalPair

_GOOD_ENOUGH, _MANY, _MOST_ANSWERS, _TINY, _HOPELESS = 1e-4, 64, 1024, 1e-300, 1e6

Part = tuple[Pair | None, Guarantee | None, int]


class DirectedLoss:
    """What many releases cost in one direction; each part is a dominating pair, a promise, or both, and a count."""

    def __init__(self, parts: tuple[Part, ...], *, attained: bool) -> None:
        """Sort the parts; engines are made when they are first asked.

        `attained` says that the pairs are the releases' own laws; then a promise has nothing to add to them.
        """
        self.parts, self.attained = parts, attained
        self.pairs = None
        if all(pair is not None for pair, _, _ in parts):
            self.pairs = flattened((pair, count) for pair, _, count in parts if pair is not None)
        self._contour: ContourEngine | None = None
        self._axis: ContourEngine | None = None
        self._max_loss: float | None = None
        self._answers: dict[tuple[str, float, float | None], Enclosure] = {}
        self._made = False

    def _make(self) -> None:
        """Build the contour engine from the pairs, and the real axis from whatever bounds the moments best."""
        if self._made:
            return
        self._made = True
        factors = None if self.pairs is None else _families(self.pairs)
        self._contour = ContourEngine(factors) if factors else None
        more = not self.attained and any(_says_more(claim) for _, claim, _ in self.parts)
        if more or self._contour is None:
            bounded = [_moment_factor(*part) for part in self.parts]
            if all(factor is not None for factor in bounded):
                self._axis = ContourEngine([factor for factor in bounded if factor is not None])

    @property
    def gaussian(self) -> tuple[NormalPair, NormalPair] | None:
        """Two normal pairs around the composition when every pair is normal: one just milder, one just worse."""
        if self.pairs is None or not all(isinstance(pair, NormalPair) for pair, _ in self.pairs):
            return None
        square = total_square(self.pairs)
        above = root_upward(square)
        below = above if Fraction(above) ** 2 == square else math.nextafter(above, 0.0)
        return NormalPair(below), NormalPair(above)

    def epsilon(self, delta: float, tolerance: float | None) -> Enclosure:
        """Enclose the least epsilon >= 0 at a delta; answers are kept."""
        return self._kept(("epsilon", delta, tolerance), lambda: self._epsilon(delta, tolerance))

    def delta(self, epsilon: float, tolerance: float | None) -> Enclosure:
        """Enclose delta at an epsilon >= 0; answers are kept."""
        return self._kept(("delta", epsilon, tolerance), lambda: self._delta(epsilon, tolerance))

    def _kept(self, key: tuple[str, float, float | None], answer: Callable[[], Enclosure]) -> Enclosure:
        if key not in self._answers:
            if len(self._answers) > _MOST_ANSWERS:
                self._answers.clear()
            self._answers[key] = answer()
        return self._answers[key]

    def _epsilon(self, delta: float, tolerance: float | None) -> Enclosure:
        normal = self.gaussian
        if normal is not None:
            return _enclosure(_gaussian_epsilon(*normal, delta))
        alone = self._single(lambda pair: pair.epsilon(delta))
        if alone is not None:
            return alone
        largest = self.max_loss()
        found = Bounds(0.0, largest, largest, "sum of the largest losses")
        if delta == 0.0:
            return _enclosure(Bounds(min(self.least_max_loss(), largest), largest, largest, found.method))
        for engine in self._engines():
            answer = _computed(lambda engine=engine: engine.epsilon(delta, tolerance))  # type: ignore[misc]
            found = found if answer is None else _met(found, answer)
        if self._too_wide(found, tolerance, 1.0) and self.pairs is not None:
            wanted = tolerance if tolerance is not None else _GOOD_ENOUGH * max(_middle(found), 1e-3)
            answer = _computed(lambda: self._on_lattice(None, delta, wanted))
            found = found if answer is None else _met(found, answer, attained=self.attained)
        return _enclosure(found)

    def _on_lattice(self, epsilon: float | None, delta: float, tolerance: float) -> Bounds:
        """Ask the tilted lattice: for delta at an epsilon, or for epsilon at a delta."""
        from discreet.privacy.accounting.lattice import enclose_delta, enclose_epsilon

        pairs = self.pairs or []
        if epsilon is not None:
            found = enclose_delta(pairs, epsilon, tolerance=tolerance)
        else:
            found = enclose_epsilon(pairs, delta, tolerance=tolerance)
        return Bounds(found.lower, found.estimate, found.upper, found.method)

    def _delta(self, epsilon: float, tolerance: float | None) -> Enclosure:
        normal = self.gaussian
        if normal is not None:
            low, high = (pair.delta(epsilon) for pair in normal)
            return _enclosure(Bounds(low.lower, high.estimate, high.upper, "closed form of Gaussian composition"))
        alone = self._single(lambda pair: pair.delta(epsilon))
        if alone is not None:
            return alone
        found: Bounds | None = None
        if epsilon >= self.max_loss():
            return _enclosure(Bounds(0.0, 0.0, 0.0, "epsilon is at least the sum of the largest losses"))
        for engine in self._engines():
            answer = _computed(lambda engine=engine: engine.delta(epsilon, tolerance))  # type: ignore[misc]
            found = found if answer is None else _met(found, answer)
        if self._too_wide(found, tolerance, found.upper if found else 1.0) and self.pairs is not None:
            wanted = tolerance if tolerance is not None else _GOOD_ENOUGH * max(epsilon, 1e-3)
            answer = _computed(lambda: self._on_lattice(epsilon, 0.0, wanted))
            found = found if answer is None else _met(found, answer, attained=self.attained)
        return _enclosure(found or Bounds(0.0, 1.0, 1.0, "nothing is known"))

    def renyi(self, alpha: float) -> Enclosure:
        """Enclose the Renyi divergence of order alpha; the lower end is 0 where only promises are known."""
        self._make()
        normal = self.gaussian
        if normal is not None:
            milder, worse = (Fraction(alpha) * Fraction(pair.mu) ** 2 / 2 for pair in normal)
            return Enclosure(round_down(milder), round_down(milder), round_up(worse), "closed form")
        largest = self.max_loss()
        low, high = 0.0, largest
        method = "largest loss"
        for engine in (self._contour, self._axis):
            if engine is None:
                continue
            try:
                value, error = sum_of_moments(engine, alpha - 1)
            except (ArithmeticError, Unsuitable):
                continue
            if engine.infinite[0] > 0:
                value = math.inf
            if engine is self._contour and engine.infinite[1] == 0 and math.isfinite(value):
                low = max(low, (value - error) / (alpha - 1) * (1 - 2**-50))
            if engine.infinite[1] > 0:
                continue
            bound = max((value + error) / (alpha - 1) * (1 + 2**-50), 0.0)
            if bound < high:
                high, method = bound, "moment on the real axis"
        return Enclosure(min(low, high), min(low, high), high, method)

    def ceiling(self, delta: float) -> float:
        """Return an upper bound on epsilon at a delta without any integral: the Renyi bound, or the largest losses."""
        if delta == 0.0 or self._single(lambda pair: pair.max_loss()) is not None:
            return math.inf
        return min([self.max_loss(), *(_ceiling(engine.ceiling, delta, math.inf) for engine in self._engines())])

    def delta_ceiling(self, epsilon: float) -> float:
        """Return an upper bound on delta at an epsilon without any integral."""
        if self._single(lambda pair: pair.max_loss()) is not None:
            return 1.0
        return min([1.0, *(_ceiling(engine.delta_ceiling, epsilon, 1.0) for engine in self._engines())])

    def max_loss(self) -> float:
        """Return an upper bound on the largest total loss: each part's largest, or its pure promise."""
        if self._max_loss is None:
            self._max_loss = self._sum_of_largest()
        return self._max_loss

    def _sum_of_largest(self) -> float:
        ends: list[tuple[float, int]] = []
        for pair, claim, count in self.parts:
            known = [] if pair is None else [pair.max_loss().upper]
            if isinstance(claim, PureDP) or (isinstance(claim, ApproxDP) and claim.delta == 0):
                known.append(round_up(Fraction(claim.epsilon)))
            least = min(known, default=math.inf)
            if math.isinf(least):
                return math.inf
            ends.append((least, count))
        if len(ends) > _MANY:  # a sum of many exact rationals is slow: products and the sum are rounded up instead
            return math.fsum(end * count for end, count in ends) * (1 + 2.0**-50)
        return round_up(sum((count * Fraction(end) for end, count in ends), Fraction(0)))

    def least_max_loss(self) -> float:
        """Return a lower bound on the largest total loss of the stated pairs."""
        if self.pairs is None:
            return 0.0
        ends = [(pair.max_loss().lower, count) for pair, count in self.pairs]
        if any(math.isinf(end) for end, _ in ends):
            return math.inf
        return round_down(sum((count * Fraction(end) for end, count in ends), Fraction(0)))

    def _engines(self) -> list[ContourEngine]:
        self._make()
        return [engine for engine in (self._contour, self._axis) if engine is not None]

    def _single(self, ask: Callable[[Pair], Enclosure]) -> Enclosure | None:
        """Answer from the pair itself when it is the only one."""
        if self.pairs is not None and len(self.pairs) == 1 and self.pairs[0][1] == 1:
            return ask(self.pairs[0][0])
        return None

    def _too_wide(self, found: Bounds | None, tolerance: float | None, scale: float) -> bool:
        """Say whether the lattice should be tried: nothing found, or wider than asked."""
        if found is None or not math.isfinite(found.upper):
            return True
        if scale < _TINY or _HOPELESS < self.max_loss() < math.inf:
            return False
        if self.pairs is not None and len(self.pairs) > _MANY and found.lower > 0:
            return False  # one grid for each of many kinds costs more than a narrower answer is worth
        wanted = tolerance if tolerance is not None else _GOOD_ENOUGH * max(found.upper, 1e-3 * scale)
        return found.upper - found.lower > wanted * (scale if tolerance is not None else 1.0)


def _gaussian_epsilon(below: NormalPair, above: NormalPair, delta: float) -> Bounds:
    """Bound epsilon from the worse of two neighbouring pairs, and check the lower end against the milder."""
    found = above.epsilon(delta)
    low = found.lower
    for _ in range(40):
        if below == above or low == 0.0 or below.delta(low).lower > delta:
            break
        low = max(low - 2 * max(found.upper - low, 2.0**-51 * found.upper), 0.0)
    else:
        low = below.epsilon(delta).lower
    return Bounds(low, found.estimate, found.upper, "closed form of Gaussian composition")


def sum_of_moments(engine: ContourEngine, order: float) -> tuple[float, float]:
    """Return K at an order and its error."""
    engine.moments.begin()
    engine.moments(order)
    return engine.moments.known[order]


@lru_cache(maxsize=256)
def directed(parts: tuple[Part, ...], *, attained: bool) -> DirectedLoss:
    """Return the engines of a composition, kept between questions."""
    return DirectedLoss(parts, attained=attained)


def clear_caches() -> None:
    """Forget all engines; the next question starts from nothing (for benchmarks)."""
    directed.cache_clear()


def _says_more(claim: Guarantee | None) -> bool:
    """Say whether a promise may say more about moments than a pair; pure and approximate ones are pairs themselves."""
    return claim is not None and not isinstance(claim, PureDP | ApproxDP)


def _families(pairs: list[tuple[Pair, int]]) -> list[Factor] | None:
    """Return the factors of the pairs, or None where a family does not know one or its numbers leave the floats."""
    with np.errstate(all="ignore"):
        try:
            return gathered(pairs)
        except ArithmeticError:
            return None


def _moment_factor(pair: Pair | None, claim: Guarantee | None, count: int) -> Factor | None:
    """Return whatever bounds the moments of a part."""
    factors = None if pair is None else _families(flattened([(pair, count)]))
    known = factors[0] if factors and len(factors) == 1 else None
    if claim is None or not (_says_more(claim) or known is None):
        return known
    if known is None:
        return ClaimFactor(claim, count)
    try:
        return LesserFactor(claim, count, known)
    except Unsuitable:
        return known


def _met(found: Bounds | None, other: Bounds, *, attained: bool = False) -> Bounds:
    """Intersect two certified intervals; of attained pairs two that do not meet mean that something is broken."""
    if found is None:
        return other
    lower, upper = max(found.lower, other.lower), min(found.upper, other.upper)
    if attained and lower > upper:
        raise AssumptionFailed(
            f"two certified answers contradict each other ({found.method}; {other.method}): an assumption about this "
            "machine's floating point does not hold, or discreet has a bug. No price was returned; please report it."
        )
    sharper = other if other.upper - other.lower <= found.upper - found.lower else found
    return Bounds(min(lower, upper), min(max(sharper.estimate, lower), upper), upper, sharper.method)


def _ceiling(ask: Callable[[float], float], value: float, trivial: float) -> float:
    """Return a cheap bound, or the trivial one where it is not a number or cannot be computed."""
    with np.errstate(all="ignore"):
        try:
            found = ask(value)
        except (ArithmeticError, ValueError, Unsuitable):
            return trivial
    return trivial if math.isnan(found) else found


def _computed(answer: Callable[[], Bounds]) -> Bounds | None:
    """Return an engine's answer, or None where numbers leave the range of floats on the way: it claims nothing."""
    with np.errstate(all="ignore"):
        try:
            found = answer()
        except (ArithmeticError, ValueError, Unsuitable):
            return None
    return None if math.isnan(found.lower) or math.isnan(found.upper) else found


def _middle(found: Bounds | None) -> float:
    return 1.0 if found is None or not math.isfinite(found.upper) else found.upper


def _enclosure(found: Bounds) -> Enclosure:
    lower = min(found.lower, found.upper)
    # where nothing is known from below the safe end is the better guess
    estimate = min(max(found.estimate, lower), found.upper) if lower > 0 else found.upper
    return Enclosure(lower, estimate, found.upper, found.method, assumptions=_assumptions(found.method))


def _assumptions(method: str) -> tuple[str, ...]:
    """Name what an answer rests on besides proofs."""
    if "lattice" in method:
        return ("float-elementary", "float-fft")
    return ("float-elementary",) if "contour" in method or "Renyi" in method else ()
