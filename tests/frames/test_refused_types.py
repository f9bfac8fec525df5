"""A column whose type holds neither keys nor ids is refused by that type, before a cell is read."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.errors import InputError
from discreet.frames import key_values, person_codes
from discreet.frames.column import FrameColumn
from discreet.privacy import PureDP
from discreet.query import Session

NOON = dt.time(12)
TYPES: dict[str, tuple[Callable[[list[Any]], Any], Any]] = {
    "Polars, time of day": (lambda cells: pl.Series(cells, dtype=pl.Time), NOON),
    "Polars, list": (lambda cells: pl.Series(cells, dtype=pl.List(pl.Int64)), [1, 2]),
    "Polars, array": (lambda cells: pl.Series(cells, dtype=pl.Array(pl.Int64, 2)), [1, 2]),
    "Polars, struct": (lambda cells: pl.Series(cells, dtype=pl.Struct({"a": pl.Int64})), {"a": 1}),
    "Arrow, time of day": (lambda cells: pa.array(cells, pa.time64("us")), NOON),
    "Arrow, list": (lambda cells: pa.array(cells, pa.list_(pa.int64())), [1, 2]),
    "Arrow, struct": (lambda cells: pa.array(cells, pa.struct([("a", pa.int64())])), {"a": 1}),
    "Arrow, map": (lambda cells: pa.array(cells, pa.map_(pa.string(), pa.int64())), [("a", 1)]),
    "pandas, time of day of Arrow": (lambda cells: pd.Series(cells, dtype=pd.ArrowDtype(pa.time64("us"))), NOON),
    "pandas, period": (lambda cells: pd.Series(cells, dtype="period[D]"), pd.Period("2026-01-01", "D")),
    "pandas, interval": (lambda cells: pd.Series(cells, dtype="interval[float64]"), pd.Interval(0, 1)),
    "pandas, categories of intervals": (
        lambda cells: pd.Series(cells, dtype=pd.CategoricalDtype(pd.IntervalIndex.from_breaks([0, 1, 2]))),
        pd.Interval(0, 1),
    ),
}


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("read", [key_values, person_codes])
def test_neighbors_of_a_type_that_holds_no_ids_are_refused_alike(name: str, read: Callable[[Any], Any]) -> None:
    make, cell = TYPES[name]
    told = set()
    for cells in ([], [None], [None, None], [cell, None], [cell, cell, None]):
        with pytest.raises(InputError) as refused:
            read(make(cells))
        told.add(str(refused.value))
    assert len(told) == 1


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("read", [key_values, person_codes])
def test_no_cell_is_read_before_the_refusal(
    name: str, read: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    make, cell = TYPES[name]
    column = make([cell, None])

    def listed(_: FrameColumn) -> list[Any]:
        raise AssertionError("a cell was read")

    monkeypatch.setattr(FrameColumn, "listed", listed)
    with pytest.raises(InputError):
        read(column)


@pytest.mark.parametrize("declared", [None, "integer", "text"])
@pytest.mark.parametrize("name", [name for name in TYPES if name.startswith("Polars")])
def test_a_unit_column_of_such_a_type_is_refused_whatever_is_declared_and_held(name: str, declared: str | None) -> None:
    make, cell = TYPES[name]
    columns = {} if declared is None else {"person": {"type": declared}}
    told = set()
    for cells in ([None, None], [cell, None]):
        with pytest.raises(InputError, match="times of day, lists, records") as refused:
            Session.from_frames(
                visits=pl.DataFrame({"person": make(cells)}), unit="person", rows=1, budget=PureDP(1), columns=columns
            )
        told.add(str(refused.value))
    assert len(told) == 1


def test_bytes_and_uuids_are_still_ids_and_bytes_are_still_keys() -> None:
    column = pa.array([b"a", None, b"a"], pa.binary())
    assert person_codes(column).tolist() == [0, -1, 0]
    assert key_values(column) == [b"a", None, b"a"]
    identifiers = pa.array([bytes(16), None, bytes(16)], pa.binary(16)).cast(pa.uuid())
    assert person_codes(identifiers).tolist() == [0, -1, 0]
