"""Sparse ratings: a few remarks about a person, some of them wrong, point to one row of millions by a scoreboard.

It says which row fits best what was overheard, and by how much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.attacks.asking import Columns, columns_of
from discreet.attacks.results import QUARTERS
from discreet.data import Hearsay, Ratings, hearsay
from discreet.data.invented_ratings import MOST_ITEMS
from discreet.data.table import MOST_PEOPLE, check_whole
from discreet.display import Table
from discreet.display.plots import BLUE, INK, ORANGE, SOFT, Plot, axes, explained
from discreet.display.result import told_in_a_table
from discreet.errors import InputError, ParameterError

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Identified:
    """What `known` remarks about each target gave away.

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


@told_in_a_table
@dataclass(frozen=True, slots=True, repr=False)
class Identification:
    """Identification against the number of remarks, a row each."""

    people: int
    ratings: int
    threshold: float
    rows: tuple[Identified, ...]

    def table(self) -> Table:
        """Return the numbers as a table."""
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
        last = self.rows[-1]
        return (
            f"<Identification: people {self.people:,}; ratings {self.ratings:,}; with {last.known} remarks identified "
            f"{100 * last.identified:.1f} %, mistaken {100 * last.mistaken:.1f} %>"
        )

    def plot(self) -> Plot:
        """Draw the shares against the number of remarks; needs the extra `plot`."""
        drawn = axes(
            title=f"Found among {self.people:,} people by a few remarks",
            x_label="remarks about a person",
            y_label="targets",
        )
        known = [one.known for one in self.rows]
        for name, color, style in (
            ("identified", BLUE, "o-"),
            ("mistaken", ORANGE, "s--"),
            ("absent", INK, "^:"),
        ):
            label = "claimed though absent" if name == "absent" else name
            shares = [getattr(one, name) for one in self.rows]
            drawn.plot(known, shares, style, color=color, linewidth=2, markersize=6, label=label)
        drawn.set_xticks(known)
        drawn.set_ylim(-0.03, 1.03)
        drawn.set_yticks(*QUARTERS)
        drawn.grid(color=SOFT, alpha=0.18, linewidth=0.8)
        return explained(drawn, ncols=3)


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
    >>> found = identify(
    ...     ratings(people=2000, items=1000, seed=1),
    ...     known=(2, 8),
    ...     targets=50,
    ...     threshold=3,
    ...     seed=2,
    ... )
    >>> (
    ...     found.rows[0].identified < found.rows[1].identified,
    ...     found.rows[1].identified > 0.9,
    ... )
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
    """Return how many of `people` are expected to have rated at least `at_least` of some items.

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


@dataclass(frozen=True, slots=True)
class BestMatch:
    """The best row for some remarks: its person, its score, and how far it stands out from the second best.

    `eccentricity` is best minus second best, in standard deviations of all scores.
    """

    person: int
    score: float
    eccentricity: float


def ratings_of(table: Ratings | Columns) -> Ratings:
    """Return ratings from any table with the columns person, item, stars and day; refuse one without rows."""
    found = table if isinstance(table, Ratings) else Ratings(**columns_of(table, ("person", "item", "stars", "day")))
    if not len(found):
        raise InputError("the table must have at least one rating")
    return found


class Scoreboard:
    """Scores of all people of a table for remarks about one of them.

    A remark (item, stars, day) gives everybody who rated the item the points w (exp(-|stars apart| / 1.5) + exp(-|days
    apart| / 30)), w = 1 / ln(1 + number of people who rated the item): a rare item says more than a common one. A wrong
    remark costs nothing but its points, so that some may be wrong.

    Cost. As many additions as there are ratings of the items remarked on.
    Reference. Narayanan, Shmatikov 2008, `Scoreboard-RH`.

    >>> from discreet.data import hearsay, ratings
    >>> table = ratings(people=2000, items=1000, seed=1)
    >>> heard = hearsay(table, targets=1, known=8, wrong=2, seed=3)
    >>> found = Scoreboard(table).best(heard.item, heard.stars, heard.day)
    >>> found.person == heard.target[0], found.eccentricity > 1.5
    (np.True_, True)
    """

    def __init__(self, table: Ratings | Columns, *, stars_scale: float = 1.5, days_scale: float = 30.0) -> None:
        """Sort the ratings by item; the scales say how fast points fall with stars and days apart.

        Any table with the columns person, item, stars and day will do.
        """
        for name, scale in (("stars_scale", stars_scale), ("days_scale", days_scale)):
            if not 0 < scale < np.inf:
                raise ParameterError(f"{name} must be a positive number", parameter=name)
        table = ratings_of(table)
        for name, most in (("person", MOST_PEOPLE), ("item", MOST_ITEMS)):
            column = table.column(name)
            if column.dtype.kind not in "iu" or column.min() < 0 or column.max() >= most:
                raise InputError(f"{name} must be numbered from 0, with whole numbers below {most:,}")
        for name in ("stars", "day"):
            _check_finite(table.column(name), name)
        order = np.argsort(table.item, kind="stable")
        self.people = int(table.person.max()) + 1
        self.support = np.bincount(table.item)
        self._starts = np.concatenate([[0], np.cumsum(self.support)])
        self._person, self._stars, self._day = (column[order] for column in (table.person, table.stars, table.day))
        self._scales = float(stars_scale), float(days_scale)

    def scores(self, item: ArrayLike, stars: ArrayLike, day: ArrayLike) -> Floats:
        """Return the score of everybody for some remarks; an item that nobody rated gives no points."""
        remarks = [np.asarray(column) for column in (item, stars, day)]
        if any(column.ndim != 1 or len(column) != len(remarks[0]) for column in remarks):
            raise InputError("remarks must be given by items, stars and days of one length")
        if remarks[0].dtype.kind not in "iu" and remarks[0].size:
            raise InputError("items must be whole numbers")
        _check_finite(remarks[1], "stars")
        _check_finite(remarks[2], "day")
        total = np.zeros(self.people)
        for one, value, when in zip(*(column.tolist() for column in remarks), strict=True):
            if not 0 <= one < len(self.support) or not self.support[one]:
                continue
            rows = slice(self._starts[one], self._starts[one + 1])
            points = np.exp(np.abs(self._stars[rows] - value) / -self._scales[0])
            points += np.exp(np.abs(self._day[rows] - when) / -self._scales[1])
            total[self._person[rows]] += points / np.log1p(self.support[one])
        return total

    def best(self, item: ArrayLike, stars: ArrayLike, day: ArrayLike) -> BestMatch:
        """Return the row that fits some remarks best, and how far it stands out."""
        return leader(self.scores(item, stars, day))


def _check_finite(column: NDArray[Any], name: str) -> None:
    if column.dtype.kind not in "biuf" or not np.isfinite(column).all():
        raise InputError(f"{name} must be finite numbers")


def leader(scores: Floats) -> BestMatch:
    """Return the highest of some scores, and how far it stands out.

    >>> leader(np.array([0.0, 3.0, 0.0, 1.0])).person
    1
    """
    if len(scores) < 2:
        raise InputError("at least two people are needed: one person alone cannot stand out")
    first = int(np.argmax(scores))
    second = max(scores[:first].max(initial=-np.inf), scores[first + 1 :].max(initial=-np.inf))
    spread = float(scores.std())
    lead = float(scores[first] - second) / spread if spread > 0 else 0.0
    return BestMatch(first, float(scores[first]), lead)
