"""Benchmark exhibit: geometric noise on a count, truncated to the possible answers, with integer arithmetic only."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.laws import Finite, Pair
from discreet.privacy import PureDP
from discreet.testing.museum.exhibit import NumericExhibit, Vector, Vectors, one_differs, right


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
