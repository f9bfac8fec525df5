"""Whole numbers of rows for a distribution: every count within one of what was expected, and the sum exact."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.randomness import words

Floats = NDArray[np.float64]


def apportion(expected: Floats, total: int) -> NDArray[np.int64]:
    """Return non-negative whole numbers with the given sum, nearest to `expected` by the largest remainders.

    Accuracy. Where the expected numbers are at least 0 and sum to the total, each result is within 1 of its own.
        Proof: each starts at its integer part; the sum then lacks fewer than there are entries with a remainder, and
        those with the largest remainders get one each.

    >>> apportion(np.array([1.5, 0.2, 2.3]), 4).tolist()
    [2, 0, 2]
    """
    held = np.maximum(expected, 0.0)
    floors = np.floor(held).astype(np.int64)
    remainders = held - floors
    missing = total - int(floors.sum())
    while missing > 0:  # more than one round only where the expected numbers sum to less than the total
        given = np.argsort(-remainders, kind="stable")[:missing]
        floors[given] += 1
        missing -= len(given)
    while missing < 0:
        positive = np.flatnonzero(floors)
        taken = positive[np.argsort(remainders[positive], kind="stable")[:-missing]]
        floors[taken] -= 1
        missing += len(taken)
    return floors


def apportion_groups(conditional: Floats, totals: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return counts, one row for each group and with its total as sum, nearest to totals times the conditional shares.

    What rounding leaves over in one group is carried to the next, so that the sums of columns stay near theirs too.
    """
    counts = np.zeros(conditional.shape, dtype=np.int64)
    carried = np.zeros(conditional.shape[1])
    for group in np.flatnonzero(totals):
        wanted = totals[group] * conditional[group]
        possible = np.flatnonzero(wanted > 0)
        counts[group, possible] = apportion((wanted + carried)[possible], int(totals[group]))
        carried += wanted - counts[group]
    return counts


def assign(groups: NDArray[np.uint16], counts: NDArray[np.int64]) -> NDArray[np.uint16]:
    """Return a code for every row: within the rows of each group, each code as often as counted, in a random order."""
    codes = np.empty(len(groups), dtype=np.uint16)
    values = np.tile(np.arange(counts.shape[1], dtype=np.uint16), counts.shape[0])
    codes[_shuffled(groups)] = np.repeat(values, counts.ravel())
    return codes


def _shuffled(groups: NDArray[np.uint16]) -> NDArray[np.int64]:
    """Return the rows in the order of their groups, in a random order within each.

    Group, random bits and row are packed into one word, because sorting words is many times faster than sorting places.
    """
    rows = max(len(groups).bit_length(), 1)
    drawn = words(len(groups)) >> np.uint64(16 + rows) << np.uint64(rows)
    packed = (groups.astype(np.uint64) << np.uint64(48)) | drawn | np.arange(len(groups), dtype=np.uint64)
    packed.sort()
    return (packed & np.uint64((1 << rows) - 1)).astype(np.int64)
