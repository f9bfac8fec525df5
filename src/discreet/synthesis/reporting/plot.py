"""Pictures of errors: how many queries are how far off, and how errors fall as epsilon grows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from discreet.display import Table, format_number
from discreet.display.plots import BLUE, GREEN, INK, ORANGE, SOFT, Plot, axes, explained, styled
from discreet.display.result import told_in_a_table
from discreet.errors import ParameterError
from discreet.privacy.numbers import positive, whole
from discreet.synthesis.base import Synthesizer
from discreet.synthesis.domain import Records
from discreet.synthesis.reporting.prediction import Prediction

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PURPLE = "#8b4a86"
_LOOKS = (
    (BLUE, "-", "o"),
    (ORANGE, "--", "s"),
    (GREEN, "-.", "D"),
    (PURPLE, ":", "^"),
    (INK, "-", "v"),
    (SOFT, "--", "P"),
)
_LEGEND = {"fontsize": 9.5, "handlelength": 3.2}


@told_in_a_table
@dataclass(frozen=True, eq=False, repr=False)
class ErrorCurves:
    """Average and maximum error of several methods at several epsilons, each a mean over releases of one table.

    It was computed from the private table and is not private. `average` and `maximum` have one row for each method.
    """

    methods: tuple[str, ...]
    epsilons: tuple[float, ...]
    average: NDArray[np.float64]
    maximum: NDArray[np.float64]
    repeats: int

    def __repr__(self) -> str:
        return f"ErrorCurves({', '.join(self.methods)}; {len(self.epsilons)} epsilons, private)"

    def table(self) -> Table:
        """Return one line for each method and epsilon."""
        rows = [
            (name, epsilon, self.average[row, place], self.maximum[row, place])
            for row, name in enumerate(self.methods)
            for place, epsilon in enumerate(self.epsilons)
        ]
        caption = f"means of {self.repeats} releases (computed from the private table: do not publish)"
        return Table(("method", "epsilon", "average", "maximum"), rows, caption, digits=3)

    def plot(self, *, title: str = "Error against epsilon (private: do not publish)") -> Plot:
        """Draw the average on the left and the maximum on the right, both axes logarithmic; needs the extra `plot`."""
        left = axes(title=title, x_label="epsilon", y_label="average error", width=7.6, height=4.4)
        figure = cast("Figure", left.figure)
        grid = figure.add_gridspec(1, 2)
        left.set_subplotspec(grid[0])
        right = styled(figure.add_subplot(grid[1]), x_label="epsilon", y_label="maximum error")
        for row, name in enumerate(self.methods):
            color, line, marker = _LOOKS[row % len(_LOOKS)]
            for panel, heights in ((left, self.average[row]), (right, self.maximum[row])):
                label = name if panel is left else None
                panel.plot(
                    self.epsilons, heights, line, marker=marker, color=color, linewidth=1.9, markersize=5, label=label
                )
        for panel, values in ((left, self.average), (right, self.maximum)):
            _logarithmic(panel, self.epsilons, values)
        return explained(left, ncols=min(4, len(self.methods)), **_LEGEND)


def error_curve(
    methods: Mapping[str, Callable[[float], Synthesizer]],
    records: Records,
    epsilons: Sequence[float],
    *,
    repeats: int = 1,
) -> ErrorCurves:
    """Release a table by every method at every epsilon, `repeats` times each, and measure the errors.

    `methods` are functions from epsilon to a synthesizer. What comes back is for the owner of the records: it is
    computed from them without noise, and the releases made on the way are not charged anywhere.
    """
    if not methods or not epsilons:
        raise ParameterError("name at least one method and one epsilon", parameter="methods")
    times, levels = whole(repeats, name="repeats"), tuple(float(positive(one, name="epsilon")) for one in epsilons)
    if times < 1:
        raise ParameterError("repeats must be at least 1", parameter="repeats")
    found = np.array([[_measured(make, one, records, times) for one in levels] for make in methods.values()])
    return ErrorCurves(tuple(methods), levels, found[:, :, 0], found[:, :, 1], times)


def _measured(
    make: Callable[[float], Synthesizer], epsilon: float, records: Records, repeats: int
) -> tuple[float, float]:
    """Return the mean of average and maximum errors over some releases."""
    synthesizer = make(epsilon)
    exact = synthesizer.workload.frequencies(records)
    off = [np.abs(synthesizer(records).answers - exact) for _ in range(repeats)]
    return float(np.mean([one.mean() for one in off])), float(np.mean([one.max() for one in off]))


def plot_errors(
    method: str,
    differences: NDArray[np.float64],
    beside: Sequence[tuple[str, NDArray[np.float64]]],
    prediction: Prediction | None,
) -> Plot:
    """Draw, for each set of answers, the frequency of queries whose error is larger than x, against x."""
    drawn = axes(
        title=f"Errors of {len(differences):,} answers (private: do not publish)",
        x_label="absolute error",
        y_label="queries with a larger error",
        height=4.8,
    )
    sets = [(method, differences), *beside]
    largest = max(float(np.abs(one).max()) for _, one in sets) or 1.0
    least = max(float(np.quantile(np.abs(differences), 0.05)), 1e-4 * largest)
    for place, (name, one) in enumerate(sets):
        errors = np.maximum(np.sort(np.abs(one)), least)  # smaller ones stand at the edge
        share = 1 - np.arange(len(errors)) / len(errors)
        color, line, marker = _LOOKS[place % len(_LOOKS)]
        kept = _thinned(len(errors))
        drawn.plot(errors[kept], share[kept], line, color=color, linewidth=2.2 if place == 0 else 1.6, label=name)
        drawn.plot(errors[-1:], share[-1:], marker, color=color, markersize=6, clip_on=False)
    if prediction is not None and prediction.maximum is not None and prediction.maximum < 1:
        words = f"none beyond this, predicted ({100 * prediction.confidence:g} %)"
        drawn.axvline(prediction.maximum, color=SOFT, linewidth=1.4, linestyle=(0, (1, 1.5)), label=words)
        largest = max(largest, 1.2 * prediction.maximum)
    drawn.set_xscale("log")
    drawn.set_yscale("log")
    drawn.set_xlim(least, 1.15 * largest)
    drawn.set_ylim(0.7 / len(differences), 1.1)
    _plain_ticks(drawn, least, 1.15 * largest)
    drawn.grid(color=SOFT, alpha=0.18, linewidth=0.8)
    drawn.set_axisbelow(True)
    return explained(drawn, ncols=3, **_LEGEND)


def _thinned(count: int) -> NDArray[np.int64]:
    """Return places to draw: all of a few, else many from both ends, so that a file stays small."""
    if count <= 600:
        return np.arange(count)
    tail = count - np.unique(np.round(np.logspace(0, np.log10(count), 300)).astype(np.int64))
    kept: NDArray[np.int64] = np.unique(np.concatenate([tail, np.linspace(0, count - 1, 300).astype(np.int64)]))
    return kept


def _logarithmic(panel: Axes, epsilons: Sequence[float], values: NDArray[np.float64]) -> None:
    """Make both axes logarithmic with plain numbers."""
    panel.set_xscale("log")
    panel.set_yscale("log")
    low, high = 0.8 * max(float(values.min()), 1e-9), 1.25 * float(values.max())
    panel.set_ylim(low, high)
    panel.set_xticks(list(epsilons), [format_number(one) for one in epsilons])
    panel.set_xticks([], minor=True)
    ticks = _round_numbers(low, high)
    panel.set_yticks(ticks, [format_number(one) for one in ticks])
    panel.set_yticks([], minor=True)
    panel.grid(color=SOFT, alpha=0.18, linewidth=0.8)
    panel.set_axisbelow(True)


def _plain_ticks(drawn: Axes, least: float, most: float) -> None:
    """Write errors as plain numbers and frequencies as percentages."""
    ticks = _round_numbers(least, most)
    drawn.set_xticks(ticks, [format_number(one) for one in ticks])
    drawn.set_xticks([], minor=True)
    low = drawn.get_ylim()[0]
    shares = [10.0**-power for power in range(8) if 10.0**-power >= low]
    drawn.set_yticks(shares, [f"{format_number(100 * one)} %" for one in shares])
    drawn.set_yticks([], minor=True)


def _round_numbers(low: float, high: float) -> list[float]:
    """Return numbers 1, 2, 5 times powers of ten in a range, fewer of them where the range is long."""
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    steps = (1, 2, 5) if high < 40 * low else (1, 3) if high < 400 * low else (1,)
    return [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]
