"""What holds of every model of one release: exact contributions, stated distances, the price, and refusals."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet import learning
from discreet.audit import OnTables, audit
from discreet.errors import MissingParameter, ParameterError
from discreet.learning import CategoricalNB, DecisionTreeClassifier, GaussianNB, RandomForestClassifier
from discreet.learning.exact import PURE as NAMES
from discreet.learning.exact import FitRows, bought
from discreet.privacy import GaussianDP, PureDP, Relation
from tests.conftest import Rounds
from tests.learning.counts.models import EVERY, FEATURES, PURE, hostile, made, sums_of


def squared_norm(vector: list[int]) -> int:
    return sum(one * one for one in vector)


def l1_norm(vector: list[int]) -> int:
    return sum(abs(one) for one in vector)


@pytest.mark.theorem(
    "CategoricalNB.privacy",
    "ClassSums.privacy",
    "DecisionTreeClassifier.privacy",
    "GaussianNB.privacy",
    "NearestCentroid.privacy",
    "RandomForestClassifier.privacy",
)
@pytest.mark.parametrize("kind", EVERY)
def test_sums_without_a_row_differ_by_exactly_what_the_row_adds_alone(kind: type[Any], rounds: Rounds) -> None:
    model, random = made(kind), np.random.default_rng()
    (squared, l1) = model._distance(model._public(FEATURES))
    for _ in range(rounds(sample=150, full=10_000)):
        rows, labels = hostile(random, int(random.integers(1, 12)))
        out = int(random.integers(len(rows)))
        less = sums_of(model, np.delete(rows, out, axis=0), labels[:out] + labels[out + 1 :])
        alone = sums_of(model, rows[out : out + 1], labels[out : out + 1])
        added = [more - fewer for more, fewer in zip(sums_of(model, rows, labels), less, strict=True)]
        assert added == alone
        assert squared_norm(alone) <= squared
        assert l1 is None or l1_norm(alone) <= l1


@pytest.mark.parametrize("kind", EVERY)
def test_a_row_replaced_moves_the_sums_by_at_most_the_distance_of_change_one(kind: type[Any], rounds: Rounds) -> None:
    model, random = made(kind, relation=Relation.CHANGE_ONE), np.random.default_rng()
    (squared, l1) = model._distance(model._public(FEATURES))
    rows, labels = hostile(random, rounds(sample=300, full=20_000))
    each = [sums_of(model, rows[at : at + 1], labels[at : at + 1]) for at in range(len(rows))]
    for first, second in pairwise(each):
        moved = [one - other for one, other in zip(first, second, strict=True)]
        assert squared_norm(moved) <= squared
        assert l1 is None or l1_norm(moved) <= l1


@pytest.mark.parametrize("kind", EVERY)
def test_distances_are_reached_up_to_rounding(kind: type[Any]) -> None:
    model = made(kind)
    squared, l1 = model._distance(model._public(FEATURES))
    corner = sums_of(model, np.array([[1.0, 1.0, 2.0]]), ["a"])
    assert squared_norm(corner) >= squared * (1 - 2.0**-15)
    assert l1 is None or l1_norm(corner) == l1


@pytest.mark.parametrize("kind", EVERY)
def test_a_row_adds_the_same_beside_many_others_as_alone(kind: type[Any]) -> None:
    model, random = made(kind), np.random.default_rng()
    rows, labels = hostile(random, 20_000)  # more than one chunk
    out = 16_384 + int(random.integers(100))
    less = sums_of(model, np.delete(rows, out, axis=0), labels[:out] + labels[out + 1 :])
    added = [more - fewer for more, fewer in zip(sums_of(model, rows, labels), less, strict=True)]
    assert added == sums_of(model, rows[out : out + 1], labels[out : out + 1])


@pytest.mark.parametrize("kind", EVERY)
def test_one_release_of_gaussian_noise_takes_the_whole_mu(kind: type[Any], without_noise: list[Any]) -> None:
    model = made(kind, mu=0.5)
    model.fit(*hostile(np.random.default_rng(), 50))
    (noise,) = without_noise
    assert noise.guarantee == GaussianDP(0.5, relation=Relation.ADD_REMOVE)
    squared, _ = model._distance(model._public(FEATURES))
    assert noise.noise.scale**2 >= squared * 4


@pytest.mark.theorem("CategoricalNB.privacy", "DecisionTreeClassifier.privacy", "RandomForestClassifier.privacy")
@pytest.mark.parametrize("relation", [Relation.ADD_REMOVE, Relation.CHANGE_ONE])
@pytest.mark.parametrize(
    ("kind", "own"),
    [
        (CategoricalNB, {"bins": 2}),
        (DecisionTreeClassifier, {"max_depth": 1}),
        (RandomForestClassifier, {"max_depth": 1, "n_estimators": 2}),
    ],
)
def test_the_exact_law_of_epsilon_alone_keeps_epsilon_on_every_small_table(
    kind: type[Any], own: dict[str, Any], relation: Relation
) -> None:
    model = made(kind, epsilon=0.5, relation=relation, bounds=(0, 1), classes=["a", "b"], **own)
    release, query = _law_and_sums(model)
    people = [(x, y) for x in (0.0, 1.0, np.nan) for y in ("a", "b", "z")]
    assert not audit(
        OnTables(release, query=query, rows=people, people=2), PureDP(0.5, relation=relation), search=0
    ).refuted
    assert audit(
        OnTables(release, query=query, rows=people, people=2), PureDP(0.49, relation=relation), search=0
    ).refuted


def _law_and_sums(model: Any) -> tuple[Any, Any]:
    """Return the noise of a fit of one feature, and its sums as a function of a table of (x, y)."""
    public = model._public(1)
    squared, l1 = model._distance(public)

    def query(table: Any) -> NDArray[Any]:
        rows = np.array([[x] for x, _ in table]).reshape(-1, 1)
        held = FitRows(rows, codes=public.classes.codes([y for _, y in table]))
        return np.asarray(model._sums(public, held).ravel())

    return bought(public.price, Fraction(1), squared=squared, l1=l1), query


def test_the_named_pure_learners_are_those_with_a_pure_form() -> None:
    kinds = [getattr(learning, name) for name in learning.__all__]
    assert sorted(NAMES) == sorted(kind.__name__ for kind in kinds if getattr(kind, "_pure", False))
    assert sorted(NAMES) == sorted(kind.__name__ for kind in PURE)


@pytest.mark.parametrize("kind", EVERY)
def test_epsilon_alone_is_a_pure_price_or_refused(kind: type[Any]) -> None:
    model = made(kind, epsilon=1)
    rows, labels = hostile(np.random.default_rng(), 30)
    if kind in PURE:
        assert model.fit(rows, labels).guarantee_ == PureDP(1, relation=Relation.ADD_REMOVE)
    else:
        with pytest.raises(MissingParameter, match="CategoricalNB"):
            model.fit(rows, labels)


@pytest.mark.parametrize("kind", EVERY)
def test_an_empty_table_and_one_without_a_row_that_counts_are_answered(kind: type[Any]) -> None:
    for rows, labels in ((np.empty((0, 3)), []), (np.full((4, 3), np.nan), ["a"] * 4), (np.zeros((2, 3)), ["z"] * 2)):
        model = made(kind).fit(rows, labels)
        assert np.isfinite(model.predict_proba(np.array([[0.0, np.nan, 1e300]]))).all()


@pytest.mark.parametrize("kind", EVERY)
def test_a_model_follows_from_its_noisy_sums_alone(kind: type[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    model = made(kind)
    shape = model._shape(model._public(FEATURES))
    answer = random.normal(size=shape) * 1e6
    monkeypatch.setattr("discreet.learning.exact.measurements.noisy", lambda _noise, _sums: answer.copy())
    there = random.uniform(-1, 2, size=(50, 3))
    scores = [made(kind).fit(*hostile(random, size)).decision_function(there) for size in (5, 700)]
    np.testing.assert_array_equal(*scores)


@pytest.mark.parametrize("kind", EVERY)
def test_separated_classes_are_told_apart(kind: type[Any]) -> None:
    # 1,000 rows a class at opposite corners: every statistic that decides is at least 20 deviations of its noise
    # away from the other class, so that a failure has a chance below 1e-80.
    rows = np.repeat([[-0.8, -0.8, -0.8], [0.8, 0.8, 1.8]], 1000, axis=0)
    labels = ["a"] * 1000 + ["b"] * 1000
    model = made(kind, people=2000, classes=["a", "b"]).fit(rows, labels)
    assert model.score(rows, labels) == 1.0


@pytest.mark.parametrize("kind", EVERY)
def test_what_to_expect_is_said_without_rows(kind: type[Any]) -> None:
    explained = made(kind).explain(FEATURES)
    assert explained.plan["sums"] == np.prod(made(kind)._shape(made(kind)._public(FEATURES)))
    assert "mostly noise" in made(kind, people=10).explain(FEATURES).regime
    assert "little noise" in made(kind, people=10_000_000).explain(FEATURES).regime
    assert explained.noise["one count"] > 1
    if kind in PURE:
        assert made(kind, epsilon=1).explain(FEATURES).mu is None


@pytest.mark.parametrize(
    ("kind", "wrong", "name"),
    [
        (CategoricalNB, {"bins": None}, "bins"),
        (CategoricalNB, {"bins": 1}, "bins"),
        (CategoricalNB, {"bins": [2, 3]}, "bins"),
        (CategoricalNB, {"bins": "223"}, "bins"),
        (CategoricalNB, {"bins": [2, 3, 2.5]}, "bins"),
        (CategoricalNB, {"alpha": 0}, "alpha"),
        (CategoricalNB, {"alpha": float("nan")}, "alpha"),
        (DecisionTreeClassifier, {"max_depth": 0}, "max_depth"),
        (DecisionTreeClassifier, {"max_depth": None}, "max_depth"),
        (DecisionTreeClassifier, {"seed": -1}, "seed"),
        (RandomForestClassifier, {"n_estimators": 0}, "n_estimators"),
        (RandomForestClassifier, {"n_estimators": 4096, "max_depth": 16}, None),
        (GaussianNB, {"bounds": None}, "bounds"),
    ],
)
def test_parameters_that_cannot_be_used_are_refused_before_any_sum(
    kind: type[Any], wrong: dict[str, Any], name: str | None, without_noise: list[Any]
) -> None:
    with pytest.raises(ParameterError, match="must") as refused:
        made(kind, **wrong).fit(np.zeros((3, 3)), ["a", "b", "c"])
    assert refused.value.parameter == name
    assert without_noise == []
