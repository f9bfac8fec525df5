"""The score of a model on other rows: charged first, exact but for its noise, one row at a time."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from discreet.errors import InputError, MissingParameter, UnknownName
from discreet.learning import CategoricalNB, LinearRegression, LogisticRegression, load_model, save_model
from discreet.learning.base import prepared_score
from discreet.learning.exact import STEPS
from discreet.privacy import GaussianDP, PureDP, Relation
from discreet.query import Session
from discreet.query.plan import Scan
from tests.learning.sessions.test_fit_session import COLUMNS, FEATURES, people, spent


@pytest.fixture
def session() -> Any:
    others = people(400).iloc[300:].copy()
    others.loc[others.index[0], "rich"] = "unknown"  # no declared class: it counts for nothing
    with Session.from_frames(
        people=people(), others=others, unit="row", budget=GaussianDP(9),
        columns={f"{table}.{name}": stated for name, stated in COLUMNS.items() for table in ("people", "others")},
    ) as opened:  # fmt: skip
        yield opened


def fitted(session: Session) -> LogisticRegression:
    return LogisticRegression(mu=3, people=300).fit_session(session, "people", FEATURES, "rich")


@pytest.mark.theorem("PreparedScore.compute.privacy")
def test_a_row_moves_the_pair_of_sums_by_its_loss_alone(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr("discreet.learning.exact.measurements.noisy", lambda _, exact: seen.append(exact) or exact)
    model = fitted(session)
    seen.clear()
    found = model.score_session(session, "others", epsilon=1)
    held = people(400).iloc[301:]
    right = model.predict(held[FEATURES]) == held.rich
    assert seen[0].tolist() == [int(right.sum()) * STEPS, int((~right).sum()) * STEPS]
    assert found.value == pytest.approx(right.mean())
    prepared = prepared_score(model, session, "others", epsilon=1)
    rows = session.engine.rows(Scan("others"), list(prepared.columns))
    losses = [
        prepared._losses({name: column[place : place + 1] for name, column in rows.items()}) for place in range(9)
    ]
    together = prepared._losses({name: column[:9] for name, column in rows.items()})
    assert np.concatenate(losses).tolist() == together.tolist()


def edited(session: Session) -> CategoricalNB:
    """Return a model that somebody has changed: it fails for, or says nothing of, everyone above the middle of age."""
    model = CategoricalNB(mu=1, people=300, bins=2).fit_session(session, "people", ["age"], "rich")
    model.feature_log_prob_ = [model.feature_log_prob_[0][:, :1]]
    return model


@pytest.mark.theorem("PreparedScore.compute.privacy")
@pytest.mark.parametrize("how", ["raises", "warns", "nan", "shape"])
def test_a_row_that_a_model_says_nothing_of_counts_as_a_full_loss(
    session: Session, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    model = CategoricalNB(mu=1, people=300, bins=2).fit_session(session, "people", ["age"], "rich")
    prepared = prepared_score(model, session, "others", epsilon=1)
    whole = model._scores

    def scores(rows: Any) -> Any:
        if rows[0, 0] < 45:
            return whole(rows)
        if how == "warns":
            warnings.warn("a row above 45", RuntimeWarning, stacklevel=1)
            return np.log(rows * 0)
        if how == "raises":
            raise MemoryError
        return np.full((1, 2), np.nan) if how == "nan" else np.zeros((1, 3))

    monkeypatch.setattr(model, "_scores", scores)
    rows = session.engine.rows(Scan("others"), list(prepared.columns))
    held = people(400).iloc[301:]
    losses = prepared._losses(rows)
    assert len(losses) == len(held)
    if how != "warns":
        assert (losses[(held.age >= 45).to_numpy()] == STEPS).all()
    assert (losses == 0).any()


def test_an_error_of_a_regression_is_the_whole_range_where_it_says_nothing(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = LinearRegression(mu=1, people=300).fit_session(session, "people", ["age"], "hours")
    prepared = prepared_score(model, session, "others", epsilon=1)
    for said in ([np.nan], [np.inf], [], ["x"], None):
        monkeypatch.setattr(model, "predict", lambda _, said=said: said)
        losses = prepared._losses(session.engine.rows(Scan("others"), list(prepared.columns)))
        assert losses.tolist() == [STEPS] * 100


def test_a_model_that_was_changed_is_refused_before_the_charge(session: Session, tmp_path: Path) -> None:
    model = edited(session)
    before = spent(session)
    with pytest.raises(InputError, match=r"got one that was changed.*Nothing was spent"):
        model.score_session(session, "others", epsilon=1e-6)
    with pytest.raises(InputError, match="one that discreet has written"):
        load_model(save_model(model, tmp_path / "model.json"))
    for name, value in {
        "coef_": np.zeros((2, 5)), "intercept_": np.array([np.nan, 0.0]), "n_features_in_": 10**9, "_price": 3,
        "classes_": np.array(["a"]), "columns_": {"age": None}, "_low": "x", "center_": np.zeros(3),
    }.items():  # fmt: skip
        changed = fitted(session)
        setattr(changed, name, value)
        with pytest.raises(InputError, match="got one that was changed"):
            changed.score_session(session, "others", epsilon=1e-6)
    assert spent(session) == before + 2  # the fit of the other model


def test_a_score_is_charged_once_and_the_same_again_is_free(session: Session) -> None:
    model = fitted(session)
    before = spent(session)
    first = model.score_session(session, "others", epsilon=4)
    paid = spent(session)
    again = model.score_session(session, "others", epsilon=4)
    assert before < paid == spent(session)
    assert (first.value, first.low, first.high) == (again.value, again.low, again.high)
    assert first.guarantee == PureDP(4, relation=Relation.ADD_REMOVE)
    low, high = first.ends
    assert 0 <= low <= float(first.value) <= high <= 1


def test_a_score_needs_a_model_with_columns_a_table_and_a_price(session: Session) -> None:
    model = fitted(session)
    before = spent(session)
    with pytest.raises(UnknownName, match="Nothing was spent"):
        model.score_session(session, "nobody", epsilon=1)
    with pytest.raises(MissingParameter, match="Nothing was spent"):
        model.score_session(session, "others")
    plain = LogisticRegression(mu=1, people=9, relation=Relation.ADD_REMOVE, bounds=(0, 1), classes=[0, 1])
    with pytest.raises(MissingParameter, match="fit_session"):
        plain.fit([[0.5]], [1]).score_session(session, "others", epsilon=1)
    with pytest.raises(InputError, match="must be a classifier"):
        prepared_score(pd.DataFrame(), session, "others", epsilon=1)
    assert spent(session) == before
