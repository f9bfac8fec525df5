"""Noise on every answer: distances of neighbors by brute force, ties, and what the closed forms guarantee."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from discreet import Relation
from discreet.data.invention import coins
from discreet.errors import ParameterError
from discreet.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.statistics.pricing.noisy_vector import NoisyVector
from discreet.synthesis import Domain, Literals, Neighbors, Records, Workload, conjunctions, marginals, parities
from discreet.synthesis.methods.answers import noisy as subject
from discreet.synthesis.methods.answers.noisy import AnswerSource, NoisyAnswers, _best_factor, overlap, ties
from discreet.synthesis.workloads.marginal_workload import Marginals
from tests.synthesis.responses.draws import draws

DOMAIN = Domain.of(a=range(2), b=range(3), c=range(3))
RELATIONS = [Relation.ADD_REMOVE, Relation.CHANGE_ONE]


def _turned(workload: Workload, seed: int = 4) -> Workload:
    """The same queries, each, its negation and itself again, in another order."""
    order = coins(seed).permutation(np.tile(np.arange(len(workload)), 3))
    negated = workload.negated[order] ^ (coins(seed + 1).random(len(order)) < 0.5)
    return Workload(
        workload.domain, workload.literals, workload.members[order], workload.parity[order], negated, "repeated"
    )


WORKLOADS = [
    conjunctions(DOMAIN, ways=2, count=12, seed=2),
    parities(DOMAIN, ways=2, count=8, seed=3),
    marginals(DOMAIN, ways=1),
    marginals(DOMAIN, ways=2),
    _turned(conjunctions(DOMAIN, ways=3, count=5, seed=5)),
]


def _people(domain: Domain) -> list[Records]:
    every = product(*map(range, domain.sizes))
    return [Records(domain, np.array(person, dtype=np.uint16)[:, None]) for person in every]


def _vectors(method: NoisyAnswers) -> np.ndarray:
    """What each possible record adds to the integers that get noise."""
    measurement = method.measurement
    return np.array(
        [
            measurement.steps(method.workload.counts(one)[measurement.ties.measured], 1)
            for one in _people(method.workload.domain)
        ]
    )


def _records(domain: Domain, count: int, seed: int = 1) -> Records:
    drawn = coins(seed).random((len(domain), count)) ** 2 * np.array(domain.sizes)[:, None]
    return Records(domain, drawn.astype(np.uint16))


@pytest.mark.theorem("NoisedIntegers.privacy", "NoisyAnswers.privacy", "overlap.accuracy")
@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("rows", "everyone"), [(1, True), (1, False), (2, True)])
@pytest.mark.parametrize("price", [{"rho": 1}, {"epsilon": 1}])
def test_no_neighbors_are_farther_apart_than_stated(
    workload: Workload, relation: Relation, rows: int, everyone: bool, price: dict[str, Any]
) -> None:
    neighbors = Neighbors(relation, 50, rows=rows, everyone=everyone)
    method = NoisyAnswers.of(workload, neighbors, **price)
    singles = _vectors(method)
    units = [singles] if rows == 1 else [singles, (singles[:, None] + singles[None, :]).reshape(-1, singles.shape[1])]
    if relation is Relation.ADD_REMOVE:
        apart = np.concatenate(units)
    else:
        # A unit may have no record, also where everybody is said to have one.
        listed = np.unique(np.concatenate([*units, 0 * singles[:1]]), axis=0)
        apart = (listed[:, None] - listed[None, :]).reshape(-1, singles.shape[1])
    assert np.abs(apart).sum(axis=1).max() <= method.measurement.shift
    assert (apart**2).sum(axis=1).max() <= method.measurement.squared


@pytest.mark.theorem("NoisedIntegers.privacy", "overlap.accuracy")
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("quick", [True, False])
def test_hostile_workloads_are_tied_and_priced_right(seed: int, quick: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not quick:
        monkeypatch.setattr(subject, "_MOST_WORK", 0)
    asked = _turned(draws(seed=seed, sizes=(2, 1, 3), count=12, parities=(0, 0.5, 1)[seed % 3], wide=3).workload)
    held = np.array([asked.counts(one) for one in _people(asked.domain)])
    for negations in (True, False):
        tied = ties(asked, negations=negations)
        follows = held[:, tied.measured][:, tied.place]
        assert np.array_equal(np.where(tied.turned, 1 - follows, follows), held)
    for relation in RELATIONS:
        method = NoisyAnswers.of(asked, Neighbors(relation, 50), rho=1)
        singles = _vectors(method)
        apart = singles if relation is Relation.ADD_REMOVE else singles[:, None] - singles[None, :]
        assert np.abs(apart).sum(axis=-1).max() <= method.measurement.shift
        assert (apart**2).sum(axis=-1).max() <= method.measurement.squared


@pytest.mark.theorem("overlap.accuracy")
def test_of_the_negations_of_cells_a_record_satisfies_all_but_one(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = Marginals(DOMAIN, [(0, 1)])
    asked = Workload(DOMAIN, cells.literals, cells.members, cells.parity, ~cells.negated, "not in the cell")
    every = np.arange(6)
    assert (overlap(asked, every).added, overlap(asked, every).changed) == (5, 6)
    assert (overlap(cells[every], every).added, overlap(cells[every], every).changed) == (1, 2)
    monkeypatch.setattr(subject, "_MOST_WORK", 0)
    assert (overlap(asked, every).added, overlap(asked, every).changed) == (6, 6)


@pytest.mark.theorem("NoisyAnswers.privacy")
@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("rows", [1, 3])
def test_the_noise_is_that_of_the_stated_distances(
    workload: Workload, relation: Relation, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[NoisyVector] = []

    def noted(mechanism: NoisyVector, value: np.ndarray) -> np.ndarray:
        used.append(mechanism)
        assert value.dtype == np.int64
        return value

    monkeypatch.setattr(NoisyVector, "__call__", noted)
    prices: list[dict[str, Any]] = [{"rho": Fraction(1, 7)}, {"epsilon": Fraction(2, 3)}]
    for price in prices:
        method = NoisyAnswers.of(workload, Neighbors(relation, 40, rows=rows), **price)
        method(_records(DOMAIN, 40))
        law, measurement = used[-1].noise, method.measurement
        if "rho" in price:
            assert isinstance(law, DiscreteGaussian if measurement.shift == 1 else RoundedGaussian)
            assert Fraction(law.scale) ** 2 >= measurement.squared / (2 * price["rho"])
        else:
            assert isinstance(law, DiscreteLaplace)
            assert law.scale == measurement.shift / price["epsilon"]
        assert method.guarantee.relation is relation


@pytest.mark.parametrize("ways", [1, 2])
def test_marginals_cost_one_histogram_each(ways: int) -> None:
    workload = marginals(DOMAIN, ways=ways)
    for relation, times in zip(RELATIONS, (1, 2), strict=True):
        for rows in (1, 3):
            measurement = NoisyAnswers.of(workload, Neighbors(relation, 50, rows=rows), rho=1).measurement
            assert measurement.factor is None
            assert (measurement.shift, measurement.squared) == (times * rows * 3, times * rows**2 * 3)


@pytest.mark.theorem("NoisyAnswers.accuracy")
def test_centered_answers_need_a_quarter_of_the_variance_where_nothing_is_known() -> None:
    for queries in (9, 100, 4096, 10**6):
        a = _best_factor(queries, pure=False)
        variance = (queries + a * a) * (1 + 1 / a**2) / 8
        least = (math.sqrt(queries) + 1) ** 2 / 8
        assert least <= variance + 1e-9 * least
        assert variance <= 1.05 * least
        pure = _best_factor(queries, pure=True)
        assert all(
            (queries + pure) ** 2 * (1 + 1 / pure**2) <= (queries + b) ** 2 * (1 + 1 / b**2) for b in range(1, 200)
        )


@pytest.mark.theorem("NoisyAnswers.accuracy")
@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("price", [{"rho": 1}, {"epsilon": 1}])
def test_without_noise_the_counts_come_back_and_the_answers_are_linear_in_it(
    workload: Workload, relation: Relation, price: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    records = _records(DOMAIN, 40)
    method = NoisyAnswers.of(workload, Neighbors(relation, 40), **price)
    released: list[np.ndarray] = []

    def exact(_mechanism: NoisyVector, value: np.ndarray) -> np.ndarray:
        released.append(value)
        return value

    monkeypatch.setattr(NoisyVector, "__call__", exact)
    release = method(records)
    assert np.allclose(release.evidence["noisy answers"], workload.frequencies(records))
    assert np.allclose(release.answers, workload.frequencies(records), atol=1e-4)
    assert len(released) == 1  # one vector, one price


@pytest.mark.theorem("NoisyAnswers.accuracy")
@pytest.mark.parametrize("price", [{"rho": 0.1}, {"epsilon": 1}])
def test_the_deviation_is_that_of_the_linear_estimate(price: dict[str, Any]) -> None:
    domain = Domain.of({f"a{place}": range(2) for place in range(14)})
    workload = conjunctions(domain, ways=3, count=80, seed=2)
    method = NoisyAnswers.of(workload, Neighbors(Relation.ADD_REMOVE, 9), **price)
    measurement = method.measurement
    assert measurement.factor is not None
    width = len(measurement.ties.measured) + 1
    columns = np.array([measurement.counts(one, None)[0] for one in np.eye(width)]).T
    noise = method._noise(measurement).noise
    assert np.allclose(np.sqrt((columns**2).sum(axis=1) * noise.variance), method.deviation)  # type: ignore[attr-defined]


def test_equal_queries_and_negations_are_measured_once() -> None:
    plain = conjunctions(DOMAIN, ways=2, count=7, seed=8)
    repeated = _turned(plain)
    alone, apart = ties(repeated, negations=True), ties(repeated, negations=False)
    assert len(alone.measured) == len(ties(plain, negations=True).measured) <= len(apart.measured)
    for records in _people(DOMAIN):
        truth = repeated.counts(records)
        for tied in (alone, apart):
            follows = truth[tied.measured][tied.place]
            assert np.array_equal(np.where(tied.turned, 1 - follows, follows), truth)
    assert not apart.turned.any()


def test_a_literal_said_twice_is_said_once_in_a_conjunction_but_not_in_a_parity() -> None:
    literals = Literals(np.array([0, 0], dtype=np.int32), np.array([[1, 0, 0], [1, 0, 0]], dtype=bool))
    members = np.array([[0, 1], [0, -1], [0, 1], [0, -1]], dtype=np.int32)
    parity = np.array([False, False, True, True])
    workload = Workload(DOMAIN, literals, members, parity, np.zeros(4, dtype=bool), "the same twice")
    tied = ties(workload, negations=True)
    assert tied.place[0] == tied.place[1]
    assert tied.place[2] != tied.place[3]


@pytest.mark.theorem("overlap.accuracy")
@pytest.mark.parametrize("workload", WORKLOADS)
def test_no_record_satisfies_more_than_the_overlap(workload: Workload) -> None:
    every = np.arange(len(workload), dtype=np.int64)
    found = overlap(workload, every)
    held = np.array([workload.counts(one) for one in _people(DOMAIN)])
    assert held.sum(axis=1).max() <= found.added
    assert np.abs(held[:, None] - held[None, :]).sum(axis=2).max() <= found.changed
    assert sum(found.sizes) == len(workload)


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_large_domain_keeps_the_noisy_answers_beside_a_table(relation: Relation) -> None:
    domain = Domain.of({f"a{place}": range(6) for place in range(9)})
    workload, records = conjunctions(domain, ways=2, count=60, seed=3), _records(domain, 200)
    told: list[tuple[int, int]] = []
    release = NoisyAnswers.of(workload, Neighbors(relation, 200), rho=2)(
        records, progress=lambda done, steps: told.append((done, steps))
    )
    noisy = release.evidence["noisy answers"]
    assert np.array_equal(release.answers, np.clip(noisy, 0, 1))
    assert told[-1][0] == told[-1][1] == len(release.table)
    asked = NoisyAnswers.of(workload, Neighbors(relation, 200), rho=2, given=AnswerSource.TABLE)(records)
    assert np.allclose(asked.answers, workload.frequencies(asked.table.records, asked.table.weights), atol=1e-9)
    assert asked.deviations is None  # nothing in closed form is known of the table's answers
    assert release.deviations is not None


@pytest.mark.parametrize("count", [0, 1, 30])
@pytest.mark.parametrize("relation", RELATIONS)
def test_small_and_empty_tables_are_released(count: int, relation: Relation) -> None:
    release = NoisyAnswers.of(WORKLOADS[0], Neighbors(relation, 30), epsilon=1, delta=1e-6)(_records(DOMAIN, count))
    assert np.all((release.answers >= 0) & (release.answers <= 1))
    assert release.table.weights is not None
    assert release.table.weights.sum() == pytest.approx(1)


def test_what_is_given_is_stated_by_its_enum() -> None:
    with pytest.raises(ParameterError, match="AnswerSource"):
        NoisyAnswers.of(WORKLOADS[0], Neighbors(Relation.ADD_REMOVE, 9), rho=1, given="table")  # type: ignore[arg-type]


def _names(workloads: Sequence[Workload]) -> list[str]:
    return [one.description for one in workloads]


def test_the_workloads_here_are_of_every_kind() -> None:
    assert any(one.parity.any() for one in WORKLOADS)
    assert any(one.negated.any() for one in WORKLOADS)
    assert len(set(_names(WORKLOADS))) == len(WORKLOADS)
