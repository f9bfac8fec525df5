"""Counting inside an engine gives what counting outside gives, and names can only be names."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from discreet.data.invention import coins
from discreet.errors import InputError, ParameterError
from discreet.local import DirectResponse
from discreet.local.protocol.sql_counts import _undecoded, counted_rows, counting_sql

SPEC = DirectResponse(epsilon=Fraction(1), categories=50)


@pytest.fixture(params=["duckdb", "sqlite"])
def engine(request: pytest.FixtureRequest) -> Iterator[Any]:
    connection: Any = duckdb.connect() if request.param == "duckdb" else sqlite3.connect(":memory:")
    yield connection
    connection.close()


def stored(connection: Any, column: list[Any], kind: str = "BIGINT", table: str = "fleet", name: str = "report") -> Any:
    quoted = ['"' + one.replace('"', '""') + '"' for one in (table, name)]
    connection.execute(f"CREATE TABLE {quoted[0]} ({quoted[1]} {kind})")
    if column:
        insert = f"INSERT INTO {quoted[0]} VALUES (?)"  # noqa: S608  a name of the test itself
        connection.executemany(insert, [[one] for one in column])
    return connection


def test_counting_inside_equals_counting_outside(engine: Any) -> None:
    reports = [*SPEC.client().report_many(coins(1).integers(0, 50, 2000)).tolist(), -3, 50, 10**12, None, None]
    stored(engine, reports)
    inside = SPEC.aggregator().add_query(engine, table="fleet", column="report")
    assert inside == SPEC.aggregator().add(reports)
    assert (inside.people, inside.refused) == (2000, 5)
    assert inside.to_bytes() == SPEC.aggregator().add(reports).to_bytes()


def test_a_cursor_will_do_and_so_will_a_connection_that_runs_nothing_itself(engine: Any) -> None:
    stored(engine, [1, 2, 2])

    class Cursors:
        """Python's older database interface: only cursors run statements, and they answer None."""

        def cursor(self) -> Any:
            cursor = engine.cursor()

            class Silent:
                fetchmany = cursor.fetchmany

                def execute(self, statement: str) -> None:
                    cursor.execute(statement)

            return Silent()

    connections: list[Any] = [engine.cursor(), Cursors()]
    for connection in connections:
        assert SPEC.aggregator().add_query(connection, table="fleet", column="report").people == 3


def test_queries_add_to_what_is_there(engine: Any) -> None:
    stored(engine, [1, 2, 99])
    aggregator = SPEC.aggregator().add([7])
    for _ in range(2):
        aggregator.add_query(engine, table="fleet", column="report")
    assert (aggregator.people, aggregator.refused) == (5, 2)


def test_an_empty_table_adds_nothing(engine: Any) -> None:
    assert SPEC.aggregator().add_query(stored(engine, []), table="fleet", column="report") == SPEC.aggregator()


@pytest.mark.parametrize(
    "name", ["", None, 3, b"fleet", "a\x00b", "a\nb", "x" * 256, ["fleet"], "x\\", '\\" x', "a${b}", "${"]
)
def test_what_is_no_name_is_refused(name: Any) -> None:
    with pytest.raises(ParameterError):
        counting_sql(name, "report")
    with pytest.raises(ParameterError):
        counting_sql("fleet", name)


@pytest.mark.parametrize("table", [(), ("a", "b", "c", "d"), ("a", ""), ("a", None), ("a", 3)])
def test_what_is_no_path_of_names_is_refused(table: Any) -> None:
    with pytest.raises(ParameterError):
        counting_sql(table, "report")


@given(st.text(min_size=1, max_size=20), st.text(min_size=1, max_size=20))
def test_any_two_names_make_one_statement_of_one_shape(table: str, column: str) -> None:
    try:
        text = counting_sql(table, column)
    except ParameterError:
        return
    for dialect in ("duckdb", "postgres", "sqlite", "clickhouse", "snowflake", "trino"):
        statements = sqlglot.parse(text, dialect=dialect)
        assert len(statements) == 1
        (read,) = statements
        assert read is not None
        assert [found.name for found in read.find_all(sqlglot.exp.Table)] == [table]
        assert {found.name for found in read.find_all(sqlglot.exp.Column)} == {column}


def test_plain_names_are_the_same_text_for_every_engine() -> None:
    text = SPEC.counting_sql("fleet", "report")
    assert text == "SELECT r.report AS report, COUNT(*) AS people FROM fleet AS r GROUP BY r.report"
    assert {sqlglot.transpile(text, read=one, write=one)[0] for one in ("duckdb", "postgres", "spark", "sqlite")} == {
        text
    }


def test_a_table_in_a_schema_is_found() -> None:
    connection = duckdb.connect()
    connection.execute('CREATE SCHEMA "Raw"; CREATE TABLE "Raw".fleet AS SELECT 3 AS report')
    assert SPEC.aggregator().add_query(connection, table=("Raw", "fleet"), column="report").counts[3] == 1


@pytest.mark.parametrize("kind", ["TINYINT", "UBIGINT", "HUGEINT", "UHUGEINT", "DECIMAL(18, 0)", "DECIMAL(38, 4)"])
def test_every_whole_number_type_of_the_engine_is_read_exactly(kind: str) -> None:
    connection = stored(duckdb.connect(), [3, 3, 4, None], kind)
    aggregator = SPEC.aggregator().add_query(connection, table="fleet", column="report")
    assert aggregator.counts[[3, 4]].tolist() == [2, 1]
    assert aggregator.refused == 1


@pytest.mark.parametrize(
    ("kind", "column"),
    [
        ("DOUBLE", [-3.0, 3.5, float("nan")]),
        ("VARCHAR", ["3", "x", ""]),
        ("BOOLEAN", [True, False, True]),
        ("BLOB", [b"3", b"", b"\x03"]),
        ("DATE", ["2020-01-01"] * 3),
        ("INTEGER[]", [[3], [], [1, 2]]),
        ("DECIMAL(5, 2)", ["3.50", "0.01", "-1.00"]),
        ("HUGEINT", [2**100, -(2**100), 50]),
    ],
)
def test_other_types_of_the_engine_are_refused_one_by_one(kind: str, column: list[Any]) -> None:
    connection = stored(duckdb.connect(), column, kind)
    aggregator = SPEC.aggregator().add_query(connection, table="fleet", column="report")
    assert (aggregator.people, aggregator.refused) == (0, 3)


@pytest.mark.parametrize("odd_first", [True, False])
def test_one_odd_report_in_a_column_without_a_type_does_not_cost_the_group_it_falls_into(odd_first: bool) -> None:
    connection = sqlite3.connect(":memory:")
    reports = [3.0, *[3] * 1000] if odd_first else [*[3] * 1000, 3.0]
    aggregator = SPEC.aggregator().add_query(stored(connection, reports, kind=""), table="fleet", column="report")
    assert aggregator.counts[3] == 1001
    assert aggregator == SPEC.aggregator().add(reports)
    connection.close()


def anything(connection: sqlite3.Connection, kind: str) -> list[Any]:
    """Fill a column with what SQLite lets anybody put into a column of any type; return it as it is stored."""
    stored(connection, [3, 3.0, "3", " 3 ", "3.0", b"3", None, -1, 2**63 - 1, -(2**63), 0.5, -0.0, "x", ""], kind)
    connection.execute("INSERT INTO fleet VALUES (1e400), (-1e400), (49), (50), ('nan'), ('1e1')")
    return [report for (report,) in connection.execute("SELECT report FROM fleet")]


@pytest.mark.parametrize(
    ("kind", "people"),
    [("", 4), ("BLOB", 4), ("TEXT", 0), ("INTEGER", 8), ("REAL", 8), ("NUMERIC", 8)],
)
def test_sqlite_columns_that_hold_anything_are_counted_as_python_counts_them(kind: str, people: int) -> None:
    connection = sqlite3.connect(":memory:")
    reports = anything(connection, kind)
    aggregator = SPEC.aggregator().add_query(connection, table="fleet", column="report")
    assert aggregator.to_bytes() == SPEC.aggregator().add(reports).to_bytes()
    assert (aggregator.people, aggregator.refused) == (people, 20 - people)
    connection.close()


@pytest.mark.parametrize("by_cursor", [True, False])
def test_a_text_that_is_no_text_is_refused_by_itself(by_cursor: bool) -> None:
    connection = sqlite3.connect(":memory:")
    stored(connection, [3, 3, "x"])
    connection.execute("INSERT INTO fleet VALUES (CAST(x'ff' AS TEXT)), (CAST(x'c328' AS TEXT))")
    with pytest.raises(sqlite3.OperationalError):
        connection.execute("SELECT report FROM fleet").fetchall()
    asked = connection.cursor() if by_cursor else connection
    aggregator = SPEC.aggregator().add_query(asked, table="fleet", column="report")
    assert (aggregator.counts[3], aggregator.people, aggregator.refused) == (2, 2, 3)
    assert connection.text_factory is str, "the connection is as it was"
    with pytest.raises(sqlite3.OperationalError):
        SPEC.aggregator().add_query(asked, table="fleet", column="nothing")
    assert connection.text_factory is str
    connection.close()


def test_a_column_of_nothing_but_such_texts_is_refused_too() -> None:
    connection = stored(sqlite3.connect(":memory:"), [])
    connection.execute("INSERT INTO fleet VALUES (CAST(x'ff' AS TEXT)), (CAST(x'c328' AS TEXT))")
    aggregator = SPEC.aggregator().add_query(connection, table="fleet", column="report")
    assert (aggregator.people, aggregator.refused) == (0, 2)
    connection.close()


def test_two_threads_that_read_through_one_connection_leave_it_as_it_was() -> None:
    connection = sqlite3.connect(":memory:")
    first, second = _undecoded(connection.cursor()), _undecoded(connection.cursor())
    for step in (first.__enter__, second.__enter__):
        step()
        assert connection.text_factory is bytes
    for leave in (first.__exit__, second.__exit__):
        leave(None, None, None)
        assert connection.text_factory is str
    connection.close()


def test_a_reading_that_was_left_half_way_leaves_the_connection_as_it_was() -> None:
    connection = stored(sqlite3.connect(":memory:"), ["x", 3])
    reading: Any = counted_rows(connection, counting_sql("fleet", "report"))
    next(reading)
    assert connection.text_factory is str
    reading.close()
    connection.close()


class Lent:
    """What a pool lends in place of a connection: it passes everything on and takes no settings."""

    __slots__ = ("lent",)

    def __init__(self, lent: sqlite3.Connection) -> None:
        self.lent = lent

    def __getattr__(self, name: str) -> Any:
        return getattr(self.lent, name)


def test_what_a_pool_lends_will_do() -> None:
    connection = stored(sqlite3.connect(":memory:"), [3, 3, "x", 99])
    connection.execute("INSERT INTO fleet VALUES (CAST(x'ff' AS TEXT))")
    lent: Any = Lent(connection)
    aggregator = SPEC.aggregator().add_query(lent, table="fleet", column="report")
    assert (aggregator.counts[3], aggregator.refused) == (2, 3)
    connection.close()


def as_dictionary(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> dict[str, Any]:
    return {described[0]: value for described, value in zip(cursor.description, row, strict=True)}


@pytest.mark.parametrize("factory", [sqlite3.Row, as_dictionary])
def test_rows_may_come_as_dictionaries(factory: Any) -> None:
    connection = stored(sqlite3.connect(":memory:"), [3, 3, 99])
    connection.row_factory = factory
    aggregator = SPEC.aggregator().add_query(connection, table="fleet", column="report")
    assert (aggregator.counts[3], aggregator.refused) == (2, 1)
    connection.close()


class Answering:
    """A connection that gives made-up groups."""

    def __init__(self, *pages: Any) -> None:
        self.pages = [*pages, []]
        self.asked: list[str] = []

    def execute(self, statement: str) -> Any:
        self.asked.append(statement)
        return self

    def fetchmany(self, _: int) -> Any:
        page = self.pages.pop(0)
        if isinstance(page, Exception):
            raise page
        return page


def test_nothing_but_one_grouped_count_is_asked_of_the_engine() -> None:
    connection = Answering([(3, 10)])
    SPEC.aggregator().add_query(connection, table="fleet", column="report")
    assert connection.asked == [SPEC.counting_sql("fleet", "report")]


def test_an_engine_that_fails_halfway_counts_nothing() -> None:
    aggregator = SPEC.aggregator().add([1])
    with pytest.raises(TimeoutError):
        aggregator.add_query(Answering([(3, 10)], TimeoutError()), table="fleet", column="report")
    for page in ([(3, -1)], [(3, 1.5)], [(3, None)], [(3, 1 << 63)], [(3, 1 << 61), (4, 1 << 61), (5, 1)]):
        with pytest.raises(InputError):
            aggregator.add_query(Answering([(2, 1)], page), table="fleet", column="report")
    assert aggregator == SPEC.aggregator().add([1])


def test_huge_counts_are_exact() -> None:
    aggregator = SPEC.aggregator().add_query(Answering([(3, 2**61 + 1), (99, 5)]), table="fleet", column="report")
    assert aggregator.counts[3] == 2**61 + 1
    assert aggregator.refused == 5


def test_what_is_no_connection_is_refused() -> None:
    nothing: Any = object()
    with pytest.raises(ParameterError, match="connection"):
        SPEC.aggregator().add_query(nothing, table="fleet", column="report")


def test_many_groups_come_in_pages() -> None:
    spec = DirectResponse(epsilon=Fraction(20), categories=200_000)
    connection = duckdb.connect()
    connection.execute("CREATE TABLE fleet AS SELECT range % 150000 AS report FROM range(300000)")
    aggregator = spec.aggregator().add_query(connection, table="fleet", column="report")
    assert np.array_equal(aggregator.counts, np.repeat([2, 0], [150_000, 50_000]))


def test_a_table_has_up_to_three_names_each_quoted_by_itself() -> None:
    three = counting_sql(("lake", "Raw", "fleet"), "report")
    assert three == 'SELECT r.report AS report, COUNT(*) AS people FROM lake."Raw".fleet AS r GROUP BY r.report'
    connection = sqlite3.connect(":memory:")
    stored(connection, [1, 2, 2])
    assert SPEC.aggregator().add_query(connection, table=("main", "fleet"), column="report").people == 3
    connection.execute("CREATE VIEW some AS SELECT report FROM fleet WHERE report = 2")
    assert SPEC.aggregator().add_query(connection, table="some", column="report").people == 2
    connection.close()
