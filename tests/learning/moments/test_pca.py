"""Principal components: orthonormal, useful, and the same for a row beside any other rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.decomposition import PCA as PLAIN
from sklearn.exceptions import NotFittedError

from discreet.errors import InputError, ParameterError
from discreet.learning import PCA
from tests.learning.moments.models import made, noiseless


def table(rows: int = 2_000) -> NDArray[Any]:
    """Return rows that differ most in the first two of six features turned."""
    random = np.random.default_rng(2)
    turn = np.linalg.qr(random.normal(size=(6, 6)))[0]
    return np.asarray(50 + (random.normal(size=(rows, 6)) * [8, 5, 1, 1, 1, 1]) @ turn)


def stated(**more: Any) -> PCA:
    model: PCA = made(PCA, **{"bounds": (0, 100), "people": 2_000, "n_components": 2, **more})
    return model


def test_components_span_the_plane_of_plain_ones() -> None:
    # in 200 fits the cosine of the largest angle had a deviation of 2e-5 from 0.9999, means were off by 0.6 at most
    rows = table()
    model = stated(epsilon=4).fit(rows)
    plain = PLAIN(2).fit(rows)
    assert np.linalg.svd(model.components_ @ plain.components_.T)[1].min() > 0.9
    assert np.allclose(model.components_ @ model.components_.T, np.eye(2), atol=1e-9)
    assert np.allclose(model.mean_, rows.mean(axis=0), atol=5)


def test_explained_parts_are_between_0_and_1_and_fall() -> None:
    model = stated(n_components=None, people=50).fit(table(20))
    parts = model.explained_variance_
    assert model.components_.shape == (6, 6)
    assert ((parts >= 0) & (parts <= 1)).all()
    assert (np.diff(parts) <= 0).all()
    with noiseless():
        assert stated(n_components=None).fit(table()).explained_variance_ratio_.sum() == pytest.approx(1, abs=1e-4)


def test_transformed_rows_come_back() -> None:
    rows = table(300)
    model = stated(n_components=6).fit(rows)
    assert np.allclose(model.inverse_transform(model.transform(rows)), rows)
    assert list(model.get_feature_names_out()) == [f"pca{place}" for place in range(6)]
    with pytest.raises(InputError, match="a column a component"):
        model.inverse_transform(rows[:, :5])


def test_a_row_is_transformed_to_the_same_bits_beside_any_others() -> None:
    rows = table(1_000)
    model = stated(n_components=3).fit(rows)
    together = model.transform(rows)
    for some in (slice(0, 1), slice(1, 1000), slice(13, 57), slice(999, 1000)):
        assert np.array_equal(model.transform(rows[some]), together[some])
    assert np.isnan(model.transform([[np.nan] * 6])).all()


def test_bounds_hold_every_row_within_the_bounds_of_features() -> None:
    model = stated(n_components=4).fit(table(100))
    low, high = model.bounds_
    corners = np.array(np.meshgrid(*[[0.0, 100.0]] * 6)).reshape(6, -1).T
    places = model.transform(corners)
    assert np.allclose(places.min(axis=0), low)
    assert np.allclose(places.max(axis=0), high)


@pytest.mark.parametrize("number", [0, 7, 2.0, True, "2"])
def test_other_numbers_of_components_are_refused(number: Any) -> None:
    with pytest.raises(ParameterError, match="n_components must be a whole number from 1 to 6"):
        stated(n_components=number).fit(table(10))


def test_a_model_that_is_not_fitted_says_so() -> None:
    for asked in (stated().transform, stated().inverse_transform):
        with pytest.raises(NotFittedError):
            asked(table(2))


def test_an_explanation_needs_no_rows() -> None:
    explained = stated().explain(6)
    assert explained.plan["components"] == 2
    assert "signal" in explained.regime
    few, many = (stated(people=people).explain(6).plan["share for the center"] for people in (5, 500_000))
    assert few > many
