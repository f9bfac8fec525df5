"""Draw how averaging over wordings removes sticky noise, and what it does to the answers of a session."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

import numpy as np

from discreet.attacks import StickyNoise, averaging, rephrasings
from discreet.display.plots import BLUE, GREEN, INK, ORANGE, SOFT, Plot
from tools.figures.panels import SMALL, logarithmic, side_by_side

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIGMA, EPSILON = 10.0, 1.0
COUNTS = (1, 4, 16, 64, 256)
SEEDS = range(100)
CONDITIONS, DUMMIES = ("a = 1", "b = 1", "c = 1"), ("d >= 0", "e >= 0")


def averaged() -> Plot:
    """Draw the error of an average against the number of wordings: a toy engine, and a session of a fixed budget."""
    left, right = side_by_side(
        "Averaging the answers to one question in many words",
        left=("wordings", "standard error of the average"),
        right=("wordings", ""),
        height=5.0,
    )
    places = np.logspace(0, math.log10(COUNTS[-1]), 60)
    left.plot(
        places, SIGMA * np.sqrt(2 / places), "--", color=GREEN, linewidth=2.2, label="noise by rows, sums of two counts"
    )
    left.plot(places, SIGMA / np.sqrt(places), color=BLUE, linewidth=2.2, label="noise by text, other words")
    left.plot(COUNTS, _measured(), "o", color=BLUE, markersize=6, label="measured, 100 toy engines")
    left.axhline(SIGMA, color=SOFT, linewidth=1.4, linestyle=":", label="one answer")
    spent = np.sqrt(places) * math.sqrt(2) / EPSILON
    right.plot(places, spent, color=ORANGE, linewidth=2.2, label="Laplace noise, epsilon 1 in all")
    gaussian = np.full(places.size, 1 / math.sqrt(2 * EPSILON / 2))
    right.plot(places, gaussian, "--", color=INK, linewidth=2.2, label="Gaussian noise, rho 1/2 in all")
    for panel in (left, right):
        logarithmic(panel, x=COUNTS, y=(0.5, 1, 2, 5, 10, 20))
        panel.set_ylim(0.4, 30)
        panel.grid(color=SOFT, alpha=0.18, linewidth=0.8)
        panel.set_axisbelow(True)
        panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), frameon=False, fontsize=SMALL, labelcolor=INK)
    left.set_title("a toy engine with sticky noise", fontsize=SMALL, color=INK)
    right.set_title("a session: the price is shared", fontsize=SMALL, color=INK)
    return Plot(cast("Figure", left.figure))


def _measured() -> list[float]:
    """Return the root mean square error of toy engines with other seeds."""
    wordings = rephrasings("t", CONDITIONS, count=COUNTS[-1], dummies=DUMMIES)
    runs = [averaging(StickyNoise(lambda _: [(0,)], deviation=SIGMA, seed=seed), wordings).running for seed in SEEDS]
    return [math.sqrt(sum(float(run[count - 1]) ** 2 for run in runs) / len(runs)) for count in COUNTS]
