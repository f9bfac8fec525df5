"""Whatever is handed to the room, it answers, or refuses in a sentence: nothing else is raised."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet import bayes
from discreet.bayes.base import HalfNormal, LogNormal, Normal
from discreet.bayes.evidence import distinct_measurements, latent_counts, noisy_counts
from discreet.bayes.one_draw import PosteriorDraw
from discreet.bayes.referee import BernoulliRecords, CategoricalRecords, DataAugmentation, NormalRecords
from discreet.errors import DiscreetError, SenselessParameter
from discreet.laws import DiscreteLaplace
from discreet.statistics.measurement import ROWS, Counts, MeasurementPlan, Source, by_hand
from discreet.testing.hostile import HOSTILE_VALUES

NOISE = DiscreteLaplace(2)
RELEASED = noisy_counts(3, noise=NOISE)
ONES = DataAugmentation(BernoulliRecords(1, 1), people=4, chains=4, most_sweeps=2000)
MORE: tuple[Any, ...] = (
    np.nan,
    1e-320,
    10**5000,
    "\x00",
    "\u202egroup",
    "e\u0301",
    range(3),
    range(5, 2),
    {"a"},
    [[]],
    [None],
    (1, 2),
    Exception,
)


def draw(**stated: Any) -> PosteriorDraw:
    given = {"clip": 0.1, "count": 3, "epsilon": 1, "relation": dp.Relation.ADD_REMOVE, **stated}
    return PosteriorDraw.of_frequency(**given)


def general(**stated: Any) -> PosteriorDraw:
    given = {
        "parameters": [0.2, 0.8], "log_likelihood": lambda p, x: x * np.log(p), "bounds": (-3, 0), "examples": [1],
        "relation": dp.Relation.ADD_REMOVE, "epsilon": 1, **stated,
    }  # fmt: skip
    return PosteriorDraw(**given)


def plan(**stated: Any) -> MeasurementPlan:
    given = {
        "name": "n",
        "key_names": ("k",),
        "keys": (("a",),),
        "adds_up": Counts(ROWS),
        "noise": NOISE,
        "source": Source(keys=("k",)),
        **stated,
    }
    return MeasurementPlan(**given)


ASKED: dict[str, Callable[[Any], object]] = {
    "released": lambda value: bayes.posterior(value, ONES, seed=1),
    "released, in a list": lambda value: distinct_measurements([RELEASED, value]),
    "model": lambda value: bayes.posterior(RELEASED, value, seed=1),
    "seed": lambda value: bayes.posterior(RELEASED, ONES, seed=value),
    "progress": lambda value: bayes.posterior(RELEASED, ONES, seed=1, progress=value) if not callable(value) else None,
    "counts": lambda value: noisy_counts(value, noise=NOISE),
    "a count": lambda value: noisy_counts({"a": value}, noise=NOISE),
    "noise": lambda value: noisy_counts(3, noise=value),
    "key": lambda value: noisy_counts({"a": 3}, noise=NOISE, key=value),
    "a normal prior": lambda value: Normal(value, 1),
    "a deviation": lambda value: Normal(0, value),
    "a half-normal prior": HalfNormal,
    "a log-normal prior": lambda value: LogNormal(value, 1),
    "records": lambda value: DataAugmentation(value, people=4),
    "people": lambda value: DataAugmentation(BernoulliRecords(1, 1), people=value),
    "chains": lambda value: DataAugmentation(BernoulliRecords(1, 1), people=4, chains=value),
    "sweeps": lambda value: DataAugmentation(BernoulliRecords(1, 1), people=4, most_sweeps=value),
    "a": lambda value: BernoulliRecords(value, 1),
    "key_names": lambda value: CategoricalRecords(value, (("a",), ("b",)), (1, 1)),
    "cells": lambda value: CategoricalRecords(("k",), value, (1, 1)),
    "a cell": lambda value: CategoricalRecords(("k",), (("a",), value), (1, 1)),
    "prior": lambda value: CategoricalRecords(("k",), (("a",), ("b",)), value),
    "a weight": lambda value: CategoricalRecords(("k",), (("a",), ("b",)), (1, value)),
    "mean": lambda value: NormalRecords(value, HalfNormal(1)),
    "deviation": lambda value: NormalRecords(Normal(0, 1), value),
    "clip": lambda value: draw(clip=value),
    "count": lambda value: draw(count=value) if not isinstance(value, int) or value < 1000 else None,
    "epsilon": lambda value: draw(epsilon=value),
    "tempering": lambda value: draw(epsilon=None, tempering=value),
    "beta": lambda value: draw(prior=value),
    "relation": lambda value: draw(relation=value),
    "bounds": lambda value: general(bounds=value),
    "an end": lambda value: general(bounds=(value, 0)),
    "examples": lambda value: general(examples=value),
    "an example": lambda value: general(examples=[value]),
    "parameters": lambda value: general(parameters=value),
    "likelihood": lambda value: general(log_likelihood=value),
    "weights": lambda value: general(prior=value),
    "rows of a draw": draw(),
    "a row of a draw": lambda value: draw()([value, 1]),
    "groups of a plan": lambda value: plan(keys=value),
    "a group of a plan": lambda value: plan(keys=(value,)),
    "a key of a plan": lambda value: latent_counts([plan(keys=((value,), ("x",))).measured([[1, 2]], by_hand(), None)]),
    "integers": lambda value: plan().measured(value, by_hand(), None),
    "integers of an entry": lambda value: plan().measured([value], by_hand(), None),
    "an integer": lambda value: plan().measured([[value]], by_hand(), None),
}  # fmt: skip


def told(action: Callable[[], object]) -> str:
    """What went wrong other than an answer or a sentence; empty where nothing did."""
    try:
        action()
    except SenselessParameter:  # a warning, and warnings are errors here
        return ""
    except DiscreetError as error:
        if error.__cause__ is not None or (error.__context__ is not None and not error.__suppress_context__):
            return f"an error is chained to {type(error.__context__).__name__}"
        return "" if len(str(error)) > 20 else f"it says only {error}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:80]}"
    return ""


@pytest.mark.parametrize("name", ASKED)
def test_a_hostile_argument_gets_an_answer_or_a_sentence(name: str) -> None:
    wrong = {}
    for place, value in enumerate((*HOSTILE_VALUES, *MORE)):
        if found := told(partial(ASKED[name], value)):
            wrong[f"{place}: {type(value).__name__} {str(value)[:20] if not isinstance(value, int) else ''}"] = found
    assert wrong == {}
