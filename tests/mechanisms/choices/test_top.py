"""Top k: k exponential mechanisms in one pass, priced as such."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.audit import Outcome, audit
from discreet.errors import InputError
from discreet.laws.number import round_up
from discreet.mechanisms import Top
from discreet.privacy import bounded_range_loss
from tests.mechanisms.neighborhoods import largest_loss, losses

ROUNDING = 1e-9


@pytest.mark.theorem("Top.privacy")
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize(("size", "k", "step"), [(3, 1, 1), (3, 2, 1), (3, 2, 2), (3, 3, 1), (4, 2, 1)])
def test_no_small_scores_lose_more_than_epsilon(size: int, k: int, step: int, monotone: bool) -> None:
    mechanism = Top(k=k, epsilon=1, sensitivity=step, monotone=monotone)
    places = range(2) if size > 3 else range(3)
    assert largest_loss(mechanism.law, size, places, step, monotone=monotone) <= 1 + ROUNDING


@pytest.mark.theorem("Top.privacy")
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_it_loses_exactly_its_claim(k: int, monotone: bool) -> None:
    verdict = audit(Top(k=k, epsilon=0.5, sensitivity=2, monotone=monotone))
    assert verdict.outcome is Outcome.KEPT
    assert verdict.low == pytest.approx(0.5, rel=1e-6)


def test_peeling_at_the_full_epsilon_each_is_refuted() -> None:
    careless = Top(k=2, epsilon=1, sensitivity=1)
    assert audit(careless, dp.PureDP(0.5)).refuted


@pytest.mark.theorem("Top.privacy")
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("rho", [0.02, 0.5])
def test_every_divergence_is_within_rho(rho: float, monotone: bool) -> None:
    mechanism = Top(k=2, rho=rho, sensitivity=1, monotone=monotone)
    closest = 0.0
    for pair, _, _ in losses(mechanism.law, 3, range(3), 1, monotone=monotone):
        for alpha in (1.001, 1.5, 2.0, 5.0, 30.0, 300.0):
            exponents = alpha * np.log(pair.p_low) - (alpha - 1) * np.log(pair.q_high)
            divergence = float(np.logaddexp.reduce(exponents)) / (alpha - 1)
            assert divergence <= alpha * rho + 1e-9
            closest = max(closest, divergence / (alpha * rho))
    assert closest > 0.3


@pytest.mark.theorem("Top.privacy")
def test_the_price_is_that_of_k_releases_of_bounded_range() -> None:
    top = Top(k=4, epsilon=1, sensitivity=1)
    assert top.loss == bounded_range_loss(Fraction(1, 4)) * 4
    assert top.guarantee == dp.PureDP(1)
    assert top.loss.guarantee == dp.ZCDP(1 / 32)  # k (epsilon / k)^2 / 8
    assert top.loss.satisfies(dp.PureDP(1))
    assert top.loss.epsilon(1e-6).upper < dp.PureDP(1).loss.epsilon(1e-6).upper


@pytest.mark.theorem("Top.privacy")
@pytest.mark.parametrize("epsilon", [0.1, 1, 3.0, Fraction(1, 3), 1e-320])
def test_the_price_of_k_choices_keeps_the_guarantee_for_epsilon(epsilon: float) -> None:
    for k in range(1, 21):
        mechanism = Top(k=k, epsilon=epsilon, sensitivity=1, monotone=True)
        assert mechanism.guarantee == dp.PureDP(round_up(Fraction(epsilon)), relation=dp.Relation.ADD_REMOVE)
        assert mechanism.loss.satisfies(mechanism.guarantee)
        least = Fraction(5e-324)  # below the normal floats a share loses up to this much, elsewhere one part in 2^52
        assert mechanism.slope >= Fraction(epsilon) / k * (1 - Fraction(1, 2**52)) - least


@pytest.mark.theorem("Top.privacy")
@pytest.mark.parametrize("k", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("rho", [1e-30, 0.01, 0.3, Fraction(1, 3)])
def test_rho_buys_the_largest_epsilon_a_choice_that_k_of_them_may_have(k: int, rho: float) -> None:
    mechanism = Top(k=k, rho=rho, sensitivity=1, monotone=True)
    assert k * mechanism.slope**2 / 8 <= Fraction(rho)
    assert k * (mechanism.slope * (1 + Fraction(1, 2**48))) ** 2 / 8 > Fraction(rho)
    assert isinstance(mechanism.guarantee, dp.ZCDP)
    assert mechanism.loss.satisfies(mechanism.guarantee)


def test_the_least_rho_that_can_be_split_is_split() -> None:
    mechanism = Top(k=2, rho=1e-323, sensitivity=1, monotone=True)
    assert mechanism.loss.satisfies(mechanism.guarantee)
    assert 0 < 2 * mechanism.slope**2 / 8 <= Fraction(1e-323)


@pytest.mark.theorem("Top.accuracy")
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
def test_every_choice_is_close_to_its_rank_as_often_as_guaranteed(confidence: float) -> None:
    mechanism = Top(k=3, epsilon=6, sensitivity=1)
    for scores in ([0, 0, 0, 9, 10, 11], [0, 1, 2, 3, 4, 5], [0, 0, 0, 0, 0, 20]):
        error = mechanism.error(confidence, candidates=len(scores))
        ranked = sorted(scores, reverse=True)
        outcomes, _, high = mechanism.law(scores).table()
        failing = sum(
            chance
            for outcome, chance in zip(outcomes, high, strict=True)
            if any(scores[place] <= rank - error for place, rank in zip(outcome, ranked, strict=False))
        )
        assert failing <= 1 - confidence


def test_the_error_of_one_choice_is_no_larger_than_that_of_the_exponential_mechanism() -> None:
    for count in (2, 10, 1000):
        one = Top(k=1, epsilon=1, sensitivity=1).error(0.95, candidates=count)
        assert one <= dp.Exponential(epsilon=1, sensitivity=1).error(0.95, candidates=count)
    assert Top(k=1, epsilon=1, sensitivity=1).error(0.95, candidates=1) == 0.0


def test_one_of_k_is_the_exponential_mechanism() -> None:
    scores = [0, 2, 1]
    for place in range(3):
        ours = Top(k=1, epsilon=1, sensitivity=1).law(scores).pmf((place,))
        assert ours == pytest.approx(dp.Exponential(epsilon=1, sensitivity=1).law(scores).pmf(place), rel=1e-12)


def test_k_different_positions_come_out_in_the_order_of_choice() -> None:
    scores = np.zeros(500_000)
    scores[[77, 300_000, 499_999]] = [2000.0, 4000.0, 6000.0]
    assert Top(k=3, epsilon=3, sensitivity=1)(scores) == (499_999, 300_000, 77)
    drawn = Top(k=50, epsilon=1, sensitivity=1)(np.zeros(60, dtype=np.int64))
    assert len(set(drawn)) == 50


def test_all_candidates_may_be_put_in_order() -> None:
    assert sorted(Top(k=4, epsilon=1, sensitivity=1)([1, 1, 1, 1])) == [0, 1, 2, 3]


def test_a_generator_is_read_once_and_only_k_are_kept() -> None:
    names = (f"page {number}" for number in itertools.chain(range(10_000)))
    chosen = Top(k=2, epsilon=4, sensitivity=1).choose(
        names, score=lambda name: {"page 8192": 200, "page 9": 100}.get(name, 0)
    )
    assert chosen == ["page 8192", "page 9"]


def test_fewer_candidates_than_places_are_refused() -> None:
    mechanism = Top(k=3, epsilon=1, sensitivity=1)
    for run in (mechanism, mechanism.law, lambda scores: mechanism.choose(scores, score=int)):
        with pytest.raises(InputError, match="fewer candidates"):
            run([1, 2])


def test_the_repr_names_the_price_that_was_given() -> None:
    assert repr(Top(k=2, rho=0.5, sensitivity=1)).startswith("Top(k=2, rho=0.5, ")
    assert "epsilon=1" in repr(Top(k=2, epsilon=1, sensitivity=1))
