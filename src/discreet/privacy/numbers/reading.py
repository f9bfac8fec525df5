"""Numbers as people give them: checked by name, 0.1 read as one tenth, what was computed never read below itself.

The nearest binary fraction to 0.1 is a little more than one tenth, and ten of them would not fit into 1. So a number is
read here alone, in the same way for a question, for the charge and for the noise.

A price is read by its decimals. The float of a guarantee with at most 15 digits is read so too; one with more digits
was computed and rounded up as a binary fraction, so it is never read below that. Floats of more than 120 decimal places
are taken for what they are in binary. With W the first reading and R the second:

Lemma (order). W <= R, and if f < g are floats then R(f) < R(g). Proof: let m be the middle between f and the next
float. W(f) rounds to f, so W(f) <= m, and f < m: hence R(f) <= m. W(g) rounds to g, so m <= W(g) <= R(g). Both ends are
met only if W(f) = m = W(g), and one decimal does not round to two floats.
So noise drawn for the price W(f) keeps the guarantee R(f), and what was computed is guaranteed by `written_up`.
"""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

import numpy as np

from discreet.errors import ParameterError
from discreet.laws.number import Number, exact_rational, round_down, round_up

Notion = TypeVar("Notion")  # a dataclass of numbers; guarantees are a floor above

_DIGITS = 15  # a decimal of this many digits is told apart from its neighbors by every float in the normal range
_FINEST = 10**120  # nobody means decimals of this many places, and sums of them would never end
_WHOLE = 2**53
LARGEST = Fraction(sys.float_info.max)
_SURELY_FLOAT = 1 << 1000


def plain(value: object, *, name: str) -> Number:
    """Return a finite number as a Python int, float or Fraction of exactly the same value.

    >>> plain(0.25, name="epsilon"), plain(3, name="epsilon")
    (0.25, 3)
    """
    kind = type(value)
    if (kind is float and math.isfinite(value)) or (kind is int and abs(value) < _SURELY_FLOAT):  # type: ignore[arg-type]
        return value + 0  # type: ignore[operator]  # minus zero is zero
    exact = exact_rational(value, name=name)
    if abs(exact) > LARGEST:
        raise ParameterError(f"{name} must not exceed the largest float, about 1.8e308", parameter=name)
    if isinstance(value, Fraction):
        return exact
    return int(exact) if isinstance(value, numbers.Integral) else float(exact)


def nonnegative(value: object, *, name: str) -> Number:
    """Return a finite number that is at least 0 (minus zero is zero)."""
    number = plain(value, name=name)
    if number < 0:
        raise ParameterError(f"{name} must be at least 0, got {number}", parameter=name)
    return number


def positive(value: object, *, name: str) -> Number:
    """Return a finite number greater than 0."""
    number = plain(value, name=name)
    if number <= 0:
        raise ParameterError(f"{name} must be greater than 0, got {number}", parameter=name)
    return number


def probability(value: object, *, name: str) -> Number:
    """Return a number in [0, 1]."""
    number = plain(value, name=name)
    if not 0 <= number <= 1:
        raise ParameterError(f"{name} is a probability and must lie in [0, 1], got {number}", parameter=name)
    return number


def renyi_order(value: object, *, name: str) -> Number:
    """Return a finite number greater than 1."""
    number = plain(value, name=name)
    if number <= 1:
        raise ParameterError(
            f"{name} is a Renyi order and must be greater than 1, got {number}; for order infinity use PureDP",
            parameter=name,
        )
    return number


def whole(value: object, *, name: str) -> int:
    """Return an integer of at least 1; a float is refused even when it is whole."""
    number = plain(value, name=name)
    if not isinstance(number, int):
        raise ParameterError(f"{name} must be a whole number, got {number}", parameter=name)
    if number < 1:
        raise ParameterError(f"{name} must be at least 1, got {number}", parameter=name)
    return number


def printed(value: object) -> object:
    """Return one of numpy's short floats as the float with the same decimals, and any other value unchanged."""
    short = isinstance(value, np.floating) and not isinstance(value, float | np.longdouble)
    return float(str(value)) if short else value


def decimals(value: Number) -> Fraction:
    """Return a finite number exactly, a float as its decimals say: how a price is read.

    >>> decimals(0.1), decimals(2.5), decimals(Fraction(1, 3))
    (Fraction(1, 10), Fraction(5, 2), Fraction(1, 3))
    """
    shown = printed(value)
    return _read(repr(float(shown)))[0] if isinstance(shown, float) else _rational(value)


def written(value: Number) -> Fraction:
    """Return a finite number of a guarantee exactly: a float by its decimals if they are few, else never below itself.

    >>> written(0.1), written(1 / 3) == Fraction(1 / 3)
    (Fraction(1, 10), True)
    """
    if type(value) is float:  # a budget reads hundreds of thousands of them
        return _read(repr(value))[1]
    if type(value) is Fraction:
        return value
    shown = printed(value)
    return _read(repr(float(shown)))[1] if isinstance(shown, float) else _rational(value)


def _rational(value: Number) -> Fraction:
    """Return a number that is no float exactly; an integer of numpy would stay one inside, and wrap around."""
    return Fraction(int(value)) if isinstance(value, np.integer) else Fraction(value)


@lru_cache(maxsize=4096)
def _read(text: str) -> tuple[Fraction, Fraction]:
    """Return both readings of the shortest decimals of a float."""
    shown, _, exponent = text.partition("e")
    before, _, after = shown.partition(".")
    digits, places = before + after, len(after) - int(exponent or 0)
    exact = Fraction(int(digits), 10**places) if places > 0 else Fraction(int(digits) * 10**-places)
    if exact.denominator > _FINEST:
        binary = Fraction(float(text))
        return binary, binary
    few = len(digits.lstrip("-").strip("0")) <= _DIGITS
    return exact, exact if few else max(exact, Fraction(float(text)))


def positive_price(value: object, *, name: str) -> Fraction:
    """Return a price, or a part of one, exactly as it is written: an int, a finite float or a Fraction above 0.

    >>> positive_price(0.1, name="epsilon")
    Fraction(1, 10)
    """
    exact_rational(value, name=name)
    exact = decimals(value)  # type: ignore[arg-type]  # checked above
    if exact <= 0:
        raise ParameterError(f"{name} must be greater than 0", parameter=name)
    return exact


def written_up(value: Fraction) -> float:
    """Return the least float that, in a guarantee, is read as at least the rational: what may be guaranteed for it.

    >>> written_up(Fraction(3, 10)), written_up(Fraction(1, 3)) > Fraction(1, 3)
    (0.3, True)
    """
    return _first_written(value, round_up(value), +1)


def written_down(value: Fraction) -> float:
    """Return the greatest float that, in a guarantee, is read as at most the rational: what may be spent of it."""
    return _first_written(value, round_down(value), -1)


def _first_written(value: Fraction, start: float, direction: int) -> float:
    """Return the nearest float that is read on the outer side of the rational; the start is at most one place off."""
    if math.isinf(start):
        return start
    inner = math.nextafter(start, -direction * math.inf)
    if math.isfinite(inner) and (written(inner) - value) * direction >= 0:
        return inner
    return start if (written(start) - value) * direction >= 0 else math.nextafter(start, direction * math.inf)


def as_written(guarantee: Notion) -> Notion:
    """Return a guarantee whose floats are taken as they are written, 0.3 as three tenths."""
    return _with_floats(guarantee, written)


def as_computed(guarantee: Notion) -> Notion:
    """Return a guarantee whose floats were computed, each rounded up as a binary fraction, for all who read it."""
    return _with_floats(guarantee, lambda value: written_up(Fraction(value)))


def _with_floats(guarantee: Notion, read: Callable[[float], Number]) -> Notion:
    numbers = {one.name: getattr(guarantee, one.name) for one in fields(guarantee)}  # type: ignore[arg-type]
    changed = {name: read(value) for name, value in numbers.items() if isinstance(value, float)}
    return replace(guarantee, **changed) if changed else guarantee  # type: ignore[type-var]


def plainly(value: Fraction) -> Number:
    """Return a rational as people write it: an int or a float where a guarantee reads that as the same number.

    >>> plainly(Fraction(2)), plainly(Fraction(1, 10)), plainly(Fraction(1, 3))
    (2, 0.1, Fraction(1, 3))
    """
    if value.denominator == 1 and abs(value) < _WHOLE:
        return value.numerator
    nearest = math.inf if abs(value) > LARGEST else float(value)
    return nearest if math.isfinite(nearest) and written(nearest) == value else value


def exactly(value: Fraction) -> Number:
    """Return a rational as an int or a float where that is the same number in binary and in decimals.

    >>> exactly(Fraction(1, 4)), exactly(Fraction(1, 10))
    (0.25, Fraction(1, 10))
    """
    plain = plainly(value)
    return plain if Fraction(plain) == value else value
