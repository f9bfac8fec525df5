"""The tables of a source and their columns, for a policy that is not written yet; no row is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from discreet.errors import ParameterError
from discreet.privacy import PureDP
from discreet.query.csv_files.format import read_format
from discreet.query.engines import engine_for
from discreet.query.engines.duckdb.source import Resources, connect
from discreet.query.expression.types import Type
from discreet.query.policy.declarations import Policy, Source, SourceKind, TablePolicy, UnitIsRow
from discreet.query.policy.policy_source import find_source, table_names
from discreet.query.policy.toml_section import Problems, Section
from discreet.query.session.opening import schemas


def source_at(path: Path, csv: Mapping[str, str]) -> Source:
    """Return what kind of source a path is, or refuse it in the words of a policy; `csv` is what `[data.csv]` says."""
    found = find_source(str(path.absolute()), Path())
    if isinstance(found, str):
        raise ParameterError(f"{path}: {found}", parameter="source")
    if csv and found.kind is not SourceKind.CSV:
        raise ParameterError(f"{path} holds no CSV files: leave out --{next(iter(csv))}", parameter="source")
    problems = Problems({})
    stated = read_format(Section(("data", "csv"), csv, problems))
    if problems.listed():
        raise ParameterError(" ".join(words for _, words in problems.listed()), parameter="source")
    return replace(found, csv=stated)


def source_schema(source: Source) -> dict[str, Mapping[str, Type]]:
    """Return the columns and types of every table of a source that can be asked about."""
    names = _in_database(source.path) if source.kind is SourceKind.DUCKDB else _in_folder(source)
    # a policy of names alone: the engine tells the columns of the tables that a policy names
    unread = Policy(
        source=source,
        lineage="unread",
        version="0",
        unit="row",
        tables={name: TablePolicy(name, UnitIsRow(), {}) for name in names},
        budget=PureDP(1),
        analysts={},
    )
    engine = engine_for(unread, header_only=True)
    try:
        return {name: columns for name, columns in schemas(unread, engine).items() if columns}
    finally:
        engine.close()


def _in_database(path: Path | None) -> list[str]:
    """Return the tables of a DuckDB file, those outside the schema `main` with their schema."""
    import duckdb

    connection = connect(Resources())
    written = str(path).replace("'", "''")
    try:
        connection.execute(f"ATTACH '{written}' AS source (READ_ONLY)")
        listed = connection.execute(
            "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = 'source' ORDER BY ALL"
        ).fetchall()
    except duckdb.Error:
        listed = None
    finally:
        connection.close()
    if listed is None:
        raise ParameterError(
            f"{path} cannot be opened as a DuckDB file; check that it is one and that no other program writes to it",
            parameter="source",
        )
    return [name if schema == "main" else f"{schema}.{name}" for schema, name in listed]


def _in_folder(source: Source) -> list[str]:
    return [] if source.path is None else table_names(source.path, source.kind)
