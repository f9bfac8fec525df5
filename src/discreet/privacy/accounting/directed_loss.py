"""One direction of a composition: the best certified answer of the closed forms and the two engines."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import TypeVar

import numpy as np

from discreet.errors import NoSoundConversion
from discreet.laws import Enclosure, Pair, ProductPair
from discreet.laws.number import round_down, round_up
from discreet.privacy.accounting.contour import (
    ContourEngine,
    Unsuitable,
    flattened,
    gathered,
    met,
    moment_factor,
    says_more,
    total_square,
)
from discreet.privacy.accounting.contour.moments import Factor
from discreet.privacy.accounting.effort import Effort
from discreet.privacy.accounting.floats import bounded
from discreet.privacy.guarantees import ZCDP, ApproxDP, Guarantee, PureDP, RenyiDP, convert
from discreet.privacy.numbers import root_upward, written
from discreet.privacy.pairs import FixedSizePair, NormalPair, PoissonPair, PureApproxPair

_GOOD, _FAIR = 1e-6, 1e-4  # relative widths that small and large lattices are asked to improve upon
_AIM = 0.5  # of the width wanted, so that rounding leaves an answer within it
_SMALLISH, _SMALL = 1e-3, 1e-6  # epsilons below which a width is a share of this instead, usually and with patience
_LATTICES, _MUCH = 3, 0.9
_MANY, _MOST_ANSWERS, _TINY, _HOPELESS = 64, 1024, 1e-300, 1e6

_RATIO, _MOST_ORDERS = 1.002, 4000
_GAUSSIAN, _LARGEST_LOSSES = "closed form of Gaussian composition", "sum of the largest losses"

Part = tuple[Pair | None, Guarantee | None, int]
Parts = list[tuple[Pair, int]]
Answer = TypeVar("Answer")


class DirectedLoss:
    """What many releases cost in one direction; each part is a dominating pair, a guarantee, or both, and a count."""

    def __init__(self, parts: tuple[Part, ...], *, attained: bool) -> None:
        """Sort the parts; engines are made when they are first asked.

        `attained` says that the pairs are the releases' own laws; then a guarantee has nothing to add to them.
        """
        self.parts, self.attained = parts, attained
        self.pairs = None
        if all(pair is not None for pair, _, _ in parts):
            self.pairs = flattened((pair, count) for pair, _, count in parts if pair is not None)
        self._contour: ContourEngine | None = None
        self._axis: ContourEngine | None = None
        self._moments: list[Factor | None] | None = None
        self._max_loss: float | None = None
        self._answers: dict[tuple[str, float, float | None], Enclosure] = {}
        self._made = False

    def _make(self) -> None:
        """Build the contour engine from the pairs, and the real axis from the best bound on the moments."""
        if self._made:
            return
        self._made = True
        factors = None if self.pairs is None else gathered(self.pairs)
        self._contour = ContourEngine(factors) if factors else None
        more = not self.attained and any(says_more(guarantee) for _, guarantee, _ in self.parts)
        if more or self._contour is None:
            bounded = [moment_factor(*part) for part in self.parts]
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
            return _settled(_gaussian_epsilon(*normal, delta))
        alone = self._single(lambda pair: pair.epsilon(delta))
        if alone is not None:
            return alone
        largest = self.max_loss()
        if delta == 0.0:
            return _settled(bounded(self.least_max_loss(), largest, largest, _LARGEST_LOSSES))

        def on_lattice(pairs: Parts, wanted: float, effort: Effort, highest: float) -> Enclosure:
            from discreet.privacy.accounting.lattice import enclose_epsilon

            return enclose_epsilon(pairs, delta, tolerance=wanted, effort=effort, highest=highest)

        start = Enclosure(0.0, largest, largest, _LARGEST_LOSSES)
        return self._narrowed(start, tolerance, lambda engine: engine.epsilon(delta, tolerance), on_lattice)

    def _delta(self, epsilon: float, tolerance: float | None) -> Enclosure:
        normal = self.gaussian
        if normal is not None:
            low, high = (pair.delta(epsilon) for pair in normal)
            return _settled(bounded(low.lower, high.estimate, high.upper, _GAUSSIAN))
        alone = self._single(lambda pair: pair.delta(epsilon))
        if alone is not None:
            return alone
        if epsilon >= self.max_loss():
            return Enclosure.exact(0.0, method="epsilon is at least the sum of the largest losses")

        def on_lattice(pairs: Parts, wanted: float, effort: Effort, highest: float) -> Enclosure:  # noqa: ARG001
            from discreet.privacy.accounting.lattice import enclose_delta

            return enclose_delta(pairs, epsilon, tolerance=wanted, effort=effort)

        return self._narrowed(None, tolerance, lambda engine: engine.delta(epsilon, tolerance), on_lattice, epsilon)

    def _narrowed(
        self,
        found: Enclosure | None,
        tolerance: float | None,
        ask: Callable[[ContourEngine], Enclosure],
        on_lattice: Callable[[Parts, float, Effort, float], Enclosure],
        level: float | None = None,
    ) -> Enclosure:
        """Intersect what every engine answers, and the lattice's answer where that is too wide for the tolerance.

        `level` is the epsilon at which delta is asked for; without it epsilon is.
        """
        for engine in self._engines():
            answer = _computed(lambda engine=engine: ask(engine), None)  # type: ignore[misc]
            if answer is not None:
                found = answer if found is None else met(found, answer)
        if tolerance is not None and level is not None:  # a width of epsilon is so much of delta
            tolerance *= max((engine.steepness for engine in self._engines()), default=1.0)
        if tolerance is not None:
            found = self._on_lattice(found, tolerance, on_lattice, level, _FAIR, effort=Effort.USUAL)
        if tolerance is None or self._too_wide(found, tolerance, level, _FAIR):
            repaid = [pair for pair, _ in self.pairs or () if _repays(pair)]
            if repaid:  # try for a millionth, on small grids first
                found = self._on_lattice(found, None, on_lattice, level, _GOOD, effort=Effort.QUICK)
            if level is None and any(isinstance(pair, PoissonPair | FixedSizePair) for pair in repaid):
                # for a millionth at most, even where less was asked for: transforms of floats give hardly more
                found = self._on_lattice(found, None, on_lattice, level, _GOOD, effort=Effort.PATIENT)
            found = self._on_lattice(found, None, on_lattice, level, _FAIR, effort=Effort.USUAL)
        return _settled(found or Enclosure(0.0, 1.0, 1.0, "nothing is known"))

    def _on_lattice(
        self,
        found: Enclosure | None,
        tolerance: float | None,
        ask: Callable[[Parts, float, Effort, float], Enclosure],
        level: float | None,
        share: float,
        *,
        effort: Effort,
    ) -> Enclosure | None:
        """Ask the lattice where an answer is too wide: for the tolerance, or else for a share of the answer."""
        for _ in range(_LATTICES):
            # the width wanted is a share of the answer, which may be known badly before the lattice is asked
            least = _SMALL if effort is Effort.PATIENT else _SMALLISH
            if self.pairs is None or not self._too_wide(found, tolerance, level, share, least):
                break
            before = found
            size = level if level is not None else 1.0 if found is None or math.isinf(found.upper) else found.upper
            aim = _AIM if effort is Effort.PATIENT else 1.0
            wanted = tolerance if tolerance is not None else aim * share * max(size, least)
            highest = math.inf if found is None else found.upper
            answer = _computed(partial(ask, self.pairs, max(wanted, _TINY), effort, highest), None)
            if answer is not None:
                found = answer if found is None else met(found, answer, attained=self.attained)
            if found is None or (before is not None and found.upper > _MUCH * before.upper) or tolerance is not None:
                break
        return found

    def renyi(self, alpha: float) -> Enclosure:
        """Enclose the Renyi divergence of order alpha; the lower end is 0 where only guarantees are known."""
        normal = self.gaussian
        if normal is not None:
            milder, worse = (Fraction(alpha) * Fraction(pair.mu) ** 2 / 2 for pair in normal)
            return Enclosure(round_down(milder), round_down(milder), round_up(worse), "closed form")
        largest = self.max_loss()
        low, high = 0.0, largest
        method = "largest loss"
        for engine in self._engines():
            try:
                value, error = engine.log_moment(alpha - 1)
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
        if high == largest:  # no engine knew more than the largest loss
            claimed = self._claimed_divergence(alpha)
            high, method = (claimed, "sum of what the parts guarantee") if claimed < high else (high, method)
        return Enclosure(min(low, high), min(low, high), high, method)

    def _claimed_divergence(self, alpha: float) -> float:
        """Return a bound on D_alpha from each part alone: its moment, alpha times its rho, or its guarantee's own."""
        order, total = Fraction(alpha), Fraction(0)
        for (pair, guarantee, count), moment in zip(self.parts, self._part_moments(), strict=True):
            rho = _part_rho(pair, guarantee)
            known = [] if rho is None else [count * order * rho]
            if guarantee is not None:
                with suppress(NoSoundConversion):
                    known.append(count * written(convert(guarantee, RenyiDP, alpha=alpha).epsilon))
            if moment is not None:
                with suppress(ArithmeticError, Unsuitable):
                    value, error = moment.log_moment(alpha - 1)
                    known += [Fraction((value + error) / (alpha - 1) * (1 + 2**-50))] if math.isfinite(value) else []
            if not known:
                return math.inf
            total += max(min(known), Fraction(0))
        return round_up(total)

    def _part_moments(self) -> list[Factor | None]:
        """Return the moments of each part, where no part of its law is infinite."""
        if self._moments is None:
            found = [_computed(lambda part=part: moment_factor(*part), None) for part in self.parts]  # type: ignore[misc]
            self._moments = [one if one is not None and one.log_finite == (0.0, 0.0) else None for one in found]
        return self._moments

    def infinite(self) -> float:
        """Return an upper bound on the chance of an infinite loss, as far as an engine knows it; else 0."""
        return min((engine.infinite[1] for engine in self._engines()), default=0.0)

    def ceiling(self, delta: float) -> float:
        """Return an upper bound on epsilon at a delta without any integral: the Renyi bound, or the largest losses."""
        if delta == 0.0 or self._single(lambda pair: pair.max_loss()) is not None:
            return math.inf
        return self._least(self.max_loss(), lambda engine: engine.ceiling(delta))

    def delta_ceiling(self, epsilon: float) -> float:
        """Return an upper bound on delta at an epsilon without any integral."""
        if self._single(lambda pair: pair.max_loss()) is not None:
            return 1.0
        if epsilon >= self.max_loss():
            return 0.0
        return self._least(1.0, lambda engine: engine.delta_ceiling(epsilon))

    def _least(self, trivial: float, ask: Callable[[ContourEngine], float]) -> float:
        """Return the least of a trivial bound and the engines' cheap ones, those that are numbers."""
        found = [_computed(lambda engine=engine: ask(engine), trivial) for engine in self._engines()]  # type: ignore[misc]
        return min([trivial, *(one for one in found if not math.isnan(one))])

    def max_loss(self) -> float:
        """Return an upper bound on the largest total loss: each part's largest, or its pure guarantee."""
        if self._max_loss is None:
            self._max_loss = self._sum_of_largest()
        return self._max_loss

    def _sum_of_largest(self) -> float:
        ends: list[tuple[float, int]] = []
        for pair, guarantee, count in self.parts:
            known = [] if pair is None else [pair.max_loss().upper]
            if isinstance(guarantee, PureDP) or (isinstance(guarantee, ApproxDP) and guarantee.delta == 0):
                known.append(round_up(Fraction(guarantee.epsilon)))
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
        """Answer from the pair itself when it is the only one; a product is taken apart."""
        if self.pairs is not None and len(self.pairs) == 1 and self.pairs[0][1] == 1:
            return ask(self.pairs[0][0])
        alone = self.parts[0][0] if len(self.parts) == 1 and self.parts[0][2] == 1 else None
        return None if alone is None or isinstance(alone, ProductPair) else ask(alone)

    def _too_wide(
        self,
        found: Enclosure | None,
        tolerance: float | None,
        level: float | None,
        share: float,
        least: float = _SMALLISH,
    ) -> bool:
        """Say whether the lattice should be tried: nothing found, or wider than asked; `least` is the least scale."""
        if found is None or not math.isfinite(found.upper):
            return True
        scale = 1.0 if level is None else found.upper
        if scale < _TINY or _HOPELESS < self.max_loss() < math.inf:
            return False
        if self.pairs is not None and len(self.pairs) > _MANY and found.lower > 0:
            return False  # one grid for each of many kinds costs more than a narrower answer is worth
        wanted = tolerance * scale if tolerance is not None else share * max(found.upper, least * scale)
        return found.upper - found.lower > wanted


def _repays(pair: Pair) -> bool:
    """Say whether a finer lattice repays its time: losses of samples are small, and a delta is a jump beside others."""
    return isinstance(pair, PoissonPair | FixedSizePair) or (
        isinstance(pair, PureApproxPair) and pair.claimed_delta > 0
    )


def _gaussian_epsilon(below: NormalPair, above: NormalPair, delta: float) -> Enclosure:
    """Bound epsilon from the worse of two neighboring pairs, and check the lower end against the milder."""
    found = above.epsilon(delta)
    low = found.lower
    for _ in range(40):
        if below == above or low == 0.0 or below.delta(low).lower > delta:
            break
        low = max(low - 2 * max(found.upper - low, 2.0**-51 * found.upper), 0.0)
    else:
        low = below.epsilon(delta).lower
    return bounded(low, found.estimate, found.upper, _GAUSSIAN)


@lru_cache(maxsize=256)
def directed(parts: tuple[Part, ...], *, attained: bool) -> DirectedLoss:
    """Return the engines of a composition, kept between questions."""
    return DirectedLoss(parts, attained=attained)


def clear_caches() -> None:
    """Forget all engines; the next question starts from nothing (for benchmarks)."""
    directed.cache_clear()


def _computed(ask: Callable[[], Answer], otherwise: Answer) -> Answer:
    """Return an engine's answer; where numbers leave the range of floats on the way it guarantees nothing."""
    with np.errstate(all="ignore"):
        try:
            return ask()
        except (ArithmeticError, ValueError, Unsuitable):
            return otherwise


def _settled(found: Enclosure) -> Enclosure:
    """Name what an answer rests on besides proofs; where nothing is known from below the safe end is the guess."""
    assumptions: tuple[str, ...] = ()
    if "lattice" in found.method:
        assumptions = ("float-elementary", "float-fft")
    elif "contour" in found.method or "Renyi" in found.method:
        assumptions = ("float-elementary",)
    return replace(found, estimate=found.estimate if found.lower > 0 else found.upper, assumptions=assumptions)


def least_rho(loss: DirectedLoss) -> float:
    """Return a rho with D_alpha <= alpha rho for every alpha > 1 in this direction, or infinity.

    Privacy. Two bounds, the smaller of which is returned: the sum over parts of what each is known to keep, and, for
        losses of at most m, the largest over a grid 1 = a_0 < a_1 < ... of D at a_(i+1) divided by a_i, with m/a_last
        for everything above.
        Proof: divergences of independent releases add, and so do bounds on them. D_alpha does not fall as alpha grows,
        so for alpha in [a_i, a_(i+1)] D_alpha/alpha <= D at a_(i+1), over a_i; and D_alpha <= m always.
    """
    parts = [_part_rho(pair, guarantee) for pair, guarantee, _ in loss.parts]
    total = math.inf
    if all(part is not None for part in parts):
        exact = sum(
            (count * (rho or Fraction(0)) for rho, (_, _, count) in zip(parts, loss.parts, strict=True)), Fraction(0)
        )
        total = round_up(exact)
    return min(total, _on_grid(loss))


def _part_rho(pair: Pair | None, guarantee: Guarantee | None) -> Fraction | None:
    """Return the best rho known of one part: the pair's own theorem, its largest loss, or its guarantee."""
    found: list[Fraction] = []
    if pair is not None:
        own = pair.concentration()
        if own is not None:
            found.append(own)
        largest = pair.max_loss().upper
        if math.isfinite(largest):
            found.append(Fraction(convert(PureDP(largest), ZCDP).rho))
    if guarantee is not None:
        try:
            guaranteed = convert(guarantee, ZCDP)
        except NoSoundConversion:
            guaranteed = None
        if guaranteed is not None and guaranteed.delta == 0:
            found.append(Fraction(guaranteed.rho))
    return min(found, default=None)


def _on_grid(loss: DirectedLoss) -> float:
    """Return the grid bound, or infinity when losses are unbounded."""
    largest = loss.max_loss()
    if not math.isfinite(largest):
        return math.inf
    worst, order = 0.0, 1.0
    for _ in range(_MOST_ORDERS):
        following = order * _RATIO
        bound = loss.renyi(following).upper / order * (1 + 2.0**-50)
        worst = max(worst, bound)
        if largest / following * (1 + 2.0**-50) <= worst:
            return worst
        order = following
    return max(worst, largest / order * (1 + 2.0**-50))
