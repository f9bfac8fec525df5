"""Sums are exact to the last unit, and as cheap after a million numbers as after one."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.privacy.adaptive.tally import Tally

floats = st.floats(0.0, 1e300, allow_subnormal=True).map(Fraction)
shares = st.fractions(0, 10, max_denominator=60)


def added(amounts, cap=Fraction(1)):
    tally = Tally.towards(cap)
    for amount in amounts:
        tally = tally.plus(amount)
    return tally


@given(st.lists(floats | shares | floats.map(lambda x: x * x), max_size=30))
def test_floats_their_squares_and_small_fractions_add_up_exactly(amounts):
    total = sum(amounts, Fraction(0))
    tally = added(amounts)
    assert tally.total == total
    assert tally.at_most(total)
    assert not tally.plus(Fraction(5e-324)).at_most(total)


@given(st.lists(shares, max_size=10), shares, st.fractions(0, 100, max_denominator=60))
def test_room_counts_how_often_an_amount_still_goes_in(amounts, amount, cap):
    tally = added(amounts, cap)
    room = tally.room(amount, cap)
    if amount == 0:
        assert room is None
        return
    for _ in range(min(room, 50)):
        tally = tally.plus(amount)
        assert tally.at_most(cap)
    if room <= 50:
        assert not tally.plus(amount).at_most(cap)


def test_a_subnormal_number_counts_beside_a_huge_one():
    tally = added([Fraction(1e308), Fraction(5e-324), Fraction(5e-324)], Fraction(1e308))
    assert not tally.at_most(Fraction(1e308))
    assert tally.total - Fraction(1e308) == 2 * Fraction(5e-324)


def test_denominators_without_end_are_rounded_up_and_stay_small():
    primes = [n for n in range(3, 3000) if all(n % k for k in range(2, math.isqrt(n) + 1))]
    tally = added([Fraction(1, prime) for prime in primes])
    exact = sum(Fraction(1, prime) for prime in primes)
    assert 0 < tally.total - exact < Fraction(len(primes), 2**2148)
    assert tally.odd.bit_length() <= 512
    assert tally.units.bit_length() < 2148 + 512 + 8
    finest = added([Fraction(1, 2**5000)])
    assert finest.total == Fraction(1, 2**2148)


def test_a_cap_with_any_denominator_is_reached_exactly():
    cap = Fraction(10**400, 10**400 + 1)
    assert added([cap], cap).at_most(cap)
    thirds = Fraction(cap.numerator // 4 + 1, cap.denominator)
    assert added([thirds] * 3, cap).at_most(cap)
    assert not added([thirds] * 4, cap).at_most(cap)


def test_less_than_nothing_is_refused():
    with pytest.raises(ParameterError, match="at least 0"):
        Tally().plus(Fraction(-1, 10**9))
