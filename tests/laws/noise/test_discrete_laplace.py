"""The table of properties in the docstring of the discrete Laplace law holds."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.laws import DiscreteLaplace
from tests.laws.agreement import arb, close

SCALES = st.fractions(Fraction(1, 50), 1000)


@given(SCALES, st.integers(1, 300))
def test_the_chance_to_be_k_or_more_away_is_2_q_to_the_k_over_1_plus_q(scale, k):
    with flint.ctx.workprec(200):
        q = (-1 / arb(scale)).exp()
        truth = 2 * q**k / (1 + q)
        law = DiscreteLaplace(scale, center=4)
        assert close(law.sf(4 + k - 1) + law.cdf(4 - k), truth, 2e-13) or truth < 1e-300


@given(SCALES)
def test_the_variance_is_2_q_over_1_minus_q_squared(scale):
    with flint.ctx.workprec(200):
        q = (-1 / arb(scale)).exp()
        assert close(DiscreteLaplace(scale).variance, 2 * q / (1 - q) ** 2, 1e-13)


@pytest.mark.parametrize(
    "scale", [Fraction(2) ** -600, Fraction(1, 1401), Fraction(1, 1000), Fraction(1, 699), 2**40, 2**500]
)
def test_the_variance_of_extreme_scales_is_a_number(scale):
    with flint.ctx.workprec(3000):
        q = (-1 / arb(scale)).exp()
        assert close(DiscreteLaplace(scale).variance, 2 * q / (1 - q) ** 2, 1e-13)


@given(SCALES, st.integers(1, 50), st.integers(-200, 200))
def test_the_loss_of_a_shift_is_at_most_the_shift_over_the_scale_and_attained_on_half_lines(scale, shift, place):
    law = DiscreteLaplace(scale)
    with flint.ctx.workprec(200):
        loss = (law.mass_ball(place - shift) / law.mass_ball(place)).log()
        bound = arb(shift / scale)
        assert not loss > bound
        assert loss.overlaps(bound) == (place >= shift)
        assert loss.overlaps(-bound) == (place <= 0)


@given(SCALES, st.integers(1, 30), st.fractions(-3, 3))
def test_the_first_outcome_above_a_loss_is_exact(scale, shift, level):
    law = DiscreteLaplace(scale)
    first = law.first_above(shift, level)
    losses = {place: Fraction(abs(place) - abs(place - shift)) / scale for place in range(-2, shift + 3)}
    above = [place for place, loss in losses.items() if loss > level]
    if level < -shift / scale:
        return
    assert first == (min(above) if above else None)


@given(SCALES, st.integers(0, 40))
def test_masses_fall_by_the_factor_q_at_each_step(scale, place):
    law = DiscreteLaplace(scale)
    assert law.pmf(place + 1) == pytest.approx(law.pmf(place) * math.exp(-1 / scale), rel=1e-12)


def test_scale_one_has_the_values_of_the_textbook():
    law = DiscreteLaplace(1)
    q = math.exp(-1)
    assert law.pmf(0) == pytest.approx((1 - q) / (1 + q))
    assert law.sf(2) == pytest.approx(q**3 / (1 + q))
    assert np.allclose(law.pmf(np.arange(-3, 4)), (1 - q) / (1 + q) * q ** np.abs(np.arange(-3, 4)))
