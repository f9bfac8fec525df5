"""Sort the parts of a composition into families of moments: pairs in closed form, guarantees by what they say.

A guarantee says enough about moments of the loss for the real axis, and nothing beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np

from discreet.laws import Pair
from discreet.laws.number import round_down, round_up
from discreet.privacy.accounting.contour.atoms import AtomsFactor, atoms_of, is_whole
from discreet.privacy.accounting.contour.gaussian import NormalFactor, WideGaussianFactor
from discreet.privacy.accounting.contour.moments import Factor, Unsuitable
from discreet.privacy.accounting.contour.sampled import SampledNormalFactor
from discreet.privacy.accounting.contour.sampled_laplace import SampledLaplaceFactor
from discreet.privacy.accounting.contour.symmetric import SymmetricFactor
from discreet.privacy.accounting.floats import UNIT, Complexes, Floats
from discreet.privacy.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP
from discreet.privacy.pairs import NormalPair, PoissonPair

Parts = Sequence[tuple[Pair, int]]
_LARGE, _SMALL_RATE = 300.0, 0.05


def flattened(parts: Iterable[tuple[Pair, int]]) -> list[tuple[Pair, int]]:
    """Merge equal pairs, and take products apart: independent components are releases of their own."""
    counts: dict[Pair, int] = {}
    for pair, count in parts:
        for piece, times in pair.components():
            counts[piece] = counts.get(piece, 0) + times * count
    return list(counts.items())


def total_square(parts: Parts) -> Fraction:
    """Return the sum of mu^2 over the Gaussian pairs, exactly."""
    return sum((count * Fraction(pair.mu) ** 2 for pair, count in parts if isinstance(pair, NormalPair)), Fraction(0))


def gathered(parts: Parts) -> list[Factor] | None:
    """Return the factors of a flattened composition; None if no family fits a pair or a number is too large."""
    with np.errstate(all="ignore"):
        try:
            return _sorted(parts)
        except ArithmeticError:
            return None


def _sorted(parts: Parts) -> list[Factor] | None:
    """Return one factor of all Gaussian pairs, one of each family that holds many, and one of every other pair."""
    square = total_square(parts)
    factors: list[Factor] = [NormalFactor(round_up(square))] if square else []
    rest = [(pair, count) for pair, count in parts if not isinstance(pair, NormalPair)]
    for family in (SymmetricFactor, WideGaussianFactor):
        members = [one for one in rest if family.accepts(one[0])]
        rest = [one for one in rest if not family.accepts(one[0])]
        if members:
            factors.append(family.of([pair for pair, _ in members], [count for _, count in members]))
    for pair, count in rest:
        found = _single(pair, count)
        if found is None:
            return None
        factors.append(found)
    return factors


def _single(pair: Pair, count: int) -> Factor | None:
    """Return the factor of one kind of release."""
    if SampledNormalFactor.accepts(pair):
        return SampledNormalFactor.of(pair, count)  # type: ignore[arg-type]  # accepts() has looked
    if SampledLaplaceFactor.accepts(pair):
        return SampledLaplaceFactor.of(pair, count)  # type: ignore[arg-type]  # accepts() has looked
    atoms = atoms_of(pair)
    if atoms is None:
        return None
    factor = AtomsFactor(atoms, count, whole=is_whole(pair))
    factor.patient = isinstance(pair, PoissonPair) and pair.rate <= _SMALL_RATE
    return factor


def moment_factor(pair: Pair | None, guarantee: Guarantee | None, count: int) -> Factor | None:
    """Return the bound on the moments of a part."""
    factors = None if pair is None else gathered(flattened([(pair, count)]))
    known = factors[0] if factors and len(factors) == 1 else None
    if guarantee is None or not (says_more(guarantee) or known is None):
        return known
    if known is None:
        return ClaimFactor(guarantee, count)
    try:
        return LesserFactor(guarantee, count, known)
    except Unsuitable:
        return known


def says_more(guarantee: Guarantee | None) -> bool:
    """Say whether a guarantee may say more about moments than a pair; pure and approximate ones are pairs."""
    return guarantee is not None and not isinstance(guarantee, PureDP | ApproxDP)


class ClaimFactor(Factor):
    """A release of which only a guarantee is known, `count` times: K(s) <= s D_(s+1), with what it says of D.

    Pure epsilon: randomized response is the worst case, s D = ln((e^((s+1) e) + e^(-s e))/(1 + e^e)). zCDP: D <= (s+1)
    rho. Gaussian: rho = mu^2/2. Renyi of order alpha: D for s <= alpha - 1, as divergences grow with the order, and
    nothing above. A delta is mass at infinity: the rest of the law, of weight 1 - delta, keeps the bound.
    """

    def __init__(self, guarantee: Guarantee, count: int) -> None:
        self.guarantee, self.counts = guarantee, np.array([float(count)])
        lost = Fraction(getattr(guarantee, "delta", 0))
        if lost == 1:
            self.log_finite = (-math.inf, -math.inf)
        elif lost:
            kept = count * math.log1p(-float(lost))
            self.log_finite = (kept * (1 + UNIT), kept * (1 - UNIT))
        self.special = [round_down(Fraction(guarantee.alpha) - 1)] if isinstance(guarantee, RenyiDP) else []

    def log_moment(self, order: float) -> tuple[float, float]:
        """Return the bound that the guarantee gives on K at an order, and its rounding error."""
        value = self._bound(order)
        if not (math.isfinite(self.log_finite[1]) and math.isfinite(value)):
            return math.inf, math.inf
        total = float(self.counts[0]) * value
        return total + self.log_finite[1], UNIT * (4 * abs(total) + abs(self.log_finite[1])) + 5e-324

    def _bound(self, order: float) -> float:
        if order <= 0:
            return math.inf
        match self.guarantee:
            case PureDP() | ApproxDP():
                return _pure_bound(order, float(self.guarantee.epsilon))
            case ZCDP():
                return order * (order + 1) * float(self.guarantee.rho)
            case GaussianDP():
                return order * (order + 1) * float(self.guarantee.mu) ** 2 / 2
            case RenyiDP() if order <= self.special[0]:
                return order * float(self.guarantee.epsilon)
        return math.inf

    def slopes(self, order: float) -> tuple[float, float]:
        """Return differences of the bound, forwards where it ends."""
        near, here, far = (self._bound(order * part) for part in (0.99, 1.0, 1.01))
        count, step = float(self.counts[0]), 0.01 * order
        if not math.isfinite(far):
            return count * (here - near) / step, 1e-12
        return count * (far - near) / (2 * step), max(count * (far - 2 * here + near) / step**2, 1e-12)

    def values(self, order: float, nodes: Floats) -> tuple[Complexes, Floats]:  # noqa: ARG002  nothing to evaluate
        """Refuse: a guarantee says nothing off the real axis."""
        raise Unsuitable

    def variances(self, order: float) -> Floats:  # noqa: ARG002  nothing to evaluate
        """Refuse: a guarantee says nothing off the real axis."""
        raise Unsuitable


class LesserFactor(ClaimFactor):
    """A release with a pair and a guarantee, neither with a mass at infinity: the better bound, order by order."""

    def __init__(self, guarantee: Guarantee, count: int, other: Factor) -> None:
        super().__init__(guarantee, count)
        if self.log_finite != (0.0, 0.0) or other.log_finite != (0.0, 0.0):
            raise Unsuitable
        self.other = other

    def log_moment(self, order: float) -> tuple[float, float]:
        """Return the smaller of the two bounds."""
        return min(super().log_moment(order), self.other.log_moment(order), key=lambda pair: pair[0] + pair[1])

    def slopes(self, order: float) -> tuple[float, float]:
        """Return those of the guarantee where it is the smaller bound, else those of the pair."""
        if super().log_moment(order)[0] <= self.other.log_moment(order)[0]:
            return super().slopes(order)
        return self.other.slopes(order)


def _pure_bound(order: float, reach: float) -> float:
    """Return ln((e^((s+1) e) + e^(-s e))/(1 + e^e)): 1 plus (e^(s e) - 1)(1 - e^(-(s+1) e))/(1 + e^-e) inside."""
    if order * reach > _LARGE:
        return order * reach
    share = -math.expm1(-(order + 1) * reach) / (1 + math.exp(-reach))
    return math.log1p(math.expm1(order * reach) * share)
