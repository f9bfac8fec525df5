"""Gaussian guarantees with a delta, and the mu of choices, against laws written out in balls."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import NoSoundConversion, ParameterError
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP, basic_composition, convert, implies
from discreet.privacy.guarantees import bounded_range_mu, delta_of, group_privacy, rho_of_choices, rho_of_halves
from discreet.privacy.guarantees.conversion import approx_to_gaussian, pure_to_gaussian
from discreet.privacy.pairs.bounded_range import BoundedRangePair
from discreet.privacy.pairs.worst_pairs import NormalPair
from tests.privacy.reference import at_most, ball, deltas, exp, hockey_stick, law, leaky_response, miss, product

LEVELS = [-1.0, -0.25, 0.0, 0.1, 0.5, 1.0, 2.0, 4.0]
ALPHAS = [Fraction(step, 40) for step in range(1, 40)] + [Fraction(1, 10**6), Fraction(1, 10**12)]
ranges = st.floats(0.01, 12.0)


def normal_distribution(z):
    return (-ball(z) / ball(2).sqrt()).erfc() / 2


def binned(mu, *, edges=60):
    """Return N(mu, 1) and N(0, 1) rounded to bins: a post-processing of the normal pair."""
    ends = [Fraction(step, 8) for step in range(-edges, edges + 1)]

    def bins(mean):
        below = [flint.arb(0), *(normal_distribution(ball(end) - ball(mean)) for end in ends), flint.arb(1)]
        return [high - low for low, high in itertools.pairwise(below)]

    return bins(mu), bins(0)


def leaky(mu, delta):
    """Return bins of the normal pair, behind a coin that shows the table with probability delta."""
    lost, (p, q) = ball(delta), binned(mu)
    return (
        [lost, flint.arb(0), *((1 - lost) * one for one in p)],
        [flint.arb(0), lost, *((1 - lost) * one for one in q)],
    )


@pytest.mark.theorem("approx_to_gaussian.privacy")
@given(st.floats(0.01, 6.0), deltas)
def test_approx_is_a_mixture_whose_larger_part_is_gaussian(epsilon, delta):
    guarantee = approx_to_gaussian(ApproxDP(epsilon, delta))
    assert guarantee.delta == delta
    p, q = leaky_response(epsilon, delta)
    kept = 1 - ball(delta)
    first, second = [one / kept for one in p[1:3]], [one / kept for one in q[1:3]]
    for alpha in ALPHAS[::5]:
        assert at_most(ball(NormalPair(guarantee.mu).tradeoff(alpha).lower), miss(first, second, alpha))


@pytest.mark.theorem("delta_of.privacy", "epsilon_of.privacy")
@pytest.mark.parametrize("mu", [0.05, 0.5, 2.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.5])
def test_the_curve_of_a_gaussian_guarantee_with_a_delta_is_never_below_the_leaky_normal_pair(mu, delta):
    guarantee = GaussianDP(mu, delta)
    p, q = leaky(mu, delta)
    for level in LEVELS[2:]:
        found = delta_of(guarantee, Fraction(level))
        truth = hockey_stick(p, q, level)
        assert at_most(truth, found)
        assert ball(found) <= truth + ball(0.02)  # bins of an eighth lose little
        wanted = min(found * 1.5, 0.9)
        assert at_most(hockey_stick(p, q, guarantee.to_approx(delta=wanted).epsilon), wanted)


@pytest.mark.theorem("basic_composition.privacy", "GaussianFilter.privacy")
@pytest.mark.parametrize(("first", "second"), [((0.3, 1e-3), (0.4, 1e-2)), ((1.0, 0.1), (0.2, 0.0))])
def test_gaussian_guarantees_with_deltas_compose_as_the_product_of_their_worst_pairs(first, second):
    together = basic_composition([GaussianDP(*first), GaussianDP(*second)])
    assert together.delta <= first[1] + second[1]
    (p1, q1), (p2, q2) = leaky(*first), leaky(*second)
    p, q = product(p1, p2), product(q1, q2)
    for level in (0.0, 0.5, 1.0, 3.0):
        assert at_most(hockey_stick(p, q, level), delta_of(together, Fraction(level)))
        assert at_most(hockey_stick(q, p, level), delta_of(together, Fraction(level)))


@pytest.mark.theorem("bounded_range_mu.privacy")
@given(ranges)
def test_the_normal_curve_lies_below_that_of_every_choice_and_touches_it(width):
    mu = bounded_range_mu(width)
    for alpha in ALPHAS:
        assert at_most(ball(NormalPair(mu).tradeoff(alpha).lower), BoundedRangePair(width).tradeoff(alpha).upper)
    corner = Fraction(1 / (1 + math.exp(width / 2)))
    smaller = NormalPair(mu * (1 - 1e-11)).tradeoff(corner)
    assert smaller.lower > BoundedRangePair(width).tradeoff(corner).upper * (1 - 1e-13)


@pytest.mark.theorem("bounded_range_mu.privacy")
@given(ranges, st.lists(st.tuples(st.floats(-3, 3), st.floats(0, 1)), min_size=2, max_size=5))
def test_every_exponential_mechanism_is_as_hard_to_tell_apart_as_its_mu_says(width, candidates):
    p = law(*(exp(score) for score, _ in candidates))
    q = law(*(exp(score) * exp(width * moved) for score, moved in candidates))
    mu = bounded_range_mu(width)
    for alpha in ALPHAS[::4]:
        for first, second in ((p, q), (q, p)):
            assert at_most(ball(NormalPair(mu).tradeoff(alpha).lower), miss(first, second, alpha))


@pytest.mark.theorem("bounded_range_mu.privacy")
def test_each_inequality_of_the_proof_holds_on_a_grid():
    for step in range(1, 400):
        z = ball(Fraction(step, 40))
        tail, density = normal_distribution(-z), (-z * z / 2).exp() / (2 * flint.arb.pi()).sqrt()
        s = (z * z + 8).sqrt()
        u = 1 - 2 * tail
        assert tail / density <= 4 / (3 * z + s)  # Sampford
        assert u >= z * (s - z) / 4
        assert density * u >= z * (1 - tail) * tail  # so the slope of the quantile map falls


@pytest.mark.theorem("rho_of_choices.privacy")
@given(st.floats(1e-6, 20.0), st.lists(st.floats(0.001, 1), min_size=1, max_size=6))
def test_choices_within_the_rho_of_a_mu_keep_that_mu(mu, shares):
    rho = rho_of_choices(Fraction(mu))
    widths = [math.sqrt(8 * float(rho) * share / sum(shares)) * (1 - 1e-9) for share in shares]
    squares = sum(Fraction(bounded_range_mu(width)) ** 2 for width in widths)
    assert squares <= Fraction(mu) ** 2


@pytest.mark.theorem("rho_of_halves.privacy")
@given(st.floats(1e-6, 20.0))
def test_a_choice_and_noise_of_half_the_rho_each_keep_the_mu(mu):
    rho = rho_of_halves(Fraction(mu))
    width = math.sqrt(4 * float(rho)) * (1 - 1e-9)
    squares = Fraction(bounded_range_mu(width)) ** 2 + rho  # noise of rho/2 has mu^2 = rho
    assert squares <= Fraction(mu) ** 2
    assert rho > rho_of_choices(Fraction(mu))


def test_a_choice_costs_half_of_what_a_pure_release_of_its_epsilon_costs():
    for epsilon in (0.01, 1.0, 5.0):
        assert bounded_range_mu(epsilon) == pure_to_gaussian(PureDP(epsilon / 2)).mu
        assert bounded_range_mu(epsilon) < 0.62666 * epsilon
    assert bounded_range_mu(0.001) > 0.62665 * 0.001  # and .627 epsilon is the limit


def test_a_gaussian_guarantee_with_a_delta_keeps_it_in_every_conversion():
    given_ = GaussianDP(0.5, 1e-7)
    assert convert(given_, ZCDP) == ZCDP(0.125, 1e-7)
    assert convert(ApproxDP(1, 1e-7), GaussianDP, delta=1e-7) == GaussianDP(pure_to_gaussian(PureDP(1)).mu, 1e-7)
    assert convert(ZCDP(0.125, 1e-7), GaussianDP, delta=1e-7).mu == convert(ZCDP(0.125), GaussianDP).mu
    assert convert(GaussianDP(0, 1e-7), ApproxDP) == ApproxDP(0, 1e-7)
    assert convert(RenyiDP(8, 0.1), GaussianDP, delta=1e-6).delta == 1e-6
    assert implies(GaussianDP(0.5), given_)
    assert not implies(given_, GaussianDP(0.5))
    assert implies(given_, GaussianDP(0.5, 1e-6))
    assert implies(given_, ZCDP(0.125, 1e-7))
    for refused in (lambda: convert(given_, GaussianDP, delta=1e-8), lambda: group_privacy(given_, 2)):
        with pytest.raises(NoSoundConversion):
            refused()


def test_a_delta_is_shown_where_there_is_one():
    assert repr(GaussianDP(0.5)) == "GaussianDP(mu=0.5)"
    assert repr(GaussianDP(0.5, 1e-7)) == "GaussianDP(mu=0.5, delta=1e-07)"
    assert "except with probability 1e-07" in str(GaussianDP(0.5, 1e-7))
    assert GaussianDP(0.5) != GaussianDP(0.5, 1e-7)
    assert GaussianDP(0.5) == GaussianDP(Fraction(1, 2), 0.0)
    with pytest.raises(ParameterError):
        GaussianDP(0.5, 2)
