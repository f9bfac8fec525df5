"""The directions in which rows lie from a released center, and their noisy Gram matrix: what PCA and k-means share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.learning.base import Public, released_center
from discreet.learning.exact import CHUNK, FitRows, Measurements, in_unit_box, on_sphere
from discreet.learning.moments.gram import gram_signal, released_gram

Floats = NDArray[np.float64]
_REACH = 0.85  # of a row that the center is a mean of, times the root of the number of features


@dataclass(frozen=True, slots=True)
class RowDirections:
    """A released center in [-1, 1]^d, the public ranges, and the noisy Gram matrix of unit vectors from the center."""

    low: Floats
    high: Floats
    center: Floats
    gram: Floats

    @classmethod
    def released(cls, public: Public, rows: FitRows, measurements: Measurements, share: Fraction) -> RowDirections:
        """Return the center, for `center_share` of the price, and the Gram matrix, for a share of it: two releases."""
        center = released_center(public, rows, measurements, center_share(public), _REACH)
        empty = cls(public.low, public.high, center, np.zeros((public.features, public.features)))

        def vectors() -> Iterator[Floats]:
            for begin in range(0, len(rows), CHUNK):
                yield empty.unit(rows.features[begin : begin + CHUNK])[0]

        gram = released_gram(vectors(), (public.features, len(rows)), public, measurements, share)
        return cls(public.low, public.high, center, gram.matrix)

    def lines(self, features: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Return rows in [-1, 1], a line a feature, and which rows count."""
        return in_unit_box(features, self.low, self.high)

    def unit(self, features: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Return whole vectors of norm at most 2^19 from the center to each row, and which rows count."""
        lines, counted = self.lines(features)
        return on_sphere(lines, counted, self.center, 0.0)[:-1], counted

    def largest(self, number: int) -> tuple[Floats, Floats]:
        """Return the first eigenvectors of the Gram matrix, a line each, and their eigenvalues, at least 0.

        Of the two signs of an eigenvector the one that makes its largest entry positive is taken.
        """
        found, basis = np.linalg.eigh(self.gram)
        first = basis.T[::-1][:number]
        signs = np.sign(first[np.arange(number), np.abs(first).argmax(axis=1)])
        return np.ascontiguousarray(first * signs[:, np.newaxis]), np.maximum(found[::-1][:number], 0.0)

    def in_units(self, scaled: Floats) -> Floats:
        """Return rows in [-1, 1] in the units of the features."""
        return np.asarray(self.low / 2 + self.high / 2 + scaled * (self.high / 2 - self.low / 2))


def center_share(public: Public) -> Fraction:
    """Return the share for the center: the less signal, the more of it is needed."""
    signal = gram_signal(public, public.features)
    return Fraction(1, 5) if signal < 4 else Fraction(1, 10) if signal < 40 else Fraction(1, 20)


def combined(weights: Floats, lines: Floats) -> Floats:
    """Return sums of lines with weights, added in the order of the lines: the same for a row beside any other rows."""
    total = np.zeros((len(weights), lines.shape[1]))
    for column, line in zip(weights.T, lines, strict=True):
        total += column[:, np.newaxis] * line
    return total
