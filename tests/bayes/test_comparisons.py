"""Comparisons of groups: exact cases, agreement among themselves, and selection that is free under the right prior."""

from __future__ import annotations

import numpy as np
import pytest

from discreet import Laplace
from discreet.bayes import (
    HalfNormal,
    LogNormal,
    SmallAreaRates,
    beats,
    difference,
    expected_loss,
    noisy_counts,
    posterior,
    ranking,
    ratio,
)
from discreet.display import silent
from discreet.errors import ParameterError
from discreet.laws import DiscreteLaplace
from discreet.privacy import Target
from tests.chances import fewest, most

MODEL = SmallAreaRates(exposures=1, mean=LogNormal(20, 1), spread=HalfNormal(1))


@pytest.fixture(scope="module")
def found():
    answer = noisy_counts({"a": 12, "b": 31, "c": 27}, noise=Laplace(epsilon=0.5, sensitivity=1), key="ward")
    return posterior(answer, MODEL, seed=1)


def test_a_difference_and_a_ratio_are_those_of_the_joint_draws(found):
    draws = found.draws["rate"].reshape(-1, 3)
    less, over = difference(found, "rate", "b", "a"), ratio(found, "rate", "b", "a", confidence=0.8)
    assert less.value == pytest.approx(np.median(draws[:, 1] - draws[:, 0]))
    assert (over.low, over.high) == pytest.approx(tuple(np.quantile(draws[:, 1] / draws[:, 0], [0.1, 0.9])))
    assert (over.confidence, over.target) == (0.8, Target.POPULATION)
    assert str(less).startswith("rate of b less a: ")
    assert less.guarantee == found.guarantee


def test_one_beats_the_other_or_the_other_way_round(found):
    one, other = beats(found, "rate", "b", "c"), beats(found, "rate", "c", "b")
    assert one.value + other.value == pytest.approx(1)
    assert 0 < one.error < 0.01


def test_ranks_add_up_and_the_best_is_first(found):
    told = ranking(found, "rate")
    assert told.ranks.sum(axis=0) == pytest.approx(np.ones(3))
    assert told.ranks.sum(axis=1) == pytest.approx(np.ones(3))
    draws = found.draws["rate"].reshape(-1, 3)
    assert told.best == pytest.approx([(draws.argmax(axis=1) == place).mean() for place in range(3)])
    assert told.to_dict()["group"] == ["b", "c", "a"]
    assert told.losses == pytest.approx([expected_loss(found, "rate", one).value for one in "abc"])
    assert "probability of being best" in str(told)
    assert ranking(found, "rate", smallest=True).ranks == pytest.approx(told.ranks[:, ::-1])


def test_the_loss_of_two_groups_is_that_of_their_difference():
    """E max(a, b) - b, over the two groups of an A/B test."""
    answer = noisy_counts({"a": 12, "b": 31}, noise=Laplace(epsilon=0.5, sensitivity=1), key="ward")
    two = posterior(answer, MODEL, seed=1)
    draws = two.draws["rate"].reshape(-1, 2)
    lost = expected_loss(two, "rate", "b")
    assert lost.value == pytest.approx(np.maximum(draws[:, 0] - draws[:, 1], 0).mean())
    assert expected_loss(two, "rate", "b", smallest=True).value == pytest.approx(
        np.maximum(draws[:, 1] - draws[:, 0], 0).mean()
    )
    assert lost.error < 0.1 * float(draws.std())


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (lambda one: difference(one, "rate", "a", "z"), "there is no such group of 'rate'"),
        (lambda one: difference(one, "rate", "a", "a"), "got the same twice"),
        (lambda one: ratio(one, "size", "a", "b"), "name must be one of rate, mean, spread"),
        (lambda one: ranking(one, "mean"), "compared by a parameter that two of them have; got 'mean'"),
        (lambda one: difference(one, "rate", "a", "b", confidence=95), "confidence"),
    ],
)
def test_what_cannot_be_compared_is_said(found, asked, words):
    with pytest.raises(ParameterError, match=words):
        asked(found)


def test_the_largest_of_twenty_noisy_groups_is_covered_without_a_correction(rounds):
    """Each end fails by chance once in 1e9 runs. The interval of the noise alone covers some .85 of these."""
    runs = rounds(sample=12, full=3000)
    generator = np.random.default_rng()
    noise = DiscreteLaplace(5)
    model = SmallAreaRates(exposures=1, mean=LogNormal(20, 0.5), spread=HalfNormal(0.5))
    plan = noisy_counts({f"group {place}": 0 for place in range(20)}, noise=noise, key="group").plan
    held = 0
    for run in range(runs):
        truth = model.prior([plan], generator)
        (counts,) = model.integers(truth, [plan], generator)
        released = counts + noise.sample(counts.shape)
        measured = plan.measured(released.tolist(), (run,), Laplace(epsilon=0.2, sensitivity=1).guarantee)
        chosen = int(released[0].argmax())
        draws = model.fit([measured], generator=generator, progress=silent).draws["rate"][..., chosen]
        low, high = np.quantile(draws, [0.025, 0.975])
        held += bool(low <= truth["rate"][chosen] <= high)
    assert fewest(runs, 0.95) <= held <= most(runs, 0.95)
