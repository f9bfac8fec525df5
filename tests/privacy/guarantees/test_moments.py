"""From moments to (epsilon, delta): sound on exact laws, and as good as a dense search over orders."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.privacy.guarantees.moments import renyi_delta, renyi_epsilon, zcdp_delta, zcdp_epsilon
from discreet.privacy.pairs.worst_pairs import NormalPair
from tests.privacy.reference import alphas, at_most, ball, divergence_rate, hockey_stick, pairs, renyi


def rounded_up(value) -> Fraction:
    """Return a rational at least a reference value, and not negative."""
    return max(Fraction(math.nextafter(float(value), math.inf)), Fraction(1, 10**40))


@pytest.mark.theorem("renyi_delta.privacy")
@given(pairs(), alphas, st.floats(-2.0, 6.0))
def test_one_divergence_bounds_delta_of_every_pair(pair, alpha, epsilon):
    divergence = rounded_up(renyi(*pair, alpha))
    assert at_most(hockey_stick(*pair, epsilon), renyi_delta(Fraction(alpha), divergence, Fraction(epsilon)))


@pytest.mark.theorem("renyi_epsilon.privacy")
@given(pairs(), alphas, st.floats(1e-9, 0.9))
def test_one_divergence_gives_an_epsilon_that_holds(pair, alpha, delta):
    divergence = rounded_up(renyi(*pair, alpha))
    epsilon = renyi_epsilon(Fraction(alpha), divergence, Fraction(delta))
    assert at_most(hockey_stick(*pair, epsilon), delta)


@pytest.mark.theorem("zcdp_delta.privacy", "zcdp_epsilon.privacy")
@given(pairs(), st.floats(0.0, 4.0), st.floats(1e-9, 0.9))
def test_concentrated_pairs_keep_what_is_concluded_from_rho(pair, epsilon, delta):
    rho = Fraction(divergence_rate(*pair)) + Fraction(1, 10**30)
    for first, second in (pair, pair[::-1]):
        assert at_most(hockey_stick(first, second, epsilon), zcdp_delta(rho, Fraction(epsilon)))
        assert at_most(hockey_stick(first, second, zcdp_epsilon(rho, Fraction(delta))), delta)


@pytest.mark.theorem("zcdp_delta.privacy")
@given(st.floats(0.01, 10.0), st.floats(0.0, 40.0))
def test_the_normal_pair_keeps_what_is_concluded_from_its_rho(mu, epsilon):
    rho = Fraction(mu) ** 2 / 2
    assert NormalPair(mu).delta(epsilon).lower <= zcdp_delta(rho, Fraction(epsilon))


@pytest.mark.theorem("zcdp_epsilon.privacy")
@pytest.mark.parametrize(("rho", "least"), [(0.01, 1.0), (0.5, 1.0), (10.0, 1.0)])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12])
def test_zcdp_to_approx_costs_little_over_the_normal_pair_and_beats_the_textbook_bound(rho, least, delta):
    found = zcdp_epsilon(Fraction(rho), Fraction(delta))
    exact = NormalPair(math.sqrt(2 * rho)).epsilon(delta).lower
    textbook = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    assert exact * least <= found < textbook
    assert found <= exact * 1.25


@pytest.mark.theorem("zcdp_delta.privacy")
@given(st.floats(1e-4, 50.0), st.floats(0.0, 5.0))
def test_the_search_for_the_best_order_finds_it(rho, ratio):
    epsilon = Fraction(rho) + Fraction(ratio) * Fraction(math.sqrt(rho)) * 2
    found = zcdp_delta(Fraction(rho), epsilon)
    dense = min(
        float(
            (ball(alpha - 1) * (ball(alpha) * ball(rho) - ball(epsilon))).exp()
            / ball(alpha - 1)
            * ((1 - 1 / ball(alpha)).log() * ball(alpha)).exp()
        )
        for alpha in (Fraction(1) + Fraction(2.0 ** (step / 8)) for step in range(-160, 160))
    )
    assert found <= min(dense, 1.0) * (1 + 1e-12)


@given(st.floats(1e-3, 30.0), st.floats(1e-12, 0.5))
def test_delta_at_the_epsilon_found_is_the_delta_asked_for(rho, delta):
    epsilon = zcdp_epsilon(Fraction(rho), Fraction(delta))
    assume(epsilon > 0)
    assert zcdp_delta(Fraction(rho), Fraction(epsilon)) <= delta * (1 + 1e-9)


@pytest.mark.parametrize("rho", [5e-324, 1e-300, 1e-12, 1.0, 1e6, 1e300])
@pytest.mark.parametrize("delta", [Fraction(1, 10**400), 5e-324, 1e-9, 0.5, 1 - 2**-53])
def test_extreme_parameters_give_finite_answers(rho, delta):
    epsilon = zcdp_epsilon(Fraction(rho), Fraction(delta))
    assert 0.0 <= epsilon < math.inf
    assert 0.0 <= zcdp_delta(Fraction(rho), Fraction(epsilon)) <= 1.0


def test_no_loss_means_no_delta_and_a_zero_delta_means_no_epsilon():
    assert zcdp_delta(Fraction(0), Fraction(0)) == 0.0
    assert zcdp_epsilon(Fraction(0), Fraction(0)) == 0.0
    assert zcdp_epsilon(Fraction(1), Fraction(0)) == math.inf
    assert renyi_epsilon(Fraction(2), Fraction(0), Fraction(0)) == 0.0
    assert renyi_epsilon(Fraction(2), Fraction(1), Fraction(0)) == math.inf


@given(st.floats(1e-6, 20.0), alphas)
def test_delta_falls_as_epsilon_grows(divergence, alpha):
    order, bound = Fraction(alpha), Fraction(divergence)
    found = [renyi_delta(order, bound, Fraction(step) * bound / 4) for step in range(20)]
    assert found == sorted(found, reverse=True)
