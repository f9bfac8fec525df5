"""Gaussian noise on several numbers: the error of each statistic, and its noise beside the analytic Gaussian's."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import discreet as dp
from benchmarks.common.report import Row
from discreet import statistics

RUNS, EPSILON, DELTA = 1000, 1.0, 1e-6
KEYS = tuple("abcdefghi")
_ROWS = 10_000
_BAR = 1.000001


@dataclass(frozen=True)
class Vector:
    """A statistic that is released with noise on integers, and rows to release it of."""

    name: str
    make: Callable[..., Any]
    rows: Any
    truth: Any
    of: Callable[[Any], Any] = lambda answer: answer.value


def vectors() -> list[Vector]:
    """Return the statistics, of ten thousand rows each: values between 0 and 1, keys, and columns within a ball."""
    added, changed = dp.Relation.ADD_REMOVE, dp.Relation.CHANGE_ONE
    values = (np.arange(_ROWS) + 0.5) / _ROWS
    keys = [KEYS[place % len(KEYS)] for place in range(_ROWS)]
    share = {key: keys.count(key) for key in KEYS}
    unit: dict[str, Any] = {"bounds": (0, 1)}

    def columns(number: int) -> Vector:
        ball: dict[str, Any] = {"center": [0] * number, "radius": 1}
        table, truth = np.zeros((_ROWS, number)), np.zeros((number, number))
        return Vector(
            f"second moments, add/remove, ball of {number} columns",
            lambda **price: statistics.Covariance(relation=added, **ball, **price),
            table,
            truth,
        )

    return [
        Vector("sum, add/remove", lambda **price: statistics.Sum(relation=added, **unit, **price), values, _ROWS / 2),
        Vector("mean, add/remove", lambda **price: statistics.Mean(relation=added, **unit, **price), values, 0.5),
        Vector(
            "mean, change-one, n private",
            lambda **price: statistics.Mean(relation=changed, **unit, **price),
            values,
            0.5,
        ),
        Vector(
            "variance, add/remove",
            lambda **price: statistics.Variance(relation=added, **unit, **price),
            values,
            float(values.var()),
        ),
        Vector(
            "variance, change-one, n private",
            lambda **price: statistics.Variance(relation=changed, **unit, **price),
            values,
            float(values.var()),
        ),
        *(
            Vector(
                f"histogram of 9 keys, {relation.value}",
                lambda relation=relation, **price: statistics.Histogram(keys=KEYS, relation=relation, **price),
                keys,
                np.array([share[key] for key in KEYS]),
            )
            for relation in (added, changed)
        ),
        columns(2),
        columns(8),
    ]


def gaussian(_: object) -> Iterator[Row]:
    """Measure the root mean square error at (1, 1e-6) beside Laplace noise at 1, and compare the noise exactly.

    The analytic Gaussian is the least continuous noise for the L2 sensitivity, from a root of Balle and Wang's formula;
    rounding to integers adds 1/12 to its variance.
    """
    least = analytic_scale(EPSILON, DELTA)
    for vector in vectors():
        noisy = vector.make(epsilon=EPSILON, delta=DELTA)
        normal, plain = (error(vector, one) for one in (noisy, vector.make(epsilon=EPSILON)))
        mechanism = noisy.mechanism
        analytic = math.sqrt(mechanism._squared) * least
        ratio = math.sqrt(float(mechanism.noise.variance) / (analytic**2 + 1 / 12))
        law = type(mechanism.noise).__name__
        yield Row(
            f"{vector.name}, epsilon 1, delta 1e-6: error; noise over the analytic Gaussian's",
            f"{normal:.3g} ({law})",
            f"Laplace, epsilon 1: {plain:.3g}",
            f"{ratio:.7f} x",
            f"<= {_BAR:.6f} x",
            ratio <= _BAR,
        )


def error(vector: Vector, statistic: Any) -> float:
    """Return the root mean square error of releases of one table."""
    squares = []
    for _ in range(RUNS):
        answer = statistic.estimate(statistic.release(vector.rows), public_rows=_ROWS)
        off = np.asarray(vector.of(answer), dtype=np.float64) - vector.truth
        squares.append(float(np.mean(off**2)))
    return math.sqrt(float(np.mean(squares)))


def analytic_scale(epsilon: float, delta: float) -> float:
    """Return the least deviation of continuous Gaussian noise for an L2 sensitivity of 1."""
    from scipy.optimize import brentq
    from scipy.special import ndtr

    def excess(log_scale: float) -> float:
        scale = math.exp(log_scale)
        near, far = 1 / (2 * scale) - epsilon * scale, -1 / (2 * scale) - epsilon * scale
        return float(ndtr(near) - math.exp(epsilon) * ndtr(far)) / delta - 1

    return math.exp(brentq(excess, math.log(0.01), math.log(1e4), xtol=1e-14, rtol=1e-14))
