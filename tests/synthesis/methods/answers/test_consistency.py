"""Consistent answers are no farther from the truth, and the certificate says so for every truth."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.data.invention import coins
from discreet.errors import InputError
from discreet.synthesis import Domain, conjunctions
from discreet.synthesis.methods.answers.consistency import (
    boxed,
    fits_whole,
    fitted,
    fitted_records,
    record_count,
    truth_matrix,
)
from discreet.synthesis.methods.residual.finishing import non_negative, towards
from discreet.synthesis.methods.weights.multiplicative import whole_domain

DOMAIN = Domain.of(a=range(2), b=range(3), c=range(4))


@pytest.mark.theorem("boxed.accuracy")
def test_the_box_brings_no_answer_farther_from_a_truth_inside() -> None:
    noisy = coins(1).normal(0.5, 2, 5_000)
    for truth in np.linspace(0, 1, 11):
        assert np.all(np.abs(boxed(noisy) - truth) <= np.abs(noisy - truth))


@pytest.mark.theorem("non_negative.accuracy")
@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_table_is_no_farther_from_any_table(seed: int) -> None:
    flips = coins(seed)
    values = flips.normal(0, 3, (4, 5))
    for total in (0.5, 3.0, 40.0):
        near = non_negative(values, total)
        assert near.shape == values.shape
        assert near.min() >= 0
        assert near.sum() == pytest.approx(total)
        for _ in range(50):
            table = flips.dirichlet(np.full(20, 0.2)).reshape(4, 5) * total
            moved = np.sum((near - values) ** 2)
            assert np.sum((near - table) ** 2) <= np.sum((values - table) ** 2) - moved + 1e-9


@pytest.mark.theorem("Fitted.accuracy")
@pytest.mark.parametrize("queries", [3, 20, 300])
@pytest.mark.parametrize("noise", [0.001, 0.05, 1.0])
def test_fitted_answers_are_no_farther_from_any_table_up_to_the_gap(queries: int, noise: float) -> None:
    workload = conjunctions(DOMAIN, ways=2, count=queries, seed=7)
    truths = truth_matrix(workload, whole_domain(DOMAIN), np.arange(queries))
    flips = coins(queries, int(noise * 1000))
    for _ in range(4):
        weights = flips.dirichlet(np.full(DOMAIN.cells, 0.3))
        truth = truths @ weights
        noisy = truth + noise * flips.normal(size=queries)
        fit = fitted(truths, noisy)
        assert np.all(fit.weights >= 0)
        assert fit.weights.sum() == pytest.approx(1)
        assert np.allclose(fit.answers, truths @ fit.weights)
        before, after = np.sum((noisy - truth) ** 2), np.sum((fit.answers - truth) ** 2)
        assert after <= before - fit.moved + 2 * fit.gap + 1e-9
        assert fit.gap <= 1e-5 * max(1.0, float(noisy @ noisy))
        if fit.surely_nearer:
            assert after <= before + 1e-9


def test_the_truth_itself_is_fitted() -> None:
    workload = conjunctions(DOMAIN, ways=2, count=40, seed=7)
    truths = truth_matrix(workload, whole_domain(DOMAIN), np.arange(40))
    truth = truths @ coins(3).dirichlet(np.ones(DOMAIN.cells))
    assert np.allclose(fitted(truths, truth).answers, truth, atol=1e-5)


def test_a_fit_needs_a_row_for_each_answer() -> None:
    with pytest.raises(InputError, match="row"):
        fitted(np.ones((2, 3)), np.ones(3))


def test_one_record_has_all_the_weight() -> None:
    fit = fitted(np.array([[1.0], [0.0]]), np.array([0.2, 0.9]))
    assert fit.weights.tolist() == [1.0]
    assert fit.gap == 0


def test_best_responses_find_a_table_that_fits_answers_of_few_records() -> None:
    domain = Domain.of({f"a{place}": range(4) for place in range(9)})
    workload = conjunctions(domain, ways=2, count=300, seed=2)
    queries = np.arange(300)
    people = coins(5).integers(0, 4, (9, 3)).astype(np.uint16)
    truth = np.mean([workload.truths(people[:, place]) for place in range(3)], axis=0)
    steps: list[int] = []
    table, fit = fitted_records(workload, queries, truth, steps.append)
    assert len(table) == record_count(300) == len(steps)
    assert np.sqrt(np.mean((fit.answers - truth) ** 2)) < 0.05
    assert not fits_whole(domain, 300)


def test_values_move_to_the_aim_by_what_noise_explains() -> None:
    values, aim = np.array([10.0, 0.0]), np.array([0.0, 0.0])
    assert towards(values, aim, variance=1.0, dimension=2).tolist() == [10.0, 0.0]
    assert towards(values, aim, variance=10.0, dimension=7).tolist() == [5.0, 0.0]
    assert towards(aim, aim, variance=10.0, dimension=7).tolist() == [0.0, 0.0]
