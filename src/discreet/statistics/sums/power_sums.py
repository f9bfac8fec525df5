"""Sums of a few polynomials from which number, mean and further moments of a column follow, at the price of the mean.

A row with its value at the share x of the way from L to U adds several polynomials f of x to the sums. They are
linearly independent, so 1, x, x^2, ... are combinations of them, and with these is the sum of (x - m)^k for any m.

Lemma (control points). A polynomial of degree at most 4 is the sum of c_k B_k(x), where the five polynomials B_k(x) =
C(4, k) x^k (1 - x)^(4 - k) are at or above 0 and add up to 1; the c_k are its control values. So the vector that a row
adds lies in the hull of the five control points, and its norm is at most their largest one; two rows are at most as far
apart as two control points.
Proof. Norms and distances are convex.

What the largest norm (add/remove) or distance (change-one, with 0 for a missing value) is, follows from five points:

| relation, noise | sums | most |
|---|---|---|
| add/remove, Laplace | B_0 .. B_4: the control points are the unit vectors | 1 in L1 |
| add/remove, Gaussian | 2 (1 - x), 2 x, 3 q, 3 r, 5 s | 2 in L2 |
| change-one, Laplace | 5 (2 x - 1), 5, 8 q, 2 r, 14 s | 10 in L1 |
| change-one, Gaussian | 2 x - 1, 1, 4 q, 3 r, 6 s | 2 in L2 |

with q = x (1 - x), r = q (1 - 2 x), s = q^2, whose control values are (0, 1/4, 1/3, 1/4, 0), (0, 1/4, 0, -1/4, 0) and
(0, 0, 1/6, 0, 0). In the last three rows the first two sums are those that a mean is released with and their noise is
no larger, so that the spread costs nothing; in the first one the noise of the mean grows by 1.12 to 1.37. For a spread
without fourth moments two or three sums of degree 2 do, and the mean's noise grows by 1.12 at most in the first row.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.privacy import Relation

Floats = NDArray[np.float64]
ONE = 1 << 38  # what 1 counts in a released sum
_CENTERED = (-1, 2)
_MIDDLE = (0, 1, -1)  # q
_ODD = (0, 1, -3, 2)  # r
_EVEN = (0, 0, 1, -2, 1)  # s


@dataclass(frozen=True)
class PolynomialSums:
    """Polynomials by their integer coefficients of 1, x, x^2, ...; `distance` is how far neighbors move their sums.

    Every row is rounded to integers, each within 0.51 / 2^38 of its polynomial (half, and the error of floats), which
    the sensitivities include.
    """

    polynomials: tuple[tuple[int, ...], ...]
    distance: int
    size_is_public: bool = False

    @property
    def sensitivity(self) -> int:
        """The distance of neighbors, in the unit of the released integers: two roundings an entry included."""
        return self.distance * ONE + 2 * len(self.polynomials)

    @property
    def degree(self) -> int:
        """The highest moment that follows."""
        return len(self.polynomials) - 1

    @property
    def noisy(self) -> list[int]:
        """The places of the sums that are released; the number of rows is not where it is public."""
        return [place for place, one in enumerate(self.polynomials) if not (self.size_is_public and len(one) == 1)]

    def sums(self, shares: Floats) -> list[int]:
        """Return the sums over at most 2^20 shares of the range, in integers; every row is rounded by itself."""
        totals = []
        for place in self.noisy:
            value = np.zeros_like(shares)
            for coefficient in reversed(self.polynomials[place]):
                value = value * shares + float(coefficient)
            totals.append(int(np.rint(value * float(ONE)).astype(np.int64).sum()))
        return totals

    def about(self, mean: float) -> Floats:
        """Return how the sums of (x - mean)^k, k = 0, 1, ..., are combined from the released ones, row by row."""
        inverse = _inverse(self.polynomials)
        power = np.array(
            [
                [math.comb(k, i) * (-mean) ** (k - i) if i <= k else 0.0 for i in range(len(inverse))]
                for k in range(len(inverse))
            ]
        )
        found: Floats = power @ inverse
        return found

    def read(self, released: Any, rows: int | None) -> Floats:
        """Return a release as sums in rows, the public number of rows in its place."""
        sums = np.array([float(one[0] * (rows or 0)) for one in self.polynomials])
        sums[self.noisy] = [int(value) / ONE for value in released]
        return sums


@functools.lru_cache(maxsize=16)
def _inverse(polynomials: tuple[tuple[int, ...], ...]) -> Floats:
    """Return the matrix that makes 1, x, x^2, ... of the polynomials, found exactly."""
    size = len(polynomials)
    rows = [
        [Fraction(one) for one in (*polynomial, *[0] * (size - len(polynomial)))]
        + [Fraction(int(place == other)) for other in range(size)]
        for place, polynomial in enumerate(polynomials)
    ]
    for column in range(size):
        pivot = next(place for place in range(column, size) if rows[place][column])
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [entry / rows[column][column] for entry in rows[column]]
        for place in range(size):
            factor = rows[place][column]
            if place != column and factor:
                rows[place] = [one - factor * two for one, two in zip(rows[place], rows[column], strict=True)]
    return np.array([[float(entry) for entry in row[size:]] for row in rows])


def power_sums(relation: Relation, *, gaussian: bool, fourth: bool, size_is_public: bool) -> PolynomialSums:
    """Return the sums to release for a mean and its spread: with or without fourth moments."""
    if relation is Relation.ADD_REMOVE:
        if not gaussian:
            return PolynomialSums(_bernstein(4 if fourth else 2), 1)
        more = (_times(3, _MIDDLE), _times(3, _ODD), _times(5, _EVEN)) if fourth else (_times(4, _MIDDLE),)
        return PolynomialSums(((2, -2), (0, 2), *more), 2)
    if gaussian:
        more = (_times(4, _MIDDLE), _times(3, _ODD), _times(6, _EVEN)) if fourth else (_times(5, _MIDDLE),)
        return PolynomialSums((_CENTERED, (1,), *more), 2, size_is_public)
    if not fourth:
        return PolynomialSums((_CENTERED, (1,), _times(2, _MIDDLE)), 2, size_is_public)
    more = (_times(8, _MIDDLE), _times(2, _ODD), _times(14, _EVEN))
    return PolynomialSums((_times(5, _CENTERED), (5,), *more), 10, size_is_public)


def _times(factor: int, polynomial: Sequence[int]) -> tuple[int, ...]:
    return tuple(factor * one for one in polynomial)


def _bernstein(degree: int) -> tuple[tuple[int, ...], ...]:
    """Return C(d, k) x^k (1 - x)^(d - k), k = 0 .. d."""
    return tuple(
        tuple(
            math.comb(degree, k) * math.comb(degree - k, power - k) * (-1) ** (power - k) if power >= k else 0
            for power in range(degree + 1)
        )
        for k in range(degree + 1)
    )
