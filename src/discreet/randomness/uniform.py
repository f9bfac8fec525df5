"""Exact uniform integers below any bound, by rejection.

Exactness. A word of b bits, 2^b >= bound, is uniform on [0, 2^b); given that it lies below the largest multiple of the
bound that fits, its remainder is uniform on [0, bound). What lies above is drawn again: no modulo bias, whatever the
bound.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.randomness.keystream import bits, check_count, words

_WORD = 1 << 64


def uniform_below(bound: int) -> int:
    """Return an integer uniform on 0, 1, ..., bound - 1.

    >>> uniform_below(1)
    0
    """
    _check(bound)
    width = (bound - 1).bit_length()
    while True:
        candidate = bits(width)
        if candidate < bound:
            return candidate


def uniform_below_array(bound: int, count: int) -> NDArray[np.int64]:
    """Return `count` independent integers uniform on 0, ..., bound - 1, for a bound of at most 2^63."""
    _check(bound)
    check_count(count)
    if bound > 1 << 63:
        raise ParameterError("the bound of uniform integers in an int64 array must be at most 2^63", parameter="bound")
    if bound & (bound - 1) == 0:
        shift = 64 - (bound.bit_length() - 1)
        return (words(count) >> np.uint64(shift)).astype(np.int64) if shift < 64 else np.zeros(count, dtype=np.int64)
    limit = np.uint64(_WORD - _WORD % bound - 1)
    draws = np.array(words(count))
    over = np.flatnonzero(draws > limit)
    while over.size:
        draws[over] = words(over.size)
        over = over[draws[over] > limit]
    return (draws % np.uint64(bound)).astype(np.int64)


def _check(bound: int) -> None:
    """Refuse an empty range."""
    if isinstance(bound, bool) or not isinstance(bound, int) or bound < 1:
        raise ParameterError("the bound of uniform integers must be an int of at least 1", parameter="bound")
