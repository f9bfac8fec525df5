"""Columns as people have them: numpy, pandas, Polars and Arrow, lists too, as one-dimensional arrays of numbers.

Rule for missing values: NULL, None, NA and NaN are the same thing, a missing value. Every column comes out with NaN in
its place, and what becomes of it is said once, by the `missing=` of a statistic. The type of a column is part of the
schema and public; nothing else about it is.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError

_WANTED = "a column of numbers (a numpy array, a pandas, Polars or Arrow column, or a list)"
_FRAMES = ("pandas", "polars", "pyarrow")


def frame_library(column: object) -> str | None:
    """Return the name of the frame library an object belongs to; no library is imported for the answer."""
    for kind in type(column).__mro__:
        name = kind.__module__.partition(".")[0]
        if name in _FRAMES:
            return name
    return None


def unmasked(column: NDArray[Any]) -> NDArray[np.object_]:
    """Return a masked array as Python objects, None where it is masked (numpy's own filling cannot put None there)."""
    objects = np.ma.getdata(column).astype(object)
    objects[np.ma.getmaskarray(column)] = None
    return objects


def numbers(column: object) -> NDArray[Any]:
    """Return a column as a one-dimensional numpy array of numbers, NaN where a value is missing.

    >>> numbers([1, None, 2.5])
    array([1. , nan, 2.5])
    """
    array = _as_array(column)
    if isinstance(array, np.ma.MaskedArray):
        array = unmasked(array)
    if array.ndim != 1:
        raise InputError(f"a statistic takes {_WANTED}: one dimension, not {array.ndim}")
    if array.dtype.kind in "biu":
        return array
    if array.dtype.kind == "f":
        with np.errstate(all="ignore"):
            return array.astype(np.float64) if array.dtype.itemsize > 8 else array
    if array.dtype.kind == "O":
        return _from_objects(array)
    raise InputError(f"a statistic takes {_WANTED}, not values of type {array.dtype.type.__name__}")


def truths(column: object) -> NDArray[np.bool_]:
    """Return a column of truth values; a missing one is False, as in SQL's WHERE."""
    array = _objects(column) if isinstance(column, list | tuple) else _as_array(column)
    if isinstance(array, np.ma.MaskedArray):
        array = unmasked(array)
    if array.ndim == 1 and (array.dtype.kind == "b" or not array.size):
        return array.astype(np.bool_, copy=False)
    if array.ndim == 1 and array.dtype.kind == "O":
        flags = [_truth(entry) for entry in array]
        if None not in flags:
            return np.array(flags, dtype=np.bool_)
    raise InputError("a condition is a column of truth values, such as ages >= 65")


def _truth(entry: object) -> bool | None:
    """Return a truth value, False for a missing one, None for anything else."""
    if isinstance(entry, bool | np.bool_):
        return bool(entry)
    return False if _is_missing(entry) else None


def _as_array(column: object) -> NDArray[Any]:
    """Return a numpy array of whatever holds a column."""
    library = frame_library(column)
    if library is not None:
        return _from_frame(column, library)
    if isinstance(column, np.ndarray):
        return column
    if isinstance(column, list | tuple):
        return _from_list(column)
    raise InputError(f"a statistic takes {_WANTED}, not {type(column).__name__}")


def _from_list(column: list[Any] | tuple[Any, ...]) -> NDArray[Any]:
    """Return a list as an array: of its own type where all entries are alike, of objects otherwise."""
    kinds = {type(entry) for entry in column}
    if kinds and kinds <= {bool, np.bool_}:
        return np.array(column, dtype=np.bool_)
    if not kinds or kinds <= {float, np.float64}:
        return np.array(column, dtype=np.float64)
    return _objects(column)


def _objects(column: list[Any] | tuple[Any, ...]) -> NDArray[np.object_]:
    """Return a list as an array of its entries."""
    array = np.empty(len(column), dtype=object)
    array[:] = list(column)
    return array


def _from_frame(column: Any, library: str) -> NDArray[Any]:
    """Return a frame library's column with NaN for its missing values; a frame of one column counts as that column."""
    if getattr(column, "ndim", 1) == 2 or not hasattr(column, "to_numpy"):
        raise InputError("a statistic takes one column: pick it from the frame, such as frame['age']")
    array = None
    try:
        if library == "pandas":
            array = _from_pandas(column)
        elif library == "polars":
            array = np.asarray(column.to_numpy())
        else:
            array = np.asarray(column.to_numpy(zero_copy_only=False) if hasattr(column, "type") else column.to_numpy())
    except Exception:  # each library has a tree of its own, and its messages may show a value
        array = None
    if array is not None:
        return array
    raise InputError(f"this {library} column could not be read as numbers; cast it to a number type first")


def _from_pandas(column: Any) -> NDArray[Any]:
    """Return a pandas column: plain numpy types as they are, nullable ones with NaN (False for truth values)."""
    dtype = column.dtype
    if isinstance(dtype, np.dtype):
        return np.asarray(column.to_numpy())
    kind = getattr(dtype, "kind", "O")
    if kind in "iuf":
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    if kind == "b":
        return np.asarray(column.to_numpy(dtype=object, na_value=None))
    return np.asarray(column.to_numpy(dtype=object))


def _from_objects(array: NDArray[Any]) -> NDArray[np.float64]:
    """Return Python numbers as floats; integers beyond the floats become infinite and are clipped later."""
    values = np.empty(array.size, dtype=np.float64)
    for place, entry in enumerate(array):
        number = _as_float(entry)
        if number is None:
            raise InputError(f"a statistic takes {_WANTED}; this one holds a value that is neither number nor missing")
        values[place] = number
    return values


def _as_float(entry: object) -> float | None:
    """Return one entry as a float, NaN for a missing one, None for what is no number."""
    if isinstance(entry, bool | np.bool_ | int | float | np.integer | np.floating | Fraction | Decimal):
        try:
            return float(entry)
        except OverflowError:
            return float("inf") if entry > 0 else float("-inf")
        except ValueError:  # a signalling NaN
            return float("nan")
    return float("nan") if _is_missing(entry) else None


def _is_missing(entry: object) -> bool:
    """Say whether an entry stands for a missing value."""
    if entry is None or type(entry).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(entry, float | np.floating) and bool(np.isnan(entry))
