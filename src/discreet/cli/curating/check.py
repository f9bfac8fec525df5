"""`discreet check`: every mistake of a policy with its line and the remedy, or what the policy declares."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from discreet.cli.asking.options import json_option
from discreet.cli.console import answering, mistakes, readable_console, say, say_facts, say_table, spinner
from discreet.cli.curating.declared import declared, facts, sharp_points
from discreet.errors import LedgerError, LedgerTampered, PolicyError
from discreet.ledger import SqliteLedger
from discreet.query.csv_files.sources import SourceRefused, convert_source
from discreet.query.engines import engine_for
from discreet.query.policy.declarations import Policy
from discreet.query.policy.file import read_policy
from discreet.query.session.opening import fitted
from discreet.query.session.session import terms_of


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("policy", type=click.Path(path_type=Path), default=Path("policy.toml"))
@json_option()
def check(policy: Path, as_json: bool) -> None:
    """List every mistake in POLICY (policy.toml), each with its line and the remedy; else say what it declares.

    CSV files are converted anew into the private copy that sessions read; a file that is not CSV is refused here.
    """
    with answering():
        try:
            with spinner(readable_console(stderr=True), "Checking"):
                stated = checked(policy)
        except PolicyError as error:
            if as_json:
                problems = [{"line": line, "problem": words} for line, words in error.problems]
                click.echo(json.dumps({"ok": False, "problems": problems}, sort_keys=True))
                raise click.exceptions.Exit(1) from None
            raise mistakes(error, read=isinstance(error, SourceRefused)) from None
        if as_json:
            click.echo(json.dumps(machine(stated), sort_keys=True, allow_nan=False))
            return
        console = readable_console()
        say(console, f"{policy} is in order. It declares:")
        say_table(console, declared(stated))
        say_facts(console, facts(stated))
        points = sharp_points(stated)
        if points:
            say(console, "Worth knowing:")
        for point in points:
            console.print(f"- {point}", markup=False, highlight=False, emoji=False)
        console.print()


def checked(path: Path) -> Policy:
    """Return a policy that agrees with its source and with its ledger; of private rows only those of CSV are read."""
    stated = read_policy(path)
    engine = engine_for(stated, header_only=True)
    try:
        complete = fitted(stated, engine)
    finally:
        engine.close()
    _check_ledger(complete)
    convert_source(complete)
    _check_unique(complete)
    return complete


def _check_unique(policy: Policy) -> None:
    """Refuse a public table in which two rows agree on columns declared unique: a join would count people twice."""
    from discreet.query.engines.duckdb.engine import DuckDBEngine

    engine, problems = DuckDBEngine(policy), []
    try:
        for name, table in policy.public.items():
            for key in table.unique:
                if engine.unique_violated(name, sorted(key)):
                    names = ", ".join(sorted(key))
                    words = f"[public.{name}] unique: two rows agree on {names}. Remove one of them, or this line."
                    problems.append((policy.lines.get(("public", name, "unique")), words))
    finally:
        engine.close()
    if problems:
        raise PolicyError(problems, file=policy.file)


def _check_ledger(policy: Policy) -> None:
    """Refuse a policy that a ledger begun before does not agree with; a damaged ledger goes on as it is."""
    if policy.ledger is None or not policy.ledger.exists():
        return
    try:
        SqliteLedger.open(policy.ledger, terms_of(policy), anchor=policy.anchor).close()
    except LedgerTampered:
        raise
    except LedgerError as error:
        raise PolicyError([(policy.lines.get(("budget", "ledger")), str(error))], file=policy.file) from None


def machine(policy: Policy) -> dict[str, Any]:
    """Return plain values."""
    table = declared(policy)
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    return {"ok": True, "tables": rows, "worth knowing": sharp_points(policy), **dict(facts(policy))}
