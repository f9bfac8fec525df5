"""Our side of the learning benchmark, and the models without privacy; a model that does not exist yet is left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import discreet as dp
from benchmarks.learning.data import ADULT_SIZES, Split, one_hot
from benchmarks.learning.side import CLUSTERS, COMPONENTS, DELTA, Model, Request
from discreet import learning

WAVES = {"n_components": 400, "gamma": 0.5}


def stated(request: Request) -> dict[str, Any]:
    """Return price, relation, people and bounds."""
    return {
        "epsilon": request.epsilon,
        "delta": DELTA,
        "relation": dp.Relation.ADD_REMOVE,
        "people": request.data.people,
        "bounds": request.data.bounds,
    }


def _of(name: str) -> Any:
    """Return an estimator by its name."""
    return getattr(learning, name)


def classifier(name: str, **options: Any) -> Model:
    """Return one of our classifiers as a model of this side."""

    def model(request: Request, split: Split) -> NDArray[Any]:
        fitted = _of(name)(**stated(request), classes=request.data.classes, **options).fit(split.rows, split.labels)
        return np.asarray(fitted.predict(split.held_rows))

    return model


def trees(name: str) -> Model:
    """Return a classifier whose splits are drawn from a public seed, another one for each split of the table."""

    def model(request: Request, split: Split) -> NDArray[Any]:
        return classifier(name, seed=split.seed)(request, split)

    return model


def regressor(name: str, **options: Any) -> Model:
    """Return one of our regressions as a model of this side."""

    def model(request: Request, split: Split) -> NDArray[Any]:
        target = request.data.target_bounds
        fitted = _of(name)(**stated(request), target_bounds=target, **options).fit(split.rows, split.labels)
        return np.clip(np.asarray(fitted.predict(split.held_rows)), *target)

    return model


def mapped(request: Request, split: Split) -> NDArray[Any]:
    """Logistic regression on 400 Fourier features, drawn from a public seed: another one for each split."""
    from sklearn.pipeline import make_pipeline

    maps = _of("FourierFeatures")(**WAVES, bounds=request.data.bounds, seed=1 + split.seed)
    price = stated(request) | {"bounds": (-1.0, 1.0)}
    model = _of("LogisticRegression")(**price, classes=request.data.classes)
    return np.asarray(make_pipeline(maps, model).fit(split.rows, split.labels).predict(split.held_rows))


def in_sql(request: Request, split: Split) -> NDArray[Any]:
    """Naive Bayes of codes, from counts that DuckDB adds up in one SELECT of a session."""
    names = [f"c{place}" for place in range(len(ADULT_SIZES))]
    frame = pd.DataFrame(split.rows.astype(np.int64), columns=names).assign(label=split.labels)
    codes = {
        name: {"type": "integer", "min": 0, "max": size - 1} for name, size in zip(names, ADULT_SIZES, strict=True)
    }
    columns = codes | {"label": {"values": list(request.data.classes)}}
    price = {"epsilon": request.epsilon, "delta": DELTA}
    budget = dp.GaussianDP(10)
    with dp.Session.from_frames(people=frame, unit="row", budget=budget, columns=columns) as session:
        model = _of("CategoricalNB")(people=request.data.people, bins=ADULT_SIZES)
        fitted = model.fit_session(session, "people", names, "label", **price)
    return np.asarray(fitted.predict(pd.DataFrame(split.held_rows.astype(np.int64), columns=names)))


def components(request: Request, split: Split) -> NDArray[Any]:
    """PCA."""
    return np.asarray(_of("PCA")(n_components=COMPONENTS, **stated(request)).fit(split.rows).components_)


def clusters(request: Request, split: Split) -> NDArray[Any]:
    """Clusters of the held-out rows."""
    return np.asarray(_of("KMeans")(n_clusters=CLUSTERS, **stated(request)).fit(split.rows).predict(split.held_rows))


MODELS: dict[str, Model] = {
    "LogisticRegression": classifier("LogisticRegression"),
    "AdditiveClassifier": classifier("AdditiveClassifier", bins=ADULT_SIZES),
    "AdditiveRegressor": regressor("AdditiveRegressor", bins=8),
    "LinearRegression": regressor("LinearRegression"),
    "Ridge": regressor("Ridge"),
    "AdaSSP": regressor("AdaSSP"),
    "GaussianNB": classifier("GaussianNB"),
    "CategoricalNB in SQL": in_sql,
    "NearestCentroid": classifier("NearestCentroid"),
    "DecisionTreeClassifier": trees("DecisionTreeClassifier"),
    "RandomForestClassifier": trees("RandomForestClassifier"),
    "LogisticRegression on FourierFeatures": mapped,
    "PCA": components,
    "KMeans": clusters,
}


def exists(name: str) -> bool:
    """Say whether the room has everything that a model of this side needs."""
    return all(hasattr(learning, part) for part in name.removesuffix(" in SQL").split(" on "))


def _plain(make: Callable[[], Any]) -> Model:
    """Return a model without privacy, of rows in [-1, 1]."""

    def model(request: Request, split: Split) -> NDArray[Any]:
        fitted = make().fit(request.data.unit(split.rows), split.labels)
        held = request.data.unit(split.held_rows)
        return np.asarray(fitted.components_ if request.score == "variance" else fitted.predict(held))

    return model


def _plain_additive(_: Request, split: Split) -> NDArray[Any]:
    """Logistic regression on the same bins."""
    from sklearn.linear_model import LogisticRegression

    fitted = LogisticRegression(C=10.0, max_iter=500).fit(one_hot(split.rows, ADULT_SIZES), split.labels)
    return np.asarray(fitted.predict(one_hot(split.held_rows, ADULT_SIZES)))


def _plain_logistic() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=10.0, max_iter=2000)


def _plain_mapped() -> Any:
    from sklearn.pipeline import make_pipeline

    maps = _of("FourierFeatures")(**WAVES, bounds=(-1.0, 1.0))
    return make_pipeline(maps, _plain_logistic())


def _plain_linear() -> Any:
    from sklearn.linear_model import LinearRegression

    return LinearRegression()


def _plain_clusters() -> Any:
    from sklearn.cluster import KMeans

    return KMeans(CLUSTERS, n_init=4)


def _plain_components() -> Any:
    from sklearn.decomposition import PCA

    return PCA(COMPONENTS)


def _plain_categories(_: Request, split: Split) -> NDArray[Any]:
    """Naive Bayes of the same codes."""
    from sklearn.naive_bayes import CategoricalNB

    fitted = CategoricalNB(min_categories=list(ADULT_SIZES)).fit(split.rows.astype(np.int64), split.labels)
    return np.asarray(fitted.predict(split.held_rows.astype(np.int64)))


PLAIN: dict[str, Model] = {
    "LogisticRegression": _plain(_plain_logistic),
    "LogisticRegression on FourierFeatures": _plain(_plain_mapped),
    "AdditiveClassifier": _plain_additive,
    "LinearRegression": _plain(_plain_linear),
    "Ridge": _plain(_plain_linear),
    "PCA": _plain(_plain_components),
    "KMeans": _plain(_plain_clusters),
    "CategoricalNB in SQL": _plain_categories,
}
