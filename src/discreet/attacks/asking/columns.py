"""Tables and columns as people have them: of discreet, mappings of lists or arrays, pandas, Polars and Arrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.data import InventedTable
from discreet.errors import InputError
from discreet.frames import AnyFrame, Frame, FrameColumn, frame_library
from discreet.statistics.columns import key_codes

Columns = InventedTable | Mapping[str, ArrayLike] | AnyFrame
_KINDS = "numbers, dates, Booleans or texts"


def columns_of(table: Columns, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return some columns of a table as arrays of one length; a missing value is no value to compare by.

    >>> columns_of({"a": [1, 2], "b": ["x", "y"]}, ["b"])
    {'b': array(['x', 'y'], dtype='<U1')}
    """
    frame = Frame.read(table)
    found = {name: column_of(frame, name) for name in names}
    if len({len(column) for column in found.values()}) > 1:
        raise InputError("all columns must be of one length")
    return found


def column_of(table: Frame, name: str) -> NDArray[Any]:
    """Return a column of a table; a missing value is no value to compare by."""
    column = array_of(table.stored(name), what=f"column {name!r}")
    if column.ndim != 1 or column.dtype.kind not in "biufMmUS":
        raise InputError(f"column {name!r} must be one-dimensional, of {_KINDS}, all of one kind")
    if column.dtype.kind in "fMm" and np.isnan(column).any():
        raise _missing(f"column {name!r}")
    return column


def array_of(data: Any, *, what: str = "the data") -> NDArray[Any]:
    """Return data as an array, of any shape; text and other objects of one kind as numpy's own types.

    >>> array_of(np.array(["x", "y"], dtype=object)).dtype.kind
    'U'
    """
    if frame_library(data) is not None and not hasattr(data, "columns"):
        return _of_objects(data, what)
    try:
        array = _unmasked(data) if isinstance(data, np.ma.MaskedArray) else np.asarray(data)
    except (TypeError, ValueError):
        raise InputError("the rows must be of one length") from None
    if array.dtype.kind == "T" or _is_mixed(data, array):
        array = np.array(data, dtype=object)
    return _of_objects(array, what) if array.dtype.kind == "O" and array.ndim == 1 else array


def _unmasked(data: NDArray[Any]) -> NDArray[np.object_]:
    """Return a masked array as Python objects, None where it is masked (numpy's own filling cannot put None there)."""
    objects = np.ma.getdata(data).astype(object)
    objects[np.ma.getmaskarray(data)] = None
    return objects


def _is_mixed(data: object, array: NDArray[Any]) -> bool:
    """Say whether numpy turned numbers of a list into texts."""
    listed = isinstance(data, list | tuple) and array.ndim == 1 and array.dtype.kind in "US"
    return listed and not all(isinstance(one, str | bytes) for one in data)  # type: ignore[attr-defined]


def _of_objects(data: Any, what: str) -> NDArray[Any]:
    """Return a column of a frame, or of Python objects, as an array of one of numpy's types."""
    try:
        read = FrameColumn.read(data)
        codes, keys = key_codes(read.listed()) if read.array is None else (None, [])
    except InputError:
        raise InputError(f"{what} must be one-dimensional, of {_KINDS}, all of one kind") from None
    if codes is None:
        return _of_type(read, what)
    if (codes < 0).any():
        raise _missing(what)
    kinds = {type(key) for key in keys}
    # what is of several kinds would be turned into text, and then 1 and "1" agree
    array: Any = np.asarray(keys) if len(kinds) == 1 else None if keys else np.zeros(0)
    if array is not None and array.dtype.kind == "O":
        array = _times(keys)
    if array is None or array.ndim != 1:
        raise InputError(f"{what} must be of {_KINDS}, all of one kind")
    return np.asarray(array[codes] if len(keys) else array)


def _of_type(read: FrameColumn, what: str) -> NDArray[Any]:
    """Return a column of numbers, truth values or times as it is; a missing cell raises InputError."""
    array: Any = read.array
    gone = np.isnan(array) if array.dtype.kind in "fcmM" else np.zeros(array.size, dtype=np.bool_)
    if (gone if read.missing is None else gone | read.missing).any():
        raise _missing(what)
    return np.asarray(array)


def _times(keys: list[Any]) -> NDArray[Any] | None:
    """Return dates, times or spans as numpy has them, None for anything else."""
    for kind in ("M8[us]", "m8[us]"):
        try:
            return np.asarray(keys, dtype=kind)
        except (TypeError, ValueError, OverflowError):
            continue
    return None


def _missing(what: str) -> InputError:
    return InputError(f"{what} has missing values; drop those rows, or give the missing a value of its own")
