"""Sparse ratings: a few remarks about a person, some of them wrong, point to one row of millions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.attacks.asking.columns import Columns
from discreet.attacks.linking.scoreboard import Scoreboard, leader, ratings_of
from discreet.data import Hearsay, Ratings, hearsay
from discreet.data.table import MOST_PEOPLE, check_whole
from discreet.display import Table
from discreet.display.plots import BLUE, INK, ORANGE, SOFT, Plot, axes
from discreet.errors import InputError, ParameterError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Identified:
    """What so many remarks about each of some targets gave away.

    `identified`, `mistaken` and `silent` are shares of the targets: the right row claimed, another one, none. `absent`
    is the share for whom a row is claimed although their own was taken out: every one of those claims is false.
    `candidates` is how many other people theory expects to have rated as many of the items as the target has, in the
    mean over targets.
    """

    known: int
    wrong: int
    targets: int
    identified: float
    mistaken: float
    silent: float
    absent: float
    candidates: float


@dataclass(frozen=True, slots=True, repr=False)
class Identification:
    """Identification against the number of remarks, a row each."""

    people: int
    ratings: int
    threshold: float
    rows: tuple[Identified, ...]

    @property
    def table(self) -> Table:
        """The numbers as a table."""
        rows = [
            [
                one.known, one.wrong, f"{100 * one.identified:.1f} %", f"{100 * one.mistaken:.1f} %",
                f"{100 * one.absent:.1f} %", one.candidates,
            ]
            for one in self.rows
        ]  # fmt: skip
        words = f"{self.people:,} people, {self.ratings:,} ratings; a claim takes an eccentricity of {self.threshold:g}"
        names = ["remarks", "wrong", "identified", "mistaken", "claimed if absent", "others expected"]
        return Table(names, rows, words, digits=2)

    def __repr__(self) -> str:
        """Say it in one line."""
        last = self.rows[-1]
        return (
            f"<Identification: people {self.people:,}; ratings {self.ratings:,}; with {last.known} remarks identified "
            f"{100 * last.identified:.1f} %, mistaken {100 * last.mistaken:.1f} %>"
        )

    def __str__(self) -> str:
        """Say it in a table."""
        return str(self.table)

    def _repr_html_(self) -> str:
        """Show the table in a notebook."""
        return self.table._repr_html_()

    def plot(self) -> Plot:
        """Draw the shares against the number of remarks; needs the extra `plot`."""
        drawn = axes(
            title=f"Found among {self.people:,} people by a few remarks",
            x_label="remarks about a person",
            y_label="targets",
        )
        known = [one.known for one in self.rows]
        for name, colour, style in (
            ("identified", BLUE, "o-"),
            ("mistaken", ORANGE, "s--"),
            ("absent", INK, "^:"),
        ):
            label = "claimed though absent" if name == "absent" else name
            shares = [getattr(one, name) for one in self.rows]
            drawn.plot(known, shares, style, color=colour, linewidth=2, markersize=6, label=label)
        drawn.set_xticks(known)
        drawn.set_ylim(-0.03, 1.03)
        drawn.set_yticks([0, 0.25, 0.5, 0.75, 1.0], ["0", "25 %", "50 %", "75 %", "100 %"])
        drawn.grid(color=SOFT, alpha=0.18, linewidth=0.8)
        figure = cast("Figure", drawn.figure)
        figure.legend(loc="outside lower center", ncols=3, frameon=False, labelcolor=INK)
        return Plot(figure)


def identify(
    table: Ratings | Columns,
    *,
    known: Sequence[int] = (2, 4, 6, 8, 12),
    wrong: float = 0.25,
    targets: int = 200,
    days: int = 14,
    threshold: float = 6.0,
    seed: int,
) -> Identification:
    """Overhear some remarks about people of the table, look for their rows, and count what was claimed.

    Of every number `known` of remarks the share `wrong`, rounded down, is about items never rated; the others are off
    by up to a star and `days` days. A row is claimed if its eccentricity passes the threshold: the lower that is, the
    more rows are claimed for people whose own is not there at all.

    Cost. Some milliseconds a target for 50 000 people.
    Reference. Narayanan, Shmatikov 2008.

    >>> from discreet.data import ratings
    >>> found = identify(ratings(people=2000, items=1000, seed=1), known=(2, 8), targets=50, threshold=3, seed=2)
    >>> found.rows[0].identified < found.rows[1].identified, found.rows[1].identified > 0.9
    (True, True)
    """
    if not known or any(isinstance(one, bool) or not isinstance(one, int) or one < 1 for one in known):
        raise ParameterError("known must be numbers of remarks, each at least 1", parameter="known")
    if not 0 <= wrong < 1:
        raise ParameterError("wrong must be a share from 0 to below 1", parameter="wrong")
    if not threshold >= 0:
        raise ParameterError("threshold must be a number that is not negative", parameter="threshold")
    table = ratings_of(table)
    board = Scoreboard(table)
    rows = []
    for count in known:
        slips = int(wrong * count)
        heard = hearsay(table, targets=targets, known=count, wrong=slips, days=days, seed=seed)
        rows.append(_identified(board, heard, count, slips, threshold))
    return Identification(board.people, len(table), threshold, tuple(rows))


def expected_candidates(frequencies: ArrayLike, *, people: int, at_least: int) -> float:
    """Return how many of so many people are expected to have rated at least so many of some items.

    Accuracy. Exact if a person rates each item independently, with the chance of its frequency; with all items asked
        for it is n times the product of the frequencies. The chance that anybody does is at most that.
        Proof: the number of items that one person has is a sum of independent coins, whose law is the convolution
        computed here; expectations of people add up, and so do their chances at most.

    >>> round(expected_candidates([0.01, 0.002, 0.1], people=500_000, at_least=3), 3)
    1.0
    """
    chances = np.asarray(frequencies, dtype=np.float64)
    if chances.ndim != 1 or not np.all((chances >= 0) & (chances <= 1)):
        raise InputError("the frequencies of the items must lie between 0 and 1")
    check_whole("people", people, low=0, high=MOST_PEOPLE)
    check_whole("at_least", at_least, low=0, high=MOST_PEOPLE)
    law = np.ones(1)
    for chance in chances:
        law = np.convolve(law, [1 - chance, chance])
    return people * float(law[at_least:].sum())


def _identified(board: Scoreboard, heard: Hearsay, known: int, wrong: int, threshold: float) -> Identified:
    """Try all targets of one number of remarks, with their own rows and without."""
    right = mistaken = absent = 0
    others = 0.0
    targets = heard.target[::known].tolist()
    for place, target in enumerate(targets):
        rows = slice(place * known, (place + 1) * known)
        remarks = heard.item[rows], heard.stars[rows], heard.day[rows]
        scores = board.scores(*remarks)
        best = leader(scores)
        if best.eccentricity > threshold:
            right, mistaken = right + (best.person == target), mistaken + (best.person != target)
        absent += leader(np.delete(scores, target)).eccentricity > threshold
        frequencies = board.support[remarks[0]] / board.people
        others += expected_candidates(frequencies, people=board.people - 1, at_least=known - wrong)
    count = len(targets)
    silent = 1 - (right + mistaken) / count
    return Identified(known, wrong, count, right / count, mistaken / count, silent, absent / count, others / count)
