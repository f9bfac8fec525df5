"""Draw the chance of a right guess about one bit from differences of noisy counts, and the ceiling of their price."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np

import discreet as dp
from discreet.attacks import Flip, ceiling, difference_chance
from discreet.display.plots import BLUE, GREEN, INK, ORANGE, SOFT, Plot, axes
from discreet.laws import DiscreteLaplace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EPSILONS = tuple(np.logspace(-2, math.log10(20), 40).tolist())


def differences() -> Plot:
    """Draw chances against the epsilon of one count: two counts, four counts, and any attacker."""
    drawn = axes(
        title="One secret bit from counts with Laplace noise",
        x_label="epsilon of each count",
        y_label="chance of a right guess",
        height=4.6,
    )
    for counts, color, style, name in (
        (4, ORANGE, "-.", "any attacker, price of 4 counts"),
        (2, ORANGE, "-", "any attacker, price of 2 counts"),
    ):
        tops = [float(ceiling(dp.PureDP(one).loss * counts, flip=Flip.ONE_ROW)) for one in EPSILONS]
        drawn.plot(EPSILONS, tops, style, color=color, linewidth=2.0, label=name)
    for counts, color, style, name in (
        (2, BLUE, "-", "differencing, 2 counts"),
        (4, GREEN, "--", "general tracker, 4 counts"),
    ):
        noises = (DiscreteLaplace(1 / Fraction(one)) for one in EPSILONS)
        chances = [difference_chance(noise, queries=counts) for noise in noises]
        drawn.plot(EPSILONS, chances, style, color=color, linewidth=2.2, label=name)
    drawn.axhline(0.5, color=SOFT, linewidth=1.2, linestyle=":", label="a coin")
    drawn.set_xscale("log")
    drawn.set_xticks([0.01, 0.1, 1, 10], ["0.01", "0.1", "1", "10"])
    drawn.set_xticks([], minor=True)
    drawn.set_yticks([0.5, 0.6, 0.7, 0.8, 0.9, 1.0], ["50 %", "60 %", "70 %", "80 %", "90 %", "100 %"])
    drawn.grid(color=SOFT, alpha=0.18, linewidth=0.8)
    figure = cast("Figure", drawn.figure)
    figure.legend(loc="outside lower center", ncols=2, frameon=False, labelcolor=INK)
    return Plot(figure)
