"""`discreet learn predict`: rows of a CSV file in, the same rows with what a model says of them out."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import click

from discreet.cli import options
from discreet.cli.asking.learn.options import read_model
from discreet.cli.asking.synthesize import check_file
from discreet.cli.console import ReadableConsole, Refusal, answering
from discreet.display import csv_cell
from discreet.display.csv_text import write_csv
from discreet.frames import FrameColumn, Type, typed

_PREDICTION = "prediction"
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?", re.ASCII)


@options.command("predict")
@click.argument("model", type=options.FILE)
@click.argument("rows", type=options.FILE)
@click.option("--out", type=options.FILE, help="Where to write the predictions (.csv); printed if left out.")
def learn_predict(model: Path, rows: Path, out: Path | None) -> None:
    """Predict every row of the CSV file ROWS by MODEL; nothing is spent, for the model is public.

    For example: discreet learn predict model.json new.csv --out predictions.csv
    """
    with answering():
        if out is not None:
            check_file(out, (".csv",))
        read = read_model(model)
        if not hasattr(read, "predict") or getattr(read, "columns_", None) is None:
            raise Refusal(
                f"{model} holds no model that predicts columns of a table; write one with discreet learn train"
            )
        names, cells = _table(rows)
        if _PREDICTION in names:
            raise Refusal(f"{rows} has a column {_PREDICTION!r} already; rename it")
        missing = [name for name in read.columns_ if name not in names]
        if missing:
            raise Refusal(f"{rows} has no column {missing[0]!r}, which the model was fitted on")
        places = [names.index(name) for name in read.columns_]
        columns = {
            name: _column([row[place] for row in cells], values)
            for place, (name, values) in zip(places, read.columns_.items(), strict=True)
        }
        found = read.predict(columns).tolist() if cells else []
        text = io.StringIO()
        rest = ([*map(_harmless, row), csv_cell(one)] for row, one in zip(cells, found, strict=True))
        write_csv(text, [*map(csv_cell, names), _PREDICTION], rest)
        if out is None:
            click.echo(text.getvalue(), nl=False)
            return
        out.write_text(text.getvalue(), encoding="utf-8")
        ReadableConsole().say_written(out)


def _table(path: Path) -> tuple[list[str], list[list[str]]]:
    """Return the names of the columns and the rows of a CSV file."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as opened_file:
            names, *cells = list(csv.reader(opened_file, strict=True)) or [[]]
    except OSError as problem:
        raise Refusal(f"cannot read {path}: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise Refusal(f"{path} must be a CSV file in UTF-8; got another") from None
    except csv.Error:
        most = csv.field_size_limit()
        raise Refusal(f"{path} must be a CSV file with cells of at most {most:,} characters; got another") from None
    cells = [row for row in cells if row]
    if len(set(names)) < len(names) or any(len(row) != len(names) for row in cells):
        raise Refusal(f"{path} must have a name for every column, each once, and as many cells in every row")
    return names, cells


def _harmless(cell: str) -> object:
    """Return a cell that no spreadsheet takes for a formula; a number with its sign is none."""
    return cell if _NUMBER.fullmatch(cell) else csv_cell(cell)


def _column(texts: list[str], values: Any) -> list[Any]:
    """Return the cells of a column: texts where texts were declared, else numbers or days."""
    if values is not None and all(isinstance(one, str) for one in values):
        return texts
    kind = Type.REAL if values is None else Type.DATE
    found: list[Any] = typed(FrameColumn.read(texts), kind).to_pylist()
    return found
