"""`discreet budget`: what was spent, what is left, and by whom."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.cli import options
from discreet.cli.console import ReadableConsole, answering, say_json
from discreet.display import LastDigit
from discreet.ledger import Balance
from discreet.privacy.guarantees import plain
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
        console = ReadableConsole()
        console.say_facts(balance.facts())
        console.print()


def machine(balance: Balance) -> dict[str, Any]:
    """Return plain values."""
    up = ("budget", "spent", "own_cap", "own_spent")
    found: dict[str, Any] = {"unit": balance.unit, "analyst": balance.analyst, "charges": balance.charges}
    for name in (*up, "remaining", "own_remaining"):
        guarantee = getattr(balance, name)
        rounding = LastDigit.UP if name in up else LastDigit.DOWN
        found[name] = None if guarantee is None else plain(guarantee, rounding=rounding)
    return found
