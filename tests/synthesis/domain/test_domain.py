"""Domains turn columns of any library into codes, treat what is odd as missing, and never show an entry."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError, ParameterError, UnknownName
from discreet.frames.positions import places
from discreet.synthesis import Attribute, Bins, Domain, Records

SCALARS = st.one_of(
    st.integers(-5, 5),
    st.integers(),
    st.booleans(),
    st.floats(allow_nan=False, width=16),
    st.floats(allow_nan=False),
    st.text(max_size=2),
    st.binary(max_size=1),
)
ENTRY = "swordfish"


def by_hand(entries: list[Any], values: list[Any], *, below: float | None = None) -> list[int]:
    """Return the position of each entry by comparing it with all values; in numpy's columns only what is below 2^53."""
    found = []
    for entry in entries:
        near = below is None or -below < entry < below
        equal = [place for place, value in enumerate(values) if near and entry == value]
        found.append(equal[0] if equal else len(values))
    return found


def distinct(values: list[Any]) -> list[Any]:
    """Return values without those equal to an earlier one."""
    kept: list[Any] = []
    for value in values:
        if value not in kept:
            kept.append(value)
    return kept


@given(st.lists(SCALARS, min_size=1, max_size=8), st.lists(SCALARS, max_size=8))
def test_an_entry_is_a_value_if_python_says_they_are_equal(values: list[Any], entries: list[Any]) -> None:
    values = distinct(values)
    assert places(entries + values, values).tolist() == by_hand(entries + values, values)


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int64, np.uint8, np.uint64, np.bool_])
@given(data=st.data())
def test_whole_numbers_of_numpy_are_found_exactly(kind: type[np.generic], data: st.DataObject) -> None:
    values = distinct(data.draw(st.lists(SCALARS, min_size=1, max_size=8)))
    if kind is np.bool_:
        entries = st.booleans()
    else:
        limits = np.iinfo(np.dtype(kind))
        entries = st.integers(limits.min, limits.max) | st.integers(max(-3, limits.min), 3)
    column = np.array(data.draw(st.lists(entries, max_size=10)), dtype=kind)
    assert places(column, values).tolist() == by_hand(column.tolist(), values, below=2**53)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
@given(data=st.data())
def test_floats_of_numpy_are_found_exactly(kind: type[np.floating[Any]], data: st.DataObject) -> None:
    values = distinct(data.draw(st.lists(SCALARS, min_size=1, max_size=8)))
    numbers = data.draw(st.lists(st.floats(width=np.dtype(kind).itemsize * 8), max_size=10))
    column = np.array([*numbers, 0.0, -0.0, 1.0, np.nan, np.inf], dtype=kind)
    assert places(column, values).tolist() == by_hand(column.tolist(), values, below=2**53)


def test_neighboring_large_numbers_stay_apart() -> None:
    large = 2**53
    values = [large, large + 1, float(large + 2), 2**63, -(2**63), 2**64, 10**400]
    column = [large, large + 1, large + 2, large + 3, -(2**63)]
    for exact in (pl.Series, pa.array, list, lambda entries: pd.Series(entries, dtype="Int64")):
        assert places(exact(column), values).tolist() == [0, 1, 2, 7, 4]
    assert places(pl.Series([2**63, 2**64 - 1], dtype=pl.UInt64), values).tolist() == [3, 7]
    assert places(pl.Series([2.0**53, 2.0**63, 2.0**64, np.inf]), values).tolist() == [0, 3, 5, 7]
    assert places([10**400, 10**400 + 1], values).tolist() == [6, 7]


def test_far_apart_integers_need_no_long_table() -> None:
    values = [-(2**63), 0, 2**62]
    column = pl.Series([2**62, 0, 1, -(2**63), 2**63 - 1])
    assert places(column, values).tolist() == [2, 1, 3, 0, 3]


def test_one_empty_cell_recodes_nobody_elses_entry() -> None:
    values = (7, 2**53 - 1, 2**53, 2**53 + 1, float(2**60), Decimal(2**60 + 1), 1.5)
    stated = Attribute("x", values, missing=True)
    ids = [7, 2**53 - 1, *[2**53, 2**53 + 1] * 3, 2**60, 2**60 + 1]
    wanted = [0, 1, *[7] * 8]
    for others in ([], [None], ["x"], [1.5], [-1, 2**63]):  # int64, float64, object, float64, object
        for column in (pd.Series([*ids, *others]), pd.Series([*ids, *others]).astype("category")):
            assert stated.encode(column)[: len(ids)].tolist() == wanted, column.dtype
    assert stated.encode(np.ma.masked_array(ids, mask=[0] * 9 + [1])).tolist() == wanted
    with pytest.raises(InputError, match=r"2\^53"):
        Attribute("x", values).encode(pd.Series(ids))


@pytest.mark.parametrize(
    "column",
    [
        ["b", None, "a", "z"],
        ("b", None, "a", "z"),
        np.array(["b", None, "a", "z"], dtype=object),
        np.ma.masked_array(["b", "a", "a", "z"], mask=[0, 1, 0, 0]),
        pd.Series(["b", None, "a", "z"]),
        pd.Series(["b", None, "a", "z"], dtype=object),
        pd.Series(["b", None, "a", "z"], dtype="string"),
        pd.Series(["b", None, "a", "z"], dtype="category"),
        pd.Series(["b", None, "a", "z"], index=[9, 9, 3, 1]),
        pl.Series(["b", None, "a", "z"]),
        pl.Series(["b", None, "a", "z"]).cast(pl.Categorical),
        pl.Series(["b", None, "a", "z"]).cast(pl.Enum(["z", "b", "a"])),
        pa.array(["b", None, "a", "z"]),
        pa.chunked_array([["b", None], ["a", "z"], []], type=pa.string()),
        pa.array(["b", None, "a", "z"]).dictionary_encode(),
        pa.chunked_array([pa.array(["b", None]).dictionary_encode(), pa.array(["a", "z"]).dictionary_encode()]),
    ],
    ids=lambda column: type(column).__module__ + "." + str(getattr(column, "dtype", getattr(column, "type", ""))),
)
def test_texts_of_any_library(column: Any) -> None:
    assert Attribute("x", ("a", "b"), missing=True).encode(column).tolist() == [1, 2, 0, 2]


@pytest.mark.parametrize(
    "column",
    [
        [20, None, 10, 7],
        np.array([20, np.nan, 10, 7]),
        np.ma.masked_array([20, 10, 10, 7], mask=[0, 1, 0, 0]),
        pd.Series([20, None, 10, 7]),
        pd.Series([20, None, 10, 7], dtype="Int64"),
        pd.Series([20, None, 10, 7], dtype="category"),
        pl.Series([20, None, 10, 7]),
        pl.Series([20, float("nan"), 10, 7], strict=False),
        pa.array([20, None, 10, 7]),
        pa.chunked_array([[20], [None, 10, 7]]),
    ],
    ids=lambda column: type(column).__module__ + "." + str(getattr(column, "dtype", getattr(column, "type", ""))),
)
def test_numbers_of_any_library(column: Any) -> None:
    assert Attribute("x", (10, 20), missing=True).encode(column).tolist() == [1, 2, 0, 2]
    assert Bins((5, 25), 2).attribute("x", missing=True).encode(column).tolist() == [1, 2, 0, 0]


def test_tables_of_any_library() -> None:
    domain = Domain.of(sex=["f", "m"], rooms=range(1, 6))
    columns = {"rooms": [5, 1, 3], "sex": ["m", "f", "f"], "unused": [0, 0, 0]}
    for table in (columns, pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        assert domain.encode(table).codes.tolist() == [[1, 0, 0], [4, 0, 2]]
    with pytest.raises(ParameterError, match="no column 'rooms'"):
        domain.encode({"sex": ["m"]})
    with pytest.raises(ParameterError, match="no column 'rooms'"):
        domain.encode(pa.table({"sex": ["m"]}))


def test_dates_are_values_like_others() -> None:
    days = Attribute("day", (date(2026, 1, 1), date(2026, 1, 2)), missing=True)
    assert days.encode(np.array(["2026-01-02", "NaT", "2026-01-01"], dtype="datetime64[D]")).tolist() == [1, 2, 0]
    hours = Attribute("hour", (datetime(2026, 1, 1), datetime(2026, 1, 2)), missing=True)
    for unit in ("s", "us", "ns"):
        column = np.array(["2026-01-02", "NaT", "2026-01-01"], dtype=f"datetime64[{unit}]")
        assert hours.encode(column).tolist() == [1, 2, 0]
        assert hours.encode(pd.Series(column)).tolist() == [1, 2, 0]


def test_hostile_entries_are_missing() -> None:
    class Odd:
        __hash__ = None  # type: ignore[assignment]

    entries: list[Any] = [[1], {}, Odd(), float("nan"), None, np.ma.masked, pd.NA, pd.NaT, "1", b"1", 1j, -0.0, "\x00"]
    assert Attribute("x", (1, 0), missing=True).encode(entries).tolist() == [2] * 11 + [1, 2]


class Hostile:
    """An entry that shows itself whatever is done with it."""

    def __hash__(self) -> int:
        raise ValueError(ENTRY)

    def __float__(self) -> float:
        raise RuntimeError(ENTRY)


class Unequal:
    """An entry that has the hash of a value and refuses to be compared, or to be told from 0."""

    def __hash__(self) -> int:
        return hash("a")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError(ENTRY)

    def __float__(self) -> float:
        raise OverflowError(ENTRY)

    def __gt__(self, other: object) -> bool:
        raise RuntimeError(ENTRY)


LATE = 10**7  # days after 1970: a year that Python's dates do not have


@pytest.mark.parametrize(
    "column",
    [
        [Hostile()],
        [Unequal()],
        pa.array([LATE], type=pa.int32()).cast(pa.date32()),
        pa.array([LATE * 86_400], type=pa.timestamp("s")),
        pa.array([2**62], type=pa.duration("s")),
        pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(np.array([0, 1], np.int32)), pa.py_buffer(b"\xff")]),
        pl.Series([LATE]).cast(pl.Date),
        pl.Series([LATE * 86_400_000]).cast(pl.Datetime("ms")),
        pl.Series([LATE * 86_400_000]).cast(pl.Datetime("ms", "UTC")),
        pl.Series([2**62], dtype=pl.Duration("ms")),
        np.array([LATE], dtype="datetime64[D]"),
        np.array([2**62], dtype="timedelta64[s]"),
    ],
    ids=lambda column: type(column).__name__,
)
def test_entries_that_fail_when_they_are_read_are_missing(column: Any) -> None:
    for values in (("a", 1), (date(2020, 1, 1), LATE, LATE * 86_400_000, 2**62)):
        attribute = Attribute("x", values, missing=True)
        assert attribute.encode(column).tolist() == [len(values)]
    assert Bins((0, 4), 2).attribute("x", missing=True).encode(column).tolist() == [2]
    with pytest.raises(InputError) as caught:
        Domain.of(x=["a"]).encode({"x": column})
    assert "outside its stated values" in str(caught.value)
    assert caught.value.__context__ is None


def test_a_table_that_fails_when_it_is_read_says_nothing_of_its_entries() -> None:
    class Broken(dict[str, Any]):
        def __getitem__(self, name: str) -> Any:
            raise KeyError(ENTRY)

    with pytest.raises(InputError, match=r"^the column x could not be read") as caught:
        Domain.of(x=["a"], missing=True).encode(Broken(x=[1]))
    assert ENTRY not in str(caught.value)
    assert caught.value.__context__ is None


def test_times_are_equal_to_the_nanosecond() -> None:
    moments = Attribute("x", (timedelta(seconds=1), datetime(2020, 1, 1)), missing=True)
    assert moments.encode(np.array([10**9, 10**9 + 1], dtype="timedelta64[ns]")).tolist() == [0, 2]
    fine = np.array(["2020-01-01", "2020-01-01T00:00:00.000000001", "NaT"], dtype="datetime64[ns]")
    assert moments.encode(fine).tolist() == [1, 2, 2]
    assert moments.encode(pd.Series(fine)).tolist() == [1, 2, 2]
    assert moments.encode(pl.Series([timedelta(seconds=1), None])).tolist() == [0, 2]
    abroad = Attribute("x", (datetime(2020, 1, 1, tzinfo=UTC),), missing=True)
    in_rome = pl.Series([datetime(2020, 1, 1), datetime(2020, 1, 2), None]).dt.replace_time_zone("UTC")
    assert abroad.encode(in_rome.dt.convert_time_zone("Europe/Rome")).tolist() == [0, 1, 1]


def test_columns_of_odd_types_are_missing_or_refused() -> None:
    attribute = Attribute("x", (1, 2), missing=True)
    missing = [
        pa.array([[1]]),
        pa.array([{"a": 1}]),
        pa.array([None]),
        pl.Series([[1]]),
        pd.Series(pd.interval_range(0, 1)),
        np.array([1], dtype="timedelta64[ns]"),
        np.array([1], dtype="datetime64[ns]"),
        np.array([b"1"]),
        np.array(["1"]),
    ]
    for column in missing:
        assert attribute.encode(column).tolist() == [2]
        assert Bins((0, 4), 2).attribute("x", missing=True).encode(column).tolist() == [2]
    for column in (pl.Series([1], dtype=pl.Int128), pl.Series([Decimal(1)]), np.array([1], dtype=">i4"), pd.Index([1])):
        assert attribute.encode(column).tolist() == [0]
    for column in (np.array([(1, 2)], dtype=[("a", int), ("b", int)]), pd.DataFrame([[1, 1]], columns=["x", "x"])["x"]):
        with pytest.raises(InputError, match="one dimension"):
            attribute.encode(column)
    assert (
        Bins((0, 4), 2).attribute("x", missing=True).encode([1j, np.complex64(1), np.complex128(1)]).tolist() == [2] * 3
    )


def test_texts_are_compared_by_code_point() -> None:
    values = ("\u00e9", "e\u0301", "E", "\U0001f600", "", " ", "a\x00")
    column = ["e\u0301", "\u00e9", "e", "\U0001f600", "", " ", "a\x00", "a"]
    attribute = Attribute("x", values, missing=True)
    assert attribute.encode(column).tolist() == [1, 0, 7, 3, 4, 5, 6, 7]
    assert attribute.encode(pl.Series(column)).tolist() == [1, 0, 7, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    "values",
    [
        (True, 1),
        (1, 1.0),
        (0.0, -0.0),
        ("a", "a"),
        (Fraction(1, 2), 0.5),
        ([1],),
        (None, 1),
        (float("nan"), 1),
        (),
        (pd.NaT,),
    ],
)
def test_values_that_cannot_be_told_apart_or_met_are_refused(values: tuple[Any, ...]) -> None:
    with pytest.raises(ParameterError):
        Attribute("x", values)


def test_other_mistakes_in_a_domain_are_refused() -> None:
    with pytest.raises(ParameterError, match="list the values"):
        Domain.of(sex="female")
    with pytest.raises(ParameterError, match="at least one attribute"):
        Domain(())
    with pytest.raises(ParameterError, match="same name"):
        Domain((Attribute("x", (1,)), Attribute("x", (2,))))
    with pytest.raises(ParameterError, match="must have a name"):
        Attribute("", (1,))
    with pytest.raises(ParameterError, match="65,536 values"):
        Attribute("x", tuple(range(65_536)), missing=True)
    assert Attribute("x", tuple(range(65_536))).encode([65_535]).tolist() == [65_535]


@pytest.mark.parametrize("attribute", [Attribute("x", ("a",)), Bins((0, 1), 2).attribute("x")])
@pytest.mark.parametrize(
    "column", [["a", ENTRY], [ENTRY], [None], np.array([[1.0]]), np.array(1.0), ENTRY, 5], ids=repr
)
def test_an_error_never_shows_an_entry(attribute: Attribute, column: Any) -> None:
    with pytest.raises(InputError) as caught:
        attribute.encode(column)
    assert ENTRY not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_columns_of_different_lengths_are_refused_without_saying_which() -> None:
    with pytest.raises(InputError, match=r"^the columns have different lengths$"):
        Domain.of(a=[1], b=[1]).encode({"a": [1, 1], "b": [1]})


def test_decoding_returns_the_values() -> None:
    attribute = Attribute("x", ((1, 2), "a", 3), missing=True)
    assert attribute.decode(np.array([0, 1, 2, 3])).tolist() == [(1, 2), "a", 3, None]


def test_numbers_of_numpy_become_values_of_python() -> None:
    ours, theirs = Domain.of(a=range(3), b=["x"]), Domain.of(a=np.arange(3), b=np.array(["x"]))
    assert ours == theirs
    assert repr(ours) == repr(theirs)


@pytest.mark.parametrize("kind", ["datetime64[D]", "datetime64[ns]", "timedelta64[s]", "timedelta64[ns]"])
def test_times_of_numpy_become_values_of_python(kind: str) -> None:
    moments = (np.array([1, 3]) * (1000 if kind.endswith("[ns]") else 1)).astype(kind)
    domain = Domain.of(x=moments)  # type: ignore[arg-type]
    assert all(isinstance(value, date | timedelta) for value in domain.attributes[0].values)
    assert domain.encode({"x": moments}).codes.tolist() == [[0, 1]]


def test_domains_are_equal_and_hash_alike_if_their_attributes_are() -> None:
    one, other = Domain.of(a=[1, 2], b=Bins((0, 1), 4)), Domain.of(a=[1, 2], b=Bins((0, 1), 4))
    assert one == other
    assert hash(one) == hash(other)
    assert len({one, other, Domain.of(a=[1, 2], b=Bins((0, 2), 4)), Domain.of(a=[1, 2])}) == 3
    assert one != Domain.of({"a": [1, 2], "b": Bins((0, 1), 4)}, missing=True)


def test_an_unknown_attribute_of_a_wide_domain_is_told_briefly() -> None:
    wide = Domain.of({f"a{place}": (0, 1) for place in range(1000)})
    with pytest.raises(UnknownName, match=r"there are a0, .*a19, \.\.\.$"):
        wide.place("b")
    assert wide.place("a999") == 999
    assert wide.offsets.tolist() == list(range(0, 2001, 2))


def test_bins_take_numbers_by_their_public_edges() -> None:
    age = Bins((0, 90), 3).attribute("age", missing=True)
    assert age.edges == (0.0, 30.0, 60.0, 90.0)
    column = [-np.inf, -5, -0.0, 29.999, 30, 59, 60, 90, 91, 1e300, np.inf, 10**400, -(10**400), np.nan, None]
    assert age.encode(column).tolist() == [0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 2, 2, 0, 3, 3]
    assert age.encode([Decimal(45), Fraction(1, 3), True, "45", b"45", [45], object()]).tolist() == [
        1,
        0,
        0,
        3,
        3,
        3,
        3,
    ]
    assert age.decode(np.array([0, 1, 2, 3])).tolist() == [15.0, 45.0, 75.0, None]


@given(st.integers(-1000, 1000), st.integers(1, 1000), st.integers(1, 60))
def test_a_bin_takes_in_its_midpoint_and_its_lower_edge(low: int, width: int, count: int) -> None:
    attribute = Bins((low, low + width), count).attribute("x")
    assert attribute.encode(list(attribute.values)).tolist() == list(range(count))
    assert attribute.encode(np.array(attribute.edges[:-1])).tolist() == list(range(count))
    assert (attribute.edges[0], attribute.edges[-1]) == (low, low + width)


def test_bins_without_room_for_missing_numbers_refuse_them() -> None:
    with pytest.raises(InputError, match="outside its stated values"):
        Bins((0, 1), 2).attribute("x").encode([0.5, np.nan])


@pytest.mark.parametrize(
    ("low", "high", "count"),
    [
        (1, 1, 2),
        (2, 1, 2),
        (0, 1, 0),
        (0, 1, True),
        (0, 1, 2.0),
        (0, float("inf"), 2),
        (float("nan"), 1, 2),
        (0, 1, 65_537),
        (1, 1 + 2**-52, 9),
    ],
)
def test_bad_bins_are_refused(low: float, high: float, count: int) -> None:
    with pytest.raises(ParameterError):
        Bins((low, high), count).attribute("x")


@pytest.mark.parametrize("bounds", [5, (1,), (1, 2, 3), "01"])
def test_bounds_that_are_not_a_pair_are_refused_with_an_example(bounds: Any) -> None:
    with pytest.raises(ParameterError, match=r"bounds=\(0, 100\)"):
        Bins(bounds, 2)


def test_records_leave_an_array_to_its_owner() -> None:
    given = np.zeros((1, 2), dtype=np.uint16)
    records = Records(Domain.of(x=["a"]), given)
    given[0, 0] = 0
    with pytest.raises(ValueError, match="read-only"):
        records.codes[0, 0] = 0


def test_records_refuse_codes_beyond_the_domain_and_print_no_entry() -> None:
    domain = Domain.of(a=[1, 2], b=[1])
    with pytest.raises(InputError, match="outside its attribute"):
        Records(domain, np.array([[0], [1]], dtype=np.uint16))
    with pytest.raises(InputError, match="one row for each attribute"):
        Records(domain, np.array([[0]], dtype=np.uint16))
    for wrong in (-1, 2**16, 0.5):
        with pytest.raises(InputError, match="outside its attribute"):
            Records(domain, np.array([[wrong], [0]]))  # type: ignore[arg-type]
    assert repr(Records(domain, np.zeros((2, 7), dtype=np.uint16))) == "Records(2 attributes)"


@pytest.mark.filterwarnings("error")
def test_no_number_is_seen_in_a_warning() -> None:
    far = np.array(["1e4000", "-1e4000", "nan", "3"], dtype=np.longdouble)
    assert Bins((0, 10), 2).attribute("x", missing=True).encode(far).tolist() == [1, 0, 2, 0]
    assert Attribute("x", (3,), missing=True).encode(far).tolist() == [1, 1, 1, 0]
