"""Draw how far off the ranks of private quantiles and clipping bounds are, from their laws."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from discreet.display.plots import BLUE, GREEN, INK, ORANGE, SOFT, Plot
from discreet.privacy import Relation
from discreet.statistics import ClippingBounds, Quantile
from discreet.statistics.order_statistics.even_bins import EvenBins
from discreet.statistics.order_statistics.joint import JointQuantiles
from discreet.statistics.order_statistics.tree import QuantileTree
from tools.figures.panels import finished, logarithmic, side_by_side
from tools.figures.statistics.sums import CONFIDENCE, EPSILONS, PEOPLE, TICKS_OF_EPSILON, TICKS_OF_PEOPLE, Line

STEPS = 1 << 38
RANKS = "rank error, rows"


def quantile_error() -> Plot:
    """A median: the rank distance on an even table, and the one that holds for every table."""
    left, right = side_by_side(
        "Median: the rank is off by a few rows, however many there are",
        left=("epsilon", f"95 % {RANKS}"),
        right=("number of rows, n (epsilon 1)", "95 % rank error, share of n"),
    )
    lines: tuple[tuple[str, str, str, Callable[[float], float]], ...] = (
        ("any table, change one", ORANGE, "--", lambda epsilon: _bound(epsilon, Relation.CHANGE_ONE)),
        ("any table, add/remove", GREEN, "-.", lambda epsilon: _bound(epsilon, Relation.ADD_REMOVE)),
        ("even table, add/remove", BLUE, "-", _even),
    )
    for name, color, style, height in lines:
        Line(name, color, style, height).draw(left, EPSILONS)
        Line(name, color, style, _share(height(1.0))).draw(right, PEOPLE)
    Line("sampling", INK, ":", lambda rows: 1.959964 * 0.5 / math.sqrt(rows)).draw(right, PEOPLE)
    logarithmic(left, x=TICKS_OF_EPSILON, y=(1, 10, 100, 1000, 10_000))
    left.set_ylim(top=200_000)
    logarithmic(right, x=TICKS_OF_PEOPLE, y=(1e-6, 1e-4, 1e-2, 1), percent=True)
    right.set_ylim(top=1000)
    return finished(left, right)


def _bound(epsilon: float, relation: Relation) -> float:
    """Return the rank error that holds for every table."""
    return Quantile(level=0.5, bounds=(0, 1), relation=relation, epsilon=epsilon).rank_error()


def _even(epsilon: float) -> float:
    """Return the 95 % quantile of the rank distance where all runs are equally long: it falls geometrically."""
    statistic = Quantile(level=0.5, bounds=(0, 1), relation=Relation.ADD_REMOVE, epsilon=epsilon)
    return math.log(1 / (1 - CONFIDENCE)) / float(statistic.mechanism.rate)  # type: ignore[union-attr]


def _share(rows: float) -> Callable[[float], float]:
    """Return a number of rows as a share of n, at most all of them."""
    return lambda size: min(rows / size, 1.0)


def quantiles_error() -> Plot:
    """Many quantiles: all at once, in a tree, in even bins, or one by one for a share of the price each."""
    left, right = side_by_side(
        "Many quantiles: the price of a few for ten, or for a hundred",
        left=("epsilon (ten quantiles)", f"root mean square {RANKS}"),
        right=("number of quantiles (epsilon 1)", f"root mean square {RANKS}"),
    )
    lines: tuple[tuple[str, str, str, Callable[[int, float], float]], ...] = (
        ("one by one", SOFT, ":", _one_by_one),
        ("even bins, 1,000 rows", ORANGE, "--", lambda count, epsilon: math.sqrt(_bins(count, epsilon).variance())),
        ("in a tree", GREEN, "-.", lambda count, epsilon: math.sqrt(_tree(count, epsilon).variance())),
        ("all at once", BLUE, "-", lambda count, epsilon: math.sqrt(_joint(count, epsilon).variance())),
    )
    for name, color, style, height in lines:
        Line(name, color, style, lambda epsilon, height=height: height(10, epsilon)).draw(left, EPSILONS)  # type: ignore[misc]
        counts = np.unique(np.round(np.logspace(np.log10(2), 2, 25)))
        Line(name, color, style, lambda count, height=height: height(round(count), 1.0)).draw(right, counts)  # type: ignore[misc]
    logarithmic(left, x=TICKS_OF_EPSILON, y=(1, 10, 100, 1000))
    left.set_ylim(top=20_000)
    logarithmic(right, x=(2, 10, 100), y=(1, 10, 100))
    right.set_ylim(top=2000)
    return finished(left, right)


def _levels(count: int) -> tuple[Fraction, ...]:
    """Return so many levels, evenly."""
    return tuple(Fraction(place, count + 1) for place in range(1, count + 1))


def _one_by_one(count: int, epsilon: float) -> float:
    """Return the error of single quantiles for a share of epsilon each, on an even table."""
    rates = [epsilon / count / (2 * float(max(level, 1 - level))) for level in _levels(count)]
    return math.sqrt(sum(2 / rate**2 for rate in rates) / count)


def _tree(count: int, epsilon: float) -> QuantileTree:
    return QuantileTree(levels=_levels(count), epsilon=epsilon, relation=Relation.ADD_REMOVE, steps=STEPS)


def _bins(count: int, epsilon: float) -> EvenBins:
    return EvenBins(
        levels=_levels(count), epsilon=epsilon, relation=Relation.ADD_REMOVE, steps=STEPS, rows_expected=1000
    )


def _joint(count: int, epsilon: float) -> JointQuantiles:
    return JointQuantiles(levels=_levels(count), epsilon=epsilon, relation=Relation.ADD_REMOVE, steps=STEPS)


def clipping_error() -> Plot:
    """Clipping bounds: by how many rows a bound misses its share, whatever the range of the data."""
    left, right = side_by_side(
        "Clipping bounds: the price of not knowing the range",
        left=("epsilon", f"95 % {RANKS}"),
        right=("number of rows, n (epsilon 1)", "95 % rank error, share of n"),
    )
    kinds: tuple[tuple[str, str, str, Relation, bool], ...] = (
        ("two bounds, change one", ORANGE, "--", Relation.CHANGE_ONE, False),
        ("two bounds, add/remove", GREEN, "-.", Relation.ADD_REMOVE, False),
        ("one bound for the size", BLUE, "-", Relation.ADD_REMOVE, True),
    )
    for name, color, style, relation, symmetric in kinds:

        def height(epsilon: float, relation: Relation = relation, symmetric: bool = symmetric) -> float:
            statistic = ClippingBounds(level=0.95, relation=relation, epsilon=epsilon, symmetric=symmetric)
            return float(statistic.rank_error)

        Line(name, color, style, height).draw(left, EPSILONS[::4])
        Line(name, color, style, _share(height(1.0))).draw(right, PEOPLE)
    logarithmic(left, x=TICKS_OF_EPSILON, y=(10, 100, 1000, 10_000))
    left.set_ylim(top=100_000)
    logarithmic(right, x=TICKS_OF_PEOPLE, y=(1e-4, 1e-2, 1), percent=True)
    right.set_ylim(top=100)
    return finished(left, right)
