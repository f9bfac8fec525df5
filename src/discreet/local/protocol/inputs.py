"""Private values on their way into a client: checked against the public domain, and never shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError

Integers = NDArray[np.int64]


def checked_items(values: Any, size: int, places: Mapping[str, int]) -> Integers:
    """Return values as int64 from 0 to size - 1; refuse everything else in the same words, whatever it is.

    A container that has no entry for each person is refused in other words: it is code, not a value. `places` says
    where each label stands; it is empty where a protocol has none.

    >>> checked_items([2, 0, 1], 3, {}).tolist(), checked_items(["b", 0], 2, {"a": 0, "b": 1}).tolist()
    ([2, 0, 1], [1, 0])
    """
    column = one_entry_each(values)
    if column is None:
        raise InputError(
            "values come as a list or one-dimensional array, one entry a person (report() takes a single value); "
            "nothing was reported"
        )
    items = _items(column, size, places)
    if items is None:  # raised here, outside any handler: nothing that could carry the value is chained
        words = " or one of its labels" if places else ""
        raise InputError(f"a value is an int from 0 to {size - 1}{words}; nothing was reported")
    return items


def is_integer(value: object) -> bool:
    """Say whether an object is an integer of Python or numpy: no bool, and no span of time, which numpy counts in."""
    return type(value) is int or (isinstance(value, np.integer) and not isinstance(value, np.timedelta64))


def one_entry_each(values: Any) -> list[Any] | tuple[Any, ...] | NDArray[Any] | None:
    """Return one entry for each person as a list or an array, or None if the container has no such entries."""
    if isinstance(values, list | tuple):
        return values
    try:
        array = np.asanyarray(values)
    except Exception:  # an object may do anything when it is asked for an array
        return None
    return array if array.ndim == 1 else None


def _items(values: Any, size: int, places: Mapping[str, int]) -> Integers | None:
    """Return the values of a column as int64, or None if any of them is no value."""
    if isinstance(values, np.ma.MaskedArray):
        return None
    if isinstance(values, list | tuple):
        return _one_by_one(values, size, places)
    if not values.size:
        return np.empty(0, dtype=np.int64)  # nobody is of no kind: numpy makes [] a column of floats
    if values.dtype.kind in "iu":
        return values.astype(np.int64) if _within(values, size) else None
    return _one_by_one(values.tolist(), size, places) if values.dtype.kind in "OUT" else None


def _one_by_one(values: Any, size: int, places: Mapping[str, int]) -> Integers | None:
    """Read Python objects: plain ints and labels, no bool, no float, no text that stands for a number."""
    found = np.empty(len(values), dtype=np.int64)
    for position, value in enumerate(values):
        place = places.get(value, -1) if isinstance(value, str) else int(value) if is_integer(value) else -1
        if not 0 <= place < size:
            return None
        found[position] = place
    return found


def _within(array: NDArray[Any], size: int) -> bool:
    """Say whether all values lie in the domain; compared as Python ints, so that no type can wrap round."""
    return not array.size or (int(array.min()) >= 0 and int(array.max()) < size)
