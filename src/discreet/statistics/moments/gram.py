"""Rows of several columns as whole steps within a public box or ball, and the exact sums of their products.

Every row becomes a vector of integers between -steps and steps, in the box as it is, in the ball with an L2 norm of at
most `steps`. The map looks at one row at a time, so rounding cannot enlarge a sensitivity. Integers beyond 2^53 are
read as the nearest floats.

Lemma (ball). With t = steps (1 - 2^-40) a row whose computed norm exceeds t is scaled by t over that norm; all rows are
then cut towards 0. Norm, factor and product have relative errors below (d + 8) 2^-53 together, and cutting only
shortens: for d <= 2^10 columns no norm exceeds t (1 + 2^-42) < steps.

Products are exact although they run in floats: integers of 38 bits are split into halves of 19 bits, products of halves
have 38 bits, and 2^14 of them add up to less than 2^53.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.statistics.columns.numbers import frame_library, numbers

STEPS = 1 << 38
MOST_COLUMNS = 1 << 10
_HALF = float(1 << 19)
_CHUNK = 1 << 14
_FAR = 2.0**500
_WITHIN = 1.0 - 2.0**-40
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Gram:
    """How many rows there were, and the exact sums of products of their steps."""

    present: int
    products: NDArray[np.object_]


@dataclass(frozen=True, slots=True)
class Region:
    """A box of half-widths `halves` about a centre, or the ball of radius `halves[0]`."""

    centre: tuple[float, ...]
    halves: tuple[float, ...]
    ball: bool
    steps: int = STEPS

    @property
    def dimension(self) -> int:
        """The number of columns."""
        return len(self.centre)

    @property
    def reach(self) -> int:
        """The largest squared norm of a row, in units of steps^2."""
        return 1 if self.ball else self.dimension

    def positions(self, rows: Floats) -> Floats:
        """Return rows as whole floats; a row with a missing value keeps NaN in its place."""
        with np.errstate(all="ignore"):
            steps = (rows - np.array(self.centre)) * (self.steps / np.array(self.halves))
            if not self.ball:
                return np.asarray(np.clip(np.rint(steps), -float(self.steps), float(self.steps)))
            steps = np.clip(steps, -_FAR, _FAR)
            norms = np.sqrt(np.einsum("ij,ij->i", steps, steps))
            steps *= np.fmin(1.0, self.steps * _WITHIN / norms)[:, np.newaxis]
            return np.asarray(np.trunc(steps))

    def gram(self, columns: Sequence[NDArray[Any]], fill: Sequence[float] | None) -> Gram:
        """Return the exact sums over a table; rows with a missing value are left out, or have it replaced."""
        present, products = 0, np.zeros((self.dimension, self.dimension), dtype=object)
        for begin in range(0, columns[0].size, _CHUNK):
            rows = np.column_stack([column[begin : begin + _CHUNK].astype(np.float64) for column in columns])
            if fill is not None:
                rows = np.where(np.isnan(rows), np.array(fill), rows)
            steps = self.positions(rows)
            left_out = np.isnan(rows).any(axis=1)
            steps[left_out] = 0.0
            present += len(rows) - int(np.count_nonzero(left_out))
            products = products + _products(steps)
        return Gram(present, products)


def _products(steps: Floats) -> NDArray[np.object_]:
    """Return the exact sums of products of all pairs of columns."""
    high = np.floor(steps / _HALF)
    low = steps - high * _HALF
    mixed = _whole(high.T @ low)
    half = int(_HALF)
    total: NDArray[np.object_] = half * half * _whole(high.T @ high) + half * (mixed + mixed.T) + _whole(low.T @ low)
    return total


def _whole(values: Floats) -> NDArray[np.object_]:
    """Return whole floats below 2^53 as Python integers."""
    return values.astype(np.int64).astype(object)


def table_columns(table: Any, count: int) -> list[NDArray[Any]]:
    """Return the columns of a matrix, a frame, an Arrow table, or a list of arrays or frame columns.

    Lists within a list could be rows or columns, and are refused.

    >>> [column.tolist() for column in table_columns(np.array([[1.0, 2.0], [3.0, 4.0]]), 2)]
    [[1.0, 3.0], [2.0, 4.0]]
    """
    columns = [numbers(column) for column in _split(table)]
    if len(columns) != count:
        raise InputError("a table has as many columns as the centre or the bounds say")
    if len({column.size for column in columns}) > 1:
        raise InputError("all columns of a table have the same length")
    return columns


def _split(table: Any) -> list[Any]:
    """Return the columns of whatever holds a table, as they are."""
    library = frame_library(table)
    if isinstance(table, np.ndarray) and table.ndim == 2:
        return [table[:, place] for place in range(table.shape[1])]
    if library == "pandas" and getattr(table, "ndim", 1) == 2:
        return [table.iloc[:, place] for place in range(table.shape[1])]
    if library == "polars" and hasattr(table, "get_columns"):
        return list(table.get_columns())
    if library == "pyarrow" and hasattr(table, "columns"):
        return list(table.columns)
    if library is None and isinstance(table, list | tuple):
        if all(isinstance(column, np.ndarray) or frame_library(column) is not None for column in table):
            return list(table)
        raise InputError(
            "a list must hold arrays or frame columns, one a column, because lists within a list could be rows too. "
            "For rows write np.array(rows, dtype=float), for columns [np.array(column, dtype=float), ...]"
        )
    raise InputError("a table is a matrix with a row a person, a frame, an Arrow table, or a list of arrays")
