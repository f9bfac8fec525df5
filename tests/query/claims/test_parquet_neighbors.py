"""Parquet files as pandas writes them: one person's cell decides the stored type, and a declared type wins over it."""

from __future__ import annotations

import re
from decimal import Decimal

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from discreet.errors import DiscreetError, PolicyError
from discreet.frames import Type
from discreet.query import Session
from discreet.query.engines.duckdb.source import parquet_select
from discreet.query.policy.declarations import ColumnPolicy

POLICY = """
[data]
source = "data"
lineage = "visits"
version = "1"

[protect]
unit = "person"

[budget]
notion = "pure"
epsilon = 10000
ledger = "ledger.jsonl"

[analysts.ana]

[tables.t]
unit = "p"
rows = 1
{columns}
"""
QUERIES = [
    "SELECT COUNT(*) AS n, COUNT(x) AS m FROM t",
    "SELECT COUNT(*) AS n FROM t WHERE x // 10 = 1",
    "SELECT COUNT(*) AS n FROM t WHERE x = 'a'",
]


def policy_of(folder, declared):
    columns = f'columns.x = {{type = "{declared}"}}' if declared else ""
    path = folder / "policy.toml"
    path.write_text(POLICY.format(columns=columns))
    return path


def told(folder, declared):
    """Return types, explanations, digests and refusals."""
    try:
        session = Session.open(policy_of(folder, declared), analyst="ana")
    except DiscreetError as refusal:
        return [str(refusal).replace(str(folder), "")]
    found = [repr(session.tables())]
    with session:
        for sql in QUERIES:
            try:
                explained = session.explain(sql, epsilon=1)
                found.append(f"{explained}{explained.digest}")
            except DiscreetError as refusal:
                found.append(str(refusal))
    return found


def answered(folder, declared, sql):
    with Session.open(policy_of(folder, declared), analyst="ana") as session:
        return tuple(session.sql(sql, epsilon=9_000).rows[0])


@pytest.fixture
def folder_of(tmp_path):
    def make(name, *days):
        """Write each day as pandas does, or as Arrow where it is an array."""
        folder = tmp_path / name / "data" / "t"
        folder.mkdir(parents=True)
        start = 0
        for place, cells in enumerate(days):
            people = range(start, start + len(cells))
            start += len(cells)
            if isinstance(cells, pa.Array):
                parquet.write_table(pa.table({"p": pa.array(people), "x": cells}), folder / f"{place}.parquet")
            else:
                pd.DataFrame({"p": people, "x": cells}).to_parquet(folder / f"{place}.parquet", index=False)
        return folder.parent.parent

    return make


NEIGHBORS = {
    "an empty cell": ([7, 8, 9], [7, 8, None]),
    "half a number": ([7, 8, 9], [7, 8, 2.5]),
    "a word": (["7", "8", "9"], [7, 8, 9]),
    "the only value": ([None, None, None], [None, None, 5]),
    "the only word": ([None, None, None], [None, None, "5"]),
    "a decimal": ([7, 8, 9], pa.array([7, 8, 9]).cast(pa.decimal128(25, 2))),
    "a narrow type": ([7, 8, 9], pa.array([7, 8, 9], pa.uint8())),
    "NaN": ([7.0, 8.0, 9.0], pa.array([7.0, 8.0, float("nan")])),
}


@pytest.mark.parametrize("declared", ["integer", "real"])
@pytest.mark.parametrize("pair", NEIGHBORS)
def test_neighbors_under_a_declared_type_are_told_nothing_apart(folder_of, pair, declared):
    first, second = (told(folder_of(str(place), cells), declared) for place, cells in enumerate(NEIGHBORS[pair]))
    assert first == second
    assert f"'x': '{declared}'" in first[0]


@pytest.mark.parametrize("declared", ["date", "timestamp", "boolean", "text"])
def test_a_column_that_holds_nothing_has_its_declared_type(folder_of, declared):
    assert f"'x': '{declared}'" in told(folder_of("a", [None, None]), declared)[0]


@pytest.mark.filterwarnings("ignore:epsilon this large")
@pytest.mark.parametrize("declared", ["integer", "real"])
@pytest.mark.parametrize("odd", [None, 2.5, "unknown"])
def test_one_cell_moves_a_sum_and_a_count_by_one_person_at_most(folder_of, declared, odd):
    cells = [row % 10 for row in range(50)]
    texts = [str(cell) for cell in cells] if isinstance(odd, str) else cells
    sql = "SELECT SUM(CLAMP(x, 0, 9)) AS s, COUNT(x) AS n FROM t"
    plain = answered(folder_of("a", cells), declared, sql)
    other = answered(folder_of("b", [*texts, odd]), declared, sql)
    fits = odd == 2.5 and declared == "real"
    # the noise has scale 9 / 4500 at most: it exceeds 0.2 with probability exp(-100)
    assert plain == pytest.approx((225, 50), abs=0.2)
    assert other == pytest.approx((227.5, 51) if fits else (225, 50), abs=0.2)


@pytest.mark.filterwarnings("ignore:epsilon this large")
def test_days_of_one_folder_are_read_as_the_declared_type(folder_of):
    days = [1, 2], [3, None], ["4", "unknown"], [None, None], pa.array([5, 6], pa.int8()), pa.array([2.0**53, 7.5])
    folder = folder_of("a", *days)
    sql = "SELECT SUM(CLAMP(x, 0, 9)) AS s, COUNT(x) AS n, COUNT(*) AS c FROM t"
    # the noise has scale 9 / 3000 at most: it exceeds 0.2 with probability exp(-66)
    assert answered(folder, "integer", sql) == pytest.approx((21, 6, 12), abs=0.2)


def test_days_of_one_folder_that_differ_are_refused_with_the_line_that_declares_a_type(folder_of):
    line = 'under [tables.t] add columns.x = {type = "integer"}'
    with pytest.raises(PolicyError, match=re.escape(line)):
        Session.open(policy_of(folder_of("a", [1, 2], [3, None]), None), analyst="ana")


def test_ids_are_read_as_they_are_stored(tmp_path):
    (tmp_path / "data").mkdir()
    for ids, words in (([1.0, None], "large ids that differ"), (["1", "2"], "the source has type text")):
        pd.DataFrame({"p": ids, "x": [1, 2]}).to_parquet(tmp_path / "data" / "t.parquet")
        path = policy_of(tmp_path, "integer")
        path.write_text(path.read_text().replace("columns.x", 'columns.p = {type = "integer"}\ncolumns.x'))
        with pytest.raises(PolicyError, match=words):
            Session.open(path, analyst="ana")


FAR = [float("nan"), float("inf"), -0.0, 2.0**53, 2.0**53 - 1, 2.0**63, -(2.0**63), 1e300, 2.5, None]
DIGITS = "1" * 30


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        (pa.array(FAR), [None, None, 0, None, 2**53 - 1, *[None] * 5]),
        (pa.array([1.5, 65504.0, 2.0**60], pa.float32()), [None, 65504, None]),
        (pa.array([Decimal("0." + DIGITS), Decimal(0)], pa.decimal128(38, 38)), [None, 0]),
        (pa.array([Decimal(DIGITS), Decimal(-7)], pa.decimal128(38, 0)), [None, -7]),
        (pa.array([Decimal("7.00"), Decimal("7.01"), Decimal("99.00")], pa.decimal128(4, 2)), [7, None, 99]),
        (pa.array([2**64 - 1, 7], pa.uint64()), [None, 7]),
        (pa.array([2**60 + 1, 7]), [2**60 + 1, 7]),
        (pa.array(["7", " 007 ", "2.5", "1e3", "x", "9" * 400, "1e999999999", str(2**60 + 1), ""]),
         [7, 7, None, 1000, None, None, None, 2**60 + 1, None]),
    ],
)  # fmt: skip
def test_whole_numbers_fit_a_declared_integer_and_no_cast_raises(tmp_path, stored, expected):
    parquet.write_table(pa.table({"x": stored}), tmp_path / "t.parquet")
    stated = {"X": ColumnPolicy("X", Type.INTEGER, typed=True)}
    with duckdb.connect() as connection:
        kind = connection.execute(f"DESCRIBE FROM '{tmp_path}/t.parquet'").fetchall()[0][1]
        footers = {tmp_path / "t.parquet": {"x": kind}}
        select = parquet_select("t", footers, public=False, columns=stated, units=frozenset())
        assert [row[0] for row in connection.execute(select).fetchall()] == expected


@pytest.mark.parametrize(("declared", "expected"), [("timestamp", "2020-03-01 22:00:00"), ("date", "2020-03-01")])
def test_a_text_in_a_column_of_times_with_an_offset_moves_nobody_else(declared, expected, tmp_path):
    # pandas writes times in UTC, and for one odd cell the texts with their offsets
    file = tmp_path / "t.parquet"
    texts = ["2020-03-02 03:00:00+05:00", "2020-03-01T22:00:00Z", "2020-03-01 22:00:00", "unknown"]
    pd.DataFrame({"x": texts}).to_parquet(file)
    stated = {"x": ColumnPolicy("x", Type(declared), typed=True)}
    sql = parquet_select("t", {file: {"x": "VARCHAR"}}, public=False, columns=stated, units=frozenset())
    connection = duckdb.connect()
    assert connection.execute(f"SELECT x::VARCHAR FROM ({sql})").fetchall() == [(expected,)] * 3 + [(None,)]  # noqa: S608
