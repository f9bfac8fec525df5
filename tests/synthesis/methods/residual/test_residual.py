"""Marginals from residuals: the closed forms are those of explicit linear algebra; neighbors keep the guarantee."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet import Relation
from discreet.data.invention import coins
from discreet.errors import ParameterError
from discreet.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.privacy import largest_mu
from discreet.synthesis import Domain, Neighbors, Records, conjunctions, marginals
from discreet.synthesis.methods.answers.noisy import NoisyAnswers
from discreet.synthesis.methods.residual import method as subject
from discreet.synthesis.methods.residual.allocation import Aim
from discreet.synthesis.methods.residual.basis import closure, core, histogram, scaled_residual
from discreet.synthesis.methods.residual.method import Residual, ResidualFinish, noise_scales
from discreet.synthesis.workloads.marginal_workload import Marginals
from tests.synthesis.methods.spending import Noted

SHAPES = [
    ((2, 3, 2), [(0, 1), (1, 2), (0, 2)]),
    ((3, 2, 4), [(0, 1, 2)]),
    ((2, 1, 3), [(0, 1), (2,), (1,), (0, 2)]),
    ((2, 2, 2, 3), [(3, 0, 1), (1, 2), (1,), (2, 1)]),
    ((4,), [(0,), (0,)]),
]
RELATIONS = [Relation.ADD_REMOVE, Relation.CHANGE_ONE]


def _domain(sizes: Sequence[int]) -> Domain:
    return Domain.of({f"a{place}": range(size) for place, size in enumerate(sizes)})


def _records(domain: Domain, count: int, seed: int = 1) -> Records:
    drawn = coins(seed).random((len(domain), count)) ** 2 * np.array(domain.sizes)[:, None]
    return Records(domain, drawn.astype(np.uint16))


def _everyone(sizes: Sequence[int]) -> list[tuple[int, ...]]:
    return list(product(*map(range, sizes)))


def _incidence(sizes: Sequence[int], sets: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """One row for each cell of each marginal, one column for each possible record."""
    rows = []
    for one in sets:
        for cell in product(*(range(sizes[place]) for place in one)):
            rows.append([tuple(person[place] for place in one) == cell for person in _everyone(sizes)])
    return np.array(rows, dtype=np.float64)


def _design(method: Residual) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What is measured, as a matrix over all possible records, and the squared scale of each measurement's noise."""
    sizes = method.workload.domain.sizes
    scales = noise_scales(method.allocation, method.allowance.amount)
    blocks, squares = [], []
    for part, scale in zip(method.allocation.residuals, scales, strict=True):
        columns = []
        for person in _everyone(sizes):
            alone = Records(method.workload.domain, np.array(person, dtype=np.uint16)[:, None])
            columns.append(scaled_residual(histogram(alone, part)).ravel())
        blocks.append(np.array(columns, dtype=np.float64).T)
        squares += [float(scale) ** 2] * len(blocks[-1])
    return np.concatenate(blocks), np.array(squares)


@pytest.mark.theorem("Residuals.accuracy", "Residual.accuracy")
@pytest.mark.parametrize(("sizes", "sets"), SHAPES)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("aim", list(Aim))
def test_variances_are_those_of_generalized_least_squares(
    sizes: tuple[int, ...], sets: list[tuple[int, ...]], relation: Relation, aim: Aim
) -> None:
    domain = _domain(sizes)
    method = Residual.of(Marginals(domain, sets), Neighbors(relation, people=50), rho=Fraction(1, 50), aim=aim)
    design, squares = _design(method)
    assert squares.min() > 4  # rounding adds a twelfth to the variance there, up to the digits of a float
    information = design.T @ (design / (squares[:, None] + 1 / 12))
    asked = _incidence(sizes, sets)
    # Where the number of records is known, nothing measures the sum, and the inverse leaves it out: it has no error.
    covariance = asked @ np.linalg.pinv(information, rcond=1e-12, hermitian=True) @ asked.T
    predicted = np.repeat(np.array(method.deviations_of_counts) ** 2, np.diff(method.workload.offsets))
    assert np.allclose(np.diag(covariance), predicted, rtol=1e-9, atol=1e-9)


@pytest.mark.theorem("Residuals.accuracy")
@pytest.mark.parametrize(("sizes", "sets"), SHAPES)
@pytest.mark.parametrize("relation", RELATIONS)
def test_without_noise_every_marginal_comes_back_exactly(
    sizes: tuple[int, ...], sets: list[tuple[int, ...]], relation: Relation, monkeypatch: pytest.MonkeyPatch
) -> None:
    domain = _domain(sizes)
    records = _records(domain, 40)
    monkeypatch.setattr(RoundedGaussian, "draw", lambda _law, count: np.zeros(count, dtype=np.int64))
    workload = Marginals(domain, sets)
    release = Residual.of(workload, Neighbors(relation, people=40), rho=1)(records)
    assert np.allclose(release.answers * 40, workload.counts(records), atol=1e-9)


@pytest.mark.theorem("Residual.accuracy")
def test_estimates_are_linear_in_the_noise_so_that_they_are_unbiased(monkeypatch: pytest.MonkeyPatch) -> None:
    domain = _domain((2, 3, 2))
    records, workload = _records(domain, 30), marginals(domain, ways=2)
    method = Residual.of(workload, Neighbors(Relation.ADD_REMOVE, people=30), rho=1)
    noise = [coins(3, turn).integers(-9, 10, 100) for turn in range(len(method.allocation.residuals))]
    turns = iter(noise + [-one for one in noise])
    monkeypatch.setattr(RoundedGaussian, "draw", lambda _law, count: next(turns)[:count].copy())
    pair = method(records).answers + method(records).answers
    assert np.allclose(pair / 2 * 30, workload.counts(records), atol=1e-9)


@pytest.mark.theorem("Residuals.accuracy")
@pytest.mark.parametrize("price", [{"rho": 0.05}, {"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}])
@pytest.mark.parametrize("relation", RELATIONS)
def test_marginals_agree_on_what_they_share(price: dict[str, Any], relation: Relation) -> None:
    domain = _domain((2, 3, 4, 2))
    workload = Marginals(domain, [(0, 1, 2), (1, 2, 3), (3, 2), (2,)])
    release = Residual.of(workload, Neighbors(relation, people=60), **price)(_records(domain, 60))
    first, second = workload.table(0, release.answers), workload.table(1, release.answers)
    third, fourth = workload.table(2, release.answers), workload.table(3, release.answers)
    assert np.allclose(first.sum(axis=0), second.sum(axis=2), atol=1e-9)
    assert np.allclose(second.sum(axis=0).T, third, atol=1e-9)
    assert np.allclose(third.sum(axis=0), fourth, atol=1e-9)


@pytest.mark.theorem("Residual.accuracy")
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("price", [{"rho": 0.02}, {"epsilon": 1}])
def test_measured_squares_are_the_predicted_ones(relation: Relation, price: dict[str, Any]) -> None:
    domain = _domain((9, 8, 7, 6))
    workload, records = marginals(domain, ways=3), _records(domain, 500)
    release = Residual.of(workload, Neighbors(relation, people=500), **price)(records)
    assert release.deviations is not None
    errors = release.answers - workload.counts(records) / 500
    ratio = float(np.sum(errors**2) / np.sum(release.deviations**2))
    # Over a thousand independent directions, none with more than a hundredth of the variance: 6.2 deviations of a
    # normal variable are 0.35 for Gaussian noise, and the fourth moment of Laplace noise at most doubles that.
    assert 0.3 < ratio < 1.9


@pytest.mark.theorem("Residual.privacy", "Allocation.privacy", "measure_residuals.privacy")
@pytest.mark.parametrize(("sizes", "sets"), SHAPES)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("rows", "everyone"), [(1, True), (1, False), (2, True)])
@pytest.mark.parametrize("aim", list(Aim))
def test_no_neighbors_are_farther_apart_than_the_price_allows(
    sizes: tuple[int, ...], sets: list[tuple[int, ...]], relation: Relation, rows: int, everyone: bool, aim: Aim
) -> None:
    domain = _domain(sizes)
    neighbors = Neighbors(relation, 50, rows=rows, everyone=everyone)
    price: dict[str, Any] = {"epsilon": 1, "delta": Fraction(1, 10**6)} if rows == 1 else {"rho": Fraction(1, 7)}
    method = Residual.of(Marginals(domain, sets), neighbors, aim=aim, **price)
    assert method.allowance.gaussian == (rows == 1)
    design, squares = _design(method)
    singles = (design / np.sqrt(squares)[:, None]).T
    units = [np.zeros((1, singles.shape[1])), singles]
    if rows == 2:
        units.append((singles[:, None] + singles[None, :]).reshape(-1, singles.shape[1]))
    if relation is Relation.ADD_REMOVE:
        worst = max(float(np.sum(unit**2, axis=1).max()) for unit in units)
    else:
        # A unit may have no record, also where everybody is said to have one.
        listed = np.concatenate(units)
        gram = listed @ listed.T
        worst = float((np.diag(gram)[:, None] + np.diag(gram)[None, :] - 2 * gram).max())
    allowed = float(largest_mu(Fraction(1), Fraction(1, 10**6)) ** 2 if rows == 1 else Fraction(2, 7))
    assert worst <= allowed * (1 + 1e-9)
    assert worst >= allowed * (1 - 1e-6)  # nothing is wasted


@pytest.mark.theorem("measure_residuals.privacy", "Allocation.privacy")
@pytest.mark.parametrize("relation", RELATIONS)
def test_what_gets_noise_is_whole_numbers_and_the_noise_has_the_scale_of_the_theorem(
    relation: Relation, monkeypatch: pytest.MonkeyPatch
) -> None:
    domain, rho = _domain((2, 3, 2)), Fraction(1, 7)
    records = _records(domain, 30)
    method = Residual.of(marginals(domain, ways=2), Neighbors(relation, people=30), rho=rho)
    allocation = method.allocation
    used: list[Fraction] = []
    exact: list[NDArray[np.int64]] = []

    def noted(law: RoundedGaussian, count: int) -> NDArray[np.int64]:
        used.append(Fraction(law.scale))
        return np.full(count, 1000, dtype=np.int64)

    def added(steps: NDArray[np.int64], noise: NDArray[np.int64]) -> NDArray[np.int64]:
        exact.append(steps)
        assert steps.shape == noise.shape
        assert np.all(noise == 1000)
        return steps + noise

    monkeypatch.setattr(RoundedGaussian, "draw", noted)
    monkeypatch.setattr(subject, "add_noise", added)
    release = method(records)
    assert len(used) == len(exact) == len(allocation.residuals)
    for part, weight, scale, steps in zip(allocation.residuals, allocation.weights, used, exact, strict=True):
        assert steps.dtype == np.int64
        assert np.array_equal(steps, scaled_residual(histogram(records, part)))
        least = Fraction(allocation.distance, 2) / rho * math.prod(domain.sizes[one] for one in part) / weight
        assert least <= scale**2 <= least * (1 + Fraction(1, 10**12))
    noisy_total = 30 + (0 if relation is Relation.CHANGE_ONE else 1000)
    assert release.evidence["number of records"] == pytest.approx(noisy_total)  # whatever is told of it has noise


@pytest.mark.parametrize("price", [{"rho": 1}, {"epsilon": 1}])
def test_the_record_count_has_noise_where_a_unit_may_have_no_record(
    price: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    domain = _domain((2, 3))
    workload, records = marginals(domain, ways=1), _records(domain, 7)
    for law in (DiscreteGaussian, RoundedGaussian, DiscreteLaplace):
        monkeypatch.setattr(law, "draw", lambda _law, count: np.full(count, 1000, dtype=np.int64))
    told = {}
    for everyone in (True, False):
        neighbors = Neighbors(Relation.CHANGE_ONE, 7, everyone=everyone)
        told[everyone] = [
            float(made.of(workload, neighbors, **price)(records).evidence.get("number of records", -1.0))
            for made in (Residual, NoisyAnswers)
        ]
    assert told[True] == [7, 7]
    assert told[False][0] > 1000
    assert told[False][1] == -1


@pytest.mark.theorem("Residual.privacy", "measure_histograms.privacy")
@pytest.mark.parametrize("relation", RELATIONS)
def test_a_pure_price_is_spent_once(relation: Relation) -> None:
    domain = _domain((2, 3, 4, 2))
    workload = Marginals(domain, [(0, 1, 2), (1, 2), (3,), (2, 3), (3,)])
    method = Residual.of(workload, Neighbors(relation, people=50), epsilon=2)
    allowance = Noted.like(method.allowance)
    replace(method, allowance=allowance)(_records(domain, 50))
    assert len(allowance.noised) == 2
    assert allowance.spent == 1


@pytest.mark.theorem("Residual.privacy", "measure_histograms.privacy")
@pytest.mark.parametrize("relation", RELATIONS)
def test_a_pure_price_is_spent_on_histograms_whose_shares_add_up(relation: Relation) -> None:
    from discreet.synthesis.methods.residual.method import maximal, shares

    sizes = (2, 3, 4, 2)
    sets = maximal([(0, 1, 2), (1, 2), (3,), (2, 3), (3,)])
    assert sets == ((2, 3), (0, 1, 2))
    assert sum(shares(sets, sizes)) == 1
    domain = _domain(sizes)
    method = Residual.of(Marginals(domain, sets), Neighbors(relation, people=50), epsilon=2)
    for one, share in zip(sets, shares(sets, sizes), strict=True):
        scale = Fraction(1 if relation is Relation.ADD_REMOVE else 2) / (2 * share)
        assert method.allowance.noise(share).noise.scale == scale, one


def test_the_record_count_is_used_only_where_neighbors_share_it() -> None:
    domain = _domain((2, 3))
    workload = marginals(domain, ways=2)
    exact = Residual.of(workload, Neighbors(Relation.CHANGE_ONE, people=7), rho=1)
    assert () not in exact.allocation.residuals
    for neighbors in (
        Neighbors(Relation.ADD_REMOVE, 7),
        Neighbors(Relation.CHANGE_ONE, 7, rows=2),
        Neighbors(Relation.CHANGE_ONE, 7, everyone=False),
    ):
        assert not neighbors.same_count
        assert () in Residual.of(workload, neighbors, rho=1).allocation.residuals
    assert np.isclose(exact(_records(domain, 7)).answers.sum(), 1)


@pytest.mark.parametrize("price", [{"rho": 0.5}, {"epsilon": 1}])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("count", [0, 25])
def test_hostile_domains_and_empty_tables_are_released(price: dict[str, Any], relation: Relation, count: int) -> None:
    domain = _domain((1, 2, 1, 3))
    workload = Marginals(domain, [(0, 1), (1, 0), (1,), (1, 3, 2), (0, 3), (3,), (3,)])
    for finish in ResidualFinish:
        method = Residual.of(workload, Neighbors(relation, people=25), finish=finish, **price)
        release = method(_records(domain, count))
        assert release.answers.shape == (len(workload),)
        assert np.all(np.isfinite(release.answers))
        same = workload.table(0, release.answers).ravel(), workload.table(1, release.answers).ravel()
        assert np.allclose(*same)


def test_a_workload_that_asks_nothing_is_refused_under_change_one() -> None:
    domain = _domain((1, 2))
    with pytest.raises(ParameterError, match="one cell"):
        Residual.of(Marginals(domain, [(0,)]), Neighbors(Relation.CHANGE_ONE, people=5), rho=1)
    released = Residual.of(Marginals(domain, [(0,)]), Neighbors(Relation.ADD_REMOVE, people=5), rho=1)
    assert released(_records(domain, 5)).answers.shape == (1,)


def test_a_marginal_of_too_many_attributes_is_refused() -> None:
    workload = Marginals(_domain((2,) * 19), [tuple(range(19))])
    for price in ({"rho": 1}, {"epsilon": 1}):
        with pytest.raises(ParameterError, match="too many residuals"):
            Residual.of(workload, Neighbors(Relation.ADD_REMOVE, people=5), **price)  # type: ignore[arg-type]


def test_other_workloads_and_aims_are_refused() -> None:
    domain, neighbors = _domain((2, 3)), Neighbors(Relation.ADD_REMOVE, people=5)
    with pytest.raises(ParameterError, match="marginals"):
        Residual.of(conjunctions(domain, ways=1, count=3), neighbors, rho=1)
    with pytest.raises(ParameterError, match="Aim"):
        Residual.of(marginals(domain, ways=1), neighbors, rho=1, aim="sum")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="confidence"):
        Residual.of(marginals(domain, ways=1), neighbors, rho=1).half_width(1.0)


@pytest.mark.theorem("Residual.accuracy")
@pytest.mark.parametrize("scale", [Fraction(1, 8), Fraction(2, 9), Fraction(1, 2), 1, 7])
def test_rounded_noise_has_the_moments_on_which_intervals_stand(scale: Fraction) -> None:
    """The logarithm of E exp(t R) is at most t^2 (s^2 + 3/8)/2, from scale 1 on hardly above t^2 (s^2 + 1/12)/2."""
    places = np.arange(-400, 401)
    masses = np.asarray(RoundedGaussian(scale).log_pmf(places))
    for t in (0.01, 0.1, 1.0, 3.0, 10.0):
        found = float(np.logaddexp.reduce(masses + t * places))
        assert found <= t * t * (float(scale) ** 2 + 3 / 8) / 2 + 1e-12
        if scale >= 1:
            assert found <= t * t * (float(scale) ** 2 + 1 / 12) / 2 + 6e-9


@pytest.mark.theorem("Residual.accuracy")
def test_intervals_by_chernoff_are_wider_than_the_normal_ones_but_not_by_much() -> None:
    method = Residual.of(marginals(_domain((2, 3)), ways=2), Neighbors(Relation.ADD_REMOVE, people=5), rho=0.01)
    ratio = method.half_width(0.95) / np.array(method.deviations_of_counts)
    assert np.all((ratio > 1.96) & (ratio < 2.75))
    pure = Residual.of(marginals(_domain((2, 3)), ways=2), Neighbors(Relation.ADD_REMOVE, people=5), epsilon=1)
    assert np.allclose(pure.half_width(0.75) / np.array(pure.deviations_of_counts), 2)


def test_progress_tells_public_numbers_only() -> None:
    domain = _domain((2, 3, 2))
    workload, neighbors = marginals(domain, ways=2), Neighbors(Relation.ADD_REMOVE, people=5)
    for method in (Residual.of(workload, neighbors, rho=1), Residual.of(workload, neighbors, epsilon=1)):
        told: list[tuple[int, int]] = []

        def tell(done: int, steps: int, kept: list[tuple[int, int]] = told) -> None:
            kept.append((done, steps))

        method(_records(domain, 0), progress=tell)
        method(_records(domain, 33), progress=tell)
        half = len(told) // 2
        assert told[:half] == told[half:]
        assert told[-1] == (half, half)


def test_the_closure_has_every_subset_once() -> None:
    assert closure([(0, 1, 2), (1, 2)]) == ((), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2))
    assert core((3, 0, 1), (2, 1, 5, 4)) == (0, 3)
