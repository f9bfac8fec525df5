"""Draw what guesses about canaries can refute: the cap against their number, the bound against the share right."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

import numpy as np

from discreet.audit.statistical.loss_bound import cap
from discreet.display.plots import BLUE, GREEN, INK, ORANGE, SOFT, Plot
from tools.figures.panels import SMALL, logarithmic, side_by_side

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GUESSES = tuple(round(10 ** (k / 4)) for k in range(4, 23))
CONFIDENCE = 0.95


def one_run_cap() -> Plot:
    """Draw the largest epsilon that can be refuted, and what is refuted when a share of the guesses is right."""
    left, right = side_by_side(
        "One run with canaries: what guesses can refute at 95 %",
        left=("guesses, or runs on each of two tables", "largest epsilon that can be refuted"),
        right=("share of guesses that are right", "epsilon refuted"),
        height=4.6,
    )
    left.plot(GUESSES, [_epsilon(count, count) for count in GUESSES], color=BLUE, linewidth=2.2, label="one run")
    twice = [cap(count, CONFIDENCE) for count in GUESSES]
    left.plot(GUESSES, twice, "--", color=ORANGE, linewidth=2.2, label="many runs on two tables")
    logarithmic(left, x=(10, 1000, 100_000))
    shares = np.linspace(0.5, 1.0, 101)
    for count, color, style in ((100, GREEN, ":"), (1000, ORANGE, "--"), (10_000, BLUE, "-")):
        lows = [_epsilon(count, round(count * share)) for share in shares]
        right.plot(shares, lows, style, color=color, linewidth=2.2, label=f"{count:,} guesses")
    inner = shares[1:-1]
    right.plot(inner, np.log(inner / (1 - inner)), color=SOFT, linewidth=1.4, label="ln(share / (1 - share))")
    right.set_xticks([0.5, 0.6, 0.7, 0.8, 0.9, 1.0], ["50 %", "60 %", "70 %", "80 %", "90 %", "100 %"])
    right.set_ylim(0, 8.6)
    for panel in (left, right):
        panel.grid(color=SOFT, alpha=0.18, linewidth=0.8)
        panel.set_axisbelow(True)
        panel.legend(loc="upper left", frameon=False, fontsize=SMALL, labelcolor=INK)
    return Plot(cast("Figure", left.figure))


def _epsilon(guesses: int, right: int) -> float:
    """Return what is refuted at delta = 0, from the inverse of the binomial tail."""
    from scipy.special import betaincinv

    if right == 0:
        return 0.0
    chance = float(betaincinv(right, guesses - right + 1, 1 - CONFIDENCE))
    return max(math.log(chance / (1 - chance)), 0.0)
