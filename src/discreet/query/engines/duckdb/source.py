"""Opening the curator's data in DuckDB: a database file, a folder of Parquet or CSV files, or data frames.

Everything is opened for reading only, in a database in memory that can reach nothing but the source: external access
is switched off and the configuration locked before the first row is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from discreet._optional import optional
from discreet.errors import PolicyError
from discreet.query.csv_files import Copy, header_of
from discreet.query.engines.duckdb.files import csv_select, header_select, parquet_select
from discreet.query.engines.duckdb.text import quoted
from discreet.query.engines.duckdb.text import text as _text
from discreet.query.frames import FrameTable, columns_of_units, frame_table
from discreet.query.policy import Policy, SourceKind, table_files

PURPOSE = "a session over a DuckDB file, Parquet, CSV or data frames"
MADE = "memory.made"  # where the engine keeps what it makes; the tables of the source are elsewhere
_BY_BYTES = ("binary", "c", "posix")  # collations in which texts are equal where their bytes are


@dataclass(frozen=True, slots=True)
class Stored:
    """A table as DuckDB stores it: its name, and its columns with DuckDB's names of their types.

    The name is written with database and schema, so that no subquery of a statement can be meant by it. `ids` names,
    for a column of units, the one that tells them apart, where the column itself cannot. `collations` has the columns
    in which texts that differ may be equal, by what they were declared with.
    """

    name: str
    columns: Mapping[str, str]
    ids: Mapping[str, str] = field(default_factory=dict)
    collations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Resources:
    """What changes speed and nothing else: threads, the memory limit in bytes, where larger work is spilled."""

    threads: int | None = None
    memory: int | None = None
    folder: Path | None = None


def connect(resources: Resources) -> Any:
    """Return a connection to an empty database in memory that installs and loads nothing by itself."""
    duckdb = optional("duckdb", extra="sql", purpose=PURPOSE)
    settings: dict[str, Any] = {
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "python_enable_replacements": False,
        "preserve_insertion_order": False,
    }
    if resources.threads is not None:
        settings["threads"] = resources.threads
    if resources.memory is not None:
        settings["memory_limit"] = f"{resources.memory}B"
    if resources.folder is not None:
        settings["temp_directory"] = str(resources.folder)
    return duckdb.connect(":memory:", config=settings)


def open_tables(
    connection: Any, policy: Policy, frames: Mapping[str, Any] | None, copies: Mapping[str, Copy] | None
) -> dict[str, Stored]:
    """Make the tables that the policy names readable, then shut every other door; tables that are absent are left out.

    No row is read: a database tells its columns, a Parquet file has them in its footer, a CSV file in its first line.
    CSV tables have the rows of their `copies`; without any they have columns and no row.
    """
    kind, path = policy.source.kind, policy.source.path
    wanted = [*policy.tables, *policy.public]
    reached = [] if path is None else [path]
    _told_apart(wanted)
    connection.execute(f"CREATE SCHEMA {MADE}")
    if kind is SourceKind.FRAMES:
        tables = {
            name: _frame(connection, policy, name, frame) for name, frame in (frames or {}).items() if name in wanted
        }
    elif path is None or not path.exists():
        raise PolicyError([(None, "the source does not exist; check its path and how it is spelled")])
    elif kind is SourceKind.DUCKDB:
        tables = _database(connection, path, wanted)
    elif kind is SourceKind.CSV:
        selects = dict(_csv_selects(policy, path, wanted, copies))
        tables = {name: _viewed(connection, name, select) for name, select in selects.items()}
        reached = [copy.path for copy in (copies or {}).values()]
    else:
        found = dict(table_files(path, kind, wanted))
        tables = {name: _parquet(connection, policy, name, files) for name, files in found.items()}
        reached = [file for files in found.values() for file in files]
    _lock(connection, reached)
    return tables


def _told_apart(names: list[str]) -> None:
    """Refuse names that are one to DuckDB."""
    folded: dict[str, str] = {}
    for name in names:
        if name.casefold() in folded:
            words = f"the tables {folded[name.casefold()]!r} and {name!r} differ in capitals alone or not at all"
            raise PolicyError([(None, f"{words}; rename one of them")])
        folded[name.casefold()] = name


def _lock(connection: Any, files: Iterable[Path]) -> None:
    """Limit what the connection can reach to the files of the source, for good."""
    listed = ", ".join(_text(str(file.resolve())) for file in files)
    if listed:
        connection.execute(f"SET allowed_paths = [{listed}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _database(connection: Any, path: Path, wanted: list[str]) -> dict[str, Stored]:
    """Attach a database file, read-only."""
    connection.execute(f"ATTACH {_text(str(path.resolve()))} AS source (READ_ONLY)")
    listed = connection.execute(
        "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = 'source'"
    ).fetchall()
    found = {f"{schema}.{name}": (schema, name) for schema, name in listed}
    found |= {name: (schema, name) for schema, name in listed if schema == "main"}
    return {
        name: _collated(connection, _described(connection, f"source.{quoted(schema)}.{quoted(table)}"))
        for name, (schema, table) in ((name, found[name]) for name in wanted if name in found)
    }


def _csv_selects(
    policy: Policy, path: Path, wanted: list[str], copies: Mapping[str, Copy] | None
) -> Iterator[tuple[str, str]]:
    """Yield every CSV table with the SELECT that its view is made of."""
    for name, files in table_files(path, SourceKind.CSV, wanted):
        if copies is None:
            yield name, header_select(header_of(name, files, policy.source.csv))
        elif name in copies:
            declared = (policy.tables.get(name) or policy.public[name]).columns
            numeric = {column.casefold() for column, stated in declared.items() if stated.type.numeric}
            yield name, csv_select(copies[name], numeric=numeric, decimal=policy.source.csv.decimal)


def _parquet(connection: Any, policy: Policy, name: str, files: list[Path]) -> Stored:
    """Make a view over Parquet files."""
    footers = {
        file: _described(connection, f"read_parquet({_text(str(file))}, hive_partitioning = false)").columns
        for file in files
    }
    columns = (policy.tables.get(name) or policy.public[name]).columns
    public, units = name not in policy.tables, columns_of_units(policy, name)
    return _viewed(connection, name, parquet_select(name, footers, public=public, columns=columns, units=units))


def _viewed(connection: Any, name: str, select: str) -> Stored:
    view = f"memory.main.{quoted(name)}"
    connection.execute(f"CREATE VIEW {view} AS {select}")
    return _described(connection, view)


def _frame(connection: Any, policy: Policy, name: str, frame: Any) -> Stored:
    """Register a data frame, as Arrow, with the types that the policy declares and those of kinds of columns."""
    known = frame if isinstance(frame, FrameTable) else _typed_frame(policy, name, frame)
    connection.register(name, known.table)
    stored = _described(connection, f"temp.main.{quoted(name)}")
    hidden = set(known.ids.values())
    return Stored(stored.name, {one: kind for one, kind in stored.columns.items() if one not in hidden}, known.ids)


def _typed_frame(policy: Policy, name: str, frame: Any) -> FrameTable:
    """Return a frame with the types that a policy states."""
    columns = policy.tables[name].columns if name in policy.tables else policy.public[name].columns
    return frame_table(
        name,
        frame,
        declared={one: column.type for one, column in columns.items()},
        units=columns_of_units(policy, name),
    )


def _described(connection: Any, name: str) -> Stored:
    """Return a table with the columns that DuckDB binds for it; no row is read."""
    described = connection.execute(f"DESCRIBE SELECT * FROM {name}").fetchall()
    return Stored(name, {row[0]: row[1] for row in described})


def _collated(connection: Any, stored: Stored) -> Stored:
    """Return a table of a database, or a view, with the collations of its texts; no row is read.

    DuckDB leaves them out wherever it lists columns and types. It writes them into the statement that would make a
    table anew, so an empty one is made of these columns. What cannot be understood there counts as a collation.
    """
    texts = [name for name, kind in stored.columns.items() if kind.strip().upper() == "VARCHAR"]
    if not texts:
        return stored
    items = ", ".join(f"{quoted(name)} AS c{place}" for place, name in enumerate(texts))
    connection.execute(f"CREATE TABLE {MADE}.texts AS SELECT {items} FROM {stored.name} WITH NO DATA")
    told = connection.execute(
        "SELECT sql FROM duckdb_tables() WHERE (database_name, schema_name, table_name) = ('memory', 'made', 'texts')"
    ).fetchall()[0][0]
    connection.execute(f"DROP TABLE {MADE}.texts")
    parts = dict(re.findall(r"\bc([0-9]+) VARCHAR([^,()]*)", told))
    ends = {name: parts.get(str(place), "unknown") for place, name in enumerate(texts)}
    names = {name: end.lower().replace("collate ", "", 1).strip(' "') for name, end in ends.items()}
    return replace(stored, collations={name: one for name, one in names.items() if one and one not in _BY_BYTES})
