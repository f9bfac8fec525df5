"""Three sums from which number, mean and variance of a column follow, at the price of one.

A row with its value at the share x of the way from L to U adds three quadratics f of x to the sums. Any three that are
linearly independent give 1, x and x^2 back, hence the number of rows, the mean and the variance; for any m the sum of
(x - m)^2 is linear in the sums. Which three decides how much noise is needed.

Lemma (L1). With a = 1 - x and b = x the three (4 a - b)^2, 50 a b and (4 b - a)^2 are at or above 0 and add up to 17,
so every row has L1 norm 17. Two rows are at most 32 apart. Proof. The sum is 17 (a + b)^2. For rows at x and y let
d = |x - y| and u = |1 - x - y| <= 1 - d. The differences are d times |15 + 25 u|, 50 u and |15 - 25 u| in size, the
first and last perhaps exchanged: together d (max(30, 50 u) + 50 u), which is at most 30 d + 50 d (1 - d) <= 32, or
100 d (1 - d) <= 25.

Lemma (L2). With z = 2 x - 1 the three 5 (1 - z^2), 4 z^2 and 3 z have squares that add up to at most 25, and two rows
are at most sqrt 53 apart. Proof. 25 (1 - z^2)^2 + 16 z^4 + 9 z^2 = 25 - 41 z^2 (1 - z^2). For rows at z and w let
e = |z - w| - 1; then |z + w| <= 1 - e, and the square of the distance is (1 + e)^2 (41 (z + w)^2 + 9), at most
41 (1 - e^2)^2 + 9 (1 + e)^2 <= 50 + 18 e - 32 e^2 < 53, because e^4 <= e^2.

The rows of a person who counts for c of them add up to a point of c times the hull of these points and 0; two points of
a hull are as far apart as two of its corners at most.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.laws.noise import IntegerNoise
from discreet.mechanisms.noise import GaussianNoise
from discreet.statistics.columns import Totals
from discreet.statistics.pricing import combination_quantile, mean_of_population

_PASSES = 3
_CELLS = 4
_SLACK = 1e-13
Range = tuple[float, float]
Triple = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Quadratics:
    """Three quadratics by their coefficients of 1, x and x^2, with the distances of the lemmas.

    `sensitivity` and `apart` are the L1 norm of a row and the largest L1 distance of two, `squared` and `apart_squared`
    the squares of the L2 ones; `size`, `first` and `second` say how 1, x and x^2 are combined from the three.
    """

    coefficients: tuple[tuple[int, int, int], ...]
    sensitivity: int
    apart: int
    squared: int
    apart_squared: int
    size: tuple[Fraction, ...]
    first: tuple[Fraction, ...]
    second: tuple[Fraction, ...]

    def sums(self, totals: Totals, steps: int) -> NDArray[np.object_]:
        """Return the three sums times steps^2, exactly, from the sums of positions and their squares."""
        moments = (steps * steps * totals.present, steps * totals.first, totals.second)
        return np.array([_dot(row, moments) for row in self.coefficients], dtype=object)

    def in_steps(self, steps: int) -> tuple[tuple[int, int, int], ...]:
        """Return the coefficients of 1, of a position and of its square in what a row adds to the three sums."""
        return tuple((steps * steps * one, steps * first, second) for one, first, second in self.coefficients)

    def about(self, means: Range, spreads: Range) -> Triple:
        """Return the largest sizes of the coefficients of (x - m)^2 - v, over m and v in ranges."""
        return tuple(
            _largest(float(size), float(first), float(second), means, spreads)
            for size, first, second in zip(self.size, self.first, self.second, strict=True)
        )

    def mean_about(self, means: Range) -> Triple:
        """Return the largest sizes of the coefficients of x - m, over m in a range."""
        return tuple(
            max(abs(float(first) - mean * float(size)) for mean in means)
            for first, size in zip(self.first, self.size, strict=True)
        )

    @property
    def of_size(self) -> Triple:
        """The coefficients of the number of rows."""
        return tuple(float(part) for part in self.size)


# the inverse of the coefficients, column by column
FOR_LAPLACE = Quadratics(
    coefficients=((16, -40, 25), (0, 50, -50), (1, -10, 25)),
    sensitivity=17,
    apart=32,
    squared=17**2,
    apart_squared=32**2,
    size=(Fraction(1, 17), Fraction(1, 17), Fraction(1, 17)),
    first=(Fraction(-1, 255), Fraction(1, 34), Fraction(16, 255)),
    second=(Fraction(-1, 255), Fraction(4, 425), Fraction(16, 255)),
)
FOR_GAUSSIAN = Quadratics(
    coefficients=((0, 20, -20), (4, -16, 16), (-3, 6, 0)),
    sensitivity=7,
    apart=14,
    squared=25,
    apart_squared=53,
    size=(Fraction(1, 5), Fraction(1, 4), Fraction(0)),
    first=(Fraction(1, 10), Fraction(1, 8), Fraction(1, 6)),
    second=(Fraction(1, 20), Fraction(1, 8), Fraction(1, 6)),
)


def quadratics_for(noise: IntegerNoise) -> Quadratics:
    """Return the quadratics that go with a kind of noise."""
    return FOR_GAUSSIAN if isinstance(noise, GaussianNoise) else FOR_LAPLACE


@dataclass(frozen=True, slots=True)
class NoisySums:
    """A release of the three sums, in rows; `row` is what the number 1 counts in it."""

    size: float
    mean: float
    spread: float
    noise: IntegerNoise
    row: int

    @classmethod
    def released(cls, values: Any, noise: IntegerNoise, row: int) -> NoisySums:
        """Read a release: number, mean and mean square about the mean, exactly and only then as floats."""
        basis = quadratics_for(noise)
        sums = [Fraction(int(value), row) for value in values]
        size = _dot(basis.size, sums)
        if size <= 0:
            return cls(float(size), 0.5, 0.125, noise, row)  # nothing is known: the middle of what there could be
        mean = _dot(basis.first, sums) / size
        return cls(float(size), float(mean), float(_dot(basis.second, sums) / size - mean * mean), noise, row)

    @property
    def variance(self) -> float:
        """The variance, cut to what one can be."""
        return min(max(self.spread, 0.0), 0.25)

    def _quantile(self, coefficients: Triple, rest: float) -> float:
        """Return how far the noise goes, in rows, in a combination with coefficients of at most these sizes.

        Symmetric unimodal noises spread more the larger a coefficient is, so the largest sizes serve for all.
        """
        sizes = [size / self.row for size in coefficients]
        return combination_quantile(self.noise, sizes, 1.0 - rest)

    def mean_range(self, rest: float) -> Range:
        """Return where the mean of the table lies, but for a probability `rest`.

        The sum of x - m has noise with known coefficients. If the true m lies in a range and the noise within its
        quantile there, m lies in a smaller one: each pass starts from what the last one left.
        """
        low, high = 0.0, 1.0
        if self.size <= 0:
            return low, high
        basis = quadratics_for(self.noise)
        for _ in range(_PASSES):
            reach = self._quantile(basis.mean_about((low, high)), rest) / self.size + _SLACK
            low, high = _inside(self.mean - reach, low, high), _inside(self.mean + reach, low, high)
        return low, high

    def least_size(self, rest: float) -> float:
        """Return a lower bound on the number of rows, but for a probability `rest`."""
        return max(self.size - self._quantile(quadratics_for(self.noise).of_size, rest), 0.0)

    def spread_range(self, means: Range, top: float, rest: float, *, lost: int = 0) -> Range:
        """Return where the sum of (x - m)^2 over N - lost lies if m lies in `means` and the ratio below `top`.

        But for a probability `rest` that is for the one true m; the union over all m in the range is returned.
        """
        divisor = self.size - lost
        if divisor <= 0:
            return 0.0, top
        start = _inside(self.spread * self.size / divisor, 0.0, top)
        low, high = 0.0, top
        for _ in range(_PASSES - 1):
            low, high = self._narrowed(means, (low, start, high), rest, divisor)
        edges = [means[0] + (means[1] - means[0]) * cell / _CELLS for cell in range(_CELLS)] + [means[1]]
        cells = [self._narrowed(cell, (low, start, high), rest, divisor) for cell in itertools.pairwise(edges)]
        return min(cell[0] for cell in cells), max(cell[1] for cell in cells)

    def _narrowed(self, means: Range, known: Triple, rest: float, divisor: float) -> Range:
        """Return what one pass leaves of a range [low, high] about `start`, each side with its own quantile."""
        low, start, high = known
        away = [abs(end - self.mean) for end in means]
        nearest = 0.0 if means[0] <= self.mean <= means[1] else min(away)
        basis = quadratics_for(self.noise)
        below = self._quantile(basis.about(means, (low, start)), rest)
        above = self._quantile(basis.about(means, (start, high)), rest)
        bottom = ((self.spread + nearest**2) * self.size - below) / divisor - _SLACK
        top = ((self.spread + max(away) ** 2) * self.size + above) / divisor + _SLACK
        return _inside(bottom, low, start), _inside(top, start, high)

    def population_range(self, rest: float) -> Range:
        """Return where the variance of the population lies, rows drawn independently, but for a probability `rest`.

        For its mean m the values (x - m)^2 are independent with the variance as their expectation; Chernoff's bound
        takes the range of their average over the table to it, as it takes the table's mean to m.
        """
        size = self.least_size(0.05 * rest)
        means = mean_of_population(*self.mean_range(0.05 * rest), size, 0.1 * rest)
        largest = max(means[1], 1.0 - means[0]) ** 2  # of (x - m)^2
        low, high = self.spread_range(means, largest, 0.4 * rest)
        ends = mean_of_population(low / largest, high / largest, size, 0.4 * rest)
        return ends[0] * largest, min(ends[1] * largest, 0.25)


def predicted_reach(noise: IntegerNoise, row: int, rows: int, rest: float, *, lost: int) -> float:
    """Return the half-width of a variance, as a share, for a table of `rows` rows at the worst mean."""
    basis = quadratics_for(noise)

    def reach(coefficients: Triple, share: float) -> float:
        return combination_quantile(noise, [size / row for size in coefficients], 1.0 - share * rest)

    left = rows - lost - reach(basis.of_size, 0.1)
    if left <= 0:
        return math.inf
    worst = max(reach(basis.about((mean, mean), (0.0, 0.0)), 0.9) for mean in (0.0, 0.25, 0.5))
    return worst / left + (reach(basis.mean_about((0.0, 1.0)), 0.1) / left) ** 2


def _largest(size: float, first: float, second: float, means: Range, spreads: Range) -> float:
    """Return the largest |size (m^2 - v) - 2 first m + second| over m and v: m at an end, or at the vertex."""
    places = list(means)
    if size and means[0] < first / size < means[1]:
        places.append(first / size)
    return max(abs(size * (mean * mean - spread) - 2 * first * mean + second) for mean in places for spread in spreads)


def _inside(value: float, low: float, high: float) -> float:
    """Return the nearest value in a range."""
    return min(max(value, low), high)


def _dot(left: Any, right: Any) -> Any:
    """Return the sum of products."""
    return sum(one * two for one, two in zip(left, right, strict=True))
