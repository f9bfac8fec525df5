"""An enclosure holds its truth between two ends and gives the one that errs on the side of privacy."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.laws import Enclosure, SafeEnd

NUMBERS = st.floats(allow_nan=False)


@given(NUMBERS, NUMBERS)
def test_widening_outward_keeps_both_ends_inside(first, second):
    low, high = min(first, second), max(first, second)
    widened = Enclosure.outward(low, high, method="test")
    assert widened.lower <= low <= high <= widened.upper
    assert widened.lower <= widened.estimate <= widened.upper
    assert widened.contains(low)
    assert widened.contains(high)


@given(st.floats(-1e300, 1e300))
def test_widening_outward_moves_a_finite_end_by_one_unit(value):
    widened = Enclosure.outward(value, value, method="test")
    assert widened.lower == math.nextafter(value, -math.inf)
    assert widened.upper == math.nextafter(value, math.inf)


@given(st.floats(-1, 1))
def test_nothing_is_widened_below_the_floor(value):
    widened = Enclosure.outward(value, value, method="test", floor=0.0)
    assert widened.lower >= 0.0
    assert widened.upper >= 0.0


def test_float_gives_the_safe_end():
    assert float(Enclosure(0.1, 0.2, 0.3, "test")) == 0.3
    assert float(Enclosure(0.1, 0.2, 0.3, "test", SafeEnd.LOWER)) == 0.1


@pytest.mark.parametrize(
    "ends", [(0.2, 0.1, 0.3), (0.1, 0.4, 0.3), (math.nan, 0.1, 0.2), (0.1, math.nan, 0.2), (0.1, 0.2, math.nan)]
)
def test_ends_out_of_order_or_not_numbers_are_refused(ends):
    with pytest.raises(ParameterError):
        Enclosure(*ends, "test")


def test_the_width_of_equal_infinities_is_zero():
    assert Enclosure.exact(math.inf, method="test").width == 0.0
    assert Enclosure(0.0, 1.0, math.inf, "test").width == math.inf
    assert Enclosure(0.25, 0.5, 1.0, "test").width == 0.75


def test_an_exact_number_has_no_width():
    exact = Enclosure.exact(0.5, method="test")
    assert (exact.lower, exact.estimate, exact.upper, exact.width) == (0.5, 0.5, 0.5, 0.0)
    assert not exact.contains(math.nextafter(0.5, 1.0))


def test_an_enclosure_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        Enclosure.exact(0.5, method="test").lower = 0.0


def test_it_prints_the_guess_and_both_ends():
    assert str(Enclosure(0.25, 0.375, 0.5, "test")) == "0.375 [0.25, 0.5]"


def test_it_says_when_the_width_asked_for_was_not_met():
    wide = Enclosure(0.25, 0.375, 0.5, "test")
    assert wide.met
    assert wide.asked(0.25).met
    assert not wide.asked(0.2).met
    assert str(wide.asked(0.2)) == "0.375 [0.25, 0.5], wider than the 0.2 asked for"
    assert Enclosure.exact(math.inf, method="test").asked(1e-6).met
    assert not Enclosure(0.0, 1.0, math.inf, "test").asked(1.0).met
