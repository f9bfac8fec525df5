"""What the attacks share on the command line: how many people, the seed of their invention, where to draw.

What the local commands share: numbers taken as they are written.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from discreet.attacks import Reconstruction
from discreet.cli import console
from discreet.cli.console import Chapter, readable_console, say_written, show
from discreet.display import Table
from discreet.display.plots import Plot

if TYPE_CHECKING:
    Exact = click.ParamType[Fraction]
else:
    Exact = click.ParamType  # generic in newer versions only


Decorator = Callable[[Callable[..., None]], Callable[..., None]]
_SUFFIXES = (".svg", ".png", ".pdf")
SETTINGS = {"help_option_names": ["-h", "--help"]}


def people(default: int, *, least: int, most: int) -> Decorator:
    """Return the option that says how many people are invented."""
    return click.option(
        "--people", type=click.IntRange(least, most), default=default, show_default=True, help="Invented people."
    )


def seed(default: int = 2026) -> Decorator:
    """Return the option that seeds the invention of people and the attack's own choices."""
    words = "Seed of the invented people, the attack's choices and a toy's noise; discreet's noise has none."
    return click.option("--seed", type=click.IntRange(min=0), default=default, show_default=True, help=words)


def plot_to(what: str = "the result") -> Decorator:
    """Return the option that says where to draw the result; a file that cannot be drawn is refused before the work."""
    kind = click.Path(dir_okay=False, path_type=Path)
    words = f"Draw {what} into this file (.svg, .png, .pdf)."
    return click.option("--plot", "plot_file", type=kind, callback=_drawable, help=words)


def _drawable(_: click.Context, __: click.Parameter, target: Path | None) -> Path | None:
    """Refuse a file of another suffix, or where nothing can be written."""
    if target is None:
        return None
    if target.suffix not in _SUFFIXES:
        raise click.BadParameter(f"the file name must end in .svg, .png or .pdf, got {target.name!r}")
    if not target.parent.is_dir():
        raise click.BadParameter(f"there is no folder {str(target.parent)!r}; make it first")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise click.BadParameter(f"{str(target)!r} cannot be written")
    return target


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
    """Write a share in percent, to a tenth, or nothing."""
    return "" if share is None else f"{100 * share:.1f} %"


def tell(chapters: list[Chapter], *, plot: Callable[[], Plot], plot_file: Path | None) -> None:
    """Print the chapters, and draw where asked."""
    console = readable_console()
    for chapter in chapters:
        show(console, chapter)
    if plot_file is not None:
        say_written(console, plot().save(plot_file))


def shares(found: Reconstruction) -> list[str]:
    """Return the shares recovered, expected, certain (rounded down) and possible (rounded up), and the time."""
    certain = None if found.floor is None else math.floor(1000 * found.floor) / 1000
    highest = None if found.ceiling is None else math.ceil(1000 * found.ceiling.upper) / 1000
    parts = [found.fraction, found.expected, certain, highest]
    return [*(percent(part) for part in parts), f"{found.seconds:.2f}"]


_WRITTEN = re.compile(r"\d{1,18}(\.\d{0,18}|/\d{1,18})?|\.\d{1,18}", re.ASCII)

_KIND = re.compile(r"\bkeys=(Text|Integer|Bytes)Keys\((\d+)\)")
_OPTIONS = ("people", "values", "labels", "keys", "find", "seed", "bits", "largest")


class Written(Exact):
    """A positive number as it is written: 0.1 is one tenth, and 1/3 is a third."""

    name = "number"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Fraction:
        """Read a decimal or a fraction."""
        number = _number(str(value))
        if number is None or number <= 0:
            self.fail(f"{str(value)!r} is no positive number such as 0.5, 2 or 1/3", param, ctx)
        return number


class Bound(Exact):
    """An end of a public range as it is written, of either sign."""

    name = "number"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Fraction:
        """Read a decimal or a fraction with its sign."""
        text = str(value)
        number = _number(text.removeprefix("-"))
        if number is None:
            self.fail(f"{text!r} is no number such as 0, -2.5 or 1/3", param, ctx)
        return -number if text.startswith("-") else number


def _number(text: str) -> Fraction | None:
    """Read a decimal or a fraction without a sign, None if it is neither."""
    return Fraction(text) if _WRITTEN.fullmatch(text) and not re.fullmatch(r".*/0+", text) else None


def as_options(words: str) -> str:
    """Return a sentence that names parameters of the library with the options of the command instead.

    >>> as_options("ask for bits=1, or name them in labels=; as in keys=TextKeys(32)")
    'ask for --bits 1, or name them in --labels; as in --keys text:32'
    """
    words = _KIND.sub(lambda found: f"--keys {found[1].lower()}:{found[2]}", words)
    return console.as_options(words, _OPTIONS)


def labels(_: click.Context, __: click.Parameter, text: str | None) -> tuple[str, ...]:
    """Split a list of labels at its commas."""
    return () if text is None else tuple(label.strip() for label in text.split(","))
