"""Counts that an engine adds up in one SELECT are those of numpy on the rows of a grant, to the last unit."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from discreet.learning import CategoricalNB, DecisionTreeClassifier, LogisticRegression, RandomForestClassifier
from discreet.learning.base import prepared_fit
from discreet.learning.base.from_session import PreparedFit
from discreet.privacy import PureDP
from discreet.query import Session
from discreet.query.plan import Scan

FEATURES = ["age", "income", "color", "ok"]
COLUMNS: dict[str, dict[str, Any]] = {
    "age": {"type": "integer", "min": -3, "max": 40},
    "income": {"min": -0.1, "max": 0.7},
    "color": {"values": ["red", "it's", "blue"]},
    "ok": {"type": "boolean"},
    "label": {"values": ["no", "yes", "maybe"]},
    "grade": {"type": "integer", "values": [2, 1, 7]},
    "share": {"values": [0.5, -0.0, 3.0]},
}
HOSTILE = [
    -0.0, 0.0, math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -0.1, 0.7, 0.1, 0.3, 0.30000000000000004,
    0.5, 0.6999999999999999, 0.7000000000000001, -0.09999999999999999, 2.0**53, 1e22,
]  # fmt: skip
WHOLE = [-(2**62), 2**53, 2**53 + 1, -3, -4, 40, 41, 0, 7, 12, 13, 19, None]


def hostile(seed: int, size: int = 400) -> pd.DataFrame:
    """Return a table of cells near the ends of bins and far outside, missing and undeclared ones."""
    random = np.random.default_rng(seed)
    number = np.where(random.random(size) < 0.5, random.choice(HOSTILE, size), random.uniform(-0.2, 0.8, size))
    return pd.DataFrame(
        {
            "age": pd.array([WHOLE[i] for i in random.integers(0, len(WHOLE), size)], dtype="Int64"),
            "income": number,
            "color": random.choice(np.array(["red", "it's", "blue", "Red", "", None], dtype=object), size),
            "ok": pd.array(random.choice(np.array([True, False, None], dtype=object), size), dtype="boolean"),
            "label": random.choice(np.array(["no", "yes", "maybe", "No", None], dtype=object), size),
            "grade": pd.array(random.choice(np.array([1, 2, 7, 3, None], dtype=object), size), dtype="Int64"),
            "share": random.choice([0.5, 0.0, -0.0, 3.0, math.nan, 0.25], size),
            "who": random.integers(0, size * 4, size),
        }
    )


def opened(frame: pd.DataFrame) -> Session:
    return Session.from_frames(people=frame, unit="row", budget=PureDP(100), columns=COLUMNS)


def both(prepared: PreparedFit) -> tuple[Any, Any]:
    """Return the sums of the engine, and those of numpy on the rows that a grant hands over."""
    pushed, engine = prepared.pushed, prepared.session.engine
    assert pushed is not None
    granted = prepared._rows(engine.rows(Scan(prepared.table.name), list(prepared.columns)))
    model: Any = prepared.model
    sums = model._sums(prepared.public, granted)
    bounded = None if prepared.table.name == "people" else engine.bound(prepared.table.name, 1)
    return pushed.counts(engine.run(replace(pushed.request, bounded=bounded))).reshape(sums.shape), sums


MODELS = {
    "bayes": CategoricalNB(epsilon=1, people=400, bins=[7, 9, 3, 2]),
    "wide bayes": CategoricalNB(epsilon=1, people=400, bins=[43, 64, 3, 2], bounds=([-2.5, 0, 0, 0], [9, 1e-3, 2, 1])),
    "tree": DecisionTreeClassifier(epsilon=1, people=400, max_depth=5, seed=4),
    "forest": RandomForestClassifier(epsilon=1, people=400, n_estimators=8, max_depth=3),
}


@pytest.mark.parametrize("target", ["label", "grade", "share", "ok"])
@pytest.mark.parametrize("name", list(MODELS))
def test_the_counts_of_the_engine_are_those_of_numpy(name: str, target: str, rounds: Any) -> None:
    features = [one for one in FEATURES if one != target]
    model = MODELS[name]
    if target == "ok":
        model = type(model)(**{**model.get_params(), "bounds": None})
        if "bins" in model.get_params():
            model.set_params(bins=[7, 9, 3])
    for seed in range(rounds(sample=2, full=200)):
        with opened(hostile(seed)) as session:
            pushed, granted = both(prepared_fit(model, session, "people", features, target))
            assert granted.sum() > 0
            assert np.array_equal(pushed, granted)


def test_units_with_one_row_each_give_the_same_counts_through_the_bounded_table() -> None:
    persons = hostile(7).drop_duplicates("who")
    with Session.from_frames(persons=persons, unit="who", rows=1, budget=PureDP(9), columns=COLUMNS) as session:
        pushed, granted = both(prepared_fit(MODELS["bayes"], session, "persons", FEATURES, "label"))
        assert granted.sum() > 0
        assert np.array_equal(pushed, granted)


def test_a_unit_with_many_rows_counts_at_most_as_often_as_the_policy_says(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pd.DataFrame({"color": ["red"] * 50, "label": ["yes"] * 50, "who": [1] * 49 + [2]})
    seen: list[Any] = []
    monkeypatch.setattr("discreet.learning.exact.measurements.noisy", lambda _, sums: seen.append(sums) or sums)
    with Session.from_frames(
        people=frame, unit="who", rows=3, budget=PureDP(9),
        columns={name: COLUMNS[name] for name in ("color", "label")},
    ) as session:  # fmt: skip
        CategoricalNB(epsilon=1).fit_session(session, "people", ["color"], "label", people=4)
    assert seen[0].reshape(-1, 3)[0].sum() == 4


def test_an_empty_table_has_no_counts() -> None:
    with opened(hostile(1).iloc[:0]) as session:
        pushed, granted = both(prepared_fit(MODELS["tree"], session, "people", FEATURES, "label"))
        assert pushed.shape == granted.shape
        assert not pushed.any()


def test_declared_values_have_a_bin_each_and_no_line_is_to_be_added() -> None:
    with opened(hostile(2)) as session:
        prepared = prepared_fit(CategoricalNB(epsilon=1, people=400), session, "people", ["color", "ok"], "label")
        assert list(prepared.model.get_params()["bins"]) == [3, 2]
        pushed, granted = both(prepared)
        assert np.array_equal(pushed, granted)


def test_the_rows_themselves_are_read_where_a_model_needs_more_than_counts_or_a_class_has_no_text() -> None:
    with opened(hostile(3)) as session:
        mu = LogisticRegression(epsilon=1, delta=1e-6, people=400)
        odd = CategoricalNB(epsilon=1, people=400, classes=["2", "1"])
        with pytest.raises(Exception, match="approximate, concentrated or Gaussian"):
            prepared_fit(mu, session, "people", FEATURES, "label")
        assert prepared_fit(odd, session, "people", ["color"], "grade").pushed is None


@pytest.mark.parametrize("model", [CategoricalNB(bins=20_000), RandomForestClassifier(n_estimators=2000, max_depth=11)])
def test_boxes_that_no_select_could_hold_are_never_made(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("categorical_nb.first_float", "trees.Splits.boxes"):
        monkeypatch.setattr(f"discreet.learning.counts.{name}", lambda *_: pytest.fail("a box was made"))
    with opened(hostile(2)) as session:
        assert prepared_fit(model, session, "people", ["age", "income"], "label", epsilon=1, people=400).pushed is None
