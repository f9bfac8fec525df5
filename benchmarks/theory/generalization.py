"""The gap between scores on rows and on new people, measured where it is largest: labels that nothing can predict.

Labels are fair coins, so that every hypothesis is right about a new person with probability 1/2 exactly. The gap of a
table is the frequency of right labels, less 1/2; for the finite class it is the exact mean over the law of what is
chosen, for the others it is that of one fit. Whatever a learner gets right beyond a half, it has from the rows alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

from benchmarks.common.report import Row
from discreet import learning
from discreet.learning.generalization import GeneralizationGap
from discreet.privacy import PrivacyLoss, PureDP, Relation

ONE = Relation.CHANGE_ONE
EPSILONS, PEOPLE, DELTA = (0.1, 0.5, 1.0, 3.0), (10, 100, 1_000), 1e-5
FEATURES, HYPOTHESES = 20, 1_024
Learned = tuple[float, PrivacyLoss]


def finite_class(draw: np.random.Generator, people: int, epsilon: float) -> Learned:
    """Return the exact mean gap of the exponential mechanism over random hypotheses, on one table."""
    right = np.asarray(draw.binomial(people, 0.5, HYPOTHESES), dtype=np.float64)  # of independent hypotheses
    weights = np.exp((right - right.max()) * epsilon / 2)
    return float(weights @ right / weights.sum() / people - 0.5), PureDP(epsilon, relation=ONE).loss


def threshold(draw: np.random.Generator, people: int, epsilon: float) -> Learned:
    """Return the gap of one threshold, on one table."""
    rows, labels = draw.integers(0, 2**32, (people, 1)), draw.integers(0, 2, people)
    learner = learning.StumpLearner(1, bounds=(0, 2**32 - 1), epsilon=epsilon, relation=ONE)
    return float(np.mean(learner((rows, labels))(rows) == labels)) - 0.5, learner.loss


def logistic_regression(draw: np.random.Generator, people: int, epsilon: float) -> Learned:
    """Return the gap of one logistic regression, on one table."""
    rows, labels = draw.uniform(-1, 1, (people, FEATURES)), draw.integers(0, 2, people)
    model = learning.LogisticRegression(
        epsilon=epsilon, delta=DELTA, relation=ONE, people=people, bounds=(-1, 1), classes=[0, 1]
    )
    return float(np.mean(model.fit(rows, labels).predict(rows) == labels)) - 0.5, model.loss_


LEARNERS: dict[str, tuple[Callable[..., Learned], int, float]] = {
    "exponential mechanism, 1,024 hypotheses": (finite_class, 400, 0),
    "threshold or its opposite, 2^32 values": (threshold, 400, 0),
    f"LogisticRegression, {FEATURES} features": (logistic_regression, 400, DELTA),
}


def measured(learner: Callable[..., Learned], people: int, epsilon: float, tables: int) -> tuple[float, float, Any]:
    """Return mean gap, its standard error, and the loss of the learner."""
    draw = np.random.default_rng(round(1e6 * epsilon) + people)
    found = [learner(draw, people, epsilon) for _ in range(tables)]
    gaps = [gap for gap, _ in found]
    return float(np.mean(gaps)), float(np.std(gaps, ddof=1) / np.sqrt(tables)), found[-1][1]


def rows() -> Iterator[Row]:
    """Measure every cell of the grid."""
    for name, (learner, tables, delta) in LEARNERS.items():
        for people, epsilon in product(PEOPLE, EPSILONS):
            gap, error, loss = measured(learner, people, epsilon, tables)
            bound: GeneralizationGap = learning.generalization_gap(loss, delta=delta)
            yield Row(
                f"{name}, n {people:,}, epsilon {epsilon:g}", f"{gap:.4f} ({error:.4f}, {tables})",
                f"e^epsilon - 1 + delta {bound.textbook:.3f}", f"{gap / bound.bound:.3f}", f"<= {bound.bound:.4f}",
                gap - 4 * error <= bound.bound,
            )  # fmt: skip
