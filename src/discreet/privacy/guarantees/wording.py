"""Guarantees in words for people, and as plain numbers for machines."""

from __future__ import annotations

import math
from dataclasses import fields
from fractions import Fraction

from discreet.display import LastDigit, format_number
from discreet.laws.number import round_down, round_up
from discreet.privacy.guarantees.conversion import convert
from discreet.privacy.guarantees.guarantee import ApproxDP, Guarantee, PureDP

_DIGITS = 6
_HAIR = Fraction(1, 10**9)  # what conversion and floats round by, so that 1 is shown as 1
_LARGEST_ODDS = 40
_LARGEST_DELTA = Fraction(1, 100)  # from here on odds say nothing: anything may happen that often
_ONE_IN_A_MILLION = Fraction(1, 10**6)
_NOTIONS = {
    "PureDP": "pure differential privacy",
    "ApproxDP": "approximate differential privacy",
    "ZCDP": "zero-concentrated differential privacy",
    "RenyiDP": "Renyi differential privacy",
    "GaussianDP": "Gaussian differential privacy",
}


def in_words(guarantee: Guarantee, *, rounding: LastDigit = LastDigit.UP) -> str:
    """Write the numbers of a guarantee; what is left of a budget is rounded down.

    >>> from discreet.privacy import ZCDP
    >>> (
    ...     in_words(ZCDP(Fraction(1, 20), 1e-7)),
    ...     in_words(ZCDP(Fraction(1, 3)), rounding=LastDigit.DOWN),
    ... )
    ('rho 0.05, delta 1e-07', 'rho 0.333333')
    """
    parts = [f"{name} {_written(value, rounding)}" for name, value in _numbers(guarantee).items()]
    return ", ".join(parts)


def with_notion(guarantee: Guarantee) -> str:
    """Write the numbers of a guarantee and what kind of guarantee it is.

    >>> from discreet.privacy import PureDP
    >>> with_notion(PureDP(Fraction(1, 100)))
    'epsilon 0.01 (pure differential privacy)'
    """
    return f"{in_words(guarantee)} ({_NOTIONS[type(guarantee).__name__]})"


def in_odds(guarantee: Guarantee, *, rounding: LastDigit = LastDigit.UP) -> str:
    """Write what a guarantee means for one person, in odds: an epsilon, and the factor that it stands for.

    A guarantee that is no (epsilon, delta) is read as one: at twice its own delta, or else at a delta of one in a
    million.

    >>> from discreet.privacy import ZCDP, PureDP
    >>> in_odds(PureDP(Fraction(1, 10)))
    'epsilon 0.1: nobody makes a result more than 1.106 times as likely'
    >>> in_odds(ZCDP(Fraction(1, 20), 1e-7))
    'epsilon 1.62 at delta 2e-07: nobody makes a result more than 5.051 times as likely'
    >>> in_odds(PureDP(Fraction(53, 10)), rounding=LastDigit.DOWN)
    'epsilon 5.3: nobody makes a result more than 200.3 times as likely'
    >>> in_odds(ZCDP(Fraction(1, 20), 0.1))
    'epsilon 0.1713 at delta 0.200001: too large to protect anybody'
    """
    delta = Fraction(getattr(guarantee, "delta", 0))
    if isinstance(guarantee, PureDP | ApproxDP):
        epsilon = Fraction(guarantee.epsilon)
    else:
        delta = min(2 * delta, Fraction(1)) if delta else _ONE_IN_A_MILLION
        epsilon = Fraction(convert(guarantee, ApproxDP, delta=delta).epsilon)
    at = f" at delta {format_number(delta, digits=_DIGITS, rounding=rounding)}" if delta else ""
    hair = _HAIR if rounding is LastDigit.UP else -_HAIR
    shown = format_number(epsilon - epsilon * hair, digits=4, rounding=rounding)
    if epsilon > _LARGEST_ODDS or delta >= _LARGEST_DELTA:
        return f"epsilon {shown}{at}: too large to protect anybody"
    factor = format_number(Fraction(math.exp(epsilon)) * (1 - hair), digits=4, rounding=rounding)
    return f"epsilon {shown}{at}: nobody makes a result more than {factor} times as likely"


def plain(guarantee: Guarantee, *, rounding: LastDigit = LastDigit.UP) -> dict[str, float | str]:
    """Return a guarantee for machines: its numbers as floats rounded to the safe side, its notion and its relation.

    >>> from discreet.privacy import PureDP
    >>> plain(PureDP(0.5))
    {'notion': 'PureDP', 'relation': 'unstated', 'epsilon': 0.5}
    """
    safe = round_down if rounding is LastDigit.DOWN else round_up
    names = [field.name for field in fields(guarantee) if field.name != "relation"]  # type: ignore[arg-type]
    numbers = {name: safe(Fraction(getattr(guarantee, name))) for name in names}
    return {"notion": type(guarantee).__name__, "relation": guarantee.relation.value, **numbers}


def _numbers(guarantee: Guarantee) -> dict[str, int | float | Fraction]:
    """Return the parameters, without a delta of 0."""
    names = [field.name for field in fields(guarantee) if field.name != "relation"]  # type: ignore[arg-type]
    values = {name: getattr(guarantee, name) for name in names}
    return {name: value for name, value in values.items() if name != "delta" or value}


def _written(value: float | Fraction, rounding: LastDigit) -> str:
    # an exact number of a few digits is meant as it is written: a float one step above 0.1 is 0.1 to people
    exact = Fraction(repr(value)) if isinstance(value, float) else Fraction(value)
    return format_number(exact, digits=_DIGITS, rounding=rounding)
