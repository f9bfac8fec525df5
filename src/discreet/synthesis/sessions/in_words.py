"""The public parameters of a method as people read them, and as plain values for machines."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import Enum
from fractions import Fraction
from numbers import Number
from typing import Any

import numpy as np

_FEW = 6  # numbers that are listed one by one


def plan_lines(plan: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return every parameter with its value in words.

    >>> plan_lines(
    ...     {
    ...         "most_edges": 1200,
    ...         "share": Fraction(1, 3),
    ...         "noise": {"age": 1.5, "sex": 2.25},
    ...     }
    ... )
    [('most edges', '1,200'), ('share', '0.333333'), ('noise', 'age 1.5, sex 2.25')]
    >>> plan_lines(
    ...     {"noise": dict.fromkeys("abcdefgh", 3), "draws": (1, 2, 3, 4, 5, 6, 7)}
    ... )
    [('noise', '3 for each of 8'), ('draws', '7 values from 1 to 7')]
    """
    return [(str(name).replace("_", " "), value_in_words(value)) for name, value in plan.items()]


def value_in_words(value: Any) -> str:
    """Return one value: few numbers in full, many as their number and range."""
    value = _python(value)
    if isinstance(value, Mapping):
        if len(value) > _FEW:
            return _summary(list(value.values()))
        return ", ".join(f"{name} {value_in_words(one)}" for name, one in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return _summary(value) if len(value) > _FEW else ", ".join(value_in_words(one) for one in value)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if not isinstance(value, float | Fraction):
        return str(value)
    return _decimal(value)


def _decimal(value: float | Fraction) -> str:
    try:
        return f"{float(value):.6g}"
    except OverflowError:
        return str(value)


def plain(value: Any) -> Any:
    """Return one value as JSON has it: exact fractions as the nearest float, what is not finite as None.

    >>> plain({"eta": Fraction(1, 4), "draws": (1, 2), "noise": float("inf")})
    {'eta': 0.25, 'draws': [1, 2], 'noise': None}
    """
    value = _python(value)
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(one) for one in value]
    if isinstance(value, Fraction):
        try:
            return float(value)
        except OverflowError:
            return str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def exact(plan: Mapping[str, Any]) -> dict[str, str]:
    """Return the fractions among the parameters, exactly: "1/3"."""
    return {str(name): str(value) for name, value in plan.items() if isinstance(value, Fraction)}


def _python(value: Any) -> Any:
    """Return numbers and arrays of numpy as Python's own, and a choice by its value."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return value.value if isinstance(value, Enum) else value


def _summary(values: Sequence[Any]) -> str:
    """Return how many there are, and from where to where they go."""
    if not all(isinstance(one, Number) and not isinstance(one, bool | complex) for one in values):
        return f"{len(values):,} values"
    low, high = value_in_words(min(values)), value_in_words(max(values))
    return f"{low} for each of {len(values):,}" if low == high else f"{len(values):,} values from {low} to {high}"
