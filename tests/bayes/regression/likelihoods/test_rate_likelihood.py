"""The tabulated likelihood of a rate is the direct sum over the count."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.bayes.evidence import Observation
from discreet.bayes.regression import RateLikelihood
from discreet.bayes.regression.likelihoods.latent_sums import evidence
from discreet.bayes.regression.likelihoods.rate_likelihood import poisson_sums
from discreet.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from tests.bayes.regression.likelihoods.direct_sums import rate_directly

CASES = [
    (12, DiscreteLaplace(2), 1),
    (-7, DiscreteLaplace(2), 1),
    (1, DiscreteLaplace(0.1), 1),
    (3, DiscreteLaplace(0.1), 1),
    (0, DiscreteLaplace(0.2), 1),
    (50, DiscreteGaussian(2), 1),
    (-60, DiscreteGaussian(10), 1),
    (7, RoundedGaussian(3), 1),
    (40, DiscreteLaplace(100), 1),
    (5000, DiscreteLaplace(2), 1),
    (50 * 2**20 + 12345, DiscreteLaplace(2**21), 2**20),
    (30_000, DiscreteLaplace(50), 1),
]


@pytest.mark.theorem("RateLikelihood.accuracy")
@pytest.mark.parametrize(("released", "noise", "weight"), CASES)
def test_a_table_is_the_direct_sum_down_to_e_to_the_minus_60(released, noise, weight):
    table = RateLikelihood([[Observation((0,), released, noise, weight)]])
    low, high = table.ranges[0]
    center = max(released / weight, 1)
    means = np.concatenate(
        [
            np.exp(np.linspace(np.log(low / 30), np.log(high * 1.05), 90)),
            center + np.linspace(-3.9, 3.9, 41) * np.sqrt(center + 1),
        ]
    )
    means = np.sort(means[means > 0])
    expected = rate_directly(released, noise, means, weight)
    found = table.at(np.log(means)[:, np.newaxis])[:, 0]
    matters = expected > expected.max() - 59
    assert np.abs(found - expected)[matters].max() < 1e-6


def test_several_releases_of_one_count_multiply():
    noise = DiscreteLaplace(2), DiscreteGaussian(4)
    table = RateLikelihood([[Observation((0,), 9, noise[0]), Observation((0,), 15, noise[1])]])
    counts = np.arange(300)
    mean = 11.0
    logs = noise[0].log_pmf(9 - counts) + noise[1].log_pmf(15 - counts)
    poisson = np.exp(counts * np.log(mean) - mean - np.cumsum(np.log(np.maximum(counts, 1))))
    assert table.at(np.log([[mean]]))[0, 0] == pytest.approx(np.log((np.exp(logs) * poisson).sum()), abs=1e-7)


def test_cells_side_by_side_are_the_cells_one_by_one_and_exposures_scale_rates():
    cells = [[Observation((0,), released, DiscreteLaplace(2))] for released in (4, 60, -3)]
    together = RateLikelihood(cells, [10.0, 100.0, 1.0])
    rates = np.array([[0.5, 0.5, 0.5], [1.0, 2.0, 3.0]])
    for place, (cell, exposure) in enumerate(zip(cells, (10.0, 100.0, 1.0), strict=True)):
        alone = RateLikelihood([cell]).at(np.log(rates[:, [place]] * exposure))[:, 0]
        assert together.at(np.log(rates))[:, place] == pytest.approx(alone, abs=1e-12)


@pytest.mark.theorem("log_sums.accuracy")
def test_counts_in_the_hundred_millions_are_summed_at_even_steps():
    noise = DiscreteLaplace(50_000)
    released = 100_000_000
    seen = evidence([Observation((0,), released, noise)])
    # sqrt(m) = 10^4 is a fifth of the scale: the sum is nearly the convolution of a normal and a Laplace law
    means = released + np.array([-60_000.0, -10_000.0, 0.0, 30_000.0])
    deviation, scale = np.sqrt(means), 50_000.0
    places = np.linspace(-9, 9, 40_001)
    normal = np.exp(-0.5 * places**2) / np.sqrt(2 * np.pi)
    laplace = np.exp(-np.abs(released - means[:, np.newaxis] - deviation[:, np.newaxis] * places) / scale)
    integral = (normal * laplace).sum(axis=1) * (places[1] - places[0]) * np.tanh(1 / (2 * scale))
    assert poisson_sums(seen, means) == pytest.approx(np.log(integral), abs=1e-4)
