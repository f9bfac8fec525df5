"""The forest model: its answers are those of its own distribution, summed cell by cell."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.synthesis import Domain, Forest, Literals, Marginals, Records, Workload
from discreet.synthesis.methods.forest.forest import at_meeting_points, summed_cells, summed_out

DOMAIN = Domain.of(a=range(2), b=range(3), c=range(1), d=range(4), e=range(2), f=range(3))
SHAPES: dict[str, list[tuple[int, int]]] = {
    "no edge": [],
    "one path": [(0, 1), (1, 3), (3, 2), (2, 4), (4, 5)],
    "a star": [(3, other) for other in (0, 1, 2, 4, 5)],
    "two trees": [(5, 0), (0, 4), (1, 3)],
    "a fork": [(4, 1), (1, 5), (1, 0), (5, 3), (5, 2)],
}


def forest(edges: list[tuple[int, int]], seed: int = 5) -> Forest:
    """Return a forest with invented joint tables that have one common margin for each attribute."""
    random = np.random.default_rng(seed)
    shares = [random.dirichlet(np.ones(size)) for size in DOMAIN.sizes]
    joints = []
    for one, other in edges:
        joint = random.random((DOMAIN.sizes[one], DOMAIN.sizes[other]))
        for _ in range(200):
            joint *= (shares[one] / joint.sum(axis=1))[:, None]
            joint *= (shares[other] / joint.sum(axis=0))[None, :]
        joints.append(joint)
    return Forest.of(DOMAIN, shares, edges, joints)


def distribution(model: Forest) -> tuple[NDArray[np.uint16], NDArray[np.float64]]:
    """Return all records of the domain and the probability of each, factor by factor."""
    records = np.array(list(product(*map(range, DOMAIN.sizes))), dtype=np.uint16)
    chances = np.ones(len(records))
    for place, parent in enumerate(model.parents):
        row = records[:, parent] if parent >= 0 else np.zeros(len(records), dtype=np.uint16)
        chances *= model.conditionals[place][row, records[:, place]]
    return records, chances


def workload(ways: int, seed: int) -> Workload:
    """Return random queries of up to so many literals, attributes repeated, some parities, some negated."""
    random = np.random.default_rng(seed)
    attribute = random.integers(0, len(DOMAIN), 60).astype(np.int32)
    accepts = random.random((60, max(DOMAIN.sizes))) < 0.5
    accepts &= np.arange(max(DOMAIN.sizes))[None, :] < np.array(DOMAIN.sizes)[attribute][:, None]
    members = random.integers(0, 60, (400, ways)).astype(np.int32)
    lengths = random.integers(1, ways + 1, 400)
    members[np.arange(ways)[None, :] >= lengths[:, None]] = -1
    flags = random.random((2, 400)) < 0.4
    return Workload(DOMAIN, Literals(attribute, accepts), members, flags[0], flags[1], "random queries")


@pytest.mark.theorem("Forest.accuracy")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("ways", [1, 2, 3, 6])
def test_answers_are_the_shares_of_the_enumerated_distribution(shape: str, ways: int) -> None:
    model, asked = forest(SHAPES[shape]), workload(ways, seed=ways)
    records, chances = distribution(model)
    truth = sum(chance * asked.truths(record) for record, chance in zip(records, chances, strict=True))
    assert chances.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(model.answers(asked), truth, atol=1e-12)


@pytest.mark.theorem("Forest.accuracy")
@pytest.mark.parametrize("shape", SHAPES)
def test_the_two_ways_to_sum_agree(shape: str) -> None:
    model, asked = forest(SHAPES[shape]), workload(3, seed=77)
    np.testing.assert_allclose(at_meeting_points(model, asked), summed_out(model, asked), atol=1e-12)


@pytest.mark.theorem("Forest.accuracy")
@pytest.mark.parametrize("shape", SHAPES)
def test_cells_of_marginals_are_the_shares_of_the_enumerated_distribution(shape: str) -> None:
    model = forest(SHAPES[shape])
    asked = Marginals(DOMAIN, [(0,), (5,), (1, 3), (4, 0), (0, 1, 3), (2, 4, 5), (5, 3, 0), (0, 1, 2, 3)])
    records, chances = distribution(model)
    for sets in (asked.sets[:-1], asked.sets):  # with four attributes the slow way is taken
        part = Marginals(DOMAIN, sets)
        truth = part.weighted_counts(Records(DOMAIN, records.T), chances)
        np.testing.assert_allclose(model.answers(part), truth, atol=1e-12)


@pytest.mark.theorem("Forest.accuracy")
@pytest.mark.parametrize("entries", [1, 7, 1 << 24])
def test_cells_are_summed_over_any_number_of_values_at_once(entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.synthesis.methods.forest.forest._BLOCK_ENTRIES", entries)
    model = forest(SHAPES["a fork"])
    asked = Marginals(DOMAIN, [(3,), (5, 3), (0, 5, 3), (4, 0, 3)])
    records, chances = distribution(model)
    truth = asked.weighted_counts(Records(DOMAIN, records.T), chances)
    np.testing.assert_allclose(model.answers(asked), truth, atol=1e-12)


@pytest.mark.theorem("Forest.accuracy")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("entries", [1, 50, 40_000_000])
def test_the_slow_way_to_cells_agrees_whatever_is_summed_at_once(
    shape: str, entries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discreet.synthesis.methods.forest.forest._MOST_ENTRIES", entries)
    model = forest(SHAPES[shape])
    for places in ((0,), (5, 1), (3, 0), (2, 4, 5), (5, 3, 0), (3, 1, 0, 2), (4, 5, 3, 2, 1, 0)):
        asked, (records, chances) = Marginals(DOMAIN, [places]), distribution(model)
        truth = asked.weighted_counts(Records(DOMAIN, records.T), chances)
        np.testing.assert_allclose(summed_cells(model, places).ravel(), truth, atol=1e-12)


def test_cells_of_an_attribute_with_very_many_values_need_no_literals() -> None:
    domain = Domain.of(a=range(33_000), b=range(3), c=range(2))  # literals would accept 33,000^2 > 2^30 codes
    shares = [np.full(size, 1 / size) for size in domain.sizes]
    joint = np.zeros((33_000, 3))
    joint[np.arange(33_000), np.arange(33_000) % 3] = 1 / 33_000
    model = Forest.of(domain, shares, [(0, 1)], [joint])
    asked = Marginals(domain, [(0,), (2, 0), (1, 2), (0, 1)])
    answers = [asked.table(place, model.answers(asked)) for place in range(4)]
    np.testing.assert_allclose(answers[0], 1 / 33_000, atol=1e-15)
    np.testing.assert_allclose(answers[1], 1 / 66_000, atol=1e-15)
    np.testing.assert_allclose(answers[2], 1 / 6, atol=1e-12)
    np.testing.assert_allclose(answers[3], joint, atol=1e-15)


def test_rows_have_every_value_given_its_parent_as_often_as_expected_within_rounding() -> None:
    model, rows = forest(SHAPES["a fork"]), 5_000
    codes = model.table(rows).records.codes
    for place, parent in enumerate(model.parents):
        groups = codes[parent] if parent >= 0 else np.zeros(rows, dtype=np.uint16)
        for group, shares in enumerate(model.conditionals[place]):
            held = np.bincount(codes[place][groups == group], minlength=len(shares))
            assert np.all(np.abs(held - shares * held.sum()) <= 2)  # one for rounding, one for what was carried


def test_a_value_that_a_joint_table_never_has_keeps_the_other_shares() -> None:
    domain = Domain.of(x=range(2), y=range(2))
    joint = np.array([[0.25, 0.75], [0.0, 0.0]])
    model = Forest.of(domain, [np.array([1.0, 0.0]), np.array([0.25, 0.75])], [(0, 1)], [joint])
    assert model.conditionals[1].tolist() == [[0.25, 0.75], [0.25, 0.75]]
    assert np.isfinite(model.given).all()
