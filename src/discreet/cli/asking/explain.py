"""`discreet explain`: what a query would cost and how exact it would be; no data is read, nothing is spent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.cli import options
from discreet.cli.asking.options import finite, opened, prices, query_options, query_text
from discreet.cli.console import ReadableConsole, answering, as_options, say_json
from discreet.display import Table
from discreet.privacy.guarantees import in_words, plain
from discreet.query import Explanation


@options.command()
@query_options
@options.json_option()
def explain(
    sql: str | None, file: Path | None, policy: Path, analyst: str | None, confidence: float, **asked: Any
) -> None:
    """Say what a query would cost and how exact it would be. No data is read and nothing is spent."""
    as_json = asked.pop("as_json")
    with answering():
        text = query_text(sql, file)
        with opened(policy, analyst) as session:
            explained = session.explain(text, confidence=confidence, **prices(asked))
        if as_json:
            say_json(machine(explained))
            return
        console = ReadableConsole()
        table, released = split(explained)
        console.say_facts([*facts(explained), *released])
        console.say_table(table)
        console.say("The statement that would run; its sums get noise before anybody sees them:")
        console.say_plainly(f"\n{explained.sql}", soft_wrap=True, style="dim")
        console.say("No data was read and nothing was spent.")


def facts(explained: Explanation) -> list[tuple[str, str]]:
    """Return what is known before, with the cost in words."""
    return [("cost", in_words(explained.guarantee)), *explained.facts()[1:]]


def split(explained: Explanation) -> tuple[Table, list[tuple[str, str]]]:
    """Return the table of aggregates without its long last column, and that column as facts."""
    whole = explained.aggregates
    rows = [[as_options(cell) if isinstance(cell, str) else cell for cell in row[:-1]] for row in whole.rows]
    table = Table(whole.columns[:-1], rows, digits=whole.digits)
    return table, [(f"released for {row[0]}", str(row[-1])) for row in whole.rows]


def machine(explained: Explanation) -> dict[str, Any]:
    """Return plain values, none of them infinite."""
    found = {**explained.to_dict(), "cost": plain(explained.guarantee), "confidence": explained.confidence}
    found["aggregates"] = [{name: finite(value) for name, value in row.items()} for row in found["aggregates"]]
    return found
