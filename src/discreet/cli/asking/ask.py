"""`discreet ask`: a private answer to a query, charged first; `discreet rehearse`: the same on made-up rows, free."""

from __future__ import annotations

import io
import json
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

import click

from discreet.cli import options
from discreet.cli.asking.options import check_place, check_target, finite, opened, prices, query_options, query_text
from discreet.cli.console import ReadableConsole, Refusal, answering, showing_what_is_paid, spinner
from discreet.display import csv_cell
from discreet.display.csv_text import write_csv
from discreet.privacy.guarantees import in_odds, in_words, plain
from discreet.query import Answer, Rounding
from discreet.query.answer import plain as plain_value

_CERTIFICATES = (".html", ".json")


@options.command()
@query_options
@click.option(
    "--rounding",
    multiple=True,
    type=click.Choice([one.name.lower() for one in Rounding if one.name]),
    help="Make counts whole numbers, or none below 0; repeat it for both. It costs nothing.",
)
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
    rounding = reduce(or_, [Rounding[name.upper()] for name in asked.pop("rounding")], Rounding.NONE)
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
            answer = session.sql(text, **prices(asked), rounding=rounding, idempotency=retry)
            more = session.ledger.fits(session.analyst, answer.guarantee)
        # the answer is paid for, so it is shown before anything else can go wrong
        with showing_what_is_paid(answer.record.number):
            if as_json or as_csv:
                click.echo(to_json(answer, confidence, more) if as_json else to_csv(answer, confidence), nl=as_json)
            else:
                show_answer(ReadableConsole(), answer, confidence, more)
        for path in files(answer, certificate, plot, confidence):
            ReadableConsole(stderr=as_json or as_csv).say_written(path)


def files(answer: Answer, certificate: Path | None, plot: Path | None, confidence: float) -> list[Path]:
    """Write what was asked for besides the answer; return the paths."""
    written = [] if certificate is None else [answer.certificate().save(certificate)]
    return written if plot is None else [*written, answer.plot(confidence=confidence).save(plot)]


def show_answer(console: ReadableConsole, answer: Answer, confidence: float, more: int | None = None) -> None:
    """Print the table and what goes with it; `more` answers like it still fit."""
    console.say_table(answer.table(confidence))
    guarantee = [("guarantee", in_words(answer.guarantee)), ("guarantee in odds", in_odds(answer.guarantee))]
    left = (
        []
        if more is None
        else [("like this one", f"about {more:,} more {'answer fits' if more == 1 else 'answers fit'}")]
    )
    console.say_facts([*guarantee, *answer.facts()[1:], *left])
    console.print()


def to_json(answer: Answer, confidence: float, more: int | None = None) -> str:
    """Return the whole answer as plain values; `more` answers like it still fit."""
    columns = answer.to_dict(confidence)
    return json.dumps(
        {
            "answer": {name: [finite(plain_value(value)) for value in column] for name, column in columns.items()},
            "confidence": confidence,
            "noise": {name: finite(spread) for name, spread in answer.noise.items()},
            "guarantee": plain(answer.guarantee),
            "unit": answer.unit,
            "bounding": answer.bounding,
            "left_out": list(answer.left_out),
            "record": answer.record.number,
            "entry": answer.record.entry_hash,
            "replayed": answer.record.replayed,
            "lost": list(answer.record.lost),
            **({} if more is None else {"more": more}),
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
