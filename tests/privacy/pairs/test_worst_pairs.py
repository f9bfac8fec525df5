"""The worst pairs: their closed forms against sums over outcomes and independent quadrature."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.privacy.pairs.worst_pairs import NormalPair, PureApproxPair
from tests.privacy.reference import at_most, ball, bounded_pairs, hockey_stick, leaky_response, miss

levels = st.floats(-6.0, 12.0)
probabilities = st.floats(0.0, 1.0)


def tight(enclosure, truth, *, relative=1e-14):
    """Say whether an enclosure holds the truth and is hardly wider than floats force it to be."""
    holds = at_most(ball(enclosure.lower), truth) and at_most(truth, enclosure.upper)
    return holds and enclosure.width <= relative * max(enclosure.upper, 1e-300)


@pytest.mark.theorem("PureApproxPair.privacy")
@given(st.floats(0.0, 10.0), probabilities, levels)
def test_delta_of_the_four_point_pair_is_the_sum_over_its_outcomes(epsilon, delta, level):
    p, q = leaky_response(epsilon, delta)
    assert tight(PureApproxPair(epsilon, delta).delta(level), hockey_stick(p, q, level))


@pytest.mark.theorem("PureApproxPair.privacy")
@given(st.floats(0.0, 10.0), st.floats(0.0, 0.9), st.floats(1e-6, 1.0))
def test_the_trade_off_of_the_four_point_pair_is_neyman_and_pearsons(epsilon, delta, alpha):
    p, q = leaky_response(epsilon, delta)
    found = PureApproxPair(epsilon, delta).tradeoff(alpha)
    assert at_most(ball(found.lower), miss(p, q, alpha))
    assert at_most(miss(p, q, alpha), found.upper)
    assert found.width <= 1e-12


@pytest.mark.theorem("PureApproxPair.privacy")
@given(st.data(), st.floats(0.01, 5.0), st.floats(0.0, 5.0), st.floats(0.001, 0.999))
def test_no_pure_pair_is_worse_than_randomized_response(data, epsilon, level, alpha):
    p, q = data.draw(bounded_pairs(epsilon))
    worst = PureApproxPair(epsilon)
    assert at_most(hockey_stick(p, q, level), worst.delta(level).upper)
    assert at_most(ball(worst.tradeoff(alpha).lower), miss(p, q, alpha))


@given(st.floats(0.0, 50.0), st.floats(0.0, 0.5), probabilities)
def test_epsilon_and_delta_of_the_four_point_pair_invert_each_other(epsilon, delta, wanted):
    pair = PureApproxPair(epsilon, delta)
    found = pair.epsilon(wanted)
    if math.isinf(found.upper):
        assert wanted < delta
    else:
        assert pair.delta(found.upper).lower <= wanted
        assert pair.delta(max(found.lower - 1e-9, 0.0)).upper >= wanted or found.lower < 1e-8


@pytest.mark.parametrize("epsilon", [0, 5e-324, 1e-300, 1, 745, 747, 1e4, 1e300])
def test_the_four_point_pair_keeps_its_claim_at_every_scale(epsilon):
    pair = PureApproxPair(epsilon, 1e-9)
    assert pair.delta(epsilon).upper == 1e-9
    assert pair.epsilon(1e-9).upper == epsilon
    assert pair.epsilon(1e-10).lower == math.inf
    assert PureApproxPair(epsilon).max_loss().upper == epsilon
    assert 0.0 <= pair.tradeoff(0.5).lower <= 0.5
    assert pair.delta(math.inf).upper == 1e-9


def test_a_delta_of_one_guarantees_nothing_and_says_so():
    pair = PureApproxPair(1, 1)
    assert pair.delta(5).lower == 1.0
    assert pair.epsilon(1).upper == 0.0
    assert pair.tradeoff(0.0).upper == 0.0


@given(st.floats(0.0, 10.0), st.floats(0.0, 0.5), levels)
def test_the_tail_counts_the_outcomes_whose_loss_is_larger(epsilon, delta, level):
    p, _ = leaky_response(epsilon, delta)
    losses = [math.inf, Fraction(epsilon), -Fraction(epsilon)]
    truth = sum((mass for mass, loss in zip(p[:3], losses, strict=True) if loss > level), ball(0))
    if losses[1] == losses[2] == level:
        truth = p[0]
    assert tight(PureApproxPair(epsilon, delta).tail(level), truth)


@pytest.mark.theorem("NormalPair.privacy")
@pytest.mark.parametrize("mu", [0.1, 0.5, 1.0, 2.0, 6.0])
@pytest.mark.parametrize("level", [-1.0, 0.0, 0.3, 1.0, 4.0])
def test_delta_of_the_normal_pair_agrees_with_a_fine_histogram(mu, level):
    # the integral of max(0, p - e^level q) as exact masses of 4,000 cells: merging outcomes can only lower it
    edges = [-9.0 + step * (18.0 + mu) / 4000 for step in range(4001)]
    upper_p = [0.5 * math.erfc((edge - mu) / math.sqrt(2)) for edge in edges]
    upper_q = [0.5 * math.erfc(edge / math.sqrt(2)) for edge in edges]
    total = sum(
        max(0.0, (upper_p[i] - upper_p[i + 1]) - math.exp(level) * (upper_q[i] - upper_q[i + 1])) for i in range(4000)
    )
    found = NormalPair(mu).delta(level)
    assert total <= found.upper + 1e-12
    assert total >= found.lower - 1e-4


@pytest.mark.theorem("NormalPair.privacy")
@given(st.floats(1e-3, 8.0), st.floats(1e-6, 1 - 1e-6), st.floats(0.0, 10.0))
def test_the_normal_trade_off_lies_above_its_supporting_lines(mu, alpha, level):
    pair = NormalPair(mu)
    line = 1 - pair.delta(level).upper - math.exp(level) * alpha
    assert pair.tradeoff(alpha).upper >= line - 1e-12


@pytest.mark.theorem("NormalPair.privacy")
@given(st.floats(1e-3, 8.0), st.floats(1e-9, 1.0))
def test_the_normal_trade_off_is_its_own_inverse(mu, alpha):
    pair = NormalPair(mu)
    there = pair.tradeoff(alpha)
    if there.lower > 1e-12:
        assert pair.tradeoff(there.estimate).estimate == pytest.approx(alpha, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("mu", [0, 5e-324, 1e-300, 1e-9, 1, 30, 1e3, 1e100])
def test_the_normal_pair_is_enclosed_at_every_scale(mu):
    pair = NormalPair(mu)
    for found in (pair.delta(0), pair.delta(mu), pair.delta(1), pair.tradeoff(0.25), pair.tail(1)):
        assert 0.0 <= found.lower <= found.upper <= 1.0
    assert pair.delta(0).width <= 1e-15
    priced = pair.epsilon(1e-6)
    assert pair.delta(priced.upper).lower <= 1e-6
    assert pair.max_loss().upper == (0.0 if mu == 0 else math.inf)


@given(st.floats(0.01, 20.0), st.floats(1e-12, 0.3))
def test_epsilon_of_the_normal_pair_is_tight_to_the_last_digits(mu, delta):
    found = NormalPair(mu).epsilon(delta)
    assert found.width <= 1e-12 * max(found.upper, 1e-3)
    assert NormalPair(mu).delta(found.upper).upper <= delta


@pytest.mark.parametrize("bad", [math.nan, "1", None, True, -math.inf])
def test_levels_that_are_not_numbers_are_refused_by_name(bad):
    for pair in (PureApproxPair(1), NormalPair(1)):
        with pytest.raises(ParameterError) as caught:
            pair.delta(bad)
        assert caught.value.parameter == "epsilon"


def test_both_pairs_are_their_own_reverse():
    assert PureApproxPair(1, 0.1).reversed() == PureApproxPair(1, 0.1)
    assert NormalPair(2).reversed() == NormalPair(2)
