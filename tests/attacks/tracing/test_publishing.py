"""Frequencies of a group in rounded Gaussian noise: below the curve of their mu, and as private as they guarantee."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

import discreet as dp
from discreet.attacks import PrivateFrequencies, Rounded, area_ceiling, gaussian_mu
from discreet.errors import InputError, ParameterError
from discreet.laws import RoundedGaussian

NORMAL = NormalDist()


def gaussian_law(scale: float, center: int, reach: int) -> np.ndarray:
    return np.asarray(RoundedGaussian(scale, center).pmf(np.arange(-reach, reach + 1)))


@pytest.mark.theorem("membership.privacy", "PrivateFrequencies.privacy")
@pytest.mark.parametrize("mu", [0.1, 0.268, 1.0])
@pytest.mark.parametrize("positions", [1, 2])
def test_the_best_test_on_the_exact_law_stays_below_the_curve_of_its_mu(mu, positions):
    # a member who carries everything, replaced by somebody who carries nothing
    scale = math.sqrt(positions) / mu
    reach = int(9 * scale) + 2
    ours, theirs = (gaussian_law(scale, center, reach) for center in (1, 0))
    if positions == 2:
        ours, theirs = np.outer(ours, ours).ravel(), np.outer(theirs, theirs).ravel()
    order = np.argsort(-(ours / theirs), kind="stable")
    true_rate, false_rate = np.cumsum(ours[order]), np.cumsum(theirs[order])
    inside = (false_rate > 1e-9) & (false_rate < 1 - 1e-9)
    allowed = [NORMAL.cdf(mu + NORMAL.inv_cdf(rate)) for rate in false_rate[inside]]
    assert (true_rate[inside] <= np.array(allowed) + 1e-9).all()
    area = float(np.trapezoid(np.append(0, true_rate), np.append(0, false_rate)))
    assert area <= area_ceiling(mu).upper + 1e-9
    # rounding takes little where the noise is wide, so that no much smaller mu would do
    if mu < 0.5:
        assert area >= area_ceiling(0.95 * mu).lower


@pytest.mark.theorem("PrivateFrequencies.privacy")
@pytest.mark.parametrize("positions", [1, 2, 99])
def test_the_noise_is_normal_noise_rounded_for_any_number_of_counts(positions):
    publish = PrivateFrequencies(people=50, positions=positions, epsilon=1, delta=1e-5)
    noise = publish.mechanism.noise
    assert isinstance(noise, RoundedGaussian)
    assert positions <= (publish.mu * float(noise.scale)) ** 2 <= positions * (1 + 1e-14)


@pytest.mark.theorem("PrivateFrequencies.privacy")
@pytest.mark.parametrize(("epsilon", "delta"), [(1, 1e-5), (0.1, 1e-6), (4, 1e-9)])
def test_the_noise_keeps_the_guarantee_it_was_calibrated_for(epsilon, delta):
    mu = gaussian_mu(epsilon, delta)
    assert dp.GaussianDP(mu).loss.delta(epsilon).upper <= delta
    assert dp.GaussianDP(mu * (1 + 1e-9)).loss.delta(epsilon).upper > delta
    publish = PrivateFrequencies(people=50, positions=99, epsilon=epsilon, delta=delta)
    assert publish.mu == mu
    assert publish.mechanism.sensitivity.value == 10
    assert publish.guarantee.relation is dp.Relation.CHANGE_ONE
    assert publish.deviation == pytest.approx(math.sqrt(99 / mu**2 + 1 / 12) / 50, rel=1e-9)


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(1e-12, 1e-15), (1e-300, 1e-15), (30, 0.1), (1, 1e-5), (40, 1e-5), (1, 1e-21)]
)
def test_the_largest_mu_is_found_to_twelve_digits_however_small(epsilon, delta):
    mu = gaussian_mu(epsilon, delta)
    assert dp.GaussianDP(mu).loss.delta(epsilon).upper <= delta
    assert dp.GaussianDP(mu * (1 + 1e-11)).loss.delta(epsilon).upper > delta * (1 - 1e-15)


@pytest.mark.parametrize("decimals", [-1, 16, 2.0, True, "2"])
def test_what_is_no_number_of_decimals_is_refused(decimals):
    with pytest.raises(ParameterError, match="decimals"):
        Rounded(decimals)


@pytest.mark.parametrize(
    "frequencies",
    [[0.5], [0.5, 0.3], [[0.5, 0.5]], [2.5, 0.5], [-0.5, 0.5], [math.inf, 0.5], [math.nan, 0.5]],
)
def test_what_is_no_share_of_the_group_is_not_published(frequencies):
    publish = PrivateFrequencies(people=2, positions=2, epsilon=1, delta=1e-5)
    with pytest.raises(InputError, match="shares of 2 people"):
        publish(frequencies)
    assert "2 of 2 people" in repr(publish)


@pytest.mark.parametrize(
    "changed",
    [{"delta": 0}, {"people": 10**10}, {"positions": 10**13}, {"people": 0}, {"epsilon": 0}],
)
def test_what_cannot_be_calibrated_is_refused(changed):
    with pytest.raises(ParameterError):
        PrivateFrequencies(**({"people": 10, "positions": 10, "epsilon": 1, "delta": 1e-5} | changed))
