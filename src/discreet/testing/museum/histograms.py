"""Benchmark exhibits that add Laplace or geometric noise to one number, to each count of a histogram, before sums."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.laws import Finite, Pair
from discreet.privacy import PureDP
from discreet.privacy.pairs import LaplacePair
from discreet.testing.museum.exhibit import (
    NumericExhibit,
    Vector,
    Vectors,
    all_differ,
    laplace,
    one_differs,
    right,
    wrong,
)
from discreet.testing.museum.laws import Sandwich, laplace_product

_DING = "Ding, Wang, Wang, Zhang, Kifer 2018"
_EPSILON = Fraction(1, 10)


class LaplaceAnswers(NumericExhibit):
    """Laplace noise of one scale on every answer: only the answers that differ tell anything, and their losses add."""

    scale: Fraction

    def runs(self, value: Vector, draws: int) -> NDArray[np.float64]:
        """Draw noisy answers."""
        return value + laplace(self.random, float(self.scale), (draws, value.size))

    def pair(self, first: Vector, second: Vector) -> Pair:
        """Return the pair of independent answers."""
        return shifted_laplace(first, second, self.scale)


class LaplaceNoise(LaplaceAnswers):
    """Laplace noise on one number."""

    label = right(
        "Laplace",
        PureDP(_EPSILON),
        "One number plus Laplace noise of scale 1 / epsilon: right.",
        "Dwork, McSherry, Nissim, Smith 2006",
    )
    scale = 1 / _EPSILON

    def neighbors(self) -> list[Vectors]:
        """A number and the ones beside it."""
        return one_differs(1)

    def runs(self, value: Vector, draws: int) -> NDArray[np.float64]:
        """Draw noisy numbers."""
        return float(value[0]) + laplace(self.random, float(self.scale), (draws,))


class NoisyHistogram(LaplaceAnswers):
    """Laplace noise on every count of a histogram, of which a person changes one."""

    label = right(
        "NoisyHist1",
        PureDP(_EPSILON),
        "Every count plus Laplace noise of scale 1 / epsilon, one count differs: right.",
        _DING,
    )
    scale = 1 / _EPSILON

    def neighbors(self) -> list[Vectors]:
        """Five counts, one of which differs."""
        return one_differs(5)


class NoisyHistogramInverted(NoisyHistogram):
    """The same with epsilon where 1 / epsilon belongs."""

    label = wrong(
        "NoisyHist2",
        PureDP(_EPSILON),
        "The scale of the noise is epsilon instead of 1 / epsilon: a hundred times too little.",
        _DING,
    )
    scale = _EPSILON


class LaplaceParallel(NumericExhibit):
    """Twenty noisy copies of one number, each at a twentieth of the budget."""

    label = right(
        "LaplaceParallel",
        PureDP(_EPSILON),
        "Twenty noisy copies of one number at epsilon / 20 each: right, and every copy tells a little.",
        "Bichsel, Steffen, Bogunovic, Vechev 2021",
    )
    scale = 20 / _EPSILON
    copies = 20

    def neighbors(self) -> list[Vectors]:
        """A number and the ones beside it."""
        return one_differs(1)

    def runs(self, value: Vector, draws: int) -> NDArray[np.float64]:
        """Draw vectors of noisy copies."""
        return float(value[0]) + laplace(self.random, float(self.scale), (draws, self.copies))

    def pair(self, first: Vector, second: Vector) -> Pair:
        """Losses of independent copies add."""
        return shifted_laplace(np.repeat(first, self.copies), np.repeat(second, self.copies), self.scale)


class PrefixSum(LaplaceAnswers):
    """Running totals of noisy counts: their differences give the noisy counts back, so that they tell the same."""

    label = wrong(
        "PrefixSum",
        PureDP(_EPSILON),
        "Running totals of counts with Laplace noise of scale 1 / epsilon: right if one count differs; here all do.",
        "Wang, Ding, Wang, Kifer, Zhang 2019",
    )
    scale = 1 / _EPSILON

    def neighbors(self) -> list[Vectors]:
        """Ten counts, all of which may differ."""
        return all_differ(10)

    def runs(self, value: Vector, draws: int) -> NDArray[np.float64]:
        """Draw noisy running totals."""
        return np.cumsum(super().runs(value, draws), axis=1)


def shifted_laplace(first: Vector, second: Vector, scale: Fraction) -> Pair:
    """Return the pair of independent Laplace answers of one scale about two vectors of centers.

    Certified in ball arithmetic where one answer differs; between a coarser and a finer pair where several do.
    """
    moves = np.abs(np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64))
    sizes, counts = np.unique(moves[moves > 0], return_counts=True)
    if sizes.size == 1 and counts[0] == 1:
        return LaplacePair(Fraction(float(sizes[0])) / scale)
    product = Sandwich.of_atoms(np.ones(1), np.ones(1))
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        product = product.times(laplace_product(float(Fraction(size) / scale), count)).compressed()
    return product


class GeometricFromWeights(NumericExhibit):
    """A count of five people from a table of integer weights: each step away from the truth is 8/9 as likely."""

    label = right(
        "TruncatedGeometric",
        PureDP(math.log1p(1 / 8)),
        "Truncated geometric noise from one uniform integer, with an epsilon that is exactly ln(1 + 2^-3): right.",
        "Balcer, Vadhan 2018, algorithm 4.8",
    )
    people = 5
    # The ratio of neighboring weights is 2^bits / (2^bits + 1). The benchmark asks for epsilon = 0.1 and takes the
    # natural logarithm of 2 / epsilon, rounded up, which guarantees 0.1178; the binary one, 5 bits, would guarantee
    # 0.031.
    bits = 3

    def neighbors(self) -> list[Vectors]:
        """A count and the ones beside it."""
        return one_differs(1)

    def law(self, count: int) -> Finite:
        """Return the exact rational law of the answer: integer cumulative weights over a common denominator."""
        power, people = 2**self.bits, self.people
        total = (2 * power + 1) * (power + 1) ** (people - 1)
        cumulative = [power ** (count - z) * (power + 1) ** (people - count + z) for z in range(count)]
        cumulative += [
            total - power ** (z - count + 1) * (power + 1) ** (people - 1 - z + count) for z in range(count, people)
        ]
        cumulative.append(total)
        masses = [Fraction(b - a, total) for a, b in zip([0, *cumulative], cumulative, strict=False)]
        return Finite(range(people + 1), masses)

    def runs(self, value: Vector, draws: int) -> NDArray[np.int64]:
        """Draw answers."""
        masses = np.array([float(p) for p in self.law(int(value[0])).probabilities])
        return self.random.choice(self.people + 1, size=draws, p=masses / masses.sum()).astype(np.int64)

    def pair(self, first: Vector, second: Vector) -> Pair:
        """Return the pair in exact rationals."""
        return self.law(int(first[0])).pair(self.law(int(second[0])))
