"""Rows for models that are attacked: doses that depend on a secret bit, and labels that are hard to learn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.data.invention import coins
from discreet.data.table import check_whole

Floats = NDArray[np.float64]
_SECRET, _SPREAD = 0.2, 0.5


def invented_doses(*, people: int, columns: int, seed: int) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """Invent people with bits and a dose: those that a model is trained on, and as many who are not in it.

    Column 0 is the secret bit, a fair one; it moves the dose by 0.4, all columns together by about 1, and chance by
    0.5. Returned are (rows, doses) of members and of outsiders, who are drawn alike.

    >>> members, outsiders = invented_doses(people=60, columns=50, seed=3)
    >>> members[0].shape, outsiders[1].shape
    ((60, 50), (60,))
    """
    check_whole("people", people, low=1, high=1_000_000)
    check_whole("columns", columns, low=1, high=10_000)
    drawn = coins(seed)
    rows = drawn.integers(0, 2, (2 * people, columns)).astype(np.float64)
    weights = drawn.normal(0.0, 1.0, columns) / np.sqrt(columns)
    weights[0] = _SECRET
    doses = (2 * rows - 1) @ weights + _SPREAD * drawn.normal(size=2 * people)
    return (rows[:people], doses[:people]), (rows[people:], doses[people:])


def invented_labels(*, people: int, columns: int, seed: int) -> tuple[Floats, NDArray[np.int64]]:
    """Invent people with numbers in about [-3, 3] and a label, 0 or 1, of which no model is sure.

    >>> rows, labels = invented_labels(people=400, columns=40, seed=3)
    >>> rows.shape, sorted(set(labels.tolist()))
    ((400, 40), [0, 1])
    """
    check_whole("people", people, low=1, high=1_000_000)
    check_whole("columns", columns, low=1, high=10_000)
    drawn = coins(seed)
    rows = drawn.normal(size=(people, columns))
    scores = rows @ drawn.normal(size=columns) / np.sqrt(columns)
    return rows, (scores + drawn.normal(size=people) > 0).astype(np.int64)
