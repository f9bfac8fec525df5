"""The table of properties in the docstring of the rounded Gaussian law holds, and so does what its price rests on."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.laws import LocationPair, Product, RoundedGaussian
from discreet.privacy.pairs import NormalPair
from discreet.randomness.rigor import precision
from tests.laws.agreement import DIGITS, arb, close, rounded_mass
from tests.randomness.sources import within

SCALES = st.fractions(Fraction(1, 8), 60)
EXTREMES = [Fraction(1, 8), Fraction(1, 3), Fraction(1023.7), Fraction(2**30) + Fraction(1, 3), Fraction(2**80)]
EPSILONS = [0, 1e-9, 0.01, 0.1, 0.25, Fraction(1, 3), 0.5, 0.75, 1, 1.5, 2, 3, 5, 8, 13]


@pytest.mark.parametrize("scale", [Fraction(1, 100), Fraction(1, 8), Fraction(1, 3), 1, 2, 4, Fraction(9, 2), 20])
def test_the_variance_is_the_second_moment(scale):
    scale = Fraction(scale)
    with flint.ctx.workprec(DIGITS):
        truth = 2 * sum((x * x * rounded_mass(scale, x) for x in range(1, int(30 * scale) + 3)), arb(0))
        assert close(RoundedGaussian(scale).variance, truth, 1e-12)


def test_the_variance_is_almost_a_twelfth_more_than_the_square_from_scale_one_on():
    for scale in (Fraction(1), Fraction(3, 2), Fraction(3), Fraction(100)):
        assert RoundedGaussian(scale).variance == pytest.approx(float(scale) ** 2 + 1 / 12, rel=1e-7)


@given(SCALES, st.integers(1, 30), st.integers(-100, 100))
def test_the_loss_of_a_shift_is_near_that_of_the_normal_law(scale, shift, place):
    law = RoundedGaussian(scale)
    with flint.ctx.workprec(300):
        loss = law.log_mass_ball(place - shift) - law.log_mass_ball(place)
        normal = Fraction(2 * place * shift - shift * shift) / (2 * scale * scale)
        assert abs(loss - arb(normal)) < arb(Fraction(shift) / (2 * scale * scale))
    assert law.largest_loss(shift) is None


@given(SCALES, st.integers(1, 30), st.fractions(-5, 5))
def test_the_first_outcome_above_a_loss_is_exact(scale, shift, level):
    first = RoundedGaussian(scale).first_above(shift, level)
    with flint.ctx.workprec(DIGITS):
        below, above = (
            rounded_mass(scale, abs(place - shift)).log() - rounded_mass(scale, abs(place)).log()
            for place in (first - 1, first)
        )
        assert above > arb(level)
        assert below < arb(level) or (level == 0 and 2 * (first - 1) == shift)


@pytest.mark.parametrize("scale", [*EXTREMES, Fraction(2) ** 600, Fraction(2) ** -600])
@pytest.mark.parametrize("epsilon", [Fraction(-1), Fraction(1, 10**9), Fraction(1), Fraction(700)])
def test_the_first_outcome_above_a_loss_is_found_at_every_scale(scale, epsilon):
    law = RoundedGaussian(scale)
    with within(30):
        first = law.first_above(1, epsilon)
    assert abs(first - epsilon * scale * scale - Fraction(1, 2)) < Fraction(3, 2)
    with precision(8000):
        loss = [law.log_mass_ball(place - 1) - law.log_mass_ball(place) for place in (first - 1, first)]
        assert loss[0] <= arb(epsilon) < loss[1]


@pytest.mark.parametrize("shift", [1, 2, 3, 8])
@pytest.mark.parametrize("scale", EXTREMES)
def test_a_loss_of_zero_is_exceeded_beyond_the_middle_only(scale, shift):
    assert RoundedGaussian(scale).first_above(shift, Fraction(0)) == shift // 2 + 1


@pytest.mark.parametrize("scale", [Fraction(1, 8), Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(100)])
def test_the_law_is_strictly_log_concave(scale):
    with flint.ctx.workprec(DIGITS):
        masses = [rounded_mass(scale, abs(place)) for place in range(-int(9 * scale) - 3, int(9 * scale) + 4)]
        ratios = [second / first for first, second in pairwise(masses)]
        assert all(later < earlier for earlier, later in pairwise(ratios))


@pytest.mark.theorem("RoundedGaussian.privacy")
@pytest.mark.parametrize("shift", [1, 2, 7])
@pytest.mark.parametrize("scale", [*EXTREMES, Fraction(1), Fraction(10)], ids=float)
def test_a_shift_is_no_easier_to_see_than_with_normal_noise(scale, shift):
    steps = shift * max(int(scale / 4), 1)
    rounded = LocationPair(RoundedGaussian(scale), shift=steps)
    normal = NormalPair(Fraction(steps) / scale)
    for epsilon in EPSILONS:
        assert rounded.delta(epsilon).lower <= normal.delta(epsilon).upper
    for alpha in (1e-6, 0.01, 0.3, 0.7):
        assert rounded.tradeoff(alpha).upper >= normal.tradeoff(alpha).lower


@pytest.mark.theorem("RoundedGaussian.privacy")
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1), Fraction(3)])
@pytest.mark.parametrize("shift", [(1, 1), (1, -2), (3, 4)])
def test_a_vector_is_no_easier_to_tell_than_a_normal_one_at_the_same_distance(scale, shift):
    noise = RoundedGaussian(scale)
    pair = Product([noise.at(step) for step in shift]).pair(Product([noise, noise]))
    normal = NormalPair(Fraction(math.hypot(*shift)) / scale)
    for epsilon in (0, 0.1, 0.5, 1, 3):
        assert pair.delta(epsilon).lower <= normal.delta(epsilon).upper


def test_the_price_is_that_of_normal_noise_where_a_cell_ends_at_its_threshold_and_smaller_elsewhere():
    rounded, normal = LocationPair(RoundedGaussian(1), shift=1), NormalPair(1)
    assert rounded.delta(1).estimate == pytest.approx(normal.delta(1).estimate, rel=1e-14)  # threshold 3/2
    assert rounded.delta(1.5).upper < 0.95 * normal.delta(1.5).lower  # threshold 2, within a cell
    fine = LocationPair(RoundedGaussian(2**20), shift=2**20).delta(1.5)
    assert fine.estimate == pytest.approx(normal.delta(1.5).estimate, rel=1e-9)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(5), Fraction(1000)])
def test_the_largest_shift_is_the_worst_of_all_up_to_it(scale):
    largest = max(int(2 * scale), 4)
    shifts = range(0, largest + 1, max(largest // 8, 1))
    for epsilon in (0, 0.1, 1, 4):
        deltas = [LocationPair(RoundedGaussian(scale), shift=shift).delta(epsilon) for shift in shifts]
        assert all(later.lower >= earlier.lower for earlier, later in pairwise(deltas))


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1), Fraction(3)])
@pytest.mark.parametrize("shift", [1, 2, 5])
@pytest.mark.parametrize("order", [Fraction(3, 2), 2, 10])
def test_the_renyi_divergence_of_a_shift_is_at_most_that_of_the_normal_law(scale, shift, order):
    with flint.ctx.workprec(DIGITS):
        far = int(30 * scale) + int(order) * shift + 3
        masses = [rounded_mass(scale, place) for place in range(far + shift + 1)]
        moment = sum(
            (
                masses[abs(x - shift)] * (masses[abs(x - shift)] / masses[abs(x)]) ** arb(order - 1)
                for x in range(-far, far)
            ),
            arb(0),
        )
        rho = RoundedGaussian(scale).concentration(shift)
        assert rho == Fraction(shift * shift) / (2 * scale * scale)
        assert moment.log() / arb(order - 1) < arb(Fraction(order) * rho)


@pytest.mark.parametrize("scale", [*EXTREMES, Fraction(2), Fraction(2) ** 600, Fraction(2) ** -600], ids=float)
def test_masses_and_tails_are_those_of_balls_at_every_distance(scale):
    law = RoundedGaussian(scale)
    for z in (0, Fraction(1, 10), 1, 3, 12, 30, 37):
        for place in {math.floor(z * scale), math.floor(z * scale) + 1}:
            with precision(300):
                mass, tail = law.mass_ball(place), law.tail_ball(place)
                assert close(law.pmf(place), mass, 5e-13)
                assert close(law.sf(place - 1), tail, 5e-13)
                assert law.mass_ball(place).overlaps(law.log_mass_ball(place).exp())


def test_a_pair_is_asked_for_like_that_of_any_noise():
    pair = RoundedGaussian(3, center=10).pair(RoundedGaussian(3, center=4))
    assert pair == LocationPair(RoundedGaussian(3), shift=6)
    assert pair.max_loss().upper == math.inf
    assert pair.concentration() == 2
    assert pair.epsilon(1e-6).upper <= NormalPair(2).epsilon(1e-6).upper


def test_scale_ten_has_the_values_of_the_normal_law():
    law = RoundedGaussian(10)
    assert law.pmf(0) == pytest.approx(math.erf(0.05 / math.sqrt(2)), rel=1e-14)
    assert law.cdf(np.array([-1, 0])).tolist() == pytest.approx([0.48006119416162751, 0.51993880583837249], rel=1e-14)
    assert law.quantile(0.975) == 20
