"""Draw how private models get better with epsilon, on the digits that scikit-learn ships."""

from __future__ import annotations

from typing import Any

from discreet.display.plots import Plot
from discreet.learning import LogisticRegression, NearestCentroid, RandomForestClassifier, score_curve
from discreet.privacy import Relation

EPSILONS, REPEATS = (0.1, 0.3, 1.0, 3.0, 10.0), 10


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
