"""The columns of a pandas, Polars or Arrow frame: their kinds, by dtype alone, and how each is read as a type.

Arrays are read at once and everything else cell by cell, with the same result: that of `cells.fitted`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._optional import optional
from discreet.errors import InputError
from discreet.query.expression import Type
from discreet.query.frames.cells import DAY, SAFE, fitted, microseconds

PURPOSE = "a session over data frames"


class Kind(Enum):
    """All that a dtype may decide."""

    NUMERIC = "numeric"
    TEXT = "text"
    TIME = "time"
    BOOLEAN = "boolean"
    OBJECT = "object"
    OTHER = "other"  # cannot be queried


@dataclass(frozen=True, slots=True)
class Given:
    """A column as it was given: its kind, whether it is of integers or of floats by dtype, and how it is read.

    `read` takes a type and the ends of the integers that fit. `identity` reads integers as ids: unsigned ones become
    the signed ones of the same 64 bits, so that no two are alike.
    """

    kind: Kind
    read: Callable[[Type, tuple[int, int]], Any] = field(repr=False)
    whole: bool = False
    floating: bool = False
    identity: Callable[[], Any] | None = field(default=None, repr=False)


def labels_of(frame: Any) -> list[str]:
    """Return the names of a frame's columns."""
    return [str(label) for label in getattr(frame, "column_names", getattr(frame, "columns", ()))]


def columns_of(name: str, frame: Any) -> dict[str, Given]:
    """Return the columns of a frame of any of the three libraries."""
    pyarrow = optional("pyarrow", extra="frames", purpose=PURPOSE)
    if isinstance(frame, pyarrow.RecordBatch):
        frame = pyarrow.Table.from_batches([frame])
    library = type(frame).__module__.partition(".")[0]
    if isinstance(frame, pyarrow.Table):
        columns = [_arrow(pyarrow, column) for column in frame.columns]
    elif type(frame).__name__ == "DataFrame" and library == "pandas":
        columns = [_pandas(pyarrow, frame.iloc[:, place]) for place in range(frame.shape[1])]
    elif type(frame).__name__ == "DataFrame" and library == "polars":
        columns = [_polars(pyarrow, column) for column in frame.get_columns()]
    else:
        raise InputError(f"the frame {name!r} must be a pandas or Polars DataFrame or an Arrow table")
    return dict(zip(labels_of(frame), columns, strict=True))


def _pandas(pyarrow: Any, series: Any) -> Given:
    """Return a column of pandas."""
    dtype = series.dtype
    if hasattr(dtype, "categories") and hasattr(series, "cat"):
        return _categories(pyarrow, series.cat.categories.to_series(), series.cat.codes.to_numpy())
    if type(dtype).__name__ == "SparseDtype":
        return _pandas(pyarrow, type(series)(np.asarray(series)))
    if hasattr(dtype, "pyarrow_dtype"):
        held = pyarrow.array(series)
        return _arrow(pyarrow, pyarrow.chunked_array([held]) if isinstance(held, pyarrow.Array) else held)
    if type(dtype).__name__ == "StringDtype":
        return _cells(pyarrow, Kind.TEXT, series.to_numpy(dtype=object, na_value=None))
    array = _pandas_array(series)
    return _other(pyarrow, len(series)) if array is None else _numpy(pyarrow, *array)


def _pandas_array(series: Any) -> tuple[NDArray[Any], NDArray[np.bool_] | None] | None:
    """Return a column of pandas as an array and what is missing from it, None where numpy has no such type."""
    if isinstance(series.dtype, np.dtype):
        return series.to_numpy(), None
    if hasattr(series.dtype, "tz"):
        return series.dt.tz_convert(None).to_numpy(), None
    if hasattr(series.dtype, "numpy_dtype"):  # nullable numbers and truth values
        held = series.to_numpy(dtype=series.dtype.numpy_dtype, na_value=0)
        return held, series.isna().to_numpy(dtype=bool)
    return None


def _categories(pyarrow: Any, values: Any, codes: NDArray[Any]) -> Given:
    """Return a column of codes into values."""
    given = _pandas(pyarrow, values)
    places = pyarrow.array(codes, mask=codes < 0)
    identity = given.identity
    return replace(
        given,
        read=lambda wanted, whole: given.read(wanted, whole).take(places),
        identity=None if identity is None else lambda: identity().take(places),
    )


def _polars(pyarrow: Any, series: Any) -> Given:
    """Return a column of Polars."""
    if str(series.dtype) == "Object":
        return _cells(pyarrow, Kind.OBJECT, series.to_list())
    if str(series.dtype) in ("Int128", "UInt128"):
        return _cells(pyarrow, Kind.NUMERIC, series.to_list())
    return _arrow(pyarrow, pyarrow.chunked_array([series.to_arrow()]))


def _arrow(pyarrow: Any, column: Any) -> Given:
    """Return a column of Arrow."""
    types, kind = pyarrow.types, column.type
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return _arrow(pyarrow, _plain(pyarrow, column))
    if types.is_null(kind):
        return _cells(pyarrow, Kind.OBJECT, [None] * len(column))
    if types.is_decimal(kind):
        return _cells(pyarrow, Kind.NUMERIC, column)
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return _texts(pyarrow, column)
    if types.is_timestamp(kind) or types.is_date(kind):
        unit = "D" if types.is_date32(kind) else "ms" if types.is_date64(kind) else kind.unit
        column = column.cast(pyarrow.int32() if unit == "D" else pyarrow.int64())
        counts = column.fill_null(0).to_numpy().astype(np.int64)
        return _times(pyarrow, counts, unit, column.is_null().to_numpy())
    return _arrow_numbers(pyarrow, column)


def _arrow_numbers(pyarrow: Any, column: Any) -> Given:
    """Return a column of numbers or truth values, or one that cannot be queried."""
    types, kind = pyarrow.types, column.type
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind):
        # Arrow makes bytes of a list of texts with bytes in one place: under a declared type they are texts again.
        return _cells(pyarrow, Kind.OTHER, [_decoded(cell) for cell in column.to_pylist()])
    if not (types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind)):
        return _other(pyarrow, len(column))
    filled = column.fill_null(False if types.is_boolean(kind) else 0)
    return _numpy(pyarrow, filled.to_numpy(), column.is_null().to_numpy())


def _plain(pyarrow: Any, column: Any) -> Any:
    """Return a column without its dictionary or its runs."""
    compute = optional("pyarrow.compute", extra="frames", purpose=PURPOSE)
    encoded = pyarrow.types.is_dictionary(column.type)
    try:
        column.validate()
        chunks = [
            chunk.dictionary.take(chunk.indices) if encoded else compute.run_end_decode(chunk)
            for chunk in column.chunks
        ]
    except (pyarrow.ArrowException, IndexError):
        chunks = None  # the message of Arrow would show a value
    if chunks is None:
        raise InputError("an Arrow column is not well formed: an index lies outside its dictionary. Encode it anew")
    return pyarrow.chunked_array(chunks, column.type.value_type)


def _texts(pyarrow: Any, column: Any) -> Given:
    """Return a column of texts; one that is not UTF-8 is missing."""
    try:
        column.validate(full=True)
        plain = column.cast(pyarrow.large_string())
    except pyarrow.ArrowException:
        plain = None
    if plain is None:
        return _cells(pyarrow, Kind.TEXT, [_decoded(cell) for cell in column.cast(pyarrow.binary()).to_pylist()])
    cells = _cells(pyarrow, Kind.TEXT, plain)
    return Given(Kind.TEXT, lambda wanted, whole: plain if wanted is Type.TEXT else cells.read(wanted, whole))


def _decoded(cell: bytes | None) -> str | None:
    try:
        return None if cell is None else cell.decode()
    except UnicodeDecodeError:
        return None


def _numpy(pyarrow: Any, values: NDArray[Any], missing: NDArray[np.bool_] | None) -> Given:
    """Return an array of numpy, with or without a mask."""
    absent = np.zeros(len(values), dtype=bool) if missing is None else missing
    if values.dtype.kind == "O":
        return _cells(pyarrow, Kind.OBJECT, values)
    if values.dtype.kind == "M":
        unit = np.datetime_data(values.dtype)[0]
        return _times(pyarrow, values.astype(values.dtype).view(np.int64), unit, absent | np.isnat(values))
    if values.dtype.kind == "c" or (values.dtype.kind == "f" and values.dtype.itemsize > 8):
        return replace(_cells(pyarrow, Kind.NUMERIC, values), floating=True)
    if values.dtype.kind not in "biuf":
        return _other(pyarrow, len(values))
    whole = values.dtype.kind in "iu"
    kind = Kind.BOOLEAN if values.dtype.kind == "b" else Kind.NUMERIC
    plain = values.astype(np.uint8) if kind is Kind.BOOLEAN else values
    return Given(
        kind,
        lambda wanted, ends: _numbers(pyarrow, plain, absent, wanted, ends),
        whole,
        values.dtype.kind == "f",
        (lambda: pyarrow.array(plain.astype(np.int64), mask=absent)) if whole else None,
    )


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


def _times(pyarrow: Any, counts: NDArray[np.int64], unit: str, absent: NDArray[np.bool_]) -> Given:
    """Return times that are counted in a unit since 1970."""

    def read(wanted: Type, _ends: tuple[int, int]) -> Any:
        if wanted not in (Type.DATE, Type.TIMESTAMP):
            return pyarrow.nulls(len(counts), _ARROW[wanted](pyarrow))
        found, inside = microseconds(counts, unit)
        if wanted is Type.TIMESTAMP:
            return pyarrow.array(found, mask=absent | ~inside).view(_ARROW[wanted](pyarrow))
        return pyarrow.array((found // DAY).astype(np.int32), mask=absent | ~inside).view(_ARROW[wanted](pyarrow))

    return Given(Kind.TIME, read)


def _cells(pyarrow: Any, kind: Kind, cells: Any) -> Given:
    """Return a column that is read cell by cell."""

    def read(wanted: Type, ends: tuple[int, int]) -> Any:
        values = cells.to_pylist() if hasattr(cells, "to_pylist") else cells
        counted = {Type.DATE: pyarrow.int32(), Type.TIMESTAMP: pyarrow.int64()}.get(wanted)
        found = pyarrow.array(fitted(values, wanted, ends), counted or _ARROW[wanted](pyarrow))
        return found if counted is None else found.view(_ARROW[wanted](pyarrow))

    return Given(kind, read)


def _other(pyarrow: Any, length: int) -> Given:
    """Return a column that cannot be queried: nothing in it fits any type."""
    return Given(Kind.OTHER, lambda wanted, _ends: pyarrow.nulls(length, _ARROW[wanted](pyarrow)))


_ARROW: Mapping[Type, Callable[[Any], Any]] = {
    Type.BOOLEAN: lambda pyarrow: pyarrow.bool_(),
    Type.INTEGER: lambda pyarrow: pyarrow.int64(),
    Type.REAL: lambda pyarrow: pyarrow.float64(),
    Type.TEXT: lambda pyarrow: pyarrow.large_string(),
    Type.DATE: lambda pyarrow: pyarrow.date32(),
    Type.TIMESTAMP: lambda pyarrow: pyarrow.timestamp("us"),
}
