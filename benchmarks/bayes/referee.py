"""Exact posteriors beside data augmentation, which draws the records themselves; and one posterior draw, audited."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import discreet as dp
from benchmarks.common.bars import Bar
from discreet.bayes import (
    BernoulliRecords,
    BetaBinomial,
    CategoricalRecords,
    DataAugmentation,
    DirichletMultinomial,
    Model,
    PosteriorDraw,
    noisy_counts,
    posterior,
)
from discreet.bayes.base.diagnostics import LEAST_EFFECTIVE, bulk
from discreet.laws import DiscreteLaplace
from discreet.privacy import Relation

LEVELS = (0.025, 0.25, 0.5, 0.75, 0.975)
DRAWS = 40_000


def rows() -> Iterator[Bar]:
    """Return how far the two are apart in standard errors, and what an effective draw of each costs."""
    for people, epsilon in ((30, 1.0), (100, 1.0), (100, 0.1)):
        noise = DiscreteLaplace(round(1 / epsilon))
        one = noisy_counts(round(0.3 * people), noise=noise)
        augmented: Model = DataAugmentation(BernoulliRecords(1, 1), people=people)
        yield from _compared(
            f"one count, n {people}, epsilon {epsilon:g}", one, BetaBinomial(1, 1, people=people), augmented
        )
        cells = {"a": round(0.3 * people), "b": round(0.5 * people), "c": round(0.2 * people)}
        three = noisy_counts(cells, noise=noise)
        records = CategoricalRecords(("group",), tuple((key,) for key in cells), (1, 1, 1))
        augmented = DataAugmentation(records, people=people)
        yield from _compared(
            f"three cells, n {people}, epsilon {epsilon:g}", three, DirichletMultinomial(1, people=people), augmented
        )
    cells = {"a": 18, "b": 30, "c": 12}
    records = CategoricalRecords(("group",), tuple((key,) for key in cells), (1, 1, 1))
    yield from _compared(  # of all numbers up to 160 that are as likely, those beyond 110 have no chance
        "three cells, n unknown, epsilon 1",
        noisy_counts(cells, noise=DiscreteLaplace(1)),
        DirichletMultinomial(1, people=None),
        DataAugmentation(records, people=range(161)),
    )


def _compared(what: str, released: Any, exact: Model, augmented: Model) -> Iterator[Bar]:
    posterior(released, exact, seed=1).drawn(1, DRAWS)  # type: ignore[operator]  modules are loaded, tables made
    began = time.process_time()
    known = posterior(released, exact, seed=1)
    own = known.drawn(1, DRAWS)[known.parameters[0].name].reshape(DRAWS, -1)  # type: ignore[operator]
    cost = (time.process_time() - began) / DRAWS
    began = time.process_time()
    found = posterior(released, augmented, seed=2)
    spent = time.process_time() - began
    theirs = np.asarray(found.draws[found.parameters[0].name])
    theirs = theirs.reshape(*theirs.shape[:2], -1)
    farthest, least = 0.0, np.inf
    for place in range(own.shape[1]):
        least = min(least, float(np.min(bulk(theirs[..., place]))))
        for level in LEVELS:
            end = np.quantile(own[:, place], level)
            below = (theirs[..., place] <= end).astype(np.float64)
            effective = 1 / (1 / float(np.min(bulk(below))) + 1 / DRAWS)
            farthest = max(farthest, abs(float(below.mean()) - level) / np.sqrt(level * (1 - level) / effective))
    words, enough = f"{farthest:.2f} se, {least:,.0f} effective draws", least >= LEAST_EFFECTIVE
    yield Bar(f"{what}: quantiles apart", words, "<= 4 se" if enough else "", farthest <= 4 if enough else None)
    ratio = spent / least / cost
    yield Bar(f"{what}: cost of an effective draw, referee / exact", f"{ratio:,.0f}", ">= 50", ratio >= 50)


def one_draw() -> Iterator[Bar]:
    """Return the largest loss that the exact auditor finds for one draw, tempering 1, beside the bound."""
    for relation, times in ((Relation.ADD_REMOVE, 1), (Relation.CHANGE_ONE, 2)):
        draw = PosteriorDraw.of_frequency(clip=0.01, count=11, tempering=1, relation=relation)
        bound = float(times * np.log(99.0))
        found = float(dp.audit(draw).low)
        met = 0.98 * bound <= found <= bound * (1 + 1e-9)
        yield Bar(
            f"one draw, clip .01, {relation.name}: worst loss",
            f"{found:.4f} of {bound:.4f}",
            "within 2 %, not above",
            met,
        )
