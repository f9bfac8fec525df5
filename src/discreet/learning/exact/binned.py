"""Rows as one bin a feature: their vectors are 0 and 1 over a root, and are never written out.

Lemma. A row of d bins and a constant is the vector with r = floor(2^19 / sqrt(d + 1)) in d + 1 places and 0 elsewhere:
its norm is at most 2^19, and all that holds of integer vectors holds of it. A score is r times a sum of d + 1 weights,
and a sum of gradients r times a sum of errors by bin: both are whole and below 2^53, hence exact in every order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.learning.exact.vectors import CHUNK, STEPS, Clipped

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


def bin_length(features: int) -> int:
    """Return r, what a vector of one bin a feature and a constant has in each of its places.

    >>> bin_length(3)
    262144
    """
    return math.isqrt(STEPS**2 // (features + 1))


@dataclass(frozen=True, slots=True, repr=False)
class BinnedRows:
    """Places of all rows among the bins of all features, 2^14 rows at a time, with what is beside each row. Private."""

    places: Sequence[Places]
    beside: Sequence[NDArray[Any]]
    rows: int
    bins: int

    @classmethod
    def of(
        cls,
        features: Floats,
        beside: NDArray[Any],
        made: Callable[[Floats, NDArray[Any]], tuple[Places, NDArray[Any]]],
        *,
        bins: int,
    ) -> BinnedRows:
        """Return what `made` makes of every 2^14 rows: a line of places a feature, and what is beside the rows."""
        starts = range(0, len(features), CHUNK)
        chunks = [made(features[at : at + CHUNK], beside[at : at + CHUNK]) for at in starts]
        return cls([places for places, _ in chunks], [other for _, other in chunks], len(features), bins)

    def gradients(self, weights: Floats, errors: Clipped) -> Iterator[NDArray[np.int64]]:
        """Return the sums over the rows of a chunk of errors times vectors, at weights on the grid of `on_grid`."""
        for places, other in zip(self.places, self.beside, strict=True):
            length = bin_length(len(places))
            held = errors(binned_scores(places, weights) * length, other)
            yield self._sums(places, held) * length

    def _sums(self, places: Places, errors: Floats) -> NDArray[np.int64]:
        """Return the sums of whole errors by bin, and over all rows in the last place."""
        sums = np.empty((len(errors), self.bins + 1))
        for output, error in enumerate(errors):
            sums[output, :-1] = sum(np.bincount(line, weights=error, minlength=self.bins) for line in places)
            sums[output, -1] = error.sum()
        return sums.astype(np.int64)

    def __repr__(self) -> str:
        return "BinnedRows(private)"


def binned_scores(places: Places, weights: Floats) -> Floats:
    """Return the sums of the weights of each row's bins and the constant, a line an output."""
    scores = np.repeat(weights[:, -1:], places.shape[1], axis=1)
    for line in places:
        scores += weights[:, line]
    return scores
