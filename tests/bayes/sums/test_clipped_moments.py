"""Moments of clipped normal values, against quadrature in high precision and against rounded rows."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy.stats import norm

from discreet.bayes.sums.clipped_moments import clipped_moments

DEVIATIONS = (1e-3, 0.05, 0.3, 1.0, 1.999, 2.001, 5.0, 1000.0)


def by_quadrature(mean, deviation):
    with mpmath.workdps(30):
        mean, deviation = mpmath.mpf(mean), mpmath.mpf(deviation)
        ends = sorted({0, 1, *(min(max(mean + j * deviation, 0), 1) for j in (-8, -4, -2, -1, 0, 1, 2, 4, 8))})
        above = 1 - mpmath.ncdf((1 - mean) / deviation)
        inside = [mpmath.quad(lambda x, k=k: x**k * mpmath.npdf(x, mean, deviation), ends) for k in (1, 2, 3, 4)]
        return [float(one + above) for one in inside]


@pytest.mark.parametrize("mean", [-30.0, -1.0, -0.3, 0.0, 0.02, 0.5, 0.9, 1.2, 5.0])
def test_moments_equal_quadrature_in_the_middle_and_in_the_tails(mean):
    for deviation in DEVIATIONS:
        found = [float(one[0]) for one in clipped_moments(np.array([mean]), np.array([deviation]))]
        assert np.allclose(found, by_quadrature(mean, deviation), rtol=0, atol=1e-12)


def test_a_mirrored_law_has_mirrored_moments():
    mean, deviation = np.linspace(-1, 2, 31), np.full(31, 0.3)
    one = clipped_moments(mean, deviation)
    other = clipped_moments(1 - mean, deviation)
    assert np.allclose(one[0] + other[0], 1, atol=1e-13)
    assert np.allclose(one[1] - one[0] ** 2, other[1] - other[0] ** 2, atol=1e-13)


@pytest.mark.parametrize(("mean", "deviation"), [(0.5, 0.2), (0.1, 0.2), (0.9, 0.05), (-0.1, 0.2), (0.4, 1.0)])
@pytest.mark.parametrize("steps", [100, 120, 1000])
def test_rounding_to_a_grid_is_corrected_to_second_order(mean, deviation, steps):
    places = np.arange(steps + 1) / steps
    upper = np.append((places[:-1] + places[1:]) / 2, np.inf)
    chances = np.diff(norm.cdf(upper, mean, deviation), prepend=0.0)
    exact = [float(chances @ places**k) for k in (1, 2, 3, 4)]
    found = [float(one[0]) for one in clipped_moments(np.array([mean]), np.array([deviation]), steps=steps)]
    ends = norm.pdf([0.0, 1.0], mean, deviation).max()
    assert np.abs(np.array(found) - exact).max() < (1e-9 + 4 * ends / steps**2) / 4
    # the variance of rows, which the likelihood needs, to a thousandth
    assert found[1] - found[0] ** 2 == pytest.approx(exact[1] - exact[0] ** 2, rel=1e-3)


def test_the_covariance_of_a_row_is_never_negative():
    rng = np.random.default_rng(1)
    one, two, three, four = clipped_moments(rng.normal(0.5, 1.0, 4000), np.exp(rng.uniform(-4, 4, 4000)))
    xx, xy, yy = two - one**2, three - one * two, four - two**2
    assert xx.min() > -1e-15
    assert yy.min() > -1e-15
    assert (xx * yy - xy**2).min() > -1e-15
