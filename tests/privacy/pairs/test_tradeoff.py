"""Is a normal pair worse everywhere? The certificate against dense exact curves."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.laws import DiscreteLaplace
from discreet.privacy import GaussianDP, PrivacyLoss, PureDP
from discreet.privacy.pairs.tradeoff import TradeOff, normal_pair_is_worse
from discreet.privacy.pairs.worst_pairs import NormalPair, PureApproxPair


@pytest.mark.theorem("normal_pair_is_worse.privacy")
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 4.0])
def test_randomized_response_is_certified_from_its_own_mu_on(epsilon):
    tight, pair = PureDP(epsilon).to_gaussian().mu, PureApproxPair(epsilon)

    def delta(level):
        return pair.delta(level).upper

    assert normal_pair_is_worse(delta, epsilon, tight * 1.0001)
    assert not normal_pair_is_worse(delta, epsilon, tight * 0.9999)


@pytest.mark.theorem("normal_pair_is_worse.privacy")
@pytest.mark.parametrize(("scale", "shift"), [(Fraction(1, 2), 1), (1, 3), (3, 1), (3, 5), (10, 7)])
def test_what_is_certified_for_integer_laplace_noise_is_true_on_a_dense_curve(scale, shift):
    pair = DiscreteLaplace(scale).pair(DiscreteLaplace(scale, shift))
    loss = PrivacyLoss.from_pairs([pair])
    low, high = 0.0, PureDP(shift / Fraction(scale)).to_gaussian().mu * 1.001
    assert loss.satisfies(GaussianDP(high))
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (low, middle) if loss.satisfies(GaussianDP(middle)) else (middle, high)
    for alpha in np.linspace(0.001, 0.999, 200):
        assert NormalPair(high).tradeoff(alpha).lower <= pair.tradeoff(float(alpha)).upper
    # and not needlessly large: one percent less is refuted by some test
    smaller = NormalPair(high * 0.99)
    grid = np.concatenate([np.geomspace(1e-9, 0.1, 200), np.linspace(0.1, 0.5, 400)])
    assert any(smaller.tradeoff(alpha).lower > pair.tradeoff(float(alpha)).upper for alpha in grid)


@pytest.mark.theorem("normal_pair_is_worse.privacy")
@pytest.mark.parametrize("rare", [1e-4, 1e-2])
def test_a_rare_large_loss_is_judged_by_its_tail_and_not_by_its_bulk(rare):
    # half the time randomized response with epsilon 1, rarely with epsilon 5, silence otherwise
    small, large = PureApproxPair(1), PureApproxPair(5)

    def delta(level):
        total = 0.5 * small.delta(level).upper + rare * large.delta(level).upper
        return math.nextafter(total, 1.0) if level < 5 else 0.0

    def bulk(level):
        return 0.5 * small.delta(level).upper

    assert normal_pair_is_worse(bulk, 1.0, 0.9)
    assert NormalPair(0.9).delta(4).upper < rare * large.delta(4).lower
    assert not normal_pair_is_worse(delta, 5.0, 0.9)
    assert normal_pair_is_worse(delta, 5.0, PureDP(5).to_gaussian().mu)


@pytest.mark.theorem("normal_pair_is_worse.privacy")
def test_an_unbounded_loss_is_not_certified_and_no_loss_always_is():
    assert not normal_pair_is_worse(lambda _: 1.0, math.inf, 5)
    assert not normal_pair_is_worse(lambda _: 1.0, 1000.0, 50)
    assert normal_pair_is_worse(lambda _: 0.0, 0.0, 0)


def test_bounds_on_delta_that_jump_make_it_refuse_and_not_err():
    assert not normal_pair_is_worse(lambda _: 0.9, 1.0, 1.3)
    assert not normal_pair_is_worse(lambda level: 0.5 if level < 0.5 else 0.6, 1.0, 1.3)


def test_the_curve_draws_itself():
    grid = np.linspace(0, 1, 5)
    assert "<svg" in TradeOff(grid, (1 - grid) * 0.8, 1 - grid).plot().svg()
