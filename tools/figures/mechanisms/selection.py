"""Draw how good a private choice is: the expected distance of the chosen score from the best."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from discreet.display.plots import BLUE, INK, ORANGE, SOFT, Plot, axes
from discreet.mechanisms import Exponential, PermuteAndFlip

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCORES = [0] * 80 + list(range(0, 100, 5))
EPSILONS = np.logspace(-1.7, 0.2, 24)
SMALL = 10.0


def permute_and_flip() -> Plot:
    """Draw the exact expected distance from the best score of two mechanisms at the same price."""
    title = "100 candidates: how far is the chosen score below the best?"
    drawn = axes(title=title, x_label="epsilon (one person moves a score by at most 1)", y_label="expected distance")
    for kind, name, color, style in (
        (Exponential, "exponential mechanism", ORANGE, "--"),
        (PermuteAndFlip, "permute-and-flip", BLUE, "-"),
    ):
        distances = [_expected_distance(kind, float(epsilon)) for epsilon in EPSILONS]
        drawn.loglog(EPSILONS, distances, style, color=color, linewidth=2.2, label=name)
    drawn.set_xticks([0.01, 0.1, 1], ["0.01", "0.1", "1"])
    drawn.set_yticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
    drawn.minorticks_off()
    drawn.grid(color=SOFT, alpha=0.18, linewidth=0.8)
    handles, names = drawn.get_legend_handles_labels()
    figure = cast("Figure", drawn.figure)
    figure.legend(handles, names, loc="outside lower center", ncols=2, frameon=False, fontsize=SMALL, labelcolor=INK)
    return Plot(figure)


def _expected_distance(kind: type[Exponential | PermuteAndFlip], epsilon: float) -> float:
    """Return the mean distance of the chosen score from the best, from the law."""
    _, low, high = kind(epsilon=epsilon, sensitivity=1).law(SCORES).table()
    return float(np.dot((low + high) / 2, max(SCORES) - np.array(SCORES)))
