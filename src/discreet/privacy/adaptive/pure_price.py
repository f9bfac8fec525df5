"""What a pure promise costs in rho, fast: in floats, and rounded up by more than their roundings can amount to."""

from __future__ import annotations

from fractions import Fraction

from discreet.laws.number import Number, round_up
from discreet.privacy.guarantees.guarantee import PureDP
from discreet.privacy.guarantees.rules import pure_to_zcdp
from discreet.privacy.numbers.written import written

_LEAST, _LARGEST = 2.0**-500, 4.0
_INNERMOST = 21  # 1, 5, 9, ...: these round tanh up
_MORE = 1 + 2.0**-49


def pure_price(epsilon: Number) -> Fraction:
    """Return a rho for which every epsilon-DP release is rho-zCDP: epsilon tanh(epsilon/2), rounded up.

    Between 2^-500 and 4 it exceeds the least rho by a share of at most 4 10^-15; elsewhere it is the least float that
    `convert` knows to be enough.

    Privacy. epsilon-DP implies rho-zCDP.
        Proof: by `pure_to_zcdp`, with rho = epsilon tanh(epsilon/2), which grows with epsilon; so epsilon may be
        rounded up to a float x. With s = x^2/4, tanh(x/2) = (x/2)/(1 + s/(3 + s/(5 + ...))) (Lambert). All terms are
        positive, so to cut the fraction at 21, the eleventh of the numbers 1, 3, 5, ..., makes the denominator f that
        is left smaller and x^2/(2 f) larger than rho; by a share below 10^-15, as s <= 4.
        In floats, with u = 2^-53 and nothing near the ends of their range: s is off by a share u. If an inner
        denominator is off by e, the next one out is off by at most u + w (2u + e), where w is the share of the quotient
        in it: at most 4/19 where 3 or more is added, so that e stays below 1.9 u, and at most 4/7 where 1 is, so that f
        is off by less than 3.3 u. The square, the last quotient and the last product add u each. The factor 1 + 16 u
        exceeds all of it.
    Cost. About a microsecond; plain additions, products and quotients, and no library function.
    Reference. Lambert 1761 for the continued fraction; Kairouz, Oh, Viswanath 2015 and Bun, Steinke 2016 for rho.

    >>> float(pure_price(1)), PureDP(1).to_zcdp().rho
    (0.462117157260010..., 0.4621171572600098)
    """
    x = round_up(written(epsilon))
    if not _LEAST <= x <= _LARGEST:
        return Fraction(pure_to_zcdp(PureDP(written(epsilon))).rho)
    square = x * x
    quarter = square / 4
    denominator = float(_INNERMOST)
    for odd in range(_INNERMOST - 2, 0, -2):
        denominator = odd + quarter / denominator
    return Fraction(square / 2 / denominator * _MORE)
