"""Quantiles of weighted sums of noises: never too small, and not much too large."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from discreet.laws.noise.discrete_gaussian import DiscreteGaussian
from discreet.laws.noise.discrete_laplace import DiscreteLaplace
from discreet.statistics.pricing.combined_noise import combination_quantile, mean_of_population

COEFFICIENTS = [(1.0,), (0.5, 0.5), (0.75, 0.25), (0.9, -0.1), (1.0, 0.0), (0.2, -0.3, 0.1), (0.25, 0.25, 0.25)]


def chance_inside(noise, coefficients, width):
    """P(|sum of c_i Z_i| <= width), summed over the joint law of few noises."""
    reach = noise.half_width(1 - 1e-5)
    places = np.arange(-reach, reach + 1)
    mass = np.asarray(noise.pmf(places))
    total, weight = np.zeros(1), np.ones(1)
    for coefficient in coefficients:
        total = (total[:, None] + coefficient * places[None, :]).ravel()
        weight = (weight[:, None] * mass[None, :]).ravel()
    return float(weight[np.abs(total) <= width].sum())


@pytest.mark.parametrize("kind", [DiscreteLaplace, DiscreteGaussian])
@pytest.mark.parametrize("scale", [1, 3, 7])
@pytest.mark.parametrize("coefficients", COEFFICIENTS, ids=str)
def test_the_quantile_covers_on_coarse_lattices_too(kind, scale, coefficients):
    for confidence in (0.5, 0.9, 0.95, 0.99):
        if len(coefficients) == 3 and scale == 7:
            continue
        width = combination_quantile(kind(scale), coefficients, confidence)
        assert chance_inside(kind(scale), coefficients, width) >= confidence - 3e-5 * len(coefficients)


@pytest.mark.parametrize("scale", [0.2, 0.5, 1, 2.5, 40])
def test_a_discrete_gaussian_variable_is_at_most_one_from_a_continuous_one(scale):
    from scipy.stats import norm

    noise = DiscreteGaussian(scale)
    for k in range(1, 6 * math.ceil(scale)):
        beyond = float(noise.sf(k - 1))
        assert norm.sf(k, scale=scale) * (1 - 1e-12) <= beyond <= norm.sf(k - 1, scale=scale) * (1 + 1e-12)


@pytest.mark.parametrize("coefficients", [(1.0, 0.5), (0.5, 0.5), (0.6, 0.3, 0.1), (1.0, 1.0, 1.0)], ids=str)
def test_fine_noise_is_covered_as_continuous_noise_is(coefficients):
    draws = np.random.default_rng(3).laplace(size=(400_000, len(coefficients))) @ np.array(coefficients)
    width = combination_quantile(DiscreteLaplace(1 << 30), coefficients, 0.95) / (1 << 30)
    assert float(np.mean(np.abs(draws) <= width)) == pytest.approx(0.95, abs=5 * math.sqrt(0.95 * 0.05 / 400_000))


def test_nothing_has_no_noise():
    assert combination_quantile(DiscreteLaplace(5), [0.0, 0.0], 0.95) == 0.0


def test_the_population_bound_holds_for_coins_of_every_bias():
    from scipy.stats import binom

    size, rest = 50, 0.1
    for truth in np.linspace(0.02, 0.98, 25):
        covered = 0.0
        for seen in range(size + 1):
            low, high = mean_of_population(seen / size, seen / size, size, rest)
            covered += binom.pmf(seen, size, truth) * (low <= truth <= high)
        assert covered >= 1 - rest


def test_no_rows_say_nothing_about_a_population():
    assert mean_of_population(0.3, 0.4, 0.0, 0.05) == (0.0, 1.0)
    for mean, size in product((0.0, 0.5, 1.0), (1.0, 1e9)):
        low, high = mean_of_population(mean, mean, size, 0.05)
        assert 0.0 <= low <= mean <= high <= 1.0
