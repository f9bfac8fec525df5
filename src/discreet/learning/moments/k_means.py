"""k-means: rows on the unit sphere about a released center, a few released dimensions, and noisy Lloyd steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin

from discreet.learning.base import PrivateEstimator, Public, regime, whole_number
from discreet.learning.exact import STEPS, Chunks, Measurements, Rows, exact_sum, filled, in_ball, on_grid, products
from discreet.learning.moments.directions import CENTER, Directions
from discreet.learning.moments.gram import gram_signal

Floats = NDArray[np.float64]
_DIMENSIONS = 8
_PLANE = Fraction(7, 20)  # the share for the dimensions
_ROUNDS = 3
_CELLS = 3  # for every cluster
_COUNT = 3 * STEPS // 10  # what a row counts beside its place of length 2^19
_ONE = STEPS**2 + _COUNT**2  # the squared norm of what one row adds, at most
_MOST_CLUSTERS = 1 << 8
_LEAST = 0.25  # of the rows that a cell would have if all had as many
_GRID_OF_PLACES = 2.0**-20 / STEPS  # what a whole step of a place is


@dataclass(eq=False, repr=False, kw_only=True)
class KMeans(ClusterMixin, PrivateEstimator):  # type: ignore[misc]
    """Clusters of rows that lie in similar directions from the center of all.

    A center is released, rows become unit vectors from it, and their first 8 principal components are released. Three
    times as many cells as clusters start at public places; each of three rounds assigns every row to the nearest cell
    and moves the cells to noisy means of their rows. In the end cells are merged to clusters, which needs no rows.
    `cluster_centers_` are in those dimensions, at most 1 long. There is no `labels_`: to which cluster a row of the fit
    belongs is as private as the row, and `predict` tells it whoever holds the row.

    Args:
        n_clusters: how many clusters.

    Privacy. mu-Gaussian-DP under the stated relation, mu the one that the price buys.
        Proof: a tenth of mu^2 is for the center, 7/20 for the dimensions, the rest for the rounds in equal parts. In a
        round a row adds, to one cell alone, its place of norm at most 2^19 and a count of 0.3 times 2^19: squared norm
        at most 2^38 (1 + 0.09). The cell follows from what was released and from that row, by exact sums of integers.
        Under change-one the distance is twice that, because the places of two rows in one cell may be opposite.
    Accuracy. A cell of n rows has a mean with noise of deviation about 2.5 / (mu n) a dimension.
    Cost. Four matrix products with the rows.
    Reference. Lloyd 1982; Blum, Dwork, McSherry, Nissim 2005 (noisy sums and counts); Ward 1963 (merging).

    >>> from discreet.privacy import Relation
    >>> rows = np.repeat([[0.1, 0.2], [0.9, 0.8]], 2000, axis=0)
    >>> model = KMeans(
    ...     n_clusters=2,
    ...     epsilon=2,
    ...     delta=1e-6,
    ...     relation=Relation.ADD_REMOVE,
    ...     people=4000,
    ...     bounds=(0, 1),
    ... )
    >>> first, second, third = model.fit(rows).predict([[0, 0], [0.2, 0.1], [1, 1]])
    >>> bool(first == second != third)
    True
    """

    n_clusters: int | None = None

    def _clusters(self) -> int:
        return whole_number(self.n_clusters, name="n_clusters", least=1, most=_MOST_CLUSTERS)

    def _plan(self, public: Public) -> Mapping[str, Any]:
        return {
            "clusters": self._clusters(),
            "cells": _CELLS * self._clusters(),
            "dimensions": min(public.features, _DIMENSIONS),
            "rounds": _ROUNDS,
            "share for the center": float(CENTER),
            "share for the dimensions": float(_PLANE),
        }

    def _expect(self, public: Public) -> str:
        return regime(gram_signal(public, public.features) / self._clusters() ** 0.5)

    def _noise(self, public: Public) -> Mapping[str, float]:
        deviation = Measurements(public.price).deviation(_each(), squared=_squared(public)) / STEPS
        return {"mean of a cell": deviation * _CELLS * self._clusters() / public.neighbors.people}

    def _learn(self, public: Public, rows: Rows, measurements: Measurements) -> None:
        dimensions = min(public.features, _DIMENSIONS)
        self._directions = Directions.released(public, rows, measurements, _PLANE)
        self.components_, found = self._directions.largest(dimensions)
        spread = np.sqrt(np.minimum(found / public.neighbors.people, 1.0))

        def made(features: Floats, beside: NDArray[Any]) -> tuple[Floats, NDArray[Any]]:  # noqa: ARG001
            return self._places(features)

        chunks = Chunks.of(rows.features, np.empty(len(rows)), made, coordinates=dimensions)
        cells = spread_directions(_CELLS * self._clusters(), dimensions) * spread
        for _ in range(_ROUNDS):
            cells, counts = _moved(cells, chunks, public, measurements)
        self.cluster_centers_ = merged(cells, np.maximum(counts, _usual(public, cells) / 10), self._clusters())

    def _places(self, features: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the places of rows in the released dimensions, whole and at most 2^19 long, and which rows count."""
        vectors, counted = self._directions.unit(features)
        return in_ball((on_grid(self.components_) @ vectors) * _GRID_OF_PLACES, 1.0), counted

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the cluster of every row; a cell that is no number counts as the middle of its range."""
        features = self._seen(X)
        places, _ = self._places(filled(features, self._directions.low, self._directions.high))
        return nearest(self.cluster_centers_, places)

    def fit_predict(self, X: Any, y: Any = None, **options: Any) -> NDArray[np.int64]:
        """Fit, and return the cluster of every row. Private, where X is: it is for whoever holds the rows."""
        return self.fit(X, y, **options).predict(X)


def nearest(cells: Floats, places: Floats) -> NDArray[np.int64]:
    """Return the nearest cell of every place, the first of several; all numbers are whole and below 2^41."""
    whole = np.trunc(in_ball(cells.T, 1.0)).T
    scores = 2.0 * (whole @ places) - (whole * whole).sum(axis=1)[:, np.newaxis]
    return np.asarray(scores.argmax(axis=0), dtype=np.int64)


def _moved(cells: Floats, chunks: Chunks, public: Public, measurements: Measurements) -> tuple[Floats, Floats]:
    """Return the noisy means of the rows of each cell, and their noisy numbers."""
    shape = len(cells), cells.shape[1] + 1

    def parts() -> Iterator[NDArray[np.int64]]:
        for places, counted in chunks:
            member = (nearest(cells, places) == np.arange(len(cells))[:, np.newaxis]) & counted
            yield products(member.astype(np.float64), np.vstack([places, np.full((1, places.shape[1]), _COUNT)]))

    noisy = measurements.release(exact_sum(parts(), shape, chunks.rows), share=_each(), squared=_squared(public))
    counts = noisy[:, -1] / _COUNT
    means = noisy[:, :-1] / STEPS / np.maximum(counts, _LEAST * _usual(public, cells))[:, np.newaxis]
    lengths = np.sqrt((means * means).sum(axis=1, keepdims=True))
    return means / np.maximum(lengths, 1.0), counts


def spread_directions(number: int, dimensions: int) -> Floats:
    """Return public unit vectors far from each other: any start, and steps of charges that repel each other.

    >>> spread_directions(2, 1).round(1).ravel().tolist()
    [1.0, -1.0]
    """
    start = np.outer(np.arange(1, number + 1), np.sqrt(np.arange(2, dimensions + 2)))
    places = np.cos(start * start)
    places /= np.sqrt((places * places).sum(axis=1, keepdims=True))
    for _ in range(300):
        apart = places[:, np.newaxis] - places
        squared = (apart * apart).sum(axis=2) + np.eye(number)
        places = places + 0.05 * (apart / np.maximum(squared, 1e-6)[:, :, np.newaxis] ** 1.5).sum(axis=1)
        places /= np.sqrt((places * places).sum(axis=1, keepdims=True))
    return places


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


def _usual(public: Public, cells: Floats) -> float:
    """Return how many rows a cell has where all have as many."""
    return public.neighbors.people / len(cells)


def _each() -> Fraction:
    """Return the share of one round."""
    return (1 - CENTER - _PLANE) / _ROUNDS


def _squared(public: Public) -> int:
    """The squared distance of the sums of all cells on neighbors."""
    return public.neighbors.squared(_ONE)
