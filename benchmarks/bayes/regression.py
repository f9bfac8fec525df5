"""Linear regression from a noisy Gram matrix: intercept, slopes, spread and the law of the predictors unknown."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.bayes.covered import Timed, coverage_bar, within
from benchmarks.common.bars import Bar
from discreet.bayes import LinearModel, LogNormal, Normal
from discreet.bayes.sums.gram_likelihood import GramLikelihood
from discreet.errors import SenselessParameter
from discreet.privacy import Relation
from discreet.statistics import Covariance
from discreet.statistics.measurement import MeasurementPlan

RUNS, LAPLACE_RUNS, NAIVE_RUNS = 1000, 100, 2000
HALF = 6.0  # of the predictors' bounds, four times as much for the outcome's: no row comes near


def linear() -> Iterator[Bar]:
    """Return lines for two predictors: two sizes at the noise of the sketch, a price that protects, n unknown."""
    for place, (people, price) in enumerate(((1000, {"rho": 22.4}), (100, {"rho": 22.4}), (10_000, {"rho": 0.5}))):
        yield from _measured(people, price, 2, 40 + place, RUNS)


def unknown_people() -> Iterator[Bar]:
    """Return lines where the number of rows is told by the release alone, with a wide prior."""
    yield from _measured(LogNormal(1000, 0.3), {"rho": 22.4}, 2, 45, RUNS)


def laplace() -> Iterator[Bar]:
    """Return lines for Laplace noise, whose mixing is drawn too: fewer runs, and no bar is met by them."""
    yield from _measured(1000, {"epsilon": 10}, 2, 46, LAPLACE_RUNS)


def five_predictors() -> Iterator[Bar]:
    """Return lines for five predictors."""
    yield from _measured(10_000, {"rho": 22.4}, 5, 47, RUNS)


def _measured(people: Any, price: dict[str, Any], predictors: int, seed: int, runs: int) -> Iterator[Bar]:
    plan = _plan(predictors, price)
    model = LinearModel(
        outcome="y", constant="one", coefficients=Normal(0, 1), intercept=Normal(0, 1), deviation=LogNormal(1, 0.4),
        means=Normal(0, 0.5), deviations=LogNormal(1, 0.15), people=people,
    )  # fmt: skip
    timed = Timed(model)
    found = timed.calibrated([plan], reps=runs, seed=seed)
    (words,) = (f"{name} {value:g}" for name, value in price.items())
    size = f"n {people:,}" if isinstance(people, int) else f"n unknown, about {people.median:,.0f}"
    what = f"{predictors} predictors, {size}, {words} (noise of a product {_noise(plan):.0f})"
    for one in found.parameters:
        if one.name in ("coefficient", "deviation"):
            for group in one.groups or (None,):
                yield coverage_bar(what, found, one.name, tolerance=within(RUNS), group=group, enough=runs >= RUNS)
    if isinstance(people, int):
        yield Bar(f"{what}: naive slopes", f"{_naive(model, plan, predictors, seed):.3f} ({NAIVE_RUNS:,} runs)")
    yield timed.bar(what)


def _plan(predictors: int, price: dict[str, Any]) -> MeasurementPlan:
    names = [f"x{place}" for place in range(predictors)]
    bounds = [(-1.0, 1.0), *[(-HALF, HALF)] * predictors, (-4 * HALF, 4 * HALF)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SenselessParameter)  # of the sketch's noise, which protects nobody
        statistic = Covariance(bounds=bounds, relation=Relation.ADD_REMOVE, **price)
        (plan,) = statistic.plans(column=",".join(["one", *names, "y"]))
    return plan


def _noise(plan: MeasurementPlan) -> float:
    """Return the scale of the noise of a product of two predictors, in their units."""
    adds_up: Any = plan.adds_up
    multiplier = next(terms[0][2] for _, terms in adds_up.terms if terms[0][:2] == (1, 2))
    return float(plan.noise.scale) / float(multiplier) / float(adds_up.steps) ** 2 * HALF**2


def _naive(model: LinearModel, plan: MeasurementPlan, predictors: int, seed: int) -> float:
    """Return the coverage of least squares +- 1.96 standard errors, the noisy products taken for the products."""
    generator, held = np.random.default_rng(seed), []
    names = (*(f"x{place}" for place in range(predictors)), "y")
    noise = plan.noise.sample((NAIVE_RUNS, plan.adds_up.entries, 1))
    for run in range(NAIVE_RUNS):
        values = model.prior([plan], generator)
        released = model.integers(values, [plan], generator)[0] + noise[run]
        gram = GramLikelihood.of([plan.measured(released.tolist(), (run,), None, rehearsed=True)], names, "one")
        rows, columns = np.triu_indices(predictors + 2)
        table = gram.forms[:, rows, columns] * np.where(rows == columns, 1.0, 2.0)
        products = np.empty((predictors + 2, predictors + 2))
        products[rows, columns] = products[columns, rows] = np.linalg.lstsq(table, gram.released, rcond=None)[0]
        inverse = np.linalg.inv(products[:-1, :-1])
        fitted = inverse @ products[:-1, -1]
        left = (products[-1, -1] - fitted @ products[:-1, -1]) / max(products[0, 0] - predictors - 1, 1.0)
        wide = np.sqrt(np.maximum(left * np.diag(inverse), 0.0))
        units = gram.halves[-1] / gram.halves[:-1]
        off = np.abs(fitted[1:] * units - values["coefficient"][1:])
        held.append(off <= 1.959964 * wide[1:] * units)
    return float(np.mean(held))
