"""What people get wrong: one clear error each, and nothing is spent."""

from __future__ import annotations

import tracemalloc
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from discreet.errors import DiscreetError, RelationMismatch
from discreet.learning.base import check_model
from discreet.ledger import Ledger, MemoryLedger, Terms
from discreet.privacy import ZCDP, ApproxDP, Guarantee, PureDP, Relation
from tests.learning.every_estimator.estimators import CLASSIFIERS, PRIVATE, REGRESSIONS, configured, labels

RANDOM = np.random.default_rng(5)
ROWS = RANDOM.uniform(-10, 10, (20, 2))
NEIGHBOR = Relation.ADD_REMOVE
# what is stated otherwise, and words of the error
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no bounds": ({"bounds": None}, r"bounds must be given.*write bounds=\(low, high\)"),
    "equal bounds": ({"bounds": (1, 1)}, "bounds must have low below high"),
    "reversed bounds": ({"bounds": (1, 0)}, "bounds must have low below high"),
    "one reversed": ({"bounds": ([0, 1], [1, 0])}, "bounds must have low below high"),
    "infinite bounds": ({"bounds": (0, float("inf"))}, "bounds must have low below high"),
    "bounds that are no number": ({"bounds": (float("nan"), 1)}, "bounds must have low below high"),
    "bounds of another table": ({"bounds": ([0, 0, 0], [1, 1, 1])}, "bounds must be a pair of ends"),
    "bounds that are no pair": ({"bounds": 3}, "bounds must be a pair of ends"),
    "bounds by name": ({"bounds": {"a": (0, 1), "b": (0, 1)}}, r"as in bounds=\(\[18, 0\], \[95, 200000\]\)"),
    "bounds pair by pair": ({"bounds": [(0, 1), (0, 1)]}, "all lows, then all highs"),
    "narrow bounds": ({"bounds": (1e9, 1e9 + 1e-5)}, "bounds must not be narrower"),
    "no people": ({"people": None}, "people must be given.*write people=1000"),
    "nobody": ({"people": 0}, "people must be a whole number from 1"),
    "half a person": ({"people": 1.5}, "people must be a whole number"),
    "people that are true": ({"people": True}, "people must be a whole number"),
    "no relation": ({"relation": None}, r"relation must say.*got none, write relation=dp\.Relation\.ADD_REMOVE"),
    "a relation in words": ({"relation": "add_remove"}, r"relation must say.*got 'add_remove', write relation=dp\."),
    "no price": ({"epsilon": None, "delta": None}, "epsilon"),
    "two prices": ({"rho": 1}, "epsilon|rho"),
    "three prices": ({"rho": 1, "mu": 1}, "epsilon|rho|mu"),
    "delta alone": ({"epsilon": None}, "epsilon|delta"),
    "epsilon of 0": ({"epsilon": 0}, "epsilon"),
    "epsilon below 0": ({"epsilon": -1}, "epsilon"),
    "epsilon that is no number": ({"epsilon": float("nan")}, "epsilon"),
    "epsilon in words": ({"epsilon": "1"}, "epsilon"),
    "delta of 1": ({"delta": 1}, "delta"),
}
OF_CLASSIFIERS: dict[str, tuple[dict[str, Any], str]] = {
    "no classes": ({"classes": None}, r"classes must be given.*write classes=\[...\]"),
    "one class": ({"classes": [1]}, "classes must be 2 to"),
    "a class twice": ({"classes": [0, 1, 1]}, "classes must be 2 to"),
    "classes in one word": ({"classes": "ab"}, "classes must be a list"),
    "a number of classes": ({"classes": 3}, "classes must be a list"),
    "a class that is no number": ({"classes": [0, float("nan")]}, "classes must be 2 to"),
    "a class that is a list": ({"classes": [[0], [1]]}, "classes must be numbers or texts"),
}
OF_REGRESSIONS: dict[str, tuple[dict[str, Any], str]] = {
    "no bounds of the target": ({"target_bounds": None}, "target_bounds must be given.*write target_bounds="),
    "reversed bounds of the target": ({"target_bounds": (1, 0)}, "target_bounds must have low below high"),
    "bounds of two targets": ({"target_bounds": ([0, 0], [1, 1])}, "target_bounds must be a pair"),
}
TABLES: dict[str, tuple[Any, str]] = {
    "one row": (ROWS[0], "Reshape your data"),
    "a cube": (ROWS[np.newaxis], "two dimensions"),
    "no column": (ROWS[:, :0], "minimum of 1 is required"),
    "sparse rows": (sparse.csr_array(ROWS), "dense"),
    "complex rows": (ROWS + 1j, "Complex data not supported"),
    "rows of different lengths": ([[1.0, 2.0], [3.0]], "rows of one length"),
    "a word": ("rows", "two dimensions|rows of one length"),
}


def ledger_with(budget: Guarantee) -> Ledger:
    return MemoryLedger(Terms(lineage="rows", unit="person", budget=budget, caps={"ada": None, "ben": None}))


def refused(
    model: Any, rows: Any, beside: Any, words: str, ledger: Ledger | None = None, analyst: str | None = "ada"
) -> Exception:
    """Fit, and return the one error that says what to write; nothing may be spent."""
    books = ledger or ledger_with(ZCDP(10, relation=NEIGHBOR))
    before = books.head
    with pytest.raises((DiscreetError, TypeError), match=words) as caught:
        model.fit(rows, beside, ledger=books, analyst=analyst)
    assert books.head == before
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    return caught.value


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("name", PRIVATE)
def test_what_is_stated_wrongly_is_refused(name: str, wrong: str) -> None:
    changes, words = WRONG[wrong]
    if set(changes) <= set(configured(name).get_params()):
        refused(configured(name, **changes), ROWS, labels(name, 20, RANDOM), words)


@pytest.mark.parametrize("wrong", OF_CLASSIFIERS)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classes_that_are_stated_wrongly_are_refused(name: str, wrong: str) -> None:
    changes, words = OF_CLASSIFIERS[wrong]
    refused(configured(name, **changes), ROWS, labels(name, 20, RANDOM), words)


@pytest.mark.parametrize("wrong", OF_REGRESSIONS)
@pytest.mark.parametrize("name", REGRESSIONS)
def test_targets_that_are_stated_wrongly_are_refused(name: str, wrong: str) -> None:
    changes, words = OF_REGRESSIONS[wrong]
    refused(configured(name, **changes), ROWS, labels(name, 20, RANDOM), words)


@pytest.mark.parametrize("wrong", TABLES)
@pytest.mark.parametrize("name", PRIVATE)
def test_what_is_no_table_is_refused(name: str, wrong: str) -> None:
    rows, words = TABLES[wrong]
    refused(configured(name), rows, labels(name, 20, RANDOM), words)


@pytest.mark.parametrize("name", [*CLASSIFIERS, *REGRESSIONS])
def test_labels_that_are_no_column_are_refused(name: str) -> None:
    beside = labels(name, 20, RANDOM)
    assert beside is not None
    refused(configured(name), ROWS, None, "requires y to be passed")
    refused(configured(name), ROWS, beside[:-1], "same number of rows")
    refused(configured(name), ROWS, np.column_stack([beside, beside]), "y must be one column")


@pytest.mark.parametrize("name", PRIVATE)
def test_a_ledger_of_another_kind_is_refused(name: str) -> None:
    beside = labels(name, 20, RANDOM)
    pure = ledger_with(PureDP(10, relation=NEIGHBOR))
    refused(configured(name), ROWS, beside, "budget must be approximate.*epsilon= alone of CategoricalNB", pure)
    approximate = ledger_with(ApproxDP(10, Fraction(1, 1000), relation=NEIGHBOR))
    in_rho = configured(name, epsilon=None, delta=None, rho=1)
    refused(in_rho, ROWS, beside, "price must be epsilon= and delta=", approximate)
    other = ledger_with(ZCDP(10, relation=Relation.CHANGE_ONE))
    problem = refused(configured(name), ROWS, beside, r"relation must be that of the ledger.*CHANGE_ONE", other)
    assert isinstance(problem, RelationMismatch)
    small = ledger_with(ZCDP(Fraction(1, 10**6), relation=NEIGHBOR))
    refused(configured(name), ROWS, beside, "othing was spent|budget", small)
    refused(configured(name), ROWS, beside, "analyst must say who fits", analyst=None)
    refused(configured(name), ROWS, beside, "not an analyst", analyst="eve")
    no_ledger: Any = {"rows": 1}
    with pytest.raises(DiscreetError, match="ledger must be a Ledger"):
        configured(name).fit(ROWS, beside, ledger=no_ledger)
    with pytest.raises(DiscreetError, match="session must be a Session"):
        configured(name).fit(ROWS, beside, session=no_ledger)


@pytest.mark.parametrize("name", PRIVATE)
def test_epsilon_alone_is_refused_where_there_is_no_pure_form(name: str) -> None:
    if not PRIVATE[name]._pure:
        problem = refused(configured(name, delta=None), ROWS, labels(name, 20, RANDOM), "write delta=1e-6")
        assert "CategoricalNB" in str(problem)


@pytest.mark.parametrize("name", PRIVATE)
def test_other_columns_than_those_of_the_fit_are_refused(name: str) -> None:
    plain = configured(name).fit(ROWS, labels(name, 20, RANDOM))
    with pytest.raises(ValueError, match=r"X has 3 features.*expecting 2 features"):
        (getattr(plain, "predict", None) or plain.transform)(np.zeros((4, 3)))
    model = configured(name).fit(pd.DataFrame(ROWS, columns=["age", "cost"]), labels(name, 20, RANDOM))
    use = getattr(model, "predict", None) or model.transform
    with pytest.raises(ValueError, match="feature names should match"):
        use(pd.DataFrame(ROWS, columns=["age", "price"]))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_labels_outside_the_classes_are_no_error(name: str) -> None:
    shown = configured(name).fit(ROWS, ["other"] * 20)
    assert shown.classes_.tolist() == [0, 1, 2]
    assert set(shown.predict(ROWS).tolist()) <= {0, 1, 2}


@pytest.mark.parametrize("name", PRIVATE)
def test_an_error_of_the_fit_itself_says_one_constant_thing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    books = ledger_with(ZCDP(10, relation=NEIGHBOR))

    def failing(*_: object, **__: object) -> None:
        raise ValueError("the row of Ada")

    monkeypatch.setattr(PRIVATE[name], "_learn", failing)
    with pytest.raises(DiscreetError, match="price stays spent") as caught:
        configured(name).fit(ROWS, labels(name, 20, RANDOM), ledger=books, analyst="ada")
    assert "Ada" not in str(caught.value)
    assert caught.value.__context__ is None
    assert books.balance().spent != ZCDP(0, relation=NEIGHBOR)


@pytest.mark.parametrize("name", list(PRIVATE))
@pytest.mark.parametrize("mu", [1e-30, 1e9, 1e30])
def test_an_extreme_price_is_planned_and_fitted_and_one_beyond_is_refused(name: str, mu: float) -> None:
    model = configured(name, epsilon=None, delta=None, mu=mu)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert model.explain(2).plan
        check_model(model.fit(ROWS, labels(name, 20, RANDOM)))
    beyond = configured(name, epsilon=None, delta=None, mu=Fraction(mu) / 10 if mu < 1 else Fraction(mu) * 10**22)
    with pytest.raises(DiscreetError, match="noise can be made for"):
        beyond.fit(ROWS, labels(name, 20, RANDOM))


TOO_LARGE: list[tuple[str, dict[str, Any], int, str]] = [
    ("AdditiveClassifier", {"bins": 1024, "classes": list(range(100))}, 200, "got 100 times 204,801 weights"),
    ("AdditiveClassifier", {"bins": 1024, "classes": list(range(7)), "people": 2**40}, 2048, "weights in 200 steps"),
    ("CategoricalNB", {"bins": 65536}, 100, "got 19,660,803"),
    ("RandomForestClassifier", {"n_estimators": 4096, "max_depth": 16}, 1, "at most 16,777,216 sums"),
]


@pytest.mark.parametrize(("name", "stated", "features", "words"), TOO_LARGE)
def test_a_model_that_is_too_large_is_refused_in_numbers_before_the_charge(
    name: str, stated: dict[str, Any], features: int, words: str
) -> None:
    model = configured(name, epsilon=None, delta=None, mu=1, **stated)
    with pytest.raises(DiscreetError, match=words):
        model.explain(features)
    ledger = ledger_with(ZCDP(9, delta=1e-9, relation=NEIGHBOR))
    before = len(list(ledger.entries()))
    with pytest.raises(DiscreetError, match=words):
        model.fit(np.zeros((3, features)), np.zeros(3), ledger=ledger, analyst="ada")
    assert len(list(ledger.entries())) == before


def test_a_large_forest_needs_no_memory_for_the_boxes_of_its_nodes() -> None:
    tracemalloc.start()
    tree = configured("DecisionTreeClassifier", max_depth=14).fit(np.zeros((3, 2048)), [0, 1, 2])
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert tree.splits_.thresholds.shape == (1, 2**14 - 1)
    assert most < 1 << 27  # boxes of 2^14 nodes and 2,048 features would be 2^29 bytes
