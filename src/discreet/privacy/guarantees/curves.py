"""What a guarantee alone says about delta(epsilon), epsilon(delta) and the trade-off curve: bounds that err safely."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from discreet.laws import Pair
from discreet.laws.number import round_up
from discreet.privacy.guarantees.guarantee import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP
from discreet.privacy.guarantees.moments import renyi_delta, renyi_epsilon, zcdp_delta, zcdp_epsilon
from discreet.privacy.numbers import downward, number
from discreet.privacy.pairs import NormalPair, PureApproxPair

_LINES = 96
_LEAST_DELTA = Fraction(1, 10**12)
_LARGEST_USEFUL = 746.0  # e^746 times the least positive float is more than 1


def worst_pair(guarantee: Guarantee) -> Pair | None:
    """Return the pair of which every release that keeps the guarantee is a post-processing, where there is one."""
    match guarantee:
        case PureDP():
            return PureApproxPair(guarantee.epsilon)
        case ApproxDP():
            return PureApproxPair(guarantee.epsilon, guarantee.delta)
        case GaussianDP(delta=0):
            return NormalPair(guarantee.mu)
    return None


def delta_of(guarantee: Guarantee, epsilon: Fraction) -> float:
    """Return a delta at which the guarantee implies (epsilon, delta)-DP.

    Privacy. For an approximate zCDP or Gaussian guarantee with its own delta d it is d + (1-d) times the delta of the
        first part of the mixture.
        Proof: P(S) - e^epsilon P'(S) = (1-d)(A(S) - e^epsilon A'(S)) + d(B(S) - e^epsilon B'(S)) for every event S; the
        first bracket is at most the delta of (A, A'), the second at most 1.
    """
    if isinstance(guarantee, ZCDP | GaussianDP) and guarantee.delta:
        own = Fraction(guarantee.delta)
        return min(round_up(own + (1 - own) * Fraction(delta_of(replace(guarantee, delta=0), epsilon))), 1.0)
    match guarantee:
        case ZCDP():
            return min(zcdp_delta(Fraction(guarantee.rho), epsilon), 1.0)
        case RenyiDP():
            return renyi_delta(Fraction(guarantee.alpha), Fraction(guarantee.epsilon), epsilon)
    pair = worst_pair(guarantee)
    return 1.0 if pair is None else pair.delta(epsilon).upper


def epsilon_of(guarantee: Guarantee, delta: Fraction) -> float:
    """Return an epsilon at which the guarantee implies (epsilon, delta)-DP, or infinity.

    Privacy. For an approximate zCDP or Gaussian guarantee with its own delta d <= delta it is the epsilon of the first
        part of the mixture at (delta - d)/(1 - d).
        Proof: solve the bound of `delta_of`; when d = 1 so is delta, and (0, 1)-DP holds for everything.
    """
    if isinstance(guarantee, ZCDP | GaussianDP) and guarantee.delta:
        own = Fraction(guarantee.delta)
        if delta < own or own == 1:
            return math.inf if delta < own else 0.0
        return epsilon_of(replace(guarantee, delta=0), (delta - own) / (1 - own))
    match guarantee:
        case ZCDP():
            return zcdp_epsilon(Fraction(guarantee.rho), delta)
        case RenyiDP():
            return renyi_epsilon(Fraction(guarantee.alpha), Fraction(guarantee.epsilon), delta)
    pair = worst_pair(guarantee)
    if pair is None:
        return math.inf
    return pair.epsilon(delta).upper  # type: ignore[arg-type]  # guarantee pairs take any exact number


def tradeoff_of(guarantee: Guarantee, alpha: float) -> float:
    """Return a chance that no test with false alarms at most alpha can miss less often, under the guarantee.

    Privacy. Without a worst pair it is the highest of max(0, 1 - d - e^e alpha, e^-e (1 - d - alpha)) over points (e,
        d) that the guarantee implies.
        Proof: for a test that calls Q 'P' with chance at most alpha, P(call P) <= e^e alpha + d, so the chance to miss
        is at least 1 - d - e^e alpha; and Q(call Q) <= e^e P(call Q) + d bounds it by e^-e (1 - alpha - d) in the other
        direction.
    """
    pair = worst_pair(guarantee)
    if pair is not None:
        return pair.tradeoff(alpha).lower

    def height(point: tuple[float, float]) -> float:
        level, chance = point
        steep = 1 - chance - math.exp(level) * alpha if level < _LARGEST_USEFUL - 40 else -1.0
        return max(steep, math.exp(-level) * (1 - chance - alpha))

    level, chance = max(_points(guarantee), key=height)
    flat = downward(lambda: (-number(level)).exp() * number(1 - Fraction(chance) - Fraction(alpha)))
    steep = -1.0
    if level < _LARGEST_USEFUL or alpha == 0:
        steep = downward(lambda: number(1 - Fraction(chance)) - (number(level).exp() * number(alpha) if alpha else 0))
    return max(flat, steep, 0.0)


@lru_cache(maxsize=64)
def _points(guarantee: Guarantee) -> tuple[tuple[float, float], ...]:
    """Return points (epsilon, delta) that the guarantee implies, from epsilon 0 to where delta hardly falls."""
    own = Fraction(guarantee.delta) if isinstance(guarantee, ZCDP | GaussianDP) else Fraction(0)
    reach = epsilon_of(guarantee, own + (1 - own) * _LEAST_DELTA)
    levels = [reach * step / _LINES for step in range(_LINES + 1)] if math.isfinite(reach) else [0.0]
    return tuple((level, delta_of(guarantee, Fraction(level))) for level in levels)
