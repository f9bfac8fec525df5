"""What a fit pays: prices read, shares that add up, distances of neighbors, and the noise that is bought."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import discreet as dp
from discreet.errors import MissingParameter, ParameterError
from discreet.learning.exact import FitNeighbors, FitPrice, Measurements, bought
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, PureDP, Relation, RenyiDP

ADD, CHANGE = Relation.ADD_REMOVE, Relation.CHANGE_ONE
NOTHING = {"epsilon": None, "delta": None, "rho": None, "mu": None}


def price(*, relation=ADD, pure=False, **stated):
    return FitPrice.read(**{**NOTHING, **stated}, relation=relation, pure=pure)


@pytest.mark.theorem("FitPrice.privacy")
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-5), (1, 1e-6), (10, 1e-9)])
def test_the_mu_that_a_price_buys_keeps_epsilon_and_delta(epsilon, delta):
    stated = price(epsilon=epsilon, delta=delta)
    exact = GaussianDP(stated.mu, relation=ADD).loss
    assert exact.delta(epsilon).upper <= delta
    assert GaussianDP(stated.mu * Fraction(1001, 1000), relation=ADD).loss.delta(epsilon).lower > delta
    assert stated.guarantee == ApproxDP(epsilon, delta, relation=ADD)
    assert stated.loss.delta(epsilon).upper <= delta


@pytest.mark.theorem("FitPrice.privacy")
@pytest.mark.parametrize("rho", [Fraction(1, 2), 0.1, 0.0303])
def test_a_price_in_rho_buys_no_more_mu_than_it_pays_for(rho):
    stated = price(rho=rho)
    assert stated.mu**2 / 2 <= Fraction(str(float(rho)))
    assert stated.mu**2 / 2 >= Fraction(str(float(rho))) * (1 - Fraction(1, 10**12))


@pytest.mark.parametrize(
    ("budget", "charged"),
    [
        (ApproxDP(2, 1e-5, relation=ADD), ApproxDP(1, 1e-6, relation=ADD)),
        (ZCDP(2, relation=ADD), "rho"),
        (GaussianDP(2, relation=ADD), "mu"),
    ],
)
def test_a_ledger_is_charged_in_its_own_notion(budget, charged):
    stated = price(epsilon=1, delta=1e-6)
    cost = stated.under(budget)
    if charged == "rho":
        assert Fraction(cost.rho) == stated.mu**2 / 2
    elif charged == "mu":
        assert Fraction(cost.mu) == stated.mu
    else:
        assert cost == charged


@pytest.mark.parametrize("budget", [PureDP(2, relation=ADD), RenyiDP(2, 1, relation=ADD)])
def test_budgets_that_gaussian_noise_does_not_fit_are_refused_with_the_pure_learners_named(budget):
    with pytest.raises(ParameterError, match="CategoricalNB"):
        price(epsilon=1, delta=1e-6).under(budget)


def test_under_epsilon_and_delta_the_price_is_stated_so():
    with pytest.raises(ParameterError, match="epsilon="):
        price(mu=1).under(ApproxDP(1, 1e-6, relation=ADD))


def test_a_pure_price_is_for_estimators_with_a_pure_form():
    assert price(epsilon=1, pure=True).guarantee == PureDP(1, relation=ADD)
    with pytest.raises(MissingParameter, match="RandomForestClassifier"):
        price(epsilon=1)
    with pytest.raises(MissingParameter, match="relation"):
        price(epsilon=1, delta=1e-6, relation=None)


@pytest.mark.theorem("FitNeighbors.privacy")
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_persons_move_sums_by_at_most_the_stated_distance_and_can_reach_it(rows):
    """All vectors of norm 5 on the integer plane, as rows of one person: the farthest sums are found by search."""
    circle = [(x, y) for x, y in product(range(-5, 6), repeat=2) if x * x + y * y == 25]
    corner = [(x, y) for x, y in circle if x >= 0 and y >= 0]
    for every, acute in ((circle, False), (corner, True)):
        sums = {tuple(np.sum(some, axis=0)) for some in product(every, repeat=rows)}
        longest = max(x * x + y * y for x, y in sums)
        apart = max((a - c) ** 2 + (b - d) ** 2 for (a, b), (c, d) in product(sums, repeat=2))
        assert longest == FitNeighbors(ADD, 10, rows).squared(25, acute=acute)
        assert apart == FitNeighbors(CHANGE, 10, rows).squared(25, acute=acute)
    assert (FitNeighbors(ADD, 10, rows).l1(4), FitNeighbors(CHANGE, 10, rows).l1(4)) == (4 * rows, 8 * rows)


@pytest.mark.theorem("Measurements.privacy")
@pytest.mark.parametrize("shares", [[Fraction(1)], [Fraction(1, 3)] * 3, [Fraction(1, 10), *[Fraction(9, 1000)] * 100]])
def test_the_noise_of_all_shares_together_is_worth_the_price(shares):
    stated = price(epsilon=1, delta=1e-6)
    spent = sum(Fraction(49) / bought(stated, share, squared=49).noise.scale ** 2 for share in shares)
    assert spent <= stated.mu**2
    assert spent > stated.mu**2 * (1 - Fraction(1, 10**9))


@pytest.mark.theorem("Measurements.privacy")
def test_shares_of_more_than_the_price_are_never_drawn(monkeypatch):
    drawn = []
    monkeypatch.setattr("discreet.learning.exact.measurements.noisy", lambda _, sums: drawn.append(1) or sums)
    made = Measurements(price(mu=1))
    made.release(np.zeros(2, dtype=np.int64), share=Fraction(2, 3), squared=1)
    with pytest.raises(AssertionError):
        made.release(np.zeros(2, dtype=np.int64), share=Fraction(1, 2), squared=1)
    assert len(drawn) == 1


@pytest.mark.theorem("Measurements.privacy")
def test_what_is_released_is_the_sum_with_noise_of_its_law():
    made = Measurements(price(mu=1))
    sums = np.full(4000, 12, dtype=np.int64)
    noise = made.noise(Fraction(1), squared=9).noise
    drawn = made.release(sums, share=Fraction(1), squared=9)
    assert dp.goodness_of_fit(noise.at(12), drawn.astype(np.int64)).p_value > 1e-9
    assert made.deviation(Fraction(1), squared=9) == pytest.approx(math.sqrt(9 + 1 / 12))


def test_a_pure_share_is_a_part_of_epsilon():
    stated = price(epsilon=2, pure=True)
    assert bought(stated, Fraction(1, 4), squared=1, l1=3).noise.scale == 6
