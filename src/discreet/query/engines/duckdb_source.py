"""Opening the curator's data in DuckDB: a database file, a folder of Parquet or CSV files, or data frames.

Everything is opened for reading only, in a database in memory that can reach nothing but the source: external access
is switched off and the configuration locked before the first row is read.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet._optional import optional
from discreet.errors import InputError, PolicyError
from discreet.query.engines.duckdb_expressions import quoted, type_of
from discreet.query.policy import Policy, SourceKind

PURPOSE = "a session over a DuckDB file, Parquet, CSV or data frames"
_SUFFIXES = {SourceKind.PARQUET: (".parquet", ".pq"), SourceKind.CSV: (".csv", ".csv.gz")}


@dataclass(frozen=True, slots=True)
class Stored:
    """A table as DuckDB stores it: the text that names it, and its columns with DuckDB's names of their types."""

    name: str
    columns: Mapping[str, str]


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


def open_tables(connection: Any, policy: Policy, frames: Mapping[str, Any] | None) -> dict[str, Stored]:
    """Make the tables that the policy names readable, then shut every other door; tables that are absent are left out.

    No row is read: a database tells its columns, a Parquet file has them in its footer, a CSV file in its first line.
    """
    kind, path = policy.source.kind, policy.source.path
    wanted = [*policy.tables, *policy.public]
    if kind is SourceKind.FRAMES:
        tables = {name: _frame(connection, name, (frames or {})[name]) for name in wanted if name in (frames or {})}
    elif path is None or not path.exists():
        raise PolicyError([(None, "the source does not exist; check its path and how it is spelled")])
    elif kind is SourceKind.DUCKDB:
        tables = _database(connection, path, wanted)
    else:
        tables = {name: _files(connection, kind, name, files) for name, files in _folder(path, kind, wanted)}
    _lock(connection, path)
    return tables


def _lock(connection: Any, path: Path | None) -> None:
    """Limit what the connection can reach to the source, for good."""
    if path is not None and path.is_dir():
        connection.execute(f"SET allowed_directories = [{_text(str(path.resolve()) + '/')}]")
    elif path is not None:
        connection.execute(f"SET allowed_paths = [{_text(str(path.resolve()))}]")
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
        name: _described(connection, f"source.{quoted(found[name][0])}.{quoted(found[name][1])}")
        for name in wanted
        if name in found
    }


def _folder(path: Path, kind: SourceKind, wanted: list[str]) -> Iterator[tuple[str, list[Path]]]:
    """Yield every table that is wanted and there, with its files: NAME.parquet, or those of a folder NAME."""
    for name in wanted:
        if Path(name).name != name:
            continue
        files = [path / (name + suffix) for suffix in _SUFFIXES[kind] if (path / (name + suffix)).is_file()]
        if not files and (path / name).is_dir():
            files = sorted(file for file in (path / name).iterdir() if file.name.endswith(_SUFFIXES[kind]))
        if files:
            yield name, [file.resolve() for file in files]


def _files(connection: Any, kind: SourceKind, name: str, files: list[Path]) -> Stored:
    """Make a view over files."""
    names = "[" + ", ".join(_text(str(file)) for file in files) + "]"
    if kind is SourceKind.PARQUET:
        read = f"read_parquet({names}, hive_partitioning = false)"
    else:
        header = _header(name, files[0])
        columns = ", ".join(f"{_text(column)}: 'VARCHAR'" for column in header)
        # No line can raise: one too short is filled with NULLs, one that cannot be read is left out. One thread, since
        # several do not agree on quoted line ends.
        read = (
            f"read_csv({names}, columns = {{{columns}}}, auto_detect = false, header = true, delim = ',', "
            "quote = '\"', escape = '\"', strict_mode = false, null_padding = true, ignore_errors = true, "
            "allow_quoted_nulls = false, parallel = false)"
        )
    connection.execute(f"CREATE VIEW {quoted(name)} AS SELECT * FROM {read}")
    return _described(connection, quoted(name))


def _header(name: str, file: Path) -> list[str]:
    """Return the column names in the first line of a CSV file."""
    if file.name.endswith(".gz"):
        import gzip

        with gzip.open(file, "rt", encoding="utf-8-sig", errors="replace", newline="") as lines:
            header = next(csv.reader(lines), [])
    else:
        with file.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
            header = next(csv.reader(lines), [])
    if not header or len({column.lower() for column in header}) < len(header) or not all(header):
        raise PolicyError([(None, f"the first line of the CSV file of {name!r} must name every column, each once")])
    return header


def _frame(connection: Any, name: str, frame: Any) -> Stored:
    """Register a data frame, as Arrow, without copying what Arrow can share."""
    connection.register(name, _arrow(name, frame))
    stored = _described(connection, quoted(name))
    strange = [column for column, stated in stored.columns.items() if type_of(stated) is None]
    if strange:
        raise InputError(
            f"column {strange[0]!r} of the frame {name!r} has a type that cannot be queried; cast it to boolean, "
            "integer, real, text, date or timestamp, or leave it out"
        )
    return stored


def _arrow(name: str, frame: Any) -> Any:
    """Return a pandas, Polars or Arrow table as an Arrow table."""
    pyarrow = optional("pyarrow", extra="frames", purpose="a session over data frames")
    if isinstance(frame, pyarrow.Table):
        return frame
    if isinstance(frame, pyarrow.RecordBatch):
        return pyarrow.Table.from_batches([frame])
    library = type(frame).__module__.partition(".")[0]
    if type(frame).__name__ != "DataFrame" or library not in ("pandas", "polars"):
        raise InputError(f"the frame {name!r} must be a pandas or Polars DataFrame or an Arrow table")
    if library == "polars":
        return frame.to_arrow()
    columns: dict[str, Any] = {}
    for label in frame.columns:
        column = _pandas_column(pyarrow, frame, label)
        if column is None:
            raise InputError(
                f"column {label!r} of the frame {name!r} mixes types; convert it to one type, such as with astype(str)"
            )
        columns[str(label)] = column
    return pyarrow.table(columns)


def _pandas_column(pyarrow: Any, frame: Any, label: Any) -> Any:
    """Return one column as Arrow, NaN as NULL, or None where its values have no common type."""
    try:
        return pyarrow.Array.from_pandas(frame[label])
    except (pyarrow.ArrowException, TypeError, ValueError, OverflowError):
        return None  # the message of Arrow would show a value


def _described(connection: Any, name: str) -> Stored:
    """Return a table with the columns that DuckDB binds for it; no row is read."""
    described = connection.execute(f"DESCRIBE SELECT * FROM {name}").fetchall()
    return Stored(name, {row[0]: row[1] for row in described})


def _text(value: str) -> str:
    """Return a text constant."""
    return "'" + value.replace("'", "''") + "'"
