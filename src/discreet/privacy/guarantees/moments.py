"""From moments of the loss to (epsilon, delta): what a bound on Renyi divergences, of one order or of all, implies."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from discreet.privacy.numbers import number, upward
from discreet.randomness.rigor import Ball

_LOGARITHMS = range(-60, 382, 2)  # ln(order - 1): covers the best order for every float rho, subnormal ones too
_GOLDEN = (math.sqrt(5) - 1) / 2
_STEPS = 50


def renyi_delta(alpha: Fraction, divergence: Fraction, epsilon: Fraction) -> float:
    """Return an upper bound on delta(epsilon) from one Renyi divergence D of order alpha > 1, rounded up.

    Privacy. delta(epsilon) <= e^((alpha-1)(D - epsilon)) (1 - 1/alpha)^alpha / (alpha - 1), whatever the sign of
        epsilon; and delta(epsilon) <= min(sqrt(D/2), sqrt(1 - e^-D)) for epsilon >= 0.
        Proof: let L be the loss under P. delta(epsilon) = E max(0, 1 - e^(epsilon-L)), and E e^((alpha-1)L) =
        e^((alpha-1)D); L is finite, as D is. With x = e^(epsilon-L), max(0, 1-x) <= c x^-(alpha-1) where c is the
        largest value of x^(alpha-1) - x^alpha on (0, 1): at x = 1 - 1/alpha, c = (1-1/alpha)^(alpha-1)/alpha =
        (1-1/alpha)^alpha/(alpha-1). Take expectations. Second: for epsilon >= 0, delta(epsilon) <= delta(0), the total
        variation distance; orders only raise divergences, so the Kullback-Leibler divergence is at most D; then
        Pinsker, and Bretagnolle and Huber.
    Reference. Canonne, Kamath, Steinke 2020, proposition 12.

    >>> renyi_delta(Fraction(2), Fraction(1), Fraction(3))
    0.033833820809153176
    """
    order = alpha - 1
    bound = upward(lambda: _log_factor(order, number(divergence - epsilon)).exp())
    if epsilon >= 0:
        bound = min(bound, _total_variation(divergence))
    return min(bound, 1.0)


def renyi_epsilon(alpha: Fraction, divergence: Fraction, delta: Fraction) -> float:
    """Return an epsilon >= 0 with delta(epsilon) <= delta, from one Renyi divergence D of order alpha, rounded up.

    Privacy. epsilon = D + ln(1 - 1/alpha) - (ln delta + ln alpha)/(alpha - 1), or 0 if that is negative or if the bound
        on the total variation distance is at most delta. At delta = 0 there is none: infinity.
        Proof: solve the bound of `renyi_delta` for epsilon; a bound at a negative epsilon holds at 0, as delta(.)
        decreases.
    Reference. Canonne, Kamath, Steinke 2020, proposition 12.

    >>> renyi_epsilon(Fraction(2), Fraction(1), Fraction(1, 1000))
    6.521460917862247
    """
    if delta == 0:
        return 0.0 if divergence == 0 else math.inf
    if _total_variation(divergence) <= delta:
        return 0.0
    order = alpha - 1

    def solved() -> Ball:
        s = number(order)
        return number(divergence) - (1 / s).log1p() - (number(delta).log() + s.log1p()) / s

    return max(upward(solved), 0.0)


def zcdp_delta(rho: Fraction, epsilon: Fraction) -> float:
    """Return an upper bound on delta(epsilon) when every order alpha has divergence at most alpha rho, rounded up.

    Privacy. delta(epsilon) <= e^((alpha-1)(alpha rho - epsilon)) (1 - 1/alpha)^alpha / (alpha - 1) for every alpha > 1,
        and the bounds on the total variation distance with D = rho.
        Proof: `renyi_delta` at order alpha; rho bounds the limit of the divergences at order 1. The search for the best
        alpha runs on floats, which is harmless: whatever alpha it ends at is one of those the theorem allows, and the
        bound is evaluated there with certified rounding.
    Reference. Bun, Steinke 2016; Canonne, Kamath, Steinke 2020.

    >>> zcdp_delta(Fraction(1, 2), Fraction(4))
    0.000195...
    """
    if rho == 0 and epsilon >= 0:
        return 0.0
    rate, level = float(rho), float(epsilon)
    order = _best_order(lambda s: s * ((s + 1) * rate - level) - math.log(s) - (s + 1) * math.log1p(1 / s))
    bound = renyi_delta(order + 1, (order + 1) * rho, epsilon)
    return min(bound, _total_variation(rho)) if epsilon >= 0 else bound


def zcdp_epsilon(rho: Fraction, delta: Fraction) -> float:
    """Return an epsilon >= 0 with delta(epsilon) <= delta when every order alpha has divergence at most alpha rho.

    Privacy. `renyi_epsilon` with D = alpha rho, for the best alpha found; or 0 if a bound on the total variation
        distance is at most delta.
        Proof: as for `zcdp_delta`.
    Reference. Canonne, Kamath, Steinke 2020.

    >>> zcdp_epsilon(Fraction(1, 2), Fraction(1, 10**6))
    5.2...
    """
    if delta == 0 or rho == 0:
        return 0.0 if rho == 0 else math.inf
    if _total_variation(rho) <= delta:
        return 0.0
    rate, log_delta = float(rho), _log(delta)
    order = _best_order(lambda s: (s + 1) * rate - math.log1p(1 / s) - (log_delta + math.log1p(s)) / s)
    return renyi_epsilon(order + 1, (order + 1) * rho, delta)


def _log_factor(order: Fraction, gap: Ball) -> Ball:
    """Return the logarithm of e^(s gap) (1 - 1/(s+1))^(s+1) / s, with s = alpha - 1."""
    s = number(order)
    return s * gap - s.log() - (s + 1) * (1 / s).log1p()


def _total_variation(divergence: Fraction) -> float:
    """Return an upper bound on the total variation distance from a Kullback-Leibler divergence."""

    def pinsker() -> Ball:
        return (number(divergence) / 2).sqrt()

    def bretagnolle_huber() -> Ball:
        return (-(-number(divergence)).expm1()).sqrt()

    return min(upward(pinsker), upward(bretagnolle_huber), 1.0)


def _log(value: Fraction) -> float:
    """Return the logarithm of a rational that may be below every float."""
    return math.log(value.numerator) - math.log(value.denominator)


def _best_order(objective: Callable[[float], float]) -> Fraction:
    """Return s > 0 near the least value of the objective: a coarse scan of ln s, then golden sections."""

    def at(logarithm: float) -> float:
        try:
            value = objective(math.exp(logarithm))
        except OverflowError:
            return math.inf
        return math.inf if math.isnan(value) else value

    start = min(_LOGARITHMS, key=at)
    low, high = start - 2.0, start + 2.0
    for _ in range(_STEPS):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        if at(left) <= at(right):
            high = right
        else:
            low = left
    return Fraction(math.exp((low + high) / 2))
