"""k-means: rows in a few dimensions, and noisy steps of Lloyd's with more cells than clusters, merged in the end."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin

from discreet.learning.base import PrivateEstimator, Public, regime, whole_number
from discreet.learning.exact import (
    STEPS,
    Chunks,
    FitRows,
    Measurements,
    exact_sum,
    filled,
    in_ball,
    in_unit_box,
    on_grid,
    products,
)
from discreet.learning.moments.directions import RowDirections, center_share
from discreet.learning.moments.gram import gram_signal

Floats = NDArray[np.float64]
_DIMENSIONS = 8
_PLANE = Fraction(7, 20)  # the share for the dimensions
_ROUNDS = 3
_CELLS = 3  # for every cluster
_COUNT = 3 * STEPS // 10  # what a row counts beside its place of length 2^19
_ONE = STEPS**2 + _COUNT**2  # the squared norm of what one row adds, at most
_MOST_CLUSTERS = 1 << 8
_LEAST = 0.25  # of the rows that a cell would have if all had as many: what sums are divided by
_LIGHTEST = 0.01  # of these rows: what a cell weighs when cells are merged
_STEP = 2.0**-20 / STEPS  # of a place, before it is cut to a vector
_REPELLING, _PUSH = 300, 0.05


@dataclass(eq=False, repr=False, kw_only=True)
class KMeans(ClusterMixin, PrivateEstimator):  # type: ignore[misc]
    """Clusters of rows that are near each other, or that lie in similar directions where there are many features.

    Features are moved into [-1, 1] by their bounds. Up to 8 of them are taken as they are, divided by sqrt(features).
    Of more a center is released, rows become unit vectors from it, and their first 8 principal components are released.
    Three times as many cells as clusters start at public places; each of three rounds assigns every row to the nearest
    cell and moves the cells to noisy means of their rows. In the end cells are merged to clusters, which needs no rows.
    `cluster_centers_` are in those dimensions, at most 1 long. There is no `labels_`: to which cluster a row of the fit
    belongs is as private as the row; whoever holds the row may ask `predict`.

    Args:
        n_clusters: how many clusters.

    Privacy. mu-Gaussian-DP under the stated relation, mu the one that the price buys.
        Proof: center (`released_center`), dimensions (`released_gram`) and three rounds are releases whose shares add
        up to 1. In a round a row adds, to one cell alone, its place of norm at most 2^19 and a count of 0.3 times 2^19:
        squared norm at most 2^38 (1 + 0.09). The cell follows from what was released and from that row, by exact sums
        of integers. Under change-one the distance doubles, because places of two rows in one cell may be opposite.
    Accuracy. The mean of a cell of n rows has noise of deviation about 2.5 / (mu n) a dimension.
    Cost. At most five matrix products with the rows.
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
        shares = {}
        if public.features > _DIMENSIONS:
            shares = {"share for the center": float(center_share(public)), "share for the dimensions": float(_PLANE)}
        return {
            "clusters": self._clusters(),
            "cells": _CELLS * self._clusters(),
            "dimensions": min(public.features, _DIMENSIONS),
            "rounds": _ROUNDS,
            **shares,
        }

    def _expect(self, public: Public) -> str:
        return regime(gram_signal(public, public.features) / math.sqrt(self._clusters()))

    def _noise(self, public: Public) -> Mapping[str, float]:
        deviation = Measurements(public.price).deviation(_each(public), squared=_squared(public)) / STEPS
        return {"mean of a cell": deviation * _CELLS * self._clusters() / public.neighbors.people}

    def _learn(self, public: Public, rows: FitRows, measurements: Measurements) -> None:
        dimensions, number = min(public.features, _DIMENSIONS), _CELLS * self._clusters()
        if public.features > _DIMENSIONS:
            directions = RowDirections.released(public, rows, measurements, _PLANE)
            components, found = directions.largest(dimensions)
            self._map = _Map(public, directions, components)
            cells = spread_directions(number, dimensions) * np.sqrt(np.minimum(found / public.neighbors.people, 1.0))
        else:
            self._map = _Map(public)
            cells = spread_places(number, dimensions) / math.sqrt(dimensions)
        chunks = Chunks.of(rows.features, np.empty(len(rows)), lambda part, _: self._map(part), coordinates=dimensions)
        for _ in range(_ROUNDS):
            cells, counts = _moved(cells, chunks, public, measurements)
        self.cluster_centers_ = merged(cells, np.maximum(counts, _usual(public, cells) * _LIGHTEST), self._clusters())

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the cluster of every row; a cell that is no number counts as the middle of its range."""
        features = self._seen(X)
        places, _ = self._map(filled(features, self._map.public.low, self._map.public.high))
        return nearest(self.cluster_centers_, places)

    def fit_predict(self, X: Any, y: Any = None, **options: Any) -> NDArray[np.int64]:
        """Fit, and return the cluster of every row: as private as the rows, for whoever holds them."""
        return self.fit(X, y, **options).predict(X)


@dataclass(frozen=True, slots=True)
class _Map:
    """How a row becomes its place: all features, or released dimensions of its direction from a center."""

    public: Public
    directions: RowDirections | None = None
    components: Floats | None = None

    def __call__(self, features: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Return places, whole and at most 2^19 long, and which rows count."""
        if self.directions is None or self.components is None:
            lines, counted = in_unit_box(features, self.public.low, self.public.high)
            return in_ball(lines, math.sqrt(len(lines))), counted
        vectors, counted = self.directions.unit(features)
        return in_ball((on_grid(self.components) @ vectors) * _STEP, 1.0), counted


def nearest(cells: Floats, places: Floats) -> NDArray[np.int64]:
    """Return the nearest cell of every place, the first of several; all numbers are whole and below 2^41."""
    whole = in_ball(cells.T, 1.0).T
    scores = 2.0 * (whole @ places) - (whole * whole).sum(axis=1)[:, np.newaxis]
    return np.asarray(scores.argmax(axis=0), dtype=np.int64)


def _moved(cells: Floats, chunks: Chunks, public: Public, measurements: Measurements) -> tuple[Floats, Floats]:
    """Return the noisy means of the rows of each cell, at most 1 long, and their noisy numbers."""
    shape = len(cells), cells.shape[1] + 1

    def parts() -> Iterator[NDArray[np.int64]]:
        for places, counted in chunks:
            members = (nearest(cells, places) == np.arange(len(cells))[:, np.newaxis]) & counted
            longer = np.vstack([places, np.full((1, places.shape[1]), float(_COUNT))])
            yield products(members.astype(np.float64), longer)

    sums = exact_sum(parts(), shape, chunks.rows)
    noisy = measurements.release(sums, share=_each(public), squared=_squared(public))
    counts = noisy[:, -1] / _COUNT
    means = noisy[:, :-1] / STEPS / np.maximum(counts, _LEAST * _usual(public, cells))[:, np.newaxis]
    lengths = np.sqrt((means * means).sum(axis=1, keepdims=True))
    return np.asarray(means / np.maximum(lengths, 1.0)), counts


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
        squared = np.maximum(2.0 - 2.0 * (places @ places.T) + np.eye(number), 1e-6)
        pushes = 1.0 / (squared * np.sqrt(squared))
        places = _unit(places + _PUSH * (places * pushes.sum(axis=1, keepdims=True) - pushes @ places))
    return places


def _unit(places: Floats) -> Floats:
    """Return vectors at length 1."""
    return np.asarray(places / np.sqrt((places * places).sum(axis=1, keepdims=True)))


def merged(cells: Floats, weights: Floats, number: int) -> Floats:
    """Return `number` means of cells: the two whose merging lengthens squared distances least are merged first.

    >>> merged(np.array([[0.0], [1.0], [5.0]]), np.array([3.0, 1.0, 1.0]), 2).tolist()
    [[0.25], [5.0]]
    """
    places, sizes, there = cells.copy(), weights.copy(), np.ones(len(cells), dtype=bool)
    cost = np.array([_costs(place, cells, weights) for place in range(len(cells))])
    for _ in range(len(cells) - number):
        kept, gone = sorted(divmod(int(cost.argmin()), len(cells)))
        both = sizes[kept] + sizes[gone]
        places[kept] = (sizes[kept] * places[kept] + sizes[gone] * places[gone]) / both
        sizes[kept], there[gone] = both, False
        cost[gone], cost[:, gone] = np.inf, np.inf
        cost[kept] = np.where(there, _costs(kept, places, sizes), np.inf)
        cost[:, kept] = cost[kept]
    return places[there]


def _costs(place: int, cells: Floats, weights: Floats) -> Floats:
    """Return by how much squared distances grow where a cell is merged with each other cell; infinity for itself."""
    apart = ((cells[place] - cells) ** 2).sum(axis=1)
    costs = apart * (weights[place] * weights) / (weights[place] + weights)
    costs[place] = np.inf
    return np.asarray(costs)


def _usual(public: Public, cells: Floats) -> float:
    """Return how many rows a cell has where all have as many."""
    return public.neighbors.people / len(cells)


def _each(public: Public) -> Fraction:
    """Return the share of one round."""
    before = center_share(public) + _PLANE if public.features > _DIMENSIONS else Fraction(0)
    return (1 - before) / _ROUNDS


def _squared(public: Public) -> int:
    """The squared distance of the sums of all cells on neighbors."""
    return public.neighbors.squared(_ONE)
