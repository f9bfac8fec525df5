"""Each conversion against exact laws: it never guarantees more than the source, and is tight where it says so."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import NoSoundConversion
from discreet.privacy.guarantees.conversion import (
    approx_to_zcdp,
    convert,
    gaussian_to_renyi,
    gaussian_to_zcdp,
    pure_to_gaussian,
    pure_to_renyi,
    pure_to_zcdp,
    renyi_to_renyi,
    to_approx_at,
    zcdp_to_gaussian,
    zcdp_to_renyi,
)
from discreet.privacy.guarantees.guarantee import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP
from discreet.privacy.pairs.worst_pairs import NormalPair
from tests.privacy.reference import (
    ORDERS,
    alphas,
    at_most,
    ball,
    bounded_pairs,
    deltas,
    divergence_rate,
    epsilons,
    hockey_stick,
    leaky_response,
    miss,
    pairs,
    randomized_response,
    renyi,
)

TINY_TO_HUGE = [0, 5e-324, 1e-300, 1e-17, 1e-5, 0.1, 1, 5, 40, 700, 746, 1e4, 1e300]
SIZES = [Fraction(step, 200) for step in range(1, 200)]


@pytest.mark.theorem("pure_to_zcdp.privacy")
@given(epsilons)
def test_pure_implies_the_zcdp_it_converts_to_at_every_order(epsilon):
    rho = ball(pure_to_zcdp(PureDP(epsilon)).rho)
    p, q = randomized_response(epsilon)
    for alpha in ORDERS:
        assert at_most(renyi(p, q, alpha), rho * ball(alpha))


@pytest.mark.theorem("pure_to_zcdp.privacy")
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1, 3, 10])
def test_no_smaller_rho_follows_from_pure(epsilon):
    rho = pure_to_zcdp(PureDP(epsilon)).rho
    near_one = Fraction(1) + Fraction(1, 10**12)
    assert renyi(*randomized_response(epsilon), near_one) >= ball(rho * (1 - 1e-10))
    assert rho <= min(epsilon, epsilon**2 / 2)


@pytest.mark.parametrize("epsilon", TINY_TO_HUGE)
def test_conversions_of_pure_neither_overflow_nor_vanish(epsilon):
    guarantee = PureDP(epsilon)
    rho, mu, divergence = guarantee.to_zcdp().rho, guarantee.to_gaussian().mu, guarantee.to_renyi(2).epsilon
    assert rho <= epsilon
    assert divergence <= epsilon
    assert mu <= math.sqrt(8 * epsilon) * (1 + 1e-15)
    assert all(math.isfinite(one) and (one > 0) == (epsilon > 0) for one in (rho, mu, divergence))


@pytest.mark.theorem("pure_to_renyi.privacy")
@given(epsilons, alphas)
def test_pure_to_renyi_is_the_divergence_of_randomized_response(epsilon, alpha):
    bound, truth = pure_to_renyi(PureDP(epsilon), alpha).epsilon, renyi(*randomized_response(epsilon), alpha)
    assert truth <= ball(bound)
    assert ball(bound) <= truth * ball(1 + 1e-15)


@pytest.mark.theorem("pure_to_renyi.privacy", "pure_to_zcdp.privacy", "PureApproxPair.privacy")
@given(st.data(), st.floats(0.01, 5.0), alphas)
def test_every_pure_release_keeps_the_converted_guarantees(data, epsilon, alpha):
    p, q = data.draw(bounded_pairs(epsilon))
    bound = ball(pure_to_renyi(PureDP(epsilon), alpha).epsilon)
    rho = ball(pure_to_zcdp(PureDP(epsilon)).rho)
    for first, second in ((p, q), (q, p)):
        assert at_most(renyi(first, second, alpha), bound)
        assert at_most(renyi(first, second, alpha), rho * ball(alpha))


@pytest.mark.theorem("pure_to_gaussian.privacy")
@given(epsilons)
def test_the_normal_curve_lies_below_the_pure_polygon_and_touches_its_corner(epsilon):
    mu = pure_to_gaussian(PureDP(epsilon)).mu
    p, q = randomized_response(epsilon)
    for size in SIZES[::8]:
        assert ball(NormalPair(mu).tradeoff(size).lower) <= miss(p, q, size)
    corner = Fraction(1 / (1 + math.exp(epsilon)))
    assert at_most(ball(NormalPair(mu).tradeoff(corner).lower), miss(p, q, corner))
    smaller = NormalPair(mu * (1 - 1e-12)).tradeoff(corner)
    assert ball(smaller.lower) > miss(p, q, corner) * ball(1 - 1e-15)


@pytest.mark.theorem("approx_to_zcdp.privacy")
@given(st.floats(0.01, 8.0), deltas)
def test_approx_is_a_mixture_whose_larger_part_is_concentrated(epsilon, delta):
    guarantee = approx_to_zcdp(ApproxDP(epsilon, delta))
    p, q = leaky_response(epsilon, delta)
    kept = 1 - ball(delta)
    first, second = [one / kept for one in p[1:3]], [one / kept for one in q[1:3]]
    assert guarantee.delta == delta
    assert all(at_most(renyi(first, second, alpha), ball(guarantee.rho) * ball(alpha)) for alpha in ORDERS[::4])


@pytest.mark.theorem("to_approx_at.privacy", "PureApproxPair.privacy")
@given(st.floats(0.01, 8.0), deltas, st.floats(0.0, 1.0))
def test_epsilon_at_a_larger_delta_is_that_of_the_worst_pair(epsilon, delta, share):
    wanted = min(delta + share * (1 - delta), 1.0)
    found = to_approx_at(ApproxDP(epsilon, delta), wanted)
    p, q = leaky_response(epsilon, delta)
    assert at_most(hockey_stick(p, q, found.epsilon), wanted)
    if found.epsilon > 1e-9:
        assert hockey_stick(p, q, found.epsilon * (1 - 1e-9)) >= ball(wanted)


@pytest.mark.theorem("to_approx_at.privacy", "NormalPair.privacy")
@given(st.floats(0.01, 30.0), deltas)
def test_gaussian_to_approx_is_exact(mu, delta):
    epsilon = to_approx_at(GaussianDP(mu), delta).epsilon
    assert _normal_delta(mu, epsilon) <= ball(delta)
    if epsilon > 1e-6:
        assert _normal_delta(mu, epsilon * (1 - 1e-9)) > ball(delta) * ball(1 - 1e-12)


def _normal_delta(mu, epsilon):
    with flint.ctx.workprec(300):
        m, e, root = ball(mu), ball(epsilon), flint.arb(2).sqrt()
        return ((e / m - m / 2) / root).erfc() / 2 - e.exp() * ((e / m + m / 2) / root).erfc() / 2


@pytest.mark.theorem("zcdp_to_renyi.privacy", "gaussian_to_zcdp.privacy", "gaussian_to_renyi.privacy")
@given(st.floats(1e-3, 50.0), alphas)
def test_zcdp_and_gaussian_divergences_are_those_of_the_normal_pair(mu, alpha):
    truth = Fraction(alpha) * Fraction(mu) ** 2 / 2
    direct = Fraction(gaussian_to_renyi(GaussianDP(mu), alpha).epsilon)
    through = Fraction(zcdp_to_renyi(gaussian_to_zcdp(GaussianDP(mu)), alpha).epsilon)
    assert truth <= direct <= through <= truth * (1 + Fraction(1, 2**50))


@pytest.mark.theorem("gaussian_to_zcdp.privacy")
def test_the_divergence_of_two_normals_by_quadrature_is_mu_squared_alpha_over_two():
    mu, alpha = 0.7, 3.0
    with flint.ctx.workprec(100):
        total = (
            flint.acb.integral(lambda x, _: (-((x - mu) ** 2) / 2 * alpha - x**2 / 2 * (1 - alpha)).exp(), -30, 30).real
            / (2 * flint.arb.pi()).sqrt()
        )
        divergence = total.log() / (alpha - 1)
    assert abs(float(divergence) - float(gaussian_to_renyi(GaussianDP(mu), alpha).epsilon)) < 1e-12


@pytest.mark.theorem("renyi_to_renyi.privacy")
@given(pairs(), alphas, st.floats(0.0, 1.0))
def test_a_lower_order_has_a_smaller_divergence(pair, alpha, share):
    lower = 1 + (alpha - 1) * max(share, 1e-3)
    given_order = renyi(*pair, alpha)
    guarantee = RenyiDP(alpha, math.nextafter(float(given_order.upper()), math.inf))
    assert at_most(renyi(*pair, lower), renyi_to_renyi(guarantee, lower).epsilon)


@pytest.mark.theorem("renyi_to_renyi.privacy")
def test_a_higher_order_is_refused_because_its_divergence_has_no_bound():
    with pytest.raises(NoSoundConversion, match="higher order 3"):
        RenyiDP(2, 0.5).to_renyi(3)


@pytest.mark.theorem("zcdp_to_gaussian.privacy")
@given(pairs())
def test_every_test_on_a_concentrated_pair_is_as_hard_as_the_converted_normal_one(pair):
    p, q = pair
    rho = divergence_rate(p, q)
    mu = zcdp_to_gaussian(ZCDP(rho)).mu
    for size in SIZES[::12]:
        assert miss(p, q, size) >= ball(NormalPair(mu).tradeoff(size).lower)


@pytest.mark.theorem("zcdp_to_gaussian.privacy")
@pytest.mark.parametrize("power", range(2, 60, 3))
@pytest.mark.parametrize("order", [1.5, 4.0])
def test_extreme_tests_do_not_break_zcdp_to_gaussian(power, order):
    # the worst binary pairs for one order: false alarms of 2^-power, power just as large as the order allows
    rare = Fraction(1, 2**power)
    likely = min(Fraction(float(rare) ** ((order - 1) / order)), Fraction(1, 2))
    p, q = [ball(likely), ball(1 - likely)], [ball(rare), ball(1 - rare)]
    mu = zcdp_to_gaussian(ZCDP(divergence_rate(p, q))).mu
    assert miss(p, q, rare) >= ball(NormalPair(mu).tradeoff(rare).lower)


@pytest.mark.theorem("zcdp_to_gaussian.privacy")
def test_zcdp_to_gaussian_covers_randomized_response_and_approaches_it_for_large_rho():
    for epsilon in (1e-3, 0.1, 1, 4, 20, 300, 3000):
        needed = pure_to_gaussian(PureDP(epsilon)).mu
        offered = zcdp_to_gaussian(pure_to_zcdp(PureDP(epsilon))).mu
        assert needed <= offered <= needed * 1.2
    assert offered <= needed * 1.001


@pytest.mark.theorem("zcdp_to_gaussian.privacy")
def test_sampfords_inequality_and_the_convexity_it_gives_hold_on_a_grid():
    with flint.ctx.workprec(2000):
        for step in range(-120, 121):
            z = flint.arb(step) / 4
            tail = (z / flint.arb(2).sqrt()).erfc() / 2
            hazard = (-z * z / 2).exp() / (2 * flint.arb.pi()).sqrt() / tail
            assert (hazard - z) * (2 * hazard - z) > 1
            assert -2 * tail.log() * (hazard - z) >= hazard


@pytest.mark.theorem("zcdp_to_gaussian.privacy")
@pytest.mark.parametrize("rho", [5e-324, 1e-300, 1e-9, 0.5, 4.5, 9999, 10**4, 10001, 1e100, 1e300])
def test_zcdp_to_gaussian_stays_between_its_limits(rho):
    ratio = zcdp_to_gaussian(ZCDP(rho)).mu / math.sqrt(rho)
    assert math.sqrt(math.pi) < ratio < 2.8284271247461907
    if 1e-320 < rho < 1e-6:
        assert ratio == pytest.approx(math.sqrt(2 * math.pi * math.log(2)), rel=1e-6)


def test_conversions_keep_the_relation_and_the_numbers_given(relation_pairs):
    for source, target, arguments in relation_pairs:
        assert convert(source, target, **arguments).relation is source.relation
