"""`discreet learn train`: a model of a private table, charged first, written into a file of public text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli import options
from discreet.cli.asking.learn.options import fit_options, prepared
from discreet.cli.asking.options import check_place, opened
from discreet.cli.asking.synthesize import check_file
from discreet.cli.console import ReadableConsole, answering, say_json, showing_what_is_paid, spinner
from discreet.learning import save_model
from discreet.privacy.guarantees import in_words, plain


@options.command("train")
@fit_options
@click.option("--out", type=options.FILE, required=True, help="Where to write the model: .json.")
@options.json_option()
def learn_train(table: str, policy: Path, analyst: str | None, out: Path, as_json: bool, **asked: Any) -> None:
    """Fit a model of TABLE. The cost is charged first, and the same request again is free.

    For example: discreet learn train visits --feature age --target stay --mu 1 --people 10000 --out model.json
    """
    with answering():
        check_file(out, (".json",))  # what cannot be written is refused before anything is charged
        with opened(policy, analyst) as session:
            check_place("--out", out, session.policy, policy)
            found = prepared(session, table, asked)
            with spinner(ReadableConsole(stderr=True), "Learning"):
                record = found.fit()
        with showing_what_is_paid(record.number):
            written = save_model(found.model, out)
            if as_json:
                plan = {"estimator": type(found.model).__name__, "cost": plain(found.cost)}
                say_json({**plan, "record": record.number, "replayed": record.replayed, "file": str(written)})
                return
            console = ReadableConsole()
            console.say_facts(
                [
                    ("model", type(found.model).__name__),
                    ("cost", in_words(found.cost)),
                    ("expect", found.explain().regime),
                    ("record", f"{record.number}{', handed out again at no cost' if record.replayed else ''}"),
                ]
            )
            console.say_written(written)
