"""Models on the cells of a noisy table: logistic regression, small areas, and the largest of many noisy groups."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import gammaincinv

from benchmarks.bayes.covered import Timed, coverage_bar, every_group_bar, within
from benchmarks.bayes.released import half_width
from benchmarks.common.bars import Bar
from discreet.bayes import (
    HalfNormal,
    LogisticCells,
    LogNormal,
    Normal,
    PoissonGamma,
    SmallAreaRates,
    noisy_counts,
)
from discreet.bayes.base import Posterior, Values
from discreet.display import silent
from discreet.laws import DiscreteLaplace
from discreet.statistics.measurement import MeasurementPlan

RUNS, SELECTIONS, NAIVE_RUNS = 1000, 3000, 200
AREAS, EXPOSURE = 20, 100.0


def logistic() -> Iterator[Bar]:
    """Return a line for every coefficient of a regression on eight cells of unknown size, epsilon .5."""
    noise = DiscreteLaplace(2)
    keys = [(*cell, answer) for cell in itertools.product("ab", "cd", "ef") for answer in ("yes", "no")]
    plan = noisy_counts(dict.fromkeys(keys, 1), noise=noise, key=["k1", "k2", "k3", "answer"]).plan
    model = LogisticCells(
        success=("answer", "yes"), coefficients=Normal(0, 1), intercept=Normal(0, 1), rows_expected=50
    )
    timed = Timed(model)
    found = timed.calibrated([plan], reps=RUNS, seed=1)
    for label in found.parameters[0].groups:
        yield coverage_bar("8 cells of about 50", found, "coefficient", tolerance=within(RUNS), group=label)
    naive = _naive_logistic(model, plan)
    yield Bar("naive: the noisy counts taken for counts", f"{naive:.3f} ({NAIVE_RUNS:,} runs)")
    yield timed.bar("8 cells of about 50", 1.0)


def _naive_logistic(model: LogisticCells, plan: MeasurementPlan) -> float:
    """Return the coverage where counts below 0 are cut and the noise is forgotten: a law without noise."""
    generator, held = np.random.default_rng(2), []
    quiet = DiscreteLaplace(1 / 64)  # noise other than 0 once in 10^27 draws
    as_counts = noisy_counts(dict.fromkeys(plan.keys, 1), noise=quiet, key=list(plan.key_names)).plan
    for run in range(NAIVE_RUNS):
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
    timed = Timed(model, _errors)
    found = timed.calibrated([plan], reps=RUNS, seed=3)
    what = "20 areas of about 5 events"
    for one in found.parameters:
        yield coverage_bar(what, found, one.name, tolerance=within(RUNS))
    yield every_group_bar(what, found, "rate", tolerance=within(RUNS))
    yield timed.bar(what, 1.0)
    pooled, direct, naive, wald = (np.array(part) for part in zip(*timed.seen, strict=True))
    ours, theirs = float(np.sqrt(pooled.mean())), float(np.sqrt(direct.mean()))
    ratios = [np.sqrt(part[0].mean() / part[1].mean()) for part in _tenths(pooled, direct)]
    error = float(np.std(ratios, ddof=1)) / np.sqrt(len(ratios))
    words = f"{ours / theirs:.3f} (se {error:.3f}; {ours:.4f} against {theirs:.4f}, {len(pooled):,} runs)"
    yield Bar("root mean squared error, pooled / direct", words, "<= .8", ours / theirs <= 0.8)
    yield Bar("areas, naive: the noisy counts taken for counts", f"{naive.mean():.3f}")
    yield Bar("areas, Wald with the variance of the noise", f"{wald.mean():.3f}")


def _errors(values: Values, found: Posterior) -> tuple[float, ...]:
    """Return squared errors of posterior means and noisy counts, and how often simpler intervals hold.

    Naive is the interval of a count with a flat prior, the noisy count taken for it; Wald adds the noise's variance.
    """
    truth = values["rate"]
    (measured,) = found.measurements
    noisy = np.maximum(np.array(measured.released[0], dtype=np.float64), 0.0)
    low, high = (gammaincinv(1.0 + noisy, one) / EXPOSURE for one in (0.025, 0.975))
    half = 1.959964 * np.sqrt(noisy + 2.0 * float(measured.plan.noise.scale) ** 2) / EXPOSURE
    return (
        float(np.mean((np.asarray(found.mean("rate")) - truth) ** 2)),
        float(np.mean((noisy / EXPOSURE - truth) ** 2)),
        float(np.mean((low <= truth) & (truth <= high))),
        float(np.mean(np.abs(noisy / EXPOSURE - truth) <= half)),
    )


def _tenths(*lists: Any) -> list[Any]:
    """Return ten parts of lists of the same length, together."""
    return list(zip(*(np.array_split(one, 10) for one in lists), strict=True))


def largest() -> Iterator[Bar]:
    """Return the coverage for the group of the largest noisy count, epsilon .2, beside the quantile of the noise."""
    noise = DiscreteLaplace(5)
    plan = noisy_counts({f"g{place}": 1 for place in range(AREAS)}, noise=noise).plan
    model = PoissonGamma(shape=4, rate=0.2)  # 20 people on the average, deviation of the rates 10
    generator, half = np.random.default_rng(5), half_width(0.2)
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
    yield Bar("its count by `answer.intervals`", f"{np.mean(plain):.4f}, its half width {half:g}")
