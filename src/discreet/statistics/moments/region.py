"""Where rows of several columns are clipped, as people say it: bounds a column, or a centre and a radius."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import ConflictingParameters, MissingParameter, ParameterError
from discreet.laws.number import Number, positive_rational, rational_or_none, round_up
from discreet.privacy.numbers import whole
from discreet.statistics.columns import Missing, replacement, stated_bounds
from discreet.statistics.moments.gram import MOST_COLUMNS, STEPS, Region

_WHOLE = 2.0**53  # beyond it floats skip integers
_OFF_CENTRE = Fraction(1, 1 << 20)


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
        _upward(max(high - Fraction(middle), Fraction(middle) - low), "bounds")
        for (low, high), middle in zip(pairs, middles, strict=True)
    ]
    for (low, high), middle, half in zip(pairs, middles, halves, strict=True):
        _check_floats((low + high) / 2, middle, half, steps, "bounds")
    return Region(tuple(middles), tuple(halves), ball=False, steps=steps)


def _ball(centre: Any, radius: Any, steps: int) -> Region:
    """Return the ball about a centre; on a line that is a box."""
    places = [rational_or_none(place) for place in _listed(centre, "centre")]
    if any(place is None for place in places):
        raise ParameterError("centre is a list of finite numbers, one a column", parameter="centre")
    size = _upward(positive_rational(radius, name="radius"), "radius")
    exact = [place or Fraction(0) for place in places]
    centres = tuple(_float(place, "centre") for place in exact)
    for place, used in zip(exact, centres, strict=True):
        _check_floats(place, used, size, steps, "centre")
    return Region(centres, (size,) * len(centres), ball=len(centres) > 1, steps=steps)


def _check_floats(centre: Fraction, used: float, half: float, steps: int, name: str) -> None:
    """Refuse where the float used as a centre is no centre, or where integers are read to less than a step.

    An integer moved by half a step, and then by rounding to steps, stays within what the intervals allow for.
    """
    largest = abs(used) + half
    skipped = largest >= _WHOLE and math.ulp(largest) > half / steps
    if skipped or abs(Fraction(used) - centre) > Fraction(half) * _OFF_CENTRE:
        raise ParameterError(
            f"near {name}= floats are too far apart: subtract a public offset from the column and from {name}= first",
            parameter=name,
        )


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


def _upward(value: Fraction, name: str) -> float:
    """Return the least float that is at least a size, refused as `_float` does."""
    _float(value, name)
    return round_up(value)


def stated_fill(missing: Any, region: Region) -> tuple[float, ...] | None:
    """Return what replaces a missing value in each column, None where rows with one are left out."""
    if isinstance(missing, Missing):
        return None
    listed = list(missing) if isinstance(missing, list | tuple | np.ndarray) else [missing] * region.dimension
    if len(listed) != region.dimension or any(isinstance(one, Missing) for one in listed):
        raise ParameterError(
            "missing= has a number a column, or one for all; Missing.LEAVE_OUT stands alone, for whole rows",
            parameter="missing",
        )
    fills = [replacement(one) or Fraction(0) for one in listed]
    for fill, centre, half in zip(fills, region.centre, region.halves, strict=True):
        if abs(fill - Fraction(centre)) > Fraction(half):
            raise ParameterError(
                "what replaces missing values must lie within the bounds of its column, or within the radius of its "
                "centre; for different columns give a list",
                parameter="missing",
            )
    return tuple(_float(fill, "missing") for fill in fills)
