"""A slow, independent sampler for differential tests: integers and fair comparisons only, no float, no ball, no table.

It follows the published algorithms literally and shares nothing with the fast path but the source of bits.
Reference. Canonne, Kamath, Steinke 2020, algorithms 1 to 3.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.randomness.uniform import uniform_below


def coin(probability: Fraction) -> bool:
    """Heads with a rational probability: a uniform integer below the denominator against the numerator."""
    return uniform_below(probability.denominator) < probability.numerator


def coin_exp(exponent: Fraction) -> bool:
    """Heads with probability exp(-exponent): the series trick for exponents up to 1, products of exp(-1) beyond.

    For x in [0, 1] toss coins of probability x, x/2, x/3, ... until the first tails; the number of tosses is odd with
    probability 1 - x + x^2/2! - ... = exp(-x).
    """
    while exponent > 1:
        if not coin_exp(Fraction(1)):
            return False
        exponent -= 1
    tosses = 1
    while coin(exponent / tosses):
        tosses += 1
    return tosses % 2 == 1


def reference_laplace(scale: Fraction) -> int:
    """Draw discrete Laplace noise of a rational scale."""
    top, bottom = scale.numerator, scale.denominator
    while True:
        remainder = uniform_below(top)
        if not coin_exp(Fraction(remainder, top)):
            continue
        whole = 0
        while coin_exp(Fraction(1)):
            whole += 1
        magnitude = (remainder + top * whole) // bottom
        negative = uniform_below(2) == 1
        if not (negative and magnitude == 0):
            return -magnitude if negative else magnitude


def reference_gaussian(sigma: Fraction) -> int:
    """Draw discrete Gaussian noise of a rational sigma by rejection from discrete Laplace noise."""
    proposal = int(sigma) + 1
    variance = sigma * sigma
    while True:
        value = reference_laplace(Fraction(proposal))
        if coin_exp((abs(value) - variance / proposal) ** 2 / (2 * variance)):
            return value
