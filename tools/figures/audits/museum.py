"""Draw the museum: claimed, true and published losses, and the privacy curves of six sparse-vector algorithms."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from discreet.display.plots import BLUE, GREEN, INK, ORANGE, SOFT, Plot, axes
from discreet.testing.museum import Exhibit, benchmark, sparse_vectors
from discreet.testing.museum.tour import tour
from tools.figures.panels import SMALL, logarithmic

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEVELS = np.linspace(0.0, 0.52, 131)
STYLES = ((BLUE, "-"), (GREEN, "--"), (ORANGE, "-"), (ORANGE, "--"), (INK, "-"), (ORANGE, ":"))


def museum() -> Plot:
    """Draw what the twenty mechanisms of the benchmark guarantee, lose, and were found to lose."""
    return tour(benchmark()).plot()


def sparse_vector_losses() -> Plot:
    """Draw delta against epsilon for six sparse-vector algorithms, on their worst inputs at each epsilon."""
    drawn = axes(
        title="Six sparse-vector algorithms that guarantee epsilon = 0.1",
        x_label="epsilon",
        y_label="least delta, worst of eight patterns",
        height=4.6,
    )
    for exhibit, (color, style) in zip(sparse_vectors(), STYLES, strict=True):
        deltas = worst_deltas(exhibit)
        seen = deltas > 1e-8
        drawn.plot(LEVELS[seen], deltas[seen], style, color=color, linewidth=2.2, label=exhibit.label.name)
    drawn.axvline(0.1, color=SOFT, linewidth=1.2)
    drawn.text(0.104, 2.2e-8, "the guarantee: nothing right of here", fontsize=SMALL, color=SOFT)
    logarithmic(drawn, y=(1e-8, 1e-6, 1e-4, 1e-2, 1.0))
    drawn.set_ylim(1e-8, 1.0)
    drawn.set_xlim(0.0, 0.52)
    drawn.grid(color=SOFT, alpha=0.18, linewidth=0.8)
    drawn.set_axisbelow(True)
    drawn.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=6, frameon=False, fontsize=SMALL, labelcolor=INK
    )
    return Plot(cast("Figure", drawn.figure))


def worst_deltas(exhibit: Exhibit) -> np.ndarray:
    """Return the largest delta over all neighboring inputs, both ways, at each epsilon."""
    pairs = [pair for first, second in exhibit.neighbors() if (pair := exhibit.pair(first, second)) is not None]
    directions = [direction for pair in pairs for direction in (pair, pair.reversed())]
    return np.array([max(pair.delta(float(level)).lower for pair in directions) for level in LEVELS])
