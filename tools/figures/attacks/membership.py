"""Draw how well membership in a group is told from its published frequencies: exact, rounded, private."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, cast

import numpy as np

from discreet.attacks import Membership, PrivateFrequencies, Rounded, exactly, membership
from discreet.data import Genomes, genomes
from discreet.display.plots import BLUE, GREEN, INK, ORANGE, SOFT, Plot
from tools.figures.panels import SMALL, logarithmic, side_by_side

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PEOPLE, SEED = 1000, 2026
POSITIONS = ((30_000, INK, "-"), (10_000, BLUE, "--"), (3000, GREEN, "-."), (1000, ORANGE, ":"))
RATES = np.logspace(-3, math.log10(0.999), 200)
MARKS = (0.002, 0.005, 0.01, 0.03, 0.1, 0.3)
_NORMAL = NormalDist()


def membership_curves() -> Plot:
    """Draw ROC curves: theory as lines, invented genomes as marks, and the ceiling of a private release."""
    left, right = side_by_side(
        f"Who is among {PEOPLE:,} people, from their frequencies?",
        left=("outsiders accused", "members found"),
        right=("outsiders accused", ""),
        height=5.2,
    )
    for positions, color, style in POSITIONS:
        invented = genomes(people=PEOPLE, positions=positions, seed=SEED, outsiders=1, reference=8000)
        exact, rounded = _attacked(invented, None), _attacked(invented, Rounded(2))
        _line(left, exact.separation, color, style, f"{positions:,} frequencies, exact")
        for result, mark in ((exact, "o"), (rounded, "x")):
            left.plot(MARKS, [_found(result, rate) for rate in MARKS], mark, color=color, markersize=5)
    left.plot([], [], "ko", markersize=5, label="measured, exact")
    left.plot([], [], "kx", markersize=5, label="measured, 2 decimals")
    _private(right)
    for panel in (left, right):
        panel.plot(RATES, RATES, ":", color=SOFT, linewidth=1.4, label="a coin")
        logarithmic(panel, x=(0.001, 0.01, 0.1, 1))
        panel.set_xticks([0.001, 0.01, 0.1, 1], ["0.1 %", "1 %", "10 %", "100 %"])
        panel.set_yticks([0, 0.25, 0.5, 0.75, 1.0], ["0", "25 %", "50 %", "75 %", "100 %"])
        panel.grid(color=SOFT, alpha=0.18, linewidth=0.8)
        panel.set_axisbelow(True)
        panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), frameon=False, fontsize=SMALL, labelcolor=INK)
    return Plot(cast("Figure", left.figure))


def _attacked(invented: Genomes, rounded: Rounded | None) -> Membership:
    """Attack exact or rounded frequencies of an invented group."""
    exact = invented.cases.frequencies
    return membership(
        exactly(exact) if rounded is None else rounded(exact),
        invented.frequencies,
        invented.cases,
        reference=invented.reference,
        people=PEOPLE,
        deviation=0 if rounded is None else rounded.deviation,
        members=np.ones(PEOPLE, dtype=bool),
    )


def _found(result: Membership, rate: float) -> float:
    """Return the measured share of members at a rate of false alarms."""
    return float((result.p_values <= rate).mean())


def _private(panel: Axes) -> None:
    """Draw what theory expects of private frequencies, and the ceiling that no test passes."""
    for epsilon, color in ((4, BLUE), (1, ORANGE)):
        publish = PrivateFrequencies(people=PEOPLE, positions=10_000, epsilon=epsilon, delta=1e-5)
        _line(panel, publish.mu, color, "-", f"any test, epsilon {epsilon}")
        spread = np.linspace(0.05, 0.5, 2001)
        share = spread * (1 - spread) / PEOPLE
        kept = 10_000 * float((share / (share + publish.deviation**2)).mean())
        _line(panel, math.sqrt(kept / PEOPLE), color, "--", f"this test, epsilon {epsilon}")


def _line(panel: Axes, separation: float, color: str, style: str, name: str) -> None:
    """Draw the ROC curve of two normal laws so many deviations apart."""
    heights = [_NORMAL.cdf(separation + _NORMAL.inv_cdf(float(rate))) for rate in RATES]
    panel.plot(RATES, heights, style, color=color, linewidth=2.0, label=name)
