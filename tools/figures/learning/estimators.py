"""Draw private learning: models that get better with epsilon, what one says, gaps and bounds, a reusable holdout."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.theory.generalization import LEARNERS, measured
from benchmarks.theory.holdout import one_run
from discreet.data import population, population_columns
from discreet.display.plots import BLUE, GREEN, ORANGE, SOFT, Plot
from discreet.learning import (
    AdditiveClassifier,
    LogisticRegression,
    NearestCentroid,
    RandomForestClassifier,
    generalization_gap,
    score_curve,
)
from discreet.privacy import GaussianDP, Relation
from discreet.query import Session
from tools.figures.panels import finished, logarithmic, side_by_side

EPSILONS, REPEATS = (0.1, 0.3, 1.0, 3.0, 10.0), 10
FEATURES = [
    "age", "workclass", "education", "marital_status", "occupation", "relationship", "sex", "capital_gain", "hours",
]  # fmt: skip
LEVELS, PEOPLE = (0.1, 0.2, 0.5, 1.0, 2.0, 4.0), 100
PICKED, RUNS = (50, 100, 200, 350, 500), 10


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


def learning_generalization() -> Plot:
    """Draw the gap of two learners on labels that nothing predicts against epsilon, below both bounds."""
    panels = side_by_side(
        f"Better on the rows than on new people: {PEOPLE} rows, random labels",
        left=("epsilon: one of 1,024 hypotheses", "gap"),
        right=("epsilon, delta 0.00001: logistic regression", ""),
    )
    for panel, learner in zip(panels, list(LEARNERS)[::2], strict=True):
        fit, tables, delta = LEARNERS[learner]
        found = [measured(fit, PEOPLE, level, tables) for level in LEVELS]
        bounds = [generalization_gap(loss, delta=delta) for _, _, loss in found]
        useful = np.linspace(LEVELS[0], np.log(2), 30)  # beyond, the textbook says nothing
        panel.plot(
            useful, np.expm1(useful) + delta, ":", color=SOFT, linewidth=2.2, label="bound e^epsilon - 1 + delta"
        )
        panel.plot(LEVELS, [one.bound for one in bounds], "--", color=ORANGE, linewidth=2.2, label="bound delta(0)")
        gaps, errors = [gap for gap, _, _ in found], [2 * error for _, error, _ in found]
        panel.errorbar(LEVELS, gaps, errors, fmt="o-", color=BLUE, linewidth=2.2, label="measured, 2 standard errors")
        panel.set_ylim(-0.03, 1.45)
        logarithmic(panel, x=(0.1, 0.3, 1, 3))
    return finished(*panels, corner="upper left")


def learning_holdout() -> Plot:
    """Draw what a plain holdout and ours say of voting features without any relation to the label, beside the truth."""
    price: dict[str, Any] = {"threshold": 0.1, "hits": len(PICKED), "epsilon": 2, "delta": 1e-6}
    runs = [one_run(seed, PICKED, price=price) for seed in range(RUNS)]
    panels = side_by_side(
        "Features picked by a holdout: 10,000 people, 10,000 features",
        left=("features picked", "accuracy"),
        right=("features picked", ""),
    )
    for panel, name, said in zip(panels, ("plain", "ours"), ("plain holdout", "ours, epsilon 2"), strict=True):
        lines = {name: (ORANGE if name == "plain" else BLUE, "o-", said), f"{name} fresh": (GREEN, "s--", "new people")}
        if name == "ours":
            lines["training"] = (SOFT, "^:", "training rows")
        for key, (color, style, label) in lines.items():
            values = np.array([run[key] for run in runs])
            spread = values.std(axis=0, ddof=1)
            panel.errorbar(PICKED, values.mean(axis=0), spread, fmt=style, color=color, linewidth=2.2, label=label)
        panel.set_ylim(0.46, 0.78)
    return finished(*panels, corner="upper left")
