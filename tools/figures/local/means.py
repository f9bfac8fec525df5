"""Draw what a mean costs in the local model: the largest variance of numbers, and the price of few codewords."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from discreet.display.plots import BLUE, GREEN, ORANGE, SOFT, Plot
from discreet.local.means.directions import choose_cap, least_error
from discreet.local.means.one_bit_and_hybrid import choose_hybrid, continuous_hybrid
from tools.figures.panels import finished, logarithmic, side_by_side

EPSILONS = tuple(float(epsilon) for epsilon in np.round(np.arange(0.3, 6.01, 0.1), 1))
CODEWORDS = tuple(1 << power for power in range(3, 13))
DIMENSION = 64


def local_means() -> Plot:
    """Draw the variance of one report of a number, and how much a finite codebook loses for vectors."""
    left, right = side_by_side(
        "Means in the local model",
        left=("epsilon", "largest variance of one report, half-widths²"),
        right=("codewords in a codebook", f"error over that of PrivUnit, {DIMENSION} dimensions"),
        height=4.4,
    )
    curves = (
        ("Laplace", SOFT, ":", [8 / epsilon**2 for epsilon in EPSILONS]),
        ("one bit (Duchi)", ORANGE, "--", [_bit(epsilon) for epsilon in EPSILONS]),
        ("hybrid as published", GREEN, "-.", [continuous_hybrid(epsilon) for epsilon in EPSILONS]),
        ("hybrid on a grid", BLUE, "-", [choose_hybrid(Fraction(str(epsilon))).worst for epsilon in EPSILONS]),
    )
    for name, color, style, heights in curves:
        left.plot(EPSILONS, heights, style, color=color, linewidth=2.0, label=name, zorder=3)
    logarithmic(left, y=(0.1, 1, 10, 100))
    for epsilon, color, style in ((1, ORANGE, "--"), (4, GREEN, "-."), (8, BLUE, "-")):
        least = least_error(Fraction(epsilon), DIMENSION)
        ratios = [choose_cap(Fraction(epsilon), DIMENSION, size).error / least for size in CODEWORDS]
        right.plot(CODEWORDS, ratios, style, color=color, linewidth=2.0, label=f"epsilon {epsilon}", zorder=3)
    logarithmic(right, x=(8, 64, 512, 4096))
    right.set_ylim(1.0, 2.0)
    return finished(left, right)


def _bit(epsilon: float) -> float:
    """Return the largest variance of the one-bit mean."""
    return 1 / math.tanh(epsilon / 2) ** 2
