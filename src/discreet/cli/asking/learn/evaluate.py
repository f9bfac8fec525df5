"""`discreet learn evaluate`: how well a model does on private rows that it has not seen, by a noisy mean."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli import options
from discreet.cli.asking.learn.options import PRICE, price_options, read_model
from discreet.cli.asking.options import opened
from discreet.cli.console import ReadableConsole, answering, say_json, showing_what_is_paid, spinner
from discreet.learning.base import prepared_score
from discreet.privacy.guarantees import in_words, plain


@options.command("evaluate")
@click.argument("model", type=options.FILE)
@click.argument("table")
@options.policy_option()
@options.analyst_option()
@price_options
@options.confidence_option("The confidence of the interval.")
@options.json_option()
def learn_evaluate(
    model: Path, table: str, policy: Path, analyst: str | None, confidence: float, as_json: bool, **asked: Any
) -> None:
    """Score MODEL on TABLE: the accuracy of a classifier, the mean absolute error of a regression.

    The cost is charged first, and the same request again is free. Name a table with rows that were not learned from.
    For example: discreet learn evaluate model.json visits_held_out --epsilon 0.5
    """
    with answering():
        read = read_model(model)
        with opened(policy, analyst) as session:
            found = prepared_score(read, session, table, **{name: asked[name] for name in PRICE})
            with spinner(ReadableConsole(stderr=True), "Scoring"):
                score, record = found.compute(confidence)
        with showing_what_is_paid(record.number):
            if as_json:
                low, high = score.ends
                values = {"score": found.name, "value": float(score.value), "low": low, "high": high}
                say_json(
                    {
                        **values, "confidence": score.confidence, "cost": plain(found.cost),
                        "record": record.number, "replayed": record.replayed,
                    }
                )  # fmt: skip
                return
            ReadableConsole().say_facts(
                [
                    (found.name, str(score)),
                    ("cost", in_words(found.cost)),
                    ("record", f"{record.number}{', handed out again at no cost' if record.replayed else ''}"),
                ]
            )
