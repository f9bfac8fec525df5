"""Statistics priced in mu: rounded normal noise of exactly that mu, and charged as that."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dp
from discreet.errors import ParameterError
from discreet.laws import RoundedGaussian
from discreet.statistics import (
    Count,
    Covariance,
    DiscoveredHistogram,
    Histogram,
    Mean,
    Quantile,
    Sum,
    Variance,
)

ADD = dp.Relation.ADD_REMOVE
ASKED = [
    lambda **price: Count(relation=ADD, **price),
    lambda **price: Sum(bounds=(0, 10), relation=ADD, **price),
    lambda **price: Mean(bounds=(0, 10), relation=ADD, **price),
    lambda **price: Variance(bounds=(0, 10), relation=ADD, **price),
    lambda **price: Histogram(keys=["a", "b"], relation=ADD, **price),
    lambda **price: Covariance(bounds=[(0, 4), (0, 4)], relation=ADD, **price),
]


@pytest.mark.parametrize("make", ASKED)
def test_a_price_in_mu_buys_rounded_noise_of_that_mu(make) -> None:
    statistic = make(mu=0.2)
    assert isinstance(statistic.mechanism.noise, RoundedGaussian)
    assert statistic.guarantee == dp.GaussianDP(0.2, relation=ADD)
    assert statistic.loss.satisfies(dp.GaussianDP(0.2, relation=ADD))
    assert not statistic.loss.satisfies(dp.GaussianDP(0.199, relation=ADD))
    session = dp.privacy_filter(dp.GaussianDP(0.4, relation=ADD))
    for _ in range(4):
        session.spend(statistic.guarantee)
    assert session.remaining == dp.GaussianDP(0, relation=ADD)


def test_a_filter_charges_the_loss_of_rounded_noise_its_own_mu() -> None:
    mean = Mean(bounds=(0, 10), relation=ADD, rho=0.02)
    session = dp.privacy_filter(dp.GaussianDP(1, relation=ADD))
    session.spend(mean.loss)
    assert 0.2 <= float(session.spent.mu) <= 0.2 * (1 + 1e-9)


def test_private_keys_are_priced_in_mu_with_a_delta() -> None:
    statistic = DiscoveredHistogram(mu=0.5, delta=1e-7, relation=ADD)
    assert statistic.guarantee == dp.GaussianDP(0.5, 1e-7, relation=ADD)


def test_choices_by_rank_say_which_prices_they_take() -> None:
    with pytest.raises((ParameterError, TypeError), match="mu"):
        Quantile(level=0.5, bounds=(0, 1), relation=ADD, mu=0.2)


def test_the_function_takes_it_too() -> None:
    found = dp.statistics.mean(np.arange(1000) % 10, bounds=(0, 9), relation=ADD, mu=0.5)
    assert abs(found.value - 4.5) < 1
    assert found.guarantee == dp.GaussianDP(0.5, relation=ADD)
