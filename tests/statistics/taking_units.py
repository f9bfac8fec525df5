"""Every statistic that takes units, small enough for its exact law, with values to ask it about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import discreet as dp
from discreet import statistics

STATED: dict[str, Any] = {"relation": dp.Relation.ADD_REMOVE, "epsilon": 1, "rows": 2}
KEYS: dict[str, Any] = {"relation": dp.Relation.ADD_REMOVE, "epsilon": 1, "groups": 2}
RANGE: dict[str, Any] = {"bounds": (0, 4), "grid": 1}
NUMBERS, MANY_KEYS = [3.0, 1.0], [f"k{number}" for number in range(24)]
TAKE_UNITS: dict[str, tuple[Callable[[], Any], list[Any]]] = {
    "Count": (lambda: statistics.Count(**STATED), [True]),
    "Count of a condition": (lambda: statistics.Count(filtered=True, **STATED), [True]),
    "Sum": (lambda: statistics.Sum(bounds=(0, 10), **STATED), [3.0]),
    "Mean": (lambda: statistics.Mean(bounds=(0, 10), **STATED), [3.0]),
    "Variance": (lambda: statistics.Variance(bounds=(0, 10), **STATED), NUMBERS),
    "StandardDeviation": (lambda: statistics.StandardDeviation(bounds=(0, 10), **STATED), NUMBERS),
    "Histogram": (lambda: statistics.Histogram(keys=["a", "b"], **STATED), ["a", "b"]),
    "DiscoveredHistogram": (lambda: statistics.DiscoveredHistogram(delta=1e-3, **KEYS), ["a", "b"]),
    "CountDistinct": (lambda: statistics.CountDistinct(**KEYS), MANY_KEYS),
    "Quantile": (lambda: statistics.Quantile(level=0.5, **RANGE, **STATED), NUMBERS),
    "Quantiles": (lambda: statistics.Quantiles(levels=(0.25, 0.5), tie_bits=0, **RANGE, **STATED), NUMBERS),
    "ClippingBounds": (
        lambda: statistics.ClippingBounds(level=0.9, smallest=1, largest=4, per_doubling=1, **STATED), NUMBERS,
    ),
}  # fmt: skip
