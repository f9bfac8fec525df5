"""One cell that changes the type of a numpy column changes no other row's key, and nothing that is printed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet import statistics
from discreet.errors import InputError
from discreet.frames.numeric import held_by_numpy, safe_floats
from discreet.mechanisms.keys.key_counts import KeyCounts
from discreet.statistics.columns.keys import bounded_keys, distinct_counts, key_codes

PRICE: dict[str, Any] = {"relation": dp.Relation.ADD_REMOVE, "epsilon": 1}
LARGE = [2**60 + place for place in range(1000)]
CELLS = {"empty": None, "NaN": float("nan"), "text": "x", "half": 0.5, "negative": -1, "beyond 64 bits": 2**64}
NUMBERS = st.integers(-3, 3) | st.integers(-(2**53) - 2, -(2**53) + 2) | st.integers(2**53 - 2, 2**53 + 2)


def keyed(column: Any) -> dict[str, int]:
    """Return what is printed of every key, with its count."""
    keys, counts = distinct_counts(column)
    return {repr(key): count for key, count in zip(keys, counts.tolist(), strict=True)}


def moved(first: dict[str, int], second: dict[str, int]) -> int:
    return sum(abs(first.get(key, 0) - second.get(key, 0)) for key in first.keys() | second.keys())


@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS)
@pytest.mark.parametrize(
    "ids", [LARGE, list(range(1000)), [2**63 + one for one in range(9)]], ids=["2^60", "7", "2^63"]
)
def test_one_cell_moves_the_number_of_keys_by_one_at_most(ids: list[int], cell: Any) -> None:
    query = statistics.CountDistinct(**PRICE)
    before, after = pd.Series(ids), pd.Series([*ids, cell])
    assert abs(query.measure(before) - query.measure(after)) <= 1
    bounded = statistics.CountDistinct(groups=1, **PRICE)
    people = np.arange(len(ids) + 1)
    pair = (statistics.Rows(before, people[:-1]), statistics.Rows(after, people))
    assert abs(bounded.measure(pair[0]) - bounded.measure(pair[1])) <= 1


@given(numbers=st.lists(NUMBERS, min_size=1, max_size=8), cell=st.sampled_from(list(CELLS.values())))
def test_one_cell_moves_one_count_and_prints_the_same_keys(numbers: list[int], cell: Any) -> None:
    plain = pd.Series(numbers)
    assert plain.dtype == np.int64
    for make in (
        pd.Series,
        lambda rows: pd.Series(rows).astype("category"),
        lambda rows: pd.Series(rows, dtype=object),
    ):
        assert moved(keyed(plain), keyed(make([*numbers, cell]))) <= 1
        assert moved(keyed(plain), keyed(make(numbers))) == 0
    longer = pd.Series([*numbers, cell])
    people = np.arange(len(longer))
    first = dict(zip(*map(list, bounded_keys(plain, people[:-1], keys=1)), strict=True))
    second = dict(zip(*map(list, bounded_keys(longer, people, keys=1)), strict=True))
    assert moved({repr(key): int(one) for key, one in first.items()}, {repr(k): int(n) for k, n in second.items()}) <= 1


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64", "uint64", "f2", "f4", "f8", "g"])
def test_whole_numbers_of_every_numpy_type_are_one_key(dtype: str) -> None:
    array = np.array([7, 0, 7, 100], dtype=dtype)
    wanted = {"0": 1, "7": 2, "100": 1}
    for column in (
        array,
        np.ma.masked_array(array, mask=False),
        pd.Series(array.astype("f8") if dtype == "g" else array),
    ):
        assert keyed(column) == wanted


def test_numbers_that_a_float_does_not_tell_apart_are_no_keys() -> None:
    edge = [2**53 - 1, -(2**53) + 1]
    for column in (
        np.array([*edge, 2**53, -(2**53), 2**62, -(2**63)]),
        np.array([2**53 - 1, 2**53, 2**64 - 1], dtype=np.uint64),
        np.array([*edge, 2.0**53, 1e300, np.inf, -np.inf]),
        np.array([*edge, 2**53, 2**53 + 1, 2**70, float("inf")], dtype=object),
        np.array([*edge, "1e4000"], dtype=np.longdouble),
    ):
        assert set(key_codes(column)[1]) <= set(edge)
        assert all(type(key) is int for key in key_codes(column)[1])
        assert key_codes(column)[0][0] >= 0


@pytest.mark.filterwarnings("error")
def test_no_number_is_seen_in_a_warning() -> None:
    hostile = np.array([0x7FF0000000000001, 0x7FEFFFFFFFFFFFFF], dtype=np.uint64).view(np.float64)
    for array in (hostile, hostile.view(np.float32), np.array(["1e4000", "nan"], dtype=np.longdouble)):
        assert np.isnan(safe_floats(array)[0]) or abs(safe_floats(array)[0]) < 2**53


@pytest.mark.parametrize("make", [pl.Series, pa.array, list, lambda ids: pd.Series(ids, dtype="Int64")])
def test_types_that_keep_integers_keep_all_of_their_bits(make: Any) -> None:
    query = statistics.CountDistinct(**PRICE)
    assert not held_by_numpy(make(LARGE))
    assert query.measure(make(LARGE)) == query.measure(make([*LARGE, None])) == 1000
    public = statistics.Histogram(keys=[2**53, 2**53 + 1], **PRICE)
    assert public.measure(make([2**53, 2**53 + 1, None])).tolist() == [1, 1]


@pytest.mark.parametrize("dtype", ["int64", "float64", "object", "category", "str", "datetime64[ns]"])
def test_public_keys_that_a_numpy_column_cannot_hold_are_refused_by_its_type(dtype: str) -> None:
    for large in (2**53, 2.0**60, -(2**60)):
        public = statistics.Histogram(keys=[7, large], **PRICE)
        for rows in ([], [7], [large]):
            with pytest.raises(InputError, match=r"2\^53"):
                public.measure(pd.Series([int(one) for one in rows]).astype(dtype))
    small = statistics.Histogram(keys=[7.0, 8], **PRICE)
    assert small.measure(pd.Series([7, 8, 8])).tolist() == small.measure(pd.Series([7, 8, 8, None])).tolist() == [1, 2]


def test_private_keys_are_named_alike_with_and_without_an_empty_cell() -> None:
    query = statistics.DiscoveredHistogram(delta=1e-6, **PRICE)
    ids = [key for key in (3, 7, 2**53 + 1) for _ in range(400)]
    # a key of 400 people is always named: the noise ends before 400 - 15
    for column in (pd.Series(ids), pd.Series([*ids, None]), pd.Series([*ids, 0.5]), np.array(ids)):
        assert repr(query(column).labels) == "(3, 7)"
    mixed = query(np.array([7.0] * 400 + [0.5] * 400))
    assert set(map(repr, mixed.labels)) == {"7", "0.5"}


def test_tables_of_counts_name_whole_floats_as_integers_in_any_order() -> None:
    query = dp.ThresholdedHistogram(epsilon=1, delta=1e-6, keys=1, relation=dp.Relation.ADD_REMOVE)
    # a key of 4,000 people is not named with a chance below exp(-3,900)
    for keys in ([7.0, 9.5], [9.5, 7.0]):
        released = query((np.array(keys), np.array([4000, 4000])))
        assert isinstance(released, KeyCounts)
        assert set(map(repr, released.keys)) == {"7", "9.5"}


def test_one_empty_cell_changes_no_other_key_of_several_columns():
    whole = pd.DataFrame({"store": [7] * 3 + [2**60, 2**60 + 1], "day": 1})
    gap = whole.astype({"store": float})  # what one empty cell makes of the column
    for column in (pd.MultiIndex.from_frame, lambda frame: pd.Series(list(zip(frame.store, frame.day, strict=True)))):
        (keys, counts), (others, their) = distinct_counts(column(whole)), distinct_counts(column(gap))
        assert (repr(keys), counts.tolist()) == (repr(others), their.tolist())  # (7, 1) and (7.0, 1) are equal
