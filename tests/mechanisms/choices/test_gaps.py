"""Leads and gaps at no extra price: on all small neighbors, and what goes wrong if ties are broken by position."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.audit import Outcome, audit
from discreet.errors import InputError, MissingParameter, StreamSpent
from discreet.laws import AboveThresholdGapLaw, DiscreteLaplace, NoisyMaxGapLaw
from discreet.laws.finite import Tabulated
from discreet.mechanisms import Hit, Winner
from tests.chances import fewest, most
from tests.conftest import Rounds
from tests.mechanisms.neighborhoods import Vector, largest_loss

ROUNDING = 1e-9
CAP = 15


class BrokenByPosition(Tabulated):
    """The control: integer noise, the first of the largest wins, and its lead is told as it is."""

    def __init__(self, scores: Vector, noise: DiscreteLaplace) -> None:
        self.scores, self.noise = scores, noise

    def table(self) -> tuple[list[Any], Any, Any]:
        reach = int(40 * self.noise.scale) + max(self.scores) - min(self.scores)
        window = np.arange(min(self.scores) - reach, max(self.scores) + reach)
        outcomes, values = [], []
        for index, score in enumerate(self.scores):
            below, at_most, wins_ties = (np.ones(window.size) for _ in range(3))
            for other, level in enumerate(self.scores):
                if other != index:
                    less, equal = self.noise.cdf(window - 1 - level), self.noise.pmf(window - level)
                    below, at_most = below * less, at_most * (less + equal)
                    wins_ties = wins_ties * (less + equal if other > index else less)
            for lead in range(CAP):
                second = (at_most if lead else wins_ties) - below
                outcomes.append(Winner(index, lead))
                values.append(float(np.sum(second * self.noise.pmf(window + lead - score))))
        chances = np.array(values)
        return outcomes, chances * (1 - 1e-9), chances * (1 + 1e-9) + 1e-300

    def sample(self, shape: Any = None) -> Any:
        raise NotImplementedError


def lead_law(mechanism: dp.NoisyMax) -> Any:
    return lambda scores: NoisyMaxGapLaw(np.array(scores), mechanism.noise, cap=CAP)


@pytest.mark.theorem("NoisyMax.privacy")
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize(("size", "step"), [(2, 1), (2, 3), (3, 1), (3, 2), (4, 1)])
def test_no_small_scores_lose_more_than_epsilon_with_the_lead(size: int, step: int, monotone: bool) -> None:
    mechanism = dp.NoisyMax(epsilon=1, sensitivity=step, monotone=monotone, gap=True)
    places = range(2) if size > 3 else range(3)
    assert largest_loss(lead_law(mechanism), size, places, step, monotone=monotone) <= 1 + ROUNDING


@pytest.mark.theorem("NoisyMax.privacy")
@pytest.mark.parametrize("monotone", [False, True])
def test_noisy_max_with_the_lead_loses_exactly_its_claim(monotone: bool) -> None:
    verdict = audit(dp.NoisyMax(epsilon=1, sensitivity=2, monotone=monotone, gap=True), search=0)
    assert verdict.outcome is Outcome.KEPT
    assert verdict.low == pytest.approx(1.0, rel=1e-9)


@pytest.mark.theorem("NoisyMax.privacy")
@pytest.mark.parametrize(("length", "at_least"), [(1, 1.6), (20, 1.9), (40, 1.95)])
def test_ties_broken_by_position_lose_nearly_twice_epsilon_with_the_lead(length: int, at_least: float) -> None:
    mechanism = dp.NoisyMax(epsilon=1, sensitivity=1, gap=True)
    one, two = (length, length, 0, 0), (length + 1, length + 1, -1, -1)
    broken = BrokenByPosition(one, mechanism.noise).pair(BrokenByPosition(two, mechanism.noise))
    assert broken.max_loss().lower > at_least
    assert broken.witness() == Winner(2, 0)
    sound = mechanism.law(np.array(one)).pair(mechanism.law(np.array(two)))
    assert sound.max_loss().upper <= 1 + ROUNDING


def test_the_control_agrees_with_a_direct_run(rounds: Rounds) -> None:
    noise, scores = DiscreteLaplace(2), (1, 0, 0)
    count = rounds(sample=20_000, full=500_000)
    noised = noise.sample((count, 3)) + np.array(scores)
    winners = np.argmax(noised, axis=1)
    leads = np.sort(noised, axis=1)[:, 2] - np.sort(noised, axis=1)[:, 1]
    chance = BrokenByPosition(scores, noise).pmf(Winner(1, 0))
    seen = np.count_nonzero((winners == 1) & (leads == 0))
    assert fewest(count, chance) <= seen <= most(count, chance)


def test_half_the_noise_is_refuted_with_the_lead() -> None:
    careless = dp.NoisyMax(epsilon=0.2, sensitivity=1, gap=True)
    assert audit(careless, dp.PureDP(0.1), search=0).refuted


@pytest.mark.theorem("NoisyMax.accuracy")
@pytest.mark.parametrize("scores", [[30, 12, 0, 5], [3, 3, 3], [0, 1]], ids=str)
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_the_lead_is_close_to_the_true_one_as_often_as_guaranteed(scores: list[int], confidence: float) -> None:
    mechanism = dp.NoisyMax(epsilon=1, sensitivity=1, gap=True)
    error = mechanism.gap_error(confidence, candidates=len(scores))
    outcomes, _, high = mechanism.law(scores).table()
    truth = [score - max(scores[:place] + scores[place + 1 :]) for place, score in enumerate(scores)]
    failing = sum(p for one, p in zip(outcomes, high, strict=True) if abs(one.gap - truth[one.index]) > error)
    assert failing <= 1 - confidence


@pytest.mark.theorem("NoisyMax.accuracy")
def test_the_lead_of_real_scores_is_on_the_grid_and_close(rounds: Rounds) -> None:
    mechanism = dp.NoisyMax(epsilon=1, sensitivity=0.3, gap=True)
    scores = [0.1, 2.0, 1 / 3]
    error = mechanism.gap_error(0.9, candidates=3)
    count, far = rounds(sample=2000, full=50_000), 0
    for _ in range(count):
        winner = mechanism(scores)
        assert isinstance(winner, Winner)
        assert (Fraction(winner.gap) / mechanism.grid).denominator == 1
        truth = scores[winner.index] - max(scores[: winner.index] + scores[winner.index + 1 :])
        far += abs(winner.gap - truth) > error
    assert far <= most(count, 0.1)


def test_a_lead_needs_a_second_candidate_and_has_to_be_asked_for() -> None:
    with pytest.raises(InputError, match="two candidates"):
        dp.NoisyMax(epsilon=1, sensitivity=1, gap=True)([5])
    with pytest.raises(MissingParameter, match="gap=True"):
        dp.NoisyMax(epsilon=1, sensitivity=1).gap_error(0.95, candidates=3)
    assert dp.NoisyMax(epsilon=1, sensitivity=1)([5]) == 0


def test_the_lead_is_exact_for_scores_of_any_size() -> None:
    mechanism = dp.NoisyMax(epsilon=1, sensitivity=1, gap=True)
    for scores in ([10**30, 10**40, 0], [2**63 - 1, -(2**63), 0]):
        winner = mechanism(scores)
        assert isinstance(winner, Winner)
        assert abs(winner.gap - (max(scores) - sorted(scores)[-2])) < 200
        assert type(winner.gap) is int


def gap_law(stream: dp.AboveThreshold, cap: int) -> Any:
    return lambda values: AboveThresholdGapLaw(
        np.array(values), stream.threshold_noise, stream.query_noise, hits=stream.hits, cap=cap
    )


@pytest.mark.theorem("AboveThreshold.privacy")
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("split", list(dp.Split))
@pytest.mark.parametrize(("size", "hits", "step"), [(1, 1, 2), (2, 1, 1), (3, 1, 1), (2, 1, 2), (2, 2, 1), (3, 2, 1)])
def test_no_short_stream_loses_more_than_epsilon_with_its_gaps(
    size: int, hits: int, step: int, split: dp.Split, monotone: bool
) -> None:
    stream = dp.AboveThreshold(
        threshold=0, epsilon=2, sensitivity=step, hits=hits, split=split, monotone=monotone, gap=True
    )
    cap = 5 if size == 3 and hits == 2 else 10
    places = range(2) if size == 3 else range(-2, 3)
    assert largest_loss(gap_law(stream, cap), size, places, step, monotone=monotone) <= 2 + ROUNDING


@pytest.mark.theorem("AboveThreshold.privacy")
@pytest.mark.parametrize("monotone", [False, True])
def test_above_threshold_with_gaps_comes_close_to_its_claim_and_never_above(monotone: bool) -> None:
    stream = dp.AboveThreshold(threshold=0, epsilon=1, sensitivity=1, monotone=monotone, gap=True)
    verdict = audit(stream, search=0)
    assert verdict.outcome is Outcome.KEPT
    assert verdict.low > (0.45 if monotone else 0.99)


def test_telling_gaps_without_scaling_the_noise_by_the_hits_is_refuted() -> None:
    stream = dp.AboveThreshold(threshold=0, epsilon=1, sensitivity=1, gap=True)

    def careless(values: Vector) -> AboveThresholdGapLaw:
        return AboveThresholdGapLaw(np.array(values), stream.threshold_noise, stream.query_noise, hits=3, cap=3)

    # high values that stay below hold the threshold up, while low ones are hits: all noises are pulled at once
    pair = careless((12, 12, 12, 12, -12, -12, -12)).pair(careless((13, 13, 13, 13, -13, -13, -13)))
    assert pair.max_loss().lower > 2.0


@pytest.mark.theorem("AboveThreshold.accuracy")
def test_every_gap_is_within_alpha_of_the_truth_as_often_as_guaranteed(rounds: Rounds) -> None:
    stream = dp.AboveThreshold(threshold=0, epsilon=1, sensitivity=1, gap=True)
    values, count = [-60, -60, 60], rounds(sample=2000, full=20_000)
    alpha = stream.alpha(queries=3, beta=0.1)
    far = 0
    for _ in range(count):
        hits = stream.release(values)
        far += not (len(hits) == 1 and isinstance(hits[0], Hit) and abs(hits[0].gap - 60) <= alpha)
    assert far <= most(count, 0.1)


def test_gaps_cost_nothing_more_and_have_to_be_asked_for() -> None:
    stream = dp.AboveThreshold(threshold=100, epsilon=1, sensitivity=1, hits=2, gap=True)
    assert stream.guarantee == dp.PureDP(1)
    plain = dp.AboveThreshold(threshold=100, epsilon=1, sensitivity=1, hits=2)
    assert (stream.query_noise, stream.threshold_noise) == (plain.query_noise, plain.threshold_noise)
    assert stream.gap(-(10**6)) is None
    assert stream.watch(10**6) is True
    assert abs(stream.gap(10**6) - (10**6 - 100)) < 500  # type: ignore[operator]
    with pytest.raises(StreamSpent):
        stream.gap(0)
    with pytest.raises(MissingParameter, match="gap=True"):
        plain.gap(5)
    assert plain.remaining == 2


def test_gaps_of_real_values_are_on_the_grid() -> None:
    stream = dp.AboveThreshold(threshold=0.5, epsilon=1, sensitivity=0.25, gap=True)
    gap = stream.gap(1e6 + 1 / 3)
    assert type(gap) is float
    assert (Fraction(gap) / stream.grid).denominator == 1


def test_a_refused_value_spends_nothing() -> None:
    stream = dp.AboveThreshold(threshold=0, epsilon=1, sensitivity=1, gap=True)
    with pytest.raises(InputError):
        stream.gap(float("nan"))
    assert stream.remaining == 1
