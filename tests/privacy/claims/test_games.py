"""No adversary makes a filter break its budget: every path of small games, computed exactly."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.privacy import ZCDP, GaussianDP, PureDP
from discreet.privacy.adaptive import ApproxFilter, GaussianFilter, PureFilter, RenyiFilter, ZCDPFilter
from discreet.privacy.numbers import written
from discreet.privacy.pairs.worst_pairs import NormalPair
from tests.privacy.adaptive.game import Leaf, adversary, binned_normal, laws, leaky, play, response
from tests.privacy.reference import ORDERS, at_most, ball, exp, hockey_stick, miss, renyi

quarters = st.sampled_from([Fraction(k, 4) for k in range(1, 7)])
small_deltas = st.sampled_from([Fraction(k, 40) for k in range(4)])
steps = st.one_of(quarters, st.floats(0.01, 1.5))
PLANS = st.data()


def everything_left(session):
    """Spend what remains to the last unit."""
    return response(session.remaining.epsilon)


def all_of_both(session):
    left = session.remaining
    return leaky(left.epsilon, left.delta)


def all_of_mu(session):
    return binned_normal(session.remaining.mu)


pure_moves = st.one_of(steps.map(response), st.just(everything_left), st.none())
approx_moves = st.one_of(st.builds(leaky, steps, small_deltas), st.just(all_of_both), st.none())
normal_moves = st.one_of(steps.map(binned_normal), st.just(all_of_mu), st.none())
mixed_moves = st.one_of(steps.map(response), steps.map(binned_normal), st.none())


@pytest.mark.theorem("PureFilter.privacy", "Filter.privacy")
@given(steps, PLANS)
def test_no_path_of_a_pure_session_has_more_loss_than_the_budget(epsilon, data):
    leaves = play(lambda: PureFilter(epsilon), adversary(data.draw, pure_moves), rounds=4)
    assert_whole(leaves)
    exact = written(epsilon)  # guarantees are read by their decimals
    for leaf in leaves:
        assert at_most(leaf.p, exp(exact) * leaf.q)
        assert at_most(leaf.q, exp(exact) * leaf.p)
        assert sum(written(one.epsilon) for one in leaf.spent) <= exact


@pytest.mark.theorem("PureFilter.privacy")
def test_the_budget_of_a_pure_session_can_be_spent_to_the_end():
    leaves = play(lambda: PureFilter(1), lambda _: response(Fraction(1, 3)), rounds=3)
    assert (max(leaf.p / leaf.q for leaf in leaves) - exp(1)).overlaps(flint.arb(0, 1e-60))


@pytest.mark.theorem("ApproxFilter.privacy", "Filter.privacy")
@given(steps, small_deltas, PLANS)
def test_no_event_of_an_approximate_session_tells_more_than_the_budget(epsilon, delta, data):
    leaves = play(lambda: ApproxFilter(epsilon, delta), adversary(data.draw, approx_moves), rounds=3)
    assert_whole(leaves)
    p, q = laws(leaves)
    epsilon, delta = written(epsilon), written(delta)  # guarantees are read by their decimals
    assert at_most(hockey_stick(p, q, epsilon), delta)
    assert at_most(hockey_stick(q, p, epsilon), delta)
    for leaf in leaves:
        assert sum(written(one.epsilon) for one in leaf.spent) <= epsilon
        assert sum(written(one.delta) for one in leaf.spent) <= delta


@pytest.mark.theorem("ApproxFilter.privacy")
@given(st.sampled_from([0.1, 0.5, 1.0, 1.5]), st.sampled_from([0.05, 0.1, 0.3]), PLANS)
def test_the_advanced_rate_keeps_the_budget_too(epsilon, delta, data):
    moves = st.one_of(st.floats(0.01, 0.6).map(response), st.builds(leaky, st.floats(0.01, 0.4), st.just(0.01)))
    leaves = play(lambda: ApproxFilter(epsilon, delta, slack=delta / 2), adversary(data.draw, moves), rounds=3)
    p, q = laws(leaves)
    assert at_most(hockey_stick(p, q, epsilon), delta)
    assert at_most(hockey_stick(q, p, epsilon), delta)


@pytest.mark.theorem("ApproxFilter.privacy")
@pytest.mark.parametrize(("epsilon", "total"), [(0.02, 1), (0.1, 3)])
def test_many_small_releases_at_the_advanced_rate_keep_the_budget(epsilon, total):
    session = ApproxFilter(total, 1e-6, slack=1e-6)
    count = session.fits(PureDP(epsilon))
    assert count > total / epsilon
    likely = exp(epsilon) / (1 + exp(epsilon))
    delta = flint.arb(0)
    for true in range(count + 1):
        loss = (2 * true - count) * Fraction(epsilon)
        if loss > total:
            mass = flint.arb(math.comb(count, true)) * likely**true * (1 - likely) ** (count - true)
            delta += mass * (1 - (total - ball(loss)).exp())
    assert at_most(delta, 1e-6)


@pytest.mark.theorem("ZCDPFilter.privacy", "Filter.privacy")
@given(st.floats(0.05, 1.0), PLANS)
def test_every_order_of_a_concentrated_session_is_within_rho(rho, data):
    leaves = play(lambda: ZCDPFilter(rho), adversary(data.draw, mixed_moves), rounds=3)
    assert_concentrated(leaves, rho)


@pytest.mark.theorem("ZCDPFilter.privacy")
@given(st.floats(0.05, 1.0), st.sampled_from([Fraction(1, 20), Fraction(1, 8)]), PLANS)
def test_an_approximate_concentrated_session_splits_as_its_definition_asks(rho, delta, data):
    moves = st.one_of(st.builds(leaky, st.floats(0.01, 1.2), small_deltas), st.none())
    leaves = play(lambda: ZCDPFilter(rho, delta), adversary(data.draw, moves), rounds=3)
    assert_whole(leaves)
    for leaf in leaves:  # P = (1 - delta) A + delta B with B >= 0, and the same on the neighbor
        assert at_most(ball(1 - delta) * leaf.kept_p, leaf.p)
        assert at_most(ball(1 - delta) * leaf.kept_q, leaf.q)
    assert_concentrated([Leaf(leaf.kept_p, leaf.kept_q, leaf.p, leaf.q, leaf.spent) for leaf in leaves], rho)


@pytest.mark.theorem("ZCDPFilter.privacy")
def test_weights_without_a_leak_multiply_along_adaptive_paths():
    # the second delta depends on the first answer; the split of weight (1 - d1)(1 - max d2) exists all the same
    first, second = leaky(1, Fraction(1, 4)), {True: leaky(1, Fraction(1, 2)), False: leaky(2, Fraction(1, 8))}
    weight = ball(Fraction(3, 4) * Fraction(1, 2))
    for index in range(4):
        rest = second[index % 2 == 0]
        for inner in range(4):
            assert at_most(weight * first.kept_p[index] * rest.kept_p[inner], first.p[index] * rest.p[inner])


@pytest.mark.theorem("RenyiFilter.privacy", "Filter.privacy")
@given(st.sampled_from([Fraction(3, 2), 2, 8.5]), st.floats(0.05, 2.0), PLANS)
def test_the_divergence_of_the_fixed_order_is_within_the_budget(alpha, epsilon, data):
    leaves = play(lambda: RenyiFilter(alpha, epsilon), adversary(data.draw, mixed_moves), rounds=3)
    assert_whole(leaves)
    p, q = laws(leaves)
    assert at_most(renyi(p, q, alpha), epsilon)
    assert at_most(renyi(q, p, alpha), epsilon)


@pytest.mark.theorem("GaussianFilter.privacy", "Filter.privacy")
@given(st.one_of(quarters, st.floats(0.1, 2.0)), PLANS)
def test_the_trade_off_of_a_gaussian_session_stays_above_the_budgets(mu, data):
    moves = st.one_of(normal_moves, steps.map(response))
    leaves = play(lambda: GaussianFilter(mu), adversary(data.draw, moves), rounds=3)
    assert_whole(leaves)
    p, q = laws(leaves)
    for first, second in ((p, q), (q, p)):
        order = sorted(range(len(first)), key=lambda i: -float(first[i] / second[i]))
        size = flint.arb(0)
        for index in order[:-1]:  # a convex curve below a polygon at its corners is below it everywhere
            size += second[index]
            alpha = float(size)
            assert at_most(ball(NormalPair(mu).tradeoff(alpha).lower), miss(first, second, alpha), slack=1e-12)


@pytest.mark.theorem("GaussianFilter.privacy")
def test_turning_the_axes_loses_nothing():
    session = GaussianFilter(5)
    session.spend(GaussianDP(3))
    assert session.remaining == GaussianDP(4)
    session.spend(GaussianDP(4))
    assert not session.admits(GaussianDP(5e-324))


def test_a_filter_on_curves_would_not_be_sound():
    """Two plans that each end at the target exactly; the choice between them, by the first answer, passes it."""
    target = exact_delta(lambda _: TWICE)
    assert target == exact_delta(lambda _: leak(target)) == Fraction(2, 9)
    assert exact_delta(lambda answer: TWICE if answer == 0 else leak(target)) == Fraction(8, 27)


TWICE = [(Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 3), Fraction(2, 3))]


def leak(delta):
    return [(delta, Fraction(0)), (1 - delta, 1 - delta), (Fraction(0), delta)]


def exact_delta(second):
    """Return delta at epsilon = ln 2 of one randomized response and whatever follows its answer."""
    return sum(max(Fraction(0), p * a - 2 * q * b) for answer, (p, q) in enumerate(TWICE) for a, b in second(answer))


def assert_whole(leaves):
    for total in (sum(leaf.p for leaf in leaves), sum(leaf.q for leaf in leaves)):
        assert (total - 1).overlaps(flint.arb(0, 1e-60))


def assert_concentrated(leaves, rho):
    inside = [leaf for leaf in leaves if not leaf.p.is_zero()]
    assert_whole(inside)
    p, q = laws(inside)
    for alpha in ORDERS[::10]:
        assert at_most(renyi(p, q, alpha), ball(rho) * ball(alpha))
        assert at_most(renyi(q, p, alpha), ball(rho) * ball(alpha))


def test_every_session_ends_at_its_budget_whatever_was_converted():
    session = ZCDPFilter(0.5)
    session.spend(PureDP(0.5))
    session.spend(session.remaining)
    assert session.remaining == ZCDP(0)
    assert session.spent == ZCDP(0.5)
