"""`discreet init`: a first policy, written from the tables and columns of a source and their types; no row is read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import click

from discreet.cli import options
from discreet.cli.console import ReadableConsole, Refusal, answering
from discreet.errors import ParameterError, PolicyError
from discreet.privacy import PureDP
from discreet.query import Policy, Type
from discreet.query.csv_files import FORMAT_PLACE
from discreet.query.engines import engine_for
from discreet.query.engines.duckdb import Resources, connect
from discreet.query.policy import (
    Problems,
    Schema,
    Section,
    Source,
    SourceKind,
    TablePolicy,
    UnitIsRow,
    find_source,
    read_format,
    skeleton,
    table_names,
)
from discreet.query.session import schemas


@options.command()
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--unit", required=True, help="Who is protected: the column that names a person, or row.")
@click.option("--delimiter", help='The delimiter of CSV files, if it is not a comma: ";", or "\\t" for a tab.')
@click.option("--quote", help="The quote of CSV files, if it is not the double quote.")
@click.option("--decimal", help="The decimal mark in CSV files, if it is not the point.")
@click.option("--encoding", help="The encoding of CSV files, if it is not UTF-8: cp1252, latin-1, utf-16, ...")
@options.stated(
    "--output",
    click.Path(dir_okay=False, path_type=Path),
    Path("policy.toml"),
    "Where to write the policy; a file that exists is not touched.",
)
def init(source: Path, unit: str, output: Path, **csv: str | None) -> None:
    """Write a commented policy for SOURCE: a DuckDB file, or a folder of Parquet or CSV files.

    Only the names and types of the columns are read, never a row; every decision is left as a question.
    """
    with answering():
        stated = {name: value.replace("\\t", "\t") for name, value in csv.items() if value is not None}
        found = source_at(source, stated)
        schema = _schema(found)
        _hint_at_delimiter(schema, found)
        # paths in a policy are relative to its folder
        written = os.path.relpath(source.absolute(), output.absolute().parent)
        text = skeleton(written, unit, schema, kind=found.kind, csv=found.csv)
        try:
            with output.open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            raise Refusal(f"{output} exists and is not overwritten; name another file with --output") from None
        console = ReadableConsole()
        console.say_written(output)
        console.say(f"Answer the questions in it, then run: discreet check {output}")


def _schema(source: Source) -> Schema:
    """Return the columns of a source; a policy that is not written yet is not blamed for what is wrong with them."""
    try:
        return source_schema(source)
    except PolicyError as error:
        words = " ".join(problem for _, problem in error.problems)
    options = "what --delimiter, --quote and --encoding say, or as RFC 4180 has them, in UTF-8"
    raise ParameterError(words.replace(FORMAT_PLACE, options), parameter="source")


def _hint_at_delimiter(schema: Schema, source: Source) -> None:
    """Refuse a header of one column that another delimiter would split: names in a header are public."""
    names = {"\t": "a tab", ";": "a semicolon", "|": "a bar", ",": "a comma"}
    for table, columns in schema.items() if source.kind is SourceKind.CSV else ():
        (only, *more) = columns
        sign = next((one for one in names if one in only), None)
        if not more and sign is not None and sign != source.csv.delimiter:
            written = "\\t" if sign == "\t" else sign
            raise ParameterError(
                f"the header of {table!r} is one column with {names[sign]} in its name. Add "
                f'--delimiter "{written}" if that stands between columns, else rename the column',
                parameter="source",
            )


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
