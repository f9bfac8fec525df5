"""Whose row it is: equal ids are one person, different ids are two, and what is neither clear nor exact is refused."""

from __future__ import annotations

import datetime as dt
import enum
import inspect
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import statistics
from discreet.errors import InputError
from discreet.frames.units import joint_codes, person_codes
from discreet.mechanisms import Mechanism
from discreet.statistics.columns.keys import bounded_keys, distinct_counts
from discreet.testing import Subject, conformance_checks
from discreet.testing.hostile import HOSTILE_VALUES
from discreet.testing.planted.fault import UNITS
from discreet.testing.spellings import SPELLINGS, spelled
from tests.statistics.taking_units import TAKE_UNITS

NAN = float("nan")
UTC = dt.UTC


def people(unit: Any) -> int:
    return len(set(person_codes(unit).tolist()) - {-1})


def test_equal_numbers_are_one_person_whatever_their_types() -> None:
    assert len(SPELLINGS) == 12
    same = [*SPELLINGS, pa.scalar(1), pa.scalar(Decimal("1.0")), pa.scalar(True), np.float16(1), Decimal("10E-1")]
    assert person_codes(same).tolist() == [0] * len(same)
    assert people(np.array(same, dtype=object)) == people(pd.Series(same, dtype=object)) == people(tuple(same)) == 1
    assert people([0, -0.0, False, Decimal("-0.0"), Fraction(0), np.float32(-0.0)]) == 1


class Color(str, enum.Enum):  # noqa: UP042  the older spelling, whose str() is not its value
    RED = "red"


class Number(enum.IntEnum):
    ONE = 1


def test_an_entry_of_a_derived_type_is_what_it_equals() -> None:
    assert people([Color.RED, "red", np.str_("red")]) == 1
    assert people([Number.ONE, 1]) == 1
    assert people([b"x", np.bytes_(b"x")]) == 1


@given(
    st.lists(
        st.one_of(
            st.integers(-3, 3), st.booleans(), st.sampled_from([2**53, 2**53 + 1, 2**64, -(2**70)]),
            st.integers(-3, 3).map(float), st.integers(-3, 3).map(Decimal), st.integers(-3, 3).map(Fraction),
            st.sampled_from([Decimal("0.1"), Fraction(1, 10), Decimal("1E+400"), 10**400, Decimal(2**53 + 1)]),
            st.none(), st.just(NAN),
        )
    )
)  # fmt: skip
def test_numbers_are_compared_exactly(ids: list[Any]) -> None:
    exact = [None if one is None or one != one else Fraction(one) for one in ids]  # noqa: PLR0124  NaN
    codes = person_codes(ids).tolist()
    assert [code < 0 for code in codes] == [one is None for one in exact]
    for one, first in zip(exact, codes, strict=True):
        for two, second in zip(exact, codes, strict=True):
            assert (first == second) == (one == two)


def test_large_integers_are_neither_merged_nor_split() -> None:
    large = [2**53 + 1, Decimal(2**53), np.uint64(2**53 + 1), 2**53, Fraction(2**53 + 1), np.int64(2**53)]
    assert person_codes(large).tolist() == [0, 1, 0, 1, 0, 1]
    assert people(np.arange(2**60, 2**60 + 1000)) == people(list(range(2**60, 2**60 + 1000))) == 1000
    assert people(pd.Series([2**60, 2**60 + 1, None], dtype="Int64")) == 2
    assert people(pl.Series([2**60, 2**60 + 1, None])) == people(pa.array([2**60, 2**60 + 1, None])) == 2
    assert people(np.array([2**64 - 1, 2**64 - 2], dtype=np.uint64)) == 2


def test_numbers_beyond_all_memory_are_told_apart_without_being_written_out() -> None:
    huge = Decimal("1E+999999999999999999")
    assert people([huge, Decimal("1E+400"), 7, Fraction(1, 3), huge, Decimal("1E-999999999999")]) == 5


FLOATS: dict[str, Any] = {
    "numpy": np.array([1.0, 2.0]),
    "numpy, half": np.array([1, 2], dtype=np.float16),
    "numpy, long": np.array([1, 2], dtype=np.longdouble),
    "numpy, nobody": np.array([NAN, NAN]),
    "numpy, no rows": np.array([]),
    "masked": np.ma.masked_array([1.0, 2.0], mask=[False, True]),
    "pandas, one empty id": pd.Series([2**60 + 1, None]),
    "pandas, nullable": pd.Series([1, 2], dtype="Float64"),
    "pandas on Arrow": pd.Series([1, 2], dtype="double[pyarrow]"),
    "pandas, categories": pd.Series([1.0, 2.0]).astype("category"),
    "pandas, sparse": pd.Series([1.0, 0.0], dtype="Sparse[float]"),
    "pandas, index": pd.Index([1.0, 2.0]),
    "Polars": pl.Series([1.0, None]),
    "Polars, 32 bits": pl.Series([1.0, None], dtype=pl.Float32),
    "Arrow": pa.array([1.0, None]),
    "Arrow, half": pa.array([1.0, None], pa.float16()),
    "Arrow, dictionary": pa.array([1.0, None]).dictionary_encode(),
    "Arrow, chunks": pa.chunked_array([[1.0], [2.0]]),
}


@pytest.mark.parametrize("unit", FLOATS.values(), ids=FLOATS.keys())
def test_a_column_of_floats_is_refused_by_its_type_whatever_it_holds(unit: Any) -> None:
    with pytest.raises(InputError, match=r"must not hold floats.*ids come as integers, texts, or a nullable") as caught:
        person_codes(unit)
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "entry", [2.0**53, -(2.0**53), 1.5, float("inf"), np.float32(2**24), np.float16(2048), pa.scalar(1.0)], ids=repr
)
def test_a_float_that_several_integers_become_is_refused_in_a_list(entry: Any) -> None:
    for unit in ([entry], [1, entry], np.array([entry, None], dtype=object)):
        with pytest.raises(InputError, match="must not hold floats"):
            person_codes(unit)
    assert people([2.0**53 - 1, 2**53 - 1, np.float32(2**24 - 1), 2**24 - 1]) == 2


DAY, TIME = dt.date(2024, 2, 29), dt.datetime(2024, 2, 29)
MIXTURES: dict[str, list[Any]] = {
    "text and number": ["1", 1],
    "text and bytes": ["a", b"a"],
    "bytes and number": [b"1", 1],
    "day and time": [DAY, TIME],
    "day and numpy time": [DAY, np.datetime64("2024-02-29T00:00:00")],
    "time with and without a zone": [TIME, TIME.replace(tzinfo=UTC)],
    "UUID and text": [UUID(int=1), str(UUID(int=1))],
    "UUID and number": [UUID(int=1), 1],
    "span and number": [dt.timedelta(1), 1],
    "tuple and number": [(1,), 1],
    "tuples of two kinds": [(1, "a"), ("1", "a")],
    "number and day": [738945, DAY],
}


@pytest.mark.parametrize("unit", MIXTURES.values(), ids=MIXTURES.keys())
def test_ids_whose_equality_is_unclear_are_refused_in_the_same_words(unit: list[Any]) -> None:
    texts = set()
    for one in (unit, unit[::-1], [*unit, None], np.array([*unit, None], dtype=object)[:2]):
        with pytest.raises(InputError) as caught:
            person_codes(one)
        assert caught.value.__context__ is None
        texts.add(str(caught.value))
    (text,) = texts
    assert "ids of one kind" in text


def test_ids_of_one_kind_are_compared_by_value() -> None:
    berlin = dt.timezone(dt.timedelta(hours=1))
    assert people([TIME, np.datetime64("2024-02-29T00"), pd.Timestamp(TIME)]) == 1
    assert people([TIME.replace(tzinfo=UTC), TIME.replace(hour=1, tzinfo=berlin), pd.Timestamp(TIME, tz="UTC")]) == 1
    assert people([DAY, np.datetime64("2024-02-29"), dt.date(2024, 3, 1)]) == 2
    assert people([dt.timedelta(1), np.timedelta64(24, "h"), pd.Timedelta("1D")]) == 1
    assert people([UUID(int=1), UUID(int=1), UUID(int=2)]) == 2
    assert people([(1, "a"), (True, "a"), (1.0, "a"), (2, "a"), (2, None)]) == 2
    assert people(["é", "e\u0301", "É", " é", ""]) == 5


def test_nanoseconds_tell_people_apart_in_every_kind_of_column() -> None:
    times = np.array([1, 2, 1000, "NaT"], dtype="datetime64[ns]")
    columns: list[Any] = [
        times, list(times), pd.Series(times), pd.Series(times).dt.tz_localize("UTC"), list(pd.Series(times)),
        pl.Series(times), pa.array(times), pa.array(times, pa.timestamp("ns", "UTC")), pa.array(times.view("m8[ns]")),
    ]  # fmt: skip
    for column in columns:
        assert person_codes(column)[-1] == -1
        assert people(column) == 3


MISSING = [None, NAN, np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT"), Decimal("NaN"), Decimal("sNaN")]


def test_a_missing_id_is_nobody_beside_ids_of_every_kind() -> None:
    for one in (1, "a", b"a", DAY, TIME, UUID(int=1), (1, 2), True, Decimal(1)):
        assert person_codes([*MISSING, one]).tolist() == [-1] * len(MISSING) + [0]


COLUMNS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "objects": lambda ids: np.array(ids, dtype=object),
    "pandas": lambda ids: pd.Series(ids, dtype=object),
    "pandas, nullable": lambda ids: pd.Series(ids).convert_dtypes(),
    "pandas, categories": lambda ids: pd.Series(ids, dtype=object).astype("category"),
    "pandas on Arrow": lambda ids: pd.Series(pd.arrays.ArrowExtensionArray(pa.array(ids))),
    "Polars": lambda ids: pl.Series(ids, strict=False),
    "Arrow": pa.array,
    "Arrow, chunks": lambda ids: pa.chunked_array([ids[:2], ids[2:]]),
    "Arrow, dictionary": lambda ids: pa.array(ids).dictionary_encode(),
    "masked": lambda ids: np.ma.masked_array([next(i for i in ids if i) if one is None else one for one in ids],
                                             mask=[one is None for one in ids]),
}  # fmt: skip


@pytest.mark.parametrize("form", COLUMNS)
@pytest.mark.parametrize(
    "ids",
    [["b", "a", None, "b"], [3, 2**60, None, 3], [True, False, None, True], [DAY, dt.date(1, 1, 1), None, DAY],
     [Decimal("1.0"), Decimal("1.1"), None, Decimal("1.0")]],
    ids=["text", "integer", "truth", "day", "decimal"],
)  # fmt: skip
def test_every_kind_of_column_names_the_same_people(form: str, ids: list[Any]) -> None:
    codes = person_codes(COLUMNS[form](ids)).tolist()
    assert codes[0] == codes[3] != codes[1]
    assert codes[2] == -1
    assert min(codes[:2]) >= 0


def test_what_cannot_name_a_person_is_refused_without_being_shown() -> None:
    refused = [
        [1 + 0j], [np.complex128(1)], [[1]], [{}], [object()], [Decimal("Infinity")], [np.timedelta64(1, "Y")],
        [np.array(1)],
        5, "ana", [[1], [2]], np.zeros((2, 2), dtype=int), np.array([1 + 0j]), pd.DataFrame({"secret": [1]}),
        pa.table({"secret": [1]}), pl.DataFrame({"secret": [1]}), pa.array([[1]]), pd.Series(pd.interval_range(0, 2)),
    ]  # fmt: skip
    for unit in refused:
        with pytest.raises(InputError) as caught:
            person_codes(unit)
        assert caught.value.__context__ is None
        assert "secret" not in str(caught.value)


def test_hostile_units_get_one_clear_error_or_are_numbered() -> None:
    for value in HOSTILE_VALUES:
        for unit in (value, [value], [1, value]):
            try:
                assert person_codes(unit).dtype == np.int64
            except InputError as error:
                assert error.__context__ is None  # noqa: PT017  refused is as good as answered


@given(st.lists(st.sampled_from([1, 2, True, 1.0, None, Decimal(2)])), st.lists(st.sampled_from([1, 2, 2.0, None])))
def test_people_are_the_same_in_several_columns(first: list[Any], second: list[Any]) -> None:
    one, two = joint_codes(first, np.array(second, dtype=object))
    assert [*one, *two] == person_codes([*first, *second]).tolist()


def test_columns_of_two_kinds_are_not_joined() -> None:
    with pytest.raises(InputError, match="ids of one kind"):
        joint_codes(np.array([1, 2]), ["1", "2"])


def test_one_person_in_several_spellings_holds_no_more_keys() -> None:
    keys = [f"k{number}" for number in range(12)]
    assert len(bounded_keys(keys, spelled(12), keys=2)[0]) == 2


def contrary(parent: type) -> type:
    """Return a subclass of a number's type that equals nothing, and lies in every method."""

    def refuse(*_: Any) -> Any:
        raise RuntimeError("a method of a foreign type was called")

    lies = dict.fromkeys(("__ne__", "is_nan", "is_infinite", "as_tuple", "__abs__", "__int__", "__float__"), refuse)
    named = {"numerator": property(refuse), "denominator": property(refuse), "is_integer": refuse}
    return type("Contrary", (parent,), {**lies, **named, "__eq__": lambda *_: False, "__hash__": lambda _: 7})


@pytest.mark.parametrize("parent", [Decimal, Fraction, float, int])
def test_a_subclass_of_a_number_cannot_say_what_it_equals(parent: Any) -> None:
    foreign = contrary(parent)
    assert person_codes([parent(1), foreign(1), foreign(1), foreign(2)]).tolist() == [0, 0, 0, 1]
    assert person_codes(np.array([foreign(1), (1), foreign(1)], dtype=object)).tolist() == [0, 0, 0]
    assert person_codes([(foreign(1), "a"), (parent(1), "a")]).tolist() == [0, 0]
    assert len(bounded_keys(list("abc"), [foreign(1), foreign(1), 1], keys=1)[0]) == 1


@pytest.mark.parametrize("parent", [Decimal, float])
def test_a_subclass_of_a_number_is_a_plain_key(parent: Any) -> None:
    foreign = contrary(parent)
    for value in ("1.5", "inf"):
        (key,), counts = distinct_counts([foreign(value), parent(value), foreign(value)])
        assert type(key) is parent
        assert counts.tolist() == [3]


def test_no_statistic_that_takes_units_is_left_out() -> None:
    taking = {
        name
        for name, kind in vars(statistics).items()
        if isinstance(kind, type)
        and issubclass(kind, Mechanism)
        and {"rows", "groups"} & set(inspect.signature(kind).parameters)
    }
    assert len(taking) == 11
    assert taking <= {name.partition(" ")[0] for name in TAKE_UNITS}


@pytest.mark.parametrize("name", TAKE_UNITS)
def test_every_statistic_counts_a_person_once(name: str) -> None:
    make, values = TAKE_UNITS[name]
    (check,) = [one for one in conformance_checks() if one.name == UNITS]
    check(Subject(make, [statistics.Rows(values, [1] * len(values))]))


@pytest.mark.parametrize("name", TAKE_UNITS)
def test_every_statistic_refuses_units_that_are_floats(name: str) -> None:
    make, values = TAKE_UNITS[name]
    with pytest.raises(InputError, match="must not hold floats"):
        make()(statistics.Rows(values, np.ones(len(values))))
