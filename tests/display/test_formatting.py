"""Numbers are rounded once, in the direction asked for, and never lose their whole part."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.display import LastDigit, format_number
from discreet.errors import ParameterError

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def read(text: str) -> Fraction:
    return Fraction(text.replace(",", ""))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (-0.0, "0"),
        (0.5, "0.5"),
        (1234567, "1,234,567"),
        (12345.6, "12,346"),
        (99999.7, "100,000"),
        (0.00001234567, "1.235e-05"),
        (1e-300, "1e-300"),
        (123456789012.5, "1.235e+11"),
        (999_999_999.9, "1,000,000,000"),
        (math.inf, "∞"),
        (-math.inf, "-∞"),
        (math.nan, "nan"),
        (Fraction(1, 3), "0.3333"),
        (np.int64(-2000), "-2,000"),
        (np.float32(0.25), "0.25"),
    ],
)
def test_numbers_are_written_as_people_read_them(value: object, text: str) -> None:
    assert format_number(value) == text


def test_whole_numbers_are_never_rounded() -> None:
    assert format_number(10**30 + 1) == f"{10**30 + 1:,}"


@given(FINITE, st.integers(1, 8))
def test_rounding_up_never_understates_and_down_never_overstates(value: float, digits: int) -> None:
    up = read(format_number(value, digits=digits, rounding=LastDigit.UP))
    down = read(format_number(value, digits=digits, rounding=LastDigit.DOWN))
    assert down <= Fraction(value) <= up


@given(FINITE, st.integers(1, 8))
def test_the_written_number_is_close_to_the_number(value: float, digits: int) -> None:
    written, exact = read(format_number(value, digits=digits)), Fraction(value)
    assert abs(written - exact) <= abs(exact) * Fraction(1, 2 * 10 ** (digits - 1))


@pytest.mark.parametrize("value", ["7", None, 1j])
def test_what_is_not_a_number_is_refused_without_showing_it(value: object) -> None:
    with pytest.raises(ParameterError, match=type(value).__name__):
        format_number(value)


def test_no_digits_at_all_is_refused() -> None:
    with pytest.raises(ParameterError, match="digits must be at least 1"):
        format_number(0.5, digits=0)
