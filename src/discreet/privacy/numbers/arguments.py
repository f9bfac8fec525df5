"""Public numbers as arguments: each is checked by its name, and kept as it was given."""

from __future__ import annotations

import math
import numbers
import sys
from fractions import Fraction

from discreet.errors import ParameterError
from discreet.laws.number import Number, exact_rational

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
