"""Rows and labels of people whose models are attacked, and what models say of them, read without showing a cell."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError

Floats = NDArray[np.float64]


def is_frame(rows: Any) -> bool:
    """Say whether rows are a pandas frame: a model or a pipeline may ask for the names and types of its columns."""
    return hasattr(rows, "isetitem")


def attacked_people(rows: Any, labels: Any, *, least: int) -> tuple[Any, NDArray[Any]]:
    """Return a copy of the rows, a frame or floats, and their labels; what numpy says about a cell is not passed on."""
    table: Any = np.empty(0)
    own: NDArray[Any] = np.empty(0)
    try:
        table = rows.copy() if is_frame(rows) else np.array(rows, dtype=np.float64)
        own = np.asarray(labels)
    except Exception:
        table = np.empty(0)
    if table.ndim != 2 or own.shape != (len(table),) or len(table) < least:
        raise InputError(
            f"people must be rows of numbers, or a frame, and as many labels, at least {least}; got others, write X "
            "and y as scikit-learn takes them"
        )
    return table, own


def chances_of_own(model: Any, rows: Any, labels: NDArray[Any]) -> Floats:
    """Return the chance that a classifier gives to everybody's own label; a class that it never saw has none.

    Where it knows the class of nobody, labels and classes are of different kinds, and the chances would say nothing.
    """
    chances, classes = np.asarray(model.predict_proba(rows), dtype=np.float64), np.asarray(model.classes_)
    if chances.shape != (len(rows), len(classes)) or not np.isfinite(chances).all():
        raise InputError("a model must give every row a chance for each of its classes; got others")
    own = labels[:, np.newaxis] == classes[np.newaxis, :]
    if not np.any(own):
        raise InputError("labels must be classes that the model knows; got others, write labels as it was fitted with")
    return np.asarray((chances * own).sum(axis=1))


def predicted_numbers(model: Any, rows: Any) -> Floats:
    """Return the number that a regression predicts for every row; one column of them is as good as none."""
    found = np.asarray(model.predict(rows), dtype=np.float64)
    if found.shape not in ((len(rows),), (len(rows), 1)) or not np.isfinite(found).all():
        raise InputError("a model must predict one number a row; got others, write a regression of one target")
    return found.ravel()
