"""Allocations: the cost of neighbors by brute force, and the optimum against every other allocation tried."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from discreet import Relation
from discreet.data.invention import coins
from discreet.synthesis import Neighbors
from discreet.synthesis.methods.residual import allocation as cost
from discreet.synthesis.methods.residual.allocation import Aim, Allocation
from discreet.synthesis.methods.residual.basis import Attributes, closure

SIZES = (2, 3, 5, 2)
SETS = [(0, 1), (1, 2), (0, 2, 3)]


def _kernel(weights: Mapping[Attributes, int], agree: tuple[bool, ...], sizes: tuple[int, ...]) -> int:
    total = 0
    for part, weight in weights.items():
        total += weight * math.prod(sizes[one] - 1 if agree[one] else -1 for one in part)
    return total


def _random_weights(sets: list[Attributes], seed: int) -> dict[Attributes, int]:
    return {part: int(coins(seed, place).integers(1, 1000)) for place, part in enumerate(closure(sets))}


@pytest.mark.theorem("Allocation.privacy")
@pytest.mark.parametrize("seed", range(6))
def test_the_least_kernel_is_that_of_all_patterns_of_agreement(seed: int) -> None:
    weights = _random_weights(SETS, seed)
    least = min(_kernel(weights, agree, SIZES) for agree in product((False, True), repeat=4))
    assert cost.lowest_kernel(weights, SIZES) == least


@pytest.mark.theorem("Allocation.privacy")
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("sizes", [(2, 3, 5, 2), (2, 2, 2, 2), (7, 4, 4, 3)])
@pytest.mark.parametrize("sets", [[(0, 1), (1, 2), (0, 3)], [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]])
def test_bounds_for_many_attributes_are_below_the_least_kernel(
    seed: int, sizes: tuple[int, ...], sets: list[Attributes], monkeypatch: pytest.MonkeyPatch
) -> None:
    for weights in (
        _random_weights(sets, seed),
        dict(zip(*_allocated(sets, sizes, Aim.SUM), strict=True)),
        dict(zip(*_allocated(sets, sizes, Aim.LARGEST), strict=True)),
    ):
        exact = cost.lowest_kernel(weights, sizes)
        monkeypatch.setattr(cost, "MOST_EXACT", 1)
        assert cost.lowest_kernel(weights, sizes) <= exact
        assert cost._one_by_one(weights, sizes) <= exact
        monkeypatch.undo()


@pytest.mark.theorem("Allocation.privacy")
@pytest.mark.parametrize("seed", range(12))
def test_bounds_hold_for_hostile_weights_sizes_and_sets(seed: int) -> None:
    flips = coins(99, seed)
    sizes = tuple(int(size) for size in flips.choice([2, 2, 3, 7, 50], 7))
    pairs = [pair for pair in combinations(range(7), 2) if flips.random() < (0.3, 0.9)[seed % 2]] or [(0, 1)]
    largest = 10 ** int(flips.integers(0, 14))
    weights = {part: int(flips.integers(1, largest + 1)) for part in closure(pairs)}
    names = sorted({one for part in weights for one in part})
    least = min(_kernel(weights, agree, sizes) for agree in product((False, True), repeat=7))
    assert cost.lowest_kernel(weights, sizes) == least
    assert cost._one_by_one(weights, sizes) <= least
    assert cost._completed_square(weights, names, sizes) <= least


def test_weights_beyond_64_bits_are_searched_exactly() -> None:
    weights = {part: weight << 70 for part, weight in _random_weights(SETS, 3).items()}
    least = min(_kernel(weights, agree, SIZES) for agree in product((False, True), repeat=4))
    assert cost.lowest_kernel(weights, SIZES) == least


def _allocated(
    sets: list[Attributes], sizes: tuple[int, ...], aim: Aim
) -> tuple[tuple[Attributes, ...], tuple[int, ...]]:
    made = Allocation.of(sets, sizes, Neighbors(Relation.CHANGE_ONE, people=9), aim)
    return made.residuals, made.weights


def test_a_hundred_binary_attributes_pay_hardly_more_than_the_mean_over_neighbors() -> None:
    pairs = [(one, two) for one in range(100) for two in range(one + 1, 100)]
    made = Allocation.of(pairs, (2,) * 100, Neighbors(Relation.CHANGE_ONE, people=9), Aim.SUM)
    assert 2 * made.total <= made.distance <= 2.05 * made.total
    assert 0.97 < made.efficiency <= 1


@pytest.mark.theorem("Allocation.accuracy")
@pytest.mark.parametrize("relation", [Relation.ADD_REMOVE, Relation.CHANGE_ONE])
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("aim", [Aim.SUM, Aim.LARGEST])
def test_no_other_weights_reach_less_than_the_bound(relation: Relation, rows: int, aim: Aim) -> None:
    made = Allocation.of(SETS, SIZES, Neighbors(relation, 9, rows=rows), aim)
    assert made.efficiency <= 1 + 1e-9
    flips = coins(5)
    for spread in (0.01, 0.1, 1.0):
        for _ in range(40):
            factors = np.exp(spread * flips.normal(size=len(made.weights)))
            weights = tuple(
                max(1, int(weight * factor / 64)) for weight, factor in zip(made.weights, factors, strict=True)
            )
            other = replace(made, weights=weights)
            assert other.reached >= made.least * (1 - 1e-9)


@pytest.mark.theorem("Allocation.accuracy")
def test_under_add_remove_the_sum_is_the_least_there_is() -> None:
    for rows in (1, 4):
        made = Allocation.of(SETS, SIZES, Neighbors(Relation.ADD_REMOVE, 9, rows=rows), Aim.SUM)
        assert made.efficiency == pytest.approx(1, abs=1e-9)


def test_the_largest_variance_is_nearly_the_least_there_is() -> None:
    made = Allocation.of(SETS, SIZES, Neighbors(Relation.ADD_REMOVE, 9), Aim.LARGEST)
    plain = Allocation.of(SETS, SIZES, Neighbors(Relation.ADD_REMOVE, 9), Aim.SUM)
    assert made.variances.max() < plain.variances.max()
    assert made.efficiency > 0.99


def test_a_marginal_asked_twice_counts_twice() -> None:
    neighbors = Neighbors(Relation.ADD_REMOVE, 9)
    once = Allocation.of([(0, 1), (2,)], SIZES, neighbors, Aim.SUM)
    twice = Allocation.of([(0, 1), (2,), (2,)], SIZES, neighbors, Aim.SUM)
    assert twice.variances[1] < once.variances[1]
    assert twice.variances[0] > once.variances[0]


def test_orders_share_the_price_by_their_number_of_attributes() -> None:
    made = Allocation.of(SETS, SIZES, Neighbors(Relation.ADD_REMOVE, 9), Aim.EACH_ORDER)
    spent = [0.0] * 4
    for part, weight in zip(made.residuals, made.weights, strict=True):
        spent[len(part)] += weight * np.prod([SIZES[one] - 1 for one in part])
    assert np.allclose(np.array(spent) / spent[1], [1 / 16, 1, 2, 3], rtol=1e-9)
