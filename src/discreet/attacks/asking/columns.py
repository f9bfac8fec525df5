"""Tables and columns as people have them: of discreet, mappings of lists or arrays, pandas, Polars and Arrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.data import InventedTable
from discreet.errors import InputError, ParameterError
from discreet.statistics.columns import frame_library, key_codes, unmasked


class Frame(Protocol):
    """A data frame: a column for a name."""

    def __getitem__(self, name: Any, /) -> Any:
        """Return a column."""


Columns = InventedTable | Mapping[str, ArrayLike] | Frame
_A_TABLE = "a table is one of discreet.data, a mapping from names to columns, or a pandas, Polars or Arrow table"
_KINDS = "numbers, dates, Booleans or texts"


def is_table(data: object) -> bool:
    """Say whether data has columns with names."""
    return isinstance(data, InventedTable | Mapping) or frame_library(data) is not None


def columns_of(table: Columns, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return some columns of a table as arrays of one length; a missing value is no value to compare by.

    >>> columns_of({"a": [1, 2], "b": ["x", "y"]}, ["b"])
    {'b': array(['x', 'y'], dtype='<U1')}
    """
    found = {name: column_of(table, name) for name in names}
    if len({len(column) for column in found.values()}) > 1:
        raise InputError("all columns must be of one length")
    return found


def column_of(table: Columns, name: str) -> NDArray[Any]:
    """Return a column of a table; a missing value is no value to compare by."""
    if isinstance(table, InventedTable):
        column: NDArray[Any] = table.column(name)
    else:
        names = _names(table)
        if name not in names:
            known = ", ".join(map(str, names)) or "none"
            raise ParameterError(f"there is no column {name!r}; the columns are {known}", parameter=str(name))
        column = array_of(table[name], what=f"column {name!r}")
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
        array = unmasked(data) if isinstance(data, np.ma.MaskedArray) else np.asarray(data)
    except (TypeError, ValueError):
        raise InputError("the rows must be of one length") from None
    if array.dtype.kind == "T" or _is_mixed(data, array):
        array = np.array(data, dtype=object)
    return _of_objects(array, what) if array.dtype.kind == "O" and array.ndim == 1 else array


def _is_mixed(data: object, array: NDArray[Any]) -> bool:
    """Say whether numpy turned numbers of a list into texts."""
    listed = isinstance(data, list | tuple) and array.ndim == 1 and array.dtype.kind in "US"
    return listed and not all(isinstance(one, str | bytes) for one in data)  # type: ignore[attr-defined]


def _names(table: object) -> list[Any]:
    """Return the names of a table's columns, or say what a table is."""
    if isinstance(table, Mapping):
        return list(table)
    if frame_library(table) is not None:
        if hasattr(table, "collect"):
            raise InputError("this frame has no rows yet: pass frame.collect()")
        names = getattr(table, "column_names", getattr(table, "columns", None))
        if names is not None:
            return list(names)
    raise InputError(f"{_A_TABLE}, not {type(table).__name__}")


def _of_objects(data: Any, what: str) -> NDArray[Any]:
    """Return a column of a frame, or of Python objects, as an array of one of numpy's types."""
    try:
        codes, keys = key_codes(data, as_written=True)
    except InputError:
        raise InputError(f"{what} must be one-dimensional, of {_KINDS}, all of one kind") from None
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
