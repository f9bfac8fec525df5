"""The likelihood of noisy sums, against simulated tables and against independent densities."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from discreet.bayes.sums.clipped_moments import clipped_moments
from discreet.bayes.sums.mixed_normal import log_normal
from discreet.bayes.sums.power_sums import PowerSumLikelihood, SumEntry
from discreet.laws import DiscreteLaplace
from discreet.laws.noise import RoundedGaussian

STEPS = 1000
THREE = {
    DiscreteLaplace: ((16, -40, 25), (0, 50, -50), (1, -10, 25)),
    RoundedGaussian: ((0, 20, -20), (4, -16, 16), (-3, 6, 0)),
}


def three_sums(law, scale, released):
    unit = STEPS**2
    noise = law(scale * unit)
    return [
        SumEntry(a * unit, float(b * unit), float(c * unit), int(value * unit), noise)
        for (a, b, c), value in zip(THREE[law], released, strict=True)
    ]


def one(value):
    return np.array([float(value)])


def test_the_bordered_factor_is_the_normal_density():
    rng = np.random.default_rng(1)
    residual, factor = rng.normal(size=(4, 3)), rng.normal(size=(4, 2, 3))
    found = log_normal(residual, factor)
    for point in range(3):
        spread = np.eye(4) + factor[:, :, point] @ factor[:, :, point].T
        assert found[point] == pytest.approx(multivariate_normal(np.zeros(4), spread).logpdf(residual[:, point]))


def test_far_out_the_density_stays_small():
    # the difference of two squares of 1e12 once made such points the likeliest of all
    factor = np.array([[1e12, 3e11], [2e12, 1e11], [5e11, 7e11]])[:, :, np.newaxis]
    residual = (factor[:, 0] * 1.3 + factor[:, 1] * 0.4) + 7.0
    with np.errstate(all="ignore"):
        assert not log_normal(residual, factor)[0] > 0  # no number counts as impossible


def test_normal_noise_is_added_to_the_covariance_of_the_sums():
    mean, deviation, people, scale = 0.2, 0.3, 180.0, 5.0
    released = (700.0, 300.0, -100.0)
    likelihood = PowerSumLikelihood.of(three_sums(RoundedGaussian, scale, released), STEPS)
    m = [float(part[0]) for part in clipped_moments(one(mean), one(deviation), steps=STEPS)]
    combine = np.array(THREE[RoundedGaussian], dtype=float)
    row = np.zeros((3, 3))
    row[1:, 1:] = [[m[1] - m[0] ** 2, m[2] - m[0] * m[1]], [m[2] - m[0] * m[1], m[3] - m[1] ** 2]]
    spread = people * combine @ row @ combine.T + scale**2 * np.eye(3)
    exact = multivariate_normal(people * combine @ [1, m[0], m[1]], spread).logpdf(released) - 3 * math.log(STEPS**2)
    found = likelihood.at(one(mean), one(deviation), one(people), np.empty((1, 0)))
    assert found[0] == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize("law", [DiscreteLaplace, RoundedGaussian])
def test_the_likelihood_is_that_of_simulated_tables(law):
    # an unbiased estimate of the exact likelihood, without the normal approximation: the density of the noise at what
    # is left, averaged over tables; 150 clipped rows, of which one in seven lies on a bound
    mean, deviation, people, scale = 0.3, 0.28, 150, 6.0
    rng = np.random.default_rng(2)
    shares = np.clip(rng.normal(mean, deviation, (20_000, people)), 0, 1)
    sums = np.stack([np.full(20_000, people), shares.sum(axis=1), (shares**2).sum(axis=1)])
    combine = np.array(THREE[law], dtype=float)
    released = combine @ sums[:, 0] + scale * np.array([0.7, -1.1, 0.4])
    left = (released[:, np.newaxis] - combine @ sums) / scale
    height = -np.abs(left) - math.log(2) if law is DiscreteLaplace else -0.5 * left**2 - 0.5 * math.log(2 * math.pi)
    each = np.exp(height.sum(axis=0) - 3 * math.log(scale * STEPS**2) + 60)
    likelihood = PowerSumLikelihood.of(three_sums(law, scale, released), STEPS)
    count = 20_000 if likelihood.latent else 1
    latent = np.log(rng.standard_exponential((count, likelihood.latent)))
    found = np.exp(
        likelihood.at(np.full(count, mean), np.full(count, deviation), np.full(count, float(people)), latent) + 60
    )
    error = math.hypot(each.std() / each.mean(), found.std() / found.mean()) / math.sqrt(20_000)
    assert likelihood.latent == (3 if law is DiscreteLaplace else 0)
    assert math.log(found.mean() / each.mean()) == pytest.approx(0, abs=5 * error + 0.01)


def test_the_number_of_rows_follows_from_three_sums_but_not_from_a_sum_alone():
    combine, sums = np.array(THREE[RoundedGaussian], dtype=float), np.array([500.0, 210.0, 130.0])
    entries = three_sums(RoundedGaussian, 5.0, combine @ sums)
    told = PowerSumLikelihood.of(entries, STEPS).people()
    assert told is not None
    assert told[0] == pytest.approx(500.0, abs=1e-6)
    assert told[1] == pytest.approx(math.sqrt(2) * 5.0 * math.hypot(0.2, 0.25))
    alone = SumEntry(0, float(STEPS), 0.0, 300 * STEPS, DiscreteLaplace(STEPS))
    assert PowerSumLikelihood.of([alone], STEPS).people() is None
    count = SumEntry(1, 0.0, 0.0, 512, DiscreteLaplace(2))
    told = PowerSumLikelihood.of([alone, count], STEPS).people()
    assert told is not None
    assert told[0] == pytest.approx(512)


def test_a_count_is_taken_with_the_exact_law_of_its_noise():
    count, noise = SumEntry(1, 0.0, 0.0, 12, DiscreteLaplace(1)), DiscreteLaplace(1)
    total = SumEntry(0, float(STEPS), 0.0, 6 * STEPS, RoundedGaussian(1000 * STEPS))
    with_count = PowerSumLikelihood.of([count, total], STEPS)
    without = PowerSumLikelihood.of([total], STEPS)
    people = np.arange(20.0)
    args = (np.full(20, 0.5), np.full(20, 0.1), people, np.empty((20, 0)))
    assert np.allclose(with_count.at(*args) - without.at(*args), noise.log_pmf(12 - np.arange(20)))
