"""What a pure guarantee costs in rho is never too little, and too much by next to nothing."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.privacy import ZCDP, ApproxDP, PureDP
from discreet.privacy.adaptive import ApproxFilter, ZCDPFilter
from discreet.privacy.adaptive.notions import _INNERMOST, _LARGEST, _LEAST, pure_price
from discreet.privacy.numbers import bounds, number

ENDS = [_LEAST, math.nextafter(_LEAST, 0), _LARGEST, math.nextafter(_LARGEST, 9), 1, Fraction(1, 3), 0.1, 2, 3.999]
epsilons = st.one_of(
    st.floats(0.0, 5.0),
    st.floats(math.log(_LEAST) - 5, 2.0).map(math.exp),
    st.fractions(0, 5, max_denominator=10**30),
    st.floats(0.0, 1e308),
    st.sampled_from(ENDS),
)


@pytest.mark.theorem("pure_price.privacy")
@given(epsilons)
def test_the_price_is_at_least_rho_and_larger_by_a_negligible_share(epsilon):
    exact = Fraction(epsilon)
    low, high = bounds(lambda: number(exact) * (number(exact) / 2).tanh())
    price = pure_price(epsilon)
    assert price >= Fraction(low)
    assert price >= Fraction(high) or not _LEAST <= epsilon <= _LARGEST
    assert price <= Fraction(high) * (1 + Fraction(4, 10**15)) or price <= Fraction(5e-324)


@pytest.mark.theorem("pure_price.privacy")
@given(st.fractions(Fraction(1, 10**9), 4, max_denominator=10**9))
def test_the_cut_fraction_rounds_tanh_up_and_by_less_than_its_share(epsilon):
    quarter, denominator = epsilon * epsilon / 4, Fraction(_INNERMOST)
    for odd in range(_INNERMOST - 2, 0, -2):
        denominator = odd + quarter / denominator
    cut = epsilon / 2 / denominator

    def share():
        return number(cut) / (number(epsilon) / 2).tanh() - 1

    low, high = bounds(share)
    assert 0 <= low <= high < 1e-15


@pytest.mark.theorem("pure_price.privacy")
def test_filters_charge_this_price_and_their_own_notion_exactly():
    session = ZCDPFilter(1, 0.5)
    session.spend(PureDP(0.5))
    session.spend(ApproxDP(Fraction(1, 4), 0.125))
    assert session.remaining == ZCDP(1 - pure_price(0.5) - pure_price(Fraction(1, 4)), 0.375)
    advanced = ApproxFilter(1, 1e-3, slack=1e-4)
    advanced.spend(ZCDP(Fraction(1, 1000)))
    assert advanced.spent == ZCDP(Fraction(1, 1000))


def test_no_epsilon_costs_nothing_and_a_huge_one_itself():
    assert pure_price(0) == pure_price(0.0) == 0
    assert pure_price(1e6) == 10**6
    assert pure_price(5e-324) == Fraction(5e-324)
