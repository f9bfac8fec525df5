"""Models of noisy sums: a normal mean and deviation from clipped values, and linear regression from a Gram matrix."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from benchmarks.bayes.covered import coverage_bar, mass_bar, within
from benchmarks.common.bars import Bar
from discreet.bayes import LinearModel, LogNormal, Normal, NormalModel, calibration
from discreet.bayes.sums.power_sums import PowerSumLikelihood
from discreet.privacy import Relation
from discreet.statistics import Covariance, Variance

RUNS = 1000


class Unclipped(NormalModel):
    """The same model with the moments of a normal law that nobody clipped: to show what that does."""

    def _likelihood(self, likelihood: PowerSumLikelihood) -> PowerSumLikelihood:
        return replace(likelihood, clipped=False)


def normal() -> Iterator[Bar]:
    """Return lines for mean and deviation, n unknown, three sums, both noises at epsilon 1."""
    for place, (kind, people) in enumerate(
        (kind, people) for kind in ("Gaussian", "Laplace") for people in (200, 1000)
    ):
        price: dict[str, Any] = {"rho": 0.5} if kind == "Gaussian" else {"epsilon": 1}
        plans = Variance(bounds=(0, 100), relation=Relation.ADD_REMOVE, **price).plans()
        model = NormalModel(mean=Normal(50, 20), deviation=LogNormal(20, 0.5), people=LogNormal(people, 0.4))
        began = time.process_time()
        found = calibration(model, plans, reps=RUNS, seed=20 + place)
        spent = (time.process_time() - began) / RUNS
        what = f"{kind} noise, n about {people:,}"
        for name in ("mean", "deviation"):
            yield coverage_bar(what, found, name, tolerance=within(RUNS))
        yield mass_bar(what, found, "people")
        yield Bar(f"{what}: time of a run", f"{spent:.2f} s CPU")


def unclipped() -> Iterator[Bar]:
    """Return what a model covers that does not know of the clipping: its people are clipped all the same."""
    plans = Variance(bounds=(0, 100), relation=Relation.ADD_REMOVE, rho=0.5).plans()
    stated: dict[str, Any] = {"mean": Normal(50, 20), "deviation": LogNormal(20, 0.5), "people": LogNormal(1000, 0.4)}
    found = calibration(Unclipped(**stated), plans, reps=300, seed=30)
    for name in ("mean", "deviation"):
        covered = found.coverage(name)
        words = f"{covered.value:.3f} (se {covered.error:.3f}, 300 runs)"
        yield Bar(
            f"unclipped model, Gaussian noise, n about 1,000: {name}", words, "fails: below .9", covered.value < 0.9
        )


def linear() -> Iterator[Bar]:
    """Return lines for a regression on two predictors, unknown intercept, slopes, spread and law of the predictors."""
    for place, (people, rho) in enumerate(((1000, None), (100, None))):
        yield from _linear(people, rho, 40 + place)


def _linear(people: int, rho: float | None, seed: int) -> Iterator[Bar]:
    half = 6.0
    statistic = Covariance(
        bounds=[(-1, 1), (-half, half), (-half, half), (-4 * half, 4 * half)],
        relation=Relation.ADD_REMOVE,
        rho=22.4 if rho is None else rho,
    )
    plans = statistic.plans(column="one,x0,x1,y")
    model = LinearModel(
        outcome="y", constant="one", coefficients=Normal(0, 1), intercept=Normal(0, 1), deviation=LogNormal(1, 0.4),
        means=Normal(0, 0.5), deviations=LogNormal(1, 0.15), people=people,
    )  # fmt: skip
    noise = float(plans[0].noise.scale) / 10 / 2.0**76 * half**2
    began = time.process_time()
    found = calibration(model, plans, reps=RUNS, seed=seed)
    spent = (time.process_time() - began) / RUNS
    what = f"n {people:,}, noise of a product of predictors {noise:.1f}"
    for one in found.parameters:
        if one.name in ("intercept", "coefficient", "deviation"):
            yield coverage_bar(what, found, one.name, tolerance=within(RUNS))
    yield Bar(f"{what}: time of a run", f"{spent:.2f} s CPU")
