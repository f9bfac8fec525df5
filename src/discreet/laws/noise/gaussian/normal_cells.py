"""Masses of the standard normal law in tails and in cells, as balls that keep their relative precision far out.

Write Q(z) for the normal tail beyond z and S(z) = Q(z) exp(z^2 / 2), a slowly falling function. For 0 <= a < b

    Q(a) - Q(b) = exp(-a^2 / 2) (S(a) - exp(-(b^2 - a^2) / 2) S(b)),

so only a factor exp(-a^2 / 2) can be tiny, and it is exact. The bracket loses bits where b - a is small: its share of
S(a) is 1 - Q(b) / Q(a) >= 1 - exp(-(b - a) h(a)), where the hazard h(a) = density / Q grows from h(0) > 3/4, so at most
2 + log2 of 1 / (b - a) bits are lost for b - a <= 1, and the cell is worked out with that many more.

S(z). Up to z = 64 it is erfc(z / sqrt 2) exp(z^2 / 2) / 2 in balls. Beyond, integrating by parts n times gives

    S(z) = 1 / (z sqrt(2 pi)) (1 - 1 / z^2 + 3 / z^4 - ... ),

where every partial sum errs by less than the first term left out, and has its sign. The terms fall to about exp(-z^2 /
2) < 2^(-z^2 / 2) before they grow; where more precision than that is asked, the first way is used.
Reference. Abramowitz, Stegun 1964, 26.2.12 (the expansion and its remainder).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.randomness.rigor import Ball, ball, precision

_FAR = 64
_GUARD = 8


def normal_tail(z: Fraction) -> Ball:
    """Enclose Q(z) = P(Z >= z) at the current precision."""
    if z < 0:
        return 1 - normal_tail(-z)
    return (-ball(z * z / 2)).exp() * _scaled(z)


def normal_cell(low: Fraction, high: Fraction) -> Ball:
    """Enclose P(low <= Z < high), for 0 <= low < high."""
    return (-ball(low * low / 2)).exp() * _bracket(low, high)


def log_normal_cell(low: Fraction, high: Fraction) -> Ball:
    """Enclose ln P(low <= Z < high), for 0 <= low < high, also where the mass is below what a ball can hold."""
    return -ball(low * low / 2) + _bracket(low, high).log()


def central_cell(high: Fraction) -> Ball:
    """Enclose P(-high <= Z < high)."""
    return (ball(high) / ball(2).sqrt()).erf()


def _bracket(low: Fraction, high: Fraction) -> Ball:
    """Enclose S(low) - exp(-(high^2 - low^2) / 2) S(high) at the current precision."""
    import flint

    lost = math.ceil(1 / (high - low)).bit_length()
    with precision(flint.ctx.prec + lost + _GUARD):
        fall = (-ball((high * high - low * low) / 2)).exp()
        return _scaled(low) - fall * _scaled(high)


def _scaled(z: Fraction) -> Ball:
    """Enclose S(z) for z >= 0 at the current precision."""
    import flint

    if z >= _FAR and 2 * (flint.ctx.prec + _GUARD) <= z * z:
        return _expansion(z)
    with precision(flint.ctx.prec + 2 * int(z).bit_length() + _GUARD):
        return (ball(z) / ball(2).sqrt()).erfc() * ball(z * z / 2).exp() / 2


def _expansion(z: Fraction) -> Ball:
    """Enclose S(z) by its alternating expansion, cut where the next term no longer matters."""
    import flint

    square = ball(z * z)
    total, term, order = ball(0), ball(1), 1
    limit = flint.arb(2) ** (-flint.ctx.prec - _GUARD)
    while not abs(term) < limit:
        total, term, order = total + term, -term * order / square, order + 2
    return (total + term.union(flint.arb(0))) / (ball(z) * (2 * flint.arb.pi()).sqrt())


@lru_cache(maxsize=4)
def gauss_rule(count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the Gauss rule on (-1/2, 1/2): nodes and weights of sum 1, exact on polynomials of degree 2 count - 1."""
    import flint

    with precision(128):
        found = [flint.arb.legendre_p_root(count, index, weight=True) for index in range(count)]
        return np.array([float(node / 2) for node, _ in found]), np.array([float(weight / 2) for _, weight in found])
