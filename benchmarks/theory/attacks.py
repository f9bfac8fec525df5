"""Attacks on plain and private models: membership by shadow models, one-run audits of a training, model inversion."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import reduce
from importlib import import_module
from importlib.util import find_spec
from operator import add
from typing import Any

import numpy as np

from benchmarks.common.report import Row
from discreet import learning
from discreet.privacy import Relation

PLACE = "discreet.attacks.models"
DELTA, TRAININGS = 1e-5, 100
PRICED: dict[str, Any] = {"epsilon": 1, "delta": DELTA, "relation": Relation.ADD_REMOVE}


def rows() -> Iterator[Row]:
    """Attack where the attacks are there."""
    if find_spec(PLACE) is None:
        yield Row("attacks on models", "none yet")
        return
    models: Any = import_module(PLACE)
    yield from _membership(models)
    yield from _audits(models)
    yield from _inversions(models)


def _membership(models: Any) -> Iterator[Row]:
    """Tell members of 400 people apart."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    people = models.invented_labels(people=400, columns=40, seed=3)
    plain: dict[str, Callable[..., Any]] = {
        "forest of 10": RandomForestClassifier(10, random_state=0).fit,
        "unregularized": LogisticRegression(C=1e9, max_iter=500).fit,
    }
    for name, train in plain.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it may not converge where the classes can be told apart
            found = models.shadow_membership(train, *people, models=48, seed=1)
        yield Row(
            f"LiRA, {name}", f"AUC {found.area:.3f} ({found.area_error:.3f})", "", "", ">= 0.62", found.area >= 0.62
        )
    private = learning.LogisticRegression(**PRICED, people=200, bounds=(-3, 3), classes=[0, 1])
    mu = private.explain(1).mu
    found = models.shadow_membership(private.fit, *people, models=200, seed=1, mu=mu)
    top = float(found.ceiling.upper)
    yield Row(
        "LiRA, private, epsilon 1", f"AUC {found.area:.3f} ({found.area_error:.3f})", f"ceiling {top:.3f}", "",
        "<= ceiling + 3 se", found.area <= top + 3 * found.area_error,
    )  # fmt: skip


def _audits(models: Any) -> Iterator[Row]:
    """Bound epsilon from one training with a thousand canaries, a hundred times each."""

    def audited(training: Any, **changed: Any) -> list[Any]:
        stated: dict[str, Any] = {"canaries": 1_000, "guesses": 300, "delta": DELTA, "confidence": 0.9999, **changed}
        return [models.audit_training(training, guarantee=training.guarantee, **stated) for _ in range(TRAININGS)]

    for epsilon in (1, 4, 10):
        training = models.DescentTraining(epsilon=epsilon, delta=DELTA, people=1_000)
        lows = [found.low for found in audited(training)]
        yield Row(
            f"one-run audit, epsilon {epsilon}, confidence 0.9999", f"bounds {np.mean(lows):.2f} on average, at most "
            f"{max(lows):.2f}", f"{TRAININGS} trainings", "", f"<= {epsilon}", max(lows) <= epsilon,
        )  # fmt: skip
    twin = models.RepeatedRows(models.DescentTraining(epsilon=4, delta=DELTA, people=1_000), times=2)
    for confidence, held in ((0.9999, True), (0.95, False)):  # a bar counts at the confidence that all audits have
        reached = float(np.mean([found.low for found in audited(training, confidence=confidence)]))
        what = f"one-run audit, epsilon 10, confidence {confidence}: how much is proven"
        bar = (">= 2.8", reached >= 2.8) if held else ()
        yield Row(what, f"{reached:.2f} on average", f"{TRAININGS} trainings", "", *bar)
        refuted = sum(found.refuted for found in audited(twin, guesses=250, confidence=confidence))
        what = f"canaries let through twice, epsilon 4, confidence {confidence}"
        bar = (">= 90", refuted >= 90) if held else ()
        yield Row(what, f"refuted in {refuted} of {TRAININGS}", "", "", *bar)


def _inversions(models: Any) -> Iterator[Row]:
    """Guess a bit of members and of outsiders, 60 people with 50 columns."""
    from sklearn.linear_model import LinearRegression

    def attacked(make: Callable[[], Any], rounds: int, loss: Any = None) -> Any:
        found = []
        for seed in range(rounds):
            members, outsiders = models.invented_doses(people=60, columns=50, seed=seed)
            found.append(models.inversion(make().fit(*members), members, outsiders, secret=0, loss=loss))
        return reduce(add, found)

    def private() -> Any:
        return learning.LinearRegression(**PRICED, people=60, bounds=(0, 1), target_bounds=(-3, 3))

    plain = attacked(LinearRegression, 200)
    said = f"member {plain.member_rate:.3f}, outsider {plain.outsider_rate:.3f}"
    yield Row("inversion, plain", said, "", "", ">= 0.2 apart", plain.gap >= 0.2)
    loss = private().fit(*models.invented_doses(people=60, columns=50, seed=0)[0]).loss_
    found = attacked(private, 400, loss)
    said = f"member {found.member_rate:.3f}, outsider {found.outsider_rate:.3f}; apart by {found.gap:.3f}"
    yield Row("inversion, private, epsilon 1", said, f"ceiling {found.ceiling:.3f}", "", "<= 0.05 and the ceiling",
              found.gap <= min(0.05, found.ceiling))  # fmt: skip
