"""A normal mean and deviation from three noisy sums of clipped values, n unknown, beside models that know less."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.bayes.covered import Timed, coverage_bar, mass_bar, within
from benchmarks.common.bars import Bar
from discreet.bayes import LogNormal, Normal, NormalModel
from discreet.bayes.sums.power_sums import PowerSumLikelihood
from discreet.bayes.sums.reading import column_sums
from discreet.privacy import Relation
from discreet.statistics import Variance
from discreet.statistics.measurement import MeasurementPlan

RUNS, NAIVE_RUNS = 1000, 4000
PRICES: tuple[tuple[str, dict[str, Any]], ...] = (("Gaussian", {"rho": 0.5}), ("Laplace", {"epsilon": 1}))


class Unclipped(NormalModel):
    """The same model with the moments of a normal law that nobody clipped: to show what that does."""

    def _likelihood(self, likelihood: PowerSumLikelihood) -> PowerSumLikelihood:
        return replace(likelihood, clipped=False)


def _stated(people: int) -> dict[str, Any]:
    return {"mean": Normal(50, 20), "deviation": LogNormal(20, 0.5), "people": LogNormal(people, 0.4)}


def _plans(price: dict[str, Any]) -> tuple[MeasurementPlan, ...]:
    return tuple(Variance(bounds=(0, 100), relation=Relation.ADD_REMOVE, **price).plans())


def gaussian() -> Iterator[Bar]:
    """Return lines for mean and deviation, n unknown, three sums, Gaussian noise at rho .5."""
    yield from _normal(*PRICES[0], people=200, seed=20)
    yield from _normal(*PRICES[0], people=1000, seed=21)


def laplace() -> Iterator[Bar]:
    """Return the same lines for Laplace noise at epsilon 1."""
    yield from _normal(*PRICES[1], people=1000, seed=23)
    yield from _normal(*PRICES[1], people=200, seed=22)


def _normal(kind: str, price: dict[str, Any], *, people: int, seed: int) -> Iterator[Bar]:
    plans = _plans(price)
    timed = Timed(NormalModel(**_stated(people)))
    found = timed.calibrated(plans, reps=RUNS, seed=seed)
    what = f"{kind} noise, n about {people:,}"
    for name in ("mean", "deviation"):
        yield coverage_bar(what, found, name, tolerance=within(RUNS))
    yield mass_bar(what, found, "people")
    yield Bar(f"{what}: naive mean", f"{_naive(timed.model, plans, 40 + seed):.3f} ({NAIVE_RUNS:,} runs)")
    yield timed.bar(what)


def _naive(model: Any, plans: tuple[MeasurementPlan, ...], seed: int) -> float:
    """Return the coverage of mean +- 1.96 deviations / root n, the noisy sums taken for the sums of whole values."""
    generator, held = np.random.default_rng(seed), []
    noise = [plan.noise.sample((NAIVE_RUNS, plan.adds_up.entries, 1)) for plan in plans]
    for run in range(NAIVE_RUNS):
        values = model.prior(plans, generator)
        exact = model.integers(values, plans, generator)
        made = [
            plan.measured((one + added[run]).tolist(), (run, place), None, rehearsed=True)
            for place, (plan, one, added) in enumerate(zip(plans, exact, noise, strict=True))
        ]
        sums = column_sums(made, one_row_a_person=False, complete=False)
        table = [(one.of_people, one.of_sum, one.of_squares) for one in sums.entries[0]]
        people, first, second = np.linalg.lstsq(
            np.array(table, dtype=float), np.array([float(one.released) for one in sums.entries[0]]), rcond=None
        )[0]
        low, high = sums.bounds
        spread = np.sqrt(max(second / people - (first / people) ** 2, 0.0) / max(people, 1.0))
        middle = first / people
        truth = (float(values["mean"]) - low) / (high - low)
        held.append(abs(middle - truth) <= 1.959964 * spread)
    return float(np.mean(held))


def unclipped() -> Iterator[Bar]:
    """Return what a model covers that does not know of the clipping: its people are clipped all the same."""
    for place, (kind, price) in enumerate(PRICES):
        timed = Timed(Unclipped(**_stated(1000)))
        found = timed.calibrated(_plans(price), reps=RUNS, seed=30 + place)
        for name in ("mean", "deviation"):
            covered = found.coverage(name)
            words = f"{covered.value:.3f} (se {covered.error:.3f}, {RUNS:,} runs), KS p {found.uniform(name):.2g}"
            failed = f", {found.failed} runs failed" if found.failed else ""
            what = f"unclipped model, {kind} noise, n about 1,000: {name}"
            yield Bar(what, words + failed, "fails: below .9", covered.value < 0.9)
