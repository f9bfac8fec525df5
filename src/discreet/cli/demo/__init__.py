"""`discreet demo`: the main job from end to end, on an invented hospital that is attacked without and with it."""

from __future__ import annotations

from pathlib import Path

import click

from discreet.cli import options
from discreet.cli.console import ReadableConsole, answering, spinner
from discreet.cli.demo.narration import chapters
from discreet.cli.demo.report import drawings, write_report
from discreet.cli.demo.stage import ANALYST, ATTACKER, Stage, build
from discreet.cli.demo.story import Story, tell
from discreet.display.plots import Plot
from discreet.errors import MissingExtra

_FEWEST, _MOST = 5040, 100_000  # fewer bits would make the claims of the demo a matter of luck


@options.command()
@options.stated("--people", click.IntRange(_FEWEST, _MOST), _FEWEST, "Invented patients.")
@options.stated("--seed", click.IntRange(min=0), 2026, "Seed of the invented patients; the noise has none.")
@options.stated(
    "--out",
    click.Path(file_okay=False, path_type=Path),
    Path("discreet-demo"),
    "Folder for the report, the database, the policy and the ledger.",
)
@click.option("--no-plot", is_flag=True, help="Write the report without drawings.")
def demo(people: int, seed: int, out: Path, no_plot: bool) -> None:
    """Attack plain answers about an invented hospital, then ask the same through discreet, and look at the ledger.

    Exits with code 1 if one of its claims does not hold.
    """
    console = ReadableConsole()
    with answering():
        with spinner(console, "Inventing a hospital, attacking it, asking about it"):
            stage = build(out, people=people, seed=seed)
            story = tell(stage, seed=seed)
        told = chapters(story)
        for part in told:
            console.show(part)
        with spinner(console, "Writing the report"):
            plots, reason = ({}, "") if no_plot else _plots(story)
            report = write_report(told, out, plots=plots)
        if reason:
            console.say(f"Nothing was drawn: {reason}")
        console.print()
        console.say_written(report)
        console.say("Now ask yourself; what the demo left of the budget is yours:")
        for line in _to_try(stage):
            console.say_plainly(f"  {line}", soft_wrap=True)
        failed = [claim.words for claim in story.claims if not claim.held]
        if failed:
            raise click.ClickException(f"this did not hold: {'; '.join(failed)}")


def _to_try(stage: Stage) -> list[str]:
    """Return commands that work on what the demo wrote."""
    query = "SELECT region, COUNT(*) AS patients FROM patients GROUP BY region"
    where = f"--policy {stage.policy}"
    return [
        f'discreet ask "{query}" --epsilon 0.25 --analyst {ANALYST} {where}',
        f"discreet budget --analyst {ANALYST} {where}",
        f"discreet ledger verify {where}",
    ]


def _plots(story: Story) -> tuple[dict[str, Plot], str]:
    """Return the drawings, or the reason why there are none."""
    try:
        return drawings(story), ""
    except MissingExtra as missing:
        return {}, str(missing)
