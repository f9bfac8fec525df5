"""Draw the map of the fundamental law for two sizes of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from discreet.attacks import fundamental_law
from discreet.display.plots import INK, Plot
from tools.figures.panels import SMALL, side_by_side

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = (255, 4095)
ERRORS = tuple(np.logspace(-1, 4, 41).tolist())


def fundamental_law_map() -> Plot:
    """Draw which noise is broken by which attack, and from where on nothing can be, against the number of queries."""
    panels = side_by_side(
        "The fundamental law, drawn by attacks",
        left=("counting queries about 255 people", "noise of an answer, in people"),
        right=("counting queries about 4095 people", ""),
        height=6.6,
    )
    for panel, people in zip(panels, SIZES, strict=True):
        asked = [1 << bits for bits in range(4, 17)]
        found = fundamental_law(people, queries=asked, errors=ERRORS, epsilon=1, delta=1e-6, seed=1)
        handles = found.draw(panel)
    figure = cast("Figure", panels[0].figure)
    figure.legend(handles=handles, loc="outside lower left", ncols=1, frameon=False, fontsize=SMALL, labelcolor=INK)
    return Plot(figure)
