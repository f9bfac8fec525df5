"""`discreet check`: every mistake of a policy with its line and the remedy, or what the policy declares.

What it declares is told in a table and in words, with the points at which it is sharp.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from discreet.cli import options
from discreet.cli.console import ReadableConsole, answering, mistakes, say_json, spinner
from discreet.display import LastDigit, Table, format_number
from discreet.errors import LedgerError, LedgerTampered, PolicyError
from discreet.ledger import SqliteLedger
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, Guarantee
from discreet.privacy.guarantees import in_words
from discreet.query import Policy, read_policy
from discreet.query.csv_files import SourceRefused, convert_source
from discreet.query.engines import engine_for
from discreet.query.policy import ColumnPolicy, SourceKind, TablePolicy, UnitColumn, UnitIsRow, UnitLink, terms_of
from discreet.query.reading import views_of
from discreet.query.session import fitted

_MUCH = 10
_WIDE = 100
_SHOWN_DELTA = Fraction(1, 10**6)
_MOST_NAMES = 8


@options.command()
@click.argument("policy", type=click.Path(path_type=Path), default=Path("policy.toml"))
@options.json_option()
def check(policy: Path, as_json: bool) -> None:
    """List every mistake in POLICY (policy.toml), each with its line and the remedy; else say what it declares.

    CSV files are converted anew into the private copy that sessions read; a file that is not CSV is refused here.
    """
    with answering():
        try:
            with spinner(ReadableConsole(stderr=True), "Checking"):
                stated = checked(policy)
        except PolicyError as error:
            if as_json:
                problems = [{"line": line, "problem": words} for line, words in error.problems]
                say_json({"ok": False, "problems": problems})
                raise click.exceptions.Exit(1) from None
            raise mistakes(error, read=isinstance(error, SourceRefused)) from None
        if as_json:
            say_json(machine(stated))
            return
        console = ReadableConsole()
        console.say(f"{policy} is in order. It declares:")
        console.say_table(declared(stated))
        console.say_facts(facts(stated))
        points = sharp_points(stated)
        if points:
            console.say("Worth knowing:")
        for point in points:
            console.say_plainly(f"- {point}")
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
    from discreet.query.engines.duckdb import DuckDBEngine

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


def declared(policy: Policy) -> Table:
    """Return one row a table: who is protected in it, how much of one unit counts, which columns are usable how."""
    rows: list[list[object]] = [
        [
            name,
            _unit(table),
            _bounds(table),
            _listed([one for one, column in table.columns.items() if column.low is not None]),
            _listed(keys(table.columns)),
        ]
        for name, table in policy.tables.items()
    ]
    rows += [[name, "public table", "", "", _listed(keys(table.columns))] for name, table in policy.public.items()]
    return Table(["table", "unit", "counts at most", "columns with a range", "public keys"], rows)


def facts(policy: Policy) -> list[tuple[str, str]]:
    """Return what holds for the whole policy."""
    anchor = "beside the ledger" if policy.anchor is None else policy.anchor.name
    return [
        ("unit of protection", policy.unit),
        ("neighbors", policy.relation.sentence),
        ("budget", f"{in_words(policy.budget)}{_meaning(policy.budget)}"),
        *[(f"view {name}", _listed(list(columns))) for name, columns in views_of(policy).items()],
        ("analysts", "; ".join(_analyst(name, one.cap) for name, one in policy.analysts.items())),
        ("answers are shared", "yes, between analysts" if policy.shared_answers else "no"),
        ("ledger", f"{'in memory' if policy.ledger is None else policy.ledger.name}, anchor {anchor}"),
        *_copies(policy),
    ]


def _copies(policy: Policy) -> list[tuple[str, str]]:
    """Return where the copy of a source is that is converted."""
    if policy.source.kind is not SourceKind.CSV or policy.ledger is None:
        return []
    return [("private copy", f"{policy.ledger.name}.copies, beside the ledger")]


def sharp_points(policy: Policy) -> list[str]:
    """Return what a curator may not have meant, each as one sentence with its remedy."""
    found = []
    for name, table in policy.tables.items():
        if not keys(table.columns):
            found.append(
                f"{name} has no public key: every GROUP BY takes a delta and leaves out rare keys. Declare values = "
                "[...] or public = true for what everybody knows."
            )
        if not bounded(table.columns):
            found.append(f"{name} has no column with a range: SUM, AVG and quantiles need min and max.")
        rows = table.limits.rows
        if rows is not None and rows > _WIDE:
            found.append(f"{name} lets {rows:,} rows of one {policy.unit} count: the noise grows with that number.")
    uncapped = [name for name, one in policy.analysts.items() if one.cap is None]
    if len(policy.analysts) > 1 and uncapped:
        found.append(
            f"{', '.join(uncapped)} may spend the whole budget alone: give each a cap, for example share = 0.25."
        )
    if policy.anchor is None:
        found.append("the anchor lies beside the ledger, so a restore of both goes unnoticed: name another place.")
    epsilon = _epsilon(policy.budget)
    if epsilon > _MUCH:
        found.append(f"an epsilon of {format_number(epsilon, digits=3)} protects hardly anybody: most take 1 to 5.")
    if not getattr(policy.budget, "delta", 0):
        lacks = "no reserve of delta" if isinstance(policy.budget, GaussianDP) else "no delta"
        found.append(f"the budget has {lacks}: keys that are not public can never be shown.")
    return found


def keys(columns: Mapping[str, ColumnPolicy]) -> list[str]:
    """Return the columns whose values are public."""
    return [name for name, column in columns.items() if column.domain is not None]


def bounded(columns: Mapping[str, ColumnPolicy]) -> list[str]:
    """Return the columns with a range of numbers."""
    return [name for name, column in columns.items() if column.interval is not None]


def _unit(table: TablePolicy) -> str:
    match table.unit:
        case UnitIsRow():
            return "every row"
        case UnitColumn(column):
            return column
        case UnitLink(column, other, key):
            return f"{column} -> {other}.{key}"


def _bounds(table: TablePolicy) -> str:
    bounds = table.limits
    parts = [] if bounds.rows is None else [_rows(bounds.rows)]
    if bounds.groups is not None:
        each = "" if bounds.rows_per_group is None else f", {_rows(bounds.rows_per_group)} in each"
        parts.append(f"{bounds.groups:,} group{'s'[: bounds.groups != 1]}{each}")
    return "; ".join(parts) or "1 row"


def _rows(count: int) -> str:
    return f"{count:,} row{'s'[: count != 1]}"


def _listed(names: list[str]) -> str:
    more = "" if len(names) <= _MOST_NAMES else f" and {len(names) - _MOST_NAMES} more"
    return ", ".join(names[:_MOST_NAMES]) + more or "none"


def _analyst(name: str, cap: Guarantee | None) -> str:
    return f"{name} ({'no cap of their own' if cap is None else in_words(cap)})"


def _epsilon(budget: Guarantee) -> float:
    """Return the epsilon that a budget comes to; one in rho or mu at a delta of one in a million besides its own."""
    if isinstance(budget, ZCDP | GaussianDP):
        return float(replace(budget, delta=0).to_approx(_SHOWN_DELTA).epsilon)
    return float(getattr(budget, "epsilon", 0))


def _meaning(budget: Guarantee) -> str:
    """Say what the numbers come to."""
    if isinstance(budget, ZCDP | GaussianDP):
        epsilon = format_number(_epsilon(budget), digits=4, rounding=LastDigit.UP)
        return f" (no more than epsilon {epsilon} at a delta of 1e-06 besides its own)"
    return " (epsilons and deltas add up)" if isinstance(budget, ApproxDP) else " (epsilons add up)"
