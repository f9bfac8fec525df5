"""Exponential mechanism and report noisy max: laws, accuracy, streams, instances."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest

import discreet as dp
from discreet.errors import NotCopyable


@pytest.mark.theorem("Exponential.accuracy")
@pytest.mark.parametrize("best", [1, 5])
def test_the_chosen_score_is_close_to_the_best_as_often_as_guaranteed(best: int) -> None:
    mechanism = dp.Exponential(epsilon=1, sensitivity=1)
    scores = np.concatenate([np.full(best, 50), np.zeros(200 - best, dtype=np.int64), np.arange(30, 45)])
    law = mechanism.law(scores)
    outcomes, _, high = law.table()
    for confidence in (0.5, 0.95, 0.999):
        gap = mechanism.error(confidence, candidates=len(scores), best=best)
        failing = sum(p for i, p in zip(outcomes, high, strict=True) if scores[i] <= 50 - gap)
        assert failing <= 1 - confidence


@pytest.mark.theorem("NoisyMax.accuracy")
def test_the_reported_score_is_close_to_the_best_as_often_as_guaranteed() -> None:
    mechanism = dp.NoisyMax(epsilon=1, sensitivity=1)
    scores = np.concatenate([[30], np.arange(0, 30, 2)])
    outcomes, _, high = mechanism.law(scores).table()
    for confidence in (0.5, 0.95):
        gap = mechanism.error(confidence, candidates=len(scores))
        assert sum(p for i, p in zip(outcomes, high, strict=True) if scores[i] < 30 - gap) <= 1 - confidence


def test_randomized_response_is_an_instance_of_the_exponential_mechanism() -> None:
    response = dp.RandomizedResponse(epsilon=1, categories=5)
    own_category = dp.Exponential(epsilon=1, sensitivity=1, monotone=False)
    # score 1 for one's own category: changing it moves two scores by 1, so the factor 2 gives epsilon/2 at this rate
    law = dp.Exponential(epsilon=2, sensitivity=1).law([1, 0, 0, 0, 0])
    assert law.pmf(0) == pytest.approx(response.truth, rel=1e-12)
    assert own_category.slope == Fraction(1, 2)


def test_a_price_list_is_chosen_by_revenue() -> None:
    bids = np.array([1, 1, 1, 3, 3, 4])
    prices = [1, 2, 3, 4]

    def revenue(price: int) -> int:
        return price * int(np.count_nonzero(bids >= price))

    mechanism = dp.Exponential(epsilon=50 / 10, sensitivity=4, monotone=True)
    chosen = [mechanism.choose(prices, score=revenue) for _ in range(200)]
    assert max(set(chosen), key=chosen.count) == 3


def test_a_generator_is_read_once_and_never_stored() -> None:
    seen = 0

    def candidates() -> Iterator[int]:
        nonlocal seen
        for number in range(20_000):
            seen += 1
            yield number

    chosen = dp.Exponential(epsilon=5, sensitivity=1).choose(candidates(), score=lambda n: 100 if n == 17_777 else 0)
    assert chosen == 17_777
    assert seen == 20_000


def test_nothing_to_choose_from_is_an_error() -> None:
    with pytest.raises(dp.errors.InputError, match="no candidate"):
        dp.Exponential(epsilon=1, sensitivity=1).choose([], score=len)


@pytest.mark.parametrize("scale", [1, 1e-300, 1e300, Fraction(1, 3)])
def test_any_range_of_scores_gives_the_same_choice_law(scale: float) -> None:
    mechanism = dp.Exponential(epsilon=1, sensitivity=scale)
    scores = [0, 3 * Fraction(scale), Fraction(scale)]
    assert mechanism.law(scores).pmf(1) == pytest.approx(dp.Exponential(epsilon=1, sensitivity=1).law([0, 3, 1]).pmf(1))
    assert mechanism(scores) in (0, 1, 2)


def test_scores_beyond_floats_are_told_apart() -> None:
    top = 10**30
    assert dp.Exponential(epsilon=1, sensitivity=1)([top, top + 2000, top]) == 1
    assert dp.NoisyMax(epsilon=1, sensitivity=1)([top, top + 2000, top]) == 1


def test_monotone_scores_need_half_the_noise() -> None:
    assert dp.NoisyMax(epsilon=1, sensitivity=1, monotone=True).noise.scale == 1
    assert dp.NoisyMax(epsilon=1, sensitivity=1).noise.scale == 2
    halved, full = (dp.Exponential(epsilon=1, sensitivity=1, monotone=monotone) for monotone in (False, True))
    assert full.slope == 2 * halved.slope


def test_float_scores_are_rounded_to_a_public_grid() -> None:
    mechanism = dp.NoisyMax(epsilon=1, sensitivity=0.3)
    assert mechanism.noise.scale * mechanism.grid >= Fraction(0.6)
    assert math.log2(float(mechanism.grid)).is_integer()
    assert mechanism([0.0, 500.5]) == 1


@pytest.mark.theorem("Exponential.accuracy")
@pytest.mark.parametrize("confidence", [0.3, 0.95, 1 - 2.0**-53, Fraction(2, 3), 1 - Fraction(1, 10**400)])
def test_the_error_is_rounded_up(confidence: float) -> None:
    for count, best in ((1, 1), (7, 2), (10**9, 3), (10**300, 10**299)):
        mechanism = dp.Exponential(epsilon=Fraction(1, 3), sensitivity=1)
        error = mechanism.error(confidence, candidates=count, best=best)
        with flint.ctx.workprec(300):
            odds = Fraction(count, best) / (1 - Fraction(confidence))
            truth = 6 * flint.arb(flint.fmpq(odds.numerator, odds.denominator)).log()
            assert flint.arb(error) >= truth
            assert flint.arb(error) <= truth * (1 + flint.arb(2) ** -51)


def test_an_error_beyond_the_floats_is_infinite() -> None:
    for kind in (dp.Exponential, dp.PermuteAndFlip):
        assert kind(epsilon=Fraction(1, 10**400), sensitivity=1).error(0.95, candidates=10) == math.inf


def test_confidence_beyond_the_floats_has_an_error() -> None:
    confidence = 1 - Fraction(1, 10**400)
    for kind in (dp.Exponential, dp.PermuteAndFlip):
        error = kind(epsilon=2, sensitivity=1).error(confidence, candidates=1000)
        assert error == pytest.approx(math.log(1000) + 400 * math.log(10), rel=1e-3)


@pytest.mark.parametrize("changes", [{"epsilon": Fraction(1, 10**30)}, {"sensitivity": 10**30}])
def test_neighbors_beyond_64_bits_are_exact(changes: dict[str, Any]) -> None:
    mechanism = dp.NoisyMax(**{"epsilon": 1, "sensitivity": 1, **changes})
    for first, second in mechanism.neighbors():
        moves = [int(one) - int(other) for one, other in zip(first, second, strict=True)]
        assert {abs(move) for move in moves} == {mechanism.sensitivity.exact}
        assert mechanism(first) in range(len(first))


@pytest.mark.parametrize("at", [1, 4096, 4097, 5000])
@pytest.mark.parametrize("mechanism", [dp.Exponential(epsilon=1, sensitivity=1), dp.Top(k=2, epsilon=1, sensitivity=1)])
def test_a_child_forked_during_a_choice_cannot_go_on_with_its_parents_bits(mechanism: Any, at: int) -> None:
    children: list[int] = []

    def stream() -> Iterator[int]:
        for candidate in range(5000):
            if candidate == at:
                children.append(os.fork())
            yield candidate
        if at == 5000:
            children.append(os.fork())

    try:
        chosen = mechanism.choose(stream(), score=lambda candidate: candidate % 3)
    except NotCopyable:
        os._exit(0 if children == [0] else 1)
    finally:
        if 0 in children:
            os._exit(2)
    assert os.waitpid(children[0], 0)[1] == 0
    assert chosen
