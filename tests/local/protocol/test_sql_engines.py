"""One statement on every engine: each counts, and refuses, what Python's aggregator counts and refuses.

SQLite and DuckDB are always there. PostgreSQL and Spark belong to the soak: `POSTGRES="host=/run/postgresql user=me"`
names a server, in which only temporary tables are made, and Spark runs inside the test.
"""

from __future__ import annotations

import os
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import duckdb
import pytest

from discreet.data.invention import coins
from discreet.local import DirectResponse, HashedGeometry, HybridGeometry, Spec, UnitVectors
from tests.local.claims.protocols import CHOSEN, MEANS, SMALL

SPEC = DirectResponse(epsilon=Fraction(1), categories=50)
SPECS: dict[str, Spec] = {
    **{name: make(Fraction(1)) for name, make in {**SMALL, **CHOSEN}.items()},
    **{name: make(Fraction(1)) for name, (make, _) in MEANS.items()},
    "millions of values": HybridGeometry.best(epsilon=5, categories=3_300_000),
    "text keys": HashedGeometry.best(epsilon=1, people=100_000, keys="text:24", seed=7),
    "vectors": UnitVectors(epsilon=Fraction(4), dimension=8),
}
# how a column is read in Python, and what a hostile client may have put there, as text that the engine casts
COLUMNS: dict[str, tuple[Callable[[str], Any], list[str]]] = {
    "INTEGER": (int, ["-1", "-2147483648"]),
    "BIGINT": (int, ["-1", "-9223372036854775808", "9223372036854775807"]),
    "DECIMAL(38, 0)": (Decimal, ["-1", "18446744073709551616", "9" * 37]),
    "DECIMAL(20, 4)": (Decimal, ["-1", "0.5", "1.0000", "0.0001"]),
    "DOUBLE": (float, ["-1", "0.5", "1e308", "5e-324", "-0.0", "1.0"]),
    "TEXT": (str, ["-1", "x", "", " 1", "1.0", "\u0663", "1; DROP TABLE fleet", "1' OR '1'='1"]),
}
NO_NUMBERS = ["NaN", "Infinity", "-Infinity"]
NAMES = [
    'x"; DROP TABLE fleet; --',
    '"',
    '""',
    "'",
    "a b",
    "Browsers",
    "select",
    "x; DELETE FROM fleet",
    "ünï",
    "r.report",
    "report) FROM fleet --",
    "`x`",
    "[x]",
    "/*",
    "%s",
    "%(x)s",
    "?",
    ":name",
    "$1",
    "r",
    "people",
]


class Engine(ABC):
    """An engine that stores made-up reports and counts them by our statement."""

    failure: type[Exception]
    types: dict[str, str]
    no_numbers: tuple[str, ...]

    def store(self, kind: str, texts: list[str | None], table: str = "fleet", column: str = "report") -> None:
        """Make a table of one column in place of the last one of this name."""
        name = self.types.get(kind, kind)
        values = ["NULL" if text is None else "'" + text.replace("'", "''") + "'" for text in texts]
        self.make(self.quoted(table), self.quoted(column), [f"CAST({value} AS {name})" for value in values], name)

    @abstractmethod
    def make(self, table: str, column: str, values: list[str], kind: str) -> None:
        """Make the table."""

    @abstractmethod
    def count(self, spec: Spec, table: str = "fleet", column: str = "report") -> Any:
        """Return an aggregator of what the engine counted."""

    def quoted(self, name: str) -> str:
        """Write a name as this engine does, whatever our statement does."""
        return '"' + name.replace('"', '""') + '"'

    @abstractmethod
    def words(self) -> list[str]:
        """Return the words that the engine's grammar knows."""


class Database(Engine):
    """An engine with Python's database interface."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    def make(self, table: str, column: str, values: list[str], kind: str) -> None:
        rows = ", ".join(f"({value})" for value in values)
        self.connection.execute(f"DROP TABLE IF EXISTS {table}")
        self.connection.execute(f"CREATE TEMPORARY TABLE {table} ({column} {kind})")
        self.connection.execute(f"INSERT INTO {table} VALUES {rows}")  # noqa: S608  quoted above

    def count(self, spec: Spec, table: str = "fleet", column: str = "report") -> Any:
        return spec.aggregator().add_query(self.connection, table=table, column=column)


class SQLite(Database):
    failure, types, no_numbers = sqlite3.Error, {}, ()

    def words(self) -> list[str]:
        own = ("abort", "attach", "autoincrement", "commit", "glob", "nothing", "regexp", "transaction", "virtual")
        return [*own, *DuckDB(duckdb).words()]


class DuckDB(Database):
    failure, types, no_numbers = duckdb.Error, {}, ("DOUBLE",)

    def words(self) -> list[str]:
        return [word for (word,) in self.connection.execute("SELECT keyword_name FROM duckdb_keywords()").fetchall()]


class PostgreSQL(Database):
    types, no_numbers = {"DOUBLE": "DOUBLE PRECISION", "DECIMAL(38, 0)": "NUMERIC"}, ("DOUBLE", "DECIMAL(38, 0)")

    def words(self) -> list[str]:
        return [word for (word,) in self.connection.execute("SELECT word FROM pg_get_keywords()").fetchall()]


class Spark(Engine):
    types, no_numbers = {"TEXT": "STRING"}, ("DOUBLE",)

    def __init__(self, session: Any) -> None:
        self.session = session

    def quoted(self, name: str) -> str:
        return "`" + name.replace("`", "``") + "`"

    def make(self, table: str, column: str, values: list[str], kind: str) -> None:  # noqa: ARG002  each value is cast
        rows = ", ".join(f"({value})" for value in values)
        select = f"SELECT * FROM VALUES {rows} AS made({column})"  # noqa: S608  quoted above
        self.session.sql(f"CREATE OR REPLACE TEMPORARY VIEW {table} AS {select}")

    def count(self, spec: Spec, table: str = "fleet", column: str = "report") -> Any:
        rows = self.session.sql(spec.counting_sql(table, column)).collect()
        return spec.aggregator().add_counts([row.report for row in rows], [row.people for row in rows])

    def words(self) -> list[str]:
        return [row.keyword.lower() for row in self.session.sql("SELECT keyword FROM sql_keywords()").collect()]


def postgresql() -> Iterator[Engine]:
    server = os.environ.get("POSTGRES")
    if not server:
        pytest.skip("postgres: no server is named by POSTGRES")
    psycopg = pytest.importorskip("psycopg", reason="postgres: no module psycopg")
    PostgreSQL.failure = psycopg.Error
    # a prepared statement would not see that a table was made again with another type
    with psycopg.connect(server, autocommit=True, prepare_threshold=None) as connection:
        yield PostgreSQL(connection)


def spark() -> Iterator[Engine]:
    sql, errors = pytest.importorskip("pyspark.sql"), pytest.importorskip("pyspark.errors")
    Spark.failure = errors.PySparkException
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.ansi.doubleQuotedIdentifiers": "true",
        "spark.sql.ansi.enforceReservedKeywords": "true",
    }
    session = sql.SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    try:
        yield Spark(session)
    finally:
        session.stop()


def sqlite() -> Iterator[Engine]:
    connection = sqlite3.connect(":memory:")
    yield SQLite(connection)
    connection.close()


def duck() -> Iterator[Engine]:
    with duckdb.connect() as connection:
        yield DuckDB(connection)


@pytest.fixture(scope="module", params=[sqlite, duck])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    yield from request.param()


def check_column(engine: Engine, name: str, kind: str) -> None:
    """Count good and hostile reports of one protocol in a column of one type, inside and outside."""
    spec, (read, hostile) = SPECS[name], COLUMNS[kind]
    largest = (1 << 31) - 1 if kind == "INTEGER" else spec.cells
    cells = min(spec.cells, largest)
    good = [0, 1, cells - 1, *coins(1).integers(0, cells, 60).tolist()]
    beyond = [spec.cells] if spec.cells <= largest else []
    odd = [*hostile, *(NO_NUMBERS if kind in engine.no_numbers else []), None, None]
    column = [*map(str, [*good, *beyond]), *odd]
    engine.store(kind, column)
    inside = engine.count(spec)
    outside = spec.aggregator().add([None if text is None else read(text) for text in column])
    assert inside.to_bytes() == outside.to_bytes(), (name, kind)
    taken = {"TEXT": 0, "DECIMAL(20, 4)": len(good) + 1, "DOUBLE": len(good) + 2}.get(kind, len(good))
    assert (inside.people, inside.refused) == (taken, len(column) - taken), (name, kind)


def check_name(engine: Engine, name: str) -> None:
    """Ask for a table and a column of this name, when they are not there and when they are."""
    engine.store("BIGINT", ["5"])
    for table, column in ((name, "report"), ("fleet", name)):
        with pytest.raises(engine.failure):
            engine.count(SPEC, table, column)
    engine.store("BIGINT", ["1", "2", "2"], table=name, column=name + "c")
    assert engine.count(SPEC, name, name + "c").counts[:3].tolist() == [0, 1, 2], name
    assert engine.count(SPEC).counts[5] == 1, "nothing was dropped"


def check_words(engine: Engine) -> None:
    """Take every word of the engine's grammar for a name."""
    words = engine.words()
    assert len(words) > 100
    for word in words:
        engine.store("BIGINT", ["3"], table=word, column=word)
        assert engine.count(SPEC, word, word).counts[3] == 1, word


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("name", SPECS)
def test_the_engine_counts_what_python_counts(engine: Engine, name: str, kind: str) -> None:
    check_column(engine, name, kind)


@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_name_is_a_name(engine: Engine, name: str) -> None:
    check_name(engine, name)


def test_every_word_that_the_engine_keeps_for_itself_can_be_a_name(engine: Engine) -> None:
    check_words(engine)


SERVERS = [postgresql, pytest.param(spark, marks=[pytest.mark.needs("spark"), pytest.mark.filterwarnings("ignore")])]


@pytest.mark.soak
@pytest.mark.parametrize("start", SERVERS)
def test_a_larger_engine_keeps_all_of_it(start: Callable[[], Iterator[Engine]]) -> None:
    with contextmanager(start)() as engine:
        for name, kind in product(SPECS, COLUMNS):
            check_column(engine, name, kind)
        for name in NAMES:
            check_name(engine, name)
        check_words(engine)
