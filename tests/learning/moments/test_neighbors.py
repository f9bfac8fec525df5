"""What one person moves, exactly: the sums of a table with and without a row differ by what that row adds alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.learning import Ridge, StandardScaler
from discreet.learning.exact import CHUNK
from discreet.learning.moments import linear
from discreet.privacy import Relation
from tests.conftest import Rounds
from tests.learning.moments.models import EVERY, hostile, made, released, squared_length


@pytest.mark.theorem("AdaSSP.privacy")
@pytest.mark.theorem("KMeans.privacy")
@pytest.mark.theorem("PCA.privacy")
@pytest.mark.theorem("Ridge.privacy")
@pytest.mark.theorem("StandardScaler.privacy")
@pytest.mark.theorem("released_gram.privacy")
@pytest.mark.parametrize("features", [1, 3, 12])  # beyond 8 features k-means looks for its own dimensions
@pytest.mark.parametrize("kind", EVERY)
def test_a_row_moves_the_sums_by_what_it_adds_alone_and_no_farther_than_stated(
    kind: type[Any], features: int, rounds: Rounds
) -> None:
    counted = 0
    for seed in range(rounds(sample=30, full=2_000)):
        random = np.random.default_rng(seed)
        rows, targets = hostile(random, int(random.integers(1, 30)), features)
        place = int(random.integers(len(rows)))
        model = made(kind)
        every = released(model, rows, targets, seed)
        others = released(model, np.delete(rows, place, axis=0), np.delete(targets, place), seed)
        alone = released(model, rows[place : place + 1], targets[place : place + 1], seed)
        assert len(every) == len(others) == len(alone) > 0
        for one, other, own in zip(every, others, alone, strict=True):
            assert np.array_equal(one.sums - other.sums, own.sums)
            assert squared_length(own.sums) <= one.squared == other.squared
            counted += bool(own.sums.any())
    assert counted > 10  # most rows count


@pytest.mark.parametrize("features", [3, 12])
@pytest.mark.parametrize("kind", EVERY)
def test_a_replaced_row_moves_the_sums_no_farther_than_stated(kind: type[Any], features: int, rounds: Rounds) -> None:
    for seed in range(rounds(sample=30, full=2_000)):
        random = np.random.default_rng(seed)
        rows, targets = hostile(random, 8, features)
        others, other_targets = rows.copy(), targets.copy()
        # often the opposite row, which is as far away as a row can be
        others[0], other_targets[0] = (-rows[0], -targets[0]) if seed % 2 else (rows[1], targets[1])
        model = made(kind, relation=Relation.CHANGE_ONE)
        first, second = released(model, rows, targets, seed), released(model, others, other_targets, seed)
        for one, other in zip(first, second, strict=True):
            assert squared_length(one.sums - other.sums) <= one.squared == other.squared


def test_the_farthest_replaced_rows_of_a_scaler_are_within_what_is_stated() -> None:
    """Two rows whose entries differ by 1.22 and add up to 0.78 are farthest apart: 4.2 d of 4.5 d."""
    model = made(StandardScaler, relation=Relation.CHANGE_ONE)
    for differ in np.linspace(0.8, 2.0, 25):
        rows = np.array([[1.0] * 6, [1.0 - differ] * 6])
        one, other = (released(model, row[np.newaxis], np.zeros(1), 0)[0] for row in rows)
        part = squared_length(one.sums - other.sums) / one.squared
        assert part <= 1
        if abs(differ - 1.2) < 1e-9:
            assert part > 0.9


@pytest.mark.parametrize("kind", EVERY)
def test_stated_distances_are_nearly_reached(kind: type[Any]) -> None:
    """A distance that no row comes near would be noise for nothing."""
    corner = released(made(kind), np.ones((1, 3)), np.ones(1), 1)
    assert all(squared_length(one.sums) > 0.9 * one.squared for one in corner)


@pytest.mark.parametrize("kind", EVERY)
def test_chunks_do_not_matter(kind: type[Any]) -> None:
    random = np.random.default_rng(3)
    rows, targets = random.uniform(-1, 1, (CHUNK + 2, 9)), random.uniform(-1, 1, CHUNK + 2)
    model = made(kind)
    every, less = released(model, rows, targets, 0), released(model, rows[1:], targets[1:], 0)
    alone = released(model, rows[:1], targets[:1], 0)
    for one, other, own in zip(every, less, alone, strict=True):
        assert np.array_equal(one.sums - other.sums, own.sums)


@pytest.mark.parametrize("kind", EVERY)
def test_rows_that_are_no_numbers_count_for_nothing_and_an_empty_table_is_answered(kind: type[Any]) -> None:
    rows = np.array([[np.nan, 0.0, 1.0], [0.0, np.inf, 1.0]])
    for table in (rows, rows[:0]):
        assert not any(one.sums.any() for one in released(made(kind), table, np.zeros(len(table)), 0))


@pytest.mark.parametrize("kind", EVERY)
def test_the_model_follows_from_the_answers_alone(kind: type[Any]) -> None:
    random = np.random.default_rng(5)
    models = [made(kind), made(kind)]
    for model in models:
        released(model, *hostile(random, 20, 10), seed=9)
    first, second = ({key: one for key, one in vars(model).items() if key.endswith("_")} for model in models)
    assert first.keys() == second.keys()
    for key, value in first.items():
        assert repr(value) == repr(second[key]), key


def test_a_row_of_no_known_target_counts_for_nothing() -> None:
    sums = released(made(Ridge), np.zeros((2, 3)), np.array([np.nan, np.inf]), 0)
    assert not sums[0].sums.any()


def test_a_regression_without_targets_is_a_defect() -> None:
    from discreet.learning.exact import FitRows

    model = made(Ridge)
    public = model._public(3)
    with pytest.raises(AssertionError, match="reads targets"):
        next(linear.Ball(public, 0.5).chunks(FitRows(np.zeros((1, 3)))))
