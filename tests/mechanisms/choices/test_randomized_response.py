"""Randomized response: the guarantee, the unbiased estimate, both variances, intervals that hold for every table."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.mechanisms.choices.randomized_response import interval_for_population, interval_for_table
from tests.chances import fewest
from tests.conftest import Rounds


@pytest.mark.theorem("RandomizedResponse.privacy")
def test_telling_the_truth_three_times_in_four_is_ln_3_private() -> None:
    mechanism = dp.RandomizedResponse(truth=0.75, categories=2)
    assert mechanism.guarantee.epsilon == pytest.approx(math.log(3), abs=1e-12)
    assert mechanism.guarantee.epsilon >= math.log(3)


@pytest.mark.theorem("RandomizedResponse.privacy")
@pytest.mark.parametrize("epsilon", [0.1, 1, 5])
@pytest.mark.parametrize("categories", [2, 7])
def test_the_probabilities_are_those_of_the_theorem(epsilon: float, categories: int) -> None:
    mechanism = dp.RandomizedResponse(epsilon=epsilon, categories=categories)
    assert mechanism.truth == pytest.approx(math.exp(epsilon) / (math.exp(epsilon) + categories - 1), rel=1e-14)
    assert mechanism.truth + (categories - 1) * mechanism.lie == pytest.approx(1, abs=1e-14)
    assert mechanism.loss.epsilon(0.0).upper == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.theorem("RandomizedResponse.accuracy")
def test_the_variances_are_those_of_the_theorem() -> None:
    mechanism = dp.RandomizedResponse(truth=0.75, categories=2)
    assert mechanism.variance(1000) == pytest.approx(3 / 4000)
    sampled = mechanism.variance(1000, target=dp.Target.POPULATION, frequency=0.3)
    assert sampled == pytest.approx(3 / 4000 + 0.3 * 0.7 / 1000)


@pytest.mark.theorem("RandomizedResponse.accuracy")
@pytest.mark.parametrize("categories", [2, 4])
def test_the_estimate_is_unbiased_with_the_stated_variance(categories: int, rounds: Rounds) -> None:
    mechanism = dp.RandomizedResponse(epsilon=1, categories=categories)
    people, repeats = 500, rounds(sample=500, full=10_000)
    table = (np.arange(people) < 150).astype(np.int64)
    values = [mechanism.estimate(mechanism(table), category=1).value for _ in range(repeats)]
    expected = mechanism.variance(people, frequency=0.3)
    # the mean of so many is nearly normal, their variance nearly a chi-square over its degrees: 1e-9 either way
    assert abs(np.mean(values) - 0.3) < 6.2 * math.sqrt(expected / repeats)
    assert np.var(values) == pytest.approx(expected, rel=7 * math.sqrt(2 / repeats))


@pytest.mark.theorem("RandomizedResponse.accuracy")
@pytest.mark.parametrize("target", list(dp.Target))
def test_intervals_hold_at_their_confidence(target: dp.Target, rounds: Rounds) -> None:
    mechanism = dp.RandomizedResponse(epsilon=1, categories=2)
    people, repeats, hits = 200, rounds(sample=600, full=10_000), 0
    for _ in range(repeats):
        table = np.arange(people) < 50
        if target is dp.Target.POPULATION:  # people drawn at random: a coin a person
            table = dp.randomness.bernoulli_array(Fraction(1, 4), people)
        estimate = mechanism.estimate(mechanism(table), target=target)
        hits += estimate.low <= 0.25 <= estimate.high
    assert hits >= fewest(repeats, 0.95)


def test_intervals_agree_with_brute_force_on_small_tables() -> None:
    from scipy.stats import binom

    people, q, r = 12, 0.7, 0.3
    for seen in range(people + 1):
        allowed = []
        for members in range(people + 1):
            others = people - members
            law = np.convolve(
                binom.pmf(np.arange(members + 1), members, q), binom.pmf(np.arange(others + 1), others, r)
            )
            if law[: seen + 1].sum() > 0.025 and law[seen:].sum() > 0.025:
                allowed.append(members)
        low, high = interval_for_table(seen, people, q, r, 0.95)
        if allowed:
            assert (low, high) == (min(allowed) / people, max(allowed) / people)


def test_population_intervals_are_clopper_pearson_on_the_reports() -> None:
    from scipy.stats import binomtest

    exact = binomtest(60, 100).proportion_ci(0.95, method="exact")
    expected = [(end - 0.25) / 0.5 for end in (exact.low, exact.high)]
    assert interval_for_population(60, 100, 0.75, 0.25, 0.95) == pytest.approx(expected, abs=1e-6)
    assert interval_for_population(30, 100, 0.75, 0.25, 0.95)[0] == 0.0


def test_reports_of_many_people_come_out_in_their_shape_and_range() -> None:
    reports = dp.RandomizedResponse(epsilon=0.5, categories=6)(np.zeros((30, 40), dtype=np.int64))
    assert reports.shape == (30, 40)
    assert set(np.unique(reports)) == set(range(6))
    assert isinstance(dp.RandomizedResponse(epsilon=0.5, categories=6)(3), int)


def test_two_categories_take_truth_values() -> None:
    assert dp.RandomizedResponse(epsilon=1, categories=2)(np.array([True, False])).dtype == np.int64


def test_an_estimate_says_what_it_is_about() -> None:
    mechanism = dp.RandomizedResponse(epsilon=1, categories=2)
    estimate = mechanism.estimate(mechanism(np.ones(100, dtype=np.int64)))
    assert estimate.target is dp.Target.TABLE
    assert estimate.low <= estimate.value <= estimate.high
    assert estimate.guarantee == mechanism.guarantee
    with pytest.raises(dp.errors.ParameterError, match="which category"):
        dp.RandomizedResponse(epsilon=1, categories=3).estimate([0, 1])
    with pytest.raises(dp.errors.InputError, match="no reports"):
        mechanism.estimate(np.array([], dtype=np.int64))
