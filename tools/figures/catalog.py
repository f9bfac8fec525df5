"""Draw the figures of docs/_static from the exact laws: nothing is sampled, so the same source gives the same files."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import numpy as np
from numpy.typing import NDArray

import discreet as dp
from discreet.display.plots import BLUE, GREEN, INK, ORANGE, SOFT, Plot, axes, plot_law
from discreet.mechanisms.choices.randomized_response import interval_for_population, interval_for_table
from discreet.statistics.sensitivities import Query, sensitivity
from tools.figures.attacks.reconstruction import reconstruction
from tools.figures.audits.museum import museum, sparse_vector_losses
from tools.figures.audits.one_run import one_run_cap
from tools.figures.audits.statistical import audit_cap
from tools.figures.learning.trainings import balls_in_bins, correlated_noise
from tools.figures.local.frequencies import local_frequencies
from tools.figures.local.means import local_means
from tools.figures.local.protocols import local_protocols
from tools.figures.local.shuffling import shuffling
from tools.figures.mechanisms.keys import thresholded_histogram, truncated_geometric
from tools.figures.mechanisms.selection import permute_and_flip
from tools.figures.panels import styled
from tools.figures.prices import composition, error_against_queries, price_curve, price_tradeoff
from tools.figures.statistics.moments import covariance_error, variance_error
from tools.figures.statistics.posteriors import posterior_areas, posterior_coverage, posterior_share
from tools.figures.statistics.ranks import clipping_error, quantile_error, quantiles_error
from tools.figures.statistics.sums import (
    count_error,
    discovered_error,
    distinct_error,
    histogram_error,
    mean_error,
    sum_error,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = Path("docs/_static")
PALE = "#c9ced3"
LINE_STYLES = ("-", "--", "-.", ":")
SMALL = 10.0
Floats = NDArray[np.float64]


def laplace() -> Plot:
    """The law on two neighboring counts, and the loss: never above epsilon."""
    mechanism = dp.Laplace(epsilon=0.5, sensitivity=1)
    return _two_laws(mechanism, (150, 151), np.arange(138, 164), "Laplace noise: the loss stops at epsilon")


def gaussian() -> Plot:
    """The law on two neighboring counts, and the loss: a line that crosses epsilon where little mass is left."""
    mechanism = dp.Gaussian(epsilon=0.5, delta=0.001, sensitivity=1)
    return _two_laws(mechanism, (150, 151), np.arange(133, 169), "Gaussian noise: the loss passes epsilon, but rarely")


def _two_laws(
    mechanism: dp.Laplace | dp.Gaussian, counts: tuple[int, int], places: NDArray[np.int64], title: str
) -> Plot:
    """Draw two laws above each other's loss, on one axis of outputs."""
    names = (f"true count {counts[1]}", f"true count {counts[0]}, one person less")
    masses = [np.asarray(mechanism.law(count).pmf(places), dtype=np.float64) for count in (counts[1], counts[0])]
    plot = plot_law(places, masses[0], other=masses[1], title=title, x_label="", y_label="probability", names=names)
    figure = plot.figure
    top = figure.axes[0]
    figure.set_size_inches(7.0, 5.4)
    grid = figure.add_gridspec(2, 1, height_ratios=(2.2, 1.0))
    top.set_subplotspec(grid[0])
    below = styled(figure.add_subplot(grid[1], sharex=top), x_label="answer", y_label="loss, ln P/Q")
    loss = np.log(masses[0]) - np.log(masses[1])
    over = loss > 0.5 + 1e-9
    below.axhline(0.5, color=SOFT, linewidth=1.0, linestyle="--")
    below.axhline(-0.5, color=SOFT, linewidth=1.0, linestyle="--")
    below.plot(places, loss, "o", color=INK, markersize=4)
    below.plot(places[over], loss[over], "o", color=ORANGE, markersize=4)
    below.set_ylim(-1.0, 1.0)
    below.set_yticks([-0.5, 0.0, 0.5], ["-epsilon", "0", "epsilon"])
    top.tick_params(labelbottom=False)
    return plot


def randomized_response() -> Plot:
    """Draw the half-width of the 95 % interval against the number of people, with the coin and without it."""
    coin = dp.RandomizedResponse(truth=0.75, categories=2)
    people = np.unique(np.round(np.logspace(1.5, 5, 36)).astype(np.int64))
    share = 0.3
    drawn = axes(
        title="Warner's coin: a crowd makes up for the lies",
        x_label="people asked",
        y_label="half-width of the 95 % interval",
    )
    table, population = np.empty(people.size), np.empty(people.size)
    for place, count in enumerate(people.tolist()):
        seen = round(count * (coin.lie + share * (coin.truth - coin.lie)))
        for interval, widths in ((interval_for_table, table), (interval_for_population, population)):
            low, high = interval(seen, count, coin.truth, coin.lie, 0.95)
            widths[place] = (high - low) / 2
    honest = 1.959964 * np.sqrt(share * (1 - share) / people)
    drawn.loglog(people, population, color=ORANGE, linewidth=2.2, label="reports, for the population")
    drawn.loglog(people, table, color=BLUE, linewidth=2.2, linestyle="--", label="reports, for the table")
    drawn.loglog(people, honest, color=GREEN, linewidth=2.2, linestyle=":", label="no coin: sampling alone")
    drawn.set_yticks([0.003, 0.01, 0.03, 0.1, 0.3], ["0.3 %", "1 %", "3 %", "10 %", "30 %"])
    drawn.set_xticks([100, 1000, 10_000, 100_000], ["100", "1,000", "10,000", "100,000"])
    drawn.minorticks_off()
    return _finished(drawn, columns=3)


def exponential() -> Plot:
    """The chance of each score to be chosen, for a few epsilons."""
    scores = np.arange(0, 21)
    title = "Exponential mechanism: 21 candidates, one of each score"
    drawn = axes(title=title, x_label="score (one person moves it by at most 1)", y_label="chance to be chosen")
    for epsilon, color, style, marker in zip(
        (0.1, 0.5, 1, 2), (SOFT, GREEN, BLUE, ORANGE), LINE_STYLES[::-1], "svoD", strict=True
    ):
        law = dp.Exponential(epsilon=epsilon, sensitivity=1).law(scores)
        chances = [law.pmf(int(place)) for place in scores]
        drawn.plot(
            scores,
            chances,
            style,
            marker=marker,
            color=color,
            markersize=4,
            linewidth=1.6,
            label=f"epsilon = {epsilon}",
        )
    drawn.set_xticks(range(0, 21, 5))
    drawn.set_ylim(bottom=0.0)
    return _finished(drawn, columns=4)


def noisy_max() -> Plot:
    """Five counts, and the exact chance of each to be reported as the largest."""
    pages = {"news": 61, "sports": 74, "weather": 83, "recipes": 88, "maps": 52}
    drawn = axes(title="Report noisy max: which page is most liked?", y_label="", x_label="likes", height=3.6)
    figure = cast("Figure", drawn.figure)
    grid = figure.add_gridspec(1, 2, width_ratios=(1.0, 1.25))
    drawn.set_subplotspec(grid[0])
    right = styled(figure.add_subplot(grid[1], sharey=drawn), x_label="chance to be reported")
    rows = np.arange(len(pages))
    likes = np.array(list(pages.values()))
    drawn.barh(rows, likes, color=PALE, height=0.6)
    for row, count in enumerate(pages.values()):
        drawn.text(
            count - 2,
            row,
            str(count),
            horizontalalignment="right",
            verticalalignment="center",
            fontsize=SMALL,
            color=INK,
        )
    drawn.set_yticks(rows, list(pages))
    drawn.tick_params(axis="y", length=0)
    drawn.invert_yaxis()
    for epsilon, color, shift, hatch in ((0.1, ORANGE, -0.17, "///"), (0.5, BLUE, 0.17, None)):
        law = dp.NoisyMax(epsilon=epsilon, sensitivity=1, monotone=True).law(likes)
        chances = [law.pmf(int(row)) for row in rows]
        right.barh(
            rows + shift,
            chances,
            color=color,
            height=0.3,
            hatch=hatch,
            edgecolor="white",
            linewidth=0,
            label=f"epsilon = {epsilon}",
        )
    right.tick_params(axis="y", length=0, labelleft=False)
    right.set_xlim(0, 1)
    right.set_xticks([0, 0.25, 0.5, 0.75, 1.0], ["0", "25 %", "50 %", "75 %", "100 %"])
    return _finished(right, columns=2, lines="x")


def above_threshold() -> Plot:
    """A stream against the threshold and its band, and the exact chance that the first report is made at each value."""
    values = np.array([18, 31, 24, 12, 27, 35, 22, 16, 30, 96, 28, 19, 33, 25, 21, 128, 36, 29])
    stream = dp.AboveThreshold(threshold=100, epsilon=1, sensitivity=1)
    alpha = stream.alpha(queries=len(values), beta=0.05)
    law = stream.law(values)
    places = np.arange(1, len(values) + 1)
    chances = np.array([law.pmf((int(place) - 1,)) for place in places])
    title = "AboveThreshold: one price, however long the stream"
    drawn = axes(title=title, y_label="value", height=5.0)
    figure = cast("Figure", drawn.figure)
    grid = figure.add_gridspec(2, 1, height_ratios=(2.2, 1.0))
    drawn.set_subplotspec(grid[0])
    drawn.axhspan(
        100 - alpha,
        100 + alpha,
        color=ORANGE,
        alpha=0.13,
        linewidth=0,
        label="threshold ± alpha: either verdict may come",
    )
    drawn.axhline(100, color=ORANGE, linewidth=1.8, label="threshold")
    drawn.plot(places, values, "o", color=BLUE, markersize=6, label="private values")
    drawn.set_ylim(0, 145)
    drawn.tick_params(labelbottom=False)
    below = styled(
        figure.add_subplot(grid[1], sharex=drawn), x_label="position in the stream", y_label="chance of\nthe report"
    )
    below.vlines(places, 0.0, chances, color=BLUE, linewidth=2)
    below.plot(places, chances, "o", color=BLUE, markersize=5)
    below.set_ylim(0, 1.08)
    below.set_yticks([0, 0.5, 1.0], ["0", "50 %", "100 %"])
    below.set_xticks([1, 5, 10, 15])
    return _finished(drawn, columns=3)


def global_sensitivity() -> Plot:
    """How far answers follow one row across [0, 1] at the worst table, and what that comes to for larger tables."""
    zeros, halved = np.zeros(10), np.repeat([0.0, 1.0], 5)
    queries = (
        (Query.MEDIAN, halved, np.median, BLUE, "-"),
        (Query.STANDARD_DEVIATION, zeros, np.std, ORANGE, "--"),
        (Query.MEAN, zeros, np.mean, GREEN, "-."),
        (Query.VARIANCE, zeros, np.var, INK, ":"),
    )
    title = "One row goes from 0 to 1: how far does the answer follow?"
    drawn = axes(title=title, x_label="that row, among 10 others at their worst", y_label="answer")
    figure = cast("Figure", drawn.figure)
    grid = figure.add_gridspec(1, 2)
    drawn.set_subplotspec(grid[0])
    right = styled(figure.add_subplot(grid[1]), x_label="number of rows, n", y_label="sensitivity")
    places, sizes = np.linspace(0.0, 1.0, 51), np.unique(np.logspace(0.31, 4, 60).astype(np.int64))
    for query, others, ask, color, style in queries:
        name = query.name.lower().replace("_", " ")
        answers = [ask(np.append(others, place)) for place in places]
        drawn.plot(places, answers, style, color=color, linewidth=2.2, label=name)
        drawn.plot([1.0], [_moved(query, 11)], "o", color=color, markersize=6, clip_on=False)
        right.loglog(sizes, [_moved(query, int(size)) for size in sizes], style, color=color, linewidth=2.2)
        right.plot([11], [_moved(query, 11)], "o", color=color, markersize=6)
    drawn.set(xlim=(0, 1), ylim=(0, 1.03))
    right.set_ylim(top=2.0)
    right.set_xticks([10, 100, 1000, 10_000], ["10", "100", "1,000", "10,000"])
    right.set_yticks([1e-4, 1e-3, 1e-2, 0.1, 1.0], ["0.0001", "0.001", "0.01", "0.1", "1"])
    right.minorticks_off()
    return _finished(drawn, columns=4)


def _moved(query: Query, rows: int) -> float:
    """Return a sensitivity on [0, 1] under change-one."""
    size = None if query is Query.MEDIAN else rows
    return float(sensitivity(query, relation=dp.Relation.CHANGE_ONE, bounds=(0, 1), people=size).value)


def one_answer() -> Plot:
    """One released count with its interval; what the curator alone knows is marked as such."""
    truth, answer = 150, 153
    mechanism = dp.Laplace(epsilon=0.5, sensitivity=1)
    reach = mechanism.error(confidence=0.95)
    drawn = axes(width=7.0, height=2.7)
    places = np.arange(139, 168)
    masses = np.asarray(mechanism.law(truth).pmf(places), dtype=np.float64)
    drawn.bar(places, masses / masses.max() * 0.8, width=0.72, color=SOFT, alpha=0.16, linewidth=0)
    drawn.plot([truth, truth], [-0.62, 0.8], color=ORANGE, linewidth=1.6, linestyle=(0, (3, 2)))
    drawn.plot([answer - reach, answer + reach], [-0.25, -0.25], color=BLUE, linewidth=5, solid_capstyle="round")
    drawn.plot([answer], [-0.25], "o", color="white", markeredgecolor=BLUE, markeredgewidth=3, markersize=11)
    _label(drawn, answer + reach + 0.8, -0.25, f"{answer}, give or take {reach}", BLUE, "left", 13.0)
    _label(drawn, truth - 0.5, -0.62, "the true count, which the curator alone knows", ORANGE, "right", SMALL)
    _label(drawn, truth - 3.4, 0.52, "what the answer\ncould have been", SOFT, "right", SMALL)
    drawn.set_ylim(-0.8, 0.95)
    drawn.set_xlim(133, 172)
    drawn.set_yticks([])
    drawn.set_xticks(range(135, 171, 5))
    drawn.spines["left"].set_visible(False)
    drawn.set_xlabel(
        "patients diagnosed with depression: one answer at epsilon = 0.5 and its 95 % interval",
        fontsize=SMALL,
        color=INK,
    )
    return Plot(cast("Figure", drawn.figure))


def _label(drawn: Axes, x: float, y: float, text: str, color: str, side: str, size: float) -> None:
    """Write words beside a mark."""
    drawn.text(
        x, y, text, color=color, fontsize=size, horizontalalignment=side, verticalalignment="center", linespacing=1.25
    )


def _finished(drawn: Axes, *, columns: int, lines: Literal["both", "x"] = "both") -> Plot:
    """Add light lines to read values by, and the legend under everything."""
    figure = cast("Figure", drawn.figure)
    for panel in figure.axes:
        panel.grid(axis=lines, color=SOFT, alpha=0.18, linewidth=0.8)
        panel.set_axisbelow(True)
    handles, names = drawn.get_legend_handles_labels()
    figure.legend(
        handles, names, loc="outside lower center", ncols=columns, frameon=False, fontsize=SMALL, labelcolor=INK
    )
    return Plot(figure)


FIGURES: dict[str, Callable[[], Plot]] = {
    "laplace": laplace,
    "gaussian": gaussian,
    "randomized_response": randomized_response,
    "exponential": exponential,
    "permute_and_flip": permute_and_flip,
    "noisy_max": noisy_max,
    "above_threshold": above_threshold,
    "truncated_geometric": truncated_geometric,
    "thresholded_histogram": thresholded_histogram,
    "sensitivity": global_sensitivity,
    "count-error": count_error,
    "distinct-error": distinct_error,
    "sum-error": sum_error,
    "mean-error": mean_error,
    "histogram-error": histogram_error,
    "discovered-error": discovered_error,
    "variance-error": variance_error,
    "covariance-error": covariance_error,
    "quantile-error": quantile_error,
    "quantiles-error": quantiles_error,
    "clipping-error": clipping_error,
    "one-answer": one_answer,
    "composition": composition,
    "error-against-queries": error_against_queries,
    "price-curve": price_curve,
    "reconstruction": reconstruction,
    "one-run": one_run_cap,
    "museum": museum,
    "audit-cap": audit_cap,
    "sparse-vectors": sparse_vector_losses,
    "price-tradeoff": price_tradeoff,
    "local-protocols": local_protocols,
    "local-means": local_means,
    "local-frequencies": local_frequencies,
    "shuffling": shuffling,
    "balls-in-bins": balls_in_bins,
    "correlated-noise": correlated_noise,
    "posterior-share": posterior_share,
    "posterior-coverage": posterior_coverage,
    "posterior-areas": posterior_areas,
}
ALSO_AS_PNG = {"one-answer"}


def draw(folder: Path, *, names: Iterable[str] = (), everything_as_png: bool = False) -> list[Path]:
    """Draw all figures, or those that are named, into a folder and return the files."""
    written = []
    for name in names or FIGURES:
        plot = FIGURES[name]()
        written.append(plot.save(folder / f"{name}.svg"))
        if everything_as_png or name in ALSO_AS_PNG:
            written.append(plot.save(folder / f"{name}.png"))
    return written


def main(arguments: list[str] | None = None) -> int:
    """Draw the figures of the documentation."""
    parser = argparse.ArgumentParser(prog="python -m tools.figures", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*FIGURES, []], help="figures; all if none is named")
    parser.add_argument("--folder", type=Path, default=ROOT / FOLDER, help="where to write")
    parser.add_argument("--png", action="store_true", help="write every figure as PNG too, to look at")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    for path in draw(options.folder, names=options.names, everything_as_png=options.png):
        print(path.name)
    return 0
