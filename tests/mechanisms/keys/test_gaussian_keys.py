"""Private keys priced in mu: rounded normal noise on the counts, and a delta for new keys beside it."""

from __future__ import annotations

from fractions import Fraction

import pytest

import discreet as dp
from discreet.errors import ConflictingParameters
from discreet.laws import RoundedGaussian
from discreet.mechanisms import KeyNoise, ThresholdedHistogram
from discreet.privacy.guarantees import delta_of

LEVELS = (Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4))


@pytest.mark.theorem("ThresholdedHistogram.privacy")
@pytest.mark.parametrize("relation", [dp.Relation.ADD_REMOVE, dp.Relation.CHANGE_ONE])
@pytest.mark.parametrize(("mu", "delta"), [(1, 1e-3), (0.5, 5e-3)])
def test_no_small_neighbors_are_told_apart_better_than_an_approximate_mu_allows(mu, delta, relation):
    histogram = ThresholdedHistogram(mu=mu, delta=delta, keys=1, relation=relation)
    assert histogram.guarantee == dp.GaussianDP(mu, delta, relation=relation)
    allowed = [delta_of(histogram.guarantee, level) for level in LEVELS]
    assert histogram.loss.delta(1).upper <= allowed[2] * (1 + 1e-9)
    for first, second in histogram.neighbors():
        pair = histogram.law(first).pair(histogram.law(second))
        for level, most in zip(LEVELS, allowed, strict=True):
            assert max(pair.delta(level).lower, pair.reversed().delta(level).lower) <= most


@pytest.mark.parametrize("keys", [1, 10, 1000])
def test_the_noise_is_that_of_mu_over_all_keys_of_a_person(keys):
    histogram = ThresholdedHistogram(mu=0.5, delta=1e-7, keys=keys, relation=dp.Relation.ADD_REMOVE)
    assert isinstance(histogram.noise, RoundedGaussian)
    assert Fraction(keys) <= histogram.noise.scale**2 / 4 <= Fraction(keys) * (1 + Fraction(1, 10**12))
    assert keys * histogram.chance(1).lower <= 1e-7 * (1 + 1e-6)
    assert "mu=0.5" in repr(histogram)


def test_a_price_in_mu_is_for_gaussian_noise():
    with pytest.raises(ConflictingParameters, match="mu= is for Gaussian noise"):
        ThresholdedHistogram(mu=1, delta=1e-6, keys=1, relation=dp.Relation.ADD_REMOVE, noise=KeyNoise.LAPLACE)
