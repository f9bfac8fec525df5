"""One distribution from overlapping noisy histograms: inverse variances, projection, and tables with given margins."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from discreet.synthesis.base.purse import Noisy
from discreet.synthesis.methods.forest.one_ways import OneWays, onto_simplex, variance

Floats = NDArray[np.float64]
_SWEEPS = 30
_TRACE = 1e-9


def combined_shares(
    one_ways: OneWays, again: OneWays, pairs: Mapping[tuple[int, int], Noisy], total: float
) -> tuple[Floats, ...]:
    """Return each attribute's shares from all histograms that have it, weighted by the inverse of their variances.

    The margin of a pair's histogram has the variance of as many cells as the other attribute has.
    """
    sizes = one_ways.domain.sizes
    sums, weights = [np.zeros(size) for size in sizes], [0.0] * len(sizes)

    def add(place: int, counts: Floats, spread: float) -> None:
        sums[place] += counts / spread
        weights[place] += 1 / spread

    for measured in (one_ways, again):
        for place, noisy in measured.noisy.items():
            add(place, noisy.values.astype(np.float64), variance(noisy))
    for (one, other), noisy in pairs.items():
        add(one, noisy.values.sum(axis=1, dtype=np.float64), variance(noisy) * sizes[other])
        add(other, noisy.values.sum(axis=0, dtype=np.float64), variance(noisy) * sizes[one])
    return tuple(
        onto_simplex(held / weight / total) if weight else np.full(len(held), 1 / len(held))
        for held, weight in zip(sums, weights, strict=True)
    )


def fitted(noisy: Floats, rows: Floats, columns: Floats) -> Floats:
    """Return a table with these margins, at least 0 everywhere, near a noisy one.

    The margins are set right by equal shifts, entries below 0 are projected away within each row and within each column
    (the mean of both), and alternating scaling fits the margins again. A trace of the product keeps every row and
    column possible.
    """
    centred = noisy + ((rows - noisy.sum(axis=1)) / len(columns))[:, None]
    centred = centred + ((columns - centred.sum(axis=0)) / len(rows))[None, :]
    by_rows = np.stack([onto_simplex(one, share) for one, share in zip(centred, rows, strict=True)])
    by_columns = np.stack([onto_simplex(one, share) for one, share in zip(centred.T, columns, strict=True)], axis=1)
    table = (by_rows + by_columns) / 2 + _TRACE * np.outer(rows, columns)
    for _ in range(_SWEEPS):
        table *= _ratio(rows, table.sum(axis=1))[:, None]
        table *= _ratio(columns, table.sum(axis=0))[None, :]
    return table


def _ratio(wanted: Floats, held: Floats) -> Floats:
    """Return what to multiply by, 0 where nothing is wanted or held."""
    ratio: Floats = np.divide(wanted, held, out=np.zeros_like(wanted), where=held > 0)
    return ratio
