"""`discreet audit museum`: right and broken mechanisms, each with the expected verdict."""

from __future__ import annotations

from pathlib import Path

import click
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

from discreet.cli import options
from discreet.cli.console import ReadableConsole, answering, progressing
from discreet.display import Table

_LEAST, _MOST = 2_000, 10_000_000
_COLUMNS = (TextColumn("Auditing {task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())


@options.command("museum")
@click.option("--statistical", is_flag=True, help="Also run every exhibit, and bound its loss from the runs alone.")
@options.stated("--draws", click.IntRange(_LEAST, _MOST), 50_000, "Runs of each exhibit, with --statistical.")
@click.option("--published", is_flag=True, help="Also compare the benchmark with what was published about it.")
@options.plot_to("claimed, true and published losses")
def audit_museum(*, statistical: bool, draws: int, published: bool, plot_file: Path | None) -> None:
    """Audit the museum of right and broken mechanisms; every verdict is known beforehand.

    Takes some seconds, and a few minutes with --statistical. Ends with exit code 1 if a verdict differs from the
    label.
    """
    with answering():
        from discreet.testing.museum import MUSEUM
        from discreet.testing.museum.tour import tour

        console, errors = ReadableConsole(), ReadableConsole(stderr=True)
        names = [*(exhibit.label.name for exhibit in MUSEUM), ""]
        with progressing(errors, _COLUMNS, "the museum", total=len(MUSEUM)) as update:
            found = tour(
                sampled=statistical,
                draws=draws,
                progress=lambda done, _: update(completed=done, description=names[done]),
            )
        console.say_table(_verdicts(found.table()))
        console.say(
            "'low' and 'high' bound the largest loss on the exhibit's own neighboring inputs, or epsilon at the delta "
            "of the guarantee (written epsilon, delta). A verdict that is not the one on the label says so. "
            f"{len(found.stops)} exhibits in {found.seconds:.1f} s.",
        )
        if statistical:
            console.say(
                f"'sampled' is what {draws:,} runs prove on the neighbors that are told apart best, right for all "
                "exhibits together except with a chance of 1e-9.",
            )
        if published:
            console.say_table(_published(found.bounds()))
            console.say("* exceeds the truth: a lower bound that is false. The published bounds hold at 90 % each.")
        if plot_file is not None:
            console.say_written(found.plot().save(plot_file))
        if found.surprises:
            raise click.ClickException(f"not the verdict on the label: {', '.join(found.surprises)}")
        console.say("Every verdict is the one on the label.")


def _verdicts(table: Table) -> Table:
    """Return the table with verdict and label in one column: they are the same, or both are shown."""
    verdict, label = table.columns.index("verdict"), table.columns.index("label")
    rows = []
    for row in table.rows:
        told = row[verdict] if row[verdict] == row[label] else f"{row[verdict]}, not {row[label]}"
        rows.append([*row[:verdict], told, *row[label + 1 :]])
    return Table([*table.columns[: verdict + 1], *table.columns[label + 1 :]], rows, table.caption)


def _published(table: Table) -> Table:
    """Return the published bounds with a column for each of the two that stand in one cell."""
    rows = [[*row[:-2], *(bound for cell in row[-2:] for bound in _pair(str(cell)))] for row in table.rows]
    names = [*table.columns[:-2], "logistic", "perceptron", "first", "second"]
    return Table(names, rows, "DP-Sniper (logistic, perceptron) and StatDP (first and second run)")


def _pair(cell: str) -> list[str]:
    """Return the two bounds of a cell; a tester that failed has one word for both."""
    bounds = cell.split(" / ")
    return [*bounds, ""] if len(bounds) == 1 else bounds
