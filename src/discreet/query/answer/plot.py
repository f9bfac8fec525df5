"""The picture of an answer: bars or a line, with error bars."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from discreet.display import visible
from discreet.display.plots import BLUE, INK, SOFT, Plot, axes
from discreet.errors import ParameterError
from discreet.privacy.estimate import NO_INTERVAL
from discreet.query.answer.answer import Answer
from discreet.query.answer.ends import around
from discreet.query.pricing import in_one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.query.measures import Estimated

_MOST_BARS = 60
_MOST_TICKS = 8
_NOTE_LETTERS, _NOTE_LINE = 110, 0.16  # a line of the note, and its height in inches


@dataclass(frozen=True, slots=True)
class _Drawn:
    """What is drawn: a value for each key, and how far its interval reaches below and above."""

    name: str
    keys: Sequence[str]
    labels: list[tuple[Any, ...]]
    values: list[float]
    below: list[float]
    above: list[float]
    title: str


def answer_plot(answer: Answer, column: str | None, confidence: float) -> Plot:
    """Draw one aggregate of an answer, or what was computed from some, against its keys."""
    measured = answer.measured + answer.derived
    if not measured:
        raise ParameterError("this answer has no aggregate and nothing computed from one, so there is nothing to draw")
    name = column if column is not None else measured[0]
    if name not in measured:
        raise ParameterError(f"{name!r} is not an aggregate of this answer; there are {', '.join(measured)}")
    estimates = [(value, *around(value, low, high)) for value, low, high in answer._intervals(name, confidence)]
    keys = answer.keys
    drawn = _Drawn(
        name=name,
        keys=keys,
        labels=list(zip(*(answer[key] for key in keys), strict=True)) if keys else [("",)] * len(estimates),
        values=[math.nan if value is None else float(value) for value, _, _ in estimates],  # NULL is not drawn
        below=[0.0 if low is None else float(value - low) for value, low, _ in estimates],
        above=[0.0 if high is None else float(high - value) for value, _, high in estimates],
        title=f"{name}, {_interval_words(estimates, confidence)}",
    )
    missing = "all" if answer.priced.query.totals else "NULL"  # public keys are NULL in totals alone
    plot = _line(drawn) if len(keys) == 1 and _ordered(answer[keys[0]]) else _bars(drawn, missing)
    if answer.left_out:
        words = textwrap.fill(visible(f"Left out: {in_one_line(answer.left_out, answer.priced)}."), _NOTE_LETTERS)
        plot.figure.set_figheight(plot.figure.get_figheight() + _NOTE_LINE * (words.count("\n") + 2))
        plot.figure.supxlabel(words, fontsize=8, color=SOFT, x=0.02, ha="left", parse_math=False)
    return plot


def _interval_words(estimates: Sequence[Estimated], confidence: float) -> str:
    """Say which intervals are drawn; all of a column are bought, or none."""
    bought = not estimates or any(low is not None for _, low, _ in estimates)
    return f"with {100 * confidence:.12g} % intervals" if bought else NO_INTERVAL


def _line(drawn: _Drawn) -> Plot:
    """Draw the values along their keys, in the order of the keys."""
    from matplotlib import dates, ticker

    order = sorted(range(len(drawn.labels)), key=lambda place: drawn.labels[place][0])
    places, values, below, above = (
        [column[place] for place in order]
        for column in ([label[0] for label in drawn.labels], drawn.values, drawn.below, drawn.above)
    )
    shown = axes(title=drawn.title, x_label=drawn.keys[0], y_label=drawn.name)
    shown.errorbar(places, values, yerr=[below, above], color=BLUE, ecolor=INK, elinewidth=1, capsize=2, marker="o")
    if isinstance(places[0], date):
        locator = dates.AutoDateLocator(maxticks=_MOST_TICKS)  # type: ignore[no-untyped-call]
        shown.xaxis.set_major_locator(locator)
        shown.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    else:
        whole = all(isinstance(place, int) for place in places)
        shown.xaxis.set_major_locator(ticker.MaxNLocator(nbins=_MOST_TICKS, integer=whole))
    return Plot(shown.figure)  # type: ignore[arg-type]


def _bars(drawn: _Drawn, missing: str) -> Plot:
    """Draw a bar for each of the first groups."""
    shown = slice(0, _MOST_BARS)
    words = [
        ", ".join(missing if value is None else visible(str(value)) for value in label) for label in drawn.labels[shown]
    ]
    count, whole = len(words), len(drawn.values)
    panel = axes(
        title=drawn.title + (f" (first {count} of {whole})" if whole > count else ""),
        x_label=drawn.name,
        y_label=", ".join(drawn.keys),
        height=max(1.6, 1.1 + 0.28 * count),
    )
    if not count:
        panel.set(xticks=[], yticks=[])
        panel.text(0.5, 0.5, "no group was named", transform=panel.transAxes, color=INK, ha="center", va="center")
        return Plot(panel.figure)  # type: ignore[arg-type]
    places = list(range(count))[::-1]
    reach = [drawn.below[shown], drawn.above[shown]]
    style = {"elinewidth": 1, "capsize": 2, "ecolor": INK}
    panel.barh(places, drawn.values[shown], height=0.7, xerr=reach, color=BLUE, error_kw=style)
    panel.set_yticks(places, words, parse_math=False)
    panel.set_ylim(-0.6, count - 0.4)
    return Plot(panel.figure)  # type: ignore[arg-type]


def _ordered(values: Sequence[object]) -> bool:
    """Say whether keys are numbers or dates, more than two, to be drawn along a line."""
    return len(values) > 2 and all(
        isinstance(value, int | float | date) and not isinstance(value, bool) for value in values
    )
