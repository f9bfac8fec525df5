"""Public bins: every feature is cut into parts of equal length, and a row becomes one 1 a feature."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.learning.base import whole_number
from discreet.learning.exact import in_unit_box
from discreet.learning.features.public_map import MOST_COLUMNS, PublicMap

Floats = NDArray[np.float64]
_MOST_BINS = 1 << 10


@dataclass(frozen=True, slots=True)
class BinEdges:
    """Bins of equal length between public bounds, for every feature; values outside belong to the first or last.

    Whole numbers from 0 to k - 1 with bounds (0, k - 1) and k bins have a bin each, so this is how categories are
    written: as codes.
    """

    low: Floats
    high: Floats
    counts: NDArray[np.int64]

    @property
    def total(self) -> int:
        """The number of bins of all features."""
        return int(self.counts.sum())

    @property
    def starts(self) -> NDArray[np.int64]:
        """The place of every feature's first bin."""
        return np.asarray(np.cumsum(self.counts) - self.counts)

    def edges(self, feature: int) -> Floats:
        """Return the ends of a feature's bins."""
        return np.linspace(self.low[feature], self.high[feature], int(self.counts[feature]) + 1)

    def places(self, features: Floats) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the place of every cell among all bins, a line a feature, and which rows have finite cells only.

        A row that does not count is in the middle of every feature. What a row becomes follows from that row alone.
        """
        lines, counted = in_unit_box(features, self.low, self.high)
        parts = np.trunc((lines + 1.0) * (self.counts / 2.0)[:, np.newaxis]).astype(np.int64)
        return np.minimum(parts, self.counts[:, np.newaxis] - 1) + self.starts[:, np.newaxis], counted


def stated_bins(bins: Any, low: Floats, high: Floats) -> BinEdges:
    """Return the bins of every feature; one number is that of all of them.

    >>> edges = stated_bins([2, 3], np.zeros(2), np.array([1.0, 2.0]))
    >>> edges.places(np.array([[0.2, 2.0], [0.7, 0.0]]))[0].T.tolist()
    [[0, 4], [1, 2]]
    """
    listed = list(bins) if isinstance(bins, Iterable) and not isinstance(bins, str | bytes) else [bins] * len(low)
    if len(listed) != len(low):
        raise ParameterError(
            f"bins must be a number or one number a feature; got {len(listed)} for {len(low)} features, write bins=16, "
            "for example",
            parameter="bins",
        )
    counts = [whole_number(one, name="bins", least=2, most=_MOST_BINS) for one in listed]
    return BinEdges(low, high, np.array(counts, dtype=np.int64))


@dataclass(eq=False, repr=False, kw_only=True)
class Bins(PublicMap):
    """One column a bin: 1 where a row's value lies in it, 0 elsewhere.

    The cells of a feature that is no finite number are NaN, so that a private estimator does not count the row.

    Args:
        bins: how many bins a feature has, a number or one number a feature; for codes 0 to k - 1, bounds (0, k - 1)
            and k bins.

    >>> Bins(bounds=(0, 10), bins=2).fit_transform([[1.0, 9.0], [6.0, 5.0]])
    array([[1., 0., 0., 1.],
           [0., 1., 0., 1.]])
    """

    bins: Any = 16

    def _edges(self, low: Floats, high: Floats) -> BinEdges:
        edges = stated_bins(self.bins, low, high)
        if edges.total > MOST_COLUMNS:
            raise ParameterError(
                f"bins must make at most {MOST_COLUMNS:,} columns; got {edges.total:,}, write fewer bins or features",
                parameter="bins",
            )
        return edges

    def _names(self, features: list[str], low: Floats, high: Floats) -> list[str]:
        edges = self._edges(low, high)
        return [f"{name}_{part}" for name, count in zip(features, edges.counts, strict=True) for part in range(count)]

    def _map(self, features: Floats, low: Floats, high: Floats) -> Floats:
        edges = self._edges(low, high)
        finite = np.isfinite(features)
        places, _ = edges.places(np.where(finite, features, low))
        columns = np.zeros((len(features), edges.total))
        np.put_along_axis(columns, places.T, 1.0, axis=1)
        columns[np.repeat(~finite, edges.counts, axis=1)] = np.nan
        return columns
