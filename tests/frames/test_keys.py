"""Keys come out in one form, whoever wrote them and whatever else the column holds."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dp
from discreet import statistics
from discreet.frames.keys import key_form
from discreet.statistics.columns.keys import distinct_counts, key_codes

NOON = datetime(2020, 1, 1, 12, tzinfo=UTC)
ALIKE = [
    (Decimal("1.0"), Decimal("1.00")),
    (Decimal("1E+2"), Decimal("100")),
    (Decimal("-0"), Decimal("0.00")),
    (0.0, -0.0),
    (("a", 0.0), ("a", -0.0)),
    (NOON, NOON.astimezone(timezone(timedelta(hours=1)))),
    (np.datetime64("2020-01-01"), np.datetime64("2020-01-01T00", "h")),
    (date(2020, 1, 1), datetime(2020, 1, 1)),
    (pd.Timestamp("2020-01-01"), np.datetime64("2020-01-01", "ns")),
    (timedelta(days=1), np.timedelta64(24, "h")),
    (np.str_("a"), "a"),
    (np.int8(3), 3),
]


@pytest.mark.parametrize(("first", "second"), ALIKE, ids=str)
@pytest.mark.parametrize("others", [[], [7]], ids=["alone", "beside another type"])
def test_the_order_of_rows_does_not_show_in_the_key_that_is_named(first, second, others):
    shown = {repr(distinct_counts([*rows, *others])) for rows in ([first, second], [second, first])}
    assert len(shown) == 1
    counts = distinct_counts([first, second, *others])[1]
    assert sorted(counts.tolist()) == sorted([2, *[1] * len(others)])


APART = [(True, 1), (1, 1.0), ((1.0,), (True,)), ("a", b"a"), ((1, (2,)), (1, (2.0,)))]


@pytest.mark.parametrize(("first", "second"), APART, ids=str)
def test_keys_of_different_types_are_different_keys(first, second):
    keys, counts = distinct_counts([first, second, second])
    assert counts.tolist() == [1, 2]
    assert repr(keys) == repr([first, second])


DAYS = [date(2020, 1, 1), date(2020, 1, 2)]
TIMES = [datetime(2020, 1, 1, 5), datetime(2020, 1, 2, 6)]
TYPES = [
    pl.Series([1, 2], dtype=pl.Int8),
    pl.Series([1, 2], dtype=pl.UInt16),
    pl.Series([1, 2], dtype=pl.Int64),
    pl.Series([1.5, 2.5]),
    pl.Series([True, False]),
    pl.Series(["a", "b"]),
    pl.Series(["a", "b"], dtype=pl.Categorical),
    pl.Series(DAYS),
    pl.Series(TIMES),
    pl.Series(TIMES).dt.replace_time_zone("Europe/Paris"),
    pl.Series([timedelta(1), timedelta(2)]),
    pl.Series([Decimal("1.5"), Decimal("2.5")]),
    pa.array([1, 2], pa.int8()),
    pa.array([1, 2], pa.uint64()),
    pa.array([1.5, 2.5]),
    pa.array([True, False]),
    pa.array(["a", "b"]),
    pa.array(DAYS),
    pa.array(DAYS).cast(pa.date64()),
    pa.array(TIMES),
    pa.array(TIMES, pa.timestamp("ns", "UTC")),
    pa.array([timedelta(1), timedelta(2)]),
    pa.array(DAYS).dictionary_encode(),
    pa.array(["a", "b"]).dictionary_encode(),
    pd.Series([1, 2], dtype="Int64"),
    pd.Series(["a", "b"], dtype="category"),
    pd.Series(["a", "b"]),
    pd.Series(TIMES),
    pd.Series(TIMES).dt.tz_localize("Europe/Paris"),
    pd.Series([1, 2], dtype="int64[pyarrow]"),
]


def with_a_missing_row(column):
    if isinstance(column, pl.Series):
        return column.append(pl.Series([None], dtype=column.dtype))
    if isinstance(column, pd.Series):
        return pd.concat([column, pd.Series([None], dtype=column.dtype)], ignore_index=True)
    plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    joined = pa.concat_arrays([plain, pa.nulls(1, plain.type)])
    return joined.dictionary_encode() if plain is not column else joined


@pytest.mark.parametrize(
    "column",
    TYPES,
    ids=lambda column: f"{type(column).__module__} {getattr(column, 'type', getattr(column, 'dtype', ''))}",
)
def test_a_missing_row_changes_no_other_row(column):
    before = column.clone() if isinstance(column, pl.Series) else column
    longer = with_a_missing_row(before)
    assert len(longer) == 3
    plain, more = distinct_counts(column[:2]), distinct_counts(longer)
    assert repr(sorted(plain[0], key=repr)) == repr(sorted(more[0], key=repr))
    assert [type(key) for key in plain[0]] == [type(key) for key in more[0]]
    assert plain[1].tolist() == more[1].tolist() == [1, 1]
    assert key_codes(longer)[0][2] == -1
    public = statistics.Histogram(keys=plain[0], relation=dp.Relation.ADD_REMOVE, epsilon=1)
    assert public.measure(column[:2]).tolist() == public.measure(longer).tolist() == [1, 1]


def test_public_dates_are_found_however_the_column_writes_them():
    for column in (
        np.array(DAYS, dtype="M8[D]"),
        np.array(DAYS, dtype="M8[ns]"),
        pl.Series(DAYS),
        pa.array(DAYS),
        DAYS,
    ):
        for keys in (DAYS, np.array(DAYS, dtype="M8[D]"), np.array(DAYS, dtype="M8[ns]")):
            counted = statistics.Histogram(keys=keys, relation=dp.Relation.ADD_REMOVE, epsilon=1).measure(column)
            assert counted.tolist() == [1, 1]


def test_narrow_numbers_are_summed_like_wide_ones_with_and_without_a_missing_row():
    values = [50, 3, 99]
    for bounds in ((0.1, 100), (-1e39, 1e39)):
        total = statistics.Sum(bounds=bounds, relation=dp.Relation.ADD_REMOVE, epsilon=1)
        wide = total.measure([float(value) for value in values])
        for dtype in (pl.Int8, pl.UInt16, pl.Int64, pl.Float32):
            assert total.measure(pl.Series(values, dtype=dtype)) == wide
            assert total.measure(pl.Series([*values, None], dtype=dtype)) == wide
        assert total.measure(np.array(values, dtype=np.float16)) == wide


@pytest.mark.parametrize(
    "key", [object(), {1}, [1], {"a": 1}, 1j, np.complex128(1), (1, [2])], ids=lambda key: type(key).__name__
)
def test_keys_without_a_form_are_refused(key):
    with pytest.raises(dp.errors.InputError, match="texts, numbers") as caught:
        distinct_counts([key])
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "key", [None, float("nan"), np.nan, Decimal("nan"), Decimal("sNaN"), pd.NA, pd.NaT, np.datetime64("NaT")]
)
def test_missing_keys_have_no_form(key):
    assert key_form(key) is None
    assert distinct_counts([key, "a"])[0] == ["a"]


def test_times_too_far_for_the_calendar_raise_nothing():
    far = pl.Series([2**62], dtype=pl.Int64).cast(pl.Datetime("us"))
    assert distinct_counts(far)[1].tolist() == [1]
    assert distinct_counts(pa.array([2**62], pa.timestamp("us")))[1].tolist() == [1]


def test_fractions_and_enumerations_keep_their_value():
    from enum import IntEnum

    class Color(IntEnum):
        RED = 1

    assert distinct_counts([Fraction(1, 3), Fraction(2, 6)])[1].tolist() == [2]
    assert key_form(Color.RED) == 1
    assert type(key_form(Color.RED)) is int


@pytest.mark.parametrize(
    "far", [timedelta.max, pd.Timedelta(np.timedelta64(2**62, "s")), pd.Timestamp(np.datetime64("300000-01-01", "s"))]
)
def test_a_time_beyond_sixty_four_bits_is_a_missing_key_whatever_its_class(far):
    assert key_form(far) is None


def test_times_of_pandas_are_keys_in_utc():
    assert key_form(pd.Timestamp("2020-01-01 01:00", tz="Europe/Berlin")) == np.datetime64("2020-01-01T00:00", "us")
    assert key_form(pd.Timedelta(seconds=1)) == key_form(timedelta(seconds=1)) == np.timedelta64(10**6, "us")
