"""`discreet init`: a first policy, written from the names and types of the columns; no row is read."""

from __future__ import annotations

import os
from pathlib import Path

import click

from discreet.cli.console import Refusal, answering, readable_console, say, say_written
from discreet.cli.curating.source_tables import source_at, source_schema
from discreet.errors import ParameterError, PolicyError
from discreet.query.csv_files.reader import FORMAT_PLACE
from discreet.query.policy.check import Schema
from discreet.query.policy.declarations import Source, SourceKind
from discreet.query.policy.skeleton import skeleton


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--unit", required=True, help="Who is protected: the column that names a person, or row.")
@click.option("--delimiter", help='Of CSV files, if it is not a comma: ";", or "\\t" for a tab.')
@click.option("--quote", help="Of CSV files, if it is not the double quote.")
@click.option("--decimal", help="Of CSV files: the decimal mark of numbers, if it is not the point.")
@click.option("--encoding", help="Of CSV files, if it is not UTF-8: cp1252, latin-1, utf-16, ...")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("policy.toml"),
    show_default=True,
    help="Where to write the policy; a file that exists is not touched.",
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
        console = readable_console()
        say_written(console, output)
        say(console, f"Answer the questions in it, then run: discreet check {output}")


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
