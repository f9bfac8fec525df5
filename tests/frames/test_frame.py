"""A table is taken apart into columns by one reader, whatever holds it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.data import survey
from discreet.errors import InputError, ParameterError
from discreet.frames.frame import Frame

COLUMNS = {"age": [31, 47], "sex": ["f", "m"]}
TABLES: dict[str, Any] = {
    "mapping": COLUMNS,
    "pandas": pd.DataFrame(COLUMNS),
    "Polars": pl.DataFrame(COLUMNS),
    "Arrow": pa.table(COLUMNS),
    "a batch of Arrow": pa.table(COLUMNS).to_batches()[0],
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_every_table_has_the_same_columns(table: Any) -> None:
    frame = Frame.read(table)
    assert Frame.is_one(table)
    assert frame.names == ("age", "sex")
    assert frame.column("age").listed() == [31, 47]
    assert frame.column("sex").listed() == ["f", "m"]
    with pytest.raises(ParameterError, match=r"there is no column 'zip'; the columns are age, sex$"):
        frame.column("zip")


def test_a_table_of_discreet_and_a_matrix_are_tables_too() -> None:
    answers = survey(people=20, seed=1).answers
    assert Frame.read(answers).names == answers.names
    assert Frame.read(answers).stored("day") is answers.column("day")
    matrix = Frame.read(np.array([[1, 2], [3, 4]]))
    assert [matrix.at(place).tolist() for place in range(2)] == [[1, 3], [2, 4]]


def test_a_name_that_two_columns_have_is_refused() -> None:
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(InputError, match="two columns have the name 'a'"):
        Frame.read(twice).column("a")


def test_a_wide_table_names_its_first_columns() -> None:
    with pytest.raises(ParameterError, match=r"the columns are c0, .*, c19, \.\.\.$"):
        Frame.read({f"c{place}": [] for place in range(21)}).column("x")


@pytest.mark.parametrize(
    "table",
    [None, 5, "age", [1], np.zeros(3), pd.Series([1]), pl.Series([1]), pa.array([1]), pl.DataFrame(COLUMNS).lazy()],
    ids=lambda table: type(table).__name__,
)
def test_what_is_no_table_is_refused(table: Any) -> None:
    with pytest.raises(InputError, match=r"^a table is one of|frame\.collect\(\)$"):
        Frame.read(table)
