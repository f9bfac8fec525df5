"""The commands themselves, declared with click and printed with rich; imported only once both are known to be there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import click
from rich.console import Console

from discreet._version import __version__
from discreet.cli.demo import WardCounts, tell
from discreet.cli.narration import Chapter, chapters
from discreet.cli.report import ward_plot, write_report
from discreet.data import hospital
from discreet.display.plots import Plot
from discreet.errors import DiscreetError, MissingExtra

_WIDEST = 88


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="discreet", message="%(prog)s %(version)s")
def program() -> None:
    """Ask about everyone, learn about no one: differential privacy for tables."""


@program.command()
@click.option(
    "--people", type=click.IntRange(100, 1_000_000), default=2000, show_default=True, help="Invented patients."
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=2026,
    show_default=True,
    help="Seed of the invented patients; the noise has none.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("discreet-demo"),
    show_default=True,
    help="Directory for the report and the plot.",
)
@click.option("--no-plot", is_flag=True, help="Write the report without the plot.")
def demo(people: int, seed: int, out: Path, no_plot: bool) -> None:
    """Attack exact answers about an invented hospital, then answer the same questions privately."""
    console = _console()
    with _friendly():
        with _spinner(console, "Inventing a hospital and answering questions about it"):
            story = tell(hospital(people=people, seed=seed), seed=seed)
        parts = chapters(story)
        for part in parts:
            _show(console, part)
        with _spinner(console, "Writing the report"):
            plot, reason = (None, "") if no_plot else _plot(story.wards)
            written = write_report(parts, out, plot=plot)
    if reason:
        _say(console, f"No plot was drawn: {reason}")
    console.print()
    for path in written:
        # a path must stay on one line to be clicked or copied
        console.print(f"Wrote {path.resolve()}", soft_wrap=True, markup=False, highlight=False)


def _plot(wards: WardCounts) -> tuple[Plot | None, str]:
    """Return the plot, or the reason why there is none."""
    try:
        return ward_plot(wards), ""
    except MissingExtra as missing:
        return None, str(missing)


def _console() -> Console:
    """Return a console no wider than people like to read."""
    console = Console()
    console.width = min(console.width, _WIDEST)
    return console


def _spinner(console: Console, words: str) -> AbstractContextManager[object]:
    """Show that work goes on, on a terminal only; logs and pipes stay clean."""
    return console.status(words) if console.is_terminal else nullcontext()


def _show(console: Console, part: Chapter) -> None:
    """Print one chapter."""
    console.print(f"\n{part.title}", style="bold", markup=False, highlight=False)
    for sentence in part.before:
        _say(console, sentence)
    console.print(f"\n{part.table}", soft_wrap=True, markup=False, highlight=False)
    for sentence in part.after:
        _say(console, sentence)


def _say(console: Console, sentence: str) -> None:
    """Print one paragraph, wrapped between words."""
    console.print(f"\n{sentence}", markup=False, highlight=False)


@contextmanager
def _friendly() -> Iterator[None]:
    """Turn what a user can mend into one line and exit code 1."""
    try:
        yield
    except DiscreetError as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"cannot write {error.filename}: {error.strerror}") from None
