"""A column as an Arrow array of a declared type, for sessions over data frames.

Arrays are read at once and everything else cell by cell, with the same result: that of `cells.fitted`.

Stability. What becomes of a cell depends on that cell, on the type of the column and on the declared type alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._optional import optional
from discreet.frames.cells import SAFE, Type, fitted
from discreet.frames.column import ColumnKind, FrameColumn
from discreet.frames.times import DAY, calendar_microseconds

PURPOSE = "a session over data frames"


def typed(column: FrameColumn, wanted: Type, ends: tuple[int, int] = SAFE) -> Any:
    """Return a column as an Arrow array of a type, null where a cell does not fit; `ends` are of the integers that fit.

    >>> typed(FrameColumn.read([1, 2.5, None]), Type.INTEGER).to_pylist()
    [1, None, None]
    """
    pyarrow = optional("pyarrow", extra="frames", purpose=PURPOSE)
    array = column.array
    if array is None:
        plain = _texts(pyarrow, column) if wanted is Type.TEXT else None
        return _cells(pyarrow, _readable(column), wanted, ends) if plain is None else plain
    if array.dtype.kind == "c" or (array.dtype.kind == "f" and array.dtype.itemsize > 8):
        return _cells(pyarrow, column.listed(), wanted, ends)
    absent = np.zeros(array.size, dtype=np.bool_) if column.missing is None else column.missing
    if array.dtype.kind == "M" and wanted in (Type.DATE, Type.TIMESTAMP):
        found, inside = calendar_microseconds(array)
        counts = found if wanted is Type.TIMESTAMP else (found // DAY).astype(np.int32)
        return pyarrow.array(counts, mask=absent | ~inside).view(_ARROW[wanted](pyarrow))
    if array.dtype.kind in "biuf":
        return _numbers(pyarrow, array.astype(np.uint8) if array.dtype.kind == "b" else array, absent, wanted, ends)
    return pyarrow.nulls(array.size, _ARROW[wanted](pyarrow))


def identities(column: FrameColumn) -> Any:
    """Return integers as ids: unsigned ones become the signed ones of the same 64 bits, so that no two are alike."""
    pyarrow = optional("pyarrow", extra="frames", purpose=PURPOSE)
    assert column.array is not None  # noqa: S101  the caller has asked `whole`
    return pyarrow.array(column.array.astype(np.int64), mask=column.missing)


def _readable(column: FrameColumn) -> list[Any]:
    """Return the cells of a column that may fit a type; of a column of another kind, bytes as the texts that they are.

    Arrow makes bytes of a list of texts with bytes in one place: under a declared type they are texts again.
    """
    cells = column.listed()
    return [_decoded(cell) for cell in cells] if column.kind in (ColumnKind.BYTES, ColumnKind.OTHER) else cells


def _decoded(cell: Any) -> str | None:
    try:
        return cell.decode() if isinstance(cell, bytes) else None
    except UnicodeDecodeError:
        return None


def _texts(pyarrow: Any, column: FrameColumn) -> Any:
    """Return texts as Arrow holds them, without reading each; None if there are none or one is not UTF-8."""
    if column.texts is None:
        return None
    try:
        held = column.texts()
        held.validate(full=True)
        return held.cast(pyarrow.large_string())
    except pyarrow.ArrowException:
        return None


@np.errstate(all="ignore")  # a warning would tell that somebody's cell is odd
def _numbers(pyarrow: Any, values: NDArray[Any], absent: NDArray[np.bool_], wanted: Type, ends: tuple[int, int]) -> Any:
    """Return numbers as a type, as `fitted` does cell by cell."""
    if wanted is Type.REAL:
        reals = values.astype(np.float64)
        return pyarrow.array(reals, mask=absent | np.isnan(reals))
    if wanted is Type.BOOLEAN:
        return pyarrow.array(values == 1, mask=absent | ~((values == 0) | (values == 1)))
    if wanted is not Type.INTEGER:
        return pyarrow.nulls(len(values), _ARROW[wanted](pyarrow))
    if values.dtype.kind == "f":
        values = values.astype(np.float64)
        inside = (values == np.floor(values)) & (values >= max(ends[0], SAFE[0])) & (values <= min(ends[1], SAFE[1]))
    else:
        inside = (values >= ends[0]) & (values <= ends[1])
    return pyarrow.array(np.where(inside, values, 0).astype(np.int64), mask=absent | ~inside)


def _cells(pyarrow: Any, cells: list[Any], wanted: Type, ends: tuple[int, int]) -> Any:
    """Return a column that is read cell by cell."""
    counted = {Type.DATE: pyarrow.int32(), Type.TIMESTAMP: pyarrow.int64()}.get(wanted)
    found = pyarrow.array(fitted(cells, wanted, ends), counted or _ARROW[wanted](pyarrow))
    return found if counted is None else found.view(_ARROW[wanted](pyarrow))


_ARROW: Mapping[Type, Callable[[Any], Any]] = {
    Type.BOOLEAN: lambda pyarrow: pyarrow.bool_(),
    Type.INTEGER: lambda pyarrow: pyarrow.int64(),
    Type.REAL: lambda pyarrow: pyarrow.float64(),
    Type.TEXT: lambda pyarrow: pyarrow.large_string(),
    Type.DATE: lambda pyarrow: pyarrow.date32(),
    Type.TIMESTAMP: lambda pyarrow: pyarrow.timestamp("us"),
}
