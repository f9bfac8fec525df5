"""The scaler: means and deviations from one release, and a first step of a pipeline."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline

from discreet.learning import LogisticRegression, StandardScaler
from discreet.privacy import Relation
from tests.learning.moments.models import made, noiseless


def table(rows: int = 4_000) -> NDArray[Any]:
    """Return two features with means 40 and 70, and deviations 10 and 5."""
    return np.asarray([40, 70] + np.random.default_rng(4).normal(size=(rows, 2)) * [10, 5])


def stated(**more: Any) -> StandardScaler:
    model: StandardScaler = made(StandardScaler, **{"bounds": (0, [100, 200]), "people": 4_000, **more})
    return model


def test_without_noise_means_and_deviations_are_those_of_the_rows() -> None:
    rows = np.clip(table(), 0, [100, 200])
    with noiseless():
        # people is public and may be wrong: the number of rows is among what is released
        model = stated(people=3_000, epsilon=10).fit(rows)
    assert np.allclose(model.mean_, rows.mean(axis=0), rtol=1e-4)
    assert np.allclose(model.var_, rows.var(axis=0), rtol=1e-2)
    assert np.allclose(model.scale_**2, model.var_)


def test_scaled_features_have_about_mean_0_and_deviation_1() -> None:
    # noise of means and squares has deviation 2 / (mu 20,000) < 1e-4, as mu is above 1, in units of half a range and
    # its square: 4 % of the least variance, 0.0025; the limits below are more than ten times as far away
    rows = table(20_000)
    scaled = stated(epsilon=8, people=20_000).fit(rows).transform(rows)
    assert (np.abs(scaled.mean(axis=0)) < 0.1).all()
    assert ((scaled.std(axis=0) > 0.75) & (scaled.std(axis=0) < 1.4)).all()


def test_a_feature_of_one_value_is_not_divided_by_0() -> None:
    model = stated(people=1_000).fit(np.full((1_000, 2), 50.0))
    assert (model.scale_ > 0).all()
    assert np.isfinite(model.transform([[50.0, 50.0]])).all()


def test_what_is_no_number_stays_so_and_rows_come_back() -> None:
    rows = table(100)
    model = stated().fit(rows)
    assert np.isnan(model.transform([[np.nan, 1.0]])[0, 0])
    assert np.allclose(model.inverse_transform(model.transform(rows)), rows)
    assert np.array_equal(model.transform(rows)[7:8], model.transform(rows[7:8]))


def test_bounds_of_scaled_features_follow_from_the_released_values() -> None:
    model = stated().fit(table(100))
    low, high = model.bounds_
    assert np.array_equal(model.transform([[0, 0], [100, 200]]), np.array([low, high]))
    LogisticRegression(
        epsilon=1, delta=1e-6, relation=Relation.ADD_REMOVE, people=100, bounds=model.bounds_, classes=[0, 1]
    ).fit(model.transform(table(100)), [0, 1] * 50)


def test_it_is_a_first_step_of_a_pipeline() -> None:
    # two groups far apart: 40 fits had margins of 136, with a deviation of 12
    rows = np.repeat([[20.0, 40.0], [80.0, 160.0]], 1_000, axis=0)
    labels = np.repeat([0, 1], 1_000)
    price: dict[str, Any] = {"epsilon": 4, "delta": 1e-6, "relation": Relation.ADD_REMOVE, "people": 2_000}
    chain = make_pipeline(
        StandardScaler(bounds=(0, [100, 200]), **price), LogisticRegression(bounds=(-3, 3), classes=[0, 1], **price)
    )
    assert chain.fit(rows, labels).score(rows, labels) == 1


def test_an_explanation_needs_no_rows() -> None:
    explained = stated().explain()
    assert explained.plan["releases"] == 1
    assert explained.noise["mean, in units of half a range"] == pytest.approx(
        2 / (float(explained.mu or 0) * 4_000), rel=1e-3
    )
