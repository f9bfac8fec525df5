"""Names, constants, stored columns and grid positions in DuckDB: nothing breaks out, nothing raises."""

# ruff: noqa: S311, S608 - a seed makes the same numbers every time; the statements are what is being tested
from __future__ import annotations

import math
import random
from datetime import date, datetime
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pytest

from discreet.errors import UnsupportedSQL
from discreet.frames import Type
from discreet.query.engines.duckdb.text import constant, position, quoted, scanned, type_of
from discreet.statistics.columns.fixed_point import FixedPoint
from tests.query import oracle
from tests.query.expressions import INTEGERS, REALS, TEXTS

HOSTILE = [
    "'; DROP TABLE t; --",
    '"; DROP TABLE t; --',
    "\\'; SELECT 1; --",
    "$$ || (SELECT 1) || $$",
    "E'\\x27'",
    "a''b\"\"c",
    "'' OR 1=1 --",
    "/* x */ -- \n ; COPY t TO 'f'",
    "?",
    "$1",
    "{{x}}",
    "%s %d",
    "\u2019\uff07\u02bc",
    "\\",
    "\\\\'",
    "U&'\\0027'",
    "日本'語\"",
    "\r\n\t\x01",
]


CONNECTION = duckdb.connect()


def fetch(text: str) -> Any:
    (row,) = CONNECTION.execute(f"SELECT {text}").fetchall()
    return row[0]


@pytest.mark.parametrize("text", [*HOSTILE, *(text for text in TEXTS if "\0" not in text)])
def test_a_text_constant_comes_back_as_it_was(text: str) -> None:
    assert fetch(constant(text, Type.TEXT)) == text


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_a_name_and_nothing_else(name: str) -> None:
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE {quoted(name)} ({quoted(name)} INTEGER)")
    connection.execute(f"INSERT INTO {quoted(name)} VALUES (5)")
    assert connection.execute(f"SELECT {quoted(name)} FROM {quoted(name)}").fetchall() == [(5,)]
    assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [(name,)]


@pytest.mark.parametrize("text", ["a\0b", "\0", "\udc00"])
def test_what_no_statement_can_hold_is_refused(text: str) -> None:
    with pytest.raises(UnsupportedSQL):
        quoted(text)
    with pytest.raises(UnsupportedSQL):
        constant(text, Type.TEXT)


def test_every_number_and_date_is_written_exactly() -> None:
    source = random.Random(1)
    reals = [source.uniform(-1, 1) * 2.0 ** source.randint(-1070, 1020) for _ in range(500)]
    for value in [*reals, *(real for real in REALS if math.isfinite(real))]:
        got = fetch(constant(value, Type.REAL))
        assert (got, math.copysign(1, got)) == (value, math.copysign(1, value))
    for whole in INTEGERS:
        assert fetch(constant(whole, Type.INTEGER)) == whole
        assert fetch(f"typeof({constant(whole, Type.INTEGER)})") == "BIGINT"
    for day in (date(1, 1, 1), date(9999, 12, 31)):
        assert fetch(constant(day, Type.DATE)) == day
    for moment in (datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999)):
        assert fetch(constant(moment, Type.TIMESTAMP)) == moment
    assert [fetch(constant(truth, Type.BOOLEAN)) for truth in (True, False, None)] == [True, False, None]


@pytest.mark.parametrize("kind", list(Type))
def test_null_has_the_type_it_is_given(kind: Type) -> None:
    declared = fetch(f"typeof({constant(None, kind)})")
    assert type_of(declared) is kind
    assert fetch(constant(None, kind)) is None


STORED = [
    *((kind, "100", 100) for kind in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")),
    ("UBIGINT", "18446744073709551615", None),
    ("UBIGINT", "7", 7),
    ("HUGEINT", "-9223372036854775808", -(2**63)),
    ("HUGEINT", "-9223372036854775809", None),
    ("UHUGEINT", "340282366920938463463374607431768211455", None),
    ("FLOAT", "0.1", float(np.float32(0.1))),
    ("FLOAT", "nan", None),
    ("DOUBLE", "nan", None),
    ("DOUBLE", "-nan", None),
    ("DOUBLE", "-inf", -math.inf),
    ("DECIMAL(18,3)", "1.125", 1.125),
    ("DECIMAL(38,10)", "-0.5", -0.5),
    ("VARCHAR", "a", "a"),
    ("UUID", "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000001"),
    ("ENUM('a', 'b(c)')", "b(c)", "b(c)"),
    ("BOOLEAN", "true", True),
    *(("DATE", bad, None) for bad in ("infinity", "-infinity", "0044-03-15 (BC)", "10000-01-01")),
    ("DATE", "9999-12-31", date(9999, 12, 31)),
    *(
        (kind, "2020-01-02 03:04:05", datetime(2020, 1, 2, 3, 4, 5))
        for kind in ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")
    ),
    *((kind, "infinity", None) for kind in ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")),
    *((kind, "12000-01-01 00:00:00", None) for kind in ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS")),
    ("TIMESTAMP WITH TIME ZONE", "2020-01-01 01:00:00+02", datetime(2019, 12, 31, 23)),
    ("TIMESTAMP WITH TIME ZONE", "infinity", None),
    ("TIMESTAMP WITH TIME ZONE", "-infinity", None),
    ("TIMESTAMP WITH TIME ZONE", "12000-01-01 00:00:00+00", None),
]


@pytest.mark.parametrize(("declared", "text", "value"), STORED)
def test_a_stored_value_is_read_as_one_of_our_types(declared: str, text: str, value: Any) -> None:
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t (c {declared})")
    connection.execute("INSERT INTO t VALUES (?), (NULL)", [text])
    ((name,),) = connection.execute("SELECT column_type FROM (DESCRIBE t)").fetchall()
    kind = type_of(name)
    assert kind is not None
    reading = scanned('"c"', name, kind)
    assert connection.execute(f"SELECT {reading} FROM t").fetchall() == [(value,), (None,)]
    ((read,),) = connection.execute(f"SELECT DISTINCT typeof({reading}) FROM t").fetchall()
    assert read == {Type.INTEGER: "BIGINT", Type.REAL: "DOUBLE", Type.TEXT: "VARCHAR"}.get(kind, kind.name)


@pytest.mark.parametrize(
    "declared", ["INTEGER[]", "STRUCT(a INTEGER)", "BLOB", "INTERVAL", "TIME", "MAP(INTEGER, DATE)", "X"]
)
def test_a_type_that_is_not_a_single_value_has_none_of_ours(declared: str) -> None:
    assert type_of(declared) is None


def test_a_declared_collation_does_not_change_what_is_equal() -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (c VARCHAR COLLATE NOCASE)")
    connection.execute("INSERT INTO t VALUES ('a'), ('A'), ('b')")
    read = f"(SELECT {scanned('c', 'VARCHAR', Type.TEXT)} AS c FROM t)"
    assert connection.execute(f"SELECT count(*) FROM {read} WHERE c = 'a'").fetchall() == [(1,)]
    assert connection.execute(f"SELECT count(*) FROM (SELECT c FROM {read} GROUP BY c)").fetchall() == [(3,)]
    assert connection.execute(f"SELECT count(*) FROM {read} WHERE c < 'a'").fetchall() == [(1,)]


GRIDS = [
    FixedPoint.between((0, 200)),
    FixedPoint.between((-3, 5), grid=1),
    FixedPoint.between((-0.3, 0.7)),
    FixedPoint.between((0, 1), grid=Fraction(1, 4)),
    FixedPoint.between((-(2**62), 2**62)),
    FixedPoint.between((1e-290, 3e-290)),
    FixedPoint.between((10**6, 10**6 + 1)),
    FixedPoint.between((-1e300, 1e305)),
]


@pytest.mark.parametrize("scale", GRIDS, ids=[f"{float(scale.grid):.3g}" for scale in GRIDS])
def test_a_position_is_the_integer_of_the_oracle_and_of_the_columns_in_memory(scale: FixedPoint) -> None:
    source = random.Random(7)
    steps = [source.randint(-2, scale.steps + 2) for _ in range(300)]
    halves = [float((scale.start + step + Fraction(1, 2)) * scale.grid) for step in steps]
    near = [math.nextafter(half, source.choice([-math.inf, math.inf])) for half in halves]
    inside = [float(scale.value(source.randint(0, 10**9) * Fraction(scale.steps, 10**9))) for _ in range(300)]
    values = [*(value for value in REALS if not math.isnan(value)), *halves, *near, *inside, None]
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (row BIGINT, x DOUBLE)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(values)))
    statement = f"SELECT {position('x', scale, Type.REAL)} FROM t ORDER BY row"
    got = [answer for (answer,) in connection.execute(statement).fetchall()]
    assert got == [oracle.position(value, scale) for value in values]
    assert got[:-1] == [int(step) for step in scale.positions(np.array(values[:-1], dtype=np.float64))]
    assert all(step is None or 0 <= step <= scale.steps for step in got)


def test_whole_numbers_take_the_position_of_the_nearest_float() -> None:
    scale = FixedPoint.between((-(2**62), 2**62))
    for value in [*INTEGERS, None]:
        got = fetch(position(constant(value, Type.INTEGER), scale, Type.INTEGER))
        assert got == oracle.position(value, scale)
