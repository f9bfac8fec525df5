"""Decimals as written: a float in a price or a promise is the shortest decimal that it prints as, 0.1 one tenth.

People write 0.1 and mean one tenth; the nearest binary fraction is a little more, and ten of them would not fit into 1.
So the reading is the same for whoever asks, whoever charges and whoever draws the noise, and it is made here alone.

Lemma (order). Let W(f) be the shortest decimal that rounds to the float f. If f < g then W(f) < W(g). Proof: W(f)
rounds to f and W(g) to g, and rounding to the nearest float does not decrease. So a number that was computed is
promised by the least float whose decimals are not below it: `written_up`, `promised`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.laws.number import Number, exact_rational, round_down, round_up
from discreet.privacy.rounding import root_upward, upward
from discreet.randomness.rigour import Ball, ball, precision

if TYPE_CHECKING:
    from discreet.privacy.guarantee import Guarantee

_PRECISION = 384
_WHOLE = 2**53
_LARGEST = Fraction(sys.float_info.max)


def printed(value: object) -> object:
    """Return a number of numpy's short floats as the float with the same decimals, and anything else as it is."""
    return (
        float(str(value)) if isinstance(value, np.floating) and not isinstance(value, float | np.longdouble) else value
    )


def written(value: Number) -> Fraction:
    """Return a finite number exactly, a float as its decimals say.

    >>> written(0.1), written(2.5), written(Fraction(1, 3))
    (Fraction(1, 10), Fraction(5, 2), Fraction(1, 3))
    """
    shown = printed(value)
    return _decimals(repr(float(shown))) if isinstance(shown, float) else Fraction(value)


@lru_cache(maxsize=4096)
def _decimals(text: str) -> Fraction:
    return Fraction(text)


def positive_price(value: object, *, name: str) -> Fraction:
    """Return a price, or a part of one, exactly as it is written: an int, a finite float or a Fraction above 0.

    >>> positive_price(0.1, name="epsilon")
    Fraction(1, 10)
    """
    exact_rational(value, name=name)
    exact = written(value)  # type: ignore[arg-type]  # checked above
    if exact <= 0:
        raise ParameterError(f"{name} must be greater than 0", parameter=name)
    return exact


def settled(value: Number) -> Number:
    """Return a number of a promise so that its exact value is the one meant: a Fraction where a float is not.

    >>> settled(0.5), settled(0.1)
    (0.5, Fraction(1, 10))
    """
    if not isinstance(value, float):
        return value
    exact = written(value)
    return value if exact == Fraction(value) else exact


def written_up(value: Fraction) -> float:
    """Return the least float whose decimals are at least the rational: what may be promised for it.

    >>> written_up(Fraction(3, 10)), written_up(Fraction(1, 3)) > Fraction(1, 3)
    (0.3, True)
    """
    found = round_up(value)
    if math.isinf(found):
        return found
    below = math.nextafter(found, -math.inf)
    if math.isfinite(below) and written(below) >= value:
        return below
    return found if written(found) >= value else math.nextafter(found, math.inf)


def promised(formula: Callable[[], Ball]) -> float:
    """Return a float whose decimals are at least what a formula stands for, at most one float above `upward`."""
    found = upward(formula)
    if math.isinf(found) or written(found) >= Fraction(found):
        return found
    with precision(_PRECISION):
        enough = bool(formula() <= ball(written(found)))
    return found if enough else math.nextafter(found, math.inf)


def promised_root(value: Fraction) -> float:
    """Return the least float found whose decimals, squared, are at least the rational."""
    found = root_upward(value)
    return found if written(found) ** 2 >= value else math.nextafter(found, math.inf)


def written_down(value: Fraction) -> float:
    """Return the greatest float whose decimals are at most the rational: what may be spent of it."""
    found = round_down(value)
    if math.isinf(found):
        return found
    above = math.nextafter(found, math.inf)
    if math.isfinite(above) and written(above) <= value:
        return above
    return found if written(found) <= value else math.nextafter(found, -math.inf)


def as_written(promise: Guarantee) -> Guarantee:
    """Return a promise whose floats are taken as they are written, 0.3 as three tenths."""
    numbers = {one.name: getattr(promise, one.name) for one in fields(promise)}  # type: ignore[arg-type]
    exact = {name: written(value) for name, value in numbers.items() if isinstance(value, float)}
    return replace(promise, **exact) if exact else promise  # type: ignore[type-var]


def as_promised(value: float) -> float:
    """Return the float to promise for a computed one that is an upper bound as a binary fraction; infinity stays."""
    return written_up(Fraction(value)) if math.isfinite(value) else value


def plainly(value: Fraction) -> Number:
    """Return a rational as people write it: an int or a float where that is the same number, else as it is.

    >>> plainly(Fraction(2)), plainly(Fraction(1, 10)), plainly(Fraction(1, 3))
    (2, 0.1, Fraction(1, 3))
    """
    if value.denominator == 1 and abs(value) < _WHOLE:
        return value.numerator
    nearest = round_up(value) if abs(value) > _LARGEST else float(value)
    return nearest if math.isfinite(nearest) and written(nearest) == value else value
