"""Outward rounding: the bounds hold, and are as close as floats get."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.privacy.numbers import bounds, downward, normal_upper_tail, number, root_upward, upward

floats = st.floats(-700.0, 700.0)


@given(floats)
def test_the_exponential_lies_between_neighboring_floats(value):
    low, high = bounds(lambda: number(value).exp())
    truth = flint.arb(value).exp()
    assert flint.arb(low) <= truth <= flint.arb(high)
    assert high <= math.nextafter(math.nextafter(low, math.inf), math.inf)


@given(st.fractions(), st.fractions())
def test_sums_of_rationals_are_the_nearest_floats_on_both_sides(first, second):
    low, high = bounds(lambda: number(first) + number(second))
    assert Fraction(low) <= first + second <= Fraction(high)
    assert high <= math.nextafter(math.nextafter(low, math.inf), math.inf)


@given(st.floats(1e-150, 1e-3))
def test_cancellation_is_met_with_more_precision(tiny):
    low, high = bounds(lambda: (number(tiny).exp() - 1) / number(tiny) - 1)
    assert 0.0 < low <= high <= low * (1 + 1e-15)


def test_what_exceeds_the_floats_is_bounded_by_the_largest_and_by_infinity():
    assert bounds(lambda: number(1000).exp()) == (sys.float_info.max, math.inf)
    assert bounds(lambda: -number(1000).exp()) == (-math.inf, -sys.float_info.max)
    assert bounds(lambda: 1 / number(1000).exp()) == (0.0, 5e-324)


def test_what_is_not_a_number_is_bounded_by_nothing():
    assert bounds(lambda: 1 + number(-1).log()) == (-math.inf, math.inf)


def test_upward_and_downward_are_the_two_ends():
    ends = bounds(lambda: number(2).log())
    assert (downward(lambda: number(2).log()), upward(lambda: number(2).log())) == ends


def test_the_normal_tail_is_the_known_one():
    low, high = bounds(lambda: normal_upper_tail(number(Fraction(3))))
    assert low <= 0.0013498980316300946 <= high


@given(st.fractions(min_value=0))
def test_the_root_is_the_least_float_whose_square_is_enough(value):
    root = root_upward(value)
    assert Fraction(root) ** 2 >= value
    assert root == 0.0 or Fraction(math.nextafter(root, 0.0)) ** 2 < value


@pytest.mark.parametrize("value", [Fraction(0.1) ** 2, Fraction(5e-324) ** 2, Fraction(sys.float_info.max) ** 2])
def test_the_root_of_a_square_is_exact(value):
    assert Fraction(root_upward(value)) ** 2 == value
