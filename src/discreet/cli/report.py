"""The demo as files: a self-contained HTML page, and the plot of the ward counts on its own."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from discreet.cli.demo import CONFIDENCE, EPSILON, WardCounts
from discreet.cli.narration import Chapter
from discreet.display import figure, page, paragraph, section
from discreet.display.plots import Plot, plot_interval

PLOT_CAPTION = (
    f"People per ward: private answers at epsilon {EPSILON:g} with intervals that hold together with at least "
    f"{100 * CONFIDENCE:g} % confidence. The true values are drawn only because these people do not exist."
)


def ward_plot(wards: WardCounts) -> Plot:
    """Draw the private answers with their intervals, and the true counts of these invented people."""
    answers = np.array(wards.answers)
    return plot_interval(
        wards.wards,
        answers,
        answers - wards.error,
        answers + wards.error,
        truth=wards.exact,
        title=f"People per ward, answered at epsilon {EPSILON:g}",
        x_label="people",
        names=(f"private answer, {100 * CONFIDENCE:g} % interval", "true count (synthetic people)"),
    )


def write_report(chapters: Iterable[Chapter], directory: Path, *, plot: Plot | None) -> list[Path]:
    """Write the page, and the plot if there is one, into a directory that is made when missing; return the paths."""
    directory.mkdir(parents=True, exist_ok=True)
    drawing = "" if plot is None else figure(plot.svg(), description=PLOT_CAPTION)
    body = "\n".join(chapter_html(part, drawing) for part in chapters)
    target = directory / "report.html"
    target.write_text(page("discreet: a demo", body), encoding="utf-8")
    drawings = [] if plot is None else [plot.save(directory / "wards.svg"), plot.save(directory / "wards.png")]
    return [target, *drawings]


def chapter_html(part: Chapter, drawing: str = "") -> str:
    """Return one chapter as HTML, with the drawing where it belongs."""
    illustration = drawing if part.illustrated else ""
    return section(
        part.title, *map(paragraph, part.before), part.table.html(), illustration, *map(paragraph, part.after)
    )
