"""The commands themselves, declared with click and printed with rich; imported only once both are known to be there."""

from __future__ import annotations

from pathlib import Path

import click

from discreet._version import __version__
from discreet.cli.account import account
from discreet.cli.console import friendly, readable_console, say, say_written, show, spinner
from discreet.cli.demo import WardCounts, tell
from discreet.cli.narration import chapters
from discreet.cli.report import ward_plot, write_report
from discreet.data import hospital
from discreet.display.plots import Plot
from discreet.errors import MissingExtra


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="discreet", message="%(prog)s %(version)s")
def program() -> None:
    """Ask about everyone, learn about no one: differential privacy for tables."""


program.add_command(account)


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
    console = readable_console()
    with friendly():
        with spinner(console, "Inventing a hospital and answering questions about it"):
            story = tell(hospital(people=people, seed=seed), seed=seed)
        parts = chapters(story)
        for part in parts:
            show(console, part)
        with spinner(console, "Writing the report"):
            plot, reason = (None, "") if no_plot else _plot(story.wards)
            written = write_report(parts, out, plot=plot)
    if reason:
        say(console, f"No plot was drawn: {reason}")
    console.print()
    for path in written:
        say_written(console, path)


def _plot(wards: WardCounts) -> tuple[Plot | None, str]:
    """Return the plot, or the reason why there is none."""
    try:
        return ward_plot(wards), ""
    except MissingExtra as missing:
        return None, str(missing)
