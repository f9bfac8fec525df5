"""`discreet ledger`: what was asked and what it cost, the check of the whole file, and its amendments."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from discreet.cli import options
from discreet.cli.console import ReadableConsole, answering, say_json, spinner
from discreet.cli.program import SETTINGS
from discreet.display import LastDigit, Table, format_number
from discreet.errors import LedgerError, LedgerMismatch
from discreet.ledger import Entry, EntryKind, SqliteLedger, Verification
from discreet.privacy.guarantees import in_words, plain
from discreet.query import Policy, read_policy
from discreet.query.policy import terms_of

_LONGEST = 44
_own_policy = click.option("--policy", type=options.FILE, help="The policy file.  [default: policy.toml]")


@click.group(invoke_without_command=True, context_settings=SETTINGS)
@options.policy_option()
@options.json_option()
@options.stated("--last", click.IntRange(min=1), 20, "How many entries to list.")
@click.pass_context
def ledger(context: click.Context, policy: Path, as_json: bool, last: int) -> None:
    """List what was asked and what it cost; `verify` checks the whole ledger. The data is not opened."""
    context.obj = policy
    if context.invoked_subcommand is not None:
        return
    with answering():
        found = list(opened(read_policy(policy)).entries())
        if as_json:
            say_json([machine(one) for one in found[-last:]])
            return
        console = ReadableConsole()
        console.say_table(listed(found[-last:]))
        shown = f", the last {last:,} shown" if len(found) > last else ""
        console.say_facts([("entries", f"{len(found):,}{shown}"), ("head", found[-1].hash)])


@ledger.command(context_settings=SETTINGS)
@_own_policy
@click.option("--head", help="A head exported earlier; the ledger must contain it.")
@options.json_option()
@click.pass_obj
def verify(given: Path, policy: Path | None, head: str | None, as_json: bool) -> None:
    """Check every entry, every total, the anchor and a head exported earlier; exit code 4 if one is wrong."""
    with answering():
        stated = read_policy(policy or given)
        with spinner(ReadableConsole(stderr=True), "Verifying"):
            found = opened(stated).verify(head=head)
        if as_json:
            say_json({**_found(found), "ok": True})
            return
        console = ReadableConsole()
        console.say_facts(found.facts())
        console.say("The ledger is as it was written.")


@ledger.command(context_settings=SETTINGS)
@_own_policy
@click.pass_obj
def head(given: Path, policy: Path | None) -> None:
    """Print the hash of the last entry: kept elsewhere, it pins everything up to here."""
    with answering():
        click.echo(opened(read_policy(policy or given)).head)


@ledger.command(context_settings=SETTINGS)
@_own_policy
@click.option("--reason", required=True, help="Why; it becomes an entry.")
@click.option("--by", required=True, help="Who decides this.")
@click.pass_obj
def amend(given: Path, policy: Path | None, reason: str, by: str) -> None:
    """Take over the budget, the analysts and their caps as the policy states them now. The reason becomes an entry."""
    with answering():
        wanted = terms_of(stated := read_policy(policy or given))
        book = opened(stated)
        terms = book.terms
        if (terms.lineage, terms.unit) != (wanted.lineage, wanted.unit):
            raise LedgerMismatch(
                f"this ledger is of the data {terms.lineage!r} with the unit {terms.unit!r}, which no "
                "amendment changes. "
                "Name the right ledger file, or correct the policy."
            )
        if terms == wanted:
            raise click.ClickException("the ledger agrees with the policy already; nothing to amend")
        shared = wanted.shared_answers
        book.amend(budget=wanted.budget, caps=wanted.caps, shared_answers=shared, reason=reason, by=by)
        console = ReadableConsole()
        console.say(f"Amended by {by}: the budget is now {in_words(wanted.budget)}. New head: {book.head}")


@ledger.command(context_settings=SETTINGS)
@_own_policy
@click.option("--head", required=True, help="The newest head that was exported.")
@click.option("--reason", required=True, help="Why; it becomes an entry.")
@click.option("--by", required=True, help="Who decides this.")
@click.pass_obj
def reanchor(given: Path, policy: Path | None, head: str, reason: str, by: str) -> None:
    """Make a new anchor in place of a lost one, if the ledger contains the newest head that was exported."""
    with answering():
        stated = read_policy(policy or given)
        if stated.ledger is None:
            raise LedgerError("the policy keeps its ledger in memory")
        found = SqliteLedger.reanchor(stated.ledger, head=head, reason=reason, by=by, anchor=stated.anchor)
        ReadableConsole().say_facts(found.facts())


def opened(policy: Policy) -> SqliteLedger:
    """Open a ledger that was begun, with its own terms: it can be read and mended though the policy differs."""
    if policy.ledger is None:
        raise LedgerError("the policy keeps its ledger in memory")
    anchored = policy.anchor or policy.ledger.with_name(policy.ledger.name + ".anchor")
    if not policy.ledger.exists() and not anchored.exists():
        raise LedgerError("there is no ledger yet: the first `discreet ask` begins it")
    return SqliteLedger.open(policy.ledger, anchor=policy.anchor)


def listed(entries: Iterable[Entry]) -> Table:
    """Return entries as a table, with what everybody has spent after each."""
    rows: list[list[object]] = []
    for one in entries:
        cost = "" if one.cost is None else in_words(one.cost)
        time = str(one.fields.get("time", ""))[2:16].replace("T", " ")
        spent = ", ".join(
            format_number(Fraction(value), digits=5, rounding=LastDigit.UP) for value in one.fields["spent"]
        )
        rows.append([str(one.number), time, one.kind.value, one.fields.get("analyst", ""), cost, spent, _what(one)])
    return Table(["entry", "time (UTC)", "kind", "analyst", "cost", "spent so far", "what"], rows)


def _what(entry: Entry) -> str:
    """Say in a few words what an entry is about; answers are shown by nobody but their own query."""
    match entry.kind:
        case EntryKind.ANSWER:
            text = f"of entry {entry.fields['charge']}"
        case EntryKind.OUTCOME:
            text = f"of entry {entry.fields['charge']}: {entry.fields['outcome']}"
        case EntryKind.PART:
            text = f"{entry.fields['part']} of entry {entry.fields['release']} is drawn"
        case EntryKind.AMEND | EntryKind.ANCHOR:
            text = f"{entry.fields['by']}: {entry.fields['reason']}"
        case EntryKind.OPEN:
            text = entry.terms.lineage
        case _:
            text = " ".join(str(entry.fields.get("description", "")).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def machine(entry: Entry) -> dict[str, Any]:
    """Return plain values of an entry, without the stored answer."""
    return {**{name: value for name, value in entry.fields.items() if name != "answer"}, "hash": entry.hash}


def _found(found: Verification) -> dict[str, Any]:
    numbers = {"entries": found.entries, "charges": found.charges, "answers": found.answers}
    ends = {"head": found.head, "head_at": found.head_at, "anchored": found.anchored}
    return {**numbers, **ends, "spent": plain(found.spent)}
