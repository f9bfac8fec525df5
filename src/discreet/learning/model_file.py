"""A fitted model in a file: public JSON text, read without running anything that the file says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from discreet._optional import optional
from discreet.display import write_whole
from discreet.errors import DiscreetError, InputError, MissingExtra
from discreet.learning.base import FORMS, PrivateEstimator, check_model, class_named, content_of, restore, to_text
from discreet.ledger.contract import UNREADABLE, bytes_of_arrays

_NETWORKS = (
    "DeepClassifier",
    "DeepRegressor",
    "RecipeClassifier",
)  # their floor is read where a file names one of them
_MOST_BYTES = 1 << 29  # of a file, and of the arrays in it: a fit leaves less


def save_model(model: Any, path: str | Path) -> Path:
    """Write a fitted model into a file; everything in it was released, so it may be shown to everybody.

    Args:
        model: a fitted estimator of this room.
        path: the file, which is written over.

    >>> import tempfile
    >>> import numpy as np
    >>> from discreet.learning import LogisticRegression
    >>> from discreet.privacy import Relation
    >>> model = LogisticRegression(
    ...     mu=1,
    ...     relation=Relation.ADD_REMOVE,
    ...     people=100,
    ...     bounds=(0, 1),
    ...     classes=[0, 1],
    ... ).fit([[0.5]] * 100, [0, 1] * 50)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = load_model(save_model(model, f"{folder}/model.json"))
    >>> bool((again.coef_ == model.coef_).all())
    True
    """
    from sklearn.utils.validation import check_is_fitted

    if not isinstance(model, PrivateEstimator):
        raise InputError(f"model must be an estimator of discreet.learning; got {type(model).__name__}")
    check_is_fitted(model)
    try:
        text = to_text(model, parameters=True)
    except TypeError:
        raise InputError(
            "model must have classes and parameters that are numbers, texts, days or times, so that they can be "
            "written; got others, write classes=[0, 1], for example"
        ) from None
    return write_whole(path, text.encode("ascii"))


def load_model(path: str | Path) -> Any:
    """Return the model that `save_model` wrote; the file may come from anybody, for it is text and no program.

    Args:
        path: the file.
    """
    with Path(path).open("rb") as opened:
        held = opened.read(_MOST_BYTES + 1)
    try:
        if len(held) > _MOST_BYTES:
            raise ValueError("too long")
        plain = json.loads(held.decode("utf-8"))
        if bytes_of_arrays(plain) > _MOST_BYTES:
            raise ValueError("too large")
        if plain["estimator"] in _NETWORKS:
            optional("discreet.learning.deep.training", extra="deep", purpose="a network")
        kind = class_named(plain["estimator"])
        if not issubclass(kind, PrivateEstimator):
            raise TypeError("no estimator")
        model: PrivateEstimator = kind(**{name: FORMS.value(one) for name, one in plain["parameters"].items()})
        content = content_of(plain, kind.__name__)
        if any(hasattr(kind, name) for name in content) or type(plain["charge"]) not in (int, type(None)):
            raise TypeError("no attributes of a fit")
        restore(model, content, plain["charge"])
        check_model(model)
    except MissingExtra:
        raise
    except (DiscreetError, *UNREADABLE):
        raise InputError(
            "a file of a model must be one that discreet has written; got another, perhaps of another version of "
            "discreet: write it again"
        ) from None
    return model
