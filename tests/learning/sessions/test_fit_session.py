"""Fits on a table of a session: priced, charged first, fitted on what the policy lets through, stored and replayed."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from discreet.errors import (
    ConflictingParameters,
    DiscreetError,
    LedgerMismatch,
    MissingBound,
    MissingParameter,
    ParameterError,
    QueryFailed,
    RelationMismatch,
    UnknownName,
)
from discreet.learning import (
    AdditiveClassifier,
    CategoricalNB,
    GaussianNB,
    LogisticRegression,
    NearestCentroid,
    RandomForestClassifier,
    load_model,
    save_model,
)
from discreet.learning.base import prepared_fit
from discreet.learning.base.stored_model import fitted, from_ledger, to_text
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, PureDP, Relation
from discreet.query import Session
from discreet.query.plan import Scan

FEATURES = ["age", "sex", "hours", "ok"]
COLUMNS: dict[str, dict[str, Any]] = {
    "age": {"min": 0, "max": 90},
    "sex": {"values": ["m", "f"]},
    "hours": {"type": "integer", "min": 0, "max": 99},
    "ok": {"type": "boolean"},
    "rich": {"values": ["no", "yes"]},
}
MU = {"mu": 1, "people": 300}
BUDGET = GaussianDP(9)


def people(size: int = 300) -> pd.DataFrame:
    random = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "age": random.uniform(0, 90, size),
            "sex": random.choice(["f", "m"], size),
            "hours": random.integers(0, 100, size),
            "ok": random.random(size) > 0.5,
            "who": np.arange(size) // 3,
            "note": ["x"] * size,
        }
    )
    return frame.assign(rich=np.where(frame.age + frame.hours > 95, "yes", "no"))


def opened(frame: pd.DataFrame | None = None, *, budget: Any = BUDGET, unit: str = "row", **more: Any) -> Session:
    columns = more.pop("columns", COLUMNS)
    return Session.from_frames(
        people=people() if frame is None else frame, unit=unit, budget=budget, columns=columns, **more
    )


def spent(session: Session) -> int:
    return len(list(session.ledger.entries()))


@pytest.fixture
def sums(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Record the exact sums of every release, and release them as they are."""
    seen: list[Any] = []
    monkeypatch.setattr("discreet.learning.exact.measurements.noisy", lambda _, exact: seen.append(exact) or exact)
    return seen


def test_a_fit_through_a_session_reads_what_a_fit_on_the_same_codes_reads(sums: list[Any]) -> None:
    frame = people()
    with opened(frame) as session:
        LogisticRegression(**MU).fit_session(session, "people", FEATURES, "rich")
    through, coded = list(sums), frame[FEATURES].assign(sex=(frame.sex == "f"))
    sums.clear()
    LogisticRegression(
        **MU, relation=Relation.ADD_REMOVE, bounds=([0, 0, 0, 0], [90, 1, 99, 1]), classes=["no", "yes"]
    ).fit(coded.to_numpy(dtype=float), frame.rich)
    assert len(through) == len(sums) > 2
    assert all(np.array_equal(one, other) for one, other in zip(through, sums, strict=True))


@pytest.mark.parametrize("kind", [AdditiveClassifier, CategoricalNB, LogisticRegression])
def test_a_fit_is_explained_before_it_is_paid_for_and_afterwards(kind: Any) -> None:
    with opened() as session:
        before = spent(session)
        told = kind().explain_session(session, "people", FEATURES, "rich", mu=1, people=300)
        assert spent(session) == before
        with pytest.raises(MissingParameter, match="people must be given"):
            kind().explain_session(session, "people", FEATURES, "rich", mu=1)
        for _ in range(2):  # the second comes out of the ledger
            model = kind().fit_session(session, "people", FEATURES, "rich", mu=1, people=300)
            assert model.explain() == told
        with pytest.raises(MissingParameter):
            model.explain(3)  # of another fit, at a price that nobody has stated
    rows = people()[["age", "hours"]]
    model.set_params(**MU, relation=Relation.ADD_REMOVE, bounds=(0, 99), classes=["no", "yes"])
    if "bins" in model.get_params():
        model.set_params(bins=4)
    model.fit(rows, people()["rich"])
    assert model.explain() == model.explain(2) != told


def test_a_list_of_features_is_no_number_of_them() -> None:
    with pytest.raises(DiscreetError, match=r"write explain\(len\(features\)\)"):
        LogisticRegression(**MU).explain(FEATURES)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [AdditiveClassifier, CategoricalNB])
def test_declared_words_have_a_bin_each_and_numbers_sixteen(kind: Any) -> None:
    columns = {**COLUMNS, "sex": {"values": ["m", "f", "$x$"]}}
    with opened(columns=columns) as session:
        prepared = prepared_fit(kind(**MU), session, "people", FEATURES, "rich")
        assert prepared.model.get_params()["bins"] == [16, 3, 16, 2]
        stated = prepared_fit(kind(**MU, bins=4), session, "people", FEATURES, "rich")
        assert stated.model.get_params()["bins"] == 4


def test_the_shape_of_a_column_of_words_is_a_bar_a_word() -> None:
    columns = {**COLUMNS, "sex": {"values": ["m", "f", "$x$"]}}
    with opened(columns=columns) as session:
        model = AdditiveClassifier(**MU).fit_session(session, "people", FEATURES, "rich")
        again = AdditiveClassifier(**MU).fit_session(session, "people", FEATURES, "rich")  # out of the ledger
        coarse = AdditiveClassifier(**MU, bins=2).fit_session(session, "people", FEATURES, "rich")
    for shapes in (model.shapes(), again.shapes()):
        assert [shape.words for shape in shapes] == [None, ("m", "f", "$x$"), None, None]
        assert [shape.values.shape for shape in shapes] == [(2, 16), (2, 3), (2, 16), (2, 2)]
        assert "$x$" in shapes[1].plot().svg()
    assert coarse.shapes()[1].words is None  # two words share a bin


@pytest.mark.theorem("PreparedFit.fit.privacy")
@pytest.mark.parametrize(
    "model", [LogisticRegression(**MU), GaussianNB(**MU), NearestCentroid(**MU), CategoricalNB(bins=3, **MU)]
)
def test_one_row_more_moves_the_first_sums_by_that_row_alone(model: Any, sums: list[Any]) -> None:
    frame = people(40)
    for one in (frame, frame.iloc[:-1], frame.iloc[-1:]):
        with opened(one) as session:
            model.fit_session(session, "people", FEATURES, "rich")
    first = [sums[place] for place in range(0, len(sums), len(sums) // 3)]
    assert np.array_equal(first[0] - first[1], first[2])


@pytest.mark.theorem("PreparedFit.fit.privacy")
def test_at_most_the_rows_of_the_policy_count_for_one_unit() -> None:
    frame = pd.concat([people(3)] * 40).assign(who=1)
    with opened(frame, unit="who", rows=2) as session:
        prepared = prepared_fit(GaussianNB(**MU), session, "people", FEATURES, "rich", people=300)
        assert prepared.public.neighbors.rows == 2
        rows = prepared._rows(session.engine.rows(Scan("people"), list(prepared.columns)))
        assert len(rows) == 2


def test_the_same_request_again_is_free_and_gives_the_same_bits() -> None:
    with opened() as session:
        models = [LogisticRegression(**MU), RandomForestClassifier(**MU), GaussianNB(**MU)]
        for model in models:
            model.fit_session(session, "people", FEATURES, "rich")
            before = spent(session)
            again = type(model)(**MU).fit_session(session, "people", FEATURES, "rich")
            assert spent(session) == before
            assert again.charge_ == model.charge_
            assert again.guarantee_ == model.guarantee_
            assert to_text(again) == to_text(model)
            assert np.array_equal(again.predict_proba(people()[FEATURES]), model.predict_proba(people()[FEATURES]))


def test_whatever_changes_the_release_changes_the_digest() -> None:
    def digest(model: Any = None, features: Any = FEATURES, target: str = "rich", **more: Any) -> str:
        columns = {**COLUMNS, **more.pop("columns", {})}
        budget, version, unit = more.pop("budget", GaussianDP(9)), more.pop("version", "1"), more.pop("unit", {})
        with opened(columns=columns, budget=budget, version=version, **(unit or {"unit": "row"})) as session:
            chosen = model if model is not None else RandomForestClassifier(mu=1)
            return prepared_fit(chosen, session, "people", features, target, **{"people": 300, **more}).digest

    found = [
        digest(),
        digest(RandomForestClassifier(mu=1, seed=1)),
        digest(RandomForestClassifier(mu=1, n_estimators=31)),
        digest(LogisticRegression(mu=1)),
        digest(features=FEATURES[:3]),
        digest(features=FEATURES[::-1]),
        digest(features=["age", "sex", "hours"], target="ok"),
        digest(mu=Fraction(1, 2)),
        digest(people=301),
        digest(columns={"age": {"min": 0, "max": 91}}),
        digest(columns={"sex": {"values": ["f", "m"]}}),
        digest(columns={"rich": {"values": ["no", "yes", "very"]}}),
        digest(version="2"),
        digest(unit={"unit": "who", "rows": 1}),
        digest(unit={"unit": "who", "rows": 2}),
        digest(budget=ZCDP(9, delta=1e-9)),
    ]
    assert len(set(found)) == len(found)
    assert digest(RandomForestClassifier(mu=1.0)) == found[0]


@pytest.mark.parametrize(
    ("budget", "price", "cost"),
    [
        (GaussianDP(9), {"mu": 2}, GaussianDP(2, relation=Relation.ADD_REMOVE)),
        (ZCDP(9, delta=1e-9), {"mu": 2}, ZCDP(2, relation=Relation.ADD_REMOVE)),
        (ZCDP(9, delta=1e-9), {"share": Fraction(2, 9)}, ZCDP(2, relation=Relation.ADD_REMOVE)),
        (ApproxDP(9, 1e-6), {"epsilon": 1, "delta": 1e-7}, ApproxDP(1, 1e-7, relation=Relation.ADD_REMOVE)),
    ],
)
def test_the_ledger_is_charged_in_its_own_notion(budget: Any, price: dict[str, Any], cost: Any) -> None:
    with opened(budget=budget) as session:
        prepared = prepared_fit(LogisticRegression(), session, "people", FEATURES, "rich", people=300, **price)
        assert prepared.cost == cost
        assert prepared.fits >= 3


def test_the_price_of_the_call_goes_before_that_of_the_constructor() -> None:
    with opened() as session:
        model = LogisticRegression(epsilon=3, delta=1e-6)
        stated = prepared_fit(model, session, "people", FEATURES, "rich", people=300)
        called = prepared_fit(model, session, "people", FEATURES, "rich", people=300, mu=1)
        assert (stated.public.price.stated.epsilon, called.public.price.stated.mu) == (3, 1)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (
            {"features": ["age", "note"]},
            MissingBound,
            r"note = \{values = \[\.\.\.\]\} under \[tables\.people\.columns\]",
        ),
        ({"features": ["age", "who"]}, MissingBound, r"who = \{min = \.\.\., max = \.\.\.\} under .* or write bounds="),
        ({"target": "note"}, MissingParameter, r"note = \{values = \[\.\.\.\]\}.*or write classes="),
        ({"target": None}, MissingParameter, "target must name the column"),
        ({"target": "age"}, ParameterError, "must be no feature"),
        ({"target": "nothing"}, UnknownName, "no column 'nothing'"),
        ({"features": "age"}, ParameterError, "features must be a list"),
        ({"features": []}, ParameterError, "features must be a list"),
        ({"features": ["age", "age"]}, ParameterError, "every column once"),
        ({"table": "visits"}, UnknownName, "no private table 'visits'"),
        ({"people": None}, MissingParameter, "people must be given"),
        ({"people": 0}, ParameterError, "people must be a whole number"),
        ({"mu": None}, MissingParameter, "epsilon"),
        ({"epsilon": 1}, ConflictingParameters, "epsilon"),
        ({"mu": None, "epsilon": 1}, MissingParameter, "delta beside it"),
        ({"mu": 1, "delta": 0.1, "share": 0.5}, DiscreetError, "Nothing was spent"),
    ],
)
def test_what_is_missing_is_refused_with_the_line_to_add_and_nothing_is_spent(
    given: dict[str, Any], error: type[Exception], words: str
) -> None:
    asked = {"table": "people", "features": FEATURES, "target": "rich", "mu": 1, "people": 300, **given}
    with opened() as session:
        before = spent(session)
        with pytest.raises(error, match=words) as raised:
            LogisticRegression().fit_session(session, asked.pop("table"), **asked)
        assert "Nothing was spent" in str(raised.value)
        assert spent(session) == before


class _Color(Enum):
    RED = 1
    BLUE = 2


@pytest.mark.parametrize(
    "classes",
    [
        [b"no", b"yes"], [Decimal(1), Decimal(2)], [1j, 2j], [timedelta(1), timedelta(2)], list(_Color),
        [frozenset([1]), frozenset([2])], [object(), object()], [(1, 2), (3, 4)], ["no", "\ud800"],
    ],
)  # fmt: skip
def test_classes_that_no_text_can_keep_are_refused_before_the_charge(classes: list[Any]) -> None:
    with opened() as session:
        before = spent(session)
        with pytest.raises(ParameterError, match=r"classes must be numbers.*Nothing was spent"):
            LogisticRegression(**MU, classes=classes).fit_session(session, "people", FEATURES, "rich")
        assert spent(session) == before


@pytest.mark.parametrize("price", [{"mu": 1e-300}, {"mu": 1e-40}, {"rho": 1e-300}, {"epsilon": 1e-300}])
def test_a_price_that_no_noise_can_be_made_for_is_refused_before_the_charge(price: dict[str, float]) -> None:
    with opened() as session:
        before = spent(session)
        with pytest.raises(ParameterError, match=r"noise can be made for.*Nothing was spent"):
            CategoricalNB(bins=3).fit_session(session, "people", FEATURES, "rich", people=300, **price)
        with pytest.raises(ParameterError, match="noise can be made for"):
            CategoricalNB(bins=3, bounds=(0, 1), classes=[0, 1], people=9, relation=Relation.ADD_REMOVE, **price).fit(
                [[0.5]], [1], session=session
            )
        assert spent(session) == before


def test_books_in_a_constructor_are_refused() -> None:
    with opened() as session:
        before = spent(session)
        for books in (session, session.ledger):
            with pytest.raises(ParameterError, match=r"got a \w+, write fit\(X, y, session=.*Nothing was spent"):
                LogisticRegression(**MU, bounds=books).fit_session(session, "people", FEATURES, "rich")
        assert spent(session) == before


def test_another_relation_than_the_policys_and_a_pure_budget_are_refused() -> None:
    with opened() as session, pytest.raises(RelationMismatch, match="Nothing was spent"):
        LogisticRegression(**MU, relation=Relation.CHANGE_ONE).fit_session(session, "people", FEATURES, "rich")
    with opened(budget=PureDP(9)) as session:
        with pytest.raises(ParameterError, match=r"CategoricalNB.*Nothing was spent"):
            LogisticRegression(**MU).fit_session(session, "people", FEATURES, "rich")
        CategoricalNB(bins=4).fit_session(session, "people", FEATURES, "rich", epsilon=1, people=300)
    with pytest.raises(ParameterError, match="must be a Session"):
        LogisticRegression(**MU).fit_session(people(), "people", FEATURES, "rich")  # type: ignore[arg-type]


def test_a_failure_keeps_the_charge_and_says_nothing_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError("ana is 34")

    monkeypatch.setattr("discreet.learning.exact.measurements.noisy", broken)
    with opened() as session:
        before = spent(session)
        with pytest.raises(QueryFailed) as raised:
            LogisticRegression(**MU).fit_session(session, "people", FEATURES, "rich")
        assert "ana" not in str(raised.value)
        assert raised.value.__cause__ is None
        assert spent(session) > before


def test_a_model_in_a_file_comes_back_bit_for_bit(tmp_path: Path) -> None:
    with opened() as session:
        for model in (LogisticRegression(**MU), RandomForestClassifier(**MU)):
            model.fit_session(session, "people", FEATURES, "rich")
            again = load_model(save_model(model, tmp_path / "model.json"))
            assert to_text(again, parameters=True) == to_text(model, parameters=True)
            assert again.get_params() == model.get_params()
            assert again.guarantee_ == model.guarantee_
            assert np.array_equal(again.predict(people()[FEATURES]), model.predict(people()[FEATURES]))


def test_a_text_that_is_no_model_is_refused_in_words(tmp_path: Path) -> None:
    with opened() as session:
        model = LogisticRegression(**MU).fit_session(session, "people", FEATURES, "rich")
    text = to_text(model, parameters=True)
    wrong = [
        "", "null", "{}", "[" * 100_000, text[:-1], text.replace('"format":1', '"format":9'),
        text.replace("LogisticRegression", "Rows"), text.replace("LogisticRegression", "GaussianNB"),
        text.replace("LogisticRegression", "system"), text.replace('"price"', '"pickle"'),
    ]  # fmt: skip
    for one in wrong:
        (tmp_path / "model.json").write_text(one, encoding="utf-8")
        if "GaussianNB" not in one:
            with pytest.raises(DiscreetError, match="one that discreet has written"):
                load_model(tmp_path / "model.json")
        with pytest.raises(LedgerMismatch, match="Nothing was spent"):
            from_ledger(one, LogisticRegression())


def test_a_fit_on_a_matrix_forgets_the_columns_of_a_session() -> None:
    with opened() as session:
        model = LogisticRegression(**MU).fit_session(session, "people", FEATURES, "rich")
        model.set_params(relation=Relation.ADD_REMOVE, bounds=(0, 1), classes=["no", "yes"])
        model.fit(np.array([[0.1, 0.2], [0.3, 0.4]]), ["no", "yes"])
        assert "columns_" not in fitted(model)
        assert model.predict([[0.5, 0.5]]).shape == (1,)


def test_texts_are_predicted_as_the_codes_that_they_were_fitted_as() -> None:
    with opened() as session:
        model = LogisticRegression(**MU).fit_session(session, "people", FEATURES, "rich")
    frame = people()[FEATURES]
    coded = frame.assign(sex=(frame.sex == "f").astype(float)).to_numpy(dtype=float)
    with pytest.warns(UserWarning, match="feature names"):
        by_code = model.decision_function(coded)
    assert np.array_equal(model.decision_function(frame), by_code)
