"""What a guarantee alone says: its bounds hold for mechanisms that keep it."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.privacy.guarantees.curves import delta_of, epsilon_of, tradeoff_of, worst_pair
from discreet.privacy.guarantees.guarantee import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP
from discreet.privacy.pairs.worst_pairs import NormalPair
from tests.privacy.reference import at_most, ball, hockey_stick, law, miss, mixture, pairs, randomized_response, renyi


def leaking(p, q, delta):
    """Return the pair that first leaks, with probability delta, which law it is."""
    return mixture(delta, [*p, ball(0), ball(0)], [ball(0)] * len(p) + law(1, 0)), mixture(
        delta, [*q, ball(0), ball(0)], [ball(0)] * len(q) + law(0, 1)
    )


@pytest.mark.theorem("delta_of.privacy", "epsilon_of.privacy")
@given(st.floats(0.01, 4.0), st.floats(0.0, 0.3), st.floats(0.0, 5.0), st.floats(0.0, 1.0))
def test_a_leaking_release_keeps_what_its_approximate_zcdp_says(epsilon, own, level, share):
    guarantee = ZCDP(PureDP(epsilon).to_zcdp().rho, own)
    p, q = leaking(*randomized_response(epsilon), own)
    assert at_most(hockey_stick(p, q, level), delta_of(guarantee, Fraction(level)))
    wanted = Fraction(own) + (1 - Fraction(own)) * Fraction(share)
    found = epsilon_of(guarantee, wanted)
    if math.isfinite(found):
        assert at_most(hockey_stick(p, q, found), wanted)


@pytest.mark.theorem("tradeoff_of.privacy")
@given(pairs(), st.floats(1.5, 30.0), st.floats(0.0, 1.0))
def test_the_trade_off_of_a_renyi_guarantee_holds_for_a_pair_that_keeps_it(pair, alpha, size):
    p, q = pair
    largest = max(float(renyi(p, q, alpha)), float(renyi(q, p, alpha)), 1e-12)
    guarantee = RenyiDP(alpha, largest * (1 + 1e-12))
    assert at_most(ball(tradeoff_of(guarantee, size)), miss(p, q, size))


@pytest.mark.theorem("tradeoff_of.privacy")
@given(st.floats(0.1, 4.0), st.floats(0.0, 1.0))
def test_the_trade_off_of_zcdp_is_below_the_normal_one_and_above_nothing(mu, size):
    found = tradeoff_of(ZCDP(Fraction(mu) ** 2 / 2), size)
    assert 0.0 <= found <= NormalPair(mu).tradeoff(size).upper
    if mu < 1 and 0.05 < size < 0.5:
        assert found > 0.05


@pytest.mark.parametrize("guarantee", [ZCDP(1e300), ZCDP(1e-300), RenyiDP(1.0001, 1e5), ZCDP(1, 1), ZCDP(0.5, 0.9)])
def test_the_trade_off_survives_extreme_guarantees(guarantee):
    for size in (0.0, 5e-324, 0.5, 1.0):
        assert 0.0 <= tradeoff_of(guarantee, size) <= 1.0 - size


def test_only_guarantees_with_a_worst_pair_have_one():
    assert worst_pair(PureDP(1)) is not None
    assert worst_pair(ApproxDP(1, 0.1)) is not None
    assert worst_pair(GaussianDP(1)) is not None
    assert worst_pair(ZCDP(1)) is None
    assert worst_pair(RenyiDP(2, 1)) is None
