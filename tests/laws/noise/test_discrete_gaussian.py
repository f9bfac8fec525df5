"""The table of properties in the docstring of the discrete Gaussian law holds."""

from __future__ import annotations

from fractions import Fraction

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.laws import DiscreteGaussian
from tests.laws.agreement import DIGITS, arb, close, gaussian_mass

SCALES = st.fractions(Fraction(1, 20), 60)


def true_variance(scale: Fraction) -> flint.arb:
    with flint.ctx.workprec(DIGITS):
        return 2 * sum((x * x * gaussian_mass(scale, x) for x in range(1, int(30 * scale) + 3)), arb(0))


@pytest.mark.parametrize(
    "scale", [Fraction(1, 100), Fraction(1, 3), Fraction(1), Fraction(2), Fraction(4), Fraction(9, 2), Fraction(20)]
)
def test_the_variance_is_the_second_moment_and_at_most_the_square_of_the_scale(scale):
    truth = true_variance(scale)
    with flint.ctx.workprec(DIGITS):
        assert close(DiscreteGaussian(scale).variance, truth, 1e-12)
        assert truth < arb(scale * scale) or truth.overlaps(arb(scale * scale))


def test_the_variance_is_almost_the_square_from_scale_one_on():
    for scale in (Fraction(1), Fraction(3, 2), Fraction(3)):
        assert DiscreteGaussian(scale).variance == pytest.approx(float(scale) ** 2, rel=1e-6)


@pytest.mark.parametrize(
    "scale", [Fraction(2) ** -600, Fraction(2) ** -300, Fraction(2**500), Fraction(2**520), Fraction(2**600)]
)
def test_the_variance_of_extreme_scales_is_a_number(scale):
    assert DiscreteGaussian(scale).variance >= 0.0


@given(SCALES, st.integers(1, 30), st.integers(-100, 100))
def test_the_loss_of_a_shift_is_linear_in_the_outcome(scale, shift, place):
    law = DiscreteGaussian(scale)
    with flint.ctx.workprec(300):
        loss = (law.mass_ball(place - shift) / law.mass_ball(place)).log()
        assert loss.overlaps(arb(Fraction(2 * place * shift - shift * shift) / (2 * scale * scale)))
    assert law.largest_loss(shift) is None


@given(SCALES, st.integers(1, 30), st.fractions(-5, 5))
def test_the_first_outcome_above_a_loss_is_exact(scale, shift, level):
    first = DiscreteGaussian(scale).first_above(shift, level)
    losses = [Fraction(2 * place * shift - shift * shift) / (2 * scale * scale) for place in (first - 1, first)]
    assert losses[0] <= level < losses[1]


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1), Fraction(3)])
@pytest.mark.parametrize("shift", [1, 2, 5])
@pytest.mark.parametrize("order", [Fraction(3, 2), 2, 10])
def test_the_renyi_divergence_of_a_shift_is_at_most_that_of_the_continuous_law(scale, shift, order):
    with flint.ctx.workprec(DIGITS):
        far = int(30 * scale) + int(order) * shift + 3
        moment = sum(
            (
                gaussian_mass(scale, x - shift)
                * (gaussian_mass(scale, x - shift) / gaussian_mass(scale, x)) ** arb(order - 1)
                for x in range(-far, far)
            ),
            arb(0),
        )
        divergence = moment.log() / arb(order - 1)
        assert not divergence > arb(Fraction(order) * shift * shift / (2 * scale * scale)) + arb(Fraction(1, 10**60))


def test_scale_ten_has_the_values_of_the_continuous_density():
    law = DiscreteGaussian(10)
    assert law.pmf(0) == pytest.approx(0.039894228040143, rel=1e-13)
    assert law.quantile(0.975) == 20
