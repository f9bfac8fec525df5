"""Who is charged for a fit: by fit's own arguments, through pipelines and searches, and never by the constructor."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn import pipeline
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, Normalizer, OneHotEncoder, OrdinalEncoder

from discreet.errors import ParameterError, SenselessParameter
from discreet.learning import Bins, FourierFeatures, LogisticRegression, Pipeline, unpriced_steps
from discreet.ledger import Ledger, MemoryLedger, Terms
from discreet.ledger.contract import EntryKind
from discreet.privacy import ZCDP, Relation
from tests.learning.every_estimator.estimators import PRIVATE, configured

RANDOM = np.random.default_rng(3)
ROWS, LABELS = RANDOM.uniform(-10, 10, (30, 2)), RANDOM.integers(0, 3, 30)
TRANSFORMERS = [name for name, kind in PRIVATE.items() if hasattr(kind, "transform")]


@pytest.fixture
def ledger() -> Ledger:
    budget = ZCDP(100, relation=Relation.ADD_REMOVE)
    return MemoryLedger(Terms(lineage="rows", unit="person", budget=budget, caps={"ada": None}))


@pytest.fixture
def routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def model(**changes: Any) -> LogisticRegression:
    return configured("LogisticRegression", epsilon=None, delta=None, rho=Fraction(1, 2), **changes)


def charged(ledger: Ledger) -> list[str]:
    """Return what was charged, in the order of the charges."""
    return [entry.fields["description"] for entry in ledger.entries() if entry.kind is EntryKind.CHARGE]


FIT = "fit of LogisticRegression"


def test_a_fit_is_charged_to_the_ledger_that_it_is_given(ledger: Ledger) -> None:
    fitted = model().fit(ROWS, LABELS, ledger=ledger, analyst="ada")
    assert charged(ledger) == [FIT]
    assert ledger.balance().spent == ZCDP(Fraction(1, 2), relation=Relation.ADD_REMOVE)
    assert fitted.charge_ == 2  # the first entry of a ledger holds its terms


@pytest.mark.parametrize("kind", [Pipeline, pipeline.Pipeline])
def test_a_step_is_charged_by_its_name(kind: Any, ledger: Ledger) -> None:
    kind([("bins", Bins(bounds=(-10, 10))), ("model", model(bounds=(0, 1)))]).fit(ROWS, LABELS, model__ledger=ledger)
    assert charged(ledger) == [FIT]


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("kind", [Pipeline, pipeline.Pipeline])
def test_with_routing_every_private_step_asks_for_the_books_itself(kind: Any, ledger: Ledger) -> None:
    kind([("bins", Bins(bounds=(-10, 10))), ("model", model(bounds=(0, 1)))]).fit(ROWS, LABELS, ledger=ledger)
    assert charged(ledger) == [FIT]


@pytest.mark.usefixtures("routing")
def test_a_request_can_be_taken_back(ledger: Ledger) -> None:
    shy = model().set_fit_request(ledger=False)
    with pytest.raises(TypeError, match="ledger"):
        pipeline.Pipeline([("model", shy)]).fit(ROWS, LABELS, ledger=ledger)
    assert charged(ledger) == []


@pytest.mark.theorem("Pipeline.privacy")
@pytest.mark.parametrize("name", TRANSFORMERS)
def test_private_steps_chain_on_one_ledger(name: str, ledger: Ledger) -> None:
    steps = [("first", configured(name)), ("model", model())]
    Pipeline(steps).fit(ROWS, LABELS, ledger=ledger)
    assert charged(ledger) == [f"fit of {name}", FIT]


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("kind", [Pipeline, pipeline.Pipeline])
def test_a_search_charges_every_fit(kind: Any, ledger: Ledger) -> None:
    steps = kind([("bins", Bins(bounds=(-10, 10))), ("model", model(bounds=(0, 1)))])
    search = GridSearchCV(steps, {"model__people": [20, 40]}, cv=3)
    search.fit(ROWS, LABELS, ledger=ledger)
    assert charged(ledger) == [FIT] * 7  # two settings on three folds each, and once more on all rows


@pytest.mark.usefixtures("routing")
def test_a_search_over_one_estimator_charges_every_fit(ledger: Ledger) -> None:
    GridSearchCV(model(), {"people": [20, 40]}, cv=3).fit(ROWS, LABELS, ledger=ledger)
    assert charged(ledger) == [FIT] * 7


@pytest.mark.parametrize("field", ["people", "bounds", "classes", "epsilon"])
@pytest.mark.parametrize("name", PRIVATE)
def test_books_in_a_constructor_are_refused(name: str, field: str, ledger: Ledger) -> None:
    if field not in configured(name).get_params():
        return
    with pytest.raises(ParameterError, match=rf"{field} must be a public parameter; .* fit\(X, y, ledger=...\)"):
        configured(name, **{field: ledger}).fit(ROWS, LABELS)
    with pytest.raises(TypeError, match="unexpected keyword argument 'ledger'"):
        PRIVATE[name](ledger=ledger)
    assert charged(ledger) == []


@pytest.mark.parametrize("name", PRIVATE)
def test_weights_of_rows_are_refused(name: str, ledger: Ledger) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'sample_weight'"):
        configured(name).fit(ROWS, LABELS, sample_weight=np.ones(30), ledger=ledger)
    assert charged(ledger) == []


def test_steps_that_learn_without_a_price_are_named() -> None:
    steps = [("scale", MinMaxScaler()), ("bins", Bins(bounds=(0, 1))), ("skip", "passthrough"), ("model", model())]
    with pytest.warns(SenselessParameter, match='pay nothing.*: scale. Write .*strategy="constant"'):
        Pipeline(steps).fit(ROWS, LABELS)
    inner = ColumnTransformer([("first", MinMaxScaler(), [0]), ("second", Bins(bounds=(0, 1)), [1])])
    frames = pipeline.Pipeline([("columns", inner), ("model", model())])
    assert unpriced_steps(frames) == ["columns__first"]
    assert unpriced_steps(GridSearchCV(frames, {})) == ["estimator__columns__first"]
    assert unpriced_steps(Pipeline(steps[1:])) == []


UNKNOWN: dict[str, Any] = {"handle_unknown": "use_encoded_value", "unknown_value": -1}
PUBLIC_STEPS = [
    SimpleImputer(strategy="constant", fill_value=1, keep_empty_features=True),
    OrdinalEncoder(categories=[["a", "b"]], **UNKNOWN),
    OneHotEncoder(categories=[["a", "b"]], handle_unknown="ignore"),
    FourierFeatures(bounds=(0, 1), seed=1),
    model(),
    "passthrough",
    "drop",
]
OTHER_STEPS = [
    FunctionTransformer(lambda rows: rows - rows.mean(axis=0)),
    Normalizer(),
    SimpleImputer(),
    SimpleImputer(strategy="constant"),  # drops columns that are empty
    SimpleImputer(strategy="constant", keep_empty_features=True, add_indicator=True),
    OrdinalEncoder(**UNKNOWN),
    OrdinalEncoder(categories=[["a", "b"]]),  # an error tells of a row
    OneHotEncoder(categories=[["a", "b"]], handle_unknown="infrequent_if_exist"),
    OneHotEncoder(categories=[["a", "b"]], handle_unknown="ignore", min_frequency=3),
    OneHotEncoder(categories=[["a", "b"]], handle_unknown="ignore", max_categories=2),
]


@pytest.mark.parametrize("step", PUBLIC_STEPS, ids=lambda step: type(step).__name__)
def test_steps_that_treat_one_row_at_a_time_are_not_named(step: Any) -> None:
    assert unpriced_steps(pipeline.Pipeline([("first", step), ("model", model())])) == []


@pytest.mark.parametrize("step", OTHER_STEPS, ids=lambda step: type(step).__name__)
def test_steps_that_may_look_at_all_rows_are_named(step: Any) -> None:
    assert unpriced_steps(pipeline.Pipeline([("first", step), ("model", model())])) == ["first"]
    assert unpriced_steps(ColumnTransformer([("skip", "drop", [0])], remainder=step)) == ["remainder"]


def test_frames_around_a_model_are_named_by_their_class_or_looked_into() -> None:
    assert unpriced_steps(CalibratedClassifierCV(model())) == ["CalibratedClassifierCV"]
    assert unpriced_steps(model()) == []
    chosen = ColumnTransformer([("first", "passthrough", lambda rows: [int(rows.mean() > 0)])])
    assert unpriced_steps(chosen) == ["first"]
    regressor = configured("LinearRegression")
    assert unpriced_steps(TransformedTargetRegressor(regressor, func=np.log1p, inverse_func=np.expm1)) == []
    assert unpriced_steps(TransformedTargetRegressor(regressor, transformer=MinMaxScaler())) == ["transformer"]
    whole = TransformedTargetRegressor(regressor, func=lambda y: y - y.mean(), inverse_func=lambda y: y)
    assert unpriced_steps(whole) == ["func"]


def test_a_pipeline_of_private_steps_warns_of_nothing(ledger: Ledger) -> None:
    steps = Pipeline([("bins", Bins(bounds=(-10, 10))), ("model", model(bounds=(0, 1)))])  # warnings are errors here
    assert steps.fit(ROWS, LABELS, ledger=ledger).predict(ROWS).shape == (30,)


def test_a_private_step_inside_another_needs_routing(ledger: Ledger) -> None:
    inner = pipeline.Pipeline([("model", model())])
    outer = Pipeline([("inner", inner)])
    with pytest.raises(ParameterError, match=r"enable_metadata_routing=True\). Nothing was spent"):
        outer.fit(ROWS, LABELS, ledger=ledger)
    assert charged(ledger) == []
    with sklearn.config_context(enable_metadata_routing=True):
        outer.fit(ROWS, LABELS, ledger=ledger)
    assert charged(ledger) == [FIT]
