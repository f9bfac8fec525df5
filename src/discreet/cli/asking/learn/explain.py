"""`discreet learn explain`: what a model would cost and what to expect of it, without any data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.cli import options
from discreet.cli.asking.learn.options import fit_options, prepared
from discreet.cli.asking.options import opened
from discreet.cli.console import ReadableConsole, answering, say_json
from discreet.privacy.guarantees import in_words, plain


@options.command("explain")
@fit_options
@options.json_option()
def learn_explain(table: str, policy: Path, analyst: str | None, as_json: bool, **asked: Any) -> None:
    """Say what a model of TABLE would cost, how noisy it would be, and what to expect. Nothing is spent.

    For example: discreet learn explain visits --feature age --target stay --mu 1 --people 10000
    """
    with answering(), opened(policy, analyst) as session:
        found = prepared(session, table, asked)
        told = found.explain()
        road = "counts in SQL" if found.pushed is not None else "rows by a grant"
        if as_json:
            say_json({**told.to_dict(), "cost": plain(found.cost), "fits": found.fits, "reads": road})
            return
        console = ReadableConsole()
        facts = [("table", f"{found.table.name} ({', '.join(found.columns)})"), ("reads", road)]
        facts += [("cost", in_words(found.cost)), ("fits", f"{found.fits:,} times into what is left of the budget")]
        console.say_facts([(name, str(words)) for name, words in [*told._rows(), *facts] if words is not None])
        console.say("No data was read and nothing was spent.")
