"""Rejection first, a table once it pays; the change cannot be told from the draws."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.laws import DiscreteGaussian
from discreet.laws.noise.gaussian import gaussian_sampler
from discreet.laws.noise.gaussian.gaussian_sampler import GaussianSampler
from tests.laws.agreement import assert_fits, gaussian
from tests.randomness.sources import within


@pytest.fixture
def tables(monkeypatch):
    """Every sigma a table was asked for."""
    asked = []
    original = gaussian_sampler.gaussian_table

    def recorded(sigma, variance):
        asked.append(sigma)
        return original(sigma, variance)

    monkeypatch.setattr(gaussian_sampler, "gaussian_table", recorded)
    return asked


@pytest.mark.parametrize("sigma", [Fraction(1, 3), Fraction(1), Fraction(10), Fraction(1000), Fraction(2**30)], ids=str)
def test_a_table_is_made_once_many_draws_were_asked(sigma, tables):
    sampler = GaussianSampler(sigma)
    sampler.draw(10)
    assert tables == []
    sampler.draw(10**6)
    assert tables == [sigma]


def test_many_small_requests_earn_a_table_too(tables):
    sampler = GaussianSampler(Fraction(1))
    for _ in range(1000):
        sampler.draw(1)
    assert tables


@pytest.mark.parametrize("sigma", [2**40 + 1, 2**53, 2**70])
def test_beyond_2_to_the_40_there_is_only_rejection(sigma, tables):
    sampler = GaussianSampler(Fraction(sigma))
    sampler._asked = 10**9
    assert sampler.draw(50).shape == (50,)
    assert tables == []


@pytest.mark.parametrize("sigma", [1, 10, 1000, 2**30])
def test_the_law_is_the_same_before_and_after_the_change(sigma, rounds):
    law = DiscreteGaussian(sigma)
    sampler = GaussianSampler(Fraction(sigma))
    pieces = [sampler.draw(sampler._worth_a_table // 3 + 1) for _ in range(5)]
    pieces.append(sampler.draw(rounds(sample=20_000, full=1_000_000)))
    assert_fits(gaussian(law.scale), np.concatenate(pieces), comparisons=4, degrees=2)


@pytest.mark.parametrize("sigma", [1, 10, 2**30])
def test_single_draws_from_the_stock_have_the_law(sigma, rounds):
    law = DiscreteGaussian(sigma)
    draws = np.array([law.sample() for _ in range(rounds(sample=20_000, full=500_000))])
    assert_fits(gaussian(law.scale), draws, comparisons=3, degrees=2)


@pytest.mark.parametrize("exponent", [-600, -540, -520, -512, -100, -10])
def test_every_small_scale_a_law_accepts_can_be_drawn_by_table_and_by_rejection(exponent):
    law = DiscreteGaussian(Fraction(2) ** exponent)
    with within(30):
        assert not law.sample(20).any()
    with within(30):
        assert not law.sample(2000).any()
