"""Naive Bayes and nearest centroid without noise are scikit-learn's, and their bins hold what they should."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import naive_bayes, neighbors

from discreet.learning import CategoricalNB, GaussianNB, NearestCentroid
from discreet.learning.counts.categorical_nb import _bin_of
from discreet.learning.counts.class_sums import shrunk
from tests.learning.counts.models import made

CODES = (2, 5, 7)


def categories(random: np.random.Generator, size: int) -> tuple[Any, Any]:
    """Return codes that depend on their class, every code at least once."""
    labels = random.integers(0, 3, size)
    rows = np.column_stack([(random.integers(0, k, size) * (1 + labels)) % k for k in CODES])
    rows[:7] = np.column_stack([np.arange(7) % k for k in CODES])
    return rows.astype(float), labels


def test_categorical_counts_without_noise_are_those_of_scikit_learn(without_noise: list[Any]) -> None:
    rows, labels = categories(np.random.default_rng(), 500)
    ours = made(CategoricalNB, bins=list(CODES), bounds=(0, [1, 4, 6]), classes=[0, 1, 2], alpha=1.5)
    ours.fit(rows, labels)
    plain = naive_bayes.CategoricalNB(alpha=1.5).fit(rows.astype(int), labels)
    for own, other in zip(ours.feature_log_prob_, plain.feature_log_prob_, strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-12)
    np.testing.assert_allclose(ours.class_count_, plain.class_count_, rtol=1e-12)
    assert len(without_noise) == 1


@pytest.mark.parametrize("k", [2, 3, 7, 49, 255, 1000])
def test_codes_are_alone_in_their_bins(k: int) -> None:
    codes = np.arange(float(k)).reshape(-1, 1)
    found = _bin_of(codes, np.array([0.0]), np.array([k - 1.0]), [k])
    np.testing.assert_array_equal(found, codes.T)


def test_values_outside_the_bounds_are_in_the_first_or_last_bin() -> None:
    cells = np.array([[-1e308], [-5.0], [0.0], [0.24], [0.25], [0.99], [1.0], [1e308]])
    found = _bin_of(cells, np.array([0.0]), np.array([1.0]), [4])
    assert found.tolist() == [[0, 0, 0, 0, 1, 3, 3, 3]]


def test_class_totals_are_means_weighted_by_their_variances(monkeypatch: pytest.MonkeyPatch) -> None:
    model = made(CategoricalNB, bins=2, bounds=(0, 1), classes=["a", "b"], alpha=1)
    # totals (10, 20); a feature with two bins says (16, 20), as its sum over bins has twice the variance
    answer = np.array([10, 20, 8, 12, 8, 8], dtype=float)
    monkeypatch.setattr("discreet.learning.exact.measurements.noisy", lambda _noise, _sums: answer.copy())
    model.fit(np.zeros((1, 1)), ["a"])
    assert model.class_count_.tolist() == [12.0, 20.0]
    assert model.category_count_[0].tolist() == [[6.0, 6.0], [12.0, 8.0]]


def test_means_variances_and_centroids_without_noise_are_those_of_scikit_learn(without_noise: list[Any]) -> None:
    random = np.random.default_rng(8)
    labels = np.repeat([0, 1, 2], 20_000)
    centers = np.array([[0.3, 0.0, -0.2], [-0.2, 0.3, 0.1], [0.0, -0.3, 0.2]])
    rows = centers[labels] + random.uniform(-0.3, 0.3, size=(60_000, 3))
    stated = {"bounds": (-1, 1), "classes": [0, 1, 2], "people": 60_000, "epsilon": 10, "delta": 1e-6}
    normal, plain = made(GaussianNB, **stated).fit(rows, labels), naive_bayes.GaussianNB().fit(rows, labels)
    # no row is further out than the ball reaches, so that all weigh the same; what is left is shrinkage
    np.testing.assert_allclose(normal.theta_, plain.theta_, atol=1e-3)
    np.testing.assert_allclose(normal.var_, plain.var_, atol=1e-3)
    np.testing.assert_allclose(normal.class_prior_, plain.class_prior_, atol=1e-3)
    nearest = made(NearestCentroid, **stated).fit(rows, labels)
    np.testing.assert_allclose(nearest.centroids_, neighbors.NearestCentroid().fit(rows, labels).centroids_, atol=1e-3)
    assert len(without_noise) == 2


def test_numbers_that_noise_explains_are_drawn_to_zero_and_others_are_kept() -> None:
    assert shrunk(np.array([1.0, -1.0]), 1.0).tolist() == [0.0, 0.0]
    assert shrunk(np.array([1.0, -1.0]), 1.0, least=0.1).tolist() == [0.1, -0.1]
    np.testing.assert_allclose(shrunk(np.array([2.0, -2.0]), 1.0), [1.5, -1.5])
