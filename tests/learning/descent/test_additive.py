"""Additive models: bins as vectors, shapes that can be looked at, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.errors import MissingParameter, ParameterError
from discreet.learning import AdditiveClassifier, AdditiveRegressor
from discreet.learning.exact import STEPS, BinnedRows, Chunks, bin_length, clipped_errors, softmax_errors
from discreet.learning.features import stated_bins
from discreet.privacy import Relation

PUBLIC: dict[str, Any] = {"mu": 1, "relation": Relation.ADD_REMOVE, "people": 4000, "bounds": (0, 4), "bins": 5}


def steps(rows: int) -> tuple[Any, Any]:
    """Return codes from 0 to 4 in two columns, and a target that the first column moves by steps."""
    codes = np.random.default_rng(1).integers(0, 5, (rows, 2)).astype(float)
    return codes, np.array([10.0, 50.0, 20.0, 80.0, 30.0])[codes[:, 0].astype(int)]


def test_gradients_by_bin_are_those_of_the_vectors_that_are_never_written_out() -> None:
    random = np.random.default_rng(5)
    rows, codes = random.uniform(0, 1, (500, 3)), random.integers(0, 4, 500)
    edges = stated_bins([2, 3, 7], np.zeros(3), np.ones(3))
    weights = np.rint(random.normal(size=(3, 13)) * 2**22)

    def clipped(scores: Any, beside: Any) -> Any:
        return clipped_errors(scores, beside, softmax_errors, 0.5)

    def written(features: Any, beside: Any) -> Any:
        vectors = np.zeros((13, len(features)))
        np.put_along_axis(vectors, edges.places(features)[0], bin_length(3), axis=0)
        vectors[-1] = bin_length(3)
        return vectors, beside

    binned = BinnedRows.of(rows, codes, lambda some, other: (edges.places(some)[0], other), bins=12)
    dense = Chunks.of(rows, codes, written, coordinates=13)
    one, other = (sum(made.gradients(weights, clipped)) for made in (binned, dense))
    assert np.array_equal(one, other)
    assert one.any()


@pytest.mark.parametrize("features", [1, 2, 3, 14, 2048])
def test_a_row_of_bins_is_at_most_one_long_and_hardly_shorter(features: int) -> None:
    length = (features + 1) * bin_length(features) ** 2
    assert 0.999 * STEPS**2 < length <= STEPS**2


def test_without_noise_the_shapes_are_the_steps_less_their_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.learning.exact.measurements.noisy", lambda _, sums: sums)
    model = AdditiveRegressor(**PUBLIC, target_bounds=(0, 100)).fit(*steps(4000))
    first, second = model.shapes()
    assert first.values[0] == pytest.approx(np.array([10, 50, 20, 80, 30]) - 38.0, abs=0.5)
    assert second.values[0] == pytest.approx(np.zeros(5), abs=0.5)
    assert model.intercept_ == pytest.approx(38.0, abs=0.5)
    assert model.predict([[3, 0], [np.nan, 1]]) == pytest.approx([80, 20], abs=1.0)  # code 2 is the middle
    assert first.edges.tolist() == pytest.approx([0, 0.8, 1.6, 2.4, 3.2, 4])


def test_classes_are_told_apart_by_bins_with_noise() -> None:
    # over 100 fits the right class was ahead by at least 10 standard deviations of its lead, in every bin
    rows, targets = steps(4000)
    labels = np.where(targets < 25, "low", np.where(targets < 60, "middle", "high"))
    model = AdditiveClassifier(**{**PUBLIC, "mu": 3}, classes=["low", "middle", "high"]).fit(rows, labels)
    predicted = model.predict([[code, 2] for code in range(5)])
    assert predicted.tolist() == ["low", "middle", "low", "high", "middle"]
    assert model.predict_proba(rows[:3]).sum(axis=1) == pytest.approx(np.ones(3))


def test_shapes_say_what_every_feature_adds_and_draw_themselves() -> None:
    rows, targets = steps(300)
    model = AdditiveClassifier(**PUBLIC, classes=[0, 1]).fit(rows, targets > 25)
    shapes = model.shapes()
    assert [shape.feature for shape in shapes] == ["x0", "x1"]
    assert shapes[0].outputs == ("0", "1")
    sums = model.intercept_ + sum(shape.values[:, 3] for shape in shapes)
    assert model.decision_function([[3, 3]]) == pytest.approx([sums[1] - sums[0]])
    assert "<svg" in shapes[0].plot().svg()
    three = AdditiveClassifier(**PUBLIC, classes=["a", "b", "c"]).fit(rows, ["a"] * 300)
    assert "<svg" in three.shapes()[1].plot().svg()


@pytest.mark.parametrize("bins", [1, 0, 2.5, True, "5", [5], [5, 5, 5], [5, None], 2000])
def test_other_bins_are_refused_before_anything_is_drawn(bins: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr("discreet.learning.exact.measurements.noisy", lambda _, sums: drawn.append(sums))
    with pytest.raises(ParameterError, match="bins"):
        AdditiveRegressor(**{**PUBLIC, "bins": bins}, target_bounds=(0, 100)).fit(*steps(10))
    with pytest.raises(ParameterError, match="bins"):
        AdditiveRegressor(**{**PUBLIC, "bins": bins}, target_bounds=(0, 100)).explain(2)
    assert not drawn


def test_classes_and_bounds_of_the_target_must_be_stated() -> None:
    with pytest.raises(MissingParameter, match="classes"):
        AdditiveClassifier(**PUBLIC).fit(*steps(10))
    with pytest.raises(MissingParameter, match="target_bounds"):
        AdditiveRegressor(**PUBLIC).fit(*steps(10))
