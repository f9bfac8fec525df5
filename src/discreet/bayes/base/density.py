"""The picture of one posterior law: its density or its probabilities, with the interval and what was released."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet._optional import optional
from discreet.bayes.base.intervals import PosteriorInterval
from discreet.bayes.base.marginal import DrawnMarginal, Marginal, whole
from discreet.display import format_number
from discreet.display.plots import BLUE, INK, ORANGE, SOFT, Plot, axes, explained

Floats = NDArray[np.float64]
_EDGE = 0.0005
_POINTS, _STEMS = 160, 60


def density_plot(law: Marginal, interval: PosteriorInterval) -> Plot:
    """Draw the law of one number: bars for an integer, a curve for an exact density, a histogram for draws.

    >>> from discreet.bayes.base.intervals import Parameter
    >>> from discreet.privacy import Target
    >>> law = DrawnMarginal(np.random.default_rng(1).normal(size=400))
    >>> one = Parameter("mean", "mean age", Target.POPULATION)
    >>> drawn = density_plot(law, PosteriorInterval(one, (0.0,), (-2.0,), (2.0,), 0.95))
    >>> drawn.svg()[:5]
    '<?xml'
    """
    ticker = optional("matplotlib.ticker", extra="plot", purpose="drawing a plot")
    edges, heights = _heights(law)
    name = interval.parameter.name
    drawn = axes(
        title=f"{name}: posterior law and {100 * interval.confidence:.6g} % interval, for the {interval.target.value}",
        x_label=interval.parameter.meaning or name,
        y_label="probability" if whole(law) else "density",
    )
    steps = isinstance(law, DrawnMarginal) or whole(law)
    if steps:
        drawn.stairs(heights, edges, fill=True, color=BLUE, alpha=0.25)
        drawn.stairs(heights, edges, color=BLUE, linewidth=1.4)
    else:
        middles = (edges[1:] + edges[:-1]) / 2
        drawn.fill_between(middles, heights, color=BLUE, alpha=0.25, linewidth=0)
        drawn.plot(middles, heights, color=BLUE, linewidth=1.8)
    low, value, high = interval.lows[0], interval.values[0], interval.highs[0]
    top = float(heights.max())
    words = f"median {format_number(value)}, interval [{format_number(low)}, {format_number(high)}]"
    drawn.plot([low, high], [-0.045 * top] * 2, color=INK, linewidth=3, solid_capstyle="butt", label=words)
    drawn.plot([value], [-0.045 * top], "o", color=INK, markersize=7)
    if interval.naive is not None:
        released = f"as released, noise and all: {format_number(interval.naive[0])}"
        drawn.axvline(interval.naive[0], color=ORANGE, linewidth=2, linestyle="--", label=released, zorder=1)
    drawn.axhline(0.0, color=SOFT, linewidth=0.8)
    drawn.set_ylim(-0.09 * top, 1.06 * top)
    drawn.yaxis.set_major_locator(ticker.MaxNLocator(nbins=5, prune="lower"))
    return explained(drawn, ncols=2, fontsize=11)


def _heights(law: Marginal) -> tuple[Floats, Floats]:
    """Return the edges of cells that hold all but a thousandth of the law, and the mean density in each."""
    low, high = law.quantile(_EDGE), law.quantile(1.0 - _EDGE)
    if whole(law):
        every = max(1, math.ceil((high - low + 1) / _STEMS))
        edges = np.arange(low - 0.5, high + every + 0.5, every)
        return edges, _differences(law, edges)  # probabilities: of one integer, or of `every` in a row
    if high <= low:
        low, high = low - 0.5, high + 0.5
    points = _POINTS
    if isinstance(law, DrawnMarginal):  # Freedman and Diaconis's width
        quartiles = law.quantile(0.75) - law.quantile(0.25)
        width = 2.0 * quartiles / law.sorted.size ** (1 / 3) or (high - low) / 10
        points = max(10, min(_STEMS, math.ceil((high - low) / width)))
    edges = np.linspace(low, high, points + 1)
    return edges, _differences(law, edges) / np.diff(edges)


def _differences(law: Marginal, edges: Floats) -> Floats:
    """Return the probability of each cell."""
    return np.diff([law.cdf(float(edge)) for edge in edges])
