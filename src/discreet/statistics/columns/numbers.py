"""Columns as people have them (numpy, pandas, Polars, Arrow, lists) as one-dimensional arrays of numbers.

Rule for missing values: NULL, None, NA and NaN are the same thing, a missing value. Every column comes out with NaN in
its place, and what becomes of it (left out, or replaced by a public number) is said once, by the `missing=` of a
statistic. The type of a column is part of the schema and public; nothing else about it is.

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
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, ParameterError
from discreet.laws.number import Number, rational_or_none

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
        except ValueError:  # a signaling NaN
            return float("nan")
    return float("nan") if _is_missing(entry) else None


def _is_missing(entry: object) -> bool:
    """Say whether an entry stands for a missing value."""
    if entry is None or type(entry).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(entry, float | np.floating) and bool(np.isnan(entry))


class Missing(Enum):
    """The rule for NULL and NaN when no number replaces them.

    `LEAVE_OUT` treats a row with a missing value as if it were not there: it is not counted, not summed, not ranked.
    How many rows are left is then private, under either relation.
    """

    LEAVE_OUT = "left out"

    def __repr__(self) -> str:
        return f"Missing.{self.name}"


def replacement(missing: Missing | Number) -> Fraction | None:
    """Return the public number that replaces a missing value, None where missing values are left out."""
    if isinstance(missing, Missing):
        return None
    exact = rational_or_none(missing)
    if exact is None:
        raise ParameterError(
            "missing= is Missing.LEAVE_OUT, or a finite number that replaces every missing value", parameter="missing"
        )
    return exact


LARGE = 2**53


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

    >>> safe_form(7.0), safe_form(0.5), safe_form(2**60), safe_form(True), safe_form("7")
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
