"""Permute-and-flip: its price on all small neighbors, and a choice never worse than the exponential mechanism's."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.audit import Outcome, audit
from discreet.errors import InputError
from discreet.mechanisms import PermuteAndFlip
from tests.mechanisms.neighborhoods import largest_loss, losses

ROUNDING = 1e-9


@pytest.mark.theorem("PermuteAndFlip.privacy")
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize(("size", "step"), [(2, 1), (2, 3), (3, 1), (3, 2), (4, 1)])
def test_no_small_scores_lose_more_than_epsilon(size: int, step: int, monotone: bool) -> None:
    mechanism = PermuteAndFlip(epsilon=1, sensitivity=step, monotone=monotone)
    places = range(3) if size > 3 else range(4)
    assert largest_loss(mechanism.law, size, places, step, monotone=monotone) <= 1 + ROUNDING


@pytest.mark.theorem("PermuteAndFlip.privacy")
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_it_loses_exactly_its_claim(epsilon: float, monotone: bool) -> None:
    verdict = audit(PermuteAndFlip(epsilon=epsilon, sensitivity=2, monotone=monotone))
    assert verdict.outcome is Outcome.KEPT
    assert verdict.low == pytest.approx(epsilon, rel=1e-9)


def test_the_monotone_rate_is_not_enough_for_scores_that_move_both_ways() -> None:
    careless = PermuteAndFlip(epsilon=0.1, sensitivity=1, monotone=True)
    assert largest_loss(careless.law, 2, range(-9, 10), 1, monotone=False) > 0.19


@pytest.mark.theorem("PermuteAndFlip.privacy")
def test_its_losses_have_a_wider_range_than_epsilon_so_only_the_pure_price_is_claimed() -> None:
    mechanism = PermuteAndFlip(epsilon=1, sensitivity=1)
    widest = 0.0
    for pair, _, _ in losses(mechanism.law, 3, range(4), 1, monotone=False):
        low, high = pair.losses()
        widest = max(widest, float(low.max() - high.min()))
    assert widest > 1.05
    assert mechanism.loss.guarantee == dp.PureDP(1)


def gaps_and_chances(law: object, scores: list[Fraction]) -> list[tuple[Fraction, float, float]]:
    """Return how far each candidate is below the best, with bounds on its chance, the worst candidate first."""
    _, low, high = law.table()  # type: ignore[attr-defined]
    top = max(scores)
    return sorted(zip((top - score for score in scores), low, high, strict=True), reverse=True)


def assert_never_worse(scores: list[Fraction], epsilon: Fraction) -> None:
    ours = gaps_and_chances(PermuteAndFlip(epsilon=epsilon, sensitivity=1).law(scores), scores)
    theirs = gaps_and_chances(dp.Exponential(epsilon=epsilon, sensitivity=1).law(scores), scores)
    behind, theirs_behind = 0.0, 0.0
    for (gap, low, _), (other, _, high) in zip(ours, theirs, strict=True):
        assert gap == other
        behind, theirs_behind = behind + low, theirs_behind + high
        assert behind <= theirs_behind + 1e-12
    assert sum(float(gap) * low for gap, low, _ in ours) <= sum(float(gap) * high for gap, _, high in theirs) + 1e-12


@pytest.mark.theorem("PermuteAndFlip.accuracy")
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(4)])
def test_it_is_never_worse_than_the_exponential_mechanism_on_small_scores(epsilon: Fraction) -> None:
    for scores in itertools.combinations_with_replacement(range(5), 4):
        assert_never_worse([Fraction(score) for score in scores], epsilon)


@pytest.mark.theorem("PermuteAndFlip.accuracy")
@given(st.lists(st.fractions(-20, 20), min_size=1, max_size=12), st.fractions(Fraction(1, 100), 5))
def test_it_is_never_worse_than_the_exponential_mechanism(scores: list[Fraction], epsilon: Fraction) -> None:
    assert_never_worse(scores, epsilon)


@pytest.mark.theorem("PermuteAndFlip.accuracy")
def test_its_expected_distance_from_the_best_is_half_the_other_one_where_epsilon_is_large() -> None:
    scores = [0, 10]
    ours = PermuteAndFlip(epsilon=4, sensitivity=1).law(scores).pmf(0)
    assert ours == pytest.approx(dp.Exponential(epsilon=4, sensitivity=1).law(scores).pmf(0) / 2, rel=1e-6)


@pytest.mark.theorem("PermuteAndFlip.accuracy")
@pytest.mark.parametrize("best", [1, 4])
@pytest.mark.parametrize("confidence", [0.3, 0.5, 0.95, 0.9999])
def test_the_error_is_the_worst_case_and_attained(best: int, confidence: float) -> None:
    mechanism, count = PermuteAndFlip(epsilon=1, sensitivity=1), 30
    error = mechanism.error(confidence, candidates=count, best=best)
    assert error <= dp.Exponential(epsilon=1, sensitivity=1).error(confidence, candidates=count, best=best)
    worst = [Fraction(0)] * best + [-Fraction(error)] * (count - best)
    _, low, high = mechanism.law(worst).table()
    assert high[best:].sum() == pytest.approx(1 - confidence, abs=1e-9)
    nearer = [Fraction(0)] * best + [-Fraction(error) * Fraction(99, 100)] * (count - best)
    _, low, _ = mechanism.law(nearer).table()
    assert low[best:].sum() > 1 - confidence


@pytest.mark.theorem("PermuteAndFlip.accuracy")
@settings(max_examples=30)
@given(st.lists(st.fractions(-40, 0), min_size=1, max_size=12), st.sampled_from([0.5, 0.9, 0.99]))
def test_the_error_holds_for_all_scores(others: list[Fraction], confidence: float) -> None:
    mechanism, scores = PermuteAndFlip(epsilon=1, sensitivity=1), [Fraction(0), *others]
    error = mechanism.error(confidence, candidates=len(scores), best=scores.count(Fraction(0)))
    _, low, _ = mechanism.law(scores).table()
    assert sum(p for p, score in zip(low, scores, strict=True) if score < -Fraction(error)) <= 1 - confidence


def test_a_choice_blind_to_the_scores_needs_no_error() -> None:
    mechanism = PermuteAndFlip(epsilon=1, sensitivity=1)
    assert mechanism.error(0.25, candidates=4, best=1) == 0.0
    assert mechanism.error(0.999, candidates=4, best=4) == 0.0
    assert mechanism.error(0.26, candidates=4, best=1) > 0.0


def test_a_generator_is_read_once_and_never_stored() -> None:
    seen = 0

    def candidates() -> Iterator[int]:
        nonlocal seen
        for number in range(20_000):
            seen += 1
            yield number

    chosen = PermuteAndFlip(epsilon=5, sensitivity=1).choose(candidates(), score=lambda n: 100 if n == 17_777 else 0)
    assert chosen == 17_777
    assert seen == 20_000


def test_nothing_to_choose_from_is_an_error() -> None:
    with pytest.raises(InputError, match="no candidate"):
        PermuteAndFlip(epsilon=1, sensitivity=1).choose([], score=len)


def test_scores_beyond_floats_are_told_apart() -> None:
    top = 10**30
    assert PermuteAndFlip(epsilon=1, sensitivity=1)([top, top + 2000, top]) == 1


def test_monotone_scores_need_half_the_distance() -> None:
    halved, full = (PermuteAndFlip(epsilon=1, sensitivity=3, monotone=monotone) for monotone in (False, True))
    assert (halved.slope, full.slope) == (Fraction(1, 6), Fraction(1, 3))


def test_a_million_candidates_are_one_pass() -> None:
    scores = np.zeros(1_000_000, dtype=np.int64)
    scores[654_321] = 1000
    assert PermuteAndFlip(epsilon=1, sensitivity=1)(scores) == 654_321
