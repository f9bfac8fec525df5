"""Exact choice by integer weights: one at a time by prefix sums, many at a time by an integer alias table.

Exactness. Weights are integers. A uniform integer below their sum falls into each prefix interval with exactly its
share. For many draws the weights are laid out to add up to 2^64, and cut into 2^K columns of equal integer capacity,
each holding parts of at most two outcomes (Walker's alias method in integers): one 64-bit word picks a column with its
top K bits and a side with the rest, so every outcome gets exactly its integer weight of the 2^64 words. No rounding
takes place.
Reference. Walker 1977; Vose 1991.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.randomness.uniform import uniform_below

_WORD_BITS = 64


def choose_by_weights(weights: Sequence[int]) -> int:
    """Return an index with probability exactly proportional to its non-negative integer weight.

    >>> choose_by_weights([0, 5, 0])
    1
    """
    if any(isinstance(weight, bool) or not isinstance(weight, int) or weight < 0 for weight in weights):
        raise ParameterError("weights must be integers of at least 0", parameter="weights")
    cumulative = list(accumulate(weights))
    if not cumulative or cumulative[-1] == 0:
        raise ParameterError("at least one weight must be positive", parameter="weights")
    return bisect_right(cumulative, uniform_below(cumulative[-1]))


class AliasTable:
    """Maps uniform 64-bit words to outcomes with exactly the given integer masses, which add up to 2^64."""

    def __init__(self, masses: Sequence[int], outcomes: NDArray[np.int64] | None = None) -> None:
        if sum(masses) != 1 << _WORD_BITS or min(masses) < 0:
            raise ParameterError(
                "the masses of an alias table must be at least 0 and add up to 2^64", parameter="masses"
            )
        self.column_bits = max((len(masses) - 1).bit_length(), 1)
        capacity = 1 << (_WORD_BITS - self.column_bits)
        columns = 1 << self.column_bits
        remaining = list(masses) + [0] * (columns - len(masses))
        keep = [capacity] * columns
        alias = list(range(columns))
        small = [i for i, mass in enumerate(remaining) if mass < capacity]
        large = [i for i, mass in enumerate(remaining) if mass > capacity]
        while small:
            poor, rich = small.pop(), large[-1]
            keep[poor], alias[poor] = remaining[poor], rich
            remaining[rich] -= capacity - remaining[poor]
            if remaining[rich] <= capacity:
                large.pop()
                if remaining[rich] < capacity:
                    small.append(rich)
        # A full column keeps everything; capacity itself may not fit the comparison below, so it points at itself.
        self._keep = np.array([min(value, capacity - 1) for value in keep], dtype=np.uint64)
        self._alias = np.array(alias, dtype=np.int64)
        named = np.arange(columns)
        if outcomes is not None:
            named[: len(masses)] = outcomes
        self._named = np.concatenate([named, named[self._alias]])
        self._low_mask = np.uint64(capacity - 1)
        self._shift = np.uint64(_WORD_BITS - self.column_bits)

    @property
    def columns(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """What a look-up elsewhere needs: how much each column keeps, and the outcomes of all columns, then aliases."""
        return self._keep.view(np.int64), self._named

    def lookup(self, draws: NDArray[np.uint64], out: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Return the outcome of each word: one pass without a branch, so that no outcome takes longer than another."""
        columns = (draws >> self._shift).view(np.int64)
        aliased = (draws & self._low_mask) >= self._keep.take(columns)
        columns += np.left_shift(aliased, self.column_bits, dtype=np.int64)
        return self._named.take(columns, out=out, mode="clip")
