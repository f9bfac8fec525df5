"""Exhibits from private learning: four faults of estimators, each beside the estimator that does it right."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.laws import DiscreteLaplace, FinitePair, Pair, Product
from discreet.privacy import PureDP
from discreet.testing.museum.budgets import disjoint
from discreet.testing.museum.exhibit import NumericExhibit, Vector, Vectors, right, wrong

_DWORK = "Dwork, McSherry, Nissim, Smith 2006"
_FAR = 800  # in scales: beyond it no chance is left that a float could hold
_ROUNDING = 2.0**-40  # of chances computed in floating point


class TwoMoments(NumericExhibit):
    """A sum and a sum of squares of values between 0 and 2, each at half the budget."""

    label = right(
        "TwoMoments",
        PureDP(1),
        "Sum and sum of squares of values in [0, 2], with integer Laplace noise for 2 and for 4: right.",
        _DWORK,
    )

    def neighbors(self) -> list[Vectors]:
        """A table with and without one person."""
        return [(np.array([1.0]), np.array([1.0, 2.0])), (np.array([1.0, 2.0]), np.array([1.0, 2.0, 1.0]))]

    def width(self, low: int, high: int) -> int:
        """Return the width of the range of squares."""
        return high * high - low * low

    def answers(self, value: Vector) -> list[int]:
        """Return the exact sums."""
        return [int(value.sum()), int((value * value).sum())]

    def runs(self, value: Vector, draws: int) -> NDArray[np.int64]:
        """Draw both answers; noise for a range without width is no noise."""
        widths = (2, self.width(0, 2))
        noise = [DiscreteLaplace(2 * width).draw(draws) if width else np.zeros(draws) for width in widths]
        return np.array(self.answers(value), dtype=np.int64) + np.column_stack(noise).astype(np.int64)

    def pair(self, first: Vector, second: Vector) -> Pair:
        """Return the exact pair of two independent answers; two without noise meet only where they are equal."""
        widths = (2, self.width(0, 2))
        one, other = self.answers(first), self.answers(second)
        if widths[1] == 0 and one[1] != other[1]:
            return disjoint()
        sides = [
            Product(
                [DiscreteLaplace(2 * width).at(place) for width, place in zip(widths, places, strict=True) if width]
            )
            for places in (one, other)
        ]
        return sides[0].pair(sides[1])


class BoundUsedTwice(TwoMoments):
    """The same, but the range of squares is computed from one bound, used twice."""

    label = wrong(
        "BoundUsedTwice",
        PureDP(1),
        "The range of squares is computed from the lower bound, used twice: no width, so the squares get no noise.",
        _DWORK + "; the fault was found in the linear regression of a published library",
    )

    def width(self, low: int, high: int) -> int:  # noqa: ARG002  which is the fault
        """Return the width of the range of squares, with one bound in the place of the other."""
        return low * low - low * low


class PublicDivisor(NumericExhibit):
    """A noisy sum of yes and no, divided by a number that everybody knows."""

    label = right(
        "PublicDivisor",
        PureDP(1),
        "A noisy count divided by a public number of people: right, whatever that number is.",
        _DWORK,
    )

    def divisor(self, value: Vector) -> int:  # noqa: ARG002  which is the point
        """Return the stated number of people."""
        return 4

    def neighbors(self) -> list[Vectors]:
        """A table with and without one person."""
        return [(np.ones(4), np.ones(3)), (np.array([1.0, 0.0]), np.array([1.0]))]

    def runs(self, value: Vector, draws: int) -> NDArray[np.float64]:
        """Draw noisy means."""
        return np.asarray((int(value.sum()) + DiscreteLaplace(1).draw(draws)) / self.divisor(value), dtype=np.float64)

    def pair(self, first: Vector, second: Vector) -> Pair:
        """With one divisor the sums tell all; with two, only some fractions can come from both."""
        laws = [DiscreteLaplace(1).at(int(value.sum())) for value in (first, second)]
        divisors = [self.divisor(value) for value in (first, second)]
        if divisors[0] == divisors[1]:
            return laws[0].pair(laws[1])
        common = math.lcm(*divisors)
        places = [np.arange(-_FAR, _FAR + 1) * (common // divisor) for divisor in divisors]
        outcomes = np.union1d(*places)
        chances = [
            np.where(outcomes % (common // divisor) == 0, law.pmf(outcomes * divisor // common), 0.0)
            for law, divisor in zip(laws, divisors, strict=True)
        ]
        ends = [chance * factor for chance in chances for factor in (1 - _ROUNDING, 1 + _ROUNDING)]
        return FinitePair([f"{place} / {common}" for place in outcomes], *ends)


class RowsCounted(PublicDivisor):
    """The same, divided by the number of rows."""

    label = wrong(
        "RowsCounted",
        PureDP(1),
        "A noisy count divided by the exact number of rows: which fractions can come out tells how many there are.",
        _DWORK + "; the fault is a textbook one",
    )

    def divisor(self, value: Vector) -> int:
        """Return the number of rows, which is private."""
        return len(value)


class DeclaredClasses(NumericExhibit):
    """How many rows there are of each declared class."""

    label = right(
        "DeclaredClasses",
        PureDP(1),
        "A noisy count for each of three declared classes, also for those that do not occur: right.",
        _DWORK,
    )

    def neighbors(self) -> list[Vectors]:
        """Counts by class; the last person of a class leaves, or one of many."""
        return [(np.array([4.0, 9.0, 1.0]), np.array([4.0, 9.0, 0.0])), (np.array([4.0, 9.0]), np.array([4.0, 8.0]))]

    def listed(self, value: Vector) -> NDArray[np.bool_]:
        """Return which classes are listed."""
        return np.ones(value.size, dtype=np.bool_)

    def runs(self, value: Vector, draws: int) -> NDArray[np.int64]:
        """Draw noisy counts; -1000 stands for a class that is not listed."""
        noise = DiscreteLaplace(1).draw(draws * value.size).reshape(draws, value.size).astype(np.int64)
        return np.where(self.listed(value), value.astype(np.int64) + noise, -1000)

    def pair(self, first: Vector, second: Vector) -> Pair:
        """Return the exact pair of independent counts, where the same classes are listed."""
        if not np.array_equal(self.listed(first), self.listed(second)):
            return disjoint()
        sides = [Product([DiscreteLaplace(1).at(int(count)) for count in value]) for value in (first, second)]
        return sides[0].pair(sides[1])


class ClassesSeen(DeclaredClasses):
    """The same for the classes that occur in the data."""

    label = wrong(
        "ClassesSeen",
        PureDP(1),
        "The classes are read off the labels: when the only person of a class leaves, the class is gone.",
        "Korolova, Kenthapadi, Mishra, Ntoulas 2009, on names from data",
    )

    def listed(self, value: Vector) -> NDArray[np.bool_]:
        """Return which classes occur."""
        return np.asarray(value > 0)


class ScoresOfRows(NumericExhibit):
    """How many rows score above 0.6, each score a sum of three numbers in one order."""

    label = right(
        "ScoresOfRows",
        PureDP(1),
        "How many rows score above 0.6, with noise for 1; a score is the same beside any other rows: right.",
        _DWORK,
    )

    def neighbors(self) -> list[Vectors]:
        """Ten equal rows, of which one leaves."""
        rows = np.tile([0.1, 0.2, 0.3], (10, 1))
        return [(rows, rows[1:])]

    def backwards(self, rows: int) -> bool:  # noqa: ARG002  which is the point
        """Return whether the numbers of a row are added from the last to the first."""
        return False

    def center(self, value: Vector) -> int:
        """Return the exact count: 0.1 + 0.2 + 0.3 is above 0.6 in floating point, and 0.3 + 0.2 + 0.1 is not."""
        lines = value.T[::-1] if self.backwards(len(value)) else value.T
        return int(((lines[0] + lines[1]) + lines[2] > 0.6).sum())

    def runs(self, value: Vector, draws: int) -> NDArray[np.int64]:
        """Draw noisy counts."""
        return self.center(value) + DiscreteLaplace(1).draw(draws).astype(np.int64)

    def pair(self, first: Vector, second: Vector) -> Pair:
        """Return the exact pair of one law about two centers."""
        return DiscreteLaplace(1).at(self.center(first)).pair(DiscreteLaplace(1).at(self.center(second)))


class ScoresByBlocks(ScoresOfRows):
    """The same, but the order of additions depends on how many rows there are, as in fast matrix products."""

    label = wrong(
        "ScoresByBlocks",
        PureDP(1),
        "The order in which a row is summed up depends on the number of rows: one who leaves moves all other scores.",
        "Casacuberta, Shoemate, Vadhan, Wagaman 2022, on sums in floating point",
    )

    def backwards(self, rows: int) -> bool:
        """Return the order that the number of rows asks for."""
        return rows % 2 == 1
