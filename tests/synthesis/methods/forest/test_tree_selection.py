"""Scores of pairs: integers with the stated sensitivity, checked on all neighbors of small tables."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.privacy import Relation
from discreet.synthesis import Allowance, Domain, Neighbors, Records
from discreet.synthesis.base.allowance import Noisy
from discreet.synthesis.methods.forest.one_ways import OneWays
from discreet.synthesis.methods.forest.tree import (
    ALL_CELLS,
    GRID,
    MOST_CELLS,
    candidate_pairs,
    distance_in_steps,
    grow_forest,
    harm,
    pair_histograms,
    penalty,
    scored,
)
from tests.synthesis.methods.spending import Noted

DOMAIN = Domain.of(a=range(2), b=range(2), c=range(2))
COUNTS = [[3, 7], [11, 9], [50, -2]]
CELLS = list(product(range(2), repeat=3))


def table(rows: tuple[tuple[int, ...], ...]) -> Records:
    """Return records from rows of codes."""
    return Records(DOMAIN, np.array(rows, dtype=np.uint16).reshape(-1, 3).T)


def released(domain: Domain, counts: list[list[int]], times: int = 1) -> OneWays:
    """Return noisy one-ways with these counts."""
    noisy = {place: Noisy(times * np.array(one), 0.5) for place, one in enumerate(counts)}
    return OneWays(domain, noisy)


def scores(rows: tuple[tuple[int, ...], ...], times: int) -> NDArray[np.int64]:
    """Return the scores of the three pairs."""
    return scored(table(rows), candidate_pairs(DOMAIN), released(DOMAIN, COUNTS, times), 0.4)[0]


@pytest.mark.theorem("grow_forest.privacy")
@pytest.mark.theorem("distance_in_steps.privacy")
@pytest.mark.parametrize("times", [0, 1, 100])
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("relation", [Relation.ADD_REMOVE, Relation.CHANGE_ONE])
def test_one_unit_moves_every_score_by_the_stated_sensitivity_at_most(
    relation: Relation, rows: int, times: int
) -> None:
    bound = GRID * Neighbors(relation, 10, rows=rows).l1
    units = [unit for count in range(rows + 1) for unit in combinations_with_replacement(CELLS, count)]
    largest = 0
    for others in ((), (CELLS[3],), (CELLS[0], CELLS[7], CELLS[5])):
        found = {unit: scores(others + unit, times) for unit in units}
        pairs = product(units, units) if relation is Relation.CHANGE_ONE else (((), unit) for unit in units)
        moved = [int(np.abs(found[one] - found[other]).max()) for one, other in pairs]
        largest = max(largest, *moved)
    assert largest <= bound
    assert largest == bound or times == 0  # with nothing expected, one record less and one more cancel


@pytest.mark.theorem("grow_forest.privacy")
def test_each_choice_is_of_pairs_between_trees_and_a_whole_tree_ends_it() -> None:
    offered: list[int] = []

    def last_pair(values: NDArray[Any]) -> int:
        offered.append(len(values))
        return len(values) - 2

    domain = Domain.of(a=range(2), b=range(3), c=range(2), d=range(2))
    records = Records(domain, np.zeros((4, 7), dtype=np.uint16))
    allowance = Noted.like(Allowance.of(Neighbors(Relation.ADD_REMOVE, 7), epsilon=1), last_pair)
    one_ways = released(domain, [[5, 2], [4, 2, 1], [6, 1], [7, 0]])
    grown = grow_forest(records, allowance, one_ways, deviation=1.0, step=Fraction(1, 10))
    assert offered == [7, 6, 4]  # six pairs and stopping; c-d taken, five left; b-d taken, b-c falls too; a joins last
    assert grown.edges == ((2, 3), (1, 3), (0, 3))
    assert grown.spent == Fraction(3, 10)


def test_the_histograms_of_pairs_are_exact_whichever_way_they_are_counted() -> None:
    random = np.random.default_rng(6)
    domain = Domain.of({f"x{place}": range(2 + place % 3 // 2) for place in range(40)})
    records = Records(domain, np.stack([random.integers(0, size, 20_000) for size in domain.sizes]).astype(np.uint16))
    pairs = candidate_pairs(domain)
    together = list(pair_histograms(records, pairs))  # so many that they are counted at once
    for place in (0, 77, 400, len(pairs) - 1):
        one, other = pairs[place]
        direct = np.zeros((domain.sizes[one], domain.sizes[other]), dtype=np.int64)
        np.add.at(direct, (records.codes[one], records.codes[other]), 1)
        assert together[place].tolist() == direct.tolist()
        assert next(pair_histograms(records, [pairs[place]])).tolist() == direct.tolist()


def test_pairs_with_one_value_or_too_many_cells_are_no_candidates() -> None:
    domain = Domain.of(a=range(1), b=range(2), c=range(60_000), d=range(18))
    assert domain.sizes[2] * domain.sizes[3] > MOST_CELLS
    assert candidate_pairs(domain) == [(1, 2), (1, 3)]


def test_of_too_many_cells_the_smallest_pairs_are_candidates() -> None:
    large = {f"x{place}": range(1_000) for place in range(48)}
    pairs = candidate_pairs(Domain.of({**large, "y": range(2), "z": range(3)}))
    assert pairs[:2] == [(0, 1), (0, 2)]  # in the order of the attributes
    assert {(place, small) for place in range(48) for small in (48, 49)} < set(pairs)
    cells = [1_000_000 if other < 48 else 1_000 * (other - 46) for _, other in pairs[:-1]]
    assert ALL_CELLS - 1_000_000 < sum(cells) + 6 <= ALL_CELLS


def test_scores_are_whole_however_large_the_noisy_total() -> None:
    expected = np.array([[1e300, 0.3], [5.0, 2.0]])
    assert distance_in_steps(np.array([[1, 2], [3, 4]]), np.array([[1.0, 2.0], [3.0, 4.03]])) == 0
    assert isinstance(distance_in_steps(np.array([[1, 2], [3, 4]]), expected), int)
    assert isinstance(penalty(1e300, 1.0), int)


@pytest.mark.theorem("distance_in_steps.privacy")
@pytest.mark.parametrize("total", [1.0, 2.0**40, 2.0**60, 2.0**63, 1e300])
@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (1024, 1024)])
def test_a_distance_never_jumps_however_large_the_noisy_total(total: float, shape: tuple[int, int]) -> None:
    expected, histogram = np.full(shape, total / (shape[0] * shape[1])), np.zeros(shape, dtype=np.int64)
    more = histogram.copy()
    more[0, 0] = 1
    here, there = distance_in_steps(histogram, expected), distance_in_steps(more, expected)
    assert here >= 0
    assert there >= 0
    assert abs(here - there) <= GRID


def test_little_noise_costs_nothing_and_noise_beyond_the_table_twice_the_table() -> None:
    expected = np.full((4, 5), 10.0)
    assert penalty(harm(expected, 0.01), 200.0) == 0
    assert harm(expected, 3.0) == 60
    assert harm(expected, 1e9) == 400


@pytest.mark.theorem("Tree.accuracy")
def test_stopping_wins_where_noise_drowns_everything_and_never_where_there_is_none() -> None:
    codes = np.tile(np.arange(40, dtype=np.uint16), (3, 10))
    records = Records(Domain.of(a=range(40), b=range(40), c=range(40)), codes)
    one_ways = OneWays(records.domain, {place: Noisy(np.full(40, 10), 0.1) for place in range(3)})
    allowance = Noted.like(
        Allowance.of(Neighbors(Relation.ADD_REMOVE, 400), epsilon=1), lambda values: int(np.argmax(values))
    )
    assert grow_forest(records, allowance, one_ways, deviation=1e4, step=Fraction(1, 9)).edges == ()
    assert len(grow_forest(records, allowance, one_ways, deviation=0.1, step=Fraction(1, 9)).edges) == 2
    noisy = OneWays(records.domain, {place: Noisy(np.full(40, 10), 1e4) for place in range(3)})
    assert grow_forest(records, allowance, noisy, deviation=0.1, step=Fraction(1, 9)).edges == ()
