"""The coin of a report is rounded down: its odds never exceed e^epsilon, and hardly fall below."""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import MissingParameter, ParameterError
from discreet.local.protocol.rational_coin import COIN_TOTAL, coin, local_epsilon, toss
from discreet.randomness.keystream import _swapped_source
from discreet.randomness.rigor import ball, precision

epsilons = st.fractions(min_value=Fraction(1, 1024), max_value=Fraction(20), max_denominator=1 << 60)
sizes = st.integers(1, 1 << 20)


def is_within(numerator: int, epsilon: Fraction, inside: int, outside: int) -> bool:
    """Decide ln of the odds <= epsilon with a thousand bits."""
    with precision(1000):
        odds = Fraction(numerator * outside, (COIN_TOTAL - numerator) * inside)
        return bool(ball(odds).log() <= ball(epsilon))


@given(epsilons, sizes, sizes)
def test_the_coin_is_the_largest_that_keeps_the_guarantee(epsilon: Fraction, inside: int, outside: int) -> None:
    try:
        numerator = coin(epsilon, inside, outside)
    except ParameterError:
        return
    assert 0 < numerator < COIN_TOTAL
    assert is_within(numerator, epsilon, inside, outside)
    assert not is_within(numerator + 1, epsilon, inside, outside)


def test_outputs_that_a_64_bit_coin_cannot_tell_apart_are_refused() -> None:
    with pytest.raises(ParameterError, match="too small for this number of outputs"):
        coin(Fraction(1, 1024), 1, 1 << 70)
    # the coin is 1, and so are the odds of each output
    with pytest.raises(ParameterError, match="too small for this number of outputs"):
        coin(Fraction(1, 1024), 1, COIN_TOTAL - 1)


@pytest.mark.parametrize(
    "epsilon",
    [
        0,
        -1,
        21,
        1e-4,
        float("nan"),
        float("inf"),
        True,
        "1",
        1j,
        [1],
        np.longdouble(1),
        Fraction(1 << 1030, (1 << 1030) + 1),
    ],
)
def test_an_epsilon_that_serves_nobody_is_refused(epsilon: Any) -> None:
    with pytest.raises(ParameterError):
        local_epsilon(epsilon)


def test_epsilon_is_never_defaulted() -> None:
    with pytest.raises(MissingParameter):
        local_epsilon(None)


def test_a_float_is_taken_as_it_is_written() -> None:
    assert local_epsilon(0.1) == Fraction(1, 10)
    assert local_epsilon(np.float32(0.5)) == Fraction(1, 2)


def test_a_word_falls_below_the_coin_or_it_does_not() -> None:
    def fives(out: memoryview) -> None:
        out[:] = (5).to_bytes(8, sys.byteorder) * (len(out) // 8)

    with _swapped_source(fives):
        assert not toss(5, 3).any()
        assert toss(6, 3).all()
        assert toss(COIN_TOTAL - 1, 100).all()


def test_tosses_compare_one_word_with_the_coin() -> None:
    assert toss(1 << 63, 0).tolist() == []
    assert not toss(0, 1000).any()
    # the mean of a million fair tosses is off by more than 0.0035 with probability below 2 exp(-24.5) = 5e-11
    assert abs(toss(1 << 63, 1_000_000).mean() - 0.5) < 0.0035
