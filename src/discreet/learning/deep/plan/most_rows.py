"""How many rows a secret batch can have: the least number that is certified to be exceeded almost never."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from discreet.privacy.numbers import number
from discreet.randomness.rigor import ball, precision

_BITS = 160


@lru_cache(maxsize=256)
def least_cap(others: int, rate: Fraction, chance: Fraction) -> int:
    """Return the least number K found with P(Bin(others, rate) >= K) <= chance certified; above `others` none is there.

    Privacy. The chance that at least K of the others are drawn is at most `chance`.
        Proof: K was asked of `tail_is_below`, or is others + 1, which is never reached. That the tail falls with K is
        used for the search only.

    >>> least_cap(59_999, Fraction(1, 100), Fraction(1, 10**10))
    762
    """
    low, high = int(others * rate), others + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if tail_is_below(others, rate, middle, chance) else (middle, high)
    return high


def tail_is_below(others: int, rate: Fraction, cap: int, chance: Fraction) -> bool:
    """Say whether P(Bin(others, rate) >= cap) <= chance is certified.

    Let p(k) be the chance of exactly k. The ratio p(k + 1)/p(k) = (n - k) q/((k + 1)(1 - q)) falls with k, so
    where it is r < 1 at the cap, the tail is at most p(cap) (1 + r + r^2 + ...) = p(cap)/(1 - r). The logarithm of
    p(cap) is evaluated in balls, which contain it; False where that does not decide.

    >>> tail_is_below(10, Fraction(1, 2), 10, Fraction(1, 1000))  # it is 1/1024
    True
    >>> tail_is_below(10, Fraction(1, 2), 9, Fraction(1, 1000))
    False
    """
    if cap > others:
        return True
    if rate == 1:
        return False
    ratio = Fraction(others - cap, cap + 1) * rate / (1 - rate)
    if cap < 1 or ratio >= 1:
        return False
    with precision(_BITS):
        ways = number(others + 1).lgamma() - number(cap + 1).lgamma() - number(others - cap + 1).lgamma()
        log = ways + cap * ball(rate).log() + (others - cap) * ball(1 - rate).log() - ball(1 - ratio).log()
        return bool(log < ball(chance).log())
