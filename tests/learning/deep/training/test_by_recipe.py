"""Training by a recipe in one call: the same steps as by hand, charged first."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from discreet.errors import InputError, ParameterError  # noqa: E402
from discreet.learning.deep import OneHot, recipe, train_recipe  # noqa: E402
from discreet.ledger import MemoryLedger, Terms  # noqa: E402
from discreet.privacy import ApproxDP, Relation  # noqa: E402

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
