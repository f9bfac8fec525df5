"""Every estimator of the room, ready to be fitted: one table, so that a new estimator meets every check at once."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from discreet import learning
from discreet.learning.base import PrivateClassifier, PrivateEstimator, PrivateRegressor
from discreet.privacy import Relation

EXPORTED = {name: getattr(learning, name) for name in learning.__all__}
SCIKIT: dict[str, Any] = {
    name: kind
    for name, kind in EXPORTED.items()
    if inspect.isclass(kind)
    and issubclass(kind, BaseEstimator)
    and kind not in (learning.Pipeline, learning.PrivateSearch)
}
PRIVATE: dict[str, type[PrivateEstimator]] = {
    name: kind for name, kind in SCIKIT.items() if issubclass(kind, PrivateEstimator)
}
CLASSIFIERS = [name for name, kind in PRIVATE.items() if issubclass(kind, PrivateClassifier)]
REGRESSIONS = [name for name, kind in PRIVATE.items() if issubclass(kind, PrivateRegressor)]

STATED: dict[str, Any] = {
    "epsilon": 1,
    "delta": 1e-6,
    "relation": Relation.ADD_REMOVE,
    "people": 100,
    "bounds": (-10.0, 10.0),
    "classes": [0, 1, 2],
    "target_bounds": (-10.0, 10.0),
}
# What one estimator needs beyond that, or what keeps it quick.
ITS_OWN: dict[str, dict[str, Any]] = {
    "CategoricalNB": {"bins": 8},
    "DecisionTreeClassifier": {"max_depth": 7},
    "KMeans": {"n_clusters": 3},
}


def configured(name: str, **changes: Any) -> Any:
    """Return an estimator with everything stated that it must be told."""
    kind = SCIKIT[name]
    stated = {**STATED, **ITS_OWN.get(name, {})}
    known = {one.name for one in fields(kind)} if hasattr(kind, "__dataclass_fields__") else set(kind().get_params())
    return kind(**{key: value for key, value in {**stated, **changes}.items() if key in known})


def labels(name: str, rows: int, random: np.random.Generator) -> NDArray[Any] | None:
    """Return labels, or numbers to be predicted, for an estimator that needs them."""
    if name in CLASSIFIERS:
        return random.integers(0, 3, rows)
    return random.normal(size=rows) if name in REGRESSIONS else None
