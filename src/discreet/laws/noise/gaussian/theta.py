"""Sums of exp(-x^2 / (2 v)) over all integers, or over a tail, as balls.

All integers. For v >= 1 the Poisson summation formula turns the sum into sqrt(2 pi v) times the sum of exp(-2 pi^2 v
k^2); for v < 1 the sum itself converges fast. Either is cut where the next term is below 2^-precision, and the cut is
bounded by twice the first term left out (the terms fall faster than a geometric sequence of ratio 1/2 from there).

Tail from t >= 1, T(t) = sum over x >= t of g(x), g(x) = exp(-x^2 / (2 v)). Far out (t >= v / 4) and for small v the
terms are summed. Elsewhere the Euler-Maclaurin formula applies: T = integral + g(t)/2 - sum B_2k/(2k)! g^(2k-1)(t) + R,
with
|R| <= 2 zeta(p)/(2 pi)^p times the integral of |g^(p)| over the tail. g^(n)(x) = (-1)^n v^(-n/2) He_n(u) g(x) with u =
x / sqrt v and the Hermite polynomials He_n; |He_n| is bounded by the polynomial with the absolute coefficients, whose
integral against exp(-u^2/2) follows from I_0 = sqrt(pi/2) erfc(u/sqrt 2), I_1 = exp(-u^2/2), I_n = u^(n-1) exp(-u^2/2)
+ (n-1) I_(n-2). So the bound keeps its relative size however far out the tail begins.
Reference. Euler-Maclaurin with this remainder: Lehmer 1940; the bounds are re-derived above.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import comb, factorial

from discreet.randomness.rigor import Ball, ball

_ORDER = 32
_SUMMED_BELOW = 32**2


def gaussian_sum(variance: Fraction) -> Ball:
    """Enclose the sum of exp(-x^2 / (2 variance)) over all integers at the current precision."""
    import flint

    if variance >= 1:
        pi = flint.arb.pi()
        rate = 2 * pi * pi * ball(variance)
        return (2 * pi * ball(variance)).sqrt() * (1 + 2 * _summed(rate, 1))
    return 1 + 2 * _summed(ball(Fraction(1) / (2 * variance)), 1)


def gaussian_tail(variance: Fraction, start: int) -> Ball:
    """Enclose the sum of exp(-x^2 / (2 variance)) over x >= start, for start >= 1."""
    if variance < _SUMMED_BELOW or 4 * start >= variance:
        return _summed(ball(Fraction(1) / (2 * variance)), start)
    return _euler_maclaurin(variance, start)


def _summed(rate: Ball, start: int) -> Ball:
    """Enclose the sum of exp(-rate x^2) over x >= start by adding terms until they no longer matter."""
    import flint

    first = (-rate * (start * start)).exp()
    # term(x + 1) / term(x) = exp(-rate (2 x + 1)), itself shrinking by exp(-2 rate) a step
    shrink = (-2 * rate).exp()
    ratio = (-rate * (2 * start + 1)).exp()
    if ratio < 0.5 and not first > 0:  # below what a ball can hold: only its upper end is known
        return (2 * first).upper().union(flint.arb(0))
    total, term = first, first
    limit = first * flint.arb(2) ** (-flint.ctx.prec - 8)
    while True:
        term = term * ratio
        ratio = ratio * shrink
        if ratio < 0.5 and term < limit:
            return total + (2 * term).union(flint.arb(0))
        total = total + term
        if not ratio < 1:
            raise ArithmeticError("the working precision is too low for this variance")
        if ratio < 1 and term * ratio < limit * (1 - ratio):
            rest = term * ratio / (1 - ratio)
            return total + rest.upper().union(flint.arb(0))


@lru_cache(maxsize=1)
def _hermite() -> list[list[int]]:
    """Return the coefficients of He_0, ..., He_ORDER, lowest power first: He_(n+1) = u He_n - n He_(n-1)."""
    rows = [[1], [0, 1]]
    for n in range(1, _ORDER):
        up = [0, *rows[n]]
        down = rows[n - 1] + [0] * (len(up) - len(rows[n - 1]))
        rows.append([a - n * b for a, b in zip(up, down, strict=True)])
    return rows


@lru_cache(maxsize=64)
def _bernoulli_number(index: int) -> Fraction:
    """Return the Bernoulli number of an index, from the recursion that defines it."""
    if index == 0:
        return Fraction(1)
    return -sum((comb(index + 1, k) * _bernoulli_number(k) for k in range(index)), Fraction(0)) / (index + 1)


def _euler_maclaurin(variance: Fraction, start: int) -> Ball:
    """Enclose the tail by the integral, its corrections and the remainder."""
    import flint

    root = ball(variance).sqrt()
    u = ball(start) / root
    density = (-u * u / 2).exp()
    moments = [(flint.arb.pi() / 2).sqrt() * (u / ball(2).sqrt()).erfc(), density]
    for n in range(2, _ORDER + 1):
        moments.append(u ** (n - 1) * density + (n - 1) * moments[n - 2])
    total = root * moments[0] + density / 2
    hermite = _hermite()
    for k in range(1, _ORDER // 2 + 1):
        n = 2 * k - 1
        value = _polynomial(hermite[n], u)  # g^(n)(t) = -v^(-n/2) He_n(u) g(t) for odd n, and it is subtracted
        total = total + ball(_bernoulli_number(2 * k) / factorial(2 * k)) * value * density / root**n
    absolute = [abs(c) * moment for c, moment in zip(hermite[_ORDER], moments, strict=True)]
    spread = sum(absolute[1:], absolute[0])
    remainder = 2 * flint.arb(_ORDER).zeta() / (2 * flint.arb.pi()) ** _ORDER * spread * root ** (1 - _ORDER)
    return total + (-remainder).union(remainder)


def _polynomial(coefficients: list[int], u: Ball) -> Ball:
    """Evaluate by Horner's rule."""
    value = ball(0)
    for coefficient in reversed(coefficients):
        value = value * u + coefficient
    return value
