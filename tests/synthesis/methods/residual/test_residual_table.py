"""The table made of estimated marginals: it has the marginals that agree, and is a table whatever they are."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet import Relation
from discreet.data import population, population_values
from discreet.data.invention import coins
from discreet.synthesis import Domain, Neighbors, Records, marginals
from discreet.synthesis.methods.residual.finishing import fitted
from discreet.synthesis.methods.residual.method import Residual, ResidualFinish
from discreet.synthesis.workloads.marginal_workload import Marginals

Floats = NDArray[np.float64]


def _log_linear(sizes: tuple[int, ...], sets: Iterable[tuple[int, ...]], strength: float = 0.5) -> Floats:
    """Return a distribution with an interaction of each of these sets of attributes and no other."""
    flips = coins(4)
    logarithm = np.zeros(sizes)
    for one in sets:
        shape = [size if place in one else 1 for place, size in enumerate(sizes)]
        logarithm += strength * (8 * flips.random(shape) - 4)
    joint: Floats = np.exp(logarithm) / np.exp(logarithm).sum()
    return joint


def _marginal(joint: Floats, attributes: tuple[int, ...]) -> Floats:
    summed: Floats = joint.sum(axis=tuple(place for place in range(joint.ndim) if place not in attributes))
    return summed


def _marginals(joint: Floats, sets: Iterable[tuple[int, ...]]) -> dict[tuple[int, ...], Floats]:
    return {one: _marginal(joint, one) for one in sets}


@pytest.mark.parametrize(
    ("sizes", "sets"),
    [
        ((3, 2, 4, 2), [(0, 1), (1, 2), (2, 3)]),
        ((2, 3, 2, 3), [(1,), (0, 1, 2), (2, 3)]),
        ((3, 1, 4), [(0,), (2,)]),
        ((5,), [(0,)]),
    ],
)
def test_a_decomposable_model_comes_back_from_its_marginals(
    sizes: tuple[int, ...], sets: list[tuple[int, ...]]
) -> None:
    joint = _log_linear(sizes, sets)
    assert np.allclose(fitted(sizes, _marginals(joint, sets)), joint, rtol=0, atol=1e-14)


def test_a_model_of_all_pairs_comes_back_from_its_pairs() -> None:
    sizes, pairs = (3, 4, 2, 3), list(combinations(range(4), 2))
    joint = _log_linear(sizes, pairs, strength=0.1)
    assert np.abs(fitted(sizes, _marginals(joint, pairs)) - joint).sum() < 1e-10


def test_marginals_that_some_table_has_are_those_of_the_fit_also_where_it_is_empty() -> None:
    sizes, pairs = (3, 4, 2), [(0, 1), (1, 2), (0, 2)]
    joint = _log_linear(sizes, [(0, 1, 2)], strength=0.2)
    joint[1, 2] = joint[:, 3] = 0
    joint /= joint.sum()
    fit = fitted(sizes, _marginals(joint, pairs))
    assert not fit[1, 2].any()
    assert not fit[:, 3].any()
    for one in pairs:
        assert np.abs(_marginal(fit, one) - _marginal(joint, one)).sum() < 1e-6


def test_attributes_of_no_marginal_stay_uniform_and_independent() -> None:
    joint = _log_linear((3, 2), [(0, 1)])
    fit = fitted((3, 4, 2), {(0, 2): joint})
    assert np.allclose(fit, joint[:, None, :] / 4, rtol=0, atol=1e-15)
    assert np.allclose(fitted((2, 3), {}), 1 / 6)


def test_marginals_that_disagree_meet_in_between() -> None:
    wanted: dict[tuple[int, ...], Floats] = {(0, 1): np.full((2, 2), 0.25), (0, 2): np.array([[0.3, 0.3], [0.2, 0.2]])}
    assert np.allclose(fitted((2, 2, 2), wanted).sum(axis=(1, 2)), [0.55, 0.45])


@pytest.mark.parametrize("tiny", [0.0, 5e-324, 1e-310])
def test_marginals_that_contradict_each_other_still_give_a_distribution(tiny: float) -> None:
    wanted: dict[tuple[int, ...], Floats] = {
        (0, 1): np.array([[0.5, 0.5], [tiny, tiny]]),
        (0, 2): np.array([[tiny, tiny], [0.5, 0.5]]),
    }
    fit = fitted((2, 2, 2), wanted)
    assert np.all(np.isfinite(fit) & (fit >= 0))
    assert np.isclose(fit.sum(), 1)


def test_without_much_noise_the_table_has_the_marginals_of_the_private_one() -> None:
    names = ("sex", "race", "marital_status", "income", "relationship")
    domain = Domain.of({name: population_values()[name] for name in names})
    rows = population(3_000, seed=7).binned()
    people, pairs = domain.encode({name: rows[name] for name in names}), marginals(domain, ways=2)
    truth = pairs.frequencies(people)
    for finish in ResidualFinish:
        # a count is off by some hundredths, and the bound is more than a hundred counts in every marginal
        method = Residual.of(pairs, Neighbors(Relation.ADD_REMOVE, 3_000), rho=10_000, finish=finish)
        assert max(method.deviations_of_counts) < 0.1
        release = method(people)
        assert release.table.weights is not None
        assert np.isclose(release.table.weights.sum(), 1)
        counted = pairs.frequencies(release.table.records, release.table.weights)
        assert np.abs(release.answers - truth).sum() / len(pairs.sets) < 0.04
        assert np.abs(counted - truth).sum() / len(pairs.sets) < 0.04


@pytest.mark.parametrize("price", [{"rho": 0.5}, {"epsilon": 1}, {"rho": 1e-20}])
@pytest.mark.parametrize("relation", [Relation.ADD_REMOVE, Relation.CHANGE_ONE])
def test_the_shape_of_the_table_does_not_depend_on_the_records(price: dict[str, Any], relation: Relation) -> None:
    domain = Domain.of(a=range(2), b=[0], c=range(3), d=range(4))
    workload = Marginals(domain, [(0, 1), (2, 0), (0, 2), (1,), (2,)])
    for count in (0, 1, 50):
        codes = np.zeros((4, count), dtype=np.uint16)
        release = Residual.of(workload, Neighbors(relation, 50), **price)(Records(domain, codes))
        assert release.table.records.codes.shape == (4, 24)
        assert release.table.weights is not None
        assert np.isclose(release.table.weights.sum(), 1)
        assert np.all(release.table.weights > 0)
        assert np.allclose(np.bincount(release.table.records.codes[3], release.table.weights), 0.25)
        assert release.evidence["table"] == "weights on all cells of the domain, fitted to the marginals"


def test_a_large_domain_has_rows_of_a_forest() -> None:
    domain = Domain.of({f"a{place}": range(4) for place in range(9)})
    workload = Marginals(domain, [(0, 1)])
    release = Residual.of(workload, Neighbors(Relation.ADD_REMOVE, 70), rho=1)(
        Records(domain, np.zeros((9, 70), dtype=np.uint16))
    )
    assert release.table.weights is None
    assert len(release.table) == 70
    assert release.evidence["table"].startswith("rows of")
