"""Draw what many releases cost and what they can tell: composition, and error against the number of queries."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, cast

import numpy as np

import discreet as dp
from discreet import privacy
from discreet.display.plots import BLUE, GREEN, INK, ORANGE, SOFT, Plot, axes
from discreet.synthesis import Allowance, DualQueryPrice, Neighbors, dual_query_error

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SMALL = 10.0
PURPLE, DARK_YELLOW = "#8b4a86", "#B07D00"

EACH, SLACK = 0.1, 1e-6
REPETITIONS = (1, 2, 4, 7, 10, 15, 20, 26, 33, 40, 50, 60, 75, 90, 100, 120, 140, 160, 180, 200)

PEOPLE, EPSILON, DELTA, CONFIDENCE = 10_000, 1.0, 1e-6, 0.95
HITS = 10
ATTRIBUTES = 20  # of the records that DualQuery's line is for, two values each
_RHO = 0.0243  # about what (1, 1e-6) is worth in zCDP: for choosing parameters only
RECONSTRUCTED = 0.95
_HIGHEST, _LOWEST = 12.0, 0.3
_NEAR = 1e-2  # how near the least noise the calibration comes: invisible on a logarithmic axis


@dataclass(frozen=True)
class Curve:
    """One line of a figure: a name, how it looks, its height at a count, and the counts at which it is drawn."""

    name: str
    color: str
    style: str
    height: Callable[[int], float]
    counts: Sequence[int]

    def heights(self) -> list[float]:
        """Return the height at every count."""
        return [self.height(count) for count in self.counts]


def composition() -> Plot:
    """Draw epsilon at one delta against the number of releases: added up, by the theorems, and by the law itself."""
    title = "The same releases, five prices (epsilon 0.1, delta 1e-6)"
    drawn = axes(title=title, x_label="number of releases, k", y_label="epsilon of all together", height=4.8)
    for curve in PRICES:
        drawn.plot(
            curve.counts, curve.heights(), curve.style, color=curve.color, linewidth=2.0, label=curve.name, zorder=3
        )
        if (at_hundred := curve.height(100)) <= _HIGHEST:
            drawn.plot([100], [at_hundred], "o", color=curve.color, markersize=5, zorder=4)
    drawn.set_xlim(0, 200)
    drawn.set_ylim(0, _HIGHEST)
    drawn.set_xticks([0, 50, 100, 150, 200])
    return _with_legend(drawn, columns=3)


def _with_legend(drawn: Axes, *, columns: int) -> Plot:
    """Add light lines to read values by, and the legend under everything."""
    figure = cast("Figure", drawn.figure)
    drawn.grid(color=SOFT, alpha=0.18, linewidth=0.8)
    drawn.set_axisbelow(True)
    figure.legend(loc="outside lower center", ncols=columns, frameon=False, fontsize=SMALL, labelcolor=INK)
    return Plot(figure)


def _basic(count: int) -> float:
    return float(privacy.repeated(dp.PureDP(EACH), count).epsilon)


def _advanced(count: int) -> float:
    return float(privacy.advanced_composition(dp.PureDP(EACH), count, SLACK).epsilon)


def _concentrated(count: int) -> float:
    total = privacy.repeated(dp.PureDP(EACH).to_zcdp(), count)
    return min(float(total.to_approx(delta=SLACK).epsilon), _basic(count))


@lru_cache(maxsize=512)
def _best_order(count: int) -> float:
    price = dp.Laplace(epsilon=EACH, sensitivity=1).loss * count
    orders = 1 + np.exp(np.linspace(math.log(0.5), math.log(2000.0), 60))
    found = (privacy.RenyiDP(a, price.renyi(a).upper).to_approx(delta=SLACK).epsilon for a in orders.tolist())
    return min(float(min(found)), _basic(count))


@lru_cache(maxsize=512)
def _tight(count: int) -> float:
    return (dp.Laplace(epsilon=EACH, sensitivity=1).loss * count).epsilon(SLACK).upper


def price_curve() -> Plot:
    """Draw delta against epsilon for the registry of the tutorial: a hundred Gaussian counts and a Laplace total."""
    return _registry().plot()


@lru_cache(maxsize=1)
def _registry() -> privacy.DeltaCurve:
    counts = dp.Gaussian(scale=50, sensitivity=1).loss * 100
    return (counts + dp.Laplace(epsilon=0.1, sensitivity=1).loss).curve()


def price_tradeoff() -> Plot:
    """Draw what a test can achieve against a hundred Gaussian counts of noise 50: as one of noise 5."""
    return dp.PrivacyLoss.from_guarantee(dp.GaussianDP(Fraction(1, 5))).tradeoff().plot()


PRICES: tuple[Curve, ...] = (
    Curve("basic: sums", SOFT, ":", _basic, REPETITIONS),
    Curve("advanced composition", ORANGE, "--", _advanced, REPETITIONS),
    Curve("zCDP, and the filter", GREEN, "-.", _concentrated, REPETITIONS),
    Curve("best Rényi order", PURPLE, "--", _best_order, REPETITIONS),
    Curve("tight: the law itself", BLUE, "-", _tight, REPETITIONS),
)
"""The prices in the figure of composition."""


def split_laplace(count: int) -> float:
    """Return the error of Laplace noise that gives every query an equal part of epsilon."""
    return float(dp.Laplace(epsilon=EPSILON / count, sensitivity=1).error(CONFIDENCE, count))


@lru_cache(maxsize=512)
def tight_laplace(count: int) -> float:
    """Return the error of Laplace noise whose scale is calibrated on the composition of all answers."""
    scale = privacy.calibrate(
        lambda scale: privacy.discrete_laplace_loss(scale) * count,
        epsilon=EPSILON, delta=DELTA, tolerance=_NEAR, start=math.sqrt(count),
    )  # fmt: skip
    return float(dp.Laplace(scale=float(scale), sensitivity=1).error(CONFIDENCE, count))


@lru_cache(maxsize=512)
def tight_gaussian(count: int) -> float:
    """Return the error of Gaussian noise whose scale is calibrated on the composition of all answers."""
    scale = privacy.calibrate(
        lambda scale: privacy.discrete_gaussian_loss(scale) * count,
        epsilon=EPSILON, delta=DELTA, tolerance=_NEAR, start=4.5 * math.sqrt(count),
    )  # fmt: skip
    return float(dp.Gaussian(scale=float(scale), sensitivity=1).error(CONFIDENCE, count))


def sparse_vector(count: int) -> float:
    """Return the error of a stream with ten hits: of its verdicts, or of its numbers, whichever is larger."""
    stream = dp.AboveThreshold(
        threshold=0, epsilon=EPSILON / 2, sensitivity=1, hits=HITS, monotone=True, answer_epsilon=EPSILON / 2
    )
    missed = (1 - CONFIDENCE) / 2
    numbers = 0 if stream.answer_noise is None else stream.answer_noise.half_width(1 - missed, HITS)
    return max(stream.alpha(queries=count, beta=missed), float(numbers))


@lru_cache(maxsize=512)
def dual_query(count: int) -> float:
    """Return what DualQuery's theorem bounds the error by, at the best learning rate and number of rounds for it."""
    table = Neighbors(dp.Relation.CHANGE_ONE, PEOPLE)
    records, beta = 2**ATTRIBUTES, 1 - CONFIDENCE
    turns, reach = np.meshgrid(np.unique(np.logspace(1, 3, 60).astype(np.int64)), np.logspace(0.3, 2.5, 60))
    rates = reach / turns  # what the weights of a query can change in all is exp(reach)
    draws = np.maximum(_RHO * 12 * PEOPLE**2 / (rates**2 * turns * (turns - 1) * (2 * turns - 1)), 1e-9)
    luck = math.log(2 / beta) / turns
    roots = np.sqrt((math.log(records) + luck) / (2 * draws)) + np.sqrt(luck / (2 * draws))
    place = np.unravel_index(np.argmin(math.log(2 * count) / reach + rates / 2 + roots), rates.shape)
    eta, rounds = round(float(rates[place]), 4), int(turns[place])
    bought = int(Allowance.of(table, epsilon=EPSILON, delta=DELTA).amount / DualQueryPrice(eta, rounds, 1, table).rho)
    alpha = dual_query_error(
        eta=eta, rounds=rounds, draws=bought, queries=count, records=records, confidence=CONFIDENCE
    )
    return PEOPLE * min(alpha, 1.0)


def sampling(count: int) -> float:
    """Return how far the table itself is from n times the population's shares: Hoeffding's bound for all queries."""
    return math.sqrt(PEOPLE / 2 * math.log(2 * count / (1 - CONFIDENCE)))


def reconstruction(count: int) -> float:
    """Return the error up to which the Hadamard attack with this many queries gets 95 % of as many bits right."""
    people = 2 ** min(int(math.log2(count)), int(math.log2(PEOPLE)))
    return math.sqrt((1 - RECONSTRUCTED) * (people - 1)) / 4


def _counts(last: int, first: int = 1) -> list[int]:
    """Return the powers of two from a first count to a last one."""
    return [2**power for power in range(int(math.log2(first)), int(math.log2(last)) + 1)]


MECHANISMS: tuple[Curve, ...] = (
    Curve("Laplace, epsilon split evenly", ORANGE, "--", split_laplace, _counts(4096)),
    Curve("Laplace, priced together", GREEN, "-.", tight_laplace, _counts(2**17)),
    Curve("Gaussian, priced together", BLUE, "-", tight_gaussian, _counts(2**18)),
    Curve("sparse vector with 10 hits", PURPLE, "-", sparse_vector, _counts(2**20)),
    Curve("DualQuery, by its theorem", DARK_YELLOW, "-", dual_query, _counts(2**20)),
)
"""The mechanisms in the figure of errors: one entry is one curve."""

MEASURED = {2**4: 159, 2**6: 336, 2**8: 795, 2**10: 806, 2**12: 868, 2**14: 929, 2**16: 1110}
"""The largest error of ten runs of DualQuery, in people: `python -m tools.figures.synthesis` measures it again."""

SAMPLING = Curve("sampling error", INK, ":", sampling, _counts(2**20))
RECONSTRUCTION = Curve("reconstruction", INK, "-", reconstruction, _counts(2**20, first=32))


def error_against_queries() -> Plot:
    """Draw the largest error of k counting queries against k, for the mechanisms that exist."""
    title = f"How wrong is the worst of k counts of {PEOPLE:,} people?"
    drawn = axes(title=title, x_label="number of queries, k", y_label="error in people", height=5.6)
    for curve in MECHANISMS:
        drawn.loglog(
            curve.counts, curve.heights(), curve.style, color=curve.color, linewidth=2.2, label=curve.name, zorder=3
        )
    drawn.loglog(
        list(MEASURED), list(MEASURED.values()), "x", color=DARK_YELLOW, markeredgewidth=2, label="DualQuery, measured"
    )
    drawn.loglog(SAMPLING.counts, SAMPLING.heights(), ":", color=INK, linewidth=1.6, label=SAMPLING.name)
    drawn.fill_between(RECONSTRUCTION.counts, RECONSTRUCTION.heights(), _LOWEST, color=INK, alpha=0.10, linewidth=0)
    drawn.loglog(RECONSTRUCTION.counts, RECONSTRUCTION.heights(), color=INK, linewidth=1.2)
    drawn.axhline(PEOPLE, color=SOFT, linewidth=0.8)
    for x, y, words in (
        (1.3, 1.35 * PEOPLE, "as wrong as the table is large"),
        (700, 0.75, "95 % of a secret column\ncan be reconstructed"),
    ):
        drawn.text(x, y, words, color=INK, fontsize=SMALL, verticalalignment="center")
    drawn.set_xlim(1, 2**20)
    drawn.set_ylim(_LOWEST, 2e4)
    drawn.set_xticks([10**power for power in range(7)], ["1", "10", "100", "1,000", "10,000", "100,000", "1,000,000"])
    drawn.set_yticks([10**power for power in range(5)], ["1", "10", "100", "1,000", "10,000"])
    drawn.minorticks_off()
    return _with_legend(drawn, columns=2)
