"""A price as a picture: delta against epsilon, and what a test can achieve, side by side."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

import numpy as np

from discreet._optional import optional
from discreet.cli.account.facts import CertifiedLoss, curve, misses_from
from discreet.display import LastDigit, format_number
from discreet.display.plots import BLUE, INK, ORANGE, SOFT, Plot, axes, styled
from discreet.privacy import DeltaCurve
from discreet.privacy.guarantees import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIZE = 11.0
_ALARMS = 201

CAPTION = (
    "Left: delta(epsilon) between certified bounds, with the answer. Right: the least chance of a miss at each chance "
    "of a false alarm; no test lies below the curve, and perfect privacy is the dashed line."
)


def price_plot(price: CertifiedLoss) -> Plot:
    """Draw both curves of a price; needs the extra `plot`."""
    releases = price.loss.releases
    title = f"The price of {releases:,} release{'s'[: releases != 1]}"
    left = axes(title=title, x_label="epsilon", y_label="delta", width=10.4, height=4.6)
    figure = cast("Figure", left.figure)
    grid = optional("matplotlib.gridspec", extra="plot", purpose="drawing a plot").GridSpec(1, 2, figure=figure)
    left.set_subplotspec(grid[0])
    beside = figure.add_subplot(grid[1], facecolor="white")
    right = styled(beside, x_label="chance of a false alarm", y_label="chance of a miss")
    deltas = curve(price)
    _draw_deltas(left, deltas, price)
    _draw_test(right, deltas)
    return Plot(figure)


def _draw_deltas(drawn: Axes, deltas: DeltaCurve, price: CertifiedLoss) -> None:
    """Draw the band on a logarithmic axis, and the answer in it."""
    seen = deltas.upper > 0
    epsilons, upper = deltas.epsilon[seen], deltas.upper[seen]
    drawn.grid(color=SOFT, alpha=0.2, linewidth=0.8)
    drawn.set_yscale("log")
    if not len(upper):
        return
    # a lower end of 0 has no place on a logarithmic axis: the band then reaches the bottom
    floor = max(float(upper.min()) / 10, 1e-305)
    lower = np.maximum(deltas.lower[seen], floor)
    drawn.fill_between(epsilons, lower, upper, color=BLUE, alpha=0.2, linewidth=0, label="certified band")
    # the upper edge is always drawn, for a sharp band is thinner than a pixel
    drawn.plot(epsilons, upper, color=BLUE, linewidth=1.8)
    drawn.set_ylim(floor, 2.0)
    drawn.set_xlim(0.0, 1.03 * float(epsilons[-1]))
    if np.any(lower < upper / 2):
        drawn.legend(loc="upper right", frameon=False, fontsize=_SIZE, labelcolor=INK)
    if math.isfinite(price.epsilon) and price.delta >= floor:
        _mark(drawn, price)


def _mark(drawn: Axes, price: CertifiedLoss) -> None:
    """Mark the answer; the curve falls, so there is room for words above it to the right."""
    drawn.plot([price.epsilon], [price.delta], "o", color=ORANGE, markersize=8, zorder=5, clip_on=False)
    drawn.set_xlim(right=max(drawn.get_xlim()[1], 1.5 * price.epsilon))
    epsilon, delta = (format_number(one, digits=4, rounding=LastDigit.UP) for one in (price.epsilon, price.delta))
    drawn.annotate(
        f"epsilon {epsilon}\nat delta {delta if price.question.asked == 'delta' else shown(price.question.given)}",
        (price.epsilon, price.delta), xytext=(10, 6), textcoords="offset points",
        horizontalalignment="left", verticalalignment="bottom", fontsize=_SIZE, color=INK,
    )  # fmt: skip


def _draw_test(drawn: Axes, deltas: DeltaCurve) -> None:
    """Draw the region no test reaches, and perfect privacy."""
    alarms = np.linspace(0.0, 1.0, _ALARMS)
    misses = misses_from(deltas, alarms)
    drawn.fill_between(alarms, 0.0, misses, color=BLUE, alpha=0.2, linewidth=0, label="out of reach of any test")
    drawn.plot(alarms, misses, color=BLUE, linewidth=1.8)
    drawn.plot(alarms, 1 - alarms, color=ORANGE, linewidth=1.8, linestyle=(0, (5, 3)), label="perfect privacy")
    drawn.set_xlim(0.0, 1.0)
    drawn.set_ylim(0.0, 1.0)
    drawn.set_aspect("equal")
    drawn.grid(color=SOFT, alpha=0.2, linewidth=0.8)
    drawn.legend(loc="upper right", frameon=False, fontsize=_SIZE, labelcolor=INK)
