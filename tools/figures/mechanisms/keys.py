"""Draw noise that ends, and how many people a key needs to be named."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

import discreet as dp
from discreet.display.plots import BLUE, GREEN, INK, ORANGE, SOFT, Plot, axes, plot_law
from discreet.mechanisms import KeyNoise, ThresholdedHistogram, TruncatedGeometric

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMALL = 10.0
EPSILON, DELTA = 0.5, 1e-6


def truncated_geometric() -> Plot:
    """The law on two neighboring counts: one outcome at each end belongs to one of them alone, and is worth delta."""
    mechanism = TruncatedGeometric(epsilon=0.5, delta=9e-3, sensitivity=1)
    reach = mechanism.reach
    places = np.arange(149 - reach, 153 + reach)
    masses = [np.asarray(mechanism.law(count).pmf(places), dtype=np.float64) for count in (151, 150)]
    plot = plot_law(
        places,
        masses[0],
        other=masses[1],
        title=f"Truncated geometric noise: never off by more than {reach}",
        x_label="answer",
        y_label="probability",
        names=("true count 151", "true count 150, one person less"),
    )
    drawn = plot.figure.axes[0]
    height = float(mechanism.law(0).pmf(reach))
    for place, side, shift in ((151 + reach, "right", 0.6), (150 - reach, "left", -0.6)):
        drawn.annotate(
            "delta: only one count\ngives this answer",
            (place, height),
            (place + shift, 0.11),
            arrowprops={"arrowstyle": "-", "color": SOFT, "linewidth": 1.0},
            horizontalalignment=side,
            fontsize=SMALL,
            color=INK,
        )
    return plot


def thresholded_histogram() -> Plot:
    """The exact chance of a key to be named, by the number of people who hold it, for three kinds of noise."""
    drawn = axes(
        title="Unknown keys: how many must hold one before it is named?",
        x_label=f"people who hold the key (epsilon {EPSILON}, delta {DELTA:g})",
        y_label="chance to be named",
    )
    looks = {
        KeyNoise.TRUNCATED_GEOMETRIC: (BLUE, "-", "truncated geometric"),
        KeyNoise.LAPLACE: (ORANGE, "--", "Laplace"),
        KeyNoise.GAUSSIAN: (GREEN, "-.", "Gaussian"),
    }
    counts = range(81)
    for kind, (color, style, name) in looks.items():
        histogram = ThresholdedHistogram(
            epsilon=EPSILON, delta=DELTA, keys=1, relation=dp.Relation.ADD_REMOVE, noise=kind
        )
        chances = [histogram.chance(count).estimate for count in counts]
        label = f"{name} (from {histogram.threshold} on)"
        drawn.plot(counts, chances, style, color=color, linewidth=2.2, label=label)
    drawn.plot([1], [0.0], "o", color=INK, markersize=6, zorder=5, clip_on=False)
    drawn.text(2.0, 0.06, "one person alone:\nat most delta", fontsize=SMALL, color=INK)
    drawn.set(xlim=(0, 80), ylim=(0, 1.02))
    drawn.set_yticks([0, 0.25, 0.5, 0.75, 1.0], ["0", "25 %", "50 %", "75 %", "100 %"])
    drawn.grid(color=SOFT, alpha=0.18, linewidth=0.8)
    drawn.set_axisbelow(True)
    figure = cast("Figure", drawn.figure)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, columnspacing=1.2, fontsize=SMALL, labelcolor=INK)
    return Plot(figure)
