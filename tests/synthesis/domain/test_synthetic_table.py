"""Synthetic tables: written in every form with all they hold, and turned into rows that keep their shares."""

from __future__ import annotations

import csv
from datetime import date, datetime
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError, ParameterError
from discreet.synthesis import Domain, Records, SyntheticTable

DOMAIN = Domain.of(color=["red", 'with "quotes", and commas'], weight=[1, 2], missing=True)
CODES = np.array([[0, 1, 2], [1, 2, 0]], dtype=np.uint16)
PLAIN = SyntheticTable(Records(DOMAIN, CODES))
WEIGHED = SyntheticTable(Records(DOMAIN, CODES), np.array([0.5, 0.25, 0.25]))
COLORS = ["red", 'with "quotes", and commas', None]


def test_a_csv_file_is_read_back_with_empty_fields_for_missing_values(tmp_path: Path) -> None:
    with PLAIN.to_csv(tmp_path / "made.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [["color", "weight"], ["red", "2"], [COLORS[1], ""], ["", "1"]]


def test_weights_are_a_last_column_under_a_free_name(tmp_path: Path) -> None:
    with WEIGHED.to_csv(tmp_path / "made.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["color", "weight", "weight_"]
    assert [row[-1] for row in rows[1:]] == ["0.5", "0.25", "0.25"]


@pytest.mark.parametrize("table", [PLAIN, WEIGHED])
def test_every_form_holds_the_same(table: SyntheticTable, tmp_path: Path) -> None:
    weights = None if table.weights is None else table.weights.tolist()
    arrow, polars, pandas = table.to_arrow(), table.to_polars(), table.to_pandas()
    stored = pq.read_table(table.to_parquet(tmp_path / "made.parquet"))
    assert stored.equals(arrow)
    for found in (arrow.to_pydict(), polars.to_dict(as_series=False)):
        assert found["color"] == COLORS
        assert found["weight"] == [2, None, 1]
        assert found.get("weight_") == weights
    assert pandas["color"].isna().tolist() == [False, False, True]
    assert list(pandas.columns) == ["color", "weight"] + ["weight_"] * (weights is not None)


@pytest.mark.theorem("SyntheticTable.unweighted.accuracy")
@given(
    weights=st.lists(st.floats(0, 1e6), min_size=1, max_size=9).filter(lambda one: sum(one) > 1e-3),
    size=st.integers(1, 2000),
)
def test_rows_without_weights_keep_every_share_to_one_row(weights: list[float], size: int) -> None:
    domain = Domain.of(place=range(len(weights)))
    table = SyntheticTable(domain.encode({"place": list(range(len(weights)))}), np.array(weights))
    made = table.unweighted(size)
    assert len(made) == size
    assert made.weights is None
    counts = np.bincount(made.records.codes[0], minlength=len(weights))
    wanted = np.array(weights) / sum(weights) * size
    assert np.all(np.abs(counts - wanted) < 1 + 1e-6)
    assert np.all(counts[np.array(weights) == 0] == 0)


def test_a_table_without_weights_is_repeated_evenly() -> None:
    assert np.bincount(PLAIN.unweighted(8).records.codes[0]).tolist() == [3, 3, 2]
    assert "weighted" in repr(WEIGHED)
    assert "weighted" not in repr(PLAIN)


@pytest.mark.parametrize("size", [0, True, 2.0, -1])
def test_a_size_that_is_no_whole_number_is_refused(size: int) -> None:
    with pytest.raises(ParameterError, match="size must be a whole number"):
        PLAIN.unweighted(size)


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0, 1.0], [1.0, np.nan, 1.0], [np.inf, 1.0, 1.0], [0.0, 0.0, 0.0]])
def test_weights_that_are_none_are_refused(weights: list[float]) -> None:
    with pytest.raises(InputError, match="weights"):
        SyntheticTable(Records(DOMAIN, CODES), np.array(weights))


def test_numbers_and_truth_values_have_the_types_that_pandas_users_expect() -> None:
    domain = Domain.of(
        rooms=[1, 2],
        cost=[0.5, 1.5],
        smokes=[False, True],
        mixed=[1, 2.5],
        huge=[1, 10**30],
        name=["a", "b"],
        missing=True,
    )
    full = SyntheticTable(Records(domain, np.array([[0, 1]] * 6, dtype=np.uint16)))
    some = SyntheticTable(Records(domain, np.array([[0, 2]] * 6, dtype=np.uint16)))
    names = ["rooms", "cost", "smokes", "mixed", "huge"]
    whole, gaps = full.to_pandas(), some.to_pandas()
    assert [str(whole[name].dtype) for name in names] == ["int64", "float64", "bool", "float64", "object"]
    assert [str(gaps[name].dtype) for name in names] == ["Int64", "float64", "boolean", "float64", "object"]
    assert gaps.isna().to_numpy().tolist() == [[False] * 6, [True] * 6]
    assert (whole["rooms"].sum(), gaps["rooms"].sum(), gaps["cost"].mean(), gaps["smokes"].any()) == (3, 1, 0.5, False)
    for table, frame in ((full, whole), (some, gaps)):
        codes = table.records.codes.copy()
        # a column of objects could have been one of floats, which do not tell such numbers apart: it is outside
        codes[4][codes[4] == 1] = 2
        assert np.array_equal(domain.encode(frame).codes, codes)


def test_days_are_written_as_days_and_times_as_times(tmp_path: Path) -> None:
    domain = Domain.of(
        day=[date(2026, 1, 2), date(2026, 1, 3)],
        midnight=[datetime(2026, 1, 2), datetime(2026, 1, 3)],
        hour=[datetime(2026, 1, 2), datetime(2026, 1, 2, 7, 30)],
        missing=True,
    )
    table = SyntheticTable(Records(domain, np.array([[0, 2]] * 3, dtype=np.uint16)))
    lines = table.to_csv(tmp_path / "made.csv").read_text(encoding="utf-8").splitlines()
    assert lines == ["day,midnight,hour", "2026-01-02,2026-01-02,2026-01-02 00:00:00", ",,"]
