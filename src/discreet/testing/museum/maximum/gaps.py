"""Exhibits: the largest of several integer scores and its lead, ties broken by index and by random fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.laws import DiscreteLaplace, NoisyMaxGapLaw, Pair
from discreet.privacy import PureDP
from discreet.testing.museum.exhibit import NumericExhibit, Vector, Vectors, right, wrong
from discreet.testing.museum.laws import Floats, finite_pair

_DING = "Ding, Wang, Zhang, Kifer 2019"
_SCALE = Fraction(2)
_REACH, _LARGEST_GAP = 160, 120


class GapByIndex(NumericExhibit):
    """The winner, the smallest index among equals, with its lead over the second.

    A tie tells that nobody before the winner has the same score: raising those before it by one and lowering it and the
    score it ties with by one asks both noises to make up for two steps, twice the price of a lead.
    """

    label = wrong(
        "GapByIndex",
        PureDP(1),
        "Integer noise of scale 2 / epsilon, ties go to the first: with the lead told, a tie costs twice epsilon.",
        _DING + " prove it for continuous noise, which has no ties",
    )

    def neighbors(self) -> list[Vectors]:
        """Leaders before a pair of stragglers, all moving by one."""
        base = np.array([20.0, 20.0, 20.0, 20.0, 0.0, 0.0])
        moved = base + np.array([1.0, 1.0, 1.0, 1.0, -1.0, -1.0])
        return [(base, moved), (np.zeros(3), np.array([1.0, -1.0, -1.0]))]

    def runs(self, value: Vector, draws: int) -> NDArray[np.int64]:
        """Draw pairs of index and lead."""
        noisy = value.astype(np.int64) + DiscreteLaplace(_SCALE).draw(draws * value.size).reshape(draws, value.size)
        winner = np.argmax(noisy, axis=1)
        ordered = np.sort(noisy, axis=1)
        return np.stack([winner, ordered[:, -1] - ordered[:, -2]], axis=1)

    def pair(self, first: Vector, second: Vector) -> Pair:
        """Sum over where the second lies; every term is positive, so nothing is lost to cancellation."""
        outcomes = [(index, gap) for index in range(first.size) for gap in range(_LARGEST_GAP + 1)]
        return finite_pair(list(outcomes), _chances(first), _chances(second))


class GapByFraction(GapByIndex):
    """The same with ties broken by independent uniform fractions, and the lead rounded down."""

    label = right(
        "GapByFraction",
        PureDP(1),
        "Ties are broken by random fractions added to the noise, and the lead with them is rounded down: right.",
        _DING,
    )

    def runs(self, value: Vector, draws: int) -> NDArray[np.int64]:
        """Draw pairs of index and lead."""
        noisy = value + DiscreteLaplace(_SCALE).draw(draws * value.size).reshape(draws, value.size)
        noisy += self.random.random(noisy.shape)
        winner = np.argmax(noisy, axis=1)
        ordered = np.sort(noisy, axis=1)
        return np.stack([winner, np.floor(ordered[:, -1] - ordered[:, -2]).astype(np.int64)], axis=1)

    def pair(self, first: Vector, second: Vector) -> Pair:
        """Return the pair of the two laws."""
        laws = [NoisyMaxGapLaw(value.astype(np.int64), DiscreteLaplace(_SCALE)) for value in (first, second)]
        return laws[0].pair(laws[1])


def _chances(scores: Vector) -> Floats:
    """Return the chance of every index with every lead up to the largest listed."""
    noise = DiscreteLaplace(_SCALE)
    whole = scores.astype(np.int64)
    places = np.arange(int(whole.min()) - _REACH, int(whole.max()) + _REACH + 1)
    equal = np.stack([noise.pmf(places - score) for score in whole.tolist()])
    upto = np.stack([noise.cdf(places - score) for score in whole.tolist()])
    less = np.stack([noise.cdf(places - score - 1) for score in whole.tolist()])
    rows = []
    for index, score in enumerate(whole.tolist()):
        others = [other for other in range(whole.size) if other != index]
        later = [other for other in others if other > index]
        second = _largest_is(equal, less, upto, others)
        # a tie counts for this index only if nobody before it takes part
        tie = _largest_is(equal, less, upto, later)
        for before in range(index):
            tie = tie * less[before]
        gaps = np.arange(1, _LARGEST_GAP + 1)
        leads = noise.pmf(places[None, :] + gaps[:, None] - score) @ second
        rows.append(np.concatenate([[float(equal[index] @ tie)], leads]))
    return np.concatenate(rows)


def _largest_is(equal: Floats, less: Floats, upto: Floats, group: list[int]) -> Floats:
    """Return the chance that the largest of a group lies at each place: split by who is the first to be there."""
    total = np.zeros(equal.shape[1])
    for position, member in enumerate(group):
        part = equal[member]
        for other in group[:position]:
            part = part * less[other]
        for other in group[position + 1 :]:
            part = part * upto[other]
        total = total + part
    return total
