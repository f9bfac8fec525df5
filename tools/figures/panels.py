"""Panels side by side in the house style: axes, logarithmic scales with plain numbers, legends that hide nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, cast

from discreet.display import format_number
from discreet.display.plots import INK, SOFT, Plot, axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABEL, SMALL = 11.0, 9.5


def styled(drawn: Axes, *, x_label: str = "", y_label: str = "") -> Axes:
    """Give a further panel the look of the first, which `axes` made."""
    drawn.set_facecolor("white")
    for side in ("top", "right"):
        drawn.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        drawn.spines[side].set(color=SOFT, linewidth=0.8)
    drawn.tick_params(colors=SOFT, labelcolor=INK, labelsize=LABEL, width=0.8)
    drawn.set_xlabel(x_label, fontsize=LABEL, color=INK)
    drawn.set_ylabel(y_label, fontsize=LABEL, color=INK)
    return drawn


def side_by_side(
    title: str, *, left: tuple[str, str], right: tuple[str, str], height: float = 4.0, rows: int = 1
) -> tuple[Axes, Axes]:
    """Return two panels in the first of so many rows; each is given by the labels of its axes."""
    first = axes(title=title, x_label=left[0], y_label=left[1], width=7.6, height=height)
    figure = cast("Figure", first.figure)
    grid = figure.add_gridspec(rows, 2)
    first.set_subplotspec(grid[0, 0])
    return first, styled(figure.add_subplot(grid[0, 1]), x_label=right[0], y_label=right[1])


def logarithmic(panel: Axes, *, x: Sequence[float] = (), y: Sequence[float] = (), percent: bool = False) -> None:
    """Make the axes that are given ticks logarithmic, the ticks in plain numbers, those of y in percent if asked."""
    if x:
        panel.set_xscale("log")
        panel.set_xticks(list(x), [format_number(tick) for tick in x])
        panel.set_xticks([], minor=True)
    if y:
        panel.set_yscale("log")
        panel.set_yticks(list(y), [f"{format_number(100 * tick)} %" if percent else format_number(tick) for tick in y])
        panel.set_yticks([], minor=True)


def finished(*panels: Axes, corner: Literal["upper right", "center right", "upper left"] = "upper right") -> Plot:
    """Add light lines to read values by, and a legend in the corner that the curves leave free."""
    for panel in panels:
        panel.grid(color=SOFT, alpha=0.18, linewidth=0.8)
        panel.set_axisbelow(True)
        panel.legend(loc=corner, frameon=False, fontsize=SMALL, labelcolor=INK, handlelength=2.6, borderpad=0.1)
    return Plot(cast("Figure", panels[0].figure))
