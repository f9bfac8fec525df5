"""The exhaustive attack is never wrong about more than four times the error, whatever the errors are."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dp
from discreet.attacks import AllSubsets, exact_answers, exhaustive, noisy_answers
from discreet.attacks.reconstructing.exhaustive_search import misfit
from discreet.errors import InputError, ParameterError


def matrix(people: int) -> np.ndarray:
    return AllSubsets(people=people).matrix().astype(np.float64)


def malicious(secret: np.ndarray, error: float, random: np.random.Generator) -> list[np.ndarray]:
    """Errors within a bound: at random, of one sign, and towards another column as far as the bound lets them go."""
    people = len(secret)
    counts = matrix(people) @ secret
    other = secret.copy()
    for value in (0, 1):
        places = np.flatnonzero(secret == value)
        other[random.permutation(places)[: int(2 * error)]] = 1 - value
    towards = np.clip(matrix(people) @ other - counts, -error, error)
    flat = np.clip(matrix(people).sum(axis=1) / 2 - counts, -error, error)
    size = len(counts)
    return [
        random.uniform(-error, error, size), random.choice([-error, error], size), np.full(size, error),
        np.full(size, -error), towards, towards / 2, flat, np.sign(towards) * error,
    ]  # fmt: skip


@pytest.mark.theorem("exhaustive.accuracy")
@pytest.mark.parametrize("error", [0, 0.2, 0.5, 1, 1.5, 2, 3])
def test_no_errors_within_the_bound_make_more_than_four_times_as_many_bits_wrong(error, rounds):
    random = np.random.default_rng(int(10 * error))
    for _ in range(rounds(sample=12, full=200)):
        people = int(random.integers(4, 13))
        secret = random.integers(0, 2, people)
        for errors in malicious(secret, error, random):
            ask = noisy_answers(secret, lambda counts, errors=errors: counts + errors)
            found = exhaustive(ask, people, error=error, truth=secret)
            assert found.wrong <= 4 * error
            assert found.recovered >= found.floor >= 1 - 4 * error / people - 1e-12


@pytest.mark.theorem("exhaustive.accuracy")
def test_the_bound_is_reached_by_a_column_that_fits():
    secret = np.array([1, 1, 1, 1, 0, 0, 0, 0])
    answers = (matrix(8) @ secret + matrix(8) @ (1 - secret)) / 2
    worst = misfit(answers)
    place = int(secret @ (1 << np.arange(8)))
    assert worst[place] == worst[255 - place] == 2
    # both fit within 2 and differ in 8 = 4 * 2 places: no decoder can guarantee more
    assert misfit(answers).min() <= 2


@pytest.mark.parametrize("people", [1, 2, 5, 7])
def test_the_misfit_is_that_of_comparing_every_column_with_every_answer(people):
    columns = matrix(people)
    answers = np.random.default_rng(people).normal(1, 2, 2**people)
    assert misfit(answers) == pytest.approx(np.abs(columns @ columns.T - answers[:, None]).max(axis=0))


@pytest.mark.parametrize("people", [12, 16])
def test_exact_answers_give_everybody_away(people):
    secret = np.random.default_rng(people).integers(0, 2, people)
    found = exhaustive(exact_answers(secret), people, error=0, truth=secret)
    assert found.recovered == found.floor == 1.0
    assert found.queries == 2**people


def test_answers_that_no_column_fits_are_refused_with_what_to_change():
    with pytest.raises(InputError, match=r"within 0\.5; the best one is off by 2\. Raise error="):
        exhaustive(lambda design: np.full(len(design), -2.0), 5, error=0.5)
    assert exhaustive(lambda design: np.full(len(design), -2.0), 5, error=2).bits.tolist() == [0] * 5


def test_through_a_private_mechanism_nothing_is_certain():
    secret = np.random.default_rng(3).integers(0, 2, 10)
    # a person is in half of the subsets
    sensitivity = dp.Sensitivity(512, norm=dp.Norm.L1, relation=dp.Relation.ADD_REMOVE)
    mechanism = dp.Laplace(epsilon=1, sensitivity=sensitivity)
    error = mechanism.error(1 - 1e-12, 1024)
    found = exhaustive(noisy_answers(secret, mechanism), 10, error=error, truth=secret, loss=mechanism.loss)
    assert found.floor == 0.0
    assert found.ceiling.upper < 0.74


@pytest.mark.parametrize("arguments", [{"error": -1}, {"error": np.nan}, {"error": 1, "truth": [0, 1]}])
def test_what_cannot_be_used_is_refused_before_anything_is_asked(arguments):
    def ask(_):
        pytest.fail("asked")

    with pytest.raises((ParameterError, InputError)):
        exhaustive(ask, 5, **arguments)
    with pytest.raises(ParameterError, match="at most 20 people"):
        exhaustive(ask, 21, error=1)


def test_an_error_beyond_all_counts_leaves_nothing_certain():
    found = exhaustive(lambda design: np.zeros(len(design)), 4, error=1.7e308)
    assert found.floor == 0.0
