"""Whose row it is: from a unit column to one number for each person, the same on every road that takes units.

Rules. Equal ids are one person, whatever they are written as (see `unit_form`), and a missing id is nobody: its row is
left out. A column whose type is a float is refused, whatever it holds: one empty id makes a column of integers one of
floats, and there large integers that differ are equal. Ids of two kinds in one list or object column, such as texts
beside numbers, are refused, since nobody has said whether they can be equal.

Privacy. With a column of integers, texts or times, nothing that one person's rows hold can cause a refusal, and no
    person's number says anything but which rows are theirs. In a list or an object column one person's id of another
    kind does cause a refusal, and a refusal tells that such an id is there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._optional import optional
from discreet.errors import InputError
from discreet.statistics.columns.numbers import frame_library
from discreet.statistics.columns.unit_form import NoFloat, named

Codes = NDArray[np.int64]
Missing = NDArray[np.bool_] | None
Read = tuple[
    NDArray[Any] | list[Any], Missing
]  # typed ids, or ids to be read one by one; and beside them who is nobody
_COLUMN = "a unit column is a numpy array, a pandas, Polars or Arrow column, or a list, in one dimension"
IDS = "ids come as integers, texts, or a nullable integer type such as pandas' Int64"
FLOATS = (
    f"a unit column must not hold floats: large ids that differ are equal there, and an empty one makes floats of all; "
    f"{IDS}"
)
MIXED = (
    "a unit column must hold ids of one kind: whether a text can equal a number, or a day a time, is unclear; convert "
    "all ids to one kind, best in a column with a type"
)
NO_IDS = f"a unit column holds something that cannot name a person; {IDS}, or dates, bytes, UUIDs, or tuples of such"


def person_codes(unit: object) -> Codes:
    """Return a number for every row, equal for rows of the same person, -1 where nobody is named.

    >>> person_codes(["ana", None, "bo", "ana"])
    array([ 0, -1,  1,  0])
    >>> person_codes([1, True, 1.0, 2])
    array([0, 0, 0, 1])
    """
    ids, missing = _read(unit)
    if isinstance(ids, list):
        return _listed_codes(ids)
    codes = np.unique(ids, return_inverse=True)[1].ravel().astype(np.int64, copy=False)
    if missing is not None:
        codes[missing] = -1
    return codes


def joint_codes(*units: object) -> list[Codes]:
    """Return the numbers of several unit columns, equal for the same person in all of them.

    >>> joint_codes(np.array([3, 5]), [5.0, None, True])
    [array([0, 1]), array([ 1, -1,  2])]
    """
    read = [_read(unit) for unit in units]
    listed = [_without(ids if isinstance(ids, list) else list(ids), missing) for ids, missing in read]
    codes = _listed_codes([entry for column in listed for entry in column])
    return np.split(codes, np.cumsum([len(column) for column in listed])[:-1])


def unit_array(unit: object) -> NDArray[Any]:
    r"""Return a copy of the ids of a column: of a typed one in its type, of any other the objects that they are.

    >>> unit_array(["a", "a\0"]).tolist(), unit_array([2**64 - 1, -1]).tolist()
    (['a', 'a\x00'], [18446744073709551615, -1])
    """
    ids, missing = _read(unit)
    if isinstance(ids, list) or (missing is not None and missing.any()):
        listed = _without(list(ids), missing)
        return np.fromiter(listed, dtype=object, count=len(listed))
    return ids.copy()


def _listed_codes(ids: list[Any]) -> Codes:
    """Return the numbers of ids read one by one; Python's integers, texts and bytes are told apart as they are."""
    kinds = set(map(type, ids)) - {type(None)}
    if kinds <= {int, bool} or kinds in ({str}, {bytes}):
        return _numbered(ids)
    refused: str
    try:
        found = [named(entry) for entry in ids]
        if len({one.kind for one in found if one is not None}) <= 1:
            return _numbered([None if one is None else one.identity for one in found])
        refused = MIXED
    except NoFloat:
        refused = FLOATS
    except Exception:  # no id, or arithmetic of some foreign type, whose message may show a value
        refused = NO_IDS
    raise InputError(refused)


def _numbered(identities: list[Any]) -> Codes:
    """Return the place of every identity among the distinct ones, -1 for None."""
    known = dict.fromkeys(identities)
    known.pop(None, None)
    places = {identity: place for place, identity in enumerate(known)}
    return np.fromiter((places.get(one, -1) for one in identities), dtype=np.int64, count=len(identities))


def _read(unit: Any) -> Read:
    """Return the ids of a column; how it is read depends on its type alone."""
    library = frame_library(unit)
    if library is not None:
        return _of_frame(unit, library)
    if isinstance(unit, np.ndarray):
        return _of_array(unit, None)
    if not isinstance(unit, list | tuple | range):
        raise InputError(_COLUMN)
    return list(unit), None


def _of_array(unit: NDArray[Any], missing: Missing) -> Read:
    """Return the ids of an array."""
    if isinstance(unit, np.ma.MaskedArray):
        unit, missing = np.ma.getdata(unit), np.ma.getmaskarray(unit)
    if unit.ndim != 1:
        raise InputError(_COLUMN)
    kind = unit.dtype.kind
    if kind == "f":
        raise InputError(FLOATS)
    if kind not in "biumMSUO":
        raise InputError(NO_IDS)
    if kind in "SUO":
        return _without(unit.tolist(), missing), None
    if kind in "mM":
        nobody = np.isnat(unit)
        missing = nobody if missing is None else nobody | missing
    return unit, missing


def _without(ids: list[Any], missing: Missing) -> list[Any]:
    """Return ids with None where nobody is named."""
    return ids if missing is None else [None if gone else one for one, gone in zip(ids, missing, strict=True)]


def _of_frame(unit: Any, library: str) -> Read:
    """Return the ids of a frame library's column."""
    if getattr(unit, "ndim", 1) != 1 or hasattr(unit, "columns") or hasattr(unit, "column_names"):
        raise InputError("pass one unit column: pick it from the frame, such as frame['person']")
    refused: str
    try:
        return {"pandas": _of_pandas, "polars": _of_polars, "pyarrow": _of_arrow}[library](unit)
    except InputError as problem:
        refused = str(problem)
    except Exception:  # each library has a tree of its own, and its messages may show a value
        refused = f"this {library} object could not be read as a unit column; {_COLUMN}"
    raise InputError(refused)


def _of_pandas(unit: Any) -> Read:
    """Return the ids of a pandas column, or of an index."""
    dtype = unit.dtype
    if isinstance(dtype, np.dtype):
        return _of_array(unit.to_numpy(), None)
    if hasattr(dtype, "pyarrow_dtype"):
        return _of_arrow(getattr(unit, "array", unit).__arrow_array__())
    if hasattr(dtype, "categories") and len(dtype.categories):
        _of_pandas(dtype.categories)  # refuses categories that are floats
    if getattr(dtype, "kind", "O") == "f":
        raise InputError(FLOATS)
    if isinstance(getattr(dtype, "numpy_dtype", None), np.dtype) and dtype.kind in "iu":
        return _of_array(unit.to_numpy(dtype=dtype.numpy_dtype, na_value=0), np.asarray(unit.isna()))
    return list(unit.astype(object)), None


def _of_polars(unit: Any) -> Read:
    """Return the ids of a Polars column; a time with a zone is stored in UTC."""
    if unit.dtype.is_float():
        raise InputError(FLOATS)
    counted = _polars_times(unit.dtype)
    if counted is not None or (unit.dtype.is_integer() and not str(unit.dtype).endswith("128")):
        whole = unit.to_physical().fill_null(0).to_numpy()
        return whole if counted is None else whole.astype(np.int64).view(counted), unit.is_null().to_numpy()
    return unit.to_list(), None


def _polars_times(dtype: Any) -> str | None:
    """Return how numpy counts the days, times or spans of a Polars type, None for other types."""
    name, scale = dtype.base_type().__name__, getattr(dtype, "time_unit", None)
    return {"Date": "M8[D]", "Datetime": f"M8[{scale}]", "Duration": f"m8[{scale}]"}.get(name)


def _of_arrow(unit: Any) -> Read:
    """Return the ids of an Arrow column; a time with a zone is stored in UTC."""
    pyarrow = optional("pyarrow", extra="frames", purpose="reading an Arrow column")
    types, kind = pyarrow.types, unit.type
    while types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        kind = kind.value_type
    if types.is_floating(kind):
        raise InputError(FLOATS)
    times = types.is_timestamp(kind) or types.is_duration(kind)
    if kind == unit.type and (types.is_integer(kind) or times):
        missing = np.asarray(unit.is_null())
        whole = np.asarray((unit.cast(pyarrow.int64()) if times else unit).fill_null(0))
        return whole.view(f"{'M' if types.is_timestamp(kind) else 'm'}8[{kind.unit}]") if times else whole, missing
    return unit.to_pylist(), None
