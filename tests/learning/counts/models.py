"""The five models of one release as tests use them, rows that want to break them; the sums that a fit reads."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.learning import (
    CategoricalNB,
    DecisionTreeClassifier,
    GaussianNB,
    NearestCentroid,
    RandomForestClassifier,
)
from discreet.learning.exact import FitRows
from discreet.privacy import Relation

FEATURES = 3
OWN: dict[type[Any], dict[str, Any]] = {
    CategoricalNB: {"bins": [2, 5, 7]},
    GaussianNB: {},
    NearestCentroid: {},
    DecisionTreeClassifier: {"max_depth": 3},
    RandomForestClassifier: {"max_depth": 2, "n_estimators": 5},
}
EVERY = list(OWN)
PURE = [CategoricalNB, DecisionTreeClassifier, RandomForestClassifier]
CELLS = (
    *(0.0, -0.0, 1.0, -1.0, 0.2, 0.4, 0.6000000000000001, 1 / 3, 2 / 7, 0.5, -0.5, 0.25, 0.9999999999999999, 1e-320),
    *(5e-324, 1e308, -1e308, np.inf, -np.inf, np.nan, 2.0**-60, 1 + 2.0**-52, -1 - 2.0**-52, 0.1 + 0.2, 3.0),
)
LABELS = ("a", "b", "c", "z", "")  # the last two are not declared


def made(kind: type[Any], **stated: Any) -> Any:
    """Return a model with everything stated; `stated` changes some of it."""
    usual = {"relation": Relation.ADD_REMOVE, "people": 100, "bounds": (-1, [1, 1, 2]), "classes": ["a", "b", "c"]}
    price = {} if {"epsilon", "rho", "mu"} & set(stated) else {"epsilon": 1, "delta": 1e-6}
    return kind(**{**usual, **OWN[kind], **price, **stated})


def sums_of(model: Any, rows: NDArray[np.float64], labels: list[str]) -> list[int]:
    """Return the exact sums that a fit reads of rows, as integers."""
    public = model._public(rows.shape[1])
    sums = model._sums(public, FitRows(rows, codes=public.classes.codes(labels)))
    assert sums.dtype == np.int64
    assert sums.shape == model._shape(public)
    return [int(one) for one in sums.ravel()]


def hostile(random: np.random.Generator, count: int) -> tuple[NDArray[np.float64], list[str]]:
    """Return rows of cells at edges, beyond bounds, tiny, huge or missing, half of them plain."""
    plain = random.uniform(-1.2, 2.2, size=(count, FEATURES))
    odd = random.choice(np.array(CELLS), size=(count, FEATURES))
    rows = np.where(random.random((count, FEATURES)) < 0.5, plain, odd)
    return rows, [LABELS[place] for place in random.integers(0, len(LABELS), count)]
