"""Draw the exact variance of the local protocols over the least possible one."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from discreet.display.plots import BLUE, GREEN, INK, ORANGE, SOFT, Plot, axes
from discreet.local import DirectResponse, FrequencyOracle, OneBitHadamard, ProjectiveGeometry

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VALUES = 1024
EPSILONS = [Fraction(step, 10) for step in range(1, 80)]


def local_protocols() -> Plot:
    """Draw variance over optimum against epsilon, for what is offered and for the best known that is not."""
    drawn = axes(
        title=f"{VALUES:,} values: one protocol stays at the optimum",
        x_label="epsilon of a report",
        y_label="variance / least variance",
        height=4.6,
    )
    prices = [float(epsilon) for epsilon in EPSILONS]
    unary = [_unary(price) for price in prices]
    drawn.plot(prices, unary, ":", color=SOFT, linewidth=2.0, label="basic RAPPOR (not offered)")
    bits = [_ratio(OneBitHadamard(epsilon=epsilon, categories=VALUES)) for epsilon in EPSILONS]
    drawn.plot(prices, bits, "-.", color=GREEN, linewidth=2.0, label="one-bit Hadamard")
    direct = [_ratio(DirectResponse(epsilon=epsilon, categories=VALUES)) for epsilon in EPSILONS]
    drawn.plot(prices, direct, "--", color=ORANGE, linewidth=2.0, label="randomized response")
    spaces = [_ratio(ProjectiveGeometry.best(epsilon=epsilon, categories=VALUES)) for epsilon in EPSILONS]
    drawn.plot(prices, spaces, "-", color=BLUE, linewidth=2.6, label="projective geometry")
    drawn.axhline(1.0, color=INK, linewidth=0.8)
    drawn.set_yscale("log")
    drawn.set(xlim=(0, 8), ylim=(0.2, 300))
    drawn.set_yticks([0.3, 1, 3, 10, 30, 100], ["0.3", "1", "3", "10", "30", "100"])
    drawn.minorticks_off()
    drawn.grid(color=SOFT, alpha=0.18, linewidth=0.8)
    figure = cast("Figure", drawn.figure)
    figure.legend(loc="outside lower center", ncols=2, frameon=False, labelcolor=INK, fontsize=10.0)
    return Plot(figure)


def _ratio(spec: FrequencyOracle) -> float:
    """Return the exact variance of a rare value over the optimum."""
    return spec.variance(1) / spec.optimum(1)


def _unary(epsilon: float) -> float:
    """Return the same for a vector of bits, each flipped with half the price."""
    half = math.exp(epsilon / 2)
    return half / (half - 1) ** 2 * math.expm1(epsilon) ** 2 / (4 * half**2)
