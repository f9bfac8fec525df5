"""The diffprivlib side of the statistics benchmark, run in diffprivlib's own environment.

It takes the number of rows as public, which is change-one; only its histogram and a count of a condition are kept for
add/remove as well. Its quantile is drawn from the table of probabilities that its own mechanism holds.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
from diffprivlib import mechanisms, tools  # type: ignore[import-not-found]

from benchmarks.statistics.side import Floats, Request, Ways, serve, stack


def _called(request: Request, answer: Callable[[], Any]) -> Floats:
    """Return many answers."""
    return np.array([answer() for _ in range(request.draws)], dtype=np.float64)


def count_true(request: Request) -> Ways:
    """Number of rows that are 1."""
    return {"count_nonzero": _called(request, lambda: tools.count_nonzero(request.values, epsilon=request.epsilon))}


def _of_bounded(request: Request, function: Callable[..., Any]) -> Ways:
    """Call one of the functions of a column between bounds."""
    if not request.change_one:
        return {}
    values, given = request.values.astype(np.float64), {"epsilon": request.epsilon, "bounds": request.bounds}
    return {function.__name__: _called(request, lambda: function(values, **given))}


def total(request: Request) -> Ways:
    """Sum."""
    return _of_bounded(request, tools.sum)


def mean(request: Request) -> Ways:
    """Mean."""
    return _of_bounded(request, tools.mean)


def variance(request: Request) -> Ways:
    """Variance."""
    return _of_bounded(request, tools.var)


def standard_deviation(request: Request) -> Ways:
    """Standard deviation."""
    return _of_bounded(request, tools.std)


def quantiles(request: Request) -> Ways:
    """Each quantile with an equal share of the budget, then in order."""
    if not request.change_one:
        return {}
    share = request.epsilon / len(request.levels)
    drawn = [_quantile(request, level, share) for level in request.levels]
    return {"quantile": np.sort(stack(drawn), axis=1)}


def _quantile(request: Request, level: float, epsilon: float) -> Floats:
    """Draw from the law of its quantile: an interval between neighboring values by its mechanism, a point inside."""
    edges = np.sort(np.concatenate([request.values.astype(np.float64), request.bounds]))
    size = len(request.values)
    utility, lengths = -np.abs(np.arange(size + 1) - level * size), np.diff(edges)
    mechanism = mechanisms.Exponential(epsilon=epsilon, sensitivity=1, utility=list(utility), measure=list(lengths))
    generator = np.random.default_rng()
    place = np.searchsorted(mechanism._probabilities, generator.random(request.draws))
    answer: Floats = edges[place] + generator.random(request.draws) * lengths[place]
    return answer


def histogram(request: Request) -> Ways:
    """Counts of whole numbers as bins; a changed row moves two of them, so that change-one gets half the budget."""
    edges = [key - 0.5 for key in request.keys] + [request.keys[-1] + 0.5]
    epsilon = request.epsilon / 2 if request.change_one else request.epsilon
    span = edges[0], edges[-1]
    return {"histogram": _called(request, lambda: tools.histogram(request.values, epsilon, bins=edges, range=span)[0])}


STATISTICS = {
    "count_true": count_true,
    "sum": total,
    "mean": mean,
    "variance": variance,
    "standard_deviation": standard_deviation,
    "quantiles": quantiles,
    "histogram": histogram,
}

if __name__ == "__main__":
    serve(version("diffprivlib"), STATISTICS)
