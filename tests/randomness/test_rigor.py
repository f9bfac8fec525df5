"""Balls enclose, their ends are rounded outward, and a decision never depends on the bits it did not need."""

from __future__ import annotations

import math
import threading
import time
from fractions import Fraction

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.randomness.rigor import (
    ball,
    ceil_of_upper,
    floor_of_lower,
    lower_float,
    precision,
    uniform_is_below,
    upper_float,
)
from tests.randomness.sources import WORD, Constant, Script, in_child, swapped

RATIONALS = st.fractions() | st.builds(Fraction, st.integers(-(2**300), 2**300), st.integers(1, 2**300))


@given(RATIONALS, st.integers(10, 400))
def test_a_ball_around_a_rational_contains_it(value, bit_count):
    with precision(bit_count):
        assert ball(value).contains(flint.fmpq(value.numerator, value.denominator))


@given(RATIONALS, st.integers(10, 400))
def test_integer_ends_lie_outside_the_ball(value, bit_count):
    with precision(bit_count):
        enclosed = ball(value)
        low, high = floor_of_lower(enclosed), ceil_of_upper(enclosed)
    assert low <= value <= high


@given(st.fractions(-(10**6), 10**6))
def test_integer_ends_are_as_tight_as_they_can_be_at_high_precision(value):
    with precision(400):
        enclosed = ball(value)
        low, high = floor_of_lower(enclosed), ceil_of_upper(enclosed)
    assert high - low <= 2
    if value.denominator == 1:
        assert low == high == value


@given(RATIONALS, st.integers(10, 400))
def test_float_ends_lie_outside_the_ball(value, bit_count):
    with precision(bit_count):
        low, high = lower_float(ball(value)), upper_float(ball(value))
    assert low < value < high


@given(st.fractions(Fraction(1, 10**9), 10**9))
def test_float_ends_of_a_tight_ball_are_a_few_units_apart(value):
    with precision(200):
        low, high = lower_float(ball(value)), upper_float(ball(value))
    assert high - low <= 3 * math.ulp(float(value))


def test_numbers_below_the_least_float_are_enclosed_too():
    with precision(64):
        tiny = flint.arb(2) ** -5000
        assert lower_float(tiny) <= 0.0 < upper_float(tiny)


def test_precision_is_restored_afterwards_and_after_an_error():
    before = flint.ctx.prec
    with precision(777):
        assert flint.ctx.prec == 777
        with precision(99):
            assert flint.ctx.prec == 99
        assert flint.ctx.prec == 777
    with pytest.raises(KeyError), precision(500):
        raise KeyError
    assert flint.ctx.prec == before


def test_one_thread_at_a_time_works_with_balls():
    seen = []

    def compute(bit_count):
        for _ in range(200):
            with precision(bit_count):
                flint.arb(2).log()
                seen.append(flint.ctx.prec == bit_count)

    threads = [threading.Thread(target=compute, args=(100 + 50 * index,)) for index in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 1200
    assert all(seen)


def test_a_child_forked_while_another_thread_computes_can_compute():
    stop = threading.Event()
    holding = threading.Event()

    def busy():
        while not stop.is_set():
            with precision(64):
                holding.set()
                time.sleep(0.05)

    def compute():
        with precision(64):
            return str(flint.arb(2))

    thread = threading.Thread(target=busy)
    thread.start()
    try:
        holding.wait()
        assert in_child(compute) is not None
    finally:
        stop.set()
        thread.join()


def exactly(value: Fraction):
    """Enclose a rational threshold as tightly as integers can."""
    return lambda bit_count: (math.floor(value * 2**bit_count), math.ceil(value * 2**bit_count))


def loosely(value: Fraction):
    """Enclose a rational threshold with room to spare."""
    return lambda bit_count: (math.floor(value * 2**bit_count) - 2, math.ceil(value * 2**bit_count) + 2)


@pytest.mark.parametrize("enclose", [exactly, loosely])
@given(threshold=st.fractions(0, 1), prefix=st.integers(0, WORD - 1), later=st.integers(0, WORD - 1))
def test_the_answer_is_that_of_the_whole_uniform(enclose, threshold, prefix, later):
    uniform = (prefix + Fraction(later, WORD - 1)) / WORD  # the word `later` for ever
    if uniform == threshold:
        return
    with swapped(Constant(later)):
        assert uniform_is_below(prefix, 64, enclose(threshold)) == (uniform < threshold)


@given(st.fractions(0, 1), st.integers(-3, 3), st.integers(0, WORD - 1))
def test_the_answer_is_right_next_to_the_threshold(threshold, offset, later):
    prefix = min(max(math.floor(threshold * WORD) + offset, 0), WORD - 1)
    uniform = (prefix + Fraction(later, WORD - 1)) / WORD
    if uniform == threshold:
        return
    with swapped(Constant(later)):
        assert uniform_is_below(prefix, 64, exactly(threshold)) == (uniform < threshold)


def test_no_bits_are_drawn_where_the_prefix_decides():
    drawn = []

    def refuse(out):
        drawn.append(len(out))
        out[:] = bytes(len(out))

    with swapped(refuse):
        assert uniform_is_below(1, 2, exactly(Fraction(3, 4)))
        assert not uniform_is_below(3, 2, exactly(Fraction(3, 4)))
    assert drawn == []


def test_an_empty_prefix_is_filled_from_the_source():
    with swapped(Script([WORD // 2])):
        assert uniform_is_below(0, 0, exactly(Fraction(2, 3)))
    with swapped(Script([WORD - 1])):
        assert not uniform_is_below(0, 0, exactly(Fraction(2, 3)))
