"""The price of a choice by ranks: epsilon, or rho through bounded range."""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.errors import ConflictingParameters, MissingParameter, ParameterError
from discreet.laws.number import Number
from discreet.privacy import ZCDP, Guarantee, PureDP, Relation
from discreet.privacy.numbers.rounding import downward, number
from discreet.privacy.numbers.written import positive_price, written_up
from discreet.randomness.rigour import Ball


def one_price(epsilon: Number | None, rho: Number | None) -> tuple[Fraction | None, Fraction | None]:
    """Return epsilon or rho exactly; refuse none, and both."""
    if epsilon is None and rho is None:
        raise MissingParameter("give epsilon= or rho=: the price is never defaulted", parameter="epsilon")
    if epsilon is not None and rho is not None:
        raise ConflictingParameters("give epsilon= or rho=, not both", parameter="rho")
    if epsilon is not None:
        return positive_price(epsilon, name="epsilon"), None
    return None, positive_price(rho, name="rho")


def promise(epsilon: Fraction | None, rho: Fraction | None, relation: Relation) -> Guarantee:
    """Return the promise that a price stands for: pure where epsilon was asked for, concentrated where rho was."""
    if epsilon is not None:
        return PureDP(written_up(epsilon), relation=relation)
    return ZCDP(written_up(rho or Fraction(0)), relation=relation)


def range_of_rho(rho: Fraction) -> Fraction:
    """Return the largest float e with e^2 / 8 <= rho: the bounded range that costs so much zCDP.

    >>> float(range_of_rho(Fraction(1, 2)))
    2.0
    """

    def root() -> Ball:
        return (8 * number(rho)).sqrt()

    found = downward(root)
    while Fraction(math.nextafter(found, math.inf)) ** 2 <= 8 * rho:
        found = math.nextafter(found, math.inf)
    if found <= 0:
        raise ParameterError("rho is too small to buy an answer", parameter="rho")
    return Fraction(found)
