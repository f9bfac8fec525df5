"""Draw what a reconstruction attack recovers, and the ceiling that no attack passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

import discreet as dp
from discreet.attacks import Flip, Weighing, ceiling, expected_fraction
from discreet.display.plots import BLUE, GREEN, INK, ORANGE, SOFT, Plot
from discreet.laws import DiscreteLaplace
from tools.figures.panels import SMALL, logarithmic, side_by_side

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUERIES = 63
TOTALS = tuple(np.logspace(-1, 2, 31).tolist())
SCALES = tuple(np.logspace(-1, 2, 37).tolist())


def reconstruction() -> Plot:
    """Draw the share of bits recovered against the noise of a count, and against the budget of all counts together."""
    left, right = side_by_side(
        "Reconstruction: a column of secret bits from counts",
        left=("scale of the Laplace noise of a count", "bits recovered"),
        right=(f"epsilon of all {QUERIES} queries together", ""),
        height=5.0,
    )
    for queries, color, style in ((QUERIES, BLUE, "-"), (255, GREEN, "--"), (1023, INK, ":")):
        shares = [expected_fraction(DiscreteLaplace(scale), queries=queries) for scale in SCALES]
        left.plot(SCALES, shares, style, color=color, linewidth=2.2, label=f"{queries:,} queries")
    right.plot(
        TOTALS,
        [_pure(total) for total in TOTALS],
        ":",
        color=SOFT,
        linewidth=1.8,
        label="any attacker, from epsilon alone",
    )
    asked, counted = QUERIES, Weighing(people=1, queries=QUERIES).each
    for count, style, name in (
        (asked, "-", "any attacker, from the law of all queries"),
        (counted, "--", "any attacker, 32 queries count a person"),
    ):
        heights = [_ceiling(total, count) for total in TOTALS]
        right.plot(TOTALS, heights, style, color=ORANGE, linewidth=2.2, label=name)
    attack = [expected_fraction(DiscreteLaplace(QUERIES / total), queries=QUERIES) for total in TOTALS]
    right.plot(TOTALS, attack, color=BLUE, linewidth=2.2, label="this attack")
    logarithmic(left, x=(0.1, 1, 10, 100))
    logarithmic(right, x=(0.1, 1, 10, 100))
    for panel in (left, right):
        panel.set_ylim(0.48, 1.02)
        panel.set_yticks([0.5, 0.6, 0.7, 0.8, 0.9, 1.0], ["50 %", "60 %", "70 %", "80 %", "90 %", "100 %"])
        panel.grid(color=SOFT, alpha=0.18, linewidth=0.8)
        panel.set_axisbelow(True)
        # below the axes: falling and rising curves leave no common corner
        panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), frameon=False, fontsize=SMALL, labelcolor=INK)
    return Plot(cast("Figure", left.figure))


def _pure(total: float) -> float:
    """Return the ceiling that follows from an epsilon alone."""
    return float(ceiling(dp.PureDP(total).loss, flip=Flip.ONE_ROW))


def _ceiling(total: float, count: int) -> float:
    """Return the ceiling of so many of the queries, between which epsilon is split evenly."""
    return float(ceiling(dp.Laplace(epsilon=total / QUERIES, sensitivity=1).loss * count, flip=Flip.ONE_ROW))
