"""Exact running sums in constant time and memory, whatever numbers are added."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from discreet.errors import ParameterError

_DYADIC_BITS = 2148  # every float, and the square of every float, is a multiple of 2^-2148
_ODD_BITS = 512  # room for decimals of 120 places, 5^120 has 279 bits, beside other fractions


@dataclass(frozen=True, slots=True)
class Tally:
    """A sum of numbers that are at least 0, kept as an integer over one denominator, 2^2148 times an odd number.

    Exactness. A sum of floats, of squares of floats and of fractions is exact as long as the least common multiple of
        the odd parts of all denominators, the cap's included, has at most 512 bits. A number that would break one of
        these limits is rounded up, by less than 2^-2148, which errs on the side of privacy.
        Proof: floats are multiples of 2^-1074, and a common multiple of the denominators counts all addends in whole
        units; the last unit of a budget is therefore one unit.
    Cost. An addition and a comparison of integers of at most a few thousand bits, however many numbers came before.

    >>> thirds = Tally.towards(Fraction(1))
    >>> for _ in range(3):
    ...     thirds = thirds.plus(Fraction(1, 3))
    >>> (
    ...     thirds.total,
    ...     thirds.at_most(Fraction(1)),
    ...     thirds.plus(Fraction(5e-324)).at_most(Fraction(1)),
    ... )
    (Fraction(1, 1), True, False)
    """

    units: int = 0
    odd: int = 1

    @classmethod
    def towards(cls, cap: Fraction) -> Self:
        """Return an empty sum in units that count the cap without remainder, so that spending all of it is exact."""
        return cls(0, _odd_part(cap.denominator))

    @property
    def total(self) -> Fraction:
        """The sum."""
        return Fraction(self.units, self._denominator)

    @property
    def _denominator(self) -> int:
        return self.odd << _DYADIC_BITS

    def plus(self, amount: Fraction) -> Tally:
        """Return the sum with one more number in it."""
        if amount.numerator <= 0:
            if amount:
                raise ParameterError("an amount to spend must be at least 0", parameter="amount")
            return self
        shared = self._sharing(amount)
        return Tally(shared.units + shared._units(amount), shared.odd)

    def at_most(self, cap: Fraction) -> bool:
        """Say whether the sum has not passed the cap, exactly."""
        return self.units * cap.denominator <= cap.numerator * self._denominator

    def room(self, amount: Fraction, cap: Fraction) -> int | None:
        """Return how many times the amount can be added before the cap is passed; None for 0, which always fits."""
        shared = self._sharing(amount)
        price = shared._units(amount)
        if price == 0:
            return None
        whole_cap = cap.numerator * shared._denominator // cap.denominator
        return max(whole_cap - shared.units, 0) // price

    def _sharing(self, amount: Fraction) -> Tally:
        """Return the same sum in units that count the amount too, unless these would become too small."""
        part = _odd_part(amount.denominator)
        if self.odd % part == 0:
            return self
        common = math.lcm(self.odd, part)
        if common.bit_length() > _ODD_BITS:
            return self
        return Tally(self.units * (common // self.odd), common)

    def _units(self, amount: Fraction) -> int:
        """Return the amount in units, rounded up."""
        top, bottom = amount.numerator, amount.denominator
        twos = bottom.bit_length() - 1
        if bottom == 1 << twos and twos <= _DYADIC_BITS:  # a float: a shift does it
            return top * self.odd << (_DYADIC_BITS - twos)
        return -(-top * self._denominator // bottom)


def _odd_part(denominator: int) -> int:
    return denominator // (denominator & -denominator)
