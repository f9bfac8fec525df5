"""Networks with scikit-learn's manners: priced by their plan, charged, predicted with, stored."""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

torch = pytest.importorskip("torch")

from discreet.errors import InputError, MissingParameter, ParameterError  # noqa: E402
from discreet.learning import load_model, save_model  # noqa: E402
from discreet.learning.deep.plan import Plan  # noqa: E402
from discreet.learning.deep.training import DeepClassifier, DeepRegressor, RecipeClassifier  # noqa: E402
from discreet.ledger import MemoryLedger, Terms  # noqa: E402
from discreet.privacy import ApproxDP, GaussianDP, Relation  # noqa: E402
from discreet.query import Session  # noqa: E402
from tests.learning.every_estimator.scikit_checks import expected_failures  # noqa: E402

STATED: dict[str, Any] = {
    "epsilon": 4, "delta": 1e-6, "relation": Relation.ADD_REMOVE, "people": 600, "unit": "person", "bounds": (-1, 1),
}  # fmt: skip
RANDOM = np.random.default_rng(14)
X = RANDOM.uniform(-1, 1, (600, 3))
LABELS = np.where(X[:, 0] > 0, "yes", "no")
NUMBERS = 10 * X[:, 1]


def classifier(**changed: Any) -> DeepClassifier:
    return DeepClassifier(**{**STATED, "classes": ["no", "yes"], "hidden": (), **changed})


def regressor(**changed: Any) -> DeepRegressor:
    return DeepRegressor(**{**STATED, "target_bounds": (-10, 10), "hidden": (), **changed})


@pytest.mark.theorem("DeepClassifier.privacy")
def test_a_classifier_learns_keeps_its_price_and_says_so():
    model = classifier().fit(X, LABELS)
    # noise of the mean gradient is a fiftieth of the gradient: an accuracy below .8 is more than 20 deviations away
    assert model.score(X, LABELS) > 0.8
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.guarantee_.epsilon <= 4
    assert isinstance(model.training_plan_, Plan)
    assert model.loss_.epsilon(1e-6).upper == model.guarantee_.epsilon
    assert model.plan_["steps"] == 40
    assert model.explain(3).guarantee == model.guarantee_


@pytest.mark.theorem("DeepRegressor.privacy")
def test_a_regression_learns_within_its_bounds():
    model = regressor().fit(X, NUMBERS)
    # the weights have noise of at most .013 a step, and 12 steps are averaged: .5 is more than 20 deviations away
    assert model.score(X, NUMBERS) > 0.5
    assert np.abs(model.predict(100 * X)).max() <= 10
    assert model.guarantee_.epsilon <= 4


def test_the_ledger_is_charged_what_the_plan_says():
    budget = ApproxDP(5, 1e-5, relation=Relation.ADD_REMOVE)
    books = MemoryLedger(Terms(lineage="trial", unit="person", budget=budget, caps={"ann": None}))
    model = classifier().fit(X, LABELS, ledger=books)
    assert model.charge_ == 2
    assert books.balance().spent == model.training_plan_.under(budget)


def test_a_module_of_ones_own_is_trained_and_stays_as_it_is():
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    before = {name: one.clone() for name, one in module.state_dict().items()}
    model = classifier(module=module).fit(X, LABELS)
    assert model.predict(X[:3]).shape == (3,)
    assert all(torch.equal(one, before[name]) for name, one in module.state_dict().items())
    assert clone(model).fit(X, LABELS).weights_.keys() == model.weights_.keys()


def test_the_next_fit_tells_of_its_steps_and_the_one_after_does_not():
    heard = []
    model = classifier(steps=3).telling(lambda done, total: heard.append((done, total)))
    with pytest.raises(InputError):
        model.fit(X[:, :0], LABELS)  # a fit that is refused leaves the model as it was
    model.fit(X, LABELS)
    assert heard[-1] == (3, 3)
    assert {total for _, total in heard} == {3}
    count = len(heard)
    model.fit(X, LABELS)
    assert len(heard) == count


def test_a_fit_on_a_table_of_a_session_tells_of_its_steps_and_a_stored_model_has_none():
    frame = pd.DataFrame({"a": X[:, 0], "rich": LABELS})
    columns = {"a": {"min": -1, "max": 1}, "rich": {"values": ["no", "yes"]}}
    session = Session.from_frames(people=frame, unit="row", budget=ApproxDP(9, 1e-4), columns=columns)
    for expected in (True, False):
        heard = []
        model = DeepClassifier(epsilon=4, delta=1e-6, people=600, hidden=(), steps=3)
        model.telling(lambda done, total, heard=heard: heard.append((done, total)))
        model.fit_session(session, "people", ["a"], "rich")
        assert ((3, 3) in heard) is expected
        assert "_progress" not in vars(model)  # a model that can be stored holds no function


def test_large_tables_are_sampled():
    told = classifier(people=10**6).explain(3)
    assert told.plan["batches"] == "Poisson batches"
    assert told.plan["expected batch"] == 65_536


def test_a_row_with_a_missing_cell_and_a_label_that_was_not_declared_count_for_nothing(monkeypatch):
    from discreet.learning.deep.noise import ahead

    monkeypatch.setattr(ahead, "_draw", lambda _, count, length: list(np.zeros((count, length), dtype=np.int64)))
    torch.manual_seed(1)
    plain = classifier().fit(X, LABELS)
    torch.manual_seed(1)
    odd = classifier().fit(np.vstack([X, [[np.nan, 0, 0], [0.5, 0, 0]]]), [*LABELS, "yes", "perhaps"])
    assert all(np.array_equal(one, odd.weights_[name]) for name, one in plain.weights_.items())


@pytest.mark.parametrize(
    ("changed", "kind", "words"),
    [
        ({"unit": None}, MissingParameter, "unit must say"),
        ({"classes": None}, MissingParameter, "classes"),
        ({"bounds": None}, MissingParameter, "bounds"),
        ({"people": None}, MissingParameter, "people"),
        ({"epsilon": None, "delta": None, "mu": 1}, MissingParameter, "epsilon and delta"),
        ({"delta": None}, MissingParameter, "delta"),
        ({"module": 3}, ParameterError, "torch module"),
        ({"module": torch.nn.Linear(3, 5)}, ParameterError, "classes"),
        ({"module": torch.nn.Linear(4, 2)}, ParameterError, "made-up rows"),
        ({"hidden": (0,)}, ParameterError, "hidden"),
        ({"steps": 0}, ParameterError, "steps must be .*; got 0, write"),
        ({"learning_rate": -1.0}, ParameterError, "learning_rate must be .*; got -1.0, write"),
        ({"norm": 0}, ParameterError, "norm"),
    ],
)
def test_what_is_missing_or_wrong_is_refused_before_the_charge(changed, kind, words):
    budget = ApproxDP(5, 1e-5, relation=Relation.ADD_REMOVE)
    books = MemoryLedger(Terms(lineage="trial", unit="person", budget=budget, caps={"ann": None}))
    with pytest.raises(kind, match=words):
        classifier(**changed).fit(X, LABELS, ledger=books)
    assert len(list(books.entries())) == 1


def test_a_fitted_network_is_written_and_read(tmp_path):
    for model, aims in ((classifier(hidden=(5,)), LABELS), (regressor(), NUMBERS)):
        fitted = model.fit(X, aims)
        again = load_model(save_model(fitted, tmp_path / "model.json"))
        assert np.array_equal(again.predict(X), fitted.predict(X))
        assert again.training_plan_ == fitted.training_plan_
        assert again.guarantee_ == fitted.guarantee_
        assert again.loss_.epsilon(1e-9).upper == fitted.loss_.epsilon(1e-9).upper


@pytest.mark.parametrize("kind", [DeepClassifier, RecipeClassifier])
def test_a_file_of_a_network_is_read_by_a_program_that_never_named_one(kind, tmp_path):
    place = save_model(kind(**STATED, classes=["no", "yes"]).fit(X, LABELS), tmp_path / "model.json")
    code = "import sys; from discreet.learning import load_model; print(type(load_model(sys.argv[1])).__name__)"
    done = subprocess.run([sys.executable, "-c", code, place], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == kind.__name__


@pytest.mark.parametrize("budget", [ApproxDP(9, 1e-4), GaussianDP(9)])
def test_a_table_of_a_session_is_learned_from_once(budget):
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "rich": LABELS})
    columns = {"a": {"min": -1, "max": 1}, "b": {"min": -1, "max": 1}, "rich": {"values": ["no", "yes"]}}
    session = Session.from_frames(people=frame, unit="row", budget=budget, columns=columns)
    model = DeepClassifier(epsilon=4, delta=1e-6, people=600, hidden=())
    first = model.fit_session(session, "people", ["a", "b"], "rich").weights_
    assert model.training_plan_.unit == session.ledger.terms.unit
    count = len(list(session.ledger.entries()))
    again = DeepClassifier(epsilon=4, delta=1e-6, people=600, hidden=())
    assert all(
        np.array_equal(one, first[name])
        for name, one in again.fit_session(session, "people", ["a", "b"], "rich").weights_.items()
    )
    assert len(list(session.ledger.entries())) == count
    with pytest.raises(ParameterError, match="module must be left out"):
        classifier(module=torch.nn.Linear(2, 2)).fit_session(session, "people", ["a", "b"], "rich")


@pytest.mark.parametrize("kind", [DeepClassifier, DeepRegressor, RecipeClassifier])
def test_scikit_learns_own_checks_pass_but_those_that_privacy_forbids(kind):
    stated = {**STATED, "people": 100, "bounds": (-10, 10)}
    own: dict[str, Any] = {"target_bounds": (-10, 10)} if kind is DeepRegressor else {"classes": [0, 1, 2]}
    own |= {"bins": 2} if kind is RecipeClassifier else {"hidden": (), "steps": 2}
    model = kind(**stated, **own)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks warn about themselves
        results = check_estimator(
            model, expected_failed_checks=expected_failures(model, noise=True), on_skip=None, on_fail=None
        )
    assert [(one["check_name"], one["exception"]) for one in results if one["status"] == "failed"] == []
    assert len(results) > 40
