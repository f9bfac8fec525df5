"""What one person moves in a descent: their own contribution, to the last bit, and no farther than is paid for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.learning import AdditiveClassifier, AdditiveRegressor, LinearRegression, LogisticRegression
from discreet.learning.exact import CHUNK, STEPS
from discreet.privacy import Relation
from tests.conftest import Rounds
from tests.learning.descent.neighbors import exact_sums, hostile, squared

ONE = STEPS**4
CENTER = STEPS**2


def configured(kind: type[Any], relation: Relation, features: int, people: int) -> Any:
    """Return an estimator for features in [-1, 1] and three classes, or targets in [-1, 1]."""
    public: dict[str, Any] = {"relation": relation, "people": people, "bounds": (-1, 1), "mu": 1}
    if issubclass(kind, LogisticRegression | AdditiveClassifier):
        public["classes"] = [0, 1, 2]
    else:
        public["target_bounds"] = (-1, 1)
    if issubclass(kind, AdditiveClassifier | AdditiveRegressor):
        public["bins"] = [2 + place for place in range(features)]
    return kind(**public)


def table(kind: type[Any], random: np.random.Generator, rows: int) -> tuple[Any, Any]:
    """Draw rows and what is to be predicted, undeclared classes and odd numbers among it."""
    features = int(random.choice([1, 3, 7]))
    beside: Any = hostile(random, (rows,))
    if issubclass(kind, LogisticRegression | AdditiveClassifier):
        beside = random.integers(-1, 4, rows)
    return hostile(random, (rows, features)), beside


def check_one_row(kind: type[Any], seed: int, rows: int) -> bool:
    """Take one row away and look at every release; say whether that row contributes anything."""
    random = np.random.default_rng(seed)
    features, beside = table(kind, random, rows)
    place, people = int(random.integers(rows)), int(random.choice([1, 10, 100]))
    model = configured(kind, Relation.ADD_REMOVE, features.shape[1], people)
    others = np.arange(rows) != place
    whole, without, alone = (
        exact_sums(model, features[kept], beside[kept], seed) for kept in (slice(None), others, ~others)
    )
    assert len(whole) == len(without) == len(alone) == model.plan_["steps"] + (kind is LogisticRegression)
    for number, (all_of_them, all_but_one, one) in enumerate(zip(whole, without, alone, strict=True)):
        assert np.array_equal(all_of_them - all_but_one, one)
        assert squared(one) <= (CENTER if kind is LogisticRegression and number == 0 else ONE)
    return any(one.any() for one in alone)


def check_many(kind: type[Any], rounds: Rounds) -> None:
    """Look at many small tables, and at one that is longer than a chunk."""
    count = rounds(sample=60, full=2_500)
    contributed = sum(check_one_row(kind, seed, 1 + seed % 40) for seed in range(count))
    assert contributed > count / 4
    assert any(check_one_row(kind, 10**6 + seed, CHUNK + 1) for seed in range(2))


@pytest.mark.theorem("LogisticRegression.privacy", "descend.privacy", "released_center.privacy")
def test_a_row_moves_the_sums_of_logistic_regression_by_its_own_contribution(rounds: Rounds) -> None:
    check_many(LogisticRegression, rounds)


@pytest.mark.theorem("LinearRegression.privacy", "descend.privacy")
def test_a_row_moves_the_sums_of_linear_regression_by_its_own_contribution(rounds: Rounds) -> None:
    check_many(LinearRegression, rounds)


@pytest.mark.theorem("AdditiveClassifier.privacy", "descend.privacy")
def test_a_row_moves_the_sums_of_an_additive_classifier_by_its_own_contribution(rounds: Rounds) -> None:
    check_many(AdditiveClassifier, rounds)


@pytest.mark.theorem("AdditiveRegressor.privacy", "descend.privacy")
def test_a_row_moves_the_sums_of_an_additive_regression_by_its_own_contribution(rounds: Rounds) -> None:
    check_many(AdditiveRegressor, rounds)


@pytest.mark.parametrize("kind", [LinearRegression, AdditiveClassifier, AdditiveRegressor])
def test_some_row_moves_a_sum_by_nearly_all_that_is_paid_for(kind: type[Any]) -> None:
    # the target 1 in the corner of the box is an error beyond the clip at the first step, where all weights are 0
    model = configured(kind, Relation.ADD_REMOVE, 3, 10)
    first = exact_sums(model, np.ones((1, 3)), [1], 0)[0]
    assert 0.999 * ONE < squared(first) <= ONE


@pytest.mark.theorem("descend.privacy")
@pytest.mark.parametrize("relation", [Relation.ADD_REMOVE, Relation.CHANGE_ONE])
@pytest.mark.parametrize("kind", [LogisticRegression, LinearRegression, AdditiveClassifier, AdditiveRegressor])
def test_all_steps_together_cost_mu(kind: type[Any], relation: Relation, monkeypatch: pytest.MonkeyPatch) -> None:
    laws: list[Any] = []

    def noted(noise: Any, sums: Any) -> Any:
        laws.append(noise.noise)
        return noise(sums)

    monkeypatch.setattr("discreet.learning.exact.measurements.noisy", noted)
    model = configured(kind, relation, 3, 1000).fit(np.zeros((5, 3)), [0, 1, 1, 0, 1])
    distances = [ONE] * model.plan_["steps"]
    if kind is LogisticRegression:
        distances.insert(0, CENTER)
    factor = 1 if relation is Relation.ADD_REMOVE else 4
    spent = sum(factor * distance / float(law.scale) ** 2 for law, distance in zip(laws, distances, strict=True))
    assert 1 - 1e-6 < spent <= 1 + 1e-9  # mu = 1 was paid; scales are rounded to floats here


@pytest.mark.parametrize("kind", [LinearRegression, AdditiveClassifier, AdditiveRegressor])
def test_rows_that_do_not_count_change_nothing(kind: type[Any]) -> None:
    random = np.random.default_rng(3)
    rows, beside = random.uniform(-1, 1, (20, 2)), random.integers(0, 2, 20).astype(float)
    odd, labels = np.array([[np.nan, 0.0], [np.inf, 0.0], [0.1, 0.1], [0.1, 0.1]]), [1.0, 1.0, np.nan, np.inf]
    model = configured(kind, Relation.ADD_REMOVE, 2, 20)
    plain = exact_sums(model, rows, beside, 1)
    more = exact_sums(model, np.vstack([rows, odd]), np.concatenate([beside, labels]), 1)
    nothing = exact_sums(model, np.empty((0, 2)), np.empty(0), 1)
    assert all(np.array_equal(one, other) for one, other in zip(plain, more, strict=True))
    assert not any(one.any() for one in nothing)
