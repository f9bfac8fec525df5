"""Private models that the tests attack, all at one price."""

from __future__ import annotations

from typing import Any

from discreet.learning import LinearRegression, LogisticRegression
from discreet.privacy import Relation

DELTA = 1e-5
PEOPLE, COLUMNS = 60, 50


def doses(epsilon: float) -> LinearRegression:
    """Return an unfitted private regression for `invented_doses` of 60 people."""
    return LinearRegression(
        epsilon=epsilon,
        delta=DELTA,
        relation=Relation.ADD_REMOVE,
        people=PEOPLE,
        bounds=(0, 1),
        target_bounds=(-3, 3),
    )


def labels(epsilon: float, people: int = 200) -> LogisticRegression:
    """Return an unfitted private classifier for `invented_labels`, of which about half are members."""
    return LogisticRegression(
        epsilon=epsilon,
        delta=DELTA,
        relation=Relation.ADD_REMOVE,
        people=people,
        bounds=(-3, 3),
        classes=[0, 1],
    )


def mu(model: Any) -> float:
    """Return the mu that the price of an unfitted model buys."""
    found = model.explain(1).mu
    assert found is not None
    return float(found)
