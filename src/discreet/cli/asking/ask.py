"""`discreet ask`: a private answer to a query, charged first; `discreet rehearse`: the same on made-up rows, free."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import click

from discreet.cli import options
from discreet.cli.asking.options import check_place, check_target, finite, opened, prices, query_options, query_text
from discreet.cli.console import ReadableConsole, Refusal, answering, showing_what_is_paid, spinner
from discreet.display import csv_cell
from discreet.display.csv_text import write_csv
from discreet.privacy.guarantees import in_words, plain
from discreet.query import Answer
from discreet.query.answer import plain as plain_value

_CERTIFICATES = (".html", ".json")


@options.command()
@query_options
@click.option("--retry", metavar="NAME", help="A name for this request, so that a retry is never charged twice.")
@click.option("--certificate", type=options.FILE, help="Write the certificate of the release: .html or .json.")
@click.option("--plot", type=options.FILE, help="Draw the first aggregate with its intervals: .svg, .png or .pdf.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the answer with its intervals as CSV.")
@options.json_option()
def ask(sql: str | None, file: Path | None, policy: Path, analyst: str | None, **asked: Any) -> None:
    """Answer a query privately. The cost is charged first, and the same question again is free.

    For example: discreet ask "SELECT region, COUNT(*) FROM patients GROUP BY region" --epsilon 0.1
    """
    as_json, as_csv, confidence = (asked.pop(name) for name in ("as_json", "as_csv", "confidence"))
    certificate, plot, retry = (asked.pop(name) for name in ("certificate", "plot", "retry"))
    with answering():
        if as_json and as_csv:
            raise Refusal("--json and --csv exclude each other: keep one")
        # what cannot be written is refused before anything is charged
        check_target("--certificate", certificate, _CERTIFICATES)
        check_target("--plot", plot, options.DRAWINGS)
        text = query_text(sql, file)
        with opened(policy, analyst) as session, spinner(ReadableConsole(stderr=True), "Asking"):
            check_place("--certificate", certificate, session.policy, policy)
            check_place("--plot", plot, session.policy, policy)
            answer = session.sql(text, **prices(asked), idempotency=retry)
        # the answer is paid for, so it is shown before anything else can go wrong
        with showing_what_is_paid(answer.record.number):
            if as_json or as_csv:
                click.echo(to_json(answer, confidence) if as_json else to_csv(answer, confidence), nl=as_json)
            else:
                show_answer(ReadableConsole(), answer, confidence)
        for path in files(answer, certificate, plot, confidence):
            ReadableConsole(stderr=as_json or as_csv).say_written(path)


def files(answer: Answer, certificate: Path | None, plot: Path | None, confidence: float) -> list[Path]:
    """Write what was asked for besides the answer; return the paths."""
    written = [] if certificate is None else [answer.certificate().save(certificate)]
    return written if plot is None else [*written, answer.plot(confidence=confidence).save(plot)]


def show_answer(console: ReadableConsole, answer: Answer, confidence: float) -> None:
    """Print the table and what goes with it."""
    console.say_table(answer.table(confidence))
    console.say_facts([("guarantee", in_words(answer.guarantee)), *answer.facts()[1:]])
    console.print()


def to_json(answer: Answer, confidence: float) -> str:
    """Return the whole answer as plain values."""
    columns = answer.to_dict(confidence)
    return json.dumps(
        {
            "answer": {name: [finite(plain_value(value)) for value in column] for name, column in columns.items()},
            "confidence": confidence,
            "noise": {name: finite(spread) for name, spread in answer.noise.items()},
            "guarantee": plain(answer.guarantee),
            "unit": answer.unit,
            "bounding": answer.priced.bounding.reason,
            "left_out": list(answer.left_out),
            "record": answer.record.number,
            "entry": answer.record.entry_hash,
            "replayed": answer.record.replayed,
            "lost": list(answer.record.lost),
        },
        sort_keys=True,
        allow_nan=False,
    )


def to_csv(answer: Answer, confidence: float) -> str:
    """Return the rows with their intervals as CSV; no text of a key starts a formula or an escape sequence."""
    columns = answer.to_dict(confidence)
    text = io.StringIO()
    cells = ([csv_cell(plain_value(value)) for value in column] for column in columns.values())
    write_csv(text, [csv_cell(name) for name in columns], zip(*cells, strict=True))
    return text.getvalue()


@options.command()
@query_options
@options.stated("--size", click.IntRange(min=1), 10_000, "Number of made-up rows.")
@options.json_option()
def rehearse(
    sql: str | None, file: Path | None, policy: Path, analyst: str | None, confidence: float, **asked: Any
) -> None:
    """Run a query on made-up rows of the same schema. No private row is read and nothing is spent."""
    as_json, size = asked.pop("as_json"), asked.pop("size")
    with answering():
        text = query_text(sql, file)
        with opened(policy, analyst) as session, spinner(ReadableConsole(stderr=True), "Rehearsing"):
            answer = session.rehearse(text, size=size, **prices(asked))
        if as_json:
            click.echo(to_json(answer, confidence))
            return
        console = ReadableConsole()
        console.say(f"A rehearsal on {size:,} made-up rows: the values mean nothing, the shape and the noise do.")
        show_answer(console, answer, confidence)
