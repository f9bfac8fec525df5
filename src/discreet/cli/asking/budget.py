"""`discreet budget`: what was spent, what is left, and by whom."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.cli import options
from discreet.cli.console import answering, readable_console, say_facts, say_json
from discreet.display import Rounding
from discreet.ledger import Balance
from discreet.privacy.guarantees import in_words, plain
from discreet.query.policy import open_ledger, read_policy


@options.command()
@options.policy_option()
@options.analyst_option()
@options.json_option()
def budget(policy: Path, analyst: str | None, as_json: bool) -> None:
    """Say what was spent and what is left, of everybody and of one analyst. The data is not opened."""
    with answering():
        stated = read_policy(policy)
        name = next(iter(stated.analysts)) if analyst is None and len(stated.analysts) == 1 else analyst
        balance = open_ledger(stated).balance(name)
        if as_json:
            say_json(machine(balance))
            return
        console = readable_console()
        say_facts(console, rows(balance))
        console.print()


def rows(balance: Balance) -> list[tuple[str, str]]:
    """Return the balance in words: what was spent is rounded up, what is left down."""
    found = [
        ("unit of protection", balance.unit),
        ("neighbors", balance.budget.relation.sentence),
        ("budget", in_words(balance.budget)),
        ("spent by all", in_words(balance.spent)),
        ("left for all", in_words(balance.remaining, rounding=Rounding.DOWN)),
    ]
    if balance.analyst is not None:
        up, down = Rounding.UP, Rounding.DOWN
        own = (("cap", balance.own_cap, up), ("spent", balance.own_spent, up), ("left", balance.own_remaining, down))
        found.append(("analyst", balance.analyst))
        found += [
            (f"own {name}", in_words(guarantee, rounding=safe))
            for name, guarantee, safe in own
            if guarantee is not None
        ]
    return [*found, ("charges", f"{balance.charges:,}")]


def machine(balance: Balance) -> dict[str, Any]:
    """Return plain values."""
    up = ("budget", "spent", "own_cap", "own_spent")
    found: dict[str, Any] = {"unit": balance.unit, "analyst": balance.analyst, "charges": balance.charges}
    for name in (*up, "remaining", "own_remaining"):
        guarantee = getattr(balance, name)
        rounding = Rounding.UP if name in up else Rounding.DOWN
        found[name] = None if guarantee is None else plain(guarantee, rounding=rounding)
    return found
