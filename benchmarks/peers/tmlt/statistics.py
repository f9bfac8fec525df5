"""The tmlt.core side of the statistics benchmark, run in tmlt.core's own environment.

Its ready measurements run on Spark, a job a release. Here the exact aggregates are noised by the same noise
measurements with the scales those would use, and put together by the same formulas. Its quantile is drawn from the law
that its measurement states, on the intervals that its own code makes: a call takes 50 ms on 10 000 values. Unknown
keys get a tenth of the draws.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tmlt.core.domains.numpy_domains import NumpyFloatDomain  # type: ignore[import-not-found]
from tmlt.core.measurements.noise_mechanisms import (  # type: ignore[import-not-found]
    AddGeometricNoise,
    AddLaplaceNoise,
)
from tmlt.core.measurements.pandas_measurements.series import (  # type: ignore[import-not-found]
    _get_intervals_with_ranks,
)
from tmlt.core.utils.distributions import double_sided_geometric_cmf_exact  # type: ignore[import-not-found]
from tmlt.core.utils.exact_number import ExactNumber  # type: ignore[import-not-found]

from benchmarks.statistics.side import Floats, Request, Ways, distinct, serve, stack


def _scale(sensitivity: float, epsilon: float) -> Any:
    """Return sensitivity over epsilon as an exact number."""
    ratio = Fraction(sensitivity) / Fraction(epsilon)
    return ExactNumber(ratio.numerator) / ExactNumber(ratio.denominator)


def _integers(request: Request, exact: int, sensitivity: int, epsilon: float) -> Floats:
    """Return draws of an integer with geometric noise."""
    noise = AddGeometricNoise(_scale(sensitivity, epsilon))
    return np.array([noise(np.int64(exact)) for _ in range(request.draws)], dtype=np.float64)


def _reals(request: Request, exact: float, sensitivity: float, epsilon: float) -> Floats:
    """Return draws of a number with Laplace noise."""
    noise = AddLaplaceNoise(NumpyFloatDomain(), _scale(sensitivity, epsilon))
    return np.array([noise(np.float64(exact)) for _ in range(request.draws)], dtype=np.float64)


def _noisy_sum(request: Request, values: NDArray[Any], low: float, high: float, epsilon: float) -> Floats:
    """Return draws of a sum: the sensitivity is the largest value, under change-one the width."""
    sensitivity = high - low if request.change_one else max(abs(low), abs(high))
    if values.dtype.kind == "i":
        return _integers(request, int(values.sum()), int(sensitivity), epsilon)
    return _reals(request, float(values.sum()), sensitivity, epsilon)


def count(request: Request) -> Ways:
    """Number of rows."""
    return {"count": _integers(request, len(request.values), 1, request.epsilon)}


def count_true(request: Request) -> Ways:
    """Number of rows that are 1, by a sum."""
    return {"sum of 0 and 1": _noisy_sum(request, request.values, 0, 1, request.epsilon)}


def count_distinct(request: Request) -> Ways:
    """Number of distinct values."""
    return {"count distinct": _integers(request, distinct(request.values), 1, request.epsilon)}


def total(request: Request) -> Ways:
    """Sum of values between bounds."""
    return {"sum": _noisy_sum(request, request.values, *request.bounds, request.epsilon)}


def mean(request: Request) -> Ways:
    """Mean: sum about the middle and count with half the budget each; with a known size, the sum alone."""
    half = request.width / 2
    centered = request.values - request.middle
    if request.change_one:
        drawn = _noisy_sum(request, centered, -half, half, request.epsilon)
        return {"centered sum over known size": request.middle + drawn / len(centered)}
    first = _noisy_sum(request, centered, -half, half, request.epsilon / 2)
    size = _reals(request, len(centered), 1, request.epsilon / 2)
    return {"average": request.middle + first / np.maximum(1, size)}


def variance(request: Request) -> Ways:
    """Variance from a count, a sum about the middle and a sum of squares about their middle, a third each."""
    if request.change_one:
        return {}
    low, high = request.bounds
    third = request.epsilon / 3
    least = 0.0 if low <= 0 <= high else min(low**2, high**2)
    largest = max(low**2, high**2)
    middle_square = (least + largest) / 2
    values = request.values.astype(np.float64)
    first = _noisy_sum(request, values - request.middle, low - request.middle, high - request.middle, third)
    squares = values**2 - middle_square
    second = _noisy_sum(request, squares, least - middle_square, largest - middle_square, third)
    size = np.maximum(_reals(request, len(values), 1, third), 2)
    unbiased = (second + middle_square * size) - (first / size + request.middle) ** 2 * size
    return {"variance": np.clip(unbiased / (size - 1), 0, request.width**2 / 4)}


def standard_deviation(request: Request) -> Ways:
    """Square root of a variance."""
    return {way: np.sqrt(drawn) for way, drawn in variance(request).items()}


def quantiles(request: Request) -> Ways:
    """Each quantile with an equal share of the budget, then in order."""
    if request.change_one:
        return {}
    share = request.epsilon / len(request.levels)
    drawn = [_quantile(request, level, share) for level in request.levels]
    return {"quantile": np.sort(stack(drawn), axis=1)}


def _quantile(request: Request, level: float, epsilon: float) -> Floats:
    """Draw an interval with its own scores plus Gumbel noise, and a point inside."""
    intervals = _get_intervals_with_ranks(request.values, float(request.bounds[0]), float(request.bounds[1]))
    ranks, lows, highs = (np.array([float(one) for one in column]) for column in zip(*intervals, strict=True))
    target = level * len(request.values)
    scores = np.log(highs - lows) - np.abs(ranks - target) * epsilon / (2 * max(level, 1 - level))
    generator = np.random.default_rng()
    place = np.array([np.argmax(scores + generator.gumbel(size=len(scores))) for _ in range(request.draws)])
    answer: Floats = lows[place] + generator.random(request.draws) * (highs - lows)[place]
    return answer


def histogram(request: Request) -> Ways:
    """Counts of known keys, each with geometric noise; a changed row moves two."""
    sensitivity = 2 if request.change_one else 1
    exact = [int((request.values == key).sum()) for key in request.keys]
    return {"counts": stack([_integers(request, one, sensitivity, request.epsilon) for one in exact])}


def histogram_unknown(request: Request) -> Ways:
    """Partition selection: geometric noise, and a threshold by the formula of its privacy function."""
    if request.change_one:
        return {}
    alpha = _scale(1, request.epsilon)
    threshold = 1
    while (1 - double_sided_geometric_cmf_exact(threshold - 2, alpha)).to_float(round_up=True) > request.delta:
        threshold += 1
    exact = [int((request.values == key).sum()) for key in request.keys]
    fewer = replace(request, draws=request.draws // 10)
    noisy = stack([_integers(fewer, one, 1, request.epsilon) for one in exact])
    return {f"geometric, threshold {threshold}": np.where(noisy >= threshold, noisy, np.nan)}


STATISTICS = {
    "count": count,
    "count_true": count_true,
    "count_distinct": count_distinct,
    "sum": total,
    "mean": mean,
    "variance": variance,
    "standard_deviation": standard_deviation,
    "quantiles": quantiles,
    "histogram": histogram,
    "histogram_unknown": histogram_unknown,
}

if __name__ == "__main__":
    serve(version("tmlt.core"), STATISTICS)
