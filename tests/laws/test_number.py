"""A public number is the rational it stands for, or refused by name."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.laws.number import exact_rational, positive_rational, round_down, round_up

NOT_NUMBERS = [
    None, "1", "", b"1", True, False, np.bool_(True), 1j, Decimal(1), [1], (1,), {}, object(), np.array([1]),
    np.array(1.0), np.longdouble(1), np.datetime64("2020-01-01"), slice(1), math,
]  # fmt: skip
NOT_FINITE = [math.nan, math.inf, -math.inf, np.float32("nan"), np.float16("inf"), np.float64("-inf")]


def kind(value):
    return type(value).__name__


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.fractions())
def test_ints_floats_and_fractions_are_taken_exactly(value):
    assert exact_rational(value, name="x") == Fraction(value)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_narrow_floats_are_taken_exactly(value):
    assert exact_rational(np.float32(value), name="x") == Fraction(value)


@pytest.mark.parametrize(
    "value", [np.int8(-128), np.uint64(2**64 - 1), np.float16(0.1), np.float64(5e-324), 10**5000], ids=kind
)
def test_numpy_scalars_and_huge_integers_are_taken_exactly(value):
    assert exact_rational(value, name="x") == Fraction(value.item() if isinstance(value, np.generic) else value)


@pytest.mark.parametrize("value", [*NOT_NUMBERS, *NOT_FINITE], ids=kind)
def test_everything_else_is_refused_by_name(value):
    for convert in (exact_rational, positive_rational):
        with pytest.raises(ParameterError, match="color") as refusal:
            convert(value, name="color")
        assert refusal.value.parameter == "color"


@pytest.mark.parametrize("value", [0, -0.0, 0.0, -1, -5e-324, Fraction(-1, 10**400), np.int64(-3)], ids=kind)
def test_what_is_not_positive_is_refused_where_positive_is_needed(value):
    with pytest.raises(ParameterError, match="greater than 0") as refusal:
        positive_rational(value, name="scale")
    assert refusal.value.parameter == "scale"


@pytest.mark.parametrize("value", [-(10**5000), Fraction(-(10**5000), 3)], ids=["int", "fraction"])
def test_a_number_too_long_to_print_is_refused_like_any_other(value):
    with pytest.raises(ParameterError):
        positive_rational(value, name="scale")


@given(st.fractions() | st.builds(Fraction, st.integers(-(2**2000), 2**2000), st.integers(1, 2**1200)))
def test_rounding_goes_to_the_nearest_float_on_its_side(value):
    low, high = round_down(value), round_up(value)
    if math.isfinite(low):
        assert Fraction(low) <= value
        after = math.nextafter(low, math.inf)
        assert math.isinf(after) or Fraction(after) > value
    if math.isfinite(high):
        assert Fraction(high) >= value
        before = math.nextafter(high, -math.inf)
        assert math.isinf(before) or Fraction(before) < value


def test_rounding_beyond_the_floats_goes_to_infinity_on_one_side_and_stays_finite_on_the_other():
    huge = Fraction(10**400)
    largest = float(np.finfo(np.float64).max)
    assert (round_up(huge), round_down(huge)) == (math.inf, largest)
    assert (round_up(-huge), round_down(-huge)) == (-largest, -math.inf)


def test_rounding_below_the_floats_goes_to_zero_or_the_least_float():
    tiny = Fraction(1, 10**400)
    assert (round_down(tiny), round_up(tiny)) == (0.0, 5e-324)
    assert (round_down(-tiny), round_up(-tiny)) == (-5e-324, 0.0)
