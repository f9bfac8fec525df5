"""Frames that differ in one person have the same types, refusals, explanations and digests, whatever is in a cell."""

from __future__ import annotations

import io
import random
import re
import uuid
import warnings
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.errors import DiscreetError, InputError
from discreet.frames import Type
from discreet.frames.cells import fitted
from discreet.frames.declared import typed
from discreet.frames.frame import Frame
from discreet.privacy import PureDP
from discreet.query import Session
from discreet.query.frame_table import TYPE_OF_KIND, frame_table

EAST = timezone(timedelta(hours=5))
ODD = [
    float("nan"), None, "text", "12", "\ud800", 2**70, 2**63, -(2**63), 10**400, True, np.bool_(False), 1.0, 2.5, -0.0,
    float("inf"), np.float32(0.1), np.int8(3), np.uint64(2**64 - 1), np.longdouble("1e4000"), Decimal("1.5"),
    Decimal(7), Decimal("1e400"), Decimal("1e999999"), Decimal("1e-999999"), Decimal("sNaN"), Decimal("-Infinity"),
    Fraction(6, 2), datetime(2026, 1, 1, tzinfo=UTC),
    datetime(1, 1, 1, tzinfo=EAST), datetime(9999, 12, 31, 23, 59, 59),
    datetime(2026, 1, 1), date(9999, 12, 31), date(2026, 2, 3), pd.NaT, pd.NA, pd.Timestamp(1, unit="ns", tz="UTC"),
    np.datetime64("20000-01-01", "s"), np.datetime64(2**62, "Y"), np.datetime64("NaT"), pd.Timedelta(1), b"bytes", [1],
    {"a": 1}, (), 1j, object(), uuid.UUID(int=7), int, "",
]  # fmt: skip
PLAIN = {
    "whole": lambda row: row * 3 - 5,
    "large": lambda row: 2**53 - 3 + row,
    "real": lambda row: row / 4,
    "word": lambda row: "abc"[row % 3],
    "flag": lambda row: row % 2 == 0,
    "moment": lambda row: datetime(2026, 1, 1 + row, 12),
    "day": lambda row: date(2026, 1, 1 + row),
    "decimal": lambda row: Decimal(row) / 4,
}
QUERIES = [
    "SELECT COUNT(*) AS n, COUNT(x) AS m FROM t",
    "SELECT x // 10 AS k, COUNT(*) AS n FROM t GROUP BY k",
    "SELECT SUM(CLAMP(x, 0, 9)) AS s FROM t",
    "SELECT COUNT(*) AS n FROM t WHERE x = 'a'",
    "SELECT YEAR(x) AS y, COUNT(*) AS n FROM t GROUP BY y",
    "SELECT x, COUNT(*) AS n FROM t GROUP BY x",
]


def cells(source, odd):
    """Return the cells of a column for seven people, those of its neighbor, in which one person differs, and who."""
    plain = [PLAIN[source](row) for row in range(7)]
    who = len(plain) // 2
    return plain, [*plain[:who], odd, *plain[who + 1 :]], who


def made(library, people, column, *, objects):
    """Return a frame as its library makes it of lists, None where it cannot."""
    try:
        if library == "pandas":
            return pd.DataFrame({"p": people, "x": pd.Series(column, dtype=object if objects else None)})
        if library == "polars":
            kind = pl.Object if objects else None
            return pl.DataFrame({"p": people, "x": pl.Series(column, dtype=kind)})
        return pa.table({"p": people, "x": pa.array(column)})
    except (Exception, pl.exceptions.PanicException):
        return None


def opened(frame, columns, **more):
    return Session.from_frames(t=frame, unit="p", rows=1, budget=PureDP(9), columns=columns, **more)


def told(frame, columns):
    """Return all that is told before anything is paid for: types, notes, explanations, digests, refusals."""
    try:
        session = opened(frame, columns)
    except DiscreetError as refusal:
        return [str(refusal)]
    found = [repr(session.tables())]
    with session:
        for sql in QUERIES:
            try:
                explained = session.explain(sql, epsilon=1, keys={"x": ["a"]} if sql.startswith("SELECT x,") else None)
                found.append(f"{explained}{explained.digest}{explained.to_dict()}")
            except DiscreetError as refusal:
                found.append(str(refusal))
    return found


def others(frame, columns, who):
    """Return what is read of everybody else."""
    types = {name: Type(words["type"]) for name, words in columns.items()}
    rows = frame_table("t", frame, declared=types, units=frozenset({"p"})).table.to_pylist()
    return [row for place, row in enumerate(rows) if place != who]


def test_neighbors_with_a_declared_type_are_told_nothing_apart(rounds):
    draw = random.Random(15)  # noqa: S311 - which pairs are tried
    count = rounds(sample=10, full=2_000)
    compared = 0
    while compared < count:
        library, source = draw.choice(["pandas", "polars", "arrow"]), draw.choice(list(PLAIN))
        plain, neighbor, who = cells(source, draw.choice(ODD))
        objects = draw.random() < 0.2
        pair = [made(library, list(range(7)), one, objects=objects) for one in (plain, neighbor)]
        if any(frame is None for frame in pair):
            continue
        columns = {"x": {"type": draw.choice(list(Type)).value}}
        assert told(pair[0], columns) == told(pair[1], columns)
        assert others(pair[0], columns, who) == others(pair[1], columns, who)
        compared += 1


def test_neighbors_without_a_declared_type_are_told_apart_by_the_kind_of_the_column_alone(rounds):
    draw = random.Random(16)  # noqa: S311 - which pairs are tried
    known = {}
    compared, count = 0, rounds(sample=10, full=2_000)
    while compared < count:
        library, source = draw.choice(["pandas", "polars", "arrow"]), draw.choice(list(PLAIN))
        pair = [made(library, list(range(7)), one, objects=False) for one in cells(source, draw.choice(ODD))[:2]]
        if any(frame is None for frame in pair):
            continue
        for frame in pair:
            kind = Frame.read(frame).column("x").kind
            shown = told(frame, {})
            assert known.setdefault(TYPE_OF_KIND.get(kind), shown) == shown
        compared += 1


@pytest.mark.parametrize("kind", ["integer", "text"])
def test_a_declared_unit_column_of_objects_reads_each_id_for_itself(kind, rounds):
    ids = {"integer": list(range(7)), "text": list("abcdefg")}[kind]
    columns = {"p": {"type": kind}}
    explained = rounds(sample=3, full=len(ODD))
    for place, odd in enumerate(ODD):
        neighbor = [*ids[:3], odd, *ids[4:]]
        pair = [pd.DataFrame({"p": pd.Series(one, dtype=object), "x": range(7)}) for one in (ids, neighbor)]
        assert others(pair[0], columns, 3) == others(pair[1], columns, 3)
        if place < explained:
            assert told(pair[0], columns) == told(pair[1], columns)


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
def test_equal_numbers_and_texts_of_them_are_one_person_under_a_declared_integer(library):
    spelled = [
        1,
        1.0,
        True,
        Decimal(1),
        np.int64(1),
        np.uint8(1),
        np.float32(1),
        Decimal("1.000"),
        Fraction(1),
        "1",
        " 01 ",
        "1.0",
        "x1",
        b"1",
    ]
    if library != "pandas":
        spelled = {"polars": pl.Series([1, 1], dtype=pl.Int128), "arrow": pa.array([Decimal(1), Decimal("1.0")])}[
            library
        ]
    people = pd.Series(spelled, dtype=object) if library == "pandas" else spelled
    frame = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}[library]({"p": people})
    table = frame_table("t", frame, declared={"p": Type.INTEGER}, units=frozenset({"p"})).table
    assert set(table.column("p").to_pylist()) <= {1, None}
    assert table.column("p").null_count == (2 if library == "pandas" else 0)


READERS = {
    "pandas": pd.read_csv,
    "pandas, dates": lambda file: pd.read_csv(file, parse_dates=["x"]),
    "pandas, arrow": lambda file: pd.read_csv(file, dtype_backend="pyarrow", engine="pyarrow"),
    "polars": lambda file: pl.read_csv(file, infer_schema_length=None),
    "polars, dates": lambda file: pl.read_csv(file, try_parse_dates=True, infer_schema_length=None),
}
COLUMNS_OF_FILES = {
    "integer": (["0", "7", "007", "-3", "9007199254740991", "9007199254740993", ""], "unknown"),
    "whole reals": (["0.0", "7.", "1e3", "-3.0", "2.5", "9007199254740991.4", "1e300"], "unknown"),
    "real": (["0.1", "2.675", "1e-3", "-0.0", "inf", "1e999", ""], "1,5"),
    "boolean": (["true", "false", "true", "true", "false", "false", "true"], "maybe"),
    "day": (["2026-01-05", "2024-02-29", "0001-01-01", "9999-12-31", "2026-01-06", "1969-12-31", ""], "2026-02-30"),
    "moment": (["2026-01-05 10:00:00", "2026-01-05T10:00:00.125", "1969-12-31 23:59:59.999999"] * 2, "soon"),
    "zoned": (["2026-01-05T10:00:00+05:00", "2026-01-05T01:00:00+05:00"] * 3, "soon"),
}


def read(reader, texts, people=None):
    people = range(len(texts)) if people is None else people
    text = "p,x\n" + "".join(f'{person},"{cell}"\n' for person, cell in zip(people, texts, strict=True))
    try:
        return READERS[reader](io.BytesIO(text.encode()))
    except (Exception, pl.exceptions.PanicException):
        return None


def read_pairs():
    """Return the files, read by every library that reads both of them."""
    for source, (plain, odd) in COLUMNS_OF_FILES.items():
        for reader in READERS:
            pair = [read(reader, [*plain, cell]) for cell in (plain[0], odd)]
            if all(frame is not None for frame in pair):
                yield pytest.param(plain, reader, pair, id=f"{source}, {reader}")


@pytest.mark.parametrize(("plain", "reader", "pair"), list(read_pairs()))
def test_one_text_in_a_file_changes_no_cell_of_anybody_else_under_a_declared_type(plain, reader, pair):
    for kind in Type:
        if kind is not Type.TEXT:  # numbers and times do not tell which texts they were
            columns = {"x": {"type": kind.value}}
            first, second = (others(frame, columns, len(plain)) for frame in pair)
            assert [repr(row) for row in first] == [repr(row) for row in second], kind
    if reader == "polars":  # what is told follows from the declared type, as other tests here show
        assert told(pair[0], {"x": {"type": "integer"}}) == told(pair[1], {"x": {"type": "integer"}})


@pytest.mark.filterwarnings("ignore:epsilon this large")
@pytest.mark.parametrize("reader", ["pandas", "pandas, arrow", "polars"])
def test_one_text_in_a_file_moves_a_sum_and_a_count_by_one_person_at_most(reader):
    sums = {}
    for odd in (None, "unknown"):
        texts = [str(row % 10) for row in range(50)] + ([] if odd is None else [odd])
        whole = {"x": {"type": "integer", "min": 0, "max": 100}}
        with Session.from_frames(
            t=read(reader, texts), unit="p", rows=1, budget=PureDP(10**9), columns=whole
        ) as session:
            # the noise has scale 2e-6 at most: it exceeds 0.01 with probability exp(-5000)
            sums[odd] = session.sql("SELECT SUM(x) AS s, COUNT(x) AS n FROM t", epsilon=10**8).rows[0]
    for answered in sums.values():
        assert tuple(answered) == pytest.approx((225, 50), abs=0.01)


@pytest.mark.parametrize("reader", ["pandas", "pandas, arrow", "polars"])
def test_an_id_that_is_no_number_leaves_out_its_own_row_alone(reader):
    large = [2**62 + row for row in range(7)]
    columns = {"p": {"type": "integer"}}
    tables = []
    for people in ([*large, 7], [*large, "x7"]):
        frame = read(reader, ["1"] * 8, people)
        tables.append(frame_table("t", frame, declared={"p": Type.INTEGER}, units=frozenset({"p"})))
        assert opened(frame, columns).tables()["t"]["p"] == "integer"
    ids = [table.table.column(table.ids["p"]).to_pylist() for table in tables]
    assert ids == [[*large, 7], [*large, None]]


def test_texts_that_are_long_or_strange_are_missing_and_cost_little():
    strange = [
        "9" * 3_000_000,
        "1e" + "9" * 3_000_000,
        " " * 3_000_000 + "1",
        "1_000",
        "0x10",
        "\u0661",
        "--1",
        "",
        "nan",
    ]
    for kind in (Type.BOOLEAN, Type.INTEGER, Type.REAL, Type.DATE, Type.TIMESTAMP):
        assert fitted(strange, kind) == [None] * len(strange)
    assert fitted(["1e999999999", "-1e999999999"], Type.REAL) == [float("inf"), float("-inf")]
    assert fitted(["1e999999999", "9" * 400], Type.INTEGER) == [None, None]


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        ([1.0, None], "holds floats, in which large ids are no longer told apart"),
        (pd.array([1.5, None], dtype="Float64"), "holds floats"),
        (pd.Categorical([1.0, 2.0]), "holds floats"),
        (pd.Series([1, "a"], dtype=object), 'needs a declared type, .* columns={"p": {"type": "integer"}} or "text"'),
        ([True, False], "needs a declared type"),
        (pd.to_datetime(["2026-01-01", "2026-01-02"]), "needs a declared type"),
    ],
)
def test_ids_are_integers_or_texts(ids, words):
    frame = pd.DataFrame({"p": ids})
    with pytest.raises(InputError, match=words):
        opened(frame, None)
    if "floats" in words:
        with pytest.raises(InputError, match=words):
            opened(frame, {"p": {"type": "integer"}})


def test_a_text_column_a_categorical_and_nullable_integers_name_people_as_they_are():
    frames = [
        ["a", None],
        pd.Categorical([7, 8]),
        pd.array([2**62 + 1, None], dtype="Int64"),
        np.array([1, 2], np.uint8),
    ]
    for ids in frames:
        assert opened(pd.DataFrame({"p": ids}), None).tables()["t"]["p"] in ("integer", "text")


@pytest.mark.parametrize("wanted", list(Type))
@pytest.mark.parametrize(
    "array",
    [
        pa.array([0, 1, -1, 2**63 - 1, None]),
        pa.array([0, 2**63, 2**64 - 1, None], pa.uint64()),
        pa.array([0, 200, None], pa.uint8()),
        pa.array([0.0, -0.0, 0.5, 1.0, 2.0**63, -(2.0**63), 1e300, float("inf"), float("nan"), None]),
        pa.array([1.5, 65504.0, None], pa.float16()),
        pa.array([True, False, None]),
        pa.array(["", "a", "7", "1e3", "True", "no", "inf", "2026-02-03", "2026-02-03T04:05:06+05:00", None]),
        pa.array([Decimal("1.50"), Decimal(7), None]),
        pa.array([0, 253402300799, 253402300800, -62135596800, -62135596801, 2**62, -(2**62), None]).cast(
            pa.timestamp("s")
        ),
        pa.array([0, -1, 1999, 2**63 - 1, -(2**63) + 1, None]).cast(pa.timestamp("ns", "Europe/Berlin")),
        pa.array([0, 253402300799999999, 253402300800000000, -62135596800000001, None]).cast(pa.timestamp("us")),
        pa.array([0, -719162, -719163, 2932896, 2932897, 2**31 - 1, None], pa.int32()).cast(pa.date32()),
    ],
    ids=lambda array: str(array.type),
)
def test_a_column_is_read_at_once_as_it_is_read_cell_by_cell(array, wanted):
    if pa.types.is_temporal(array.type):
        unit = "D" if pa.types.is_date(array.type) else array.type.unit
        counts = array.cast(pa.int32() if unit == "D" else pa.int64()).to_pylist()
        plain = [None if count is None else np.datetime64(count, unit) for count in counts]
    else:
        plain = array.to_pylist()
    read = typed(Frame.read(pa.table({"x": array})).column("x"), wanted)
    counted = {Type.DATE: pa.int32(), Type.TIMESTAMP: pa.int64()}.get(wanted)
    found = (read if counted is None else read.view(counted)).to_pylist()
    assert [repr(one) for one in found] == [repr(one) for one in fitted(plain, wanted)]


def test_age_by_tens_is_refused_with_the_line_that_declares_integers_and_answered_with_it():
    frame = pd.DataFrame({"p": [1, 2], "age": [34, 57]})
    sql = "SELECT age // 10 AS tens, COUNT(*) AS n FROM t GROUP BY tens"
    ages = {"age": {"min": 0, "max": 99}}
    with pytest.raises(DiscreetError, match=re.escape('add columns={"age": {"type": "integer", "min": 0, "max": 99}}')):
        opened(frame, ages).explain(sql, epsilon=1, keys={"tens": [3, 5]})
    whole = opened(frame, {"age": {"type": "integer", "min": 0, "max": 99}})
    assert whole.explain(sql, epsilon=1, keys={"tens": [3, 5]}).digest
    with pytest.raises(DiscreetError, match=re.escape('add columns={"age": {"type": "integer"}}')):
        opened(frame, None).explain("SELECT age, COUNT(*) AS n FROM t GROUP BY age", epsilon=1)


def test_tables_and_explain_say_which_columns_are_texts_for_want_of_a_declaration():
    frame = pd.DataFrame({"p": [1, 2], "note": ["a", 5], "ward": ["a", "b"]})
    session = opened(frame, {"ward": {"values": ["a", "b"]}})
    line = 'such as date, boolean or real, add columns={"note": {"type": "..."}}'
    assert line in repr(session.tables())
    assert line in str(session.explain("SELECT COUNT(note) AS n FROM t", epsilon=1))
    assert "ward" not in session.tables().notes[0]
    assert "undeclared" not in str(session.explain("SELECT COUNT(ward) AS n FROM t", epsilon=1))


@pytest.mark.parametrize(
    ("cells", "sql", "kind"),
    [
        ([Decimal("1.5"), Decimal(7)], "SELECT COUNT(*) AS n FROM t WHERE x > 5", "real"),
        ([Decimal("1.5"), Decimal(7)], "SELECT COUNT(*) AS n FROM t WHERE x + 1 > 5", "real"),
        ([Decimal("1.5"), Decimal(7)], "SELECT COUNT(*) AS n FROM t WHERE x IN (5, 7)", "real"),
        ([Decimal("1.5"), Decimal(7)], "SELECT SUM(x) AS s FROM t", "real"),
        ([Decimal("1.5"), Decimal(7)], "SELECT AVG(CLAMP(x, 0, 9)) AS s FROM t", "real"),
        ([3, 4], "SELECT COUNT(*) AS n FROM t WHERE x % 2 = 0", "integer"),
        ([3, 4], "SELECT COUNT(*) AS n FROM t WHERE x & 2 = 0", "integer"),
        ([date(2026, 1, 1), date(2026, 2, 1)], "SELECT COUNT(*) AS n FROM t WHERE YEAR(x) = 2026", "date"),
        ([date(2026, 1, 1), date(2026, 2, 1)], "SELECT COUNT(*) AS n FROM t WHERE x > DATE '2026-01-05'", "date"),
        ([date(2026, 1, 1), date(2026, 2, 1)], "SELECT COUNT(*) AS n FROM t WHERE x - DATE '2026-01-05' > 3", "date"),
        ([datetime(2026, 1, 1, 5), None], "SELECT COUNT(*) AS n FROM t WHERE HOUR(x) = 5", "timestamp"),
        ([True, False], "SELECT COUNT(*) AS n FROM t WHERE x", "boolean"),
        ([True, False], "SELECT COUNT(*) AS n FROM t WHERE NOT x", "boolean"),
        ([True, False], "SELECT COUNT_IF(x) AS n FROM t", "boolean"),
    ],
)
def test_the_line_that_is_advised_is_understood_and_loses_no_cell(cells, sql, kind):
    frame = pd.DataFrame({"p": [1, 2], "x": pd.Series(cells, dtype=object)})
    line = f'columns={{"x": {{"type": "{kind}"}}}}'
    with pytest.raises(DiscreetError) as refusal:
        opened(frame, None).explain(sql, epsilon=1, bounds={"x": (0, 9)})
    said = str(refusal.value)
    assert f"add {line}" in said
    assert "CAST" not in said or said.index(line) < said.index("only if its cells are texts") < said.index("CAST")
    declared = {"x": {"type": kind}}
    assert opened(frame, declared).explain(sql, epsilon=1, bounds={"x": (0, 9)}).digest
    read = frame_table("t", frame, declared={"x": Type(kind)}, units=frozenset({"p"})).table
    assert read.column("x").null_count == cells.count(None)


def test_a_column_of_days_is_declared_a_date_to_be_subtracted():
    frame = pl.DataFrame({"p": [1, 2], "x": [date(2026, 1, 1), date(2026, 2, 1)]})
    sql = "SELECT COUNT(*) AS n FROM t WHERE x - DATE '2026-01-05' > 3"
    with pytest.raises(DiscreetError, match=re.escape('or add columns={"x": {"type": "date"}}')):
        opened(frame, None).explain(sql, epsilon=1)
    assert opened(frame, {"x": {"type": "date"}}).explain(sql, epsilon=1).digest


def test_inside_a_function_of_texts_no_other_type_is_advised():
    frame = pd.DataFrame({"p": [1, 2], "x": ["12", "34"]})
    with pytest.raises(DiscreetError, match="CAST one to the type") as refusal:
        opened(frame, None).explain("SELECT COUNT(*) AS n FROM t WHERE SUBSTRING(x, 1, 1) > 5", epsilon=1)
    assert "columns=" not in str(refusal.value)


def test_ids_of_other_classes_are_turned_into_texts():
    frame = pd.DataFrame({"p": [uuid.UUID(int=1), uuid.UUID(int=2)]})
    with pytest.raises(InputError, match=re.escape('(UUID, date, bytes) become texts with frame["p"].astype(str)')):
        opened(frame, None)
    frame["p"] = frame["p"].astype(str)
    assert opened(frame, {"p": {"type": "text"}}).tables()["t"]["p"] == "text"


def test_declarations_decide_types_by_themselves():
    frame = pd.DataFrame({"p": [1, 2], **{name: ["anything", 5] for name in "abcdef"}})
    columns = {
        "a": {"min": 0, "max": 9}, "b": {"values": [1, 2]}, "c": {"min": 0, "max": 9, "public": True},
        "d": {"min": date(2026, 1, 1), "max": date(2026, 2, 1)}, "e": {"values": ["x"]}, "f": {"type": "boolean"},
    }  # fmt: skip
    types = opened(frame, columns).tables()["t"]
    assert list(types.values()) == ["integer", "real", "integer", "integer", "date", "text", "boolean"]


def test_public_frames_have_the_same_types_so_that_joins_match():
    frame = pd.DataFrame({"p": [1, 2], "area": [1, 2]})
    areas = pd.DataFrame({"area": [1, 2], "name": ["north", "south"]})
    sql = "SELECT name, COUNT(*) AS n FROM t JOIN areas USING (area) GROUP BY name"
    for columns in ({}, {"area": {"type": "integer"}, "areas.area": {"type": "integer"}}):
        columns["areas.name"] = {"values": ["north", "south"]}
        session = opened(frame, columns, public={"areas": (areas, ["area"])})
        assert session.explain(sql, epsilon=1).digest


@pytest.mark.parametrize("far", [pd.Timestamp(np.datetime64("20000-01-01", "s")), pd.NaT])
def test_a_declared_time_beyond_the_years_there_are_is_refused(far):
    frame = pd.DataFrame({"p": [1], "at": [datetime(2026, 1, 1)]})
    for words in ({"min": datetime(2026, 1, 1), "max": far}, {"values": [far]}):
        with pytest.raises(DiscreetError, match="years 1 to 9999"):
            opened(frame, {"at": words})


def test_declarations_take_scalars_of_numpy_pandas_and_arrow():
    frame = pd.DataFrame({"p": [1, 2], "age": [34, 57], "ward": ["a", "b"], "day": pd.to_datetime(["2026-01-01"] * 2)})
    columns = {
        "age": {"type": "integer", "min": np.int64(0), "max": np.float32(99.0)},
        "ward": {"values": np.array(["a", "b"])},
        "day": {"min": pd.Timestamp("2026-01-01"), "max": np.datetime64("2026-02-01T00:00", "s")},
    }
    stated = opened(frame, columns).policy.tables["t"].columns
    assert (stated["age"].low, stated["age"].high) == (0, 99)
    assert stated["ward"].values == ("a", "b")
    assert (stated["day"].low, stated["day"].high) == (datetime(2026, 1, 1), datetime(2026, 2, 1))


@pytest.mark.parametrize("given", [object(), b"5", 1j, np.datetime64("NaT")])
def test_what_is_no_number_is_not_called_a_date(given):
    frame = pd.DataFrame({"p": [1, 2], "age": [34, 57]})
    with pytest.raises(DiscreetError) as refusal:
        opened(frame, {"age": {"min": given, "max": 5}})
    assert "not a date" not in str(refusal.value)


SIGNALING = np.array([0x7FF0000000000001], dtype=np.uint64).view(np.float64)
ODD = [
    *(kind(text) for kind in (np.float16, np.float32, np.float64, np.longdouble) for text in ("inf", "-inf", "nan")),
    *(SIGNALING[0], np.longdouble("1e4000"), np.complex128(complex("inf")), np.clongdouble(np.longdouble("1e4000"))),
    *(2**2000, Decimal("1e999999"), Decimal("sNaN"), Decimal("inf"), Fraction(10**400, 3)),
    *(np.datetime64("NaT"), np.datetime64(2**62, "Y"), np.timedelta64(2**62, "W"), np.uint64(2**64 - 1)),
]


@pytest.mark.parametrize("wanted", list(Type), ids=lambda wanted: wanted.name)
@pytest.mark.parametrize("odd", ODD, ids=lambda odd: f"{type(odd).__name__} {str(odd)[:6]}")
def test_no_cell_is_seen_in_a_warning(odd, wanted):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted([odd], wanted)
    assert not caught


@pytest.mark.parametrize("wanted", ["integer", "real", "boolean"])
@pytest.mark.parametrize("cell", [SIGNALING, *np.array([[np.inf], [1e300], [2.0**63]])], ids=str)
def test_no_cell_of_a_column_of_floats_is_seen_in_a_warning(cell, wanted):
    array = np.concatenate([[1.0, 2.0], cell])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for frame in (pd.DataFrame({"p": [1, 2, 3], "x": array}), pl.DataFrame({"p": [1, 2, 3], "x": array})):
            told(frame, {"x": {"type": wanted}})
    assert not caught
