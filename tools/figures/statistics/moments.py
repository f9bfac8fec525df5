"""Draw how wide the intervals of variances and second moments are: exact quantiles of the noise, nothing sampled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from discreet.display.plots import BLUE, GREEN, INK, ORANGE, SOFT, Plot, axes
from discreet.privacy import Relation
from discreet.statistics import Covariance, Variance
from discreet.statistics.sums.three_sums import FOR_LAPLACE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EPSILONS = np.logspace(-1.5, 0.7, 18)
SMALL = 10.0
Floats = NDArray[np.float64]


def variance_error() -> Plot:
    """Draw the half-width against epsilon for two sizes, and the squared error against where the mean lies."""
    drawn = axes(title="Variance: three sums at the price of one", x_label="epsilon", y_label="half-width, 95 %")
    figure = cast("Figure", drawn.figure)
    figure.set_size_inches(8.6, 4.2)
    grid = figure.add_gridspec(1, 2)
    drawn.set_subplotspec(grid[0])
    for rows, style in ((1000, "--"), (100_000, "-")):
        column = np.clip(50 + 15 * _normal_column(rows), 0, 100)
        widths = [_variance_width(column, float(epsilon)) for epsilon in EPSILONS]
        drawn.loglog(EPSILONS, widths, style, color=BLUE, linewidth=2.2, label=f"{rows:,} ages, spread 15")
    drawn.set_xticks([0.1, 1], ["0.1", "1"])
    drawn.set_yticks([0.1, 1, 10, 100, 1000], ["0.1", "1", "10", "100", "1,000"])
    right = _second(figure.add_subplot(grid[1]), "mean, as a share of the bounds", "squared error times (n epsilon)²")
    places = np.linspace(0, 1, 101)
    right.semilogy(places, [_three_sums(mean) for mean in places], "-", color=INK, linewidth=2.2, label="three sums")
    right.semilogy(
        places,
        [_count_and_two_sums(mean) for mean in places],
        ":",
        color=ORANGE,
        linewidth=2.2,
        label="count and two sums, a third of epsilon each",
    )
    right.semilogy(places, np.full(101, 2.0), "-.", color=GREEN, linewidth=2.2, label="n public, change-one")
    right.set_yticks([0.1, 1, 10], ["0.1", "1", "10"])
    return _finished(figure, (drawn, right))


def covariance_error() -> Plot:
    """Draw the half-width of an entry against epsilon for boxes and balls, and against the number of columns."""
    drawn = axes(
        title="Second moments: Gaussian noise pays for many columns", x_label="epsilon", y_label="half-width, 95 %"
    )
    figure = cast("Figure", drawn.figure)
    figure.set_size_inches(8.6, 4.2)
    grid = figure.add_gridspec(1, 2)
    drawn.set_subplotspec(grid[0])
    for columns, style in ((2, "--"), (8, "-")):
        for ball, color in ((False, ORANGE), (True, BLUE)):
            widths = [_moment_width(columns, ball, {"epsilon": float(epsilon)}) for epsilon in EPSILONS]
            name = f"{columns} columns, {'ball' if ball else 'box'}"
            drawn.loglog(EPSILONS, widths, style, color=color, linewidth=2.2, label=name)
    drawn.set_xticks([0.1, 1], ["0.1", "1"])
    drawn.set_yticks([0.001, 0.01, 0.1, 1], ["0.001", "0.01", "0.1", "1"])
    right = _second(figure.add_subplot(grid[1]), "columns", "half-width, 95 %, ball")
    sizes = np.array([1, 2, 3, 5, 8, 12, 20, 30])
    for price, name, color, style in (
        ({"epsilon": 1}, "Laplace, epsilon = 1", BLUE, ":"),
        ({"epsilon": 1, "delta": 1e-6}, "Gaussian, epsilon = 1, delta = 1e-6", GREEN, "-."),
    ):
        widths = [_moment_width(int(size), True, price) for size in sizes]
        right.loglog(sizes, widths, style, color=color, linewidth=2.2, label=name)
    right.set_xticks([1, 3, 10, 30], ["1", "3", "10", "30"])
    right.set_yticks([0.001, 0.003, 0.01], ["0.001", "0.003", "0.01"])
    return _finished(figure, (drawn, right))


def _normal_column(rows: int) -> Floats:
    """Return the quantiles of a normal law: a column without chance."""
    from scipy.special import ndtri

    return np.asarray(ndtri((np.arange(rows) + 0.5) / rows), dtype=np.float64)


def _variance_width(column: Floats, epsilon: float) -> float:
    """Return the half-width of the interval where the noise happens to be 0."""
    statistic = Variance(bounds=(0, 100), relation=Relation.ADD_REMOVE, epsilon=epsilon)
    answer = statistic.estimate(statistic.measure(column), public_rows=None)
    low, high = answer.ends
    return (high - low) / 2


def _three_sums(mean: float) -> float:
    """Return the squared error to first order of a narrow column, in units of 1 / (n epsilon)^2."""
    return 2 * sum((17 * size) ** 2 for size in FOR_LAPLACE.about((mean, mean), (0.0, 0.0)))


def _count_and_two_sums(mean: float) -> float:
    """Return the same for a count, a sum about the middle and squares about the middle of theirs."""
    center = mean - 0.5
    return 2 * 9 * (0.125**2 + center**2 + (0.125 + center**2) ** 2)


def _moment_width(columns: int, ball: bool, price: dict[str, Any]) -> float:
    """Return the half-width of an entry for 10,000 rows where the noise happens to be 0."""
    region: dict[str, Any] = {"center": [0] * columns, "radius": 1} if ball else {"bounds": [(-1, 1)] * columns}
    statistic = Covariance(relation=Relation.CHANGE_ONE, missing=0, **region, **price)
    rows = 10_000
    answer = statistic.estimate(statistic.measure(np.zeros((rows, columns))), public_rows=rows)
    return float(answer.high[0, 0])


def _second(drawn: Axes, x_label: str, y_label: str) -> Axes:
    """Give a second panel the look of the first."""
    drawn.set_facecolor("white")
    for side in ("top", "right"):
        drawn.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        drawn.spines[side].set(color=SOFT, linewidth=0.8)
    drawn.tick_params(colors=SOFT, labelcolor=INK, labelsize=11.0, width=0.8)
    drawn.set_xlabel(x_label, fontsize=11.0, color=INK)
    drawn.set_ylabel(y_label, fontsize=11.0, color=INK)
    return drawn


def _finished(figure: Figure, panels: tuple[Axes, ...]) -> Plot:
    """Add light lines and one legend for both panels."""
    handles, names = [], []
    for panel in panels:
        panel.minorticks_off()
        panel.grid(color=SOFT, alpha=0.18, linewidth=0.8)
        panel.set_axisbelow(True)
        found = panel.get_legend_handles_labels()
        handles += found[0]
        names += found[1]
    figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False, fontsize=SMALL, labelcolor=INK)
    return Plot(figure)
