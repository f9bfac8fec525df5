"""Numbers as people read them: a few significant digits, rounded in a stated direction."""

from __future__ import annotations

import decimal
import math
import numbers
from enum import Enum
from fractions import Fraction

from discreet.errors import ParameterError

_MOST_PLACES = 4
_MOST_WHOLE_DIGITS = 9
_MOST_BITS = 128  # of a whole number that a refusal shows


class LastDigit(Enum):
    """Where the digits that are not shown go: a price is shown rounded up, an accuracy rounded down."""

    NEAREST = decimal.ROUND_HALF_EVEN
    UP = decimal.ROUND_CEILING
    DOWN = decimal.ROUND_FLOOR


def format_number(value: object, *, digits: int = 4, rounding: LastDigit = LastDigit.NEAREST) -> str:
    """Write a number with at most this many significant digits; whole numbers are written in full.

    The value is rounded once, exactly, in the direction asked for; digits before the decimal point are never dropped.
    Very large and very small magnitudes use scientific notation.

    >>> format_number(1234567), format_number(0.123456), format_number(3.2e-9)
    ('1,234,567', '0.1235', '3.2e-09')
    >>> (
    ...     format_number(2 / 3, digits=2, rounding=LastDigit.UP),
    ...     format_number(2 / 3, digits=2, rounding=LastDigit.DOWN),
    ... )
    ('0.67', '0.66')
    """
    if digits < 1:
        raise ParameterError(f"digits must be at least 1, got {digits}", parameter="digits")
    if isinstance(value, numbers.Integral):
        return f"{int(value):,}"
    if isinstance(value, Fraction):
        return _finite(value, digits, rounding)
    if not isinstance(value, numbers.Real):
        raise ParameterError(f"a number is needed, got {type(value).__name__}", parameter="value")
    number = float(value)
    if math.isnan(number):
        return "nan"
    if math.isinf(number):
        return "∞" if number > 0 else "-∞"
    return _finite(Fraction(number), digits, rounding)


def as_stated(value: object) -> str:
    """Write a public parameter as a refusal names it: a number by itself, anything else by its type.

    Rows that stand where a number belongs are thus not shown.

    >>> (
    ...     as_stated(0),
    ...     as_stated(2.5),
    ...     as_stated(None),
    ...     as_stated([70, 20]),
    ...     as_stated("3"),
    ... )
    ('0', '2.5', 'None', 'list', 'str')
    """
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return "a number of very many digits"
    return str(value) if isinstance(value, numbers.Real) else type(value).__name__


def _finite(value: Fraction, digits: int, rounding: LastDigit) -> str:
    """Round a rational to the digits asked for and write it."""
    if value == 0:
        return "0"
    whole_digits = len(str(abs(value.numerator) // value.denominator)) if abs(value) >= 1 else 0
    if whole_digits > _MOST_WHOLE_DIGITS:
        return _scientific(_divide(value, digits, rounding))
    rounded = _divide(value, max(digits, whole_digits), rounding)
    if rounded.adjusted() < -_MOST_PLACES:
        return _scientific(rounded)
    text = f"{rounded:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _divide(value: Fraction, digits: int, rounding: LastDigit) -> decimal.Decimal:
    """Return the correctly rounded quotient; both operands are exact, so there is one rounding."""
    context = decimal.Context(prec=digits, rounding=rounding.value, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
    return context.divide(decimal.Decimal(value.numerator), decimal.Decimal(value.denominator))


def _scientific(value: decimal.Decimal) -> str:
    """Write mantissa and exponent in the form Python itself prints and reads."""
    exponent = value.adjusted()
    mantissa = f"{value.scaleb(-exponent):f}"
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}e{exponent:+03d}"
