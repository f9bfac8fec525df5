"""The diffprivlib side of the learning benchmark, run in diffprivlib's own environment: all of it is pure epsilon.

Features of its linear models lie in [-1, 1] by the public bounds, and on Adult are one-hot; the norm of a row is the
largest possible one. Its trees and its naive Bayes read features as they are. Every fit gets copies: its PCA overwrites
what it is given.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
from diffprivlib import models  # type: ignore[import-not-found]
from numpy.typing import NDArray

from benchmarks.learning.data import ADULT_SIZES, Floats, Split, one_hot
from benchmarks.learning.side import CLUSTERS, COMPONENTS, Model, Request, serve


def _linear(request: Request, rows: Floats) -> Floats:
    """Return what a linear model reads."""
    return one_hot(rows, ADULT_SIZES) if request.table == "Adult" else request.data.unit(rows)


def logistic(regularization: float) -> Model:
    """Return logistic regression with an inverse weight of the penalty."""

    def model(request: Request, split: Split) -> NDArray[Any]:
        rows = _linear(request, split.rows)
        columns = split.rows.shape[1]  # a row of ones and zeros has as many ones as Adult has columns
        given = {"epsilon": request.epsilon, "data_norm": float(np.sqrt(columns)), "C": regularization}
        fitted = models.LogisticRegression(**given).fit(rows, split.labels)
        return np.asarray(fitted.predict(_linear(request, split.held_rows)))

    return model


def naive_bayes(request: Request, split: Split) -> NDArray[Any]:
    """Gaussian naive Bayes."""
    fitted = models.GaussianNB(epsilon=request.epsilon, bounds=request.data.bounds)
    return np.asarray(fitted.fit(split.rows.copy(), split.labels).predict(split.held_rows))


def forest(request: Request, split: Split) -> NDArray[Any]:
    """Ten trees of depth five, as it comes."""
    given = {"epsilon": request.epsilon, "bounds": request.data.bounds, "classes": list(request.data.classes)}
    fitted = models.RandomForestClassifier(n_estimators=10, max_depth=5, **given)
    return np.asarray(fitted.fit(split.rows.copy(), split.labels).predict(split.held_rows))


def tree(request: Request, split: Split) -> NDArray[Any]:
    """One tree of depth five."""
    given = {"epsilon": request.epsilon, "bounds": request.data.bounds, "classes": list(request.data.classes)}
    fitted = models.DecisionTreeClassifier(max_depth=5, **given)
    return np.asarray(fitted.fit(split.rows.copy(), split.labels).predict(split.held_rows))


def regression(request: Request, split: Split) -> NDArray[Any]:
    """Linear regression from noisy moments; answers are cut to the public bounds, which is free."""
    data = request.data
    given = {"epsilon": request.epsilon, "bounds_X": (-1.0, 1.0), "bounds_y": data.target_bounds}
    fitted = models.LinearRegression(**given).fit(data.unit(split.rows), split.labels.astype(np.float64))
    return np.clip(np.asarray(fitted.predict(data.unit(split.held_rows))), *data.target_bounds)


def clusters(request: Request, split: Split) -> NDArray[Any]:
    """Noisy Lloyd steps."""
    fitted = models.KMeans(n_clusters=CLUSTERS, epsilon=request.epsilon, bounds=request.data.bounds)
    return np.asarray(fitted.fit(split.rows.copy()).predict(split.held_rows))


def components(request: Request, split: Split) -> NDArray[Any]:
    """Components of a noisy covariance."""
    columns = split.rows.shape[1]
    given = {"epsilon": request.epsilon, "bounds": (-1.0, 1.0), "data_norm": float(np.sqrt(columns))}
    fitted = models.PCA(n_components=COMPONENTS, **given).fit(request.data.unit(split.rows))
    return np.asarray(fitted.components_)


MODELS = {
    "LogisticRegression": logistic(1.0),
    "LogisticRegression, C 0.01": logistic(0.01),
    "GaussianNB": naive_bayes,
    "RandomForestClassifier": forest,
    "DecisionTreeClassifier": tree,
    "LinearRegression": regression,
    "KMeans": clusters,
    "PCA": components,
}

if __name__ == "__main__":
    serve(version("diffprivlib"), MODELS)
