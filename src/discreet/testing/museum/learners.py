"""Exhibits from learning: faults of clipping, of holdouts, of private search and of learners, beside what is right."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.laws import DiscreteLaplace, Finite, FinitePair, Pair, Product
from discreet.privacy import PureDP
from discreet.testing.museum.exhibit import NumericExhibit, Vector, Vectors, right, wrong

_ROUNDING = 2.0**-40  # of chances computed in floating point
_SPENT = -1000  # stands for a question that is not answered


class ClippedPeople(NumericExhibit):
    """A sum over people, each of whom is clipped to [-1, 1] with all their rows together."""

    label = right(
        "ClippedPeople",
        PureDP(1),
        "Rows of a person are added up, clipped to [-1, 1], and summed with noise for 1: right.",
        "Abadi et al. 2016",
    )

    def neighbors(self) -> list[Vectors]:
        """People with two rows each, of whom one leaves."""
        people = np.array([[0.0, 1.0], [1.0, 1.0], [-1.0, 1.0]])
        return [(people, people[[0, 2]]), (people, people[1:])]

    def total(self, value: Vector) -> int:
        """Return the exact sum."""
        return int(np.clip(value.sum(axis=1), -1, 1).sum())

    def runs(self, value: Vector, draws: int) -> NDArray[np.int64]:
        """Draw noisy sums."""
        return self.total(value) + DiscreteLaplace(1).draw(draws).astype(np.int64)

    def pair(self, first: Vector, second: Vector) -> Pair:
        """Return the exact pair of one law about two centers."""
        return DiscreteLaplace(1).at(self.total(first)).pair(DiscreteLaplace(1).at(self.total(second)))


class ClippedRows(ClippedPeople):
    """The same, but each row is clipped by itself."""

    label = wrong(
        "ClippedRows",
        PureDP(1),
        "Each row is clipped by itself, so that a canary in two rows gets through the clipped sum twice.",
        "Abadi et al. 2016, on what is clipped; the fault is a common one",
    )

    def total(self, value: Vector) -> int:
        """Return the exact sum, of rows and not of people."""
        return int(np.clip(value, -1, 1).sum())


class HitsCounted(NumericExhibit):
    """A holdout that answers five questions that overfit, until its two hits are spent."""

    label = right(
        "HitsCounted",
        PureDP(1),
        "A holdout answers a hit with noise of scale 2 and has two hits; then it answers nothing more: right.",
        "Dwork, Feldman, Hardt, Pitassi, Reingold, Roth 2015",
    )
    hits: int | None = 2

    def neighbors(self) -> list[Vectors]:
        """Counts of right predictions of five classifiers, all of which one person moves."""
        return [(np.full(5, 40.0), np.full(5, 41.0)), (np.full(5, 40.0), np.array([41.0, 39.0, 40.0, 41.0, 41.0]))]

    def runs(self, value: Vector, draws: int) -> NDArray[np.int64]:
        """Draw noisy answers; -1000 stands for none."""
        noise = DiscreteLaplace(2).draw(draws * value.size).reshape(draws, value.size).astype(np.int64)
        answered = np.arange(value.size) < (value.size if self.hits is None else self.hits)
        return np.where(answered, value.astype(np.int64) + noise, _SPENT)

    def pair(self, first: Vector, second: Vector) -> Pair:
        """Return the exact pair of independent answers."""
        sides = [
            Product([DiscreteLaplace(2).at(int(count)) for count in value[: self.hits]]) for value in (first, second)
        ]
        return sides[0].pair(sides[1])


class HitsUncounted(HitsCounted):
    """The same holdout without a budget of hits."""

    label = wrong(
        "HitsUncounted",
        PureDP(1),
        "The holdout answers every hit at half the guarantee, however many there are: each costs anew.",
        "Dwork, Feldman, Hardt, Pitassi, Reingold, Roth 2015, on the budget of hits",
    )
    hits = None


class ThresholdReused(NumericExhibit):
    """Two questions compared with one noisy threshold, and no noise of their own."""

    label = wrong(
        "ThresholdReused",
        PureDP(1),
        "One draw of noise on the threshold serves two questions, which have none of their own: their order shows.",
        "Lyu, Su, Li 2017, on noise that is left out",
    )

    def neighbors(self) -> list[Vectors]:
        """Two answers, each of which one person moves."""
        return [(np.array([1.0, 0.0]), np.array([0.0, 1.0])), (np.array([1.0, 1.0]), np.array([0.0, 0.0]))]

    def runs(self, value: Vector, draws: int) -> NDArray[np.int8]:
        """Draw verdicts: 1 at or above the noisy threshold of 0."""
        return (value >= DiscreteLaplace(1).draw(draws)[:, np.newaxis]).astype(np.int8)

    def pair(self, first: Vector, second: Vector) -> Pair:
        """Return the pair of verdicts about both answers."""
        sides = [self._chances(value) for value in (first, second)]
        ends = [side * factor for side in sides for factor in (1 - _ROUNDING, 1 + _ROUNDING)]
        return FinitePair([(0, 0), (0, 1), (1, 0), (1, 1)], *ends)

    def _chances(self, value: Vector) -> NDArray[np.float64]:
        one, other = int(value[0]), int(value[1])
        below = DiscreteLaplace(1).cdf(np.array([one, other]))
        between = abs(float(below[0]) - float(below[1]))
        second, first = (between, 0.0) if other > one else (0.0, between)
        return np.array([1 - float(below.max()), second, first, float(below.min())])


class HiddenRuns(NumericExhibit):
    """Private search: a random number of runs, of which only the best is shown."""

    ratio = Fraction(11, 10)  # e^epsilon of one run
    stop = Fraction(1, 10)  # the chance that a run is the last
    label = right(
        "HiddenRuns",
        PureDP(2 * math.log(1.1)),
        "The best of a geometric number of runs, each ln 1.1-DP, shown without their number: right at twice that.",
        "Liu, Talwar 2019",
    )

    def neighbors(self) -> list[tuple[int, int]]:
        """Tables on which a run succeeds less and more often."""
        return [(0, 1)]

    def failing(self, value: int) -> Fraction:
        """Return the chance that a run fails."""
        return (self.ratio if value == 0 else 1) / (1 + self.ratio)

    def chances(self, value: int) -> dict[Any, Fraction]:
        """Return the chance of every outcome: 0 where all runs failed, 1 where one succeeded."""
        failed = self.failing(value)
        none = self.stop * failed / (1 - (1 - self.stop) * failed)
        return {0: none, 1: 1 - none}

    def runs(self, value: int, draws: int) -> NDArray[np.int64]:
        """Draw outcomes, each as the number of its place."""
        law = np.array([float(chance) for chance in self.chances(value).values()])
        return np.asarray(self.random.choice(len(law), draws, p=law / law.sum()))

    def pair(self, first: Any, second: Any) -> Pair:
        """Return the pair in exact rationals."""
        laws = [Finite(list(chances), list(chances.values())) for chances in map(self.chances, (first, second))]
        return laws[0].pair(laws[1])


class RevealedRuns(HiddenRuns):
    """The same search, which also says how many runs there were."""

    label = wrong(
        "RevealedRuns",
        PureDP(2 * math.log(1.1)),
        "The number of runs is shown beside the best: where all of thirty runs failed, thirty runs are paid for.",
        "Liu, Talwar 2019, on the number of runs",
    )
    most = 30

    def chances(self, value: int) -> dict[Any, Fraction]:
        """Return the chance of every number of runs with every outcome; more than thirty are not told apart."""
        failed, found = self.failing(value), {}
        for count in range(1, self.most + 1):
            drawn = self.stop * (1 - self.stop) ** (count - 1)
            found[(count, 0)], found[(count, 1)] = drawn * failed**count, drawn * (1 - failed**count)
        return {**found, "more": 1 - sum(found.values(), Fraction(0))}


class Elimination(HiddenRuns):
    """A parity of one bit by elimination: rows are kept by a coin of 1 - e^-epsilon, and what was kept is solved."""

    label = right(
        "Elimination",
        PureDP(math.log(1.1)),
        "Rows are kept with chance 1 - e^-epsilon, and now and then nothing is returned: right.",
        "Kasiviswanathan, Lee, Nissim, Raskhodnikova, Smith 2011, with our chances",
    )
    kept = 1 - 1 / HiddenRuns.ratio

    def neighbors(self) -> list[Any]:
        """How many rows say that the bit counts, and how many that it does not; one row more of a kind."""
        return [((0, 0), (0, 1)), ((3, 0), (3, 1)), ((3, 1), (3, 2)), ((0, 3), (1, 3))]

    def chances(self, value: Any) -> dict[Any, Fraction]:
        """Return the chances of both parities, and of nothing."""
        nothing = self.kept / (self.kept + self.ratio - 1)
        without, other = ((1 - self.kept) ** count for count in value)
        yes = (1 - nothing) * ((1 - without) * other + without * other / 2)
        no = (1 - nothing) * ((1 - other) * without + without * other / 2)
        return {"the bit": yes, "no bit": no, "nothing": 1 - yes - no}


class EliminationTwiceAsFast(Elimination):
    """The same with rows kept twice as often."""

    label = wrong(
        "EliminationTwiceAsFast",
        PureDP(math.log(1.1)),
        "Rows are kept with chance 2 (1 - e^-epsilon): a contradicting row takes more from a parity.",
        "Kasiviswanathan, Lee, Nissim, Raskhodnikova, Smith 2011; the chance is what a careless proof gives",
    )
    kept = 2 * Elimination.kept
