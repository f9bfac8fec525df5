"""Columns of any table library as codes: numbers through sorted arrays, everything else through a dictionary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, UnknownName
from discreet.statistics.columns import held_by_numpy, is_large

Places = NDArray[np.int64]
_DENSE = 1 << 20  # the longest look-up table for integers
_FINE = ("ns", "ps", "fs", "as")


def column(table: Any, name: str) -> Any:
    """Return one column of a mapping, a data frame or an arrow table."""
    names = getattr(table, "column_names", None)  # an arrow table knows its names and nothing of `in`
    if name not in (table if names is None else names):
        raise UnknownName(f"the table has no column {name[:80]!r}")
    return table[name]


def places(entries: Any, values: Sequence[Any]) -> Places:
    """Return the position of every entry among distinct values, and len(values) for any other entry.

    An entry is a value if the two are equal in Python: 1, 1.0 and True are one value. None, NaN and masked entries are
    no value at all, and in columns of numpy (see `statistics.columns`) nor are numbers of 2^53 and more in size.

    >>> places(["b", None, "a", 7], ["a", "b"]).tolist()
    [1, 2, 0, 2]
    """
    if held_by_numpy(entries):
        values = [float("nan") if is_large(value) else value for value in values]  # equal to nothing
    distinct = _already_coded(entries)
    if distinct is not None:
        few, codes = distinct
        return np.append(_looked_up(few, values), len(values))[codes]
    entries = _loose(entries)
    if isinstance(entries, list):
        return _looked_up(entries, values)
    data, masked = plain(entries)
    found = _numbers(data, values) if data.dtype.kind in "biuf" else None
    if found is None:
        found = _looked_up(python_times(data) if data.dtype.kind in "mM" else data.tolist(), values)
    found[masked] = len(values)
    return found


def python_times(data: NDArray[Any]) -> list[Any]:
    """Return times as Python's own, and None for those outside Python's range, which numpy would list as integers."""
    coarse = data
    if np.datetime_data(data.dtype)[0] in _FINE:  # Python's own times end at microseconds
        coarse = data.astype(f"{data.dtype.kind}8[us]")
    same = (coarse == data).tolist()
    return [
        entry if held and type(entry) is not int else None for entry, held in zip(coarse.tolist(), same, strict=True)
    ]


def plain(entries: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return a column as a one-dimensional array and which of its entries are masked."""
    entries = _loose(entries)
    if isinstance(entries, list):
        entries = np.fromiter(entries, dtype=object, count=len(entries))
    return np.ma.getdata(entries), np.ma.getmaskarray(entries)


def _loose(entries: Any) -> NDArray[Any] | list[Any]:
    """Return a column of any library as an array or, where an array would change its entries, as a list of them."""
    library = type(entries).__module__.partition(".")[0]
    if getattr(entries, "ndim", 1) != 1 or getattr(getattr(entries, "dtype", None), "names", None):
        raise InputError("a column must have one dimension; two columns may have the same name")
    if library == "pandas":
        ordinary = isinstance(entries.dtype, np.dtype)
        entries = entries.to_numpy() if ordinary else entries.to_numpy(dtype=object, na_value=None)
    elif library == "polars":
        plainly = entries.dtype.is_float() or (entries.dtype.is_integer() and not entries.null_count())
        plainly = plainly and "128" not in str(entries.dtype)  # numpy has no such integers
        if entries.dtype.is_temporal():
            entries = _polars_times(entries)
        else:
            entries = entries.to_numpy() if plainly else entries.to_list()
    elif library == "pyarrow":
        entries = _listed(entries)
    if isinstance(entries, np.ndarray | list):
        return entries
    if isinstance(entries, str | bytes) or not hasattr(entries, "__iter__"):
        raise InputError("a column must be a list or an array of entries")
    return list(entries)


def _polars_times(entries: Any) -> NDArray[Any] | list[Any]:
    """Return times by way of numpy: as a list, one that Python cannot have would end the program."""
    array: NDArray[Any] = entries.to_numpy()  # those of a time zone in UTC
    if getattr(entries.dtype, "time_zone", None) is None:
        return array
    return [None if entry is None else entry.replace(tzinfo=UTC) for entry in python_times(array)]


def _already_coded(entries: Any) -> tuple[list[Any], NDArray[np.int64]] | None:
    """Return the distinct entries and a code for each, -1 where one is null, if the library has them at hand."""
    library = type(entries).__module__.partition(".")[0]
    if library == "pandas" and hasattr(entries, "cat"):
        return entries.cat.categories.tolist(), entries.cat.codes.to_numpy().astype(np.int64)
    if library == "pyarrow":
        try:
            coded = entries.dictionary_encode()
        except NotImplementedError:  # lists and records: not coded, and no values either
            return None
        coded = coded.unify_dictionaries().combine_chunks() if hasattr(coded, "chunks") else coded
        chunks = getattr(coded, "chunks", [coded])
        if len(chunks) == 1:
            codes = chunks[0].indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
            return _listed(chunks[0].dictionary), codes
    return None


def _listed(entries: Any) -> list[Any]:
    """Return an arrow column as a list, None for what Python has no object for, such as times after the year 9999."""
    try:
        listed: list[Any] = entries.to_pylist()
    except Exception:  # of many types, and a message may show an entry
        listed = [_object(entry) for entry in entries]
    return listed


def _object(entry: Any) -> Any:
    """Return one entry of an arrow column as a Python object, None if it is missing."""
    try:
        return entry.as_py()
    except Exception:  # as above
        return None


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
