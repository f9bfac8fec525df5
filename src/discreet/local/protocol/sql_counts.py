"""Reports counted where they lie: one plain statement that every SQL engine understands, and its rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from discreet.errors import ParameterError

_PLAIN = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_ACTS = re.compile(r"\\|\$\{")
_LONGEST_NAME = 255
_ROWS = 1 << 16
# Words that some engine keeps for itself; as names they are written between quotes.
_KEPT = (
    "add all alter analyse analyze and anti any array as asc asof asymmetric at authorization autoincrement between "
    "binary both by call case cast check collate collation collations column commit concurrently constraint create "
    "cross current_catalog current_date current_path current_role current_schema current_time current_timestamp "
    "current_user database default deferrable delete desc describe distinct do drop else end escape except execute "
    "exists false fetch filter for foreign freeze from full function glob grant group having ilike in index initially "
    "inner insert intersect interval into is isnull join key lambda lateral leading left like limit localtime "
    "localtimestamp minus natural not nothing notnull null of offset on only or order outer over overlaps partition "
    "pivot pivot_longer pivot_wider placing positional primary qualify range recursive references returning right row "
    "rows select semi session_user set show similar some sql stream summarize symmetric system_user table tablesample "
    "then time to trailing transaction true union unique unknown unpack unpivot update user using values variadic "
    "verbose view when where window with within"
)
_RESERVED = frozenset(_KEPT.split())


def counting_sql(table: str | tuple[str, ...], column: str) -> str:
    """Return the statement that counts reports: the same text for DuckDB, PostgreSQL, Spark and SQLite.

    A table is a name, or a tuple (schema, name) or (catalog, schema, name), each quoted by itself. There is no place
    for a condition: make a view of the reports that are meant, and name the view.

    Lower-case names of letters, digits and underscores stand as they are; any other is put between double quotes, so
    that it can only be a name (Spark reads those as names when `spark.sql.ansi.doubleQuotedIdentifiers` is set, and
    refuses the statement otherwise). A backslash is refused, because some engines let it end the quotes, and so is a
    dollar before a brace: Spark puts a setting there before it reads the statement, quotes or not.

    >>> print(counting_sql("fleet", "report"))
    SELECT r.report AS report, COUNT(*) AS people FROM fleet AS r GROUP BY r.report
    >>> print(counting_sql(("raw", 'x"; DROP TABLE fleet; --'), "Report"))
    SELECT r."Report" AS report, COUNT(*) AS people FROM raw."x""; DROP TABLE fleet;
        --" AS r GROUP BY r."Report"
    """
    parts = table if isinstance(table, tuple) else (table,)
    if not 1 <= len(parts) <= 3:
        raise ParameterError("table must be a name, or a tuple of catalog, schema and name", parameter="table")
    source, name = ".".join(_name(part, "table") for part in parts), _name(column, "column")
    # the alias makes SQLite take a quoted name for a column, never for a text
    return f"SELECT r.{name} AS report, COUNT(*) AS people FROM {source} AS r GROUP BY r.{name}"  # noqa: S608  quoted


def counted_rows(connection: Any, statement: str) -> Iterator[tuple[list[Any], list[Any]]]:
    """Run the statement and yield its two columns, some rows at a time."""
    target = connection if hasattr(connection, "execute") else _cursor(connection)
    answer = target.execute(statement)
    source = answer if hasattr(answer, "fetchmany") else target  # a cursor may answer itself, nothing or a count
    while True:
        with _undecoded(source):
            fetched = source.fetchmany(_ROWS)
        if not fetched:
            return
        # a connection may be set to give each row as a dictionary, in the order of the columns
        rows = [tuple(row.values()) if isinstance(row, dict) else row for row in fetched]
        yield [row[0] for row in rows], [row[1] for row in rows]


@contextmanager
def _undecoded(source: Any) -> Iterator[None]:
    """Let SQLite hand over text as bytes: one text that is no UTF-8 would else cost all the other reports."""
    connection: Any = getattr(source, "connection", None)
    before = getattr(connection, "text_factory", bytes)
    if before is bytes:  # no SQLite, or another thread has set it and will set it back
        yield
        return
    connection.text_factory = bytes
    try:
        yield
    finally:
        connection.text_factory = before


def _cursor(connection: Any) -> Any:
    """Return a cursor of a connection that runs nothing itself."""
    if not hasattr(connection, "cursor"):
        raise ParameterError("connection must have Python's database interface, or be a cursor", parameter="connection")
    return connection.cursor()


def _name(name: object, parameter: str) -> str:
    """Return a name as SQL writes it."""
    if not isinstance(name, str) or not 1 <= len(name) <= _LONGEST_NAME or not name.isprintable() or _ACTS.search(name):
        words = f"{parameter} is a name of 1 to 255 printable characters without a backslash or ${{"
        raise ParameterError(words, parameter=parameter)
    if _PLAIN.fullmatch(name) and name not in _RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'
