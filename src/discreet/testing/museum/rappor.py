"""Benchmark exhibits: words hashed into a Bloom filter whose bits are answered at random, once or twice over."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.laws import Finite, Pair
from discreet.privacy import PureDP
from discreet.testing.museum.exhibit import NumericExhibit, Vector, Vectors, one_differs, right

_REFERENCE = "Erlingsson, Pihur, Korolova 2014"
_BITS, _HASHES = 20, 4
# The bits that the benchmark's four hash functions set for the words "0", "1" and "2" (some meet in one bit).
_FILTERS = {0: (0, 11, 18), 1: (3, 10, 13), 2: (7, 10, 11, 19)}


class OneTimeRappor(NumericExhibit):
    """Every bit of the filter is kept, or with chance f replaced by a fair coin."""

    kept, replaced = Fraction(21, 40), Fraction(19, 40)  # the chances of reporting 1 for a set and for an unset bit
    label = right(
        "OneTimeRAPPOR",
        PureDP(2 * _HASHES * math.log(21 / 19)),
        "Each bit of a Bloom filter is a fair coin with chance 0.95: right, and hash collisions only help.",
        _REFERENCE,
    )

    def neighbors(self) -> list[Vectors]:
        """A word and two others."""
        return one_differs(1)

    def runs(self, value: Vector, draws: int) -> NDArray[np.int8]:
        """Draw reported filters."""
        chances = np.full(_BITS, float(self.replaced))
        chances[list(_FILTERS[int(value[0])])] = float(self.kept)
        return (self.random.random((draws, _BITS)) < chances).astype(np.int8)

    def pair(self, first: Vector, second: Vector) -> Pair:
        """Count how many of the differing bits are reported as the first word has them: that tells all there is."""
        differing = len(set(_FILTERS[int(first[0])]) ^ set(_FILTERS[int(second[0])]))
        likely, unlikely = self.kept, self.replaced
        # a set bit is reported with `kept`, an unset one as unset with 1 - replaced, which is the same
        masses = [
            [math.comb(differing, k) * a**k * b ** (differing - k) for k in range(differing + 1)]
            for a, b in ((likely, unlikely), (unlikely, likely))
        ]
        outcomes = range(differing + 1)
        return Finite(outcomes, masses[0]).pair(Finite(outcomes, masses[1]))


class Rappor(OneTimeRappor):
    """The same with f = 0.75, then every bit answered once more with chances q = 0.55 and p = 0.45."""

    kept, replaced = Fraction(41, 80), Fraction(39, 80)
    label = right(
        "RAPPOR",
        PureDP(2 * _HASHES * math.log(41 / 39)),
        "Each bit of a Bloom filter is randomized twice: right, and hash collisions only help.",
        _REFERENCE,
    )
