"""`discreet suggest`: bounds for a table or a query, found privately at a small price."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli import options
from discreet.cli.asking.options import bounding_options, opened, query_text, ranges_and_keys
from discreet.cli.console import ReadableConsole, answering, as_options, say_json, showing_what_is_paid, spinner
from discreet.display import Table


@options.command()
@click.argument("of", required=False, metavar="TABLE|SQL")
@click.option("--file", "file", type=options.FILE, help="Read the SQL from a file (SQL - reads standard input).")
@options.policy_option()
@options.analyst_option()
@options.number_option("--epsilon", words="Price: epsilon of the suggestion.")
@options.number_option("--rho", words="Price: rho of the suggestion, under a zCDP budget.")
@options.number_option("--mu", words="Price: mu of the suggestion, under a Gaussian budget.")
@options.number_option("--share", words="Price: a part of the budget, such as 0.01.")
@options.stated("--multiple", click.FloatRange(0, min_open=True), 4.0, "The answer may cost this many times the price.")
@click.option("--column", "columns", multiple=True, help="A column of the table; all if left out. Repeat it.")
@bounding_options("bounds", "keys")
@options.json_option()
def suggest(of: str | None, file: Path | None, policy: Path, analyst: str | None, **asked: Any) -> None:
    """Find bounds for a table or a query by private quantiles. The cost is charged first.

    For example: discreet suggest "SELECT region, SUM(cost) AS cost FROM visits GROUP BY region" --epsilon 0.1
    """
    as_json = asked.pop("as_json")
    with answering():
        text = query_text(of, file)
        stated = {**asked, **ranges_and_keys(asked), "columns": list(asked["columns"]) or None}
        with opened(policy, analyst) as session, spinner(ReadableConsole(stderr=True), "Looking"):
            found = session.suggest(text, **stated)
        with showing_what_is_paid(found.record.number):
            if as_json:
                say_json(found.to_dict())
                return
            console = ReadableConsole()
            table = found.table()
            console.say_table(Table(table.columns, [[as_options(str(cell)) for cell in row] for row in table.rows]))
            if found.noise:
                console.say_table(found.noises())
            console.say_facts(found.facts())
            console.print()
