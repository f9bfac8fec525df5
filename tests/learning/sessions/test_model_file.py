"""A file of a model may come from anybody: what it holds is bounded, looked at, and never run."""

from __future__ import annotations

import base64
import json
import os
import zlib
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.learning import LogisticRegression, RandomForestClassifier, load_model, model_file, save_model
from discreet.privacy import Relation

STATED: dict[str, Any] = {"mu": 1, "relation": Relation.ADD_REMOVE, "people": 100, "bounds": (0, 1)}
BOMB = base64.b64encode(zlib.compress(bytes(1 << 20))).decode()
PACKED = {"array": ["<f8", [1 << 27], BOMB]}  # it says that it holds 1 GiB


def fitted(**more: Any) -> LogisticRegression:
    return LogisticRegression(**STATED, **{"classes": [0, 1], **more}).fit([[0.5]] * 10, [0, 1] * 5)


def put(**changed: Any) -> Callable[[dict[str, Any]], None]:
    return lambda plain: plain["fitted"].update(changed)


@pytest.mark.parametrize(
    "change",
    [
        put(x={"fraction": "1e99999999"}),
        put(x={"fraction": "1" * 5000}),
        put(_price={"price": [[["mu", "1e99999999"]], "ADD_REMOVE"]}),
        put(_price={"price": [[["mu", "-1"]], "ADD_REMOVE"]}),
        put(_price={"price": [[["mu", "1"], ["rho", "1"]], "ADD_REMOVE"]}),
        put(x=PACKED),
        put(array=["<f8", [1]], x=PACKED),
        put(**{f"x{place}": {"array": ["<f8", [1 << 23], BOMB]} for place in range(9)}),
        put(x={"texts": [[20001], ["a" * 100_000, *["b"] * 20_000]]}),
        put(coef_=[1, 2, 3]),
        put(coef_={"array": ["<f8", [0, 10**30], BOMB]}),
        put(n_features_in_=10**9),
        put(n_features_in_=2),
        put(predict="x"),
        put(__class__="x"),
        put(classes_={"texts": [[1], ["a"]]}),
        put(intercept_={"list": [{"float": "nan"}, 1.0]}),
        lambda plain: plain.update(charge="x"),
        lambda plain: plain["fitted"].clear(),
    ],
)
def test_a_file_that_no_fit_has_left_is_refused_at_once_and_in_words(tmp_path: Path, change: Any) -> None:
    place = save_model(fitted(), tmp_path / "model.json")
    plain = json.loads(place.read_text())
    change(plain)
    place.write_text(json.dumps(plain), encoding="utf-8")
    with pytest.raises(InputError, match="one that discreet has written"):
        load_model(place)


def test_trees_that_do_not_end_are_refused(tmp_path: Path) -> None:
    forest = RandomForestClassifier(**STATED, classes=[0, 1], n_estimators=2, max_depth=2).fit([[0.5]], [1])
    place = save_model(forest, tmp_path / "model.json")
    assert np.array_equal(load_model(place).leaf_proba_, forest.leaf_proba_)
    text = place.read_text()
    assert '["depth",2]' in text
    for depth in ("1000000000", "3", "-1", '"x"'):
        place.write_text(text.replace('["depth",2]', f'["depth",{depth}]'), encoding="utf-8")
        with pytest.raises(InputError, match="one that discreet has written"):
            load_model(place)


def test_what_has_no_text_is_said_and_nothing_is_written(tmp_path: Path) -> None:
    place = save_model(fitted(), tmp_path / "model.json")
    before = place.read_bytes()
    with pytest.raises(InputError, match="classes and parameters that are numbers, texts, days or times"):
        save_model(fitted(classes=[Decimal(1), Decimal(2)]), place)
    assert place.read_bytes() == before


def test_a_model_is_written_as_a_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = save_model(fitted(), tmp_path / "model.json")
    before = place.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save_model(fitted(), place)
    assert place.read_bytes() == before
    assert list(tmp_path.iterdir()) == [place]
    monkeypatch.undo()
    link = tmp_path / "link.json"
    link.symlink_to(place)
    again = fitted()
    save_model(again, link)
    assert link.is_symlink()
    assert np.array_equal(load_model(place).coef_, again.coef_)


def test_what_a_fit_may_leave_is_not_too_large_for_a_file() -> None:
    most = 1 << 24  # sums of one release, of which a model keeps at most two arrays
    assert 2 * 8 * most < model_file._MOST_BYTES
