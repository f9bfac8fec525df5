"""Linear programs and least squares over random subsets recover a column, and err no more than their theorems allow."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dp
from discreet.attacks import (
    RandomSubsets,
    Solver,
    certain_fraction,
    exact_answers,
    least_eigenvalue,
    linear_program,
    noisy_answers,
    random_least_squares,
)
from discreet.attacks.reconstructing import least_squares_attack
from discreet.attacks.reconstructing.linear_program_attack import feasible, least_absolute
from discreet.errors import InputError, ParameterError

PEOPLE, QUERIES, SEED = 60, 480, 4
SECRET = np.random.default_rng(8).integers(0, 2, PEOPLE)
DESIGN = RandomSubsets(people=PEOPLE, queries=QUERIES, seed=SEED)


def decode(decoder: str, ask, **more):
    arguments = {"queries": QUERIES, "seed": SEED, "truth": SECRET} | more
    match decoder:
        case "feasible" | "absolute":
            return linear_program(ask, PEOPLE, **arguments)
        case "dense":
            return random_least_squares(ask, PEOPLE, **arguments)
    return random_least_squares(ask, PEOPLE, solver=Solver.ITERATIVE, **arguments)


def aimed(error: float) -> list[np.ndarray]:
    """Errors within a bound, at random and aimed at the decoder: at one person, at everybody, and at the weakest."""
    random = np.random.default_rng(2)
    matrix = DESIGN.matrix().astype(np.float64)
    solve = np.linalg.pinv(matrix)
    _, _, directions = np.linalg.svd(matrix, full_matrices=False)
    wanted = [solve[0] * (1 - 2 * SECRET[0]), (1 - 2 * SECRET) @ solve, matrix @ directions[-1]]
    return [error * np.sign(one) for one in wanted] + [random.uniform(-error, error, QUERIES) for _ in range(3)]


@pytest.mark.parametrize("decoder", ["feasible", "absolute", "dense", "iterative"])
def test_exact_answers_give_everybody_away(decoder):
    found = decode(decoder, exact_answers(SECRET), **({} if decoder == "absolute" else {"error": 0}))
    assert found.recovered == 1.0
    assert found.people == PEOPLE
    assert found.queries == QUERIES


@pytest.mark.theorem("linear_program.accuracy", "random_least_squares.accuracy", "certain_fraction.accuracy")
@pytest.mark.parametrize("decoder", ["feasible", "dense", "iterative"])
@pytest.mark.parametrize("error", [0.1, 0.25, 0.5, 1.0])
def test_no_errors_within_the_bound_leave_less_than_what_is_certain(decoder, error):
    eigenvalue = least_eigenvalue(DESIGN.gram())
    for errors in aimed(error):
        ask = noisy_answers(SECRET, lambda counts, errors=errors: counts + errors)
        found = decode(decoder, ask, error=error)
        factor = {"dense": 4, "feasible": 16, "iterative": 16}[decoder]
        assert found.wrong <= factor * QUERIES * error**2 / eigenvalue
        if found.floor is not None:
            assert found.recovered >= found.floor
    if error == 0.1:
        assert found.floor is not None
        assert found.floor > 0.5


@pytest.mark.theorem("certain_fraction.accuracy")
def test_the_least_eigenvalue_is_a_lower_bound_of_the_squared_singular_value():
    least = np.linalg.svd(DESIGN.matrix().astype(np.float64), compute_uv=False)[-1] ** 2
    assert least * (1 - 1e-6) <= least_eigenvalue(DESIGN.gram()) <= least * (1 + 1e-9)
    assert least_eigenvalue(np.ones((3, 3))) == 0.0
    assert certain_fraction(10, distance=1.0, eigenvalue=0.0) is None
    assert certain_fraction(10, distance=9.0, eigenvalue=1.0) is None
    assert certain_fraction(10, distance=1.0, eigenvalue=1.0) == 0.6


@pytest.mark.theorem("random_least_squares.accuracy")
def test_independent_noise_leaves_the_share_that_is_expected():
    people, rounds, deviation = 100, 50, 3.0
    random = np.random.default_rng(5)
    shares = []
    for seed in range(rounds):
        secret = random.integers(0, 2, people)
        ask = noisy_answers(secret, lambda counts: counts + random.normal(0, deviation, len(counts)))
        found = random_least_squares(
            ask, people, queries=200, seed=seed, noise_variance=deviation**2, truth=secret
        )  # fmt: skip
        shares.append(found.recovered - found.expected)
    # people of one round are nearly independent; six standard errors, with a fixed seed
    assert abs(np.mean(shares)) <= 6 * 0.5 / np.sqrt(people * rounds)


def test_absolute_errors_survive_garbage_that_squares_do_not():
    random = np.random.default_rng(6)
    lies = np.where(random.random(QUERIES) < 0.15, random.uniform(0, PEOPLE, QUERIES), np.nan)
    ask = noisy_answers(SECRET, lambda counts: np.where(np.isnan(lies), counts, lies))
    assert decode("absolute", ask).recovered == 1.0
    assert decode("dense", ask).recovered < 0.9


def test_least_absolute_errors_are_least():
    random = np.random.default_rng(9)
    matrix, answers = DESIGN.matrix().astype(np.float64)[:90, :20], random.uniform(0, 20, 90)
    best = least_absolute(matrix, answers)
    others = np.clip(best + random.normal(0, 0.05, (500, 20)), 0, 1)
    assert np.abs(matrix @ best - answers).sum() <= np.abs(others @ matrix.T - answers).sum(axis=1).min() + 1e-9


def test_what_is_feasible_fits_every_answer():
    answers = DESIGN.exact(SECRET) + np.random.default_rng(1).uniform(-2, 2, QUERIES)
    matrix = DESIGN.matrix().astype(np.float64)
    assert np.abs(matrix @ feasible(matrix, answers, 2.0) - answers).max() <= 2 + 1e-6


def test_steps_in_the_box_reach_the_best_fit_in_the_box():
    from scipy.optimize import lsq_linear

    answers = DESIGN.exact(SECRET) + np.random.default_rng(1).uniform(-9, 9, QUERIES)
    found = decode("iterative", lambda _: answers)
    matrix = DESIGN.matrix().astype(np.float64)
    best = lsq_linear(matrix - matrix.mean(axis=0), answers - answers.mean(), bounds=(0, 1)).x
    assert found.estimates == pytest.approx(best, abs=0.02)


def test_an_error_that_is_too_small_is_refused_with_what_to_change():
    ask = noisy_answers(SECRET, lambda counts: counts + 3 * (-1) ** np.arange(QUERIES))
    with pytest.raises(InputError, match="Raise error=, or leave it out"):
        decode("feasible", ask, error=0.1)


def test_iterations_need_fewer_queries_than_people():
    secret = np.random.default_rng(1).integers(0, 2, 400)
    found = random_least_squares(
        exact_answers(secret), 400, queries=300, seed=1, solver=Solver.ITERATIVE, error=0, truth=secret
    )
    assert found.recovered > 0.99
    assert found.floor is None


@pytest.mark.parametrize(
    ("people", "arguments", "words"),
    [
        (60, {"queries": 59}, "at least as many queries"),
        (6000, {"queries": 7000}, "Solver.ITERATIVE"),
        (60, {"queries": 60, "solver": "dense"}, "Solver.DENSE"),
        (60, {"queries": 60, "error": -1}, "error"),
        (60, {"queries": 60, "noise_variance": -1}, "noise_variance"),
    ],
)
def test_least_squares_refuse_what_they_cannot_solve_before_anything_is_asked(people, arguments, words):
    def ask(_):
        pytest.fail("asked")

    with pytest.raises(ParameterError, match=words):
        random_least_squares(ask, people, seed=1, **arguments)


def test_a_program_that_would_take_hours_is_refused():
    with pytest.raises(ParameterError, match="too long"):
        linear_program(lambda _: pytest.fail("asked"), 10_000, queries=20_000, seed=1)


def test_queries_that_do_not_tell_people_apart_are_refused():
    with pytest.raises(ParameterError, match="tell everybody apart"):
        random_least_squares(exact_answers([1, 0, 1]), 3, queries=3, seed=0)


def test_the_price_of_the_answers_gives_the_ceiling():
    mechanism = dp.Laplace(epsilon=1 / QUERIES, sensitivity=1)
    for decoder in ("absolute", "dense"):
        found = decode(decoder, exact_answers(SECRET), loss=mechanism.loss * QUERIES)
        assert 0.5 < found.ceiling.upper < 0.52
        assert "480" in repr(found)


def test_an_answer_beyond_single_precision_does_not_break_the_steps():
    answers = DESIGN.exact(SECRET).astype(np.float64)
    answers[0] = 1e200
    assert np.isfinite(decode("iterative", lambda _: answers).estimates).all()


@pytest.mark.theorem("random_least_squares.accuracy")
def test_what_rounding_leaves_unsolved_counts_against_what_is_certain(monkeypatch):
    exact = decode("dense", exact_answers(SECRET), error=0)
    assert exact.floor == 1.0

    def inexact(gram, projected):
        estimates = np.linalg.solve(gram, projected)
        estimates[:5] = 1 - estimates[:5]  # as if the equations had been solved badly
        return estimates, np.linalg.inv(gram)

    monkeypatch.setattr(least_squares_attack, "normal_equations", inexact)
    found = decode("dense", exact_answers(SECRET), error=0)
    assert found.wrong == 5
    assert found.floor is None or found.floor <= found.recovered


def test_a_solver_that_did_not_finish_is_not_believed(monkeypatch):
    from types import SimpleNamespace

    unfinished = SimpleNamespace(status=1, x=np.zeros(PEOPLE), message="iteration limit")
    monkeypatch.setattr("scipy.optimize.linprog", lambda *_, **__: unfinished)
    with pytest.raises(InputError, match="iteration limit"):
        decode("feasible", exact_answers(SECRET), error=1)
