"""Gram matrices of integer vectors: exact sums of products, released once with noise of the right shape.

Let z be one row's vector, at most 2^19 long. The sums of z_i z_j over rows are released for i <= j, those on the
diagonal counted 29 times and the others 41 times.

Lemma (one row). What a row adds has squared norm 29^2 sum z_i^4 + 41^2 sum z_i^2 z_j^2 over i < j <= 29^2 |z|^4:
counted sqrt 2 times, entries off the diagonal would give the squared norm of zz', and 41^2 = 2 29^2 - 1.

Lemma (angles). The inner product of what two rows z and w add is (41^2 (z'w)^2 + sum z_i^2 w_i^2) / 2 >= 0: no wide
angle, so that a replaced row moves the sums by sqrt 2 times as much as a row more, not by twice as much.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.learning.base import Public
from discreet.learning.exact import STEPS, Measurements, exact_sum, products

Floats = NDArray[np.float64]
_ON_DIAGONAL, _OTHERS = 29, 41
_MOST_TIMES = 64  # an entry is counted less often
_ONE = _ON_DIAGONAL**2 * STEPS**4  # the squared norm of what one row adds, at most


@dataclass(frozen=True, slots=True)
class NoisyGram:
    """A released Gram matrix in units of the longest possible vector, and the deviations of its noise."""

    matrix: Floats
    on_diagonal: float
    others: float

    def in_units(self, length: float) -> NoisyGram:
        """Return the matrix where the longest possible vector has another length than 1."""
        squared = length * length
        return NoisyGram(self.matrix * squared, self.on_diagonal * squared, self.others * squared)


def released_gram(
    vectors: Iterable[Floats], shape: tuple[int, int], public: Public, measurements: Measurements, share: Fraction
) -> NoisyGram:
    """Return the noisy sum over rows of zz'; `shape` is the number of coordinates and that of the rows.

    Privacy. One release with Gaussian noise. Proof: the lemmas above; vectors are whole and at most 2^19 long, made of
        one row each, and their products are added exactly.
    """
    coordinates, rows = shape
    first, second = np.triu_indices(coordinates)
    counts = np.where(first == second, _ON_DIAGONAL, _OTHERS)
    parts = (products(z, z) for z in vectors)
    total = exact_sum(parts, (coordinates, coordinates), rows * _MOST_TIMES)
    noisy = measurements.release(total[first, second] * counts, share=share, squared=_squared(public))
    entries = noisy / counts / STEPS**2
    matrix = np.zeros((coordinates, coordinates))
    matrix[first, second], matrix[second, first] = entries, entries
    return NoisyGram(matrix, *gram_noise(public, measurements, share))


def gram_noise(public: Public, measurements: Measurements, share: Fraction) -> tuple[float, float]:
    """Return the deviations of the noise on the diagonal and off it, in units of the longest vector's square."""
    deviation = measurements.deviation(share, squared=_squared(public)) / STEPS**2
    return deviation / _ON_DIAGONAL, deviation / _OTHERS


def gram_signal(public: Public, coordinates: int) -> float:
    """Return how far the trace of a Gram matrix of unit vectors is above the largest eigenvalue of its noise, about."""
    return public.neighbors.people / (
        math.sqrt(2 * coordinates) * gram_noise(public, Measurements(public.price), Fraction(1))[0]
    )


def _squared(public: Public) -> int:
    """The squared distance of the counted sums on neighbors."""
    return public.neighbors.squared(_ONE, acute=True)
