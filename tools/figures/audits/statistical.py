"""Draw what a sampling audit can refute at most, and what it can expect to find, against the number of runs."""

from __future__ import annotations

import numpy as np

import discreet as dp
from discreet.audit import best_expected_bound, cap
from discreet.display.plots import BLUE, GREEN, INK, ORANGE, Plot
from tools.figures.panels import SMALL, finished, logarithmic, side_by_side

DRAWS = np.unique(np.logspace(2, 7, 31).astype(np.int64))


def audit_cap() -> Plot:
    """The cap on the left; on the right the best bound to be expected of three mechanisms, as a share of the truth."""
    left, right = side_by_side(
        "What so many runs can refute, and find",
        left=("test runs on each input", "largest epsilon refuted"),
        right=("runs in all", "expected bound / true loss"),
    )
    for confidence, color, style in ((0.95, BLUE, "-"), (0.999, ORANGE, "--"), (1 - 1e-6, INK, ":")):
        heights = [cap(int(draws), confidence) for draws in DRAWS]
        left.plot(DRAWS, heights, style, color=color, linewidth=2.2, label=f"confidence {confidence:.6g}")
    for epsilon, color, style in ((1.0, BLUE, "-"), (0.1, ORANGE, "--"), (0.01, GREEN, ":")):
        pair = dp.Laplace(epsilon=epsilon, sensitivity=1).law(0).pair(dp.Laplace(epsilon=epsilon, sensitivity=1).law(1))
        shares = [best_expected_bound(pair, int(draws)) / epsilon for draws in DRAWS]
        right.plot(DRAWS, shares, style, color=color, linewidth=2.2, label=f"Laplace, epsilon {epsilon:g}")
    for panel in (left, right):
        logarithmic(panel, x=(100, 10_000, 1_000_000))
    right.set_ylim(0.0, 1.05)
    plot = finished(left, right)
    left.legend(loc="upper left", frameon=False, fontsize=SMALL)
    right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), frameon=False, fontsize=SMALL)
    left.set_ylim(0.0, 20.0)
    return plot
