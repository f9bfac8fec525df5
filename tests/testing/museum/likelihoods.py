"""The loss of single outputs of the benchmark, written down from the definitions, to hold runs against pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.testing.museum import Exhibit
from discreet.testing.museum.answers import _FILTERS, OneTimeRappor
from discreet.testing.museum.histograms import GeometricFromWeights
from discreet.testing.museum.maximum.noisy_maximum import (
    NoisyMaximumExponential,
    NoisyMaximumValue,
    NoisyMaximumValueExponential,
)
from discreet.testing.museum.sparse_vector.combined import NumericalSparseVector, SparseVectorParallel
from discreet.testing.museum.sparse_vector.values import BELOW, SparseVectorValues
from discreet.testing.museum.sparse_vector.verdicts import SparseVector, SparseVectorNoiseless

Floats = NDArray[np.float64]
Log = Callable[[NDArray[Any], Floats], Floats]


def losses(exhibit: Exhibit, outputs: NDArray[Any], first: Floats, second: Floats) -> Floats:
    """Return ln P / Q of every output."""
    log = _log_likelihood(exhibit)
    with np.errstate(divide="ignore", invalid="ignore"):
        return log(outputs, first) - log(outputs, second)


def _log_likelihood(exhibit: Exhibit) -> Log:  # noqa: PLR0911  one line a definition
    scale = float(getattr(exhibit, "scale", 0))
    match exhibit:
        case GeometricFromWeights():
            return lambda y, x: np.log([float(p) for p in exhibit.law(int(x[0])).probabilities])[y]
        case OneTimeRappor():
            return lambda y, x: _bits(exhibit, y, x)
        case NoisyMaximumValueExponential():
            return lambda y, x: _largest(y, x, lambda d: np.exp(-d) * (d >= 0), lambda d: -np.expm1(-np.maximum(d, 0)))
        case NoisyMaximumValue():
            return lambda y, x: _largest(y, x, lambda d: np.exp(-np.abs(d)) / 2, _below)
        case NoisyMaximumExponential():
            return lambda y, x: np.log(_index(x, lambda u: -np.log1p(-u)))[y]
        case SparseVectorParallel():
            third, fourth = _log_likelihood(exhibit.third), _log_likelihood(exhibit.fourth)
            return lambda y, x: third(y[:, :10], x) + fourth(y[:, 10:], x)
        case NumericalSparseVector():
            return lambda y, x: _numerical(exhibit, y, x)
        case SparseVectorValues():
            return lambda y, x: _values(exhibit, y, x)
        case SparseVectorNoiseless():
            return lambda y, x: _noiseless(exhibit, y, x)
        case SparseVector():
            return lambda y, x: _verdicts(exhibit, y, x)
    if exhibit.label.name == "ReportNoisyMax1":
        return lambda y, x: np.log(_index(x, lambda u: np.where(u < 0.5, np.log(2 * u), -np.log(2 - 2 * u))))[y]
    if exhibit.label.name == "PrefixSum":
        return lambda y, x: -np.abs(np.diff(y, axis=1, prepend=0.0) - x).sum(axis=1) / scale
    return lambda y, x: -np.abs(y.reshape(len(y), -1) - x).sum(axis=1) / scale


def _bits(exhibit: OneTimeRappor, y: NDArray[Any], x: Floats) -> Floats:
    chances = np.full(20, float(exhibit.replaced))
    chances[list(_FILTERS[int(x[0])])] = float(exhibit.kept)
    total: Floats = np.where(y == 1, np.log(chances), np.log1p(-chances)).sum(axis=1)
    return total


def _below(distance: Floats) -> Floats:
    return np.where(distance < 0, np.exp(-np.abs(distance)) / 2, 1 - np.exp(-np.abs(distance)) / 2)


def _largest(y: Floats, x: Floats, density: Callable[..., Floats], below: Callable[..., Floats]) -> Floats:
    distance = (y[:, None] - x) / 20
    total = np.zeros(len(y))
    for winner in range(x.size):
        others = np.delete(np.arange(x.size), winner)
        total += density(distance[:, winner]) * np.prod(below(distance[:, others]), axis=1)
    return np.log(total)


def _index(x: Floats, quantile: Callable[[Floats], Floats]) -> Floats:
    """Return the chance of each index by a midpoint rule over the winner's own quantiles."""
    own = quantile((np.arange(200_000) + 0.5) / 200_000) * 20
    one_sided = quantile(np.array([0.5]))[0] > 0
    chances = []
    for winner in range(x.size):
        distance = (own[:, None] + x[winner] - np.delete(x, winner)) / 20
        below = -np.expm1(-np.maximum(distance, 0)) if one_sided else _below(distance)
        chances.append(float(np.mean(np.prod(below, axis=1))))
    return np.array(chances)


def _threshold_grid(exhibit: SparseVector, count: int = 20_000) -> tuple[Floats, Floats]:
    """Return equally likely places of the noisy threshold: plain midpoints, fine enough for a test."""
    uniform = (np.arange(count) + 0.5) / count
    noise = np.where(uniform < 0.5, np.log(2 * uniform), -np.log(2 - 2 * uniform))
    return exhibit.threshold + exhibit.threshold_scale * noise, np.full(uniform.size, 1 / uniform.size)


def _pattern_chances(exhibit: SparseVector, patterns: NDArray[np.int8], x: Floats) -> Floats:
    places, weights = _threshold_grid(exhibit, 2_000)
    chances = []
    for pattern in patterns:
        product = weights
        for told, answer in zip(pattern, x, strict=True):
            if told >= 0:
                below = _below((places - answer) / exhibit.query_scale)
                product = product * (1 - below if told == 1 else below)
        chances.append(float(product.sum()))
    return np.array(chances)


def _verdicts(exhibit: SparseVector, y: NDArray[Any], x: Floats) -> Floats:
    patterns, place = np.unique(y.astype(np.int8), axis=0, return_inverse=True)
    return np.log(_pattern_chances(exhibit, patterns, x))[place.ravel()]


def _noiseless(exhibit: SparseVector, y: NDArray[Any], x: Floats) -> Floats:
    places, weights = _threshold_grid(exhibit)
    shown = (x[None, :] >= places[:, None]).astype(np.int8)
    patterns, place = np.unique(y.astype(np.int8), axis=0, return_inverse=True)
    chances = [float(weights[np.all(shown == pattern, axis=1)].sum()) for pattern in patterns]
    return np.log(chances)[place.ravel()]


def _numerical(exhibit: NumericalSparseVector, y: Floats, x: Floats) -> Floats:
    verdicts = np.where(y == BELOW, -1, np.where(y == 0.0, 0, 1)).astype(np.int8)
    values: Floats = np.where(verdicts == 1, -np.abs(y - x) / exhibit.value_scale, 0.0).sum(axis=1)
    return values + _verdicts(exhibit, verdicts, x)


def _values(exhibit: SparseVectorValues, y: Floats, x: Floats) -> Floats:
    places, weights = _threshold_grid(exhibit)
    verdicts = np.where(y == BELOW, 0, np.where(y == -2000.0, -1, 1)).astype(np.int8)
    least = np.where(verdicts == 1, y, np.inf).min(axis=1)
    total: Floats = np.where(verdicts == 1, -np.abs(y - x) / exhibit.query_scale, 0.0).sum(axis=1)
    patterns, place = np.unique(verdicts, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        product = weights
        for told, answer in zip(pattern, x, strict=True):
            product = product * _below((places - answer) / exhibit.query_scale) if told == 0 else product
        rows = np.flatnonzero(place.ravel() == number)
        passed = np.interp(least[rows], places, np.cumsum(product))
        total[rows] += np.log(passed)
    return total
