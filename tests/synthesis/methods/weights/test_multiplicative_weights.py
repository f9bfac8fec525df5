"""The entropic fit: it is the minimum it says it is, and stays finite where the measurements contradict the support."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.synthesis import Domain, Workload, conjunctions, disjunctions, marginals, parities
from discreet.synthesis.methods.weights.multiplicative import (
    _BLOCK,
    _moments,
    entropic_fit,
    place_in_domain,
    satisfied,
    whole_domain,
)

DOMAIN = Domain.of(a=range(2), b=range(3), c=range(4))


@given(seed=st.integers(0, 10**6), queries=st.integers(1, 12), spread=st.floats(0.2, 2.0))
def test_the_fit_solves_the_equations_of_the_minimum(seed: int, queries: int, spread: float) -> None:
    random = np.random.default_rng(seed)
    truths = random.random((queries, 40)) < 0.5
    values, variances = random.normal(0.5, 0.3, queries), np.full(queries, spread**2)
    prior = random.dirichlet(np.ones(40))
    fit = entropic_fit(truths, values, variances, prior, 3.0)
    assert fit.weights.sum() == pytest.approx(1, abs=1e-12)
    # what a further step could gain is below 1e-11, so no slope is above sqrt(1e-11 x 15), 15 the largest curvature
    np.testing.assert_allclose(truths @ fit.weights - values, -3.0 * variances * fit.multipliers, atol=5e-5)
    exponents = np.log(fit.weights) - np.log(prior) - fit.multipliers @ truths
    np.testing.assert_allclose(exponents, exponents[0], atol=1e-7)


@given(seed=st.integers(0, 10**6))
def test_no_other_distribution_costs_less(seed: int) -> None:
    random = np.random.default_rng(seed)
    truths, values = random.random((4, 12)) < 0.5, random.random(4)
    prior, variances = random.dirichlet(np.ones(12)), np.full(4, 0.01)

    def cost(weights: np.ndarray) -> float:
        divergence = float(weights @ np.log(weights / prior))
        return 2.0 * divergence + float(np.sum((truths @ weights - values) ** 2 / (2 * variances)))

    least = cost(entropic_fit(truths, values, variances, prior, 2.0).weights)
    for other in [prior, *random.dirichlet(np.ones(12), 50)]:
        assert least <= cost(other) + 1e-9


def test_a_warm_start_reaches_the_same_weights() -> None:
    random = np.random.default_rng(5)
    truths, values, prior = random.random((6, 30)) < 0.5, random.random(6), np.full(30, 1 / 30)
    cold = entropic_fit(truths, values, np.full(6, 1e-3), prior, 1.0)
    warm = entropic_fit(truths, values, np.full(6, 1e-3), prior, 1.0, start=random.normal(size=6))
    np.testing.assert_allclose(cold.weights, warm.weights, atol=1e-7)


@pytest.mark.parametrize("value", [-40.0, 0.0, 1.0, 55.0])
def test_impossible_measurements_leave_finite_weights(value: float) -> None:
    truths = np.array([[True, True, False, False], [False] * 4, [True] * 4, [True, True, False, False]])
    fit = entropic_fit(truths, np.full(4, value), np.full(4, 1e-12), np.full(4, 0.25), 1.0)
    assert np.all(np.isfinite(fit.weights))
    assert fit.weights.min() >= 0
    assert fit.weights.sum() == pytest.approx(1)


def test_a_record_that_the_prior_excludes_stays_excluded() -> None:
    fit = entropic_fit(
        np.array([[True, False, True]]), np.array([0.9]), np.array([1e-6]), np.array([0.5, 0.5, 0.0]), 1.0
    )
    assert fit.weights[2] == 0
    assert fit.weights[0] == pytest.approx(0.9, abs=1e-4)


@pytest.mark.parametrize("prior", [[0.0, 0.0], [1.0, -0.5]])
def test_a_prior_that_is_none_is_refused(prior: list[float]) -> None:
    with pytest.raises(InputError, match="prior"):
        entropic_fit(np.array([[True, False]]), np.array([0.5]), np.array([1.0]), np.array(prior), 1.0)


def test_moments_add_up_over_blocks() -> None:
    random = np.random.default_rng(2)
    truths, weights = random.random((3, _BLOCK + 1000)) < 0.3, random.dirichlet(np.ones(_BLOCK + 1000))
    means, covariances = _moments(truths, weights)
    np.testing.assert_allclose(means, truths @ weights)
    np.testing.assert_allclose(covariances, (truths * weights) @ truths.T - np.outer(means, means), atol=1e-12)


def test_the_whole_domain_has_every_record_once() -> None:
    support = whole_domain(DOMAIN)
    assert len(support) == DOMAIN.cells == len({tuple(record) for record in support.codes.T.tolist()})


def cells(domain: Domain, *, ways: int, count: int) -> Workload:
    """Return all cells, of which there are fewer than asked for."""
    asked = marginals(domain, ways=ways)
    assert len(asked) < count
    return asked


@pytest.mark.parametrize("family", [conjunctions, disjunctions, parities, cells])
def test_which_records_satisfy_a_query_is_what_the_workload_says(family: Callable[..., Workload]) -> None:
    workload, support = family(DOMAIN, ways=2, count=30), whole_domain(DOMAIN)
    expected = np.stack([workload.truths(record) for record in support.codes.T], axis=1)
    found = np.stack([satisfied(workload, query, support.codes) for query in range(len(workload))])
    np.testing.assert_array_equal(found, expected)


def test_all_possible_records_are_listed_once_however_many_attributes_there_are() -> None:
    domain = Domain.of({f"x{place}": range(1 + (place % 30 == 7)) for place in range(90)} | {"y": range(3)})
    support = whole_domain(domain)
    assert len(support) == domain.cells == 24
    assert len({tuple(record) for record in support.codes.T.tolist()}) == 24
    assert place_in_domain(domain, support.codes).tolist() == list(range(24))
