"""k-means: clusters that are there are found, and a row's cell is its own affair."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from discreet.errors import ParameterError
from discreet.learning import KMeans
from discreet.learning.exact import STEPS
from discreet.learning.moments import k_means
from discreet.learning.moments.k_means import merged, nearest, spread_directions, spread_places
from tests.learning.moments.models import made, noiseless


def groups(features: int, rows: int = 3_000) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return rows of three groups far apart, and their groups; sizes differ, so that principal components do too."""
    random = np.random.default_rng(1)
    labels = random.choice(3, size=rows, p=[0.5, 0.3, 0.2])
    places = np.eye(features)[:3] * 0.8 if features > 2 else np.array([[-0.8, -0.8], [0.8, -0.8], [0.0, 0.8]])
    return places[labels] + random.normal(size=(rows, features)) * 0.03, labels


@pytest.mark.parametrize("features", [2, 20])
def test_groups_far_apart_are_found(features: int) -> None:
    # in 100 fits every row was nearer to its own center by 0.97 and 1.23, with deviations of 0.003 and 0.016
    rows, labels = groups(features)
    model = made(KMeans, epsilon=8, people=3_000).fit(rows)
    assert adjusted_rand_score(labels, model.predict(rows)) > 0.5
    assert model.cluster_centers_.shape == (3, min(features, 8))


def test_clusters_of_rows_of_the_fit_are_kept_nowhere() -> None:
    rows, _ = groups(2, 50)
    model = made(KMeans)
    assert len(model.fit_predict(rows)) == 50
    assert not hasattr(model, "labels_")
    assert not any(len(value) == 50 for value in vars(model).values() if isinstance(value, np.ndarray))


def test_a_row_has_the_same_cluster_beside_any_others() -> None:
    rows = np.random.default_rng(8).uniform(-1, 1, size=(500, 12))
    model = made(KMeans, people=500, n_clusters=9).fit(rows)
    together = model.predict(rows)
    assert [int(model.predict(rows[place : place + 1])[0]) for place in range(500)] == together.tolist()


def test_of_cells_as_near_as_each_other_the_first_is_taken() -> None:
    places = np.array([[0.0], [float(STEPS)]]).T
    assert nearest(np.array([[0.5], [-0.5], [0.5]]), places).tolist() == [0, 0]


def test_without_noise_centers_are_near_the_means_of_their_rows() -> None:
    """Cells without rows have a little weight too, so that centers are not quite the means."""
    rows, labels = groups(2)
    with noiseless():
        model = made(KMeans, people=3_000).fit(rows)
    found = model.cluster_centers_ * np.sqrt(2)
    means = np.array([rows[labels == group].mean(axis=0) for group in range(3)])
    assert all(np.abs(found - mean).max(axis=1).min() < 0.05 for mean in means)


@pytest.mark.parametrize("number", [None, 0, 257, 2.0, True])
def test_other_numbers_of_clusters_are_refused(number: Any) -> None:
    with pytest.raises(ParameterError, match="n_clusters must be a whole number"):
        made(KMeans, n_clusters=number).fit(np.zeros((2, 2)))


def test_one_cluster_and_one_feature_are_no_special_case() -> None:
    assert made(KMeans, n_clusters=1).fit_predict(np.zeros((5, 1))).tolist() == [0] * 5


def test_starts_are_public_and_spread() -> None:
    directions, places = spread_directions(30, 8), spread_places(64, 2)
    assert np.allclose((directions**2).sum(axis=1), 1)
    assert ((directions[:, np.newaxis] - directions) ** 2).sum(axis=2)[~np.eye(30, dtype=bool)].min() > 0.5
    assert np.histogram2d(places[:, 0], places[:, 1], bins=4, range=[[-1, 1]] * 2)[0].min() >= 2
    assert np.array_equal(directions, spread_directions(30, 8))


def test_merging_keeps_the_mean_of_all() -> None:
    random = np.random.default_rng(6)
    cells, weights = random.normal(size=(12, 3)), random.uniform(1, 5, 12)
    assert np.allclose(merged(cells, weights, 1)[0], weights @ cells / weights.sum())
    assert np.array_equal(merged(cells, weights, 12), cells)


def test_merging_computes_what_changed_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    whole = k_means._costs
    monkeypatch.setattr(k_means, "_costs", lambda place, *more: calls.append(place) or whole(place, *more))
    random = np.random.default_rng(7)
    cells, weights = random.normal(size=(40, 2)), random.uniform(1, 5, 40)
    found = merged(cells, weights, 5)
    assert len(calls) == 40 + 35
    while len(cells) > 5:  # all distances again after every merger
        apart = ((cells[:, np.newaxis] - cells) ** 2).sum(axis=2)
        cost = apart * np.outer(weights, weights) / (weights[:, np.newaxis] + weights)
        np.fill_diagonal(cost, np.inf)
        kept, gone = sorted(divmod(int(cost.argmin()), len(cells)))
        cells[kept] = np.average(cells[[kept, gone]], axis=0, weights=weights[[kept, gone]])
        weights[kept] += weights[gone]
        cells, weights = np.delete(cells, gone, axis=0), np.delete(weights, gone)
    assert np.allclose(found, cells)


def test_an_explanation_needs_no_rows() -> None:
    few, many = (made(KMeans).explain(features) for features in (3, 30))
    assert "share for the center" not in few.plan
    assert many.plan["dimensions"] == 8
    assert few.noise["mean of a cell"] < many.noise["mean of a cell"]
