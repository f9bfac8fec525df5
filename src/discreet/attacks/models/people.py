"""Rows and labels of people whose models are attacked, and what models say of them, read without showing a cell."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError

Floats = NDArray[np.float64]


def attacked_people(rows: Any, labels: Any, *, least: int) -> tuple[Floats, NDArray[Any]]:
    """Return a copy of the rows as floats, and their labels; what numpy says about a cell is not passed on."""
    table, own = np.empty(0), np.empty(0)
    try:
        table, own = np.array(rows, dtype=np.float64), np.asarray(labels)
    except Exception:
        table = np.empty(0)
    if table.ndim != 2 or own.shape != (len(table),) or len(table) < least:
        raise InputError(
            f"people must be rows of numbers and as many labels, at least {least}; got others, write X and y as "
            "scikit-learn takes them"
        )
    return table, own


def chances_of_own(model: Any, rows: Floats, labels: NDArray[Any]) -> Floats:
    """Return the chance that a model gives to everybody's own label; a class that it never saw has none."""
    if not hasattr(model, "predict_proba"):
        raise InputError("a model must have predict_proba; got another, write a classifier that gives chances")
    chances, classes = np.asarray(model.predict_proba(rows), dtype=np.float64), np.asarray(model.classes_)
    if chances.shape != (len(rows), len(classes)) or not np.isfinite(chances).all():
        raise InputError("a model must give every row a chance for each of its classes; got others")
    return np.asarray((chances * (labels[:, np.newaxis] == classes[np.newaxis, :])).sum(axis=1))


def predicted_numbers(model: Any, rows: Floats) -> Floats:
    """Return the number that a regression predicts for every row; one column of them is as good as none."""
    found = np.asarray(model.predict(rows), dtype=np.float64)
    if found.shape not in ((len(rows),), (len(rows), 1)) or not np.isfinite(found).all():
        raise InputError("a model must predict one number a row; got others, write a regression of one target")
    return found.ravel()
