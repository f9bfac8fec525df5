"""Numbers of a column that numpy holds: one empty cell must not change what the other cells say.

A library makes floats of a numpy column of integers for one empty cell, and objects of it for one text. Floats do not
tell integers apart from 2^53 on, and write 7 as 7.0. So in these columns a number has one form whatever the type is:

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

from discreet.statistics.columns.numbers import frame_library

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
