"""Faults in mechanisms that report a category or choose among scores."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from discreet.audit import Level
from discreet.laws import DiscreteLaplace
from discreet.laws.choices import Winner
from discreet.mechanisms import Exponential, NoisyMax, PermuteAndFlip, RandomizedResponse, Top
from discreet.privacy import PureDP, Relation
from discreet.randomness import bernoulli_exp, uniform_below
from discreet.testing.planted.fault import LAW, Overstated, Planted, planted

_of_five = partial(RandomizedResponse, epsilon=1, categories=5)
_both_ways: list[tuple[Any, Any]] = [([0, 0, 0], [1, -1, -1])]


class AlwaysTruthful(RandomizedResponse):
    """Everybody tells the truth."""

    def __call__(self, value: Any) -> Any:
        """Report the category."""
        return value


class CountsTwo(Overstated, RandomizedResponse):  # type: ignore[misc]  # a guarantee of any kind
    """The probability of the truth is that for two categories; there are five."""

    def __init__(self) -> None:
        super().__init__(truth=Fraction(2.718281828459045) / Fraction(3.718281828459045), categories=5)
        self._said = PureDP(1, relation=Relation.CHANGE_ONE)


class LiesMayBeTrue(RandomizedResponse):
    """A lie is any category, the true one included."""

    def __call__(self, value: Any) -> Any:
        """Report the truth or anything."""
        honest = bool(self._coins(1)[0])
        return value if honest else uniform_below(self.categories)


class OneCoinForAll(RandomizedResponse):
    """One coin decides for the whole column: all tell the truth or all lie."""

    def __call__(self, value: Any) -> Any:
        """Toss once."""
        column = np.asarray(value)
        return column if self._coins(1)[0] else 1 - column


class FullRate(Exponential):
    """Without the 2 that scores moving both ways need."""

    @property
    def slope(self) -> Fraction:
        """Epsilon over D."""
        return 2 * super().slope


class MovesBothWays(Exponential):
    """Stated to be monotone; on its tables one score rises while others fall."""

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield what one person really does."""
        yield from Exponential(epsilon=self._epsilon, sensitivity=self.sensitivity).neighbors()


class TakesTheBest(Exponential):
    """Always the best candidate."""

    def __call__(self, value: Any) -> int:
        """Return the place of the largest score."""
        return int(np.argmax(value))


class BetterOfTwo(Exponential):
    """Looks at two random candidates only, and takes the better one."""

    def __call__(self, value: Any) -> int:
        """Compare two."""
        one, two = uniform_below(len(value)), uniform_below(len(value))
        return one if value[one] >= value[two] else two


class FullFlips(PermuteAndFlip):
    """Coins without the 2 that scores moving both ways need."""

    @property
    def slope(self) -> Fraction:
        """Epsilon over D."""
        return 2 * super().slope


class FirstHead(PermuteAndFlip):
    """The candidates are not permuted: the first head wins."""

    def __call__(self, value: Any) -> int:
        """Toss in the order given."""
        top = max(value)
        while True:
            for place, score in enumerate(value):
                if bernoulli_exp(self.slope * Fraction(top - score)):
                    return place


class UnsplitPlaces(Top):
    """Every place is chosen at the whole epsilon."""

    @property
    def _each(self) -> Fraction:
        """Forget to split."""
        return self._share * self.places


class WithReplacement(Top):
    """A winner stays in the race for the other places."""

    def __call__(self, value: Any) -> tuple[int, ...]:
        """Choose each place among all."""
        return tuple(Exponential._positions(self, value)[0] for _ in range(self.places))


class QuietMax(Overstated, NoisyMax):  # type: ignore[misc]  # a guarantee of any kind
    """Half the noise."""

    def __init__(self, **stated: Any) -> None:
        super().__init__(**stated)
        self._said = PureDP(stated["epsilon"], relation=self.relation)
        self.noise = DiscreteLaplace(self.noise.scale / 2)


class MonotoneByName(NoisyMax):
    """Stated to be monotone; on its tables one score rises while others fall."""

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield what one person really does."""
        yield from NoisyMax(epsilon=self._epsilon, sensitivity=self.sensitivity).neighbors()


class GapByPosition(NoisyMax):
    """The lead is told and ties are broken by position."""

    def __call__(self, value: Any) -> Winner:
        """Subtract the second largest from the largest."""
        noised = self._steps(value) + self.noise.draw(len(value))
        place = int(np.argmax(noised))
        return Winner(place, int(noised[place] - np.delete(noised, place).max()))


class ExactGap(NoisyMax):
    """The winner is noisy, its lead is exact."""

    def __call__(self, value: Any) -> Winner:
        """Tell the lead of the true scores."""
        noised = self._steps(value) + self.noise.draw(len(value))
        place = int(np.argmax(noised))
        return Winner(place, int(value[place] - max(score for other, score in enumerate(value) if other != place)))


class SharedNoise(NoisyMax):
    """One draw for all scores: the noise cancels."""

    def __call__(self, value: Any) -> int:
        """Add the same noise everywhere."""
        return int(np.argmax(self._steps(value) + self.noise.draw_one()))


class TwoTries(RandomizedResponse):
    """Every report is made twice, and the better one is taken."""

    def __call__(self, value: Any) -> Any:
        """Report the truth if one of two reports is true."""
        first, second = super().__call__(value), super().__call__(value)
        return value if value in (first, second) else first


_randomized_response = partial(planted, RandomizedResponse, categories=2, epsilon=1)
_exponential = partial(planted, Exponential, epsilon=1, sensitivity=1)
_permute_and_flip = partial(planted, PermuteAndFlip, epsilon=1, sensitivity=1)
_top = partial(planted, Top, epsilon=1, k=2, sensitivity=1)
_noisy_max = partial(planted, NoisyMax, epsilon=1, sensitivity=1)
FAULTS = [
    _randomized_response(AlwaysTruthful, "never flips", "everybody tells the truth", Level.STATISTICAL,
        neighbors=[(0, 1)], draws=4000),
    Planted("RandomizedResponse: categories miscounted", "q for two categories, used for five", Level.EXACT,
            CountsTwo, _of_five),
    _randomized_response(LiesMayBeTrue, "a lie may be true", "lies are drawn among all categories", LAW, categories=5,
        inputs=[0], draws=8000),
    _randomized_response(OneCoinForAll, "one coin for all", "all people of a column lie together", Level.STATISTICAL,
        neighbors=[(np.array([0, 0]), np.array([0, 1]))], draws=4000),
    _randomized_response(TwoTries, "two tries", "the truth has two chances", LAW, inputs=[0, 1], draws=2000),
    _exponential(FullRate, "the 2 is missing", "scores move both ways, the slope is for one", Level.EXACT),
    Planted("Exponential: monotone by name", "scores move both ways, monotone was stated", Level.EXACT,
            partial(MovesBothWays, epsilon=1, sensitivity=1, monotone=True),
            partial(MovesBothWays, epsilon=1, sensitivity=1)),
    _exponential(TakesTheBest, "takes the best", "no randomness at all", Level.STATISTICAL,
        neighbors=[([1, 1], [0, 2])], draws=4000),
    _exponential(BetterOfTwo, "the better of two", "another law than the one stated", LAW, inputs=[[0, 1, 2]],
        draws=10_000),
    _permute_and_flip(FullFlips, "the 2 is missing", "scores move both ways, the coins are for one", Level.EXACT,
        neighbors=_both_ways),
    _permute_and_flip(FirstHead, "not permuted", "the first head wins", LAW, inputs=[[0, 1, 2]], draws=2000),
    _top(UnsplitPlaces, "epsilon not split", "each of the places costs the whole epsilon", Level.EXACT),
    _top(WithReplacement, "winners stay in the race", "a candidate can be chosen twice", LAW, inputs=[[0, 1, 2, 1]],
        draws=1000),
    _noisy_max(QuietMax, "half the noise", "scale D / epsilon for scores that move both ways", Level.EXACT),
    Planted("NoisyMax: monotone by name", "scores move both ways, monotone was stated", Level.EXACT,
            partial(MonotoneByName, epsilon=1, sensitivity=1, monotone=True),
            partial(MonotoneByName, epsilon=1, sensitivity=1)),
    _noisy_max(GapByPosition, "lead with ties by position", "the index breaks ties and the lead tells", LAW, epsilon=2,
        gap=True, inputs=[[2, 2, 0, 0]], draws=2000),
    _noisy_max(ExactGap, "exact lead", "the lead is that of the true scores", Level.STATISTICAL, gap=True,
        neighbors=[([3, 3], [4, 3])], draws=4000),
    _noisy_max(SharedNoise, "one noise for all scores", "the noise cancels", Level.STATISTICAL,
        neighbors=[([1, 1], [0, 2])], draws=4000),
]  # fmt: skip
