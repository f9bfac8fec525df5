"""Columns become frames of every library, with one sign for a missing value."""

from __future__ import annotations

import numpy as np
import pandas as pd

from discreet.frames.frame import Frame
from discreet.frames.output import to_arrow, to_pandas, to_polars

COLUMNS = {
    "number": np.array([1.5, np.nan]),
    "whole": np.array([1, 2]),
    "object": np.array(["a", None], dtype=object),
    "list": [True, None],
}


def test_a_missing_value_is_null_in_polars_and_arrow_and_nan_in_pandas() -> None:
    for frame in (to_polars(COLUMNS), to_arrow(COLUMNS)):
        read = Frame.read(frame)
        assert read.names == tuple(COLUMNS)
        assert [read.column(name).listed() for name in COLUMNS] == [[1.5, None], [1, 2], ["a", None], [True, None]]
    frame = to_pandas(COLUMNS)
    assert frame.isna().to_numpy().tolist() == [[False] * 4, [True, False, True, True]]
    assert frame["whole"].dtype == np.int64


def test_values_of_several_types_find_one_where_that_is_allowed() -> None:
    assert to_polars({"value": [1, 2.5]}, strict=False)["value"].to_list() == [1.0, 2.5]


def test_labels_are_one_object_each() -> None:
    frame = to_pandas({"value": [1, 2]}, index=[("a", 1), ("b", 2)], index_name="key")
    assert not isinstance(frame.index, pd.MultiIndex)
    assert frame.index.name == "key"
    assert frame.loc[[("b", 2)], "value"].tolist() == [2]


def test_whole_numbers_beyond_64_bits_are_reals_in_arrow() -> None:
    column = to_arrow({"value": [2**63, None, -3]}).column("value")
    assert column.to_pylist() == [2.0**63, None, -3.0]
    assert to_arrow({"value": [2**63 - 1]}).column("value").to_pylist() == [2**63 - 1]
