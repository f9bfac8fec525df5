"""What `explain`, `ask` and `rehearse` share: the query, who asks, under which policy, and at what price."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from discreet._optional import optional
from discreet.cli.console import ReadableConsole, Refusal, spinner
from discreet.cli.options import (
    FILE,
    Decorator,
    analyst_option,
    confidence_option,
    decorated,
    exact,
    number_option,
    policy_option,
    read_number,
)
from discreet.errors import ParameterError
from discreet.privacy import PriceOptions
from discreet.query import Policy, Session, read_policy

if TYPE_CHECKING:
    from discreet.laws.number import Number

_MOST_BYTES = 1_000_000
_RANGE, _LIST = "NAME=LOW:HIGH", "NAME=VALUE,VALUE"
_BESIDE = (".anchor", ".lock", ".anchor.lock", "-wal", "-shm", "-journal")  # what a ledger and its anchor keep


class AskedPrice(PriceOptions):
    """What is stated beside a query, as the session takes it: its price, how a unit is bounded, ranges and keys."""

    rows_expected: int | None
    rows: int | None
    groups: int | None
    rows_per_group: int | None
    bias: bool
    bounds: dict[str, tuple[Number, Number]]
    sums: dict[str, tuple[Number, Number]]
    keys: dict[str, list[Any]]


_BOUNDING = {
    "rows": click.option("--rows", type=click.IntRange(min=1), help="The most rows of one person that count."),
    "groups": click.option("--groups", type=click.IntRange(min=1), help="The most groups in which one person counts."),
    "rows_per_group": click.option(
        "--rows-per-group", type=click.IntRange(min=1), help="The most rows of one person that count in a group."
    ),
    "bounds": click.option(
        "--bounds", multiple=True, metavar=_RANGE, help="The range that values are clipped to; repeat it."
    ),
    "sums": click.option(
        "--sums", multiple=True, metavar=_RANGE, help="The range of what one person adds to a group; repeat it."
    ),
    "keys": click.option("--keys", multiple=True, metavar=_LIST, help="Public values of a key; repeat it."),
}


def bounding_options(*names: str) -> Decorator:
    """Return options that say how much of one person counts, to which ranges values are clipped, and which keys are."""
    return decorated([_BOUNDING[name] for name in names])


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
        bounding_options("rows", "groups", "rows_per_group", "bounds", "sums", "keys"),
        click.option("--bias", is_flag=True, help="Buy how much bounding cuts, up to the policy's outer_rows."),
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
    """Take what is stated beside a query out of all options."""
    names = (
        "epsilon",
        "delta",
        "rho",
        "mu",
        "share",
        "error",
        "rows_expected",
        "rows",
        "groups",
        "rows_per_group",
        "bias",
    )
    found: dict[str, Any] = {name: asked.pop(name) for name in names}
    stated = ranges_and_keys(asked)
    for name in stated:
        del asked[name]
    return cast("AskedPrice", {**found, **stated})


def ranges_and_keys(asked: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Read the options that give ranges and keys by name."""
    found: dict[str, dict[str, Any]] = {}
    for name in ("bounds", "sums", "keys"):
        if name in asked:
            read = _listed if name == "keys" else partial(_range, f"--{name}")
            pairs = [read(text) for text in asked[name]]
            found[name] = dict(pairs)
            if len(found[name]) < len(pairs):
                raise Refusal(f"--{name} names one column twice: state each once, with all that belongs to it")
    return found


def _range(option: str, text: str) -> tuple[str, tuple[Number, Number]]:
    """Read NAME=LOW:HIGH."""
    name, _, ends = text.rpartition("=")
    low, colon, high = ends.partition(":")
    if not name or not colon:
        raise Refusal(f"{option} is written {_RANGE}, such as {option} cost=0:500; got {text[:80]!r}")
    try:
        return name.strip(), (exact(low), exact(high))
    except ParameterError as problem:
        raise Refusal(f"{option} {name}: {problem}") from None


def _listed(text: str) -> tuple[str, list[Any]]:
    """Read NAME=VALUE,VALUE; in square brackets as JSON, where a value has a comma or a number is a text."""
    name, sign, values = text.partition("=")
    if not name or not sign:
        raise Refusal(f"--keys is written {_LIST}, such as --keys region=north,south; got {text[:80]!r}")
    if not values.startswith("["):
        return name.strip(), [... if one.strip() == "..." else _value(one) for one in values.split(",")]
    try:
        found = json.loads(values)
    except (ValueError, RecursionError):
        raise Refusal(f'--keys {name}: is no list of JSON, such as ["a, b", "c"]') from None
    return name.strip(), [_value(one, plain=False) if isinstance(one, str) else one for one in found]


def _value(text: str, *, plain: bool = True) -> Any:
    """Return a value of a key as it is written: a date, a number, a truth, else a text."""
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        try:
            return date.fromisoformat(text)
        except ValueError:
            return text
    if not plain:
        return text
    if text in ("true", "false"):
        return text == "true"
    try:
        found = read_number(text)
    except ParameterError:
        return text
    return text if isinstance(found, Fraction) else found


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
