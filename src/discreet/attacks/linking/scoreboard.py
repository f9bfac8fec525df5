"""The scoreboard: which row of a sparse table fits best what was overheard about a person, and by how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.attacks.asking.columns import Columns, columns_of
from discreet.data import Ratings
from discreet.data.ratings import MOST_ITEMS
from discreet.data.table import MOST_PEOPLE
from discreet.errors import InputError, ParameterError

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Candidate:
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
        raise InputError("a table without ratings has nobody to find")
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
            raise InputError("remarks are given by items, stars and days of one length")
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

    def best(self, item: ArrayLike, stars: ArrayLike, day: ArrayLike) -> Candidate:
        """Return the row that fits some remarks best, and how far it stands out."""
        return leader(self.scores(item, stars, day))


def _check_finite(column: NDArray[Any], name: str) -> None:
    if column.dtype.kind not in "biuf" or not np.isfinite(column).all():
        raise InputError(f"{name} must be finite numbers")


def leader(scores: Floats) -> Candidate:
    """Return the highest of some scores, and how far it stands out.

    >>> leader(np.array([0.0, 3.0, 0.0, 1.0])).person
    1
    """
    if len(scores) < 2:
        raise InputError("one person alone cannot stand out")
    first = int(np.argmax(scores))
    second = max(scores[:first].max(initial=-np.inf), scores[first + 1 :].max(initial=-np.inf))
    spread = float(scores.std())
    lead = float(scores[first] - second) / spread if spread > 0 else 0.0
    return Candidate(first, float(scores[first]), lead)
