"""A coin whose probability is a rational number times an exponential, tossed exactly."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import AssumptionFailed
from discreet.randomness.keystream import word
from discreet.randomness.rigour import ball, ceil_of_upper, floor_of_lower, precision, uniform_is_below

_BITS = 64
_GUARD = 40


def toss(factor: Fraction, exponent: Fraction) -> bool:
    """Return True with probability exactly factor * exp(-exponent), which the caller has proven to be at most 1.

    >>> toss(Fraction(1), Fraction(0))
    True
    """

    def scaled(bit_count: int) -> tuple[int, int]:
        with precision(bit_count + _GUARD):
            chance = (-ball(exponent)).exp() * ball(factor * (1 << bit_count))
            return floor_of_lower(chance), ceil_of_upper(chance)

    if scaled(_BITS)[0] > 1 << _BITS:  # only if an assumption of the proof fails on this machine
        raise AssumptionFailed("an envelope computed in floats lies below the law: nothing was released")
    return uniform_is_below(word(), _BITS, scaled)
