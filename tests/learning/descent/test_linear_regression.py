"""Linear regression: what its coefficients mean, what it learns, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.errors import InputError, MissingParameter, ParameterError
from discreet.learning import LinearRegression
from discreet.privacy import Relation

PUBLIC: dict[str, Any] = {
    "mu": 1,
    "relation": Relation.ADD_REMOVE,
    "people": 4000,
    "bounds": ([0, -5], [10, 5]),
    "target_bounds": (0, 100),
}


def line(rows: int) -> tuple[Any, Any]:
    """Return rows whose target is 30 + 4 x - 3 y."""
    features = np.random.default_rng(1).uniform([2, -3], [8, 3], (rows, 2))
    return features, 30 + features @ [4.0, -3.0]


@pytest.fixture
def without_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let fits add no noise."""
    monkeypatch.setattr("discreet.learning.exact.measurements.noisy", lambda _, sums: sums)


@pytest.mark.usefixtures("without_noise")
def test_without_noise_the_coefficients_are_those_of_the_line_in_its_own_units() -> None:
    model = LinearRegression(**PUBLIC).fit(*line(4000))
    assert model.coef_ == pytest.approx([4.0, -3.0], abs=0.01)
    assert model.intercept_ == pytest.approx(30.0, abs=0.1)


@pytest.mark.usefixtures("without_noise")
def test_rows_near_the_middle_are_predicted_by_the_coefficients_and_others_are_pulled_in() -> None:
    model = LinearRegression(**PUBLIC).fit(*line(4000))
    near, far = np.array([[5.0, 0.0], [8.0, 3.0]]), np.array([[10.0, -5.0]])
    assert model.predict(near) == pytest.approx(near @ model.coef_ + model.intercept_, abs=1e-3)
    corner = np.array([[5 + 5 / np.sqrt(2), -5 / np.sqrt(2)]])  # the corner, pulled to the distance 1 from the middle
    assert model.predict(far) == pytest.approx(model.predict(corner), abs=1e-3)
    assert np.array_equal(model.predict([[1e300, -np.inf]]), model.predict(far))


@pytest.mark.usefixtures("without_noise")
def test_predictions_stay_within_the_bounds_of_the_target_and_missing_cells_count_as_the_middle() -> None:
    rows, targets = line(4000)
    model = LinearRegression(**{**PUBLIC, "target_bounds": (40, 60)}).fit(rows, targets)
    predicted = model.predict(rows)
    assert predicted.min() >= 40
    assert predicted.max() <= 60
    assert np.array_equal(model.predict([[np.nan, 2.0]]), model.predict([[5.0, 2.0]]))


def test_a_line_is_found_with_noise() -> None:
    # over 200 fits no prediction had a standard deviation above 0.046, and none was off by more than 0.16
    rows, targets = line(4000)
    assert np.abs(LinearRegression(**PUBLIC).fit(rows, targets).predict(rows) - targets).max() < 2


@pytest.mark.parametrize(
    ("change", "error", "told"),
    [
        ({"target_bounds": None}, MissingParameter, "target_bounds"),
        ({"target_bounds": (1, 1)}, ParameterError, "target_bounds"),
        ({"bounds": None}, MissingParameter, "bounds"),
        ({"bounds": ([10, 5], [0, -5])}, ParameterError, "bounds"),
        ({"people": None}, MissingParameter, "people"),
        ({"relation": None}, MissingParameter, "relation"),
    ],
)
def test_what_is_missing_is_refused_before_anything_is_drawn(
    change: dict[str, Any], error: type[Exception], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr("discreet.learning.exact.measurements.noisy", lambda _, sums: drawn.append(sums))
    with pytest.raises(error, match=told):
        LinearRegression(**{**PUBLIC, **change}).fit(*line(10))
    assert not drawn


def test_another_number_of_features_is_refused() -> None:
    model = LinearRegression(**PUBLIC).fit(*line(10))
    with pytest.raises(ValueError, match="features"):
        model.predict([[1.0]])
    with pytest.raises(InputError, match="same number of rows"):
        model.fit(line(10)[0], [1.0])


def test_the_plan_follows_from_public_numbers_and_is_told_without_rows() -> None:
    told = LinearRegression(**PUBLIC).explain()
    assert told.plan == {
        "relation": Relation.ADD_REMOVE.value,
        "people": 4000,
        "steps": 100,
        "rate": 3.0,
        "momentum": 0.85,
        "gradients clipped to": 0.3,
    }
    # one step of 100 pays mu / 10 for 0.3 / people
    assert told.noise["mean gradient"] == pytest.approx(0.3 / 4000 * 10, rel=1e-6)
    low, high = PUBLIC["target_bounds"]
    half = (high - low) / 2
    in_unit = told.noise["mean error of a step, in the target's unit"]
    assert in_unit == pytest.approx(half * told.noise["mean gradient"])
