"""`discreet attack ratings`: find rows of a sparse table by a few remarks, and what private counts leave to find."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from discreet import attacks
from discreet.cli import options
from discreet.cli.attack import telling
from discreet.cli.console import Chapter, ReadableConsole, answering, spinner
from discreet.data import Ratings
from discreet.data import ratings as invented
from discreet.display import Table, format_number
from discreet.privacy import Relation
from discreet.statistics import histogram

_ROWS, _SHOWN = 10, 8


@options.command()
@telling.people(20_000, least=500, most=200_000)
@telling.seed()
@options.stated("--items", click.IntRange(100, 50_000), 4000, "Invented items.")
@options.stated("--targets", click.IntRange(10, 400), 100, "People looked for.")
@options.stated("--wrong", click.FloatRange(0, 0.9), 0.25, "Share of wrong remarks.")
@options.stated("--threshold", click.FloatRange(0, 100), 6.0, "Least eccentricity of a claim.")
@telling.epsilon(0.01, 10, "Price of the private table.")
@options.plot_to()
def ratings(
    people: int, seed: int, items: int, targets: int, wrong: float, threshold: float, epsilon: float,
    plot_file: Path | None,
) -> None:  # fmt: skip
    """Find people among sparse ratings by a few remarks about them, some of them wrong."""
    with answering():
        with spinner(ReadableConsole(), "Inventing ratings and looking for people"):
            table = invented(people=people, items=items, seed=seed)
            found = attacks.identify(table, wrong=wrong, targets=targets, threshold=threshold, seed=seed)
            private = _private(table, items, epsilon)
        chapter = Chapter(
            "A few remarks find a row",
            (
                f"{people:,} invented people rated {items:,} items. The table is published with numbers for names. "
                "Somebody overheard a few remarks about a person: which item, roughly how many stars, roughly when; "
                "some are about items the person never rated.",
            ),
            found.table(),
            (
                "Others expected: how many other people rated as many of these items, if everybody chose "
                "independently. Claimed if absent: the person's own row was taken out before.",
            ),
        )
        telling.tell([chapter, private], plot=found.plot, plot_file=plot_file)


def _private(table: Ratings, items: int, epsilon: float) -> Chapter:
    """Tell what is left to find when counts with noise are published instead of rows."""
    counts = histogram(
        table.item, keys=np.arange(items), relation=Relation.ADD_REMOVE, epsilon=epsilon, unit=table.person,
        rows=_ROWS,
    )  # fmt: skip
    highest = attacks.ceiling(counts.cost, flip=attacks.Flip.ONE_ROW).upper
    rows = [[str(key), counts[key].value, counts[key].low, counts[key].high] for key in range(_SHOWN)]
    return Chapter(
        "The same table, released privately",
        (
            f"Instead of rows, how often each item was rated, at epsilon {format_number(epsilon)} for everything a "
            f"person rated; whoever rated more than {_ROWS} items counts for {_ROWS} in all.",
        ),
        Table(["item", "ratings", "from", "to"], rows, f"The first {_SHOWN} of {items:,} items"),
        (
            "Whether a given person rated anything at all, if that was as likely as not before, nobody guesses right "
            f"from this with a chance above {telling.at_most(highest)}.",
        ),
    )
