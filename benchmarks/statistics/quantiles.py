"""Our own ways to quantiles beside each other: all at once, a tree, even bins and the rule's choice; and intervals.

Twelve made-up columns between 0 and 1, two numbers of rows, and three more columns that no rule was chosen with. The
ways are compared by the mean squared error of ten quantiles at epsilon 0.1; the rule knows the levels, the price, the
number of rows expected, the bounds and the grid, nothing of the column. Whole years and whole hours are asked for on
their own scale with grid=1, as their units are public; without that a choice by ranks falls between two years, and the
row that shows it has no bar, since the eleven other columns have the same public numbers. An interval is compared with
the one of three choices at a third of the price each, the outer two beyond their rank error on the whole grid: the
distance of the rows at those two ranks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import discreet as dp
from benchmarks.common.report import Row
from benchmarks.statistics.cases import SEED, SIZES, TEN
from discreet import statistics
from discreet.statistics.order_statistics.even_bins import EvenBins
from discreet.statistics.order_statistics.joint import JointQuantiles
from discreet.statistics.order_statistics.tree import ManyQuantiles, QuantileTree
from discreet.statistics.ranks import rank_error

Floats = NDArray[np.float64]

EPSILON, NEAR = 0.1, 1.05
RUNS, DRAWS = 2000, 400
NARROW, CONFIDENCE = 0.45, 0.95
WHOLE = {"age": 100, "hours": 100}  # columns of whole numbers, and what 1 stands for


def columns(rows: int) -> dict[str, Floats]:
    """Return twelve columns within [0, 1], the same on every run."""
    draw = np.random.default_rng([SEED, rows])
    hills = np.where(draw.random(rows) < 0.5, draw.normal(0.25, 0.05, rows), draw.normal(0.8, 0.05, rows))
    made: dict[str, Any] = {
        "uniform": draw.random(rows),
        "normal": draw.normal(0.5, 0.1, rows),
        "income": draw.lognormal(np.log(30_000), 0.6, rows) / 200_000,
        "wealth": draw.lognormal(np.log(80_000), 1.2, rows) / 1e7,
        "age": np.rint(draw.normal(42, 18, rows)) / 100,
        "beta": draw.beta(2, 5, rows),
        "two hills": hills,
        "waiting time": draw.exponential(0.05, rows),
        "mostly zero": np.where(draw.random(rows) < 0.6, 0, draw.lognormal(np.log(0.05), 0.8, rows)),
        "power law": (draw.pareto(1.5, rows) + 1) / 1000,
        "narrow": draw.normal(0.3, 0.01, rows),
        "u-shaped": draw.beta(0.5, 0.5, rows),
    }
    return {name: np.clip(column, 0.0, 1.0) for name, column in made.items()}


def further_columns(rows: int) -> dict[str, Floats]:
    """Return three columns within [0, 1] made after the rule: smooth, whole with a frequent value, apart."""
    draw = np.random.default_rng([SEED + 1, rows])
    usual = np.where(draw.random(rows) < 0.4, 40, np.rint(draw.normal(32, 12, rows)))
    towns = draw.normal(draw.choice([0.1, 0.45, 0.6], rows), 0.03)
    made: dict[str, Any] = {"gamma": draw.gamma(3, 0.06, rows), "hours": usual / 100, "three towns": towns}
    return {name: np.clip(column, 0.0, 1.0) for name, column in made.items()}


def ways(_: list[Any]) -> Iterator[Row]:
    """Compare the three ways with the choice of the rule; the error is in shares of the range."""
    for rows in SIZES:
        for name, column in columns(rows).items():
            yield _ruled(name, column, rows, WHOLE.get(name))
        yield _ruled("age", columns(rows)["age"], rows, None)
        for name, column in further_columns(rows).items():
            yield _ruled(f"not used for the rule: {name}", column, rows, WHOLE.get(name))


def _ruled(name: str, column: Floats, rows: int, whole: int | None) -> Row:
    """Return a row for one column, which has whole numbers if it is said what 1 stands for."""
    asked: dict[str, Any] = {"relation": dp.Relation.ADD_REMOVE, "epsilon": EPSILON}
    range_of: dict[str, Any] = {"bounds": (0, whole), "grid": 1} if whole else {"bounds": (0, 1)}
    chosen = statistics.Quantiles(levels=TEN, rows_expected=rows, **range_of, **asked)
    own: dict[str, Any] = {"levels": TEN, "steps": chosen.scale.steps, **asked}
    three: dict[str, ManyQuantiles] = {
        "all at once": JointQuantiles(**own),
        "tree": QuantileTree(**own),
        "even bins": EvenBins(rows_expected=rows, **own),
    }
    taken = next(way for way, made in three.items() if isinstance(chosen.mechanism, type(made)))
    times_one = whole or 1
    positions, _weights = chosen.positions(column * times_one)
    truth = np.quantile(column, TEN)
    errors = {way: _squared_error(chosen, made, positions, truth, times_one) for way, made in three.items()}
    best = min(errors, key=lambda way: errors[way][0])
    times = errors[taken][0] / errors[best][0]
    noise = 3 * float(np.hypot(*(errors[way][1] / errors[way][0] for way in (taken, best))))
    unstated = name in WHOLE and not whole
    told = f"{name}, {'grid=1, ' if whole else 'no grid stated, ' if unstated else ''}n {rows}"
    row = Row(
        f"ten quantiles by a rule, add/remove, epsilon {EPSILON:g}: {told}",
        f"{taken} {errors[taken][0]:.3g}",
        "; ".join(f"{way} {mean:.3g}" for way, (mean, _) in errors.items()),
        f"{times:.2f} of the best",
    )
    if unstated:
        return row
    holds = times <= NEAR * (1 + (noise if best != taken else 0.0))
    return replace(row, bar=f"<= {NEAR:g}", holds=holds)


def _squared_error(statistic: Any, way: ManyQuantiles, positions: Any, truth: Floats, one: int) -> tuple[float, float]:
    """Return the mean squared error of draws, in shares of the range, and its standard error."""
    step = float(statistic.scale.grid) / one
    drawn = np.array([way(positions) for _ in range(DRAWS)], dtype=np.float64) * step
    each = ((drawn - truth) ** 2).mean(axis=1)
    return float(each.mean()), float(each.std() / np.sqrt(DRAWS))


def intervals(_: list[Any]) -> Iterator[Row]:
    """Measure width and coverage of the intervals of one quantile and of ten, epsilon 1."""
    rows = SIZES[-1]
    asked: dict[str, Any] = {"bounds": (0, 1), "relation": dp.Relation.ADD_REMOVE, "epsilon": 1, "interval": True}
    several = statistics.Quantiles(levels=TEN, **asked)
    for name, column in columns(rows).items():
        for level in (0.5, 0.9):
            one = statistics.Quantile(level=level, **asked)
            ends = _ends(one, column, RUNS)
            width = float((ends[:, 1] - ends[:, 0]).mean())
            yield _narrower(f"{level:g} quantile, epsilon 1: {name}, n {rows}", width, one, np.sort(column))
            exact = float(np.quantile(column, level, method="inverted_cdf"))
            held = (ends[:, 0] <= exact) & (exact <= ends[:, 1])
            yield _covered(f"interval of the {level:g} quantile holds it: {name}", held)
        tables = [several(column) for _ in range(RUNS // 10)]
        exact_ten = np.quantile(column, TEN, method="inverted_cdf")
        inside = np.array([(table.low <= exact_ten) & (exact_ten <= table.high) for table in tables])
        yield _covered(f"intervals of ten quantiles hold them: {name}", inside)


def _narrower(what: str, width: float, one: statistics.Quantile, ordered: Floats) -> Row:
    """Hold a width against that of three choices; where many rows share the value, both are that value."""
    reach = rank_error(
        rate=1 / (6 * float(max(one.level, 1 - one.level))),
        candidates=one.scale.steps + 3,
        failure=(1 - CONFIDENCE) / 2,
    )
    middle = float(one.level) * ordered.size
    low, high = int(np.floor(middle - reach)), int(np.ceil(middle + reach))
    before = float(ordered[min(high, ordered.size - 1)] - ordered[max(low, 0)])
    single = before == 0 and width <= 2 * float(one.scale.grid)
    times = width / before if before else float("inf")
    shown = "the same value" if single else f"{times:.2f}"
    return Row(
        f"interval of the {what}",
        f"{width:.3g}",
        f"three choices {before:.3g}",
        shown,
        f"<= {NARROW:g}",
        single or times <= NARROW,
    )


def _ends(statistic: Any, column: Floats, runs: int) -> Floats:
    """Return the intervals of many releases."""
    measured = statistic.measure(column)
    made = (statistic.estimate(statistic.mechanism(measured), public_rows=None).ends for _ in range(runs))
    return np.array(list(made), dtype=np.float64)


def _covered(what: str, held: NDArray[np.bool_]) -> Row:
    """Return a row for how often intervals held: at least the confidence less four standard errors."""
    runs = len(held)  # levels of one release are not independent: its share of intervals that held is one number
    share = float(held.mean())
    least = CONFIDENCE - 4 * float(np.sqrt(CONFIDENCE * (1 - CONFIDENCE) / runs))
    return Row(what, f"{100 * share:.1f} % of {runs} runs", "", "", f">= {100 * least:.1f} %", share >= least)
