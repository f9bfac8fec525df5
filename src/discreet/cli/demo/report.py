"""The demo as files: a self-contained HTML page with its drawings inside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.cli.console import Chapter, chapter_html
from discreet.cli.demo.narration import ATTACK, DEPARTMENTS
from discreet.display import figure, page
from discreet.display.plots import BLUE, INK, ORANGE, SOFT, Plot, axes, explained

if TYPE_CHECKING:
    from discreet.cli.demo.story import Story

CAPTIONS = {
    ATTACK: (
        "Secret bits recovered by the same 63 questions: from exact answers, and from private ones. The dashed line is "
        "the most that any attacker can expect at the price that was charged; half is guessing."
    ),
    DEPARTMENTS: (
        "Visits by department: private answers with their 95 % intervals. The true counts are drawn only because these "
        "people do not exist; they count every visit, the answers a bounded number of each patient's."
    ),
}


def drawings(story: Story) -> dict[str, Plot]:
    """Return the drawings of the story by name; needs the extra `plot`."""
    return {ATTACK: attack_plot(story), DEPARTMENTS: department_plot(story)}


def attack_plot(story: Story) -> Plot:
    """Draw the frequency of recovered bits as bars, with guessing and the ceiling as lines."""
    drawn = axes(title="What 63 counts give away", x_label="secret bits recovered, %", height=2.9)
    shares = [100 * (one.recovered or 0.0) for one in (story.plain, story.private)]
    drawn.barh([1, 0], shares, height=0.55, color=[ORANGE, BLUE])
    for place, share in zip((1, 0), shares, strict=True):
        drawn.text(share - 1, place, f"{share:.1f} %", va="center", ha="right", color="white", fontweight="bold")
    drawn.axvline(50, color=SOFT, linewidth=1.4, linestyle=":", label="guessing")
    if story.private.ceiling is not None:
        top = 100 * story.private.ceiling.upper
        drawn.axvline(top, color=INK, linewidth=1.6, linestyle="--", label=f"ceiling for any attacker, {top:.1f} %")
    drawn.set_yticks([1, 0], ["exact answers", "private answers"])
    drawn.tick_params(axis="y", length=0)
    drawn.set_xlim(0, 104)
    drawn.set_ylim(-0.55, 1.55)
    return explained(drawn, ncols=2)


def department_plot(story: Story) -> Plot:
    """Draw the private counts as bars with their intervals, and the true counts of these invented people."""
    answer = story.departments
    names = [str(name) for name in answer["department"]]
    estimates = answer.estimates("visits")
    values = [float(one.value) for one in estimates]
    reach = [[value - one.ends[0] for value, one in zip(values, estimates, strict=True)],
             [one.ends[1] - value for value, one in zip(values, estimates, strict=True)]]  # fmt: skip
    rows = range(len(names))
    drawn = axes(title="Visits by department", x_label="visits", height=4.6)
    drawn.barh(rows, values, height=0.62, color=BLUE, alpha=0.75, label="private answer, 95 % interval")
    drawn.errorbar(values, rows, xerr=reach, fmt="none", ecolor=INK, elinewidth=1.8, capsize=4)
    drawn.plot(story.truth, rows, "|", color=ORANGE, markersize=19, markeredgewidth=2.4, label="true count (synthetic)")
    drawn.set_yticks(rows, names)
    drawn.tick_params(axis="y", length=0)
    drawn.invert_yaxis()
    return explained(drawn, ncols=2)


def write_report(chapters: Iterable[Chapter], directory: Path, *, plots: Mapping[str, Plot]) -> Path:
    """Write the page into a directory that is made when missing; return its path."""
    directory.mkdir(parents=True, exist_ok=True)
    drawn = {name: figure(plot.svg(), description=CAPTIONS[name]) for name, plot in plots.items()}
    body = "\n".join(chapter_html(part, drawn.get(part.drawing, "")) for part in chapters)
    target = directory / "report.html"
    target.write_text(page("discreet: a demo", body), encoding="utf-8")
    return target
