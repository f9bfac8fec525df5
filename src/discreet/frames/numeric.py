"""Numbers and truth values of a column, and the rule for numbers that numpy holds.

NULL, None, NA and NaN are the same thing, a missing value. Every column of numbers comes out with NaN in its place.
The type of a column is part of the schema and public; nothing else about it is.

In a column that numpy holds one empty cell must not change what the other cells say. A library makes floats of a numpy
column of integers for one empty cell, and objects of it for one text. Floats do not tell integers apart from 2^53 on,
and write 7 as 7.0. So in these columns a number has one form whatever the type is:

| number | its form |
|---|---|
| whole, below 2^53 in size | the integer: 7 and 7.0 are 7 |
| not whole, below 2^53 in size | the float |
| 2^53 or more in size, infinite | missing |

Columns of numpy are numpy arrays (masked ones too) and pandas columns of all types but the nullable ones (Int64 and
its like) and Arrow's, categories as the type of their values says. Lists, Polars, Arrow and pandas' nullable types keep
a column's type whatever is missing, and numbers as they are.

Stability. What becomes of a cell depends on that cell alone, in integer, float and object columns alike: conversions
between these types are exact below 2^53 in size, and monotone, so that what is 2^53 or more stays so.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.frames.column import ColumnKind, FrameColumn, frame_library

LARGE = 2**53
_WANTED = "a column of numbers"


def numbers(column: object, *, odd_is_missing: bool = False) -> NDArray[Any]:
    """Return a column as a one-dimensional numpy array of numbers, NaN where a value is missing.

    An entry that is not a number raises InputError; with `odd_is_missing` it is missing.

    >>> numbers([1, None, 2.5])
    array([1. , nan, 2.5])
    >>> numbers([1, "x"], odd_is_missing=True)
    array([ 1., nan])
    """
    read = FrameColumn.read(column, _WANTED)
    array = read.array
    if array is None:
        if read.kind not in (ColumnKind.NUMERIC, ColumnKind.OBJECT) and not odd_is_missing:  # whatever it holds
            raise InputError(f"{_WANTED} must not be of a type of texts, bytes, spans, lists or records")
        return _of_objects(read.listed(), odd_is_missing=odd_is_missing)
    if array.dtype.kind not in "biuf":
        if odd_is_missing and array.dtype.kind == "c":  # one such entry makes pandas' column of numbers one of these
            return np.where(array.imag == 0, array.real, np.nan).astype(np.float64)
        if odd_is_missing:
            return np.full(array.size, np.nan)
        raise InputError(f"{_WANTED} must not hold values of type {array.dtype.type.__name__}")
    missing = read.missing is not None and bool(read.missing.any())
    if missing or array.dtype.itemsize > 8:
        with np.errstate(all="ignore"):  # a warning would tell that somebody's number is beyond all floats
            array = array.astype(np.float64)
    if missing:
        array[read.missing] = np.nan
    return array


def truths(column: object) -> NDArray[np.bool_]:
    """Return a column of truth values; a missing one is False, as in SQL's WHERE."""
    read = FrameColumn.read(column, "a condition")
    if read.array is None and read.kind is ColumnKind.OBJECT:
        flags = [_truth(entry) for entry in read.listed()]
        if None not in flags:
            return np.array(flags, dtype=np.bool_)
    elif read.array is not None and (read.array.dtype.kind == "b" or not read.array.size):
        held = read.array.astype(np.bool_, copy=False)
        return held if read.missing is None else held & ~read.missing
    raise InputError("a condition must be a column of truth values, such as ages >= 65")


def _truth(entry: object) -> bool | None:
    """Return a truth value, False for a missing one, None for anything else."""
    if isinstance(entry, bool | np.bool_):
        return bool(entry)
    return False if is_missing(entry) else None


def _of_objects(entries: list[Any], *, odd_is_missing: bool) -> NDArray[np.float64]:
    """Return Python numbers as floats; integers beyond the floats become infinite and are clipped later."""
    if all(type(entry) is float for entry in entries):
        return np.array(entries, dtype=np.float64)
    found = [_as_float(entry) for entry in entries]
    if not odd_is_missing and None in found:
        raise InputError(f"{_WANTED} must hold numbers and missing values only; this one holds something else")
    return np.array([np.nan if number is None else number for number in found], dtype=np.float64)


def _as_float(entry: object) -> float | None:
    """Return one entry as a float, NaN for a missing one, None for one that is not a number."""
    if isinstance(entry, bool | np.bool_ | int | float | np.integer | np.floating | Fraction | Decimal):
        if isinstance(entry, np.timedelta64):  # numpy counts spans among the integers
            return None
        try:
            return float(entry)
        except OverflowError:
            return float("inf") if entry > 0 else float("-inf")
        except ValueError:  # a signaling NaN
            return float("nan")
    return float("nan") if is_missing(entry) else None


def is_missing(entry: object) -> bool:
    """Say whether an entry stands for a missing value."""
    if entry is None or type(entry).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(entry, float | np.floating) and bool(np.isnan(entry))


def held_by_numpy(column: Any) -> bool:
    """Say whether a column's numbers are read by the rule above; its type alone decides.

    >>> held_by_numpy(np.array([1])), held_by_numpy([1])
    (True, False)
    """
    if frame_library(column) == "pandas":
        return not _keeps_its_type(getattr(column, "dtype", None))
    return isinstance(column, np.ndarray)


def safe_floats(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return numbers of numpy as floats, NaN where one is missing or 2^53 or more in size.

    >>> safe_floats(np.array([7, -(2**53), 2**53 - 1])).tolist()
    [7.0, nan, 9007199254740991.0]
    """
    with np.errstate(all="ignore"):
        inside = (values < LARGE) & (values > -LARGE)
        floats = np.where(inside, values, values.dtype.type(0)).astype(np.float64)
        return np.where(inside & (np.abs(floats) < LARGE), floats + 0.0, np.nan)


def safe_form(form: Any) -> Any:
    """Return the form of a key among objects: of plain integers and floats as the rule above says.

    >>> (
    ...     safe_form(7.0),
    ...     safe_form(0.5),
    ...     safe_form(2**60),
    ...     safe_form(True),
    ...     safe_form("7"),
    ... )
    (7, 0.5, None, True, '7')
    """
    if type(form) is tuple:  # of columns that a library held apart, each of which may have become floats
        return tuple(safe_form(part) for part in form)
    if type(form) is not int and type(form) is not float:
        return form
    if not -LARGE < form < LARGE:
        return None
    return int(form) if form == int(form) else form


def is_large(value: Any) -> bool:
    """Say whether a public value is a number that no cell of such a column can be."""
    if isinstance(value, tuple):
        return any(is_large(part) for part in value)
    if not isinstance(value, int | float | np.integer | np.floating | Decimal | Fraction):
        return False
    return not -LARGE < value < LARGE


def _keeps_its_type(dtype: Any) -> bool:
    """Say whether a pandas type is the same with and without missing cells."""
    if hasattr(dtype, "categories"):
        return _keeps_its_type(dtype.categories.dtype)
    nullable = isinstance(getattr(dtype, "numpy_dtype", None), np.dtype)  # Int64, Float64, boolean
    return not isinstance(dtype, np.dtype) and (nullable or hasattr(dtype, "pyarrow_dtype"))
