"""Projective spaces the slow way, by vectors: what the numbers of `local.frequency.geometry` must agree with."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

SMALL = [(2, 2), (2, 3), (2, 4), (2, 6), (3, 2), (3, 3), (3, 4), (5, 2), (5, 3), (7, 3), (13, 2), (5, 4)]


@cache
def vectors(prime: int, dimension: int) -> NDArray[np.int64]:
    """Every point as its multiple with leading digit 1, digit 0 first, in the order of its number."""
    found = []
    for leading in range(dimension):
        for lower in product(range(prime), repeat=leading):  # the last of a product runs fastest, the lowest digit
            found.append([*reversed(lower), 1, *[0] * (dimension - 1 - leading)])
    return np.array(found, dtype=np.int64)


@cache
def incidence(prime: int, dimension: int) -> NDArray[np.int64]:
    """1 where the point of the column is on the plane of the point of the row."""
    points = vectors(prime, dimension)
    return np.asarray(points @ points.T % prime == 0, dtype=np.int64)
