"""`discreet attack inversion`: a secret bit from a regression and the rest of a record, plain and private."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

import click

from discreet import attacks
from discreet.cli import options
from discreet.cli.attack import telling
from discreet.cli.attack.models import targets
from discreet.cli.attack.telling import at_most, percent
from discreet.cli.console import Chapter, ReadableConsole, answering, spinner
from discreet.display import Table, format_number


@options.command()
@telling.people(60, least=20, most=10_000)
@telling.seed()
@options.stated("--columns", click.IntRange(2, 2000), 50, "Bits known of a person, the secret one included.")
@options.stated("--models", click.IntRange(2, 10_000), 200, "Models trained, each on people of its own.")
@telling.epsilon(0.01, 20, "Price of a private model.")
@targets.delta()
def inversion(people: int, seed: int, columns: int, models: int, epsilon: float, delta: float) -> None:
    """Guess a secret bit of people from a model and the rest of their record.

    Takes about two seconds.
    """
    with answering():
        with spinner(ReadableConsole(), "Training models and inverting them"):
            plain = _attacked(targets.plain_doses, people, columns, models, seed)
            private = _attacked(lambda: targets.doses(epsilon, delta, people), people, columns, models, seed)
        rows = [["plain", *_shares(plain)], [f"private, epsilon {format_number(epsilon)}", *_shares(private)]]
        ReadableConsole().show(_chapter(rows, people, columns, models))


def _attacked(make: Callable[[], Any], people: int, columns: int, models: int, seed: int) -> attacks.Inversion:
    """Train and invert many models."""
    found: list[attacks.Inversion] = []
    for place in range(models):
        members, outsiders = attacks.invented_doses(people=people, columns=columns, seed=seed + place)
        model = make().fit(*members)
        loss = getattr(model, "loss_", None) if not found else None  # all models have one price
        found.append(attacks.inversion(model, members, outsiders, secret=0, loss=loss))
    total = reduce(add, found)
    return attacks.Inversion(total.members, total.outsiders, found[0].ceiling)


def _shares(found: attacks.Inversion) -> list[object]:
    rates = [percent(found.member_rate), percent(found.outsider_rate), percent(found.gap)]
    return [*rates, "100 %" if found.ceiling is None else at_most(found.ceiling)]


def _chapter(rows: list[list[object]], people: int, columns: int, models: int) -> Chapter:
    """Tell what came of it."""
    return Chapter(
        "A secret bit from a model",
        (
            f"A regression of a dose on {columns:,} bits is trained on {people:,} invented people and published. The "
            "attacker knows all of a record but one bit, and takes the value under which the model is less wrong about "
            f"the dose. {models:,} models are attacked, each with as many people who were not in it.",
        ),
        Table(["model", "members", "outsiders", "gap", "gap at most"], rows),
        (
            "What is right about outsiders is a fact about the population, which no protection hides. What is right "
            "about members beyond that is theirs, and the price of the training limits it for any attack.",
        ),
    )
