"""Exhibits whose noise fits another sensitivity than the one the answer has, and an answer clamped to its own data."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.laws import DiscreteLaplace, Pair
from discreet.privacy import PureDP
from discreet.testing.museum.exhibit import NumericExhibit, Vector, Vectors, laplace, right, wrong
from discreet.testing.museum.histograms import shifted_laplace
from discreet.testing.museum.laws import Sandwich, laplace_between

_CASACUBERTA = "Casacuberta, Shoemate, Vadhan, Wagaman 2022"
_DWORK = "Dwork, McSherry, Nissim, Smith 2006"


class ClampedSum(NumericExhibit):
    """A sum of amounts between 0 and 10 with noise for 10."""

    label = right(
        "ClampedSum",
        PureDP(1),
        "Amounts are clamped to [0, 10], summed up and given integer Laplace noise of scale 10 / epsilon: right.",
        _DWORK,
    )
    scale = Fraction(10)

    def neighbors(self) -> list[Vectors]:
        """A table with and without one person."""
        return [(np.array([3.0, 7.0]), np.array([3.0, 7.0, 10.0])), (np.array([3.0]), np.array([3.0, 1.0]))]

    def center(self, value: Vector) -> int:
        """Return the exact sum."""
        return int(np.clip(value, 0, 10).sum())

    def runs(self, value: Vector, draws: int) -> NDArray[np.int64]:
        """Draw noisy sums."""
        return self.center(value) + DiscreteLaplace(self.scale).draw(draws).astype(np.int64)

    def pair(self, first: Vector, second: Vector) -> Pair:
        """Return the exact pair of one law about two centers."""
        noise = DiscreteLaplace(self.scale)
        return noise.at(self.center(first)).pair(noise.at(self.center(second)))


class SumOfCounts(ClampedSum):
    """The same with the noise of a count."""

    label = wrong(
        "SumOfCounts",
        PureDP(1),
        "Amounts are clamped to [0, 10] and summed up, but the noise is that of a count: ten times too little.",
        _DWORK,
    )
    scale = Fraction(1)


class RoundedHalfEven(ClampedSum):
    """A number of sensitivity one, rounded to an integer with noise for one."""

    label = wrong(
        "RoundedHalfEven",
        PureDP(1),
        "A number that moves by at most 1 is rounded half to even before noise for 1: 0.5 becomes 0 and 1.5 becomes 2.",
        _CASACUBERTA,
    )
    scale = Fraction(1)

    def neighbors(self) -> list[Vectors]:
        """Two halves, and two integers."""
        return [(np.array([0.5]), np.array([1.5])), (np.array([0.0]), np.array([1.0]))]

    def center(self, value: Vector) -> int:
        """Return the rounded number."""
        return int(np.rint(value[0]))


class VarianceOfTheOtherForm(NumericExhibit):
    """A sample variance with the sensitivity of the population variance."""

    label = wrong(
        "OtherVariance",
        PureDP(1),
        "The variance divides by n - 1, its noise fits the variance that divides by n: n / (n - 1) times epsilon.",
        _DWORK + "; the fault is a textbook one",
    )
    people = 16
    scale = Fraction(15, 256)  # (n - 1) / n^2 for values in [0, 1]

    def neighbors(self) -> list[Vectors]:
        """Nobody has the trait, or one person does."""
        one = np.zeros(self.people)
        one[0] = 1.0
        return [(np.zeros(self.people), one)]

    def runs(self, value: Vector, draws: int) -> NDArray[np.float64]:
        """Draw noisy variances."""
        return float(np.var(value, ddof=1)) + laplace(self.random, float(self.scale), (draws,))

    def pair(self, first: Vector, second: Vector) -> Pair:
        """Return the closed form of one shifted Laplace law."""
        one, other = (np.array([np.var(value, ddof=1)]) for value in (first, second))
        return shifted_laplace(one, other, self.scale)


class ClampedToData(NumericExhibit):
    """A noisy mean that is clamped to the range of the values it came from."""

    label = wrong(
        "ClampedToData",
        PureDP(1),
        "A noisy mean is clamped to the least and the largest value in the data: the ends come out exactly, and often.",
        _DWORK,
    )
    scale = 2.5  # values in [0, 10] of four people, one of which is changed

    def neighbors(self) -> list[Vectors]:
        """One person changes: the largest one, and one in the middle."""
        base = np.array([1.0, 3.0, 4.0, 8.0])
        largest, middle = base.copy(), base.copy()
        largest[-1], middle[2] = 9.0, 5.0
        return [(base, largest), (base, middle)]

    def runs(self, value: Vector, draws: int) -> NDArray[np.float64]:
        """Draw clamped noisy means."""
        noisy = float(value.mean()) + laplace(self.random, self.scale, (draws,))
        return np.clip(noisy, value.min(), value.max())

    def pair(self, first: Vector, second: Vector) -> Pair:
        """Return atoms at the ends of both ranges, and cells between them."""
        sides = [(value.mean(), value.min(), value.max()) for value in (first, second)]
        points = np.unique([end for _, *ends in sides for end in ends])
        kinks = np.unique([*points, *(mean for mean, *_ in sides)])
        edges = np.unique(np.concatenate([np.linspace(a, b, 257) for a, b in pairwise(kinks.tolist())]))
        atoms, cells = zip(*(self._masses(points, edges, *side) for side in sides), strict=True)
        shift = (np.abs(edges - sides[1][0]) - np.abs(edges - sides[0][0])) / self.scale
        with np.errstate(divide="ignore", invalid="ignore"):
            loss = np.log(atoms[0]) - np.log(atoms[1])
        low, high = np.minimum(shift[:-1], shift[1:]), np.maximum(shift[:-1], shift[1:])
        columns = ((atoms[0], cells[0]), (atoms[1], cells[1]), (loss, low), (loss, high))
        return Sandwich.of_cells(*(np.concatenate(column) for column in columns))

    def _masses(
        self, points: Vector, edges: Vector, mean: float, least: float, largest: float
    ) -> tuple[Vector, Vector]:
        """Return the masses at the points and on the cells between the edges."""
        ends = np.array([least - mean, largest - mean]) / self.scale
        below, above = laplace_between(np.array([-np.inf, ends[1]]), np.array([ends[0], np.inf]))
        atoms = np.where(points == least, below, 0.0) + np.where(points == largest, above, 0.0)
        inside = (np.clip(edges, least, largest) - mean) / self.scale
        return atoms, laplace_between(inside[:-1], inside[1:])
