"""`discreet suggest`: bounds for a table or a query, found privately at a small price."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import click

from discreet.cli import options
from discreet.cli.asking.options import bounding_options, opened, query_text, ranges_and_keys
from discreet.cli.console import ReadableConsole, answering, say_json, showing_what_is_paid, spinner
from discreet.display import Table

_LIMIT = re.compile(r"(\w+)=(\d+)")
_SUM = re.compile(r'("(?:[^"\\]|\\.)*"): \(([^,]+), ([^)]+)\)')


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
            rows = [[in_shell(str(row[0])) or row[0], *row[1:]] for row in table.rows]
            console.say_table(Table(table.columns, rows))
            if found.noise:
                console.say_table(found.noises())
            console.say_facts(found.facts())
            console.print()


def in_shell(line: str) -> str:
    """Return arguments of Python as options of the shell; nothing of a line of a policy.

    >>> in_shell('rows_per_group=3, sums={"n": (0, 3), "SUM(cost)": (-1.5, 20)}')
    "--rows-per-group 3 --sums n=0:3 --sums 'SUM(cost)=-1.5:20'"
    """
    found = list[str]()
    if line.startswith("["):
        return ""
    limits, _, sums = line.partition("sums=")
    for name, number in _LIMIT.findall(limits):
        found.append(f"--{name.replace('_', '-')} {number}")
    for name, low, high in _SUM.findall(sums):
        found.append(f"--sums {shlex.quote(f'{json.loads(name)}={low}:{high}')}")
    return " ".join(found)
