"""Every estimator through a session: stored, replayed, put into a file and scored, each with the same bits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet import learning
from discreet.learning import load_model, save_model
from discreet.learning.base import PrivateClassifier, PrivateEstimator, PrivateRegressor, prepared_fit, prepared_score
from discreet.learning.base.stored_model import to_text
from discreet.learning.exact import STEPS
from discreet.query.plan import Scan
from tests.learning.sessions.test_fit_session import FEATURES, MU, opened, people, spent

MORE: dict[str, dict[str, Any]] = {
    "CategoricalNB": {"bins": 4},
    "PCA": {"n_components": 2},
    "KMeans": {"n_clusters": 3},
}
MADE = {name: getattr(learning, name) for name in learning.__all__}
ESTIMATORS = [name for name, one in MADE.items() if isinstance(one, type) and issubclass(one, PrivateEstimator)]
REGRESSIONS = [name for name in ESTIMATORS if issubclass(MADE[name], PrivateRegressor)]


def model_of(name: str) -> Any:
    return MADE[name](**MU, **MORE.get(name, {}))


def columns_of(name: str) -> tuple[list[str], str | None]:
    """Return the features and the target that suit an estimator."""
    kind = MADE[name]
    target = "rich" if issubclass(kind, PrivateClassifier) else "hours" if issubclass(kind, PrivateRegressor) else None
    return [feature for feature in FEATURES if feature != target], target


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_replayed_model_and_one_from_a_file_say_the_same_to_the_last_bit(name: str, tmp_path: Path) -> None:
    features, target = columns_of(name)
    with opened() as session:
        model = model_of(name).fit_session(session, "people", features, target)
        paid = spent(session)
        again = model_of(name).fit_session(session, "people", features, target)
        assert spent(session) == paid
    assert to_text(again) == to_text(model)
    loaded = load_model(save_model(model, tmp_path / "model.json"))
    rows, say = people()[features], "predict" if hasattr(model, "predict") else "transform"
    said = [np.asarray(getattr(one, say)(rows)) for one in (model, again, loaded)]
    assert np.array_equal(said[0], said[1])
    assert np.array_equal(said[0], said[2])


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_fit_lets_go_of_every_column_that_it_has_copied(name: str) -> None:
    features, target = columns_of(name)
    with opened() as session:
        prepared = prepared_fit(model_of(name), session, "people", features, target)
        handed = session.engine.rows(Scan("people"), list(prepared.columns))
        rows = prepared._rows(handed)
        assert handed == {}
        assert rows.features.T.flags.c_contiguous  # a column lies in one piece, as the engine hands it over


@pytest.mark.theorem("PreparedScore.compute.privacy")
@pytest.mark.parametrize("name", REGRESSIONS)
def test_the_error_of_a_regression_is_that_of_its_predictions(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    features, target = columns_of(name)
    assert target is not None
    with opened() as session:
        model = model_of(name).fit_session(session, "people", features, target)
        prepared = prepared_score(model, session, "people", epsilon=1)
        off = np.abs(model.predict(people()[features]) - people()[target])
        losses = prepared._losses(session.engine.rows(Scan("people"), list(prepared.columns)))
        assert losses.astype(float) == pytest.approx(np.minimum(off / 99, 1) * STEPS, abs=1)
        monkeypatch.setattr("discreet.learning.exact.measurements.noisy", lambda _, exact: exact)
        assert float(prepared.compute()[0].value) == pytest.approx(np.minimum(off, 99).mean(), abs=0.01)
