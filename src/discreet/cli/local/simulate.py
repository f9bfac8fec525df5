"""`discreet local simulate`: invented fleets report through the real protocols; their error beside its law."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import click

from discreet.cli import options
from discreet.cli.console import ReadableConsole, answering, spinner
from discreet.cli.options import Written
from discreet.local import simulate as simulated

_MOST = 10_000_000


@options.command()
@options.stated(
    "--people",
    click.IntRange(100, _MOST),
    (10_000, 100_000, 1_000_000),
    "People in a fleet; repeat it for several.",
    many=True,
)
@options.stated("--categories", click.IntRange(2, 1 << 22), 1024, "Public number of categories.")
@options.stated(
    "--epsilon",
    Written(),
    ("0.5", "1", "2", "4"),
    "Price of a report; repeat it for several.",
    into="epsilons",
    many=True,
)
@options.stated(
    "--exponent",
    click.FloatRange(0.0, 5.0),
    1.1,
    "How skewed the fleet is: the r-th category is held with weight r^-exponent.",
)
@options.stated("--seed", click.IntRange(min=0), 2026, "Seed of the invented people; the reports have none.")
@options.plot_to("the error against epsilon")
def simulate(
    people: tuple[int, ...],
    categories: int,
    epsilons: tuple[Fraction, ...],
    exponent: float,
    seed: int,
    plot_file: Path | None,
) -> None:
    """Let invented fleets report, and compare the error with its law."""
    console = ReadableConsole()
    with answering():
        with spinner(console, "Reporting") as tell:
            found = simulated(
                people=people, categories=categories, epsilons=epsilons, exponent=exponent, seed=seed,
                progress=lambda done, total: tell(f"Reporting: {done} of {total} fleets"),
            )  # fmt: skip
        console.say_table(found.table())
        console.say(
            "The optimum is the least error that any protocol of pure local privacy reaches for a rare value out of "
            "very many. Four times the people halve the error; so does, for small epsilon, twice the epsilon.",
        )
        if plot_file is not None:
            console.say_written(found.plot().save(plot_file))
