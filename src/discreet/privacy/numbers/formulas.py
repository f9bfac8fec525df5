"""Formulas of prices, evaluated in ball arithmetic with more precision until it is enough, and rounded outwards.

The bounds hold at any precision; precision only makes them tight. So a formula is written once, in the form that is
plainest to prove, and needs no special case for cancellation.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction

from discreet.laws.number import Number
from discreet.randomness.rigor import Ball, ball, precision

_PRECISIONS = (96, 192, 384, 768, 1536, 3072, 6144)
_ENOUGH_BITS = 66  # a float has 53: two honest evaluations then differ by one unit in the last place at most
_NEGLIGIBLE = 2.0**-1022 * 2.0**-52  # the least positive float


def number(value: Number) -> Ball:
    """Enclose a given number at the current precision."""
    import flint

    return flint.arb(value) if isinstance(value, float) else ball(value)


def normal_upper_tail(value: Ball) -> Ball:
    """Enclose the chance that a standard normal variable exceeds the value."""
    return (value / number(2).sqrt()).erfc() / 2


def bounds(formula: Callable[[], Ball]) -> tuple[float, float]:
    """Return floats on both sides of the value of a formula, at most two units in the last place apart.

    >>> bounds(lambda: number(1).exp())
    (2.718281828459045, 2.7182818284590455)
    >>> bounds(lambda: number(1) / 4)
    (0.25, 0.25)
    """
    low, high = -math.inf, math.inf
    for bit_count in _PRECISIONS:
        with precision(bit_count):
            value = formula()
            low, high = max(low, _directed(value.lower(), -1)), min(high, _directed(value.upper(), +1))
            settled = value.is_exact() or value.rel_accuracy_bits() >= _ENOUGH_BITS
        if settled or max(abs(low), abs(high)) <= _NEGLIGIBLE:
            break
    return low, high


def upward(formula: Callable[[], Ball]) -> float:
    """Return the least float known to be at least the value of the formula."""
    return bounds(formula)[1]


def downward(formula: Callable[[], Ball]) -> float:
    """Return the greatest float known to be at most the value of the formula."""
    return bounds(formula)[0]


def root_upward(value: Fraction) -> float:
    """Return the least float whose square is at least the rational.

    >>> root_upward(Fraction(9, 4)), root_upward(Fraction(2))
    (1.5, 1.4142135623730951)
    """

    def formula() -> Ball:
        return number(value).sqrt()

    root = upward(formula)
    # a ball around an exact root is not exact, and may round up one float too far
    while root > 0 and Fraction(math.nextafter(root, 0.0)) ** 2 >= value:
        root = math.nextafter(root, 0.0)
    return root


def rational_root(value: Fraction) -> Fraction | None:
    """Return the square root if it is rational."""
    above, below = math.isqrt(value.numerator), math.isqrt(value.denominator)
    exact = above * above == value.numerator and below * below == value.denominator
    return Fraction(above, below) if exact else None


def _directed(end: Ball, direction: int) -> float:
    """Convert an exact endpoint to the nearest float on its outer side."""
    import flint

    nearest = float(end)
    if math.isnan(nearest):
        return direction * math.inf
    if math.isinf(nearest):
        outer = (nearest > 0) == (direction > 0)
        return nearest if outer or not end.is_finite() else math.copysign(sys.float_info.max, nearest)
    while (flint.arb(nearest) - end) * direction < 0:
        nearest = math.nextafter(nearest, direction * math.inf)
    return nearest
