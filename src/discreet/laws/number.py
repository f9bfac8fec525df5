"""Public numbers, exactly: what a caller may pass as a scale, an epsilon or a center, turned into a rational."""

from __future__ import annotations

import math
import numbers
from fractions import Fraction

import numpy as np

from discreet.errors import ParameterError

Number = int | float | Fraction


def exact_rational(value: object, *, name: str) -> Fraction:
    """Return the exact value of an int, a finite float or a Fraction; refuse everything else by name.

    >>> exact_rational(0.1, name="epsilon") == Fraction(
    ...     1, 10
    ... )  # 0.1 is not one tenth, and we do not pretend
    False
    """
    exact = rational_or_none(value)
    if exact is not None:
        return exact
    if isinstance(value, bool | np.bool_):
        raise ParameterError(f"{name} must be a number, not a truth value", parameter=name)
    if isinstance(value, float | np.floating) and not isinstance(value, np.longdouble):
        raise ParameterError(f"{name} must be finite, got {float(value)}", parameter=name)
    kind = type(value).__name__
    raise ParameterError(f"{name} must be an int, a float or a fractions.Fraction, not {kind}", parameter=name)


def rational_or_none(value: object) -> Fraction | None:
    """Return the exact value of an int, a finite float or a Fraction, None for anything else."""
    if isinstance(value, bool | np.bool_ | np.longdouble | np.timedelta64):  # numpy calls a span of time an integer
        return None
    if isinstance(value, Fraction):
        return value
    if isinstance(value, numbers.Integral):
        return Fraction(int(value))
    if isinstance(value, float | np.floating) and math.isfinite(value):
        return Fraction(float(value))
    return None


def positive_rational(value: object, *, name: str) -> Fraction:
    """Return the exact value of a positive finite number."""
    exact = exact_rational(value, name=name)
    if exact <= 0:
        raise ParameterError(f"{name} must be greater than 0", parameter=name)
    return exact


def round_up(value: Fraction) -> float:
    """Return the least float that is at least the given rational (infinity beyond the largest float)."""
    top, bottom = value.numerator, value.denominator
    try:
        nearest = top / bottom  # correctly rounded
    except OverflowError:
        return math.inf if value > 0 else -float(np.finfo(np.float64).max)
    first, second = nearest.as_integer_ratio()
    return nearest if first * bottom >= top * second else math.nextafter(nearest, math.inf)


def round_down(value: Fraction) -> float:
    """Return the greatest float that is at most the given rational."""
    return -round_up(-value)
