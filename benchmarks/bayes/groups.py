"""Models on the cells of a noisy table: logistic regression, small areas, and the largest of many noisy groups."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.bayes.covered import coverage_bar, within
from benchmarks.common.bars import Bar
from discreet.bayes import (
    HalfNormal,
    LogisticCells,
    LogNormal,
    Normal,
    PoissonGamma,
    SmallAreaRates,
    calibration,
    noisy_counts,
)
from discreet.display import silent
from discreet.laws import DiscreteLaplace
from discreet.statistics.measurement import MeasurementPlan

RUNS, SELECTIONS = 1000, 3000
AREAS, EXPOSURE = 20, 100.0


def logistic() -> Iterator[Bar]:
    """Return a line for every coefficient of a regression on eight cells of unknown size, epsilon .5."""
    noise = DiscreteLaplace(2)
    keys = [(*cell, answer) for cell in itertools.product("ab", "cd", "ef") for answer in ("yes", "no")]
    plan = noisy_counts(dict.fromkeys(keys, 1), noise=noise, key=["k1", "k2", "k3", "answer"]).plan
    model = LogisticCells(
        success=("answer", "yes"), coefficients=Normal(0, 1), intercept=Normal(0, 1), rows_expected=50
    )
    began = time.process_time()
    found = calibration(model, plan, reps=RUNS, seed=1)
    spent = (time.process_time() - began) / RUNS
    yield coverage_bar("8 cells of about 50", found, "coefficient", tolerance=within(RUNS))
    for label in found.parameters[0].groups:
        one = found.coverage("coefficient", label)
        words = f"{one.value:.4f} (se {one.error:.4f}), KS p {found.uniform('coefficient', label):.3g}"
        yield Bar(f"coefficient {label[0]}", words, f".95 +- {within(RUNS):.4f}", abs(one.value - 0.95) <= within(RUNS))
    yield Bar("naive: the noisy counts taken for counts", f"{_naive_logistic(model, plan):.3f}")
    yield Bar("time of a fit, simulated people included", f"{spent:.2f} s CPU", "<= 1 s", spent <= 1.0)


def _naive_logistic(model: LogisticCells, plan: MeasurementPlan, runs: int = 300) -> float:
    """Return the coverage where counts below 0 are cut and the noise is forgotten: a law without noise."""
    generator, held = np.random.default_rng(2), []
    quiet = DiscreteLaplace(1 / 64)  # noise other than 0 once in 10^27 draws
    as_counts = noisy_counts(dict.fromkeys(plan.keys, 1), noise=quiet, key=list(plan.key_names)).plan
    for run in range(runs):
        values = model.prior([plan], generator)
        noisy = model.integers(values, [plan], generator)[0] + plan.noise.sample((1, len(plan.keys)))
        measured = as_counts.measured(np.maximum(noisy, 0).tolist(), (run,), None, rehearsed=True)
        draws = model.fit([measured], generator=generator, progress=silent).draws["coefficient"]
        low, high = np.quantile(draws.reshape(-1, draws.shape[-1]), [0.025, 0.975], axis=0)
        held.append((low <= values["coefficient"]) & (values["coefficient"] <= high))
    return float(np.mean(held))


def small_areas() -> Iterator[Bar]:
    """Return the coverage of areas and hyperparameters, and the areas' error beside that of direct estimates."""
    noise = DiscreteLaplace(2)
    plan = noisy_counts({f"area {place}": 1 for place in range(AREAS)}, noise=noise, key="area").plan
    model = SmallAreaRates(exposures=EXPOSURE, mean=LogNormal(0.05, 0.3), spread=HalfNormal(0.7))
    began = time.process_time()
    found = calibration(model, plan, reps=RUNS, seed=3)
    spent = (time.process_time() - began) / RUNS
    for one in found.parameters:
        yield coverage_bar("20 areas of about 5 events", found, one.name, tolerance=within(RUNS))
    yield Bar("time of a fit, simulated people included", f"{spent:.2f} s CPU", "<= 1 s", spent <= 1.0)
    pooled, direct = _errors(model, plan)
    words = f"{pooled / direct:.3f} ({pooled:.4f} against {direct:.4f}, 300 runs)"
    yield Bar("root mean squared error, pooled / direct", words, "<= .8", pooled / direct <= 0.8)


def _errors(model: SmallAreaRates, plan: MeasurementPlan, runs: int = 300) -> tuple[float, float]:
    generator = np.random.default_rng(4)
    pooled, direct = [], []
    for run in range(runs):
        values = model.prior([plan], generator)
        noisy = model.integers(values, [plan], generator)[0] + plan.noise.sample((1, AREAS))
        found = model.fit(
            [plan.measured(noisy.tolist(), (run,), None, rehearsed=True)], generator=generator, progress=silent
        )
        pooled.append(np.mean((np.asarray(found.mean("rate")) - values["rate"]) ** 2))
        direct.append(np.mean((np.maximum(noisy[0], 0) / EXPOSURE - values["rate"]) ** 2))
    return float(np.sqrt(np.mean(pooled))), float(np.sqrt(np.mean(direct)))


def largest() -> Iterator[Bar]:
    """Return the coverage for the group of the largest noisy count, epsilon .2, beside the quantile of the noise."""
    noise = DiscreteLaplace(5)
    plan = noisy_counts({f"g{place}": 1 for place in range(AREAS)}, noise=noise).plan
    model = PoissonGamma(shape=4, rate=0.2)  # 20 people on the average, deviation of the rates 10
    generator, half = np.random.default_rng(5), noise.half_width(0.95)
    held: list[bool] = []
    counted: list[bool] = []
    masses: list[float] = []
    plain: list[bool] = []
    for run in range(SELECTIONS):
        values: dict[str, Any] = dict(model.prior([plan], generator))
        integers = model.integers(values, [plan], generator)[0]
        noisy = integers[0] + noise.sample(AREAS)
        place = int(np.argmax(noisy))
        found = model.fit(
            [plan.measured([noisy.tolist()], (run,), None, rehearsed=True)], generator=generator, progress=silent
        )
        low, high = found.marginals("rate")[place].ends(0.95)
        held.append(bool(low <= np.ravel(values["rate"])[place] <= high))
        law = found.marginals("count")[place]
        low, high = law.ends(0.95)
        counted.append(bool(low <= integers[0][place] <= high))
        masses.append(law.cdf(high) - law.below(low))
        plain.append(bool(abs(noisy[place] - integers[0][place]) <= half))
    tolerance = within(SELECTIONS)
    rate, count = float(np.mean(held)), float(np.mean(counted))
    yield Bar(
        "rate of the largest of 20",
        f"{rate:.4f} ({SELECTIONS:,} runs)",
        f".95 +- {tolerance:.4f}",
        abs(rate - 0.95) <= tolerance,
    )
    away = abs(count - float(np.mean(masses)))
    yield Bar(
        "its count, beside the mean mass", f"{count:.4f}, {np.mean(masses):.4f}", "within 4 se", away <= tolerance
    )
    yield Bar("its count by the quantile of the noise, as `answer.intervals`", f"{np.mean(plain):.4f}")
