"""One training, a thousand canaries: the bound is never above the truth, and a broken twin is refuted."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.attacks import CanaryTable, DescentTraining, RepeatedRows, audit_training
from discreet.errors import ParameterError
from discreet.learning.exact import STEPS

DELTA = 1e-5
SURE = 1 - 1e-9
# Bounds at the confidence 1 - 1e-9 are false once in 1e9 runs each.


def audited(training, *, guesses=300, confidence=SURE):
    return audit_training(
        training, canaries=1000, guesses=guesses, delta=DELTA, confidence=confidence, guarantee=training.guarantee
    )


@pytest.mark.theorem("DescentTraining.privacy")
@pytest.mark.parametrize("epsilon", [1, 4, 10])
def test_the_bound_is_never_above_the_truth(epsilon, rounds):
    training = DescentTraining(epsilon=epsilon, delta=DELTA, people=1000)
    for _ in range(rounds(sample=2, full=100)):
        found = audited(training)
        assert found.low <= epsilon
        assert not found.refuted


@pytest.mark.theorem("audit_training.accuracy")
def test_a_weak_price_is_seen(rounds):
    """About 294.6 of 300 guesses are right at epsilon 10, at least 289 in a hundred trainings.

    The wrong ones are rare and nearly independent: more than 32 where 5.4 are expected has a chance below 1e-13, that
    of a Poisson variable. 268 right prove an epsilon of 1.4 at the confidence 0.9999.
    """
    for _ in range(rounds(sample=2, full=100)):
        assert audited(DescentTraining(epsilon=10, delta=DELTA, people=1000)).right >= 268


@pytest.mark.soak
def test_the_bound_reaches_what_was_asked_for():
    """A hundred trainings at epsilon 10: the mean bound at the confidence 0.95 is 3.3 or so, with an error of 0.03."""
    training = DescentTraining(epsilon=10, delta=DELTA, people=1000)
    assert np.mean([audited(training, confidence=0.95).low for _ in range(100)]) >= 2.8


@pytest.mark.theorem("audit_training.accuracy")
def test_a_training_that_lets_canaries_through_several_times_is_refuted(rounds):
    """Six times too long, at epsilon 3: the separation is 4.3 instead of 0.7, and hardly a guess is wrong.

    A guess 'in' about a canary that is out needs noise of 4.8 deviations: 4e-4 wrong guesses of each kind are expected,
    and five or more have a chance below 1e-15. 295 right have a chance of 3e-5 under the claim: refuted at 0.99.
    """
    training = DescentTraining(epsilon=3, delta=DELTA, people=1000)
    twin = RepeatedRows(training, times=6)
    for _ in range(rounds(sample=2, full=100)):
        assert audited(twin, confidence=0.99).refuted


@pytest.mark.soak
@pytest.mark.parametrize(("times", "epsilon", "guesses", "confidence"), [(2, 4, 250, 0.95), (3, 3, 300, 0.99)])
def test_twice_is_refuted_in_ninety_of_a_hundred(times, epsilon, guesses, confidence):
    twin = RepeatedRows(DescentTraining(epsilon=epsilon, delta=DELTA, people=1000), times=times)
    found = [audited(twin, guesses=guesses, confidence=confidence).refuted for _ in range(100)]
    assert sum(found) >= 90


def test_the_second_training_asks_what_each_canary_adds():
    training = DescentTraining(epsilon=4, delta=DELTA, people=100, steps=3)
    asked = []

    def silent(sums, _):
        asked.append(np.array(sums))
        return np.zeros(sums.shape)

    training(CanaryTable(np.array([1, 3]), 5), silent)
    assert len(asked) == 3
    for sums in asked:
        assert (sums[0, [0, 2, 4]] == 0).all()
        # the whole clip, but for what rounding down takes: the privacy that is paid for is the privacy that is audited
        assert np.allclose(sums[0, [1, 3]], -(STEPS**2), rtol=1e-5)


def test_a_training_that_releases_more_the_second_time_is_refused():
    calls = []

    def odd(_, see):
        calls.append(1)
        for _ in calls:
            see(np.zeros((1, 4), dtype=np.int64), lambda sums: sums + 0.0)

    with pytest.raises(ParameterError, match="as many sums"):
        audit_training(odd, canaries=4, guesses=2, delta=0, confidence=0.95)


def test_a_training_that_releases_fewer_the_second_time_is_refused():
    calls = [1, 1]

    def odd(_, see):
        for _ in range(len(calls)):
            see(np.zeros(4), lambda sums: sums + 0.0)
        calls.pop()

    with pytest.raises(ParameterError, match="as many sums"):
        audit_training(odd, canaries=4, guesses=2, delta=0, confidence=0.95)


@pytest.mark.parametrize("shape", [(100,), (1, 100), (2, 3, 100)])
def test_sums_of_any_number_of_lines_are_scored_coordinate_by_coordinate(shape):
    """The noise is far smaller than a canary: every guess is right unless fewer than 5 of 100 coins fall on one side.

    That has a chance below 1e-22.
    """
    noise = np.random.default_rng(1)

    def training(table, see):
        sums = np.zeros(shape)
        sums[..., table.places] = 1.0
        see(sums, lambda exact: exact + 0.01 * noise.normal(size=shape))

    assert audit_training(training, canaries=100, guesses=10, delta=0, confidence=0.95).right == 10


@pytest.mark.parametrize("shape", [(), (99,), (1, 99), (100, 1)])
def test_sums_that_say_nothing_about_single_canaries_are_refused(shape):
    def training(_, see):
        see(np.zeros(shape), lambda sums: sums + 0.0)

    with pytest.raises(ParameterError, match="one number for each coordinate"):
        audit_training(training, canaries=100, guesses=10, delta=0, confidence=0.95)


def test_an_estimator_is_no_training():
    with pytest.raises(ParameterError, match="must be a function"):
        audit_training(object(), canaries=100, guesses=10, delta=0, confidence=0.95)


@pytest.mark.parametrize("shape", [(2, 4), (3, 1, 4)])
def test_answers_of_another_shape_than_the_sums_are_refused(shape):
    def odd(_, see):
        see(np.zeros((1, 4)), lambda _: np.zeros(shape))

    with pytest.raises(ParameterError, match="one shape"):
        audit_training(odd, canaries=4, guesses=2, delta=0, confidence=0.95)


def test_what_cannot_be_audited_is_refused_before_the_training():
    def never(*_):
        raise AssertionError("trained")

    for confidence in ("x", None, [], float("nan"), 2):
        with pytest.raises(ParameterError):
            audit_training(never, canaries=4, guesses=2, delta=0, confidence=confidence)
    with pytest.raises(ParameterError, match="training"):
        audit_training(None, canaries=4, guesses=2, delta=0, confidence=0.9)
    for times in (0, -1, 2.0, 10**9):
        with pytest.raises(ParameterError, match="times"):
            RepeatedRows(DescentTraining(epsilon=4, delta=DELTA, people=100, steps=1), times)
