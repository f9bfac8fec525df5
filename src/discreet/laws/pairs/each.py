"""Outcomes of laws that list them: one, or an array, list or tuple of them, each answered with one number."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from discreet.errors import ParameterError

_WRITE = "pass one outcome of the law, or an array or a list of outcomes"


def of_each(outcome: Any, known: Sequence[Hashable], chance: Callable[[int], float]) -> Any:
    """Return the chance of an outcome, 0.0 for one that is not known, or an array with one number for each of many.

    Arrays and lists hold many outcomes, and so does a tuple unless outcomes are tuples themselves; then each row of an
    array of numbers is one outcome, and a list holds tuples.

    >>> of_each([1, 7], [0, 1], lambda place: [0.25, 0.75][place])
    array([0.75, 0.  ])
    """
    places = {one: place for place, one in enumerate(known)}
    tuples = any(isinstance(one, tuple) for one in places)

    def single(entry: Any) -> float:
        if not _hashable(entry):
            raise ParameterError(f"a {type(entry).__name__} is no outcome: {_WRITE}", parameter="outcome")
        place = places.get(entry)
        return 0.0 if place is None else chance(place)

    if isinstance(outcome, np.ndarray | np.generic) and outcome.ndim == 0:
        return single(outcome.item())
    several = isinstance(outcome, tuple) and outcome not in places and (not tuples or _only_tuples(outcome))
    if isinstance(outcome, np.ndarray | list) or several:
        entries, shape = unpacked(outcome, rows=tuples)
        if tuples and not any(isinstance(entry, tuple) for entry in entries) and entries:
            raise ParameterError("outcomes of this law are tuples: pass one, or a list of tuples", parameter="outcome")
        return np.array([single(entry) for entry in entries], dtype=np.float64).reshape(shape)[()]
    return single(outcome)


def unpacked(outcomes: Any, *, rows: bool) -> tuple[list[Any], tuple[int, ...]]:
    """Return outcomes one by one and their shape; with `rows` the last axis of an array of numbers is one outcome."""
    if isinstance(outcomes, np.ndarray):
        if rows and outcomes.dtype != object:
            if not outcomes.size:
                return [], outcomes.shape if outcomes.ndim == 1 else outcomes.shape[:-1]
            shape = outcomes.shape[:-1]
            return [tuple(row) for row in outcomes.reshape(int(np.prod(shape)), -1).tolist()], shape
        return outcomes.ravel().tolist(), outcomes.shape
    nested = [isinstance(one, list) for one in outcomes]
    if not any(nested):
        return [one.item() if isinstance(one, np.generic) else one for one in outcomes], (len(outcomes),)
    parts = [unpacked(one, rows=rows) for one in outcomes if isinstance(one, list)]
    if not all(nested) or len({shape for _, shape in parts}) > 1:
        raise ParameterError(f"lists of outcomes inside a list must have equal lengths: {_WRITE}", parameter="outcome")
    return [entry for entries, _ in parts for entry in entries], (len(parts), *parts[0][1])


def _only_tuples(outcome: tuple[Any, ...]) -> bool:
    return bool(outcome) and all(isinstance(entry, tuple) for entry in outcome)


def _hashable(entry: object) -> bool:
    try:
        hash(entry)
    except TypeError:
        return False
    return True
