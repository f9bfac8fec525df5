"""What `explain`, `ask` and `rehearse` share: the query, who asks, under which policy, and at what price."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import click

from discreet._optional import optional
from discreet.cli.console import ReadableConsole, Refusal, spinner
from discreet.cli.options import FILE, analyst_option, confidence_option, decorated, number_option, policy_option
from discreet.privacy import PriceOptions
from discreet.query import Policy, Session, read_policy

_MOST_BYTES = 1_000_000
_BESIDE = (".anchor", ".lock", ".anchor.lock", "-wal", "-shm", "-journal")  # what a ledger and its anchor keep


class AskedPrice(PriceOptions):
    """The price of a query, and for how many rows a group an error is to hold, as the session takes them."""

    rows_expected: int | None


# the options of a priced query, in the order in which help lists them
query_options = decorated(
    [
        click.argument("sql", required=False),
        click.option("--file", "file", type=FILE, help="Read the SQL from a file (SQL - reads standard input)."),
        policy_option(),
        analyst_option(),
        number_option("--epsilon", words="Price: epsilon of this answer."),
        number_option(
            "--delta", words="With --epsilon, --rho or --mu: the chance of naming a rare key that is not public."
        ),
        number_option("--rho", words="Price: rho of this answer, under a zCDP budget."),
        number_option("--mu", words="Price: mu of this answer, under a Gaussian budget."),
        number_option("--share", words="Price: a part of the budget, such as 0.05."),
        number_option("--error", words="Price: the cheapest for this half-width at 95 %."),
        click.option("--rows-expected", type=click.IntRange(min=1), help="About how many rows a group has, for means."),
        confidence_option("The confidence of the intervals."),
    ]
)


def query_text(sql: str | None, file: Path | None) -> str:
    """Return the query: from the command line, a file, or standard input."""
    if (sql is None) == (file is None):
        raise Refusal("write the SQL as one argument, or - to read it from standard input, or give --file")
    if file is not None:
        try:
            with file.open("rb") as opened_file:
                data = opened_file.read(_MOST_BYTES + 1)
        except OSError as error:
            raise Refusal(f"cannot read {file}: {error.strerror}") from None
        return _in_utf8(data, str(file))
    return _in_utf8(sys.stdin.buffer.read(_MOST_BYTES + 1), "standard input") if sql == "-" else _argument(sql or "")


def _in_utf8(data: bytes, where: str) -> str:
    """Read a query as UTF-8, whatever the locale is: it must not mean one thing here and another there."""
    if len(data) > _MOST_BYTES:
        raise Refusal(f"a query must have at most {_MOST_BYTES:,} bytes; {where} has more")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Refusal(f"{where} is not UTF-8 text") from None


def _argument(sql: str) -> str:
    """Return a query from the command line; a byte that the locale cannot read is left by Python as a surrogate."""
    if not any("\ud800" <= letter <= "\udfff" for letter in sql):
        return sql
    try:
        data = os.fsencode(sql)
    except UnicodeEncodeError:
        data = b"\xff"
    return _in_utf8(data, "the query")


def prices(asked: dict[str, Any]) -> AskedPrice:
    """Take the options that state a price out of all options."""
    names = ("epsilon", "delta", "rho", "mu", "share", "error", "rows_expected")
    return cast("AskedPrice", {name: asked.pop(name) for name in names})


def who(policy: Policy, analyst: str | None) -> str:
    """Return who asks: named, or the only one there is."""
    if analyst is not None:
        return analyst
    if len(policy.analysts) == 1:
        return next(iter(policy.analysts))
    names = ", ".join(policy.analysts)
    raise Refusal(f"say who asks: --analyst NAME, or the variable DISCREET_ANALYST; the policy names {names}")


@contextmanager
def opened(policy: Path, analyst: str | None) -> Iterator[Session]:
    """Open a session and close it in the end."""
    name = who(read_policy(policy), analyst)
    with spinner(ReadableConsole(stderr=True), "Opening"):  # the first time CSV files are converted
        session = Session.open(policy, analyst=name)
    with session:
        yield session


def check_target(option: str, path: Path | None, endings: Sequence[str]) -> None:
    """Refuse a file that could not be written, while refusing is still free."""
    if path is None:
        return
    if path.suffix not in endings:
        listed = f"{', '.join(endings[:-1])} or {endings[-1]}" if endings[1:] else endings[0]
        raise Refusal(f"{option}: the file name must end in {listed}")
    if not path.absolute().parent.is_dir():
        raise Refusal(f"{option}: the folder of {path} does not exist; make it first")
    if option == "--plot":
        optional("matplotlib.figure", extra="plot", purpose="drawing a plot")


def check_place(option: str, path: Path | None, policy: Policy, file: Path) -> None:
    """Refuse a file in the place of the policy, the ledger or its anchor, or among the private tables.

    Links are followed: a link to the ledger would be written through.
    """
    if path is None:
        return
    place, source = path.resolve(), policy.source.path
    if source is not None and (place == source.resolve() or source.resolve() in place.parents):
        raise Refusal(f"{option}: {path} lies where the private tables are; name a file elsewhere")
    kept = [one for one in (policy.ledger, policy.anchor) if one is not None]
    beside = [one.with_name(one.name + ending) for one in kept for ending in _BESIDE]
    if any(place == one.resolve() or _same(place, one) for one in (file, *kept, *beside)):
        raise Refusal(f"{option}: {path} is the policy or belongs to the ledger; name another file")


def _same(one: Path, other: Path) -> bool:
    """Say whether two names are one file on the disk, such as two hard links."""
    return one.exists() and other.exists() and one.samefile(other)


def finite(value: Any) -> Any:
    """Return a number, or None for one that JSON does not have."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
