"""What the attacks share on the command line: how many people, the seed of their invention, tables of frequencies."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from discreet import attacks
from discreet.cli.console import Chapter, ReadableConsole
from discreet.cli.options import Decorator, stated
from discreet.display import Table
from discreet.display.plots import Plot


def people(default: int, *, least: int, most: int) -> Decorator:
    """Return the option that says how many people are invented."""
    return stated("--people", click.IntRange(least, most), default, "Invented people.")


def seed(default: int = 2026) -> Decorator:
    """Return the option that seeds the invention of people and the attack's own choices."""
    words = "Seed of the invented people, the attack's choices and a toy's noise; discreet's noise has no seed."
    return stated("--seed", click.IntRange(min=0), default, words)


def epsilon(least: float, most: float, words: str, *, default: float = 1.0) -> Decorator:
    """Return the option that states the price of what is released privately."""
    return stated("--epsilon", click.FloatRange(least, most), default, words)


def rho(most: float) -> Decorator:
    """Return the option that states the whole budget of a session."""
    return stated("--rho", click.FloatRange(1e-6, most), 2.0, "Budget of discreet.")


def against() -> Decorator:
    """Return the option that says who answers."""
    words = "Who answers: a plain table, a curator who adds noise, or a session of discreet."
    return stated("--against", click.Choice(["plain", "noisy", "discreet"]), "plain", words)


def compact(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Table:
    """Return a table without the columns that say nothing in any row.

    >>> print(compact(["who", "expected"], [["a session", ""]]))
    who
    ---------
    a session
    """
    kept = [place for place in range(len(columns)) if any(row[place] not in ("", None) for row in rows)]
    return Table([columns[place] for place in kept], [[row[place] for place in kept] for row in rows])


def percent(share: float | None) -> str:
    """Write a frequency in percent, to a tenth, or nothing."""
    return "" if share is None else f"{100 * share:.1f} %"


def at_most(share: float | None) -> str:
    """Write a frequency in percent, rounded up to a tenth, or nothing.

    >>> at_most(0.5001)
    '50.1 %'
    """
    return "" if share is None else f"{-(-1000 * share // 1) / 10:.1f} %"


def shares(found: attacks.Reconstruction) -> list[str]:
    """Return the frequencies recovered, expected, certain (rounded down) and possible (rounded up), and the time."""
    certain = None if found.floor is None else math.floor(1000 * found.floor) / 1000
    highest = None if found.ceiling is None else math.ceil(1000 * found.ceiling.upper) / 1000
    parts = [found.recovered, found.expected, certain, highest]
    return [*(percent(part) for part in parts), f"{found.seconds:.2f}"]


def tell(chapters: list[Chapter], *, plot: Callable[[], Plot], plot_file: Path | None) -> None:
    """Print the chapters, and draw where asked."""
    console = ReadableConsole()
    for chapter in chapters:
        console.show(chapter)
    if plot_file is not None:
        console.say_written(plot().save(plot_file))
