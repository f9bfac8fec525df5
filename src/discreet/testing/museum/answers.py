"""Exhibits that answer yes or no, that name what is frequent, and that answer the bits of a Bloom filter at random."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.laws import Finite, Pair
from discreet.privacy import ApproxDP, PureDP
from discreet.testing.museum.budgets import certain, disjoint
from discreet.testing.museum.exhibit import NumericExhibit, Vector, Vectors, one_differs, right, wrong

_WARNER = "Warner 1965"


class TwoCoins(NumericExhibit):
    """The textbook's randomized response: the truth on heads, a second coin on tails."""

    label = right(
        "TwoCoins",
        PureDP(math.log(3)),
        "The truth with chance 3/4 and the opposite with chance 1/4: right, with epsilon = ln 3.",
        _WARNER,
    )
    chances = (Fraction(1, 4), Fraction(3, 4))  # of reporting 'yes' when the truth is 'no', and when it is 'yes'

    def neighbors(self) -> list[tuple[int, int]]:
        """No and yes."""
        return [(0, 1)]

    def runs(self, value: int, draws: int) -> NDArray[np.int8]:
        """Draw reports: 1 for yes."""
        return (self.random.random(draws) < float(self.chances[value])).astype(np.int8)

    def pair(self, first: int, second: int) -> Pair:
        """Return the pair in exact rationals."""
        laws = [Finite([0, 1], [1 - self.chances[value], self.chances[value]]) for value in (first, second)]
        return laws[0].pair(laws[1])


class YesIsNeverFlipped(TwoCoins):
    """The same, but only those who have nothing to hide ever lie."""

    label = wrong(
        "YesIsNeverFlipped",
        PureDP(math.log(3)),
        "A 'yes' is reported as it is, a 'no' is flipped with chance 1/2: whoever reports 'no' has nothing to hide.",
        _WARNER + "; the fault is a textbook one",
    )
    chances = (Fraction(1, 2), Fraction(1))


class ExactThreshold(NumericExhibit):
    """The names of all groups with at least five people, counted exactly."""

    label = wrong(
        "ExactThreshold",
        ApproxDP(1, 1e-6),
        "A group is named if at least five people are in it, without noise: one person makes a name appear.",
        "Korolova, Kenthapadi, Mishra, Ntoulas 2009",
    )
    least = 5

    def neighbors(self) -> list[Vectors]:
        """Groups, one of which loses a person."""
        return [(np.array([5.0, 9.0]), np.array([4.0, 9.0])), (np.array([5.0, 9.0]), np.array([5.0, 8.0]))]

    def runs(self, value: Vector, draws: int) -> NDArray[np.int8]:
        """Show which groups are named, the same in every run."""
        return np.tile((value >= self.least).astype(np.int8), (draws, 1))

    def pair(self, first: Vector, second: Vector) -> Pair:
        """The same groups are named, or not."""
        return certain() if np.array_equal(first >= self.least, second >= self.least) else disjoint()


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
