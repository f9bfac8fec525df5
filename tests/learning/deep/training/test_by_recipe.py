"""Training by a recipe in one call: the same steps as by hand, charged first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

torch = pytest.importorskip("torch")

from discreet.errors import InputError, MissingParameter, ParameterError  # noqa: E402
from discreet.learning import load_model, save_model  # noqa: E402
from discreet.learning.deep import BinnedNumbers, OneHot, RecipeClassifier, recipe, train_recipe  # noqa: E402
from discreet.ledger import MemoryLedger, Terms  # noqa: E402
from discreet.privacy import ApproxDP, Relation  # noqa: E402
from discreet.query import Session  # noqa: E402

BUDGET = ApproxDP(100, 1e-4, relation=Relation.ADD_REMOVE)
ROWS = {"word": ["yes", "no"] * 100}
LABELS = [word == "yes" for word in ROWS["word"]]


def made(epsilon):
    return recipe(
        OneHot({"word": ["yes", "no"]}), classes=[True, False], people=200, epsilon=epsilon, delta=1e-5,
        relation=Relation.ADD_REMOVE, unit="person",
    )  # fmt: skip


@pytest.mark.theorem("train_recipe.privacy")
def test_a_recipe_is_charged_by_its_plan_and_learns():
    """Noise of all steps moves a weight by 1.2 over a signal that is thousands at epsilon 50: errors are impossible."""
    ledger = MemoryLedger(Terms(lineage="trial", unit="person", budget=BUDGET, caps={"ana": None}))
    found = train_recipe(made(50), ROWS, LABELS, ledger=ledger)
    assert found.predict(ROWS) == LABELS
    assert found.cost == found.guarantee
    assert "epsilon 50" in repr(found)


def test_a_trained_recipe_gives_probabilities_and_a_score():
    """As above, errors are impossible at epsilon 50; labels that are no classes are not found."""
    found = train_recipe(made(50), ROWS, LABELS)
    chances = found.predict_proba(ROWS)
    assert chances.shape == (200, 2)
    assert np.allclose(chances.sum(axis=1), 1)
    assert [found.recipe.classes[place] for place in chances.argmax(axis=1)] == found.predict(ROWS)
    assert found.score(ROWS, LABELS) == 1
    assert found.score(ROWS, [not label for label in LABELS]) == 0
    assert found.score(ROWS, [*LABELS[:150], *["perhaps"] * 50]) == 0.75
    with pytest.raises(InputError, match="one a row"):
        found.score(ROWS, LABELS[:3])


def test_what_is_no_recipe_is_refused():
    with pytest.raises(ParameterError, match=r"recipe\(\.\.\.\)"):
        train_recipe(object(), np.zeros((2, 2)), [0, 1])


RANDOM = np.random.default_rng(14)
CELLS = RANDOM.uniform(-1, 1, (600, 3))
SIGNS = np.where(CELLS[:, 0] > 0, "yes", "no")


def of_columns(**changed: Any) -> RecipeClassifier:
    stated = {"epsilon": 4, "delta": 1e-6, "relation": Relation.ADD_REMOVE, "people": 600, "unit": "person"}
    return RecipeClassifier(**{**stated, "bounds": (-1, 1), "classes": ["no", "yes"], **changed})


@pytest.mark.theorem("RecipeClassifier.privacy")
def test_a_recipe_of_columns_learns_by_the_plan_of_its_recipe():
    model = of_columns().fit(CELLS, SIGNS)
    # a bin is taken for the other class where noise of .93 exceeds a margin of about 3: below .7 five of 16 would be
    assert model.score(CELLS, SIGNS) > 0.7
    kind = OneHot({name: BinnedNumbers((-1, 1)) for name in "abc"})
    made = recipe(kind, people=600, epsilon=4, delta=1e-6, classes=2, relation=Relation.ADD_REMOVE, unit="person")
    plan, other = model.training_plan_, made.plan()
    assert (plan.noise, plan.clip, plan.steps, plan.divisor) == (other.noise, other.clip, other.steps, other.divisor)
    assert model.guarantee_.epsilon <= 4
    assert model.explain(3).plan["learning rate"] == made.rate
    assert model.weights_["weight"].shape == (2, kind.width)


def test_a_label_that_was_not_declared_counts_for_nothing_and_a_missing_cell_has_no_bin(monkeypatch):
    from discreet.learning.deep.noise import ahead

    monkeypatch.setattr(ahead, "_draw", lambda _, count, length: list(np.zeros((count, length), dtype=np.int64)))
    plain = of_columns().fit(CELLS, SIGNS)
    odd = of_columns().fit(np.vstack([CELLS, [[0.5, 0, 0]]]), [*SIGNS, "perhaps"])
    assert np.array_equal(plain.weights_["weight"], odd.weights_["weight"])
    more = of_columns().fit(np.vstack([CELLS, [[np.nan, 0, 0]]]), [*SIGNS, "yes"])
    moved = (more.weights_["weight"] != plain.weights_["weight"]).any(axis=0)
    assert moved[-1]  # the row counts, in the column that is 1 for everybody
    assert np.isfinite(plain.predict_proba([[np.nan] * 3])).all()


def test_a_declared_value_has_a_weight_of_its_own_in_a_table_of_a_session(tmp_path):
    cities = np.array(["Oslo", "Rome", "Bonn"])[RANDOM.integers(0, 3, 600)]
    frame = pd.DataFrame({"a": CELLS[:, 0], "city": cities, "rich": np.where(cities == "Rome", "yes", "no")})
    columns = {
        "a": {"min": -1, "max": 1},
        "city": {"values": ["Bonn", "Rome", "Oslo"]},
        "rich": {"values": ["no", "yes"]},
    }
    session = Session.from_frames(people=frame, unit="row", budget=ApproxDP(9, 1e-4), columns=columns)
    model = RecipeClassifier(epsilon=4, delta=1e-6, people=600)
    model.fit_session(session, "people", ["a", "city"], "rich")
    assert model.weights_["weight"].shape == (2, 16 + 3 + 1)
    # the middle value is told from both others: no number on a line could; a margin of 3 or more at noise of 1.3
    assert model.score(frame, frame["rich"]) > 0.6
    again = load_model(save_model(model, tmp_path / "model.json"))
    assert np.array_equal(again.predict(frame), model.predict(frame))


def test_a_list_of_bins_that_is_changed_after_the_fit_changes_nothing():
    bins = [4, 4, 5]
    model = of_columns(bins=bins).fit(CELLS, SIGNS)
    said = model.predict(CELLS)
    bins[0] = 9
    assert np.array_equal(model.predict(CELLS), said)


@pytest.mark.parametrize(
    ("changed", "words"),
    [({"bins": 1}, "bins"), ({"bins": [4, 4]}, "bins"), ({"unit": None}, "unit"), ({"classes": 10}, r"range\(10\)")],
)
def test_a_recipe_of_columns_is_refused_before_the_charge(changed, words):
    with pytest.raises((MissingParameter, ParameterError), match=words):
        of_columns(**changed).explain(3)
