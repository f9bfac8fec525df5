"""Columns of every kind come out as the same numbers, with one rule for what is missing."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dp
from discreet.frames.numeric import numbers, truths

SAME = {
    "list": [1, None, 2.5],
    "tuple": (1.0, float("nan"), 2.5),
    "numpy": np.array([1.0, np.nan, 2.5]),
    "numpy half floats": np.array([1.0, np.nan, 2.5], dtype=np.float16),
    "numpy long doubles": np.array([1.0, np.nan, 2.5], dtype=np.longdouble),
    "numpy objects": np.array([Fraction(1), None, Decimal("2.5")], dtype=object),
    "masked": np.ma.masked_array([1.0, 7.0, 2.5], mask=[False, True, False]),
    "pandas": pd.Series([1.0, None, 2.5]),
    "pandas nullable": pd.Series([1.0, None, 2.5], dtype="Float64"),
    "pandas on Arrow": pd.Series([1.0, None, 2.5], dtype="float64[pyarrow]"),
    "pandas objects": pd.Series([1.0, None, 2.5], dtype=object),
    "polars": pl.Series([1.0, None, 2.5]),
    "polars decimals": pl.Series([Decimal("1"), None, Decimal("2.5")]),
    "arrow": pa.array([1.0, None, 2.5]),
    "arrow in chunks": pa.chunked_array([[1.0], [None, 2.5]]),
    "arrow decimals": pa.array([Decimal("1.0"), None, Decimal("2.5")]),
    "signaling NaN": [1, Decimal("sNaN"), 2.5],
}


@pytest.mark.parametrize("column", SAME.values(), ids=SAME.keys())
def test_every_kind_of_column_gives_the_same_numbers(column):
    np.testing.assert_array_equal(numbers(column).astype(np.float64), [1.0, np.nan, 2.5])


INTEGERS = [
    [3, 4],
    np.array([3, 4], dtype=np.uint8),
    pd.Series([3, 4], dtype="Int64"),
    pl.Series([3, 4]),
    pa.array([3, 4]),
]


@pytest.mark.parametrize("column", INTEGERS, ids=lambda column: type(column).__module__)
def test_integers_are_numbers(column):
    assert numbers(column).tolist() == [3, 4]


def test_integers_beyond_the_floats_are_infinite_and_clipped_later():
    assert numbers([10**400, -(10**400)]).tolist() == [np.inf, -np.inf]


REFUSED = [
    "12",
    5,
    None,
    {"a": 1},
    ["secret"],
    [[1, 2], [3, 4]],
    np.zeros((2, 2)),
    np.array(3.0),
    np.array(["secret"]),
    np.array([1j]),
    np.array(["2020-01-01"], dtype="datetime64[D]"),
    pd.DataFrame({"secret": [1]}),
    pd.Series(["secret"]),
    pl.DataFrame({"secret": [1]}),
    pl.Series(["secret"]),
    pl.Series([[1]]),
    pa.table({"secret": [1]}),
    pa.array(["secret"]),
    object(),
]


@pytest.mark.parametrize("column", REFUSED, ids=lambda column: type(column).__name__)
def test_what_is_no_column_of_numbers_is_refused_without_showing_it(column):
    with pytest.raises(dp.errors.InputError) as caught:
        numbers(column)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_the_refusal_of_strings_does_not_tell_how_long_they_are():
    texts = set()
    for length in (1, 9):
        with pytest.raises(dp.errors.InputError) as caught:
            numbers(np.array(["x" * length]))
        texts.add(str(caught.value))
    assert len(texts) == 1


CONDITIONS = [
    [True, None, False],
    np.array([True, False, False]),
    np.ma.masked_array([True, True, False], mask=[False, True, False]),
    pd.Series([True, None, False], dtype="boolean"),
    pl.Series([True, None, False]),
    pa.array([True, None, False]),
]


@pytest.mark.parametrize("column", CONDITIONS, ids=lambda column: type(column).__module__)
def test_a_missing_truth_value_is_false(column):
    assert truths(column).tolist() == [True, False, False]


@pytest.mark.parametrize("column", [[1, 0], ["yes"], np.array([1.0]), np.zeros((2, 2), dtype=bool), 3])
def test_a_condition_is_made_of_truth_values(column):
    with pytest.raises(dp.errors.InputError):
        truths(column)


@pytest.mark.parametrize(
    "make",
    [
        lambda cells: pl.Series(cells, dtype=pl.String),
        lambda cells: pa.array(cells, pa.string()),
        lambda cells: pd.Series(cells, dtype="string"),
        lambda cells: pd.Series(cells, dtype="string").astype("category"),
    ],
    ids=["polars", "arrow", "pandas", "category"],
)
def test_a_column_of_texts_is_refused_by_its_type_whatever_it_holds(make):
    for cells in ([None, None], [None, "12"]):
        with pytest.raises(dp.errors.InputError, match="type of texts"):
            numbers(make(cells))
        with pytest.raises(dp.errors.InputError, match="truth values"):
            truths(make(cells))


def test_one_complex_entry_does_not_empty_a_column():
    """A complex entry makes a pandas column of complex numbers out of a column of numbers."""
    column = pd.Series([1, 2.5, None, 1 + 2j])
    assert column.dtype.kind == "c"
    np.testing.assert_array_equal(numbers(column, odd_is_missing=True), [1.0, 2.5, np.nan, np.nan])
