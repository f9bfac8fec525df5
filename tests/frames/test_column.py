"""A column of every library is read by its type alone, and no cell of one person changes how the others are read."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.errors import InputError
from discreet.frames.column import ColumnKind, FrameColumn
from discreet.frames.keys import key_values
from discreet.frames.units import person_codes

ENTRY = "an entry of somebody"
TIME = dt.datetime(2026, 1, 2, 3, 4, 5, 6)
LIBRARIES: dict[str, Any] = {
    "pandas on Arrow": lambda cells: pd.Series(pd.arrays.ArrowExtensionArray(pa.array(cells))),
    "Polars": pl.Series,
    "Arrow": pa.array,
    "Arrow, chunks": lambda cells: pa.chunked_array([cells[:1], cells[1:]]),
    "Arrow, dictionary": lambda cells: pa.array(cells).dictionary_encode(),
}
COLUMNS: dict[str, tuple[list[Any], ColumnKind, str | None]] = {
    "integers": ([3, None, 2**62], ColumnKind.NUMERIC, "i"),
    "floats": ([0.5, None, 2.0], ColumnKind.NUMERIC, "f"),
    "truth values": ([True, None, False], ColumnKind.BOOLEAN, "b"),
    "days": ([TIME.date(), None, dt.date(1, 1, 1)], ColumnKind.TIME, "M"),
    "times": ([TIME, None, dt.datetime(1969, 1, 1)], ColumnKind.TIME, "M"),
    "spans": ([dt.timedelta(1), None, dt.timedelta(seconds=-1)], ColumnKind.OTHER, "m"),
    "texts": (["a", None, ""], ColumnKind.TEXT, None),
    "decimals": ([Decimal("1.5"), None, Decimal("0.5")], ColumnKind.NUMERIC, None),
    "bytes": ([b"a", None, b"\xff"], ColumnKind.BYTES, None),
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", COLUMNS)
def test_all_libraries_are_read_alike(library: str, name: str) -> None:
    cells, kind, letter = COLUMNS[name]
    read = FrameColumn.read(LIBRARIES[library](cells))
    assert read.kind is kind
    assert (None if read.array is None else read.array.dtype.kind) == letter
    found = read.listed()
    assert found[1] is None
    if letter in ("M", "m"):
        found = [None if one is None else one.item() for one in found]
    assert found == cells


def test_a_missing_cell_changes_neither_the_type_nor_the_other_cells() -> None:
    for make in (*LIBRARIES.values(), lambda cells: pd.Series(cells, dtype="Int64")):
        whole, gap = FrameColumn.read(make([1, 2**60 + 1])), FrameColumn.read(make([1, 2**60 + 1, None]))
        assert whole.array is not None
        assert gap.array is not None
        assert whole.array.dtype == gap.array.dtype
        assert gap.listed() == [*whole.listed(), None]


def test_times_with_a_zone_are_in_utc_and_say_so() -> None:
    rome = pd.Series([pd.Timestamp(TIME, tz="Europe/Rome"), pd.NaT])
    for column in (rome, rome.astype("category"), pl.Series(rome), pa.array(rome), pd.Index(rome)):
        read = FrameColumn.read(column)
        assert read.zone
        assert read.array is not None
        assert read.array[0] == np.datetime64(TIME) - np.timedelta64(1, "h")
    assert not FrameColumn.read(pl.Series([TIME])).zone


@pytest.mark.parametrize(
    "column",
    [
        pa.Array.from_buffers(
            pa.string(), 2, [None, pa.py_buffer(np.array([0, 1, 2], np.int32)), pa.py_buffer(b"\xffb")]
        ),
        pa.array([10**7, 1], pa.int32()).cast(pa.date32()),
        pl.Series([[dt.date(2020, 1, 1)], None]),
    ],
    ids=["a text that is not UTF-8", "a day after the year 9999", "lists"],
)
def test_one_odd_cell_is_read_or_missing_and_raises_nothing(column: Any) -> None:
    assert len(FrameColumn.read(column).listed()) == 2


def test_one_odd_id_or_key_of_a_typed_column_leaves_the_others_as_they_are() -> None:
    odd = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(np.array([0, 1, 2], np.int32)), pa.py_buffer(b"\xffb")]
    )
    assert person_codes(odd).tolist() == [-1, 0]
    assert key_values(odd) == [None, "b"]
    assert person_codes(pa.array([10**7, 1, 10**7], pa.int32()).cast(pa.date32())).tolist() == [1, 0, 1]


def test_the_days_of_arrow_are_days_in_both_of_its_types() -> None:
    day = dt.date(1969, 12, 31)
    for kind in (pa.date32(), pa.date64()):
        read = FrameColumn.read(pa.array([day, None], kind))
        assert read.array is not None
        assert read.array.dtype == np.dtype("M8[D]")
        assert read.array[0] == np.datetime64(day)


class Hostile:
    """What shows itself in whatever it raises."""

    __module__ = "pandas.hostile"

    @property
    def dtype(self) -> Any:
        raise RuntimeError(ENTRY)


@pytest.mark.parametrize(
    "column",
    [ENTRY, 5, None, {ENTRY: 1}, {ENTRY}, np.zeros((2, 2)), np.array(3), pd.DataFrame({ENTRY: [1]}),
     pl.DataFrame({ENTRY: [1]}), pa.table({ENTRY: [1]}), pa.scalar(ENTRY), pl.lit(ENTRY), Hostile()],
    ids=lambda column: type(column).__name__,
)  # fmt: skip
def test_what_is_no_column_is_refused_in_words_that_show_nothing(column: Any) -> None:
    with pytest.raises(InputError, match="a unit column must be a numpy array, a pandas, Polars or Arrow") as caught:
        FrameColumn.read(column, "a unit column")
    assert ENTRY not in str(caught.value)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    "kind",
    [
        "Int64",
        "Float64",
        "boolean",
        "int64[pyarrow]",
        "bool[pyarrow]",
        "date32[pyarrow]",
        "timestamp[us][pyarrow]",
        "string",
    ],
)
def test_categories_that_nobody_has_a_value_of_are_read_like_those_that_somebody_has(kind):
    nobody = pd.Series([None, None, None], dtype=kind).astype("category")
    assert FrameColumn.read(nobody).listed() == [None, None, None]
