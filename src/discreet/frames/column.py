"""One column as its library holds it: an array of numbers or times with a mask, or a list of Python objects.

Every reader of the house (numbers, keys, units, places, declared types) starts from a `FrameColumn`, so that a library
is asked in this file alone. How a column is read depends on its type alone, never on what it holds:

| column | read as |
|---|---|
| integers, floats, truth values, dates, times and spans of a library | an array, and which of its cells are missing |
| dates, times and spans, with or without a zone | numpy's datetime64 and timedelta64; in UTC where there is a zone |
| pandas categories, Arrow dictionaries and runs | what the values that they stand for are read as |
| texts, decimals, integers of 128 bits, Python objects, lists, every other type | a list of Python objects |

A cell that Python has no object for (a text that is not UTF-8) is missing. Messages of a library may show a value, so
none of them is passed on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._optional import optional
from discreet.errors import InputError

Mask = NDArray[np.bool_]
LIBRARIES = ("pandas", "polars", "pyarrow")
_DATE64_DAY = 86_400_000  # Arrow counts these days in milliseconds


class ColumnKind(Enum):
    """What the type of a column says about its cells."""

    NUMERIC = "numeric"
    TEXT = "text"
    TIME = "time"
    BOOLEAN = "boolean"
    OBJECT = "object"
    BYTES = "bytes"
    UUID = "uuid"  # a type of Arrow
    OTHER = "other"  # spans, times of day, periods, lists, records: in a list they can be neither keys nor ids


_KINDS = {
    "b": ColumnKind.BOOLEAN, "M": ColumnKind.TIME, "U": ColumnKind.TEXT, "T": ColumnKind.TEXT, "O": ColumnKind.OBJECT,
    "S": ColumnKind.BYTES,
    "i": ColumnKind.NUMERIC, "u": ColumnKind.NUMERIC, "f": ColumnKind.NUMERIC, "c": ColumnKind.NUMERIC,
}  # fmt: skip


def frame_library(thing: object) -> str | None:
    """Return the name of the frame library that an object belongs to; no library is imported for the answer."""
    for kind in type(thing).__mro__:
        name = kind.__module__.partition(".")[0]
        if name in LIBRARIES:
            return name
    return None


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class FrameColumn:
    """One column: numbers, truth values and times in `array`; for all other types that is None, and `objects` lists.

    `missing` says which cells of the array are missing; NaN and NaT are missing too, and are left to the reader. `zone`
    says that times have a time zone. `texts` returns the texts as an Arrow column where a library holds them so.
    `coded` returns the column of distinct cells, and for every cell its place there, -1 for a missing one, where that
    is faster than a look at each.

    >>> FrameColumn.read([1, None, "a"]).listed()
    [1, None, 'a']
    >>> FrameColumn.read(np.ma.masked_array([1, 2], mask=[False, True])).listed()
    [1, None]
    """

    kind: ColumnKind
    array: NDArray[Any] | None = None
    missing: Mask | None = None
    zone: bool = False
    objects: Callable[[], list[Any]] = field(default=list)
    texts: Callable[[], Any] | None = None
    coded: Callable[[], tuple[FrameColumn, NDArray[np.int64]]] | None = None
    what: str = "a column"

    @classmethod
    def read(cls, column: Any, what: str = "a column") -> FrameColumn:
        """Return a column of numpy, pandas, Polars or Arrow, or a list; `what` names it in an error."""
        refused = f"{what} must be a numpy array, a pandas, Polars or Arrow column, or a list, and of one dimension"
        library = frame_library(column)
        if library is None:
            if isinstance(column, list | tuple | range):
                return cls(ColumnKind.OBJECT, objects=lambda: list(column), what=what)
            if isinstance(column, np.ndarray) and column.ndim == 1 and column.dtype.kind != "V":
                return replace(_of_array(column), what=what)
            raise InputError(f"{refused}; got {type(column).__name__}")
        if getattr(column, "ndim", 1) != 1 or hasattr(column, "columns") or hasattr(column, "column_names"):
            raise InputError(f"{refused}: pick one column of the frame, such as frame['age']")
        try:
            return replace(_READERS[library](column), what=what)
        except InputError as problem:
            refused = str(problem)
        except Exception:  # each library has its own tree of errors, and a message may show a value
            refused = f"this {library} object could not be read; {refused}"
        raise InputError(refused)

    @property
    def floating(self) -> bool:
        """Whether the type is one of floats or complex numbers."""
        return self.array is not None and self.array.dtype.kind in "fc"

    @property
    def whole(self) -> bool:
        """Whether the type is one of integers of at most 64 bits."""
        return self.array is not None and self.array.dtype.kind in "iu"

    def listed(self) -> list[Any]:
        """Return the cells as Python objects, None for the missing ones; times and spans as numpy's own."""
        array = self.array
        if array is not None:
            plain = array.dtype.kind in "mM" or array.dtype.itemsize > 8
            return without(list(array) if plain else array.tolist(), self.missing)
        found: list[Any] | None
        try:
            found = self.objects()
        except Exception:  # as above
            found = None
        if found is None:
            raise InputError(f"{self.what} could not be read; pass it as a list or a numpy array")
        return found


def without(cells: list[Any], missing: Mask | None) -> list[Any]:
    """Return cells with None for those that are missing."""
    return cells if missing is None else [None if gone else one for one, gone in zip(cells, missing, strict=True)]


def _of_array(values: NDArray[Any], missing: Mask | None = None) -> FrameColumn:
    """Return an array of numpy, masked or not."""
    if isinstance(values, np.ma.MaskedArray):
        values, missing = np.ma.getdata(values), np.ma.getmaskarray(values)
    letter = values.dtype.kind
    kind = _KINDS.get(letter, ColumnKind.OTHER)
    if letter in "OSUT":
        return FrameColumn(kind, objects=lambda: without(values.tolist(), missing))
    return FrameColumn(kind, values, missing)


def _of_pandas(column: Any) -> FrameColumn:
    """Return a column of pandas, an index or an array."""
    dtype = column.dtype
    if isinstance(dtype, np.dtype):
        return _of_array(column.to_numpy())
    held = getattr(column, "array", column)
    if hasattr(dtype, "categories"):
        return _taken(_of_pandas(dtype.categories), np.asarray(held.codes))
    if hasattr(dtype, "pyarrow_dtype"):
        return _of_arrow(held.__arrow_array__())
    if type(dtype).__name__ == "SparseDtype":
        return _of_array(np.asarray(held))
    return _of_pandas_only(dtype, held)


def _of_pandas_only(dtype: Any, held: Any) -> FrameColumn:
    """Return a column of a type that is neither numpy's nor Arrow's."""
    if hasattr(dtype, "tz"):
        return replace(_of_array(held.tz_convert(None).to_numpy()), zone=True)
    if isinstance(getattr(dtype, "numpy_dtype", None), np.dtype):  # nullable numbers and truth values
        return _of_array(held.to_numpy(dtype=dtype.numpy_dtype, na_value=0), np.asarray(held.isna()))
    kind = ColumnKind.TEXT if type(dtype).__name__ == "StringDtype" else ColumnKind.OTHER
    return FrameColumn(kind, objects=lambda: held.to_numpy(dtype=object, na_value=None).tolist())


def _taken(values: FrameColumn, codes: NDArray[Any]) -> FrameColumn:
    """Return the column of codes into values, missing where a code is negative."""

    def coded() -> tuple[FrameColumn, NDArray[np.int64]]:
        return values, codes.astype(np.int64)

    if values.array is None:
        return FrameColumn(
            values.kind,
            objects=lambda: list(np.fromiter([*values.listed(), None], dtype=object)[codes]),
            coded=coded,
        )
    array, missing = values.array, values.missing
    if not array.size:  # without values all are missing
        array, missing = np.zeros(1, dtype=array.dtype), None
    missing = codes < 0 if missing is None else (codes < 0) | missing[codes]
    return replace(values, array=array[codes], missing=missing, coded=coded)


def _of_polars(column: Any) -> FrameColumn:
    """Return a column of Polars."""
    dtype = column.dtype
    name, scale = dtype.base_type().__name__, getattr(dtype, "time_unit", None)
    counted = {"Date": "M8[D]", "Datetime": f"M8[{scale}]", "Duration": f"m8[{scale}]"}.get(name)
    missing = column.is_null().to_numpy()
    if counted is not None:
        counts = column.to_physical().fill_null(0).to_numpy().astype(np.int64)
        return replace(_of_array(counts.view(counted), missing), zone=getattr(dtype, "time_zone", None) is not None)
    if name == "Boolean" or (dtype.is_numeric() and not dtype.is_decimal() and not name.endswith("128")):
        return _of_array(column.fill_null(False if name == "Boolean" else 0).to_numpy(), missing)
    if name in ("String", "Categorical", "Enum"):
        return _of_texts(column.to_list, lambda: _polars_texts(column))
    if dtype.is_nested():  # Polars ends the program at a time within that Python does not have
        return FrameColumn(ColumnKind.OTHER, objects=lambda: _arrow_objects(column.to_arrow()))
    named = {"Object": ColumnKind.OBJECT, "Null": ColumnKind.OBJECT, "Binary": ColumnKind.BYTES}
    numeric = ColumnKind.NUMERIC if dtype.is_numeric() else ColumnKind.OTHER
    return FrameColumn(named.get(name, numeric), objects=column.to_list)


def _of_texts(objects: Callable[[], list[Any]], texts: Callable[[], Any]) -> FrameColumn:
    """Return a column of texts that Arrow holds, or can hold."""

    def coded() -> tuple[FrameColumn, NDArray[np.int64]]:
        held = texts()
        if not len(held):
            return FrameColumn(ColumnKind.TEXT), np.zeros(0, dtype=np.int64)
        encoded = held.dictionary_encode().unify_dictionaries().combine_chunks()
        codes = np.asarray(encoded.indices.fill_null(-1)).astype(np.int64)
        return FrameColumn(ColumnKind.TEXT, objects=lambda: _arrow_objects(encoded.dictionary)), codes

    return FrameColumn(ColumnKind.TEXT, objects=objects, texts=texts, coded=coded)


def _polars_texts(column: Any) -> Any:
    """Return a Polars column of texts as an Arrow column."""
    pyarrow = optional("pyarrow", extra="frames", purpose="an Arrow column of a Polars frame")
    return pyarrow.chunked_array([column.cast(type(column)([""]).dtype).to_arrow()])


def _of_arrow(column: Any) -> FrameColumn:
    """Return a column of Arrow."""
    pyarrow = optional("pyarrow", extra="frames", purpose="reading an Arrow column")
    types = pyarrow.types
    if isinstance(column, pyarrow.Array):
        column = pyarrow.chunked_array([column])
    if types.is_dictionary(column.type) or types.is_run_end_encoded(column.type):
        return _of_arrow(_decoded(pyarrow, column))
    kind = column.type
    missing = np.asarray(column.is_null())
    if types.is_timestamp(kind) or types.is_date(kind) or types.is_duration(kind):
        unit = "D" if types.is_date(kind) else kind.unit
        filled = column.cast(pyarrow.int32() if types.is_date32(kind) else pyarrow.int64()).fill_null(0)
        counts = np.asarray(filled) // (_DATE64_DAY if types.is_date64(kind) else 1)
        times = counts.astype(np.int64).view(f"{'m' if types.is_duration(kind) else 'M'}8[{unit}]")
        return replace(_of_array(times, missing), zone=getattr(kind, "tz", None) is not None)
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind):
        filled = column.fill_null(False if types.is_boolean(kind) else np.float16(0) if _is_half(kind) else 0)
        return _of_array(np.asarray(filled), missing)

    def objects() -> list[Any]:
        return _arrow_objects(column)

    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return _of_texts(objects, lambda: column)
    return FrameColumn(_listed_kind(types, kind), objects=objects)


def _listed_kind(types: Any, kind: Any) -> ColumnKind:
    """Return the kind of an Arrow type whose cells are read one by one."""
    if types.is_null(kind):
        return ColumnKind.OBJECT
    if types.is_decimal(kind):
        return ColumnKind.NUMERIC
    binary = (types.is_binary, types.is_large_binary, types.is_fixed_size_binary, types.is_binary_view)
    if any(is_one(kind) for is_one in binary):
        return ColumnKind.BYTES
    return ColumnKind.UUID if getattr(kind, "extension_name", "") == "arrow.uuid" else ColumnKind.OTHER


def _is_half(kind: Any) -> bool:
    """Say whether an Arrow type is that of floats of 16 bits, which Arrow fills only with a float of that type."""
    return str(kind) == "halffloat"


def _decoded(pyarrow: Any, column: Any) -> Any:
    """Return a column without its dictionary or its runs."""
    encoded = pyarrow.types.is_dictionary(column.type)
    try:
        column.validate()
        if encoded:
            chunks = [chunk.dictionary.take(chunk.indices) for chunk in column.chunks]
        else:
            compute = optional("pyarrow.compute", extra="frames", purpose="reading an Arrow column")
            chunks = [compute.run_end_decode(chunk) for chunk in column.chunks]
    except (pyarrow.ArrowException, IndexError):
        chunks = None  # the message of Arrow would show a value
    if chunks is None:
        raise InputError("an Arrow column is not well formed: an index lies outside its dictionary. Encode it again")
    return pyarrow.chunked_array(chunks, column.type.value_type)


def _arrow_objects(column: Any) -> list[Any]:
    """Return the cells of an Arrow column, None for those that Python has no object for."""
    try:
        listed: list[Any] = column.to_pylist()
    except Exception:  # of many types, and a message may show an entry
        listed = [_object(cell) for cell in column]
    return listed


def _object(cell: Any) -> Any:
    """Return one cell of an Arrow column as a Python object, None if there is none."""
    try:
        return cell.as_py()
    except Exception:  # as above
        return None


_READERS: dict[str, Callable[[Any], FrameColumn]] = {"pandas": _of_pandas, "polars": _of_polars, "pyarrow": _of_arrow}
