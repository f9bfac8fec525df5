"""Draw what joins, remarks and boxes tell about people in tables without names, beside what theory expects."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from discreet.attacks import (
    AttackedRelease,
    Identification,
    Linkage,
    MatchRule,
    curse,
    homogeneity,
    identify,
    intersection,
    link,
    mondrian,
    uniques,
)
from discreet.data import City, Discharges, ratings, register
from discreet.data.invented_city import QUASI_IDENTIFIERS
from discreet.display.plots import BLUE, GREEN, INK, ORANGE, SOFT, Plot
from tools.figures.panels import SMALL, side_by_side

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PEOPLE, SEED = 200_000, 2026
SHARES = ([0, 0.25, 0.5, 0.75, 1.0], ["0", "25 %", "50 %", "75 %", "100 %"])
ONE_TABLE = ("zip_code", "birth_date", "sex")
ANOTHER = ("education", "occupation", "children", "vehicle", "height")
SIZES = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20)
KNOWN = (1, 2, 3, 4, 6, 8, 12)


def linkage() -> Plot:
    """Draw uniques, and precision and recall of the join, against the number of columns."""
    city = register(people=PEOPLE, seed=SEED)
    left, right = side_by_side(
        "Linkage: harmless facts, taken together",
        left=("columns known", "people"),
        right=("columns joined on", ""),
        height=4.9,
    )
    alone = uniques(city.register, QUASI_IDENTIFIERS)
    places = np.arange(1, len(QUASI_IDENTIFIERS) + 1)
    left.plot(places, alone.expected, color=BLUE, linewidth=1.8, label="expected, independent columns")
    left.plot(places, alone.frequencies, "o", color=BLUE, markersize=6, label="unique among 100,000")
    for place, name in ((2, "zip code and\nbirth date"), (3, "and sex")):
        unique = alone.frequencies[place - 1]
        left.annotate(
            name, (place, unique), (place + 1.1, unique - 0.24 / (place - 1)),
            fontsize=SMALL, color=INK, arrowprops={"arrowstyle": "-", "color": SOFT, "linewidth": 0.8},
        )  # fmt: skip
    found = [_linked(city, count) for count in places[1:].tolist()]
    right.plot(places[1:], [one.expected_precision or 0.0 for one in found], color=BLUE, linewidth=1.8,
               label="right names, expected from the tables")  # fmt: skip
    right.plot(places[1:], [one.precision or 0.0 for one in found], "o", color=BLUE, markersize=6, label="right names")
    right.plot(places[1:], [one.recall or 0.0 for one in found], "s--", color=ORANGE, markersize=5, linewidth=1.6,
               label="found, of those in both tables")  # fmt: skip
    for panel in (left, right):
        panel.set_xticks([1, 3, 6, 9, 12])
        panel.set_xlim(0.5, 12.5)
    return _finished(left, right)


def identification() -> Plot:
    """Draw the share identified against the number of remarks, and the claims about people who are not there."""
    table = ratings(people=20_000, items=4000, seed=SEED)
    left, right = side_by_side(
        "Sparse ratings: a few remarks find a row of 20,000",
        left=("remarks about a person", "people looked for"),
        right=("remarks about a person", "other people expected"),
        height=4.9,
    )
    for wrong, color, style, words in ((0.0, BLUE, "o-", "all right"), (0.25, ORANGE, "s--", "a quarter wrong")):
        found = identify(table, known=KNOWN, wrong=wrong, targets=200, seed=SEED)
        left.plot(KNOWN, _shares(found, "identified"), style, color=color, markersize=5, linewidth=2, label=words)
        left.plot(KNOWN, _shares(found, "absent"), style[0], color=color, markersize=4, markerfacecolor="white",
                  label=f"{words}, own row taken out")  # fmt: skip
        right.semilogy(KNOWN, _shares(found, "candidates"), style, color=color, markersize=5, linewidth=2, label=words)
    right.axhline(1.0, color=INK, linewidth=1.0, linestyle=":")
    for panel in (left, right):
        panel.set_xticks(KNOWN)
    return _finished(left, right, shares=(left,))


def anonymity() -> Plot:
    """Draw box sides and uniques against columns, and what two k-anonymous releases tell against k."""
    left, right = side_by_side(
        "k-anonymity: many columns, and two releases",
        left=("columns", "mean side; share unique"),
        right=("k of both releases", "secrets known"),
        height=5.3,
    )
    cursed = curse(columns=(1, 2, 3, 4, 5, 6, 8, 12, 20, 40), seed=SEED)
    left.plot(
        cursed.columns, cursed.least_sides, ":", color=INK, linewidth=1.6, label="(k/n)^(1/d): cells without gaps"
    )
    left.plot(cursed.columns, cursed.expected_sides, color=BLUE, linewidth=1.8, label="side, expected by halving")
    left.plot(cursed.columns, cursed.sides, "o", color=BLUE, markersize=6, label="side, by Mondrian")
    left.plot(cursed.columns, cursed.expected_frequencies, "--", color=ORANGE, linewidth=1.6, label="unique, expected")
    left.plot(cursed.columns, cursed.frequencies, "D", color=ORANGE, markersize=5, label="unique, ten levels a column")
    left.set_xscale("log")
    left.set_xticks([1, 2, 5, 10, 20, 40], ["1", "2", "5", "10", "20", "40"])
    left.set_xticks([], minor=True)
    patients = register(people=PEOPLE, seed=SEED).discharges
    _intersections(right, patients)
    return _finished(left, right)


def _intersections(panel: Axes, patients: Discharges) -> None:
    """Draw the share of secrets known from one release and from two."""
    everybody = np.arange(len(patients))
    alone, both, expected = [], [], []
    for k in SIZES:
        one, two = (
            AttackedRelease(mondrian(patients, k=k, columns=facts), patients.code, everybody)
            for facts in (ONE_TABLE, ANOTHER)
        )
        together = intersection(one, two)
        alone.append(homogeneity(one).frequency)
        both.append(together.frequency)
        expected.append(together.expected or 0.0)
    panel.plot(SIZES, expected, color=ORANGE, linewidth=1.8, label="two releases, independent secrets")
    panel.plot(SIZES, both, "o", color=ORANGE, markersize=6, label="two releases")
    panel.plot(SIZES, alone, "s--", color=GREEN, markersize=5, linewidth=1.6, label="one release")
    panel.set_xticks([2, 5, 10, 15, 20])


def _linked(city: City, count: int) -> Linkage:
    """Join on the first so many columns."""
    on = QUASI_IDENTIFIERS[:count]
    return link(city.register, city.discharges, on=on, rule=MatchRule.UNIQUE_IN_BOTH, truth=city.match)


def _shares(found: Identification, name: str) -> list[float]:
    """Return one number of every row."""
    return [float(getattr(one, name)) for one in found.rows]


def _finished(left: Axes, right: Axes, shares: tuple[Axes, ...] | None = None) -> Plot:
    """Add percent, light lines, and legends below."""
    for panel in (left, right) if shares is None else shares:
        panel.set_ylim(-0.03, 1.03)
        panel.set_yticks(*SHARES)
    for panel in (left, right):
        panel.grid(color=SOFT, alpha=0.18, linewidth=0.8)
        panel.set_axisbelow(True)
        panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), frameon=False, fontsize=SMALL, labelcolor=INK)
    return Plot(cast("Figure", left.figure))
