"""Where rows of several columns are clipped, as people say it: bounds a column, or a centre and a radius."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import ConflictingParameters, MissingParameter, ParameterError
from discreet.laws.number import Number, positive_rational, rational_or_none
from discreet.privacy.parameters import whole
from discreet.statistics.fixed_point import stated_bounds
from discreet.statistics.gram import MOST_COLUMNS, STEPS, Region
from discreet.statistics.missing import replacement


def stated_region(centre: Sequence[Number] | None, radius: Number | None, bounds: Any, steps: int) -> Region:
    """Return the box or the ball that was asked for; neither is ever taken from the data."""
    steps = whole(steps, name="steps")
    if steps > STEPS:
        raise ParameterError("steps= is at most 2^38", parameter="steps")
    if bounds is not None and (centre is not None or radius is not None):
        raise ConflictingParameters("give bounds=, or centre= with radius=, not both", parameter="bounds")
    if bounds is None and (centre is None or radius is None):
        raise MissingParameter(
            "say where rows are clipped: bounds=[(low, high), ...] with a pair a column, or centre=[...] with radius=. "
            "It is public and never taken from the data",
            parameter="bounds",
        )
    return _box(bounds, steps) if bounds is not None else _ball(centre, radius, steps)


def _box(bounds: Any, steps: int) -> Region:
    """Return the box of the bounds; its centre is a float, and its sides reach at least as far as the bounds."""
    pairs = [stated_bounds(pair, name="columns") for pair in _listed(bounds, "bounds")]
    middles = [_float((low + high) / 2, "bounds") for low, high in pairs]
    halves = [
        _float(max(high - Fraction(middle), Fraction(middle) - low), "bounds")
        for (low, high), middle in zip(pairs, middles, strict=True)
    ]
    return Region(tuple(middles), tuple(halves), ball=False, steps=steps)


def _ball(centre: Any, radius: Any, steps: int) -> Region:
    """Return the ball about a centre; on a line that is a box."""
    places = [rational_or_none(place) for place in _listed(centre, "centre")]
    if any(place is None for place in places):
        raise ParameterError("centre is a list of finite numbers, one a column", parameter="centre")
    size = _float(positive_rational(radius, name="radius"), "radius")
    exact = tuple(_float(place or Fraction(0), "centre") for place in places)
    return Region(exact, (size,) * len(exact), ball=len(exact) > 1, steps=steps)


def _listed(values: Any, name: str) -> list[Any]:
    """Return a list with an entry a column."""
    entries = list(values) if isinstance(values, list | tuple | np.ndarray) else []
    if not 1 <= len(entries) <= MOST_COLUMNS:
        raise ParameterError(f"{name} is a list with an entry a column, at most {MOST_COLUMNS}", parameter=name)
    return entries


def _float(value: Fraction, name: str) -> float:
    """Return the nearest float, refused beyond what products of floats hold."""
    if not abs(value) <= 10**150 or (value and abs(value) < Fraction(1, 10**150)):
        raise ParameterError(f"{name} lies between 1e-150 and 1e150 in size", parameter=name)
    return float(value)


def stated_fill(missing: Any, dimension: int) -> tuple[float, ...] | None:
    """Return what replaces a missing value in each column, None where rows with one are left out."""
    if isinstance(missing, list | tuple | np.ndarray):
        if len(missing) != dimension:
            raise ParameterError("missing= has a number a column, or one for all", parameter="missing")
        return tuple(_float(replacement(one) or Fraction(0), "missing") for one in missing)
    replaced = replacement(missing)
    return None if replaced is None else (_float(replaced, "missing"),) * dimension
