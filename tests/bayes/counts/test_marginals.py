"""Marginals: exact distribution functions, quantiles that invert them, masses of printed intervals."""

import numpy as np
import pytest
from scipy import stats

from discreet.bayes.counts import IntegerMarginal, MixtureOfBetas, MixtureOfGammas
from discreet.errors import ParameterError

LEVELS = [1e-9, 1e-3, 0.025, 0.3, 0.5, 0.7, 0.975, 0.999, 1 - 1e-6]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("first", "second"), [(0.01, 3.0), (0.5, 0.5), (1, 1), (30, 1e6), (2e5, 3e5)])
def test_quantiles_of_one_beta_are_those_of_the_law(level, first, second):
    law = MixtureOfBetas(np.array([2.0]), np.array([first]), np.array([second]))
    if level > 0.1 or first > 0.01:
        assert law.cdf(law.quantile(level)) == pytest.approx(level, rel=1e-9)
    if level > 1e-9 and first > 0.1:
        assert law.quantile(level) == pytest.approx(stats.beta(first, second).ppf(level), rel=1e-9)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("shape", [0.3, 1.0, 5e4])
def test_quantiles_of_one_gamma_are_those_of_the_law(level, shape):
    law = MixtureOfGammas(np.array([1.0]), np.array([shape]), np.array([7.0]))
    assert law.quantile(level) == pytest.approx(stats.gamma(shape, scale=1 / 7).ppf(level), rel=1e-9)


def test_a_mixture_far_apart_has_the_quantiles_of_its_parts():
    masses, first = np.array([0.3, 0.7]), np.array([10.0, 9_000.0])
    law = MixtureOfBetas(masses, first, 10_000.0 - first)
    for level in LEVELS:
        assert law.cdf(law.quantile(level)) == pytest.approx(level, rel=1e-8)
    assert law.mean == pytest.approx(0.3 * 0.001 + 0.7 * 0.9)
    within = np.array([stats.beta(a, 10_000 - a).var() for a in first])
    assert law.deviation**2 == pytest.approx(masses @ within + 0.21 * (0.9 - 0.001) ** 2)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(("a", "b"), [(1, 1), (0.01, 30.0), (7.5, 0.2)])
@pytest.mark.parametrize("people", [1, 40, 3000])
def test_components_that_are_left_out_are_decided(people, a, b, order):
    """Also where the components are not in order, and where a long tail reaches beyond what is looked at first."""
    rng = np.random.default_rng(people)
    counts = np.arange(people + 1.0)[::order]
    masses = rng.random(counts.size) ** 3
    masses /= masses.sum()
    shares = MixtureOfBetas(masses, a + counts, b + people - counts)
    rates = MixtureOfGammas(masses, a + counts, np.full(counts.size, b))
    for place in range(0, counts.size, max(people // 20, 1)):
        share = float(stats.beta(shares.first[place], shares.second[place]).ppf(rng.random()))
        rate = float(stats.gamma(rates.first[place], scale=1 / b).ppf(rng.random()))
        direct = masses @ stats.beta(a + counts, b + people - counts).cdf(share)
        assert shares.cdf(share) == pytest.approx(direct, abs=2e-15)
        assert rates.cdf(rate) == pytest.approx(masses @ stats.gamma(a + counts, scale=1 / b).cdf(rate), abs=2e-15)


def test_quantiles_of_an_integer_are_the_least_that_reach_the_level():
    rng = np.random.default_rng(3)
    masses = rng.random(50) ** 4
    masses /= masses.sum()
    law = IntegerMarginal(7, masses)
    for level in rng.random(200):
        value = law.quantile(level)
        assert law.cdf(value) >= level - 1e-12
        assert law.cdf(value - 1) <= level + 1e-12
    assert law.mean == pytest.approx(masses @ np.arange(7, 57))
    assert law.deviation**2 == pytest.approx(masses @ (np.arange(7, 57) - law.mean) ** 2)
    assert law.mass(10, 20) == pytest.approx(law.cdf(20) - law.cdf(9))
    assert law.mass(-5, 1000) == pytest.approx(1)
    assert law.mass(100, 200) == 0
    assert (law.cdf(6), law.cdf(56.5), law.pmf(6), law.pmf(57)) == (0, 1, 0, 0)


@pytest.mark.parametrize("level", [0, 1, -0.1, float("nan"), True, "0.5"])
def test_a_level_is_a_probability(level):
    law = IntegerMarginal(7, np.ones(3))
    with pytest.raises(ParameterError, match="probability must be"):
        law.quantile(level)
