"""Where the cells of k-means start and how they end: public places far from each other, and merging without rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_REPELLING = 300
_PUSH = 0.05


def spread_places(number: int, dimensions: int) -> Floats:
    """Return public places that fill [-1, 1]^d evenly: multiples of powers of an irrational number, modulo 1.

    >>> spread_places(3, 1).round(2).ravel().tolist()
    [0.24, -0.53, 0.71]
    """
    root = 2.0
    for _ in range(60):  # the root above 1 of r^(d + 1) = r + 1
        root = (1.0 + root) ** (1.0 / (dimensions + 1))
    powers = root ** -np.arange(1.0, dimensions + 1)
    return np.asarray(2.0 * ((np.outer(np.arange(1, number + 1), powers)) % 1.0) - 1.0)


def spread_directions(number: int, dimensions: int) -> Floats:
    """Return public unit vectors far from each other: any start, and small steps of charges that repel each other.

    >>> apart = spread_directions(3, 2) @ spread_directions(3, 2).T
    >>> apart[0].round(2).tolist()
    [1.0, -0.5, -0.5]
    """
    start = np.outer(np.arange(1, number + 1), np.sqrt(np.arange(2, dimensions + 2)))
    places = _unit(np.cos(start * start))
    for _ in range(_REPELLING):
        apart = places[:, np.newaxis] - places
        squared = np.maximum((apart * apart).sum(axis=2) + np.eye(number), 1e-6)
        places = _unit(places + _PUSH * (apart / squared[:, :, np.newaxis] ** 1.5).sum(axis=1))
    return places


def _unit(places: Floats) -> Floats:
    """Return vectors at length 1."""
    return np.asarray(places / np.sqrt((places * places).sum(axis=1, keepdims=True)))


def merged(cells: Floats, weights: Floats, number: int) -> Floats:
    """Return `number` means of cells: the two whose merging lengthens squared distances least are merged first.

    >>> merged(np.array([[0.0], [1.0], [5.0]]), np.array([3.0, 1.0, 1.0]), 2).tolist()
    [[0.25], [5.0]]
    """
    places, sizes = list(cells), list(weights)
    while len(places) > number:
        held, mass = np.array(places), np.array(sizes)
        apart = ((held[:, np.newaxis] - held) ** 2).sum(axis=2)
        cost = apart * np.outer(mass, mass) / (mass[:, np.newaxis] + mass)
        np.fill_diagonal(cost, np.inf)
        kept, gone = sorted(divmod(int(cost.argmin()), len(places)))
        places[kept] = (mass[kept] * held[kept] + mass[gone] * held[gone]) / (mass[kept] + mass[gone])
        sizes[kept] = mass[kept] + mass[gone]
        del places[gone], sizes[gone]
    return np.array(places)
