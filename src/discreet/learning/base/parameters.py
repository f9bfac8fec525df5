"""Parameters that every estimator must be told, because they are never read off the rows: bounds and people."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.display import as_stated
from discreet.errors import MissingParameter, ParameterError

Floats = NDArray[np.float64]
_MOST_PEOPLE = 1 << 40
_FAR = 1e150


def stated_bounds(bounds: Any, features: int, *, name: str = "bounds") -> tuple[Floats, Floats]:
    """Return the ends of the range of every feature; one pair of numbers is the range of all of them.

    >>> [ends.tolist() for ends in stated_bounds((0, [1, 2]), 2)]
    [[0.0, 0.0], [1.0, 2.0]]
    """
    wanted = f"{name}=(low, high), each a number or a list with a number for each of the {features} features"
    wanted += f": all lows, then all highs, as in {name}=([18, 0], [95, 200000])"
    if name != "bounds":
        wanted = f"{name}=(low, high), two numbers"
    if bounds is None:
        raise MissingParameter(
            f"{name} must be given: the range of values is private, so it is not read off the rows; got none, write "
            f"{wanted}",
            parameter=name,
        )
    try:
        low, high = bounds
        ends = [np.broadcast_to(np.asarray(end, dtype=np.float64), (features,)) for end in (low, high)]
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{name} must be a pair of ends; got another, write {wanted}", parameter=name) from None
    if not all(np.isfinite(end).all() and (np.abs(end) <= _FAR).all() for end in ends) or not (ends[0] < ends[1]).all():
        raise ParameterError(
            f"{name} must have low below high in every feature, both finite and below 1e150 in size; got equal, "
            f"reversed or other ends, write {wanted}",
            parameter=name,
        )
    if not (ends[1] - ends[0] > np.maximum((np.abs(ends[0]) + np.abs(ends[1])) * 2.0**-40, 1 / _FAR)).all():
        raise ParameterError(
            f"{name} must not be narrower than floats can tell apart, nor than 1e-150; got a narrower range, write it "
            "in another unit, or with a public offset subtracted",
            parameter=name,
        )
    return np.array(ends[0]), np.array(ends[1])


def stated_people(people: Any) -> int:
    """Return the public number of people."""
    if people is None:
        raise MissingParameter(
            "people must be given: how many rows there are is private, so they are not counted; got none, write "
            "people=1000, about how many people you expect, a number that you may tell everybody",
            parameter="people",
        )
    return whole_number(people, name="people", least=1, most=_MOST_PEOPLE)


def whole_number(value: Any, *, name: str, least: int, most: int) -> int:
    """Return a whole number within a range."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= int(value) <= most:
        raise ParameterError(
            f"{name} must be a whole number from {least:,} to {most:,}; got {as_stated(value)}, write {name}={least}, "
            "for example",
            parameter=name,
        )
    return int(value)
