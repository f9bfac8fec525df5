"""Cells of a column as places in a public list of values: numbers by sorted arrays, all else by a dictionary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.frames.column import FrameColumn, frame_library
from discreet.frames.numeric import held_by_numpy, is_large
from discreet.frames.times import python_times

Places = NDArray[np.int64]
_DENSE = 1 << 20  # the longest look-up table for integers


def places(entries: Any, values: Sequence[Any]) -> Places:
    """Return the position of every entry among distinct values, and len(values) for an entry that is not in the list.

    An entry is a value if the two are equal in Python: 1, 1.0 and True are one value. None, NaN and masked entries are
    no value at all, and in columns of numpy (see `frames.numeric`) nor are numbers of 2^53 and more in size.

    >>> places(["b", None, "a", 7], ["a", "b"]).tolist()
    [1, 2, 0, 2]
    """
    if held_by_numpy(entries):
        values = [float("nan") if is_large(value) else value for value in values]  # equal to nothing
    read = FrameColumn.read(as_column(entries))
    if read.coded is None:
        return _found(read, values)
    few, codes = read.coded()
    return np.append(_found(few, values), len(values))[codes]


def _found(read: FrameColumn, values: Sequence[Any]) -> Places:
    """Return the places of the cells of a column that is read."""
    array = read.array
    if array is None:
        return _looked_up(read.listed(), values)
    found = _numbers(array, values) if array.dtype.kind in "biuf" else None
    if found is None:
        times = array.dtype.kind in "mM"
        found = _looked_up(python_times(array, zone=read.zone) if times else array.tolist(), values)
    if read.missing is not None:
        found[read.missing] = len(values)
    return found


def as_column(entries: Any) -> Any:
    """Return anything that can be iterated over as a list, and arrays and columns of a library as they are."""
    loose = frame_library(entries) is None and not isinstance(entries, np.ndarray | str | bytes)
    return list(entries) if loose and hasattr(entries, "__iter__") else entries


def _looked_up(entries: list[Any], values: Sequence[Any]) -> Places:
    """Return positions through a dictionary; what cannot be a key, or be compared, is no value."""
    absent = len(values)
    known: Mapping[Any, int] = {value: place for place, value in enumerate(values)}
    try:
        return np.fromiter((known.get(entry, absent) for entry in entries), dtype=np.int64, count=len(entries))
    except Exception:  # a foreign object may raise anything, and its message may show it
        return np.fromiter((_one(entry, known, absent) for entry in entries), dtype=np.int64, count=len(entries))


def _one(entry: Any, known: Mapping[Any, int], absent: int) -> int:
    """Return the position of an entry that may not be hashable."""
    try:
        return known.get(entry, absent)
    except Exception:  # as above
        return absent


def _numbers(data: NDArray[Any], values: Sequence[Any]) -> Places | None:
    """Return the positions of numbers without a Python object for each, or None where equality is not so simple."""
    if not all(type(value) in (bool, int, float, str, bytes) for value in values):
        return None
    whole = data.dtype.kind != "f"
    held = data.astype(np.int64) if data.dtype.kind == "b" else data
    if held.dtype.itemsize < 8 or held.dtype == np.float16:
        held = held.astype(np.float64 if not whole else np.int64)
    if held.dtype not in (np.dtype(np.int64), np.dtype(np.uint64), np.dtype(np.float64)):
        return None
    exact = {place: _as(value, held.dtype) for place, value in enumerate(values)}
    pairs = [(number, place) for place, number in exact.items() if number is not None]
    if not pairs:
        return np.full(len(held), len(values), dtype=np.int64)
    keys = np.array([number for number, _ in pairs], dtype=held.dtype)
    codes = np.array([place for _, place in pairs], dtype=np.int64)
    return _dense(held, keys, codes, len(values)) if whole else _sorted(held, keys, codes, len(values))


def _as(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a value as a number of the type if that is the same number, else None."""
    if isinstance(value, str | bytes):
        return None
    if dtype.kind == "f":
        try:
            return float(value) if float(value) == value else None
        except OverflowError:
            return None
    if isinstance(value, float) and not value.is_integer():  # an infinity is no integer either
        return None
    limits = np.iinfo(dtype)
    return int(value) if limits.min <= int(value) <= limits.max else None


def _dense(data: NDArray[Any], keys: NDArray[Any], codes: Places, absent: int) -> Places:
    """Return the positions of integers by a look-up table where the keys are close together."""
    low, high = int(keys.min()), int(keys.max())
    if high - low >= _DENSE:
        return _sorted(data, keys, codes, absent)
    table = np.full(high - low + 2, absent, dtype=np.int64)
    table[[int(key) - low for key in keys]] = codes
    inside = (data >= keys.min()) & (data <= keys.max())
    shifted = np.where(inside, data, keys.min()) - keys.min()
    return table[np.where(inside, shifted.astype(np.int64), high - low + 1)]


def _sorted(data: NDArray[Any], keys: NDArray[Any], codes: Places, absent: int) -> Places:
    """Return the positions of numbers by binary search; NaN equals nothing."""
    order = np.argsort(keys)
    keys, codes = keys[order], codes[order]
    near = np.minimum(np.searchsorted(keys, data), len(keys) - 1)
    return np.where(keys[near] == data, codes[near], absent)
