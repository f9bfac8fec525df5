"""Trees with public splits: every row in one leaf, splits from the seed alone, and leaves that fall back on parents."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.learning import DecisionTreeClassifier
from discreet.learning.counts.trees import Splits, smoothed
from tests.learning.counts.models import made

LOW, HIGH = np.array([-1.0, 0.0]), np.array([1.0, 10.0])


def test_splits_follow_from_the_seed_alone() -> None:
    first, same = (Splits.drawn(7, 3, 4, LOW, HIGH) for _ in range(2))
    np.testing.assert_array_equal(first.features, same.features)
    np.testing.assert_array_equal(first.thresholds, same.thresholds)
    assert not np.array_equal(first.thresholds, Splits.drawn(8, 3, 4, LOW, HIGH).thresholds)


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_every_leaf_of_every_tree_can_be_reached(depth: int) -> None:
    splits = Splits.drawn(1, 4, depth, LOW, HIGH)
    # a leaf is a box with at least 1/4^depth of the range of each feature: a grid finer than that meets all of them
    steps = [np.linspace(low, high, 4**depth + 2)[1:-1] for low, high in zip(LOW, HIGH, strict=True)]
    points = np.stack(np.meshgrid(*steps), axis=-1).reshape(-1, 2)
    for leaves in splits.leaves(points):
        assert sorted(set(leaves.tolist())) == list(range(1 << depth))


def test_rows_descend_by_their_own_cells() -> None:
    splits = Splits(2, np.array([[0, 1, 0]]), np.array([[0.0, 5.0, 0.5]]))
    rows = np.array([[-0.5, 5.0], [-0.5, 5.1], [0.5, 0.0], [0.6, 0.0], [0.0, 9.0]])
    assert splits.leaves(rows).tolist() == [[0, 1, 2, 3, 1]]


def test_a_leaf_without_rows_speaks_with_its_parents_voice() -> None:
    counts = np.array([[[90.0, 10.0], [0.0, 0.0], [0.0, 100.0], [0.0, 100.0]]])
    chances = smoothed(counts, np.array([0.5, 0.5]), 2.0)
    parent = counts[0, 0] + counts[0, 1]
    root = (counts[0].sum(axis=0) + (1 + 2.0) * 0.5) / (300 + 1 + 2.0)
    given = 1 + np.sqrt(2)
    np.testing.assert_allclose(chances[0, 1], (parent + given * root) / (100 + given))
    np.testing.assert_allclose(chances.sum(axis=2), 1.0)


def test_a_tree_without_noise_predicts_the_classes_of_its_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.learning.exact.measurements.noisy", lambda _noise, sums: sums)
    random = np.random.default_rng()
    rows = random.uniform(-1, 1, size=(4000, 3))
    model = made(DecisionTreeClassifier, bounds=(-1, 1), people=4000, seed=5)
    leaves = model._splits(model._public(3)).leaves(rows)[0]
    labels = np.array(["a", "b", "c"])[leaves % 3]
    assert model.fit(rows, labels).score(rows, labels) > 0.99
