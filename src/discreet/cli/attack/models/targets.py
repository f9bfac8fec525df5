"""The models that are attacked: scikit-learn's, and discreet's at a stated price."""

from __future__ import annotations

import warnings
from typing import Any

import click

from discreet._optional import optional
from discreet.cli import options
from discreet.cli.options import Decorator
from discreet.privacy import Relation


def delta() -> Decorator:
    """Return the option that states the delta beside epsilon."""
    return options.stated("--delta", click.FloatRange(1e-12, 0.01), 1e-5, "The delta that goes with it.")


def plain_doses() -> Any:
    """Return scikit-learn's linear regression."""
    return _models("linear_model").LinearRegression()


def doses(epsilon: float, delta: float, people: int) -> Any:
    """Return discreet's linear regression for doses."""
    _models("base")
    from discreet.learning import LinearRegression

    return LinearRegression(
        epsilon=epsilon, delta=delta, relation=Relation.ADD_REMOVE, people=people, bounds=(0, 1), target_bounds=(-3, 3)
    )


def forest(rows: Any, labels: Any) -> Any:
    """Train scikit-learn's forest of ten trees."""
    return _models("ensemble").RandomForestClassifier(10, random_state=0).fit(rows, labels)


def unregularized(rows: Any, labels: Any) -> Any:
    """Train scikit-learn's logistic regression without a penalty worth its name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says that it has not converged where the classes can be told apart
        return _models("linear_model").LogisticRegression(C=1e9, max_iter=500).fit(rows, labels)


def labels(epsilon: float, delta: float, people: int) -> Any:
    """Return discreet's logistic regression for labels."""
    _models("base")
    from discreet.learning import LogisticRegression

    return LogisticRegression(
        epsilon=epsilon, delta=delta, relation=Relation.ADD_REMOVE, people=people, bounds=(-3, 3), classes=[0, 1]
    )


def _models(part: str) -> Any:
    """Return a part of scikit-learn, or say what to install."""
    return optional(f"sklearn.{part}", extra="learn", purpose="attacks on models")
