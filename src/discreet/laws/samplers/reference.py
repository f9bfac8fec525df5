"""A slow, independent sampler for differential tests: integers and fair comparisons only, no float, no ball, no table.

It follows the published algorithms literally and shares nothing with the fast path but the source of bits.
Reference. Canonne, Kamath, Steinke 2020, algorithms 1 to 3; for normal variables bit by bit the idea of Karney 2016,
with a discrete Gaussian integer part and a uniform fraction.
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


class LazyUniform:
    """A uniform real in [0, 1) of which only the bits asked for are drawn."""

    def __init__(self) -> None:
        self._prefix, self._length = 0, 0

    def ends(self, length: int) -> tuple[Fraction, Fraction]:
        """Return the two ends of the interval that the first `length` bits leave."""
        while self._length < length:
            self._prefix, self._length = 2 * self._prefix + uniform_below(2), self._length + 1
        first = self._prefix >> (self._length - length)
        return Fraction(first, 1 << length), Fraction(first + 1, 1 << length)


def coin_at(real: LazyUniform, slope: Fraction, curve: Fraction) -> bool:
    """Heads with probability slope u + curve u^2 at a lazy u: bits of u and of the coin are drawn until they decide."""
    toss, length = LazyUniform(), 1
    while True:
        (low, high), (least, most) = toss.ends(length), real.ends(length)
        if high <= (slope + curve * least) * least:
            return True
        if low >= (slope + curve * most) * most:
            return False
        length += 1


def coin_exp_at(real: LazyUniform, slope: Fraction, curve: Fraction) -> bool:
    """Heads with probability exp(-slope u - curve u^2) at a lazy u: the trick of `coin_exp` on equal parts of it."""
    parts = -((slope + curve) // -1)
    for _ in range(parts):
        tosses = 1
        while coin_at(real, slope / (parts * tosses), curve / (parts * tosses)):
            tosses += 1
        if tosses % 2 == 0:
            return False
    return True


def reference_rounded(sigma: Fraction) -> int:
    """Draw a normal variable of standard deviation sigma as far as its nearest integer needs.

    Its absolute value is j + u with a density proportional to exp(-j^2 / (2 sigma^2)) exp(-(2 j u + u^2) / (2 sigma^2))
    on j = 0, 1, ... and 0 <= u < 1: propose j and a uniform u, accept with the second factor, and add a fair sign.
    """
    precision = 1 / (sigma * sigma)
    while True:
        whole, part = reference_gaussian(sigma), LazyUniform()
        if whole >= 0 and coin_exp_at(part, whole * precision, precision / 2):
            magnitude = whole + (1 if part.ends(1)[0] > 0 else 0)
            return magnitude if uniform_below(2) == 1 else -magnitude
