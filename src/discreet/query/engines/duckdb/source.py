"""Opening the curator's data in DuckDB: a database file, a folder of Parquet or CSV files, or data frames.

Everything is opened for reading only, in a database in memory that can reach nothing but the source: external access
is switched off and the configuration locked before the first row is read. A CSV table is a view of texts over the copy
that was made record by record. A Parquet table is one view over its files, in which a declared type wins over the
stored one.

The types of a Parquet file are public, as a schema is. But pandas takes them from values: one empty cell makes DOUBLE
of BIGINT, one word makes texts of numbers, and a column without any value has no type at all. So a column with a
declared `type` is read as that type from whichever of these a file has; what does not fit is NULL, and no cast raises.

| declared | stored |
|---|---|
| integer | integers; floats, decimal numbers and texts, where they are whole: floats and decimals below 2^53 in size |
| real | all numbers, and texts |
| boolean, date, timestamp | texts |
| any | its own type in any width; no type, which is nothing but NULL |

Columns that tell units apart are read as they are stored: a cast could merge two people. Only integers of up to 64 bits
and columns of NULL, which lose nothing, are brought to one type.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from discreet._optional import optional
from discreet.errors import PolicyError
from discreet.query.csv_files import Copy, header_of, stored_name
from discreet.query.engines.duckdb.text import NAMES, NARROW, quoted, text, type_of
from discreet.query.expression import Type
from discreet.query.frame_table import FrameTable, columns_of_units, frame_table
from discreet.query.policy import ColumnPolicy, Policy, SourceKind, header, key_in_toml, table_files

PURPOSE = "a session over a DuckDB file, Parquet, CSV or data frames"
MADE = "memory.made"  # where the engine keeps what it makes; the tables of the source are elsewhere
_BY_BYTES = ("binary", "c", "posix")  # collations in which texts are equal where their bytes are
NO_TYPE = '"NULL"'  # DuckDB's name of the type of a column that holds nothing
_OFFSET = r".*:[0-9]{2}.*(?:[zZ]|[+-][0-9]{2}(?::?[0-9]{2})?)\s*"
_SAFE = 2**53 - 1  # the largest whole number that a float never stands for in place of another
Footers = Mapping[Path, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class StoredTable:
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
        # what was freed goes back at once, since rows that were handed over need the room
        "allocator_flush_threshold": "1MB",
        "allocator_bulk_deallocation_flush_threshold": "1MB",
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
    connection = duckdb.connect(":memory:", config=settings)
    # it would tell on standard output how far a query has come with private rows
    connection.execute("SET enable_progress_bar = false")
    return connection


def open_tables(
    connection: Any, policy: Policy, frames: Mapping[str, Any] | None, copies: Mapping[str, Copy] | None
) -> tuple[dict[str, StoredTable], list[Path]]:
    """Make the tables that the policy names readable, and name their files; tables that are absent are left out.

    No row is read: a database tells its columns, a Parquet file has them in its footer, a CSV file in its first line.
    CSV tables have the rows of their `copies`; without any they have columns and no row.
    """
    kind, path = policy.source.kind, policy.source.path
    wanted = [*policy.tables, *policy.public]
    reached = [] if path is None else [path]
    _told_apart(wanted)
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {MADE}")
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
    return tables, reached


def _told_apart(names: list[str]) -> None:
    """Refuse names that are one to DuckDB."""
    folded: dict[str, str] = {}
    for name in names:
        if name.casefold() in folded:
            words = f"the tables {folded[name.casefold()]!r} and {name!r} differ in capitals alone or not at all"
            raise PolicyError([(None, f"{words}; rename one of them")])
        folded[name.casefold()] = name


def lock(connection: Any, files: Iterable[Path]) -> None:
    """Shut every door but those to the files of the source, for good."""
    listed = ", ".join(text(str(file.resolve())) for file in files)
    if listed:
        connection.execute(f"SET allowed_paths = [{listed}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _database(connection: Any, path: Path, wanted: list[str]) -> dict[str, StoredTable]:
    """Attach a database file, read-only."""
    connection.execute(f"ATTACH {text(str(path.resolve()))} AS source (READ_ONLY)")
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
            declared = _declared_columns(policy, name)
            numeric = {column.casefold() for column, stated in declared.items() if stated.type.numeric}
            yield name, csv_select(copies[name], numeric=numeric, decimal=policy.source.csv.decimal)


def _parquet(connection: Any, policy: Policy, name: str, files: list[Path]) -> StoredTable:
    """Make a view over Parquet files."""
    footers = {
        file: _described(connection, f"read_parquet({text(str(file))}, hive_partitioning = false)").columns
        for file in files
    }
    columns = _declared_columns(policy, name)
    public, units = name not in policy.tables, columns_of_units(policy, name)
    return _viewed(connection, name, parquet_select(name, footers, public=public, columns=columns, units=units))


def _viewed(connection: Any, name: str, select: str) -> StoredTable:
    view = f"memory.main.{quoted(name)}"
    connection.execute(f"CREATE OR REPLACE VIEW {view} AS {select}")
    return _described(connection, view)


def _frame(connection: Any, policy: Policy, name: str, frame: Any) -> StoredTable:
    """Register a data frame, as Arrow, with the types that the policy declares and those of kinds of columns."""
    known = frame if isinstance(frame, FrameTable) else _typed_frame(policy, name, frame)
    connection.register(name, known.table)
    stored = _described(connection, f"temp.main.{quoted(name)}")
    hidden = set(known.ids.values())
    return StoredTable(stored.name, {one: kind for one, kind in stored.columns.items() if one not in hidden}, known.ids)


def _typed_frame(policy: Policy, name: str, frame: Any) -> FrameTable:
    """Return a frame with the types that a policy states."""
    declared = {one: column.type for one, column in _declared_columns(policy, name).items()}
    return frame_table(name, frame, declared=declared, units=columns_of_units(policy, name))


def _declared_columns(policy: Policy, table: str) -> Mapping[str, ColumnPolicy]:
    """Return what a policy declares of the columns of a table, a private or a public one."""
    return (policy.tables.get(table) or policy.public[table]).columns


def _described(connection: Any, name: str) -> StoredTable:
    """Return a table with the columns that DuckDB binds for it; no row is read."""
    described = connection.execute(f"DESCRIBE SELECT * FROM {name}").fetchall()
    return StoredTable(name, {row[0]: row[1] for row in described})


def _collated(connection: Any, stored: StoredTable) -> StoredTable:
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


def csv_select(copy: Copy, *, numeric: Collection[str], decimal: str) -> str:
    """Return the SELECT that reads a copy; all columns are texts, a cell without any is NULL.

    In columns that are declared as numbers (`numeric`, folded) the decimal mark becomes a point; with another mark, a
    text that has a point already is no number, since the point may be there for thousands.
    """
    cells = [
        f"{_cell(stored_name(place), name.casefold() in numeric, decimal)} AS {quoted(name)}"
        for place, name in enumerate(copy.columns)
    ]
    return f"SELECT {', '.join(cells)} FROM read_parquet({text(str(copy.path))}, hive_partitioning = false)"


def header_select(names: Sequence[str]) -> str:
    """Return a SELECT with the columns of a header and no row."""
    return f"SELECT {', '.join(f'NULL::VARCHAR AS {quoted(name)}' for name in names)} WHERE false"


def _cell(column: str, numeric: bool, decimal: str) -> str:
    if not numeric or decimal == ".":
        return column
    return f"CASE WHEN NOT contains({column}, '.') THEN replace({column}, {text(decimal)}, '.') END"


def parquet_select(
    name: str, footers: Footers, *, public: bool, columns: Mapping[str, ColumnPolicy], units: frozenset[str]
) -> str:
    """Return the SELECT over the files of a table; `footers` are their columns with DuckDB's names of the types.

    Files whose columns differ in name, or in type without a declaration that settles it, are refused by their footers:
    a cast between them could fail because of one value.
    """
    stated = {one.casefold(): column for one, column in columns.items()}
    ids = {one.casefold() for one in units}
    _same_names(name, footers)
    first = next(iter(footers))
    casts: dict[str, dict[str, str]] = {}
    for column in footers[first]:
        stored = {file: kinds[column] for file, kinds in footers.items()}
        casts[column] = _casts(column, set(stored.values()), stated.get(column.casefold()), column.casefold() in ids)
        lacking = [file for file, kind in stored.items() if kind not in casts[column]]
        if lacking:
            other = next(file for file, kind in stored.items() if kind != stored[first])
            place = ("public" if public else "tables", name)
            remedy = "" if column.casefold() in ids else _remedy(place, column)
            raise PolicyError([(None, _differ(name, column, other, first) + remedy)])
    alike: dict[tuple[str, ...], list[Path]] = {}
    for file, kinds in footers.items():
        alike.setdefault(tuple(kinds[column] for column in casts), []).append(file)
    return "\nUNION ALL\n".join(_select(casts, kinds, files) for kinds, files in alike.items())


def _same_names(name: str, footers: Footers) -> None:
    first, *others = footers
    for file in others:
        strange = [
            one for one in (*footers[first], *footers[file]) if (one in footers[first]) != (one in footers[file])
        ]
        if strange:
            raise PolicyError([(None, _differ(name, strange[0], file, first))])


def _differ(name: str, column: str, file: Path, first: Path) -> str:
    words = f"column {column!r} of {name!r} is missing from {file.name!r} or {first.name!r}, or stored"
    return f"{words} with another type there; write both with the same columns and types"


def _remedy(place: tuple[str, str], column: str) -> str:
    return (
        f", or declare the type that both are read as: under {header(place)} add "
        f'columns.{key_in_toml(column)} = {{type = "integer"}}, or another type than integer'
    )


def _casts(column: str, stored: set[str], stated: ColumnPolicy | None, unit: bool) -> dict[str, str]:
    """Return, by stored type, the text that reads the column; types that cannot be read as one type are left out."""
    here = quoted(column)
    declared = stated.type if stated is not None and (stated.typed or stored == {NO_TYPE}) else None
    if declared is None or (unit and len(stored) == 1 and NO_TYPE not in stored):
        return dict.fromkeys(stored, here) if len(stored) == 1 else {}
    found = {kind: _cast(here, kind, declared, unit) for kind in stored}
    if len(stored) == 1 and None in found.values():
        return dict.fromkeys(stored, here)  # that the types disagree is said with the line of the policy
    return {kind: sql for kind, sql in found.items() if sql is not None}


def _cast(sql: str, kind: str, declared: Type, unit: bool) -> str | None:
    """Return the text that reads a stored type as the declared one, None where that is not done."""
    own, name = type_of(kind), NAMES[declared]
    if kind == name:
        return sql
    if kind == NO_TYPE:
        return f"CAST(NULL AS {name})"
    if unit:
        return f"CAST({sql} AS {name})" if declared is own and (own is Type.TEXT or kind in NARROW) else None
    if declared is Type.INTEGER and own in (Type.REAL, Type.TEXT):
        return _whole(sql, kind, own)
    if own is Type.TEXT and declared in (Type.DATE, Type.TIMESTAMP):
        return f"TRY_CAST({_time(sql)} AS {name})"
    taken = own is declared or own is Type.TEXT or (declared.numeric and own is not None and own.numeric)
    zoned = declared is Type.TIMESTAMP and own is declared and re.search("TIME ZONE|TZ", kind)
    return f"TRY_CAST({sql} AS {name})" if taken and not zoned else None


def _time(sql: str) -> str:
    """Return the text that reads a time in UTC where it has an offset, as a stored one is read: TRY_CAST drops that."""
    shifted = f"make_timestamp(epoch_us(TRY_CAST({sql} AS TIMESTAMPTZ)))"
    return f"CASE WHEN regexp_full_match({sql}, {text(_OFFSET)}) THEN {shifted} ELSE TRY_CAST({sql} AS TIMESTAMP) END"


def _whole(sql: str, kind: str, own: Type) -> str:
    """Return the text that reads whole numbers, those that come back from a BIGINT; TRY_CAST alone would round."""
    whole, number = f"TRY_CAST({sql} AS BIGINT)", f"TRY_CAST({sql} AS DOUBLE)" if own is Type.TEXT else sql
    again = f"TRY_CAST({whole} AS {'DOUBLE' if own is Type.TEXT else kind})"
    small = "" if own is Type.TEXT else f" AND {whole} BETWEEN -{_SAFE} AND {_SAFE}"
    return f"CASE WHEN {again} = {number}{small} THEN {whole} END"


def _select(casts: Mapping[str, Mapping[str, str]], kinds: Sequence[str], files: Sequence[Path]) -> str:
    """Return the SELECT over files with the same types."""
    cells = [f"{cast[kind]} AS {quoted(column)}" for (column, cast), kind in zip(casts.items(), kinds, strict=True)]
    names = ", ".join(text(str(file)) for file in files)
    return f"SELECT {', '.join(cells)} FROM read_parquet([{names}], hive_partitioning = false)"
