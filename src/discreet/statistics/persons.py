"""Whose row is it: a column of identifiers as small integers, -1 where the identifier is missing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.statistics.columns import frame_library, unmasked

_WANTED = "unit= is a column of identifiers: numbers, strings or other hashable values"


def person_codes(unit: object) -> NDArray[np.int64]:
    """Return an integer for every row, equal for equal identifiers.

    >>> person_codes(["ana", None, "bo", "ana"])
    array([ 0, -1,  1,  0])
    """
    array = _identifiers(unit)
    if array.ndim != 1:
        raise InputError(f"{_WANTED}, in one dimension")
    if array.dtype.kind == "O":
        return _codes_of_objects(array)
    if array.dtype.kind not in "biufSUmM":
        raise InputError(_WANTED)
    codes = np.unique(array, return_inverse=True)[1].astype(np.int64)
    if array.dtype.kind == "f":
        codes[np.isnan(array)] = -1
    if array.dtype.kind in "mM":
        codes[np.isnat(array)] = -1
    return codes


def _identifiers(unit: object) -> NDArray[Any]:
    """Return identifiers as an array, with None for missing ones in columns that know them."""
    if isinstance(unit, np.ma.MaskedArray):
        return unmasked(unit)
    if isinstance(unit, np.ndarray):
        return unit
    library = frame_library(unit)
    if library is None and not isinstance(unit, list | tuple):
        raise InputError(_WANTED)
    if library == "pandas" and isinstance(getattr(unit, "dtype", None), np.dtype):
        return np.asarray(unit.to_numpy())  # type: ignore[attr-defined]
    entries: Any = unit
    if library is not None:
        to_list = getattr(unit, "to_pylist", None) or getattr(unit, "to_list", None)
        if to_list is None:
            raise InputError(f"{_WANTED}: pick one column from the frame")
        entries = to_list()
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array


def _codes_of_objects(array: NDArray[Any]) -> NDArray[np.int64]:
    """Number Python objects in the order in which they first appear."""
    known: dict[Any, int] = {}
    codes = np.empty(array.size, dtype=np.int64)
    try:
        for place, entry in enumerate(array):
            missing = entry is None or type(entry).__name__ in ("NAType", "NaTType") or entry != entry  # noqa: PLR0124
            codes[place] = -1 if missing else known.setdefault(entry, len(known))
    except (TypeError, ValueError):
        codes = np.empty(0, dtype=np.int64)
    if codes.size != array.size:
        raise InputError(_WANTED)
    return codes
