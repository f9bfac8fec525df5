"""`discreet rehearse`: a query tried on made-up rows of the same schema; no private row is read, nothing is spent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli.asking.ask import show_answer, to_json
from discreet.cli.asking.options import decorated, json_option, opened, prices, query_options, query_text
from discreet.cli.console import answering, readable_console, say, spinner


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@decorated(
    [
        *query_options(),
        click.option("--rows", type=click.IntRange(min=1), default=10_000, show_default=True, help="Made-up rows."),
        json_option(),
    ]
)
def rehearse(
    sql: str | None, file: Path | None, policy: Path, analyst: str | None, confidence: float, **options: Any
) -> None:
    """Run a query on made-up rows of the same schema. No private row is read and nothing is spent."""
    as_json, rows = options.pop("as_json"), options.pop("rows")
    with answering():
        text = query_text(sql, file)
        with opened(policy, analyst) as session, spinner(readable_console(stderr=True), "Rehearsing"):
            answer = session.rehearse(text, rows=rows, **prices(options))
        if as_json:
            click.echo(to_json(answer, confidence))
            return
        console = readable_console()
        say(console, f"A rehearsal on {rows:,} made-up rows: the values mean nothing, the shape and the noise do.")
        show_answer(console, answer, confidence)
