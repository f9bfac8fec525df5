"""Draw how wrong each private statistic is, against epsilon and against the number of people, from the exact laws."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from discreet.display.plots import BLUE, GREEN, INK, ORANGE, SOFT, Plot
from discreet.laws.noise.discrete_laplace import DiscreteLaplace
from discreet.privacy import Relation, Target
from discreet.statistics import Count, CountDistinct, DiscoveredHistogram, Histogram, Mean, Sum
from discreet.statistics.pricing.combined_noise import combination_quantile
from tools.figures.panels import finished, logarithmic, side_by_side, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec

EPSILONS = np.logspace(-2, np.log10(2), 41)
PEOPLE = np.logspace(1, 6, 41)
TICKS_OF_EPSILON, TICKS_OF_PEOPLE = (0.01, 0.1, 1), (10, 1000, 100_000)
DELTA, CONFIDENCE = 1e-6, 0.95
NORMAL = 1.959964
BOTH = (Relation.ADD_REMOVE, Relation.CHANGE_ONE)
WIDTH = "95 % half-width"


class Line(NamedTuple):
    """One curve: its name, how it looks, and its height at a place of the horizontal axis."""

    name: str
    color: str
    style: str
    height: Callable[[float], float]

    def draw(self, panel: Axes, places: Iterable[float]) -> None:
        """Draw the curve at the given places, leaving out those where there is nothing to show."""
        points = [(place, self.height(float(place))) for place in places]
        shown = [(place, height) for place, height in points if 0 < height < np.inf]
        panel.plot(*zip(*shown, strict=True), self.style, color=self.color, linewidth=2.0, label=self.name)


def count_error() -> Plot:
    """A count: the error does not depend on the number of people, so its share falls as fast as that grows."""
    left, right = side_by_side(
        "Count: as much noise for a hundred people as for a million",
        left=("epsilon", f"{WIDTH}, people"),
        right=("number of rows, n", f"{WIDTH}, share of n"),
    )
    for line in (
        Line("Gaussian, delta 1e-6", ORANGE, "--", lambda epsilon: _count(epsilon, delta=DELTA)),
        Line("Laplace, 3 rows a person", GREEN, "-.", lambda epsilon: _count(epsilon, rows=3)),
        Line("Laplace", BLUE, "-", _count),
    ):
        line.draw(left, EPSILONS)
    for line in (
        Line("epsilon 0.1", GREEN, "-.", _share(_count(0.1))),
        Line("epsilon 1", BLUE, "-", _share(_count(1.0))),
        Line("sampling, for a share of half", INK, ":", lambda rows: NORMAL * 0.5 / rows**0.5),
    ):
        line.draw(right, PEOPLE)
    _epsilon_axis(left, (1, 10, 100, 1000), top=9000)
    _people_axis(right, (1e-6, 1e-4, 1e-2, 1), top=100, percent=True)
    return finished(left, right)


def _count(epsilon: float, **more: float) -> float:
    """Return the half-width of a count, in rows."""
    statistic = Count(relation=Relation.ADD_REMOVE, epsilon=epsilon, **more)  # type: ignore[arg-type]
    return statistic.mechanism.error(CONFIDENCE) / (1 if statistic.rows is None else 1 << 20)


def distinct_error() -> Plot:
    """Distinct keys: what counts is how many of them one person may bring."""
    left, right = side_by_side(
        "Distinct keys: every key that a person may bring costs noise",
        left=("epsilon", f"{WIDTH}, keys"),
        right=("number of distinct keys", f"{WIDTH}, share of them"),
    )
    for keys, color, style in ((10, ORANGE, "--"), (3, GREEN, "-."), (1, BLUE, "-")):
        name = f"{keys} keys a person" if keys > 1 else "one key a person"

        def width(epsilon: float, keys: int = keys) -> float:
            statistic = CountDistinct(relation=Relation.ADD_REMOVE, epsilon=epsilon, groups=keys)
            return float(statistic.mechanism.error(CONFIDENCE))

        Line(name, color, style, width).draw(left, EPSILONS)
        Line(f"{name}, epsilon 1", color, style, _share(width(1.0))).draw(right, PEOPLE)
    _epsilon_axis(left, (1, 10, 100, 1000), top=40_000)
    _people_axis(right, (1e-6, 1e-4, 1e-2, 1), top=200, percent=True)
    return finished(left, right)


def sum_error() -> Plot:
    """A sum: the relation and the noise matter by a factor, the bounds by as much as they are too wide."""
    left, right = side_by_side(
        "Sum: the noise grows with the bounds, not with the values",
        left=("epsilon (bounds -50 and 100)", WIDTH),
        right=("rows of mean 30, n (epsilon 1)", f"{WIDTH}, share of the sum"),
    )
    add_remove, change_one = BOTH
    for line in (
        Line("Gaussian, delta 1e-6", ORANGE, "--", lambda epsilon: _sum(epsilon, (-50, 100), add_remove, delta=DELTA)),
        Line("Laplace, change one", GREEN, "-.", lambda epsilon: _sum(epsilon, (-50, 100), change_one)),
        Line("Laplace, add/remove", BLUE, "-", lambda epsilon: _sum(epsilon, (-50, 100), add_remove)),
    ):
        line.draw(left, EPSILONS)
    for bound, color, style in ((10_000, ORANGE, "--"), (1000, GREEN, "-."), (100, BLUE, "-")):
        width = _sum(1.0, (0, bound), add_remove)
        Line(f"bounds 0 and {bound:,}", color, style, _share(width / 30)).draw(right, PEOPLE)
    _epsilon_axis(left, (100, 1000, 10_000, 100_000), top=600_000)
    _people_axis(right, (1e-6, 1e-4, 1e-2, 1, 100), top=20_000, percent=True)
    return finished(left, right)


def _sum(epsilon: float, bounds: tuple[int, int], relation: Relation, delta: float | None = None) -> float:
    """Return the half-width of a sum, in the unit of the values."""
    statistic = Sum(bounds=bounds, relation=relation, epsilon=epsilon, delta=delta, grid=1)
    return float(statistic.mechanism.error(CONFIDENCE))


def mean_error() -> Plot:
    """A mean of 30 between 0 and 100: two distances, against ratios of a noisy sum and a noisy count."""
    left, right = side_by_side(
        "Mean (30, between 0 and 100): what two distances save",
        left=("epsilon (10,000 rows)", WIDTH),
        right=("number of rows, n (epsilon 1)", WIDTH),
        height=4.4,
    )
    lines: tuple[tuple[str, str, str, Callable[..., float]], ...] = (
        ("sum over count", SOFT, "-", partial(_ratio, scales=(2.0, 0.6))),
        ("centered sum over count", ORANGE, "--", partial(_ratio, scales=(1.0, 0.4))),
        ("change one, n public", GREEN, "-.", _mean_of_known_size),
        ("two distances", BLUE, "-", _mean),
    )
    for name, color, style, height in lines:
        Line(name, color, style, partial(height, rows=10_000.0)).draw(left, EPSILONS)
        Line(name, color, style, partial(height, 1.0)).draw(right, PEOPLE[8:])
    Line("population, ages from 10 to 50", INK, ":", lambda rows: _mean(1.0, rows, Target.POPULATION)).draw(
        right, PEOPLE[8:]
    )
    _epsilon_axis(left, (0.01, 0.1, 1, 10), top=90)
    _people_axis(right, (1e-4, 1e-2, 1, 100), top=5000, ticks=(100, 10_000))
    return finished(left, right)


def _mean(epsilon: float, rows: float, target: Target = Target.TABLE) -> float:
    """Return the half-width of the interval about a mean of 30, where the noise happens to be 0."""
    statistic = Mean(bounds=(0, 100), relation=Relation.ADD_REMOVE, epsilon=epsilon, target=target)
    exact = statistic.estimate(
        _times(np.atleast_1d(statistic.measure(SPREAD)), round(rows) / len(SPREAD)), public_rows=None
    )
    low, high = exact.ends
    return (high - low) / 2 if low > 0 else float("inf")


SPREAD = np.linspace(10, 50, 41)


def _times(sums: NDArray[np.object_], factor: float) -> NDArray[np.object_]:
    """Return what so many times as many rows would add up to."""
    return np.array([round(int(one) * factor) for one in sums], dtype=object)


def _mean_of_known_size(epsilon: float, rows: float) -> float:
    """Return the half-width under change-one, nothing missing."""
    statistic = Mean(bounds=(0, 100), relation=Relation.CHANGE_ONE, epsilon=epsilon, missing=0)
    exact = statistic.estimate(statistic.scale.steps * round(rows) * 3 // 10, public_rows=round(rows))
    low, high = exact.ends
    return (high - low) / 2 if low > 0 else float("inf")


def _ratio(epsilon: float, rows: float, scales: tuple[float, float]) -> float:
    """Return the half-width of a noisy sum over a noisy count to first order, half of epsilon for each.

    The scales of the two noises are in units of 100 / epsilon, that of the count times the distance of the mean from
    the value about which the sum is taken.
    """
    steps = 1 << 30
    noise = DiscreteLaplace(Fraction(steps) / Fraction(epsilon))
    return 100.0 * combination_quantile(noise, scales, CONFIDENCE) / steps / round(rows)


def histogram_error() -> Plot:
    """A histogram: one count, all counts at once, and how the number of keys decides between two kinds of noise."""
    left, right = side_by_side(
        "Histogram: a thousand counts for the price of one",
        left=("epsilon (1,000 keys)", f"{WIDTH}, people"),
        right=("number of rows, n (epsilon 1)", f"{WIDTH}, share of n/1,000"),
        height=7.4,
        rows=2,
    )
    figure, grid = cast("Figure", left.figure), cast("SubplotSpec", left.get_subplotspec()).get_gridspec()
    below = styled(
        figure.add_subplot(grid[1, :]),
        x_label="number of keys (epsilon 1)",
        y_label=f"{WIDTH}\nof all at once, people",
    )
    lines: tuple[tuple[str, str, str, Callable[[float], float]], ...] = (
        ("all at once, Gaussian", ORANGE, "--", lambda epsilon: _histogram(epsilon, 1000, delta=DELTA)),
        ("all at once, Laplace", GREEN, "-.", lambda epsilon: _histogram(epsilon, 1000)),
        ("one count, Laplace", BLUE, "-", lambda epsilon: _histogram(epsilon, 1)),
    )
    for name, color, style, height in lines:
        Line(name, color, style, height).draw(left, EPSILONS)
        Line(name, color, style, _share(1000 * height(1.0))).draw(right, PEOPLE[16:])
    keys = np.unique(np.round(np.logspace(0, 7, 57)))
    for relation, style in zip(BOTH, ("-", "--"), strict=True):
        for delta, color, name in ((None, BLUE, "Laplace"), (DELTA, ORANGE, "Gaussian, delta 1e-6")):

            def width(count: float, relation: Relation = relation, delta: float | None = delta) -> float:
                return _histogram(1.0, round(count), relation, delta)

            Line(f"{name}, {relation.value}", color, style, width).draw(below, keys)
    _epsilon_axis(left, (1, 10, 100, 1000), top=30_000)
    _people_axis(right, (1e-2, 1), top=3e3, ticks=(1000, 100_000), percent=True)
    logarithmic(below, x=(1, 100, 10_000, 1_000_000))
    below.set_ylim(0, 58)
    return finished(left, right, below)


def _histogram(
    epsilon: float, together: int, relation: Relation = Relation.ADD_REMOVE, delta: float | None = None
) -> float:
    """Return the half-width that so many counts keep at once."""
    statistic = Histogram(keys=["one", "two"], relation=relation, epsilon=epsilon, delta=delta)
    return float(statistic.mechanism.error(CONFIDENCE, together))


def discovered_error() -> Plot:
    """Private keys: the chance of a key to be named, and from which noisy count on keys are named."""
    left, right = side_by_side(
        "Private keys: how many must hold one before it is named?",
        left=("people who hold the key (delta 1e-6)", "chance to be named"),
        right=("epsilon (delta 1e-6)", "people"),
    )
    counts = range(241)
    for epsilon, color, style in ((1.0, BLUE, "-"), (0.3, GREEN, "-."), (0.1, ORANGE, "--")):
        found = _discovered(epsilon)
        chances = [found.mechanism.chance(count).estimate for count in counts]
        left.plot(counts, chances, style, color=color, linewidth=2.0, label=f"epsilon {epsilon:g}")
    for line in (
        Line("threshold, 10 keys a person", ORANGE, "--", lambda epsilon: _discovered(epsilon, groups=10).threshold),
        Line("threshold, change one", GREEN, "-.", lambda epsilon: _discovered(epsilon, BOTH[1]).threshold),
        Line("threshold, add/remove", BLUE, "-", lambda epsilon: _discovered(epsilon).threshold),
        Line("half-width of a named count", INK, ":", lambda epsilon: _discovered(epsilon).mechanism.error(CONFIDENCE)),
    ):
        line.draw(right, EPSILONS)
    left.set(xlim=(0, 240), ylim=(0, 1.02))
    left.set_yticks([0, 0.25, 0.5, 0.75, 1.0], ["0", "25 %", "50 %", "75 %", "100 %"])
    _epsilon_axis(right, (1, 10, 100, 1000, 10_000), top=1_000_000)
    finished(left, corner="center right")
    return finished(right)


def _discovered(
    epsilon: float, relation: Relation = Relation.ADD_REMOVE, groups: int | None = None
) -> DiscoveredHistogram:
    """Return the histogram of private keys at a price."""
    return DiscoveredHistogram(relation=relation, epsilon=epsilon, delta=DELTA, groups=groups)


def _share(width: float) -> Callable[[float], float]:
    """Return a half-width as a share of a number of people or keys."""
    return lambda size: width / size


def _epsilon_axis(panel: Axes, ticks: tuple[float, ...], *, top: float) -> None:
    """Finish a panel that has epsilon along its horizontal axis."""
    logarithmic(panel, x=TICKS_OF_EPSILON, y=ticks)
    panel.set_ylim(top=top)


def _people_axis(
    panel: Axes,
    ticks_of_error: tuple[float, ...],
    *,
    top: float,
    ticks: tuple[float, ...] = TICKS_OF_PEOPLE,
    percent: bool = False,
) -> None:
    """Finish a panel that has a number of people or keys along its horizontal axis."""
    logarithmic(panel, x=ticks, y=ticks_of_error, percent=percent)
    panel.set_ylim(top=top)
