"""Rows as integer vectors in a ball or on a sphere, and exact sums of their products.

What one row contributes is bit for bit the same whatever other rows are there. Every step looks at one row, by sums,
products, quotients, roots and roundings of floats, which IEEE 754 defines to the last bit, in an order that does not
depend on the number of rows; and every sum over rows is a sum of integers below 2^53, which is exact in any order, so
that the blocks in which a matrix product is computed cannot change it.

Rows lie in columns here: a chunk is a matrix with a line a coordinate, so that one instruction treats many rows alike.

Lemma (ball). With t = 2^19 (1 - 2^-40), a vector whose computed norm exceeds t is scaled by t over that norm, and all
are cut towards 0. Norm, factor and product have relative errors below (p + 8) 2^-53 together, and cutting only
shortens: for p <= 2^12 coordinates the norm is at most t (1 + 2^-40) < 2^19.

Lemma (products). For integer vectors |e| <= 2^19 and |z| <= 2^19, all |e_i z_j| <= 2^38; 2^14 of them add up to at most
2^52. The norm of the matrix e z' is |e| |z| <= 2^38: one row moves a sum of such matrices by at most 2^38.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Clipped = Callable[[Floats, NDArray[Any]], Floats]  # whole errors at most 2^19 long, of scores and what is beside a row
STEPS = 1 << 19
MOST_COORDINATES = 1 << 12
CHUNK = 1 << 14
_WITHIN = STEPS * (1.0 - 2.0**-40)
_IN_MEMORY = 1 << 28  # bytes of integers kept as float64; beyond it as float32, which holds 24 bits
_MOST_IN_INT64 = 1 << 24  # rows whose sums of products stay below 2^62


@dataclass(frozen=True, slots=True)
class Cut:
    """Public bounds of features: where a chunk is clipped, and how it is scaled to [-1, 1]."""

    low: Floats
    high: Floats

    def __call__(self, features: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Return a chunk of rows in [-1, 1], a line a feature, and which rows count; the others are 0."""
        return in_unit_box(features, self.low, self.high)


def in_unit_box(features: Floats, low: Floats, high: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Return rows clipped to bounds and scaled to [-1, 1], a line a feature, and which rows have finite cells only.

    A row that does not count is 0 throughout. Whatever the bounds are, no entry is NaN: one would spoil every sum.
    """
    lines = np.ascontiguousarray(features.T)
    counted = np.isfinite(lines).all(axis=0)
    middle, half = (low / 2 + high / 2)[:, np.newaxis], (high / 2 - low / 2)[:, np.newaxis]
    with np.errstate(all="ignore"):
        scaled = (np.clip(lines, low[:, np.newaxis], high[:, np.newaxis]) - middle) / half
    counted &= np.isfinite(scaled).all(axis=0)
    return np.where(counted, np.clip(scaled, -1.0, 1.0), 0.0), np.asarray(counted)


def squared_norms(lines: Floats) -> Floats:
    """Return the squared norm of every row, its coordinates added in their order."""
    total = np.zeros(lines.shape[1])
    for line in lines:
        total += line * line
    return total


def in_ball(lines: Floats, radius: float) -> Floats:
    """Return rows as whole floats of norm at most 2^19, which stands for the radius; longer rows are pulled to it."""
    scaled = lines * (_WITHIN / radius)
    norms = np.sqrt(squared_norms(scaled))
    with np.errstate(divide="ignore"):
        scaled *= np.minimum(1.0, _WITHIN / norms)
    return np.asarray(np.trunc(scaled))


def on_sphere(lines: Floats, counted: NDArray[np.bool_], center: Floats, constant: float) -> Floats:
    """Return (x - c) / |x - c| with a constant appended, at norm 1, as whole floats of norm at most 2^19.

    A row at the center becomes 0 beside the constant, and a row that does not count 0 throughout.
    """
    away = lines - center[:, np.newaxis]
    norms = np.sqrt(squared_norms(away))
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = np.where(norms > 0, away / norms, 0.0)
    longer = np.vstack([unit, np.full((1, lines.shape[1]), constant)])
    return np.where(counted, in_ball(longer, float(np.sqrt(1.0 + constant * constant))), 0.0)


@dataclass(frozen=True, slots=True, repr=False)
class Chunks:
    """Integer vectors of all rows, 2^14 rows at a time, with what else belongs to each row. Private."""

    vectors: Sequence[NDArray[Any]]
    beside: Sequence[NDArray[Any]]
    rows: int

    @classmethod
    def of(
        cls,
        features: Floats,
        beside: NDArray[Any],
        made: Callable[[Floats, NDArray[Any]], tuple[Floats, NDArray[Any]]],
        *,
        coordinates: int,
    ) -> Chunks:
        """Return what `made` makes of every 2^14 rows: whole vectors, a line a coordinate, and what is beside them."""
        kept = np.float64 if 8 * coordinates * len(features) <= _IN_MEMORY else np.float32
        vectors, others = [], []
        for begin in range(0, len(features), CHUNK):
            lines, other = made(features[begin : begin + CHUNK], beside[begin : begin + CHUNK])
            vectors.append(lines.astype(kept, copy=False))
            others.append(other)
        return cls(vectors, others, len(features))

    def __iter__(self) -> Iterator[tuple[Floats, NDArray[Any]]]:
        for lines, other in zip(self.vectors, self.beside, strict=True):
            yield lines.astype(np.float64, copy=False), other

    def gradients(self, weights: Floats, errors: Clipped) -> Iterator[NDArray[np.int64]]:
        """Return the sums over the rows of a chunk of errors times vectors, at weights on the grid of `on_grid`."""
        for lines, other in self:
            yield products(errors(weights @ lines, other), lines)

    def __repr__(self) -> str:
        return "Chunks(private)"


def products(first: Floats, second: Floats) -> NDArray[np.int64]:
    """Return the sums over the rows of one chunk of all products of two whole vectors, exactly."""
    return np.asarray((first @ second.T).astype(np.int64))


def exact_sum(parts: Iterator[NDArray[np.int64]], shape: tuple[int, ...], rows: int) -> NDArray[Any]:
    """Return the sum over chunks: 64-bit integers where the number of rows proves that they are enough."""
    total: NDArray[Any] = np.zeros(shape, dtype=np.int64 if rows < _MOST_IN_INT64 else object)
    for part in parts:
        total = total + part.astype(total.dtype)
    return total


def filled(features: Floats, low: Floats, high: Floats) -> Floats:
    """Return rows to be predicted: what is no number counts as the middle of its range, what is outside as an end."""
    return np.clip(np.where(np.isnan(features), low / 2 + high / 2, features), low, high)


def scaled_targets(targets: NDArray[Any], bounds: tuple[float, float]) -> Floats:
    """Return targets in [-1, 1] by their bounds, NaN where there is no finite one."""
    low, high = (np.array([end]) for end in bounds)
    lines, counted = in_unit_box(targets[:, np.newaxis], low, high)
    return np.where(counted, lines[0], np.nan)
