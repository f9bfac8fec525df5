"""Sampled plans in Gaussian and zCDP sessions: with a delta at any time, or fixed beforehand beside a budget."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import BudgetExceeded, NoSoundConversion
from discreet.privacy import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    PureDP,
    Relation,
    balls_in_bins_loss,
    compose,
    gaussian_budget,
    gaussian_loss,
    largest_mu,
    subsample,
)
from discreet.privacy.adaptive import (
    Batch,
    GaussianFilter,
    ZCDPFilter,
    charge_for,
    gaussian_beside,
    gaussian_with_delta,
)
from discreet.privacy.pairs import NormalPair

BOTH = Relation.ADD_REMOVE


def poisson(count):
    """Steps of noise multiplier 1 on a hundredth of the people."""
    return subsample(gaussian_loss(1, relation=BOTH), rate=0.01) * count


@pytest.mark.theorem("gaussian_with_delta.privacy")
@pytest.mark.parametrize("delta", [1e-4, 1e-8])
@pytest.mark.parametrize(
    "loss",
    [poisson(1), poisson(500), balls_in_bins_loss(1, steps=20, relation=BOTH, cells=64) * 3, ApproxDP(1, 1e-9).loss],
    ids=["one step", "500 steps", "balls in bins", "a guarantee"],
)
def test_the_whole_curve_is_below_the_normal_one_but_for_the_delta(loss, delta):
    mu = gaussian_with_delta(loss, delta).mu
    worst = NormalPair(mu)
    top = loss.epsilon(delta).upper
    for level in np.linspace(0, 1.1 * top, 37):
        # these levels lie between those that were asked: a lower end may nowhere exceed an upper end of the bound
        bound = delta + (1 - delta) * worst.delta(float(level)).upper
        for side in (loss.remove, loss.add):
            assert side.delta(float(level)).lower <= bound * (1 + 1e-12)


@pytest.mark.theorem("gaussian_with_delta.privacy")
def test_gaussian_noise_is_worth_its_own_mu_and_less_does_not_pass():
    loss = gaussian_loss(2, relation=BOTH) * 4
    mu = gaussian_with_delta(loss, 1e-9).mu
    assert 0.99 < mu < 1.01
    assert gaussian_with_delta(loss, 0.1).mu < 0.9  # a delta that is not small buys a part of the curve
    with pytest.raises(NoSoundConversion, match="larger one"):
        gaussian_with_delta(ApproxDP(1, 1e-3).loss, 1e-4)


@pytest.mark.theorem("charge_for.privacy", "certified.privacy")
def test_a_sampled_plan_costs_a_delta_or_as_much_as_without_sampling():
    plan, budget = poisson(1000), gaussian_budget(epsilon=3, delta=1e-5, reserve=1e-6)
    cost = charge_for(plan, budget, at_delta=1e-7)
    assert isinstance(cost, GaussianDP)
    assert cost.delta == pytest.approx(1e-7)
    assert cost.mu < 0.48
    assert cost.to_approx(delta=1e-6).epsilon < 1.01 * plan.epsilon(1e-6).upper
    assert charge_for(plan, budget).mu == pytest.approx(math.sqrt(1000))
    assert charge_for(Batch(plan), ZCDP(1, 1e-6), at_delta=1e-7).rho <= cost.mu**2 / 2 * (1 + 1e-9)
    assert charge_for(plan, ApproxDP(3, 1e-5), at_delta=1e-6).epsilon == plan.epsilon(1e-6).upper


@pytest.mark.theorem("charge_for.privacy")
def test_sessions_admit_sampled_plans_at_that_price():
    normal, concentrated = GaussianFilter(1, 1e-6, relation=BOTH), ZCDPFilter(1, 1e-6, relation=BOTH)
    for session in (normal, concentrated):
        session.spend(GaussianDP(0.5))
        session.spend(Batch(poisson(500)), at_delta=1e-7)
    assert normal.remaining.mu > 0.7
    with pytest.raises(BudgetExceeded, match="Nothing was spent"):
        normal.spend(Batch(poisson(500)))


@pytest.mark.theorem("gaussian_beside.privacy")
def test_what_is_left_beside_a_plan_keeps_the_target():
    plan = poisson(500)
    beside = gaussian_beside(plan, epsilon=2, delta=1e-6)
    together = compose([plan, gaussian_loss(1, sensitivity=beside.mu, relation=BOTH)])
    assert together.delta(2).upper <= 1e-6
    more = compose([plan, gaussian_loss(1, sensitivity=1.01 * beside.mu, relation=BOTH)])
    assert more.delta(2).lower > 1e-6
    # a plan of Gaussian releases leaves what squares leave
    total, own = largest_mu(Fraction(2), Fraction(1, 10**6)), 0.3
    left = gaussian_beside(gaussian_loss(1, sensitivity=own, relation=BOTH), epsilon=2, delta=1e-6).mu
    assert left**2 + own**2 == pytest.approx(float(total) ** 2, rel=1e-3)
    assert left**2 + own**2 <= float(total) ** 2


def test_a_plan_that_costs_more_than_the_target_is_refused():
    with pytest.raises(BudgetExceeded, match=r"must cost less.*Nothing was spent"):
        gaussian_beside(poisson(500), epsilon=0.1, delta=1e-6)
    assert gaussian_with_delta(PureDP(1).loss, 0.9).mu == 0
