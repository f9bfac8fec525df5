"""Columns of keys become counts of people: what counts as a key, and how many one person can hold."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError, ParameterError
from discreet.statistics.columns.keys import bounded_keys, distinct_counts, key_codes
from discreet.testing.hostile import HOSTILE_VALUES

NAN = float("nan")


def counted(column: Any) -> dict[tuple[type, Any], int]:
    keys, counts = distinct_counts(column)
    assert counts.dtype == np.int64
    assert len(keys) == counts.size
    return {(type(key), key): count for key, count in zip(keys, counts.tolist(), strict=True)}


def held_by(column: list[Any], unit: list[Any], most: int) -> dict[Any, int]:
    """The group form in three plain lines: a person's first distinct keys, each counted once."""
    persons: dict[Any, list[Any]] = {}
    for key, person in zip(column, unit, strict=True):
        own = persons.setdefault(person, []) if person is not None else []
        if key is not None and key not in own and len(own) < most:
            own.append(key)
    keys = [key for own in persons.values() for key in own]
    return {key: keys.count(key) for key in keys}


COLUMNS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "object array": lambda values: np.array([*values, object()], dtype=object)[:-1],
}


def frame_columns() -> dict[str, Callable[[list[Any]], Any]]:
    return {
        "pandas": pandas.Series,
        "pandas, objects": lambda values: pandas.Series(values, dtype=object),
        "pandas, categories": lambda values: pandas.Series(values).astype("category"),
        "Polars": lambda values: polars.Series(values, strict=False),
        "Arrow": pyarrow.array,
        "Arrow, in chunks": lambda values: pyarrow.chunked_array([values[:2], values[2:]]),
    }


@pytest.mark.parametrize("form", COLUMNS)
@given(values=st.lists(st.one_of(st.none(), st.text(max_size=2), st.integers(0, 2), st.booleans()), max_size=12))
def test_keys_are_counted_by_type_and_value(form: str, values: list[Any]) -> None:
    present = [(type(value), value) for value in values if value is not None]
    assert counted(COLUMNS[form](values)) == {key: present.count(key) for key in present}


@pytest.mark.parametrize("values", [["b", "a", None, "b"], [3, 1, 3, 2**53 - 1], [True, False, True, True]])
def test_every_kind_of_column_gives_the_same_counts(values: list[Any]) -> None:
    wanted = counted(values)
    for name, make in frame_columns().items():
        assert counted(make(values)) == wanted, name


def test_arrays_of_one_type_are_counted_as_lists_are() -> None:
    for values in (["b", "a", "b"], [3, 1, 3], [True, False, True], [0.5, -0.25, 0.5], [b"x", b"y", b"x"]):
        assert counted(np.array(values)) == counted(values)


def test_missing_keys_are_left_out_of_every_kind_of_column() -> None:
    day = np.datetime64("2024-02-29")
    missing: list[tuple[Any, Any]] = [
        (["a", None, NAN, pandas.NA, pandas.NaT, np.datetime64("NaT"), Decimal("NaN")], "a"),
        (np.array([1.5, NAN]), 1.5),
        (np.array([day, np.datetime64("NaT")]), day),
        (np.ma.masked_array(["a", "b"], mask=[False, True]), "a"),
        (pandas.Series([7, None], dtype="Int64"), 7),
        (pandas.Series(["a", None]), "a"),
        (pandas.Series([1.5, NAN]), 1.5),
        (polars.Series(["a", None]), "a"),
        (polars.Series([2**60 + 1, None]), 2**60 + 1),
        (polars.Series([1.5, NAN, None]), 1.5),
        (pyarrow.array(["a", None]), "a"),
        (pyarrow.array([2**60 + 1, None]), 2**60 + 1),
        (pyarrow.array([1.5, NAN, None]), 1.5),
    ]
    for column, key in missing:
        assert counted(column) == {(type(key), key): 1}


def test_nothing_about_a_text_is_normalized() -> None:
    alike = ["é", "e\u0301", "É", " é", "ﬁ", "fi", "a", "a\u200b", "", " "]
    assert len(counted(alike)) == len(counted(np.array(alike))) == len(alike)
    assert counted(["a\0", "a"]) == {(str, "a\0"): 1, (str, "a"): 1}


def test_minus_zero_is_zero_and_is_written_so() -> None:
    for column in (np.array([-0.0, 0.0]), [-0.0, 0.0], [-0.0, "a", 0.0][::2], np.array([-0.0, 0.0], dtype=np.float32)):
        (key,), counts = distinct_counts(column)
        assert counts.tolist() == [2]
        assert not np.signbit(key)
    mixed, _ = distinct_counts([-0.0, "a"])
    assert not np.signbit(mixed[0])


def test_equal_keys_of_different_types_are_different_keys() -> None:
    assert len(counted([True, 1, 1.0, Fraction(1), Decimal(1), "1", b"1"])) == 7
    assert counted([np.int64(1), 1, np.bool_(True), np.str_("a"), "a"]) == {
        (int, 1): 2,
        (bool, True): 1,
        (str, "a"): 2,
    }


def test_integers_of_any_size_and_other_hashable_keys_are_kept() -> None:
    day = datetime.date(2024, 2, 29)
    assert counted([2**80, 2**80, -(2**80)]) == {(int, 2**80): 2, (int, -(2**80)): 1}
    assert counted([(1, "a"), (1, "a"), (1, "b")]) == {(tuple, (1, "a")): 2, (tuple, (1, "b")): 1}
    assert counted([day, day]) == {(np.datetime64, np.datetime64(day, "us")): 2}
    largest = [2**64 - 1]
    for exact in (
        polars.Series(largest, dtype=polars.UInt64),
        pyarrow.array(largest, pyarrow.uint64()),
        pandas.Series(largest, dtype="UInt64"),
    ):
        assert counted(exact) == {(int, 2**64 - 1): 1}


@given(
    rows=st.lists(
        st.tuples(st.sampled_from(["a", "b", "c", None]), st.sampled_from(["ana", "bo", "cy", None])), max_size=14
    ),
    most=st.integers(1, 4),
)
def test_a_person_holds_the_first_of_their_own_keys(rows: list[tuple[Any, Any]], most: int) -> None:
    column, unit = [key for key, _ in rows], [person for _, person in rows]
    keys, counts = bounded_keys(column, unit, keys=most)
    assert dict(zip(keys, counts.tolist(), strict=True)) == held_by(column, unit, most)


@pytest.mark.theorem("bounded_keys.privacy")
@given(
    rows=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=14),
    theirs=st.lists(st.tuples(st.integers(0, 14), st.integers(0, 4)), max_size=6),
    most=st.integers(1, 3),
)
def test_one_person_moves_at_most_so_many_counts_by_one(
    rows: list[tuple[int, int]], theirs: list[tuple[int, int]], most: int
) -> None:
    with_person = list(rows)
    for place, key in theirs:  # the person's rows may stand anywhere among the others
        with_person.insert(place, (key, 99))

    def table(listed: list[tuple[int, int]]) -> dict[int, int]:
        column, unit = (
            np.array([r[0] for r in listed], dtype=np.int64),
            np.array([r[1] for r in listed], dtype=np.int64),
        )
        keys, counts = bounded_keys(column, unit, keys=most)
        return dict(zip(keys, counts.tolist(), strict=True))

    before, after = table(rows), table(with_person)
    moves = {key: after.get(key, 0) - before.get(key, 0) for key in after.keys() | before.keys()}
    assert all(move in (0, 1) for move in moves.values())
    assert sum(moves.values()) <= most


def test_frames_of_rows_are_bounded_as_lists_are() -> None:
    column, unit = ["a", "b", "a", None, "c", "b"], ["ana", "ana", "bo", "bo", "ana", None]
    wanted = held_by(column, unit, 2)
    for make in frame_columns().values():
        keys, counts = bounded_keys(make(column), make(unit), keys=2)
        assert dict(zip(keys, counts.tolist(), strict=True)) == wanted


def test_many_rows_are_counted_at_once() -> None:
    numbers = np.random.default_rng(5).integers(0, 5000, 200_000)
    unit = np.random.default_rng(6).integers(0, 40_000, numbers.size)
    keys, counts = bounded_keys(numbers, unit, keys=3)
    texts, same = bounded_keys(numbers.astype(str), unit, keys=3)
    assert dict(zip(map(str, keys), counts.tolist(), strict=True)) == dict(zip(texts, same.tolist(), strict=True))
    distinct = {person: len(np.unique(numbers[unit == person])) for person in range(50)}
    kept = bounded_keys(numbers[unit < 50], unit[unit < 50], keys=3)[1]
    assert kept.sum() == sum(min(count, 3) for count in distinct.values())


def test_an_empty_column_has_no_keys() -> None:
    for empty in ([], np.array([]), np.array([], dtype=str), [None, NAN]):
        keys, counts = distinct_counts(empty)
        assert (keys, counts.tolist()) == ([], [])
        keys, counts = bounded_keys(empty, [1] * len(empty), keys=2)
        assert (keys, counts.tolist()) == ([], [])
    assert key_codes(["a", None, "a"])[0].tolist() == [0, -1, 0]


@pytest.mark.parametrize(
    "column", ["ana", {"ana": 1}, 5, None, np.array([["ana"]]), np.array("ana"), [["ana"]], [{1: 2}]]
)
def test_what_is_no_column_of_keys_is_refused_without_being_shown(column: Any) -> None:
    for ask in (distinct_counts, lambda given_column: bounded_keys(given_column, ["x"], keys=1)):
        with pytest.raises(InputError) as caught:
            ask(column)
        assert "ana" not in str(caught.value)
        assert caught.value.__context__ is None


def test_hostile_columns_are_refused_in_clear_words_or_counted() -> None:
    for value in (*HOSTILE_VALUES, pandas.DataFrame({"a": [1]})):
        for column in (value, [value], ["a", value]):
            try:
                distinct_counts(column)
            except InputError as error:
                text = str(error)
            else:
                text = "counted, as it was asked for"
            assert len(text) > 20


def test_units_and_bounds_must_fit_the_column() -> None:
    with pytest.raises(InputError, match="as long as"):
        bounded_keys(["a", "b"], ["x"], keys=1)
    for keys in (0, -1, 1.5, "2"):
        with pytest.raises(ParameterError, match="keys"):
            bounded_keys(["a"], ["x"], keys=keys)  # type: ignore[arg-type]


FAR = np.array(["2026-01-01", "300000-01-01", "NaT"], dtype="datetime64[s]")


@pytest.mark.parametrize(
    "column",
    [
        FAR,
        list(FAR),
        pandas.Series(FAR),
        pyarrow.array(FAR.astype(np.int64), mask=np.isnat(FAR)).cast(pyarrow.timestamp("s")),
        pyarrow.array(FAR.astype("datetime64[D]").astype(np.int32), mask=np.isnat(FAR)).cast(pyarrow.date32()),
        polars.Series(FAR.astype("datetime64[D]").astype(np.int32)).cast(polars.Date)[:2],
        np.array([20454, 2**62, 1], dtype="datetime64[D]")[:2],
        np.array([56, 2**62], dtype="datetime64[Y]"),
    ],
    ids=lambda column: type(column).__module__.partition(".")[0],
)
def test_a_time_beyond_microseconds_is_missing_and_not_another_time(column):
    codes, keys = key_codes(column)
    assert list(keys) == [np.datetime64("2026-01-01", "us")]
    assert codes[:2].tolist() == [0, -1]


def test_a_span_beyond_microseconds_is_missing():
    codes, keys = key_codes(np.array([1, 2**62], dtype="timedelta64[s]"))
    assert list(keys) == [np.timedelta64(1_000_000, "us")]
    assert codes.tolist() == [0, -1]
