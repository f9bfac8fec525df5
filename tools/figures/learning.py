"""Draw how private models get better with epsilon, and what one of them says about a column of words."""

from __future__ import annotations

from typing import Any

from discreet.data import population, population_columns
from discreet.display.plots import Plot
from discreet.learning import (
    AdditiveClassifier,
    LogisticRegression,
    NearestCentroid,
    RandomForestClassifier,
    score_curve,
)
from discreet.privacy import GaussianDP, Relation
from discreet.query import Session

EPSILONS, REPEATS = (0.1, 0.3, 1.0, 3.0, 10.0), 10
FEATURES = [
    "age", "workclass", "education", "marital_status", "occupation", "relationship", "sex", "capital_gain", "hours",
]  # fmt: skip


def learning_digits() -> Plot:
    """Draw the accuracy of three classifiers on held-out digits against epsilon, beside one without privacy."""
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression as Plain

    images, digits = load_digits(return_X_y=True)
    stated: dict[str, Any] = {
        "delta": 1e-5, "relation": Relation.ADD_REMOVE, "people": 1250, "bounds": (0, 16), "classes": range(10),
    }  # fmt: skip
    models = {kind.__name__: kind(**stated) for kind in (LogisticRegression, NearestCentroid, RandomForestClassifier)}
    plain = Plain(C=0.001, max_iter=2000)
    curve = score_curve(models, images, digits, EPSILONS, plain=plain, repeats=REPEATS)
    return curve.plot(title="Accuracy on held-out digits, 1,257 people")


def learning_education() -> Plot:
    """Draw what the education of an invented town adds to the score of a high income, by a private additive model."""
    town = population(20_000, seed=11).to_pandas()
    with Session.from_frames(
        people=town[:14_000], unit="row", budget=GaussianDP(0.3), columns=population_columns()
    ) as session:
        model = AdditiveClassifier().fit_session(session, "people", FEATURES, "income", mu=0.3, people=14_000)
    return next(shape for shape in model.shapes() if shape.feature == "education").plot()
