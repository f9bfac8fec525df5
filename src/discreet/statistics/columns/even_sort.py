"""Sorts whose time does not tell how many of the values are equal, or whether they were in order already.

numpy sorts equal values forty times faster than spread ones. Where integers leave room, random bits below each make all
of them different, and are taken off again. Where there is none, as many random words are sorted besides: the time is
then between once and twice that of spread values, whatever the values are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.randomness import words

Integers = NDArray[np.int64]
BITS = 16
_LARGEST = 1 << (62 - BITS)


def in_order(values: Integers, most: int) -> Integers:
    """Return integers between 0 and `most`, sorted.

    >>> in_order(np.array([3, 1, 3, 2]), 3).tolist()
    [1, 2, 3, 3]
    """
    if most > _LARGEST:
        as_long_as_a_sort(values.size)
        return np.sort(values)
    fine = with_random_bits(values)
    fine.sort()
    fine >>= BITS
    return fine


def order(values: Integers, most: int) -> NDArray[np.intp]:
    """Return where the integers stand in order; equal ones in any order.

    >>> order(np.array([3, 1, 2]), 3).tolist()
    [1, 2, 0]
    """
    if most > _LARGEST:
        as_long_as_a_sort(values.size)
        return np.argsort(values)
    return np.argsort(with_random_bits(values))


def with_random_bits(values: Integers, bits: int = BITS) -> Integers:
    """Append independent random bits, at most 16, to integers."""
    fine = values << bits
    if bits:
        random = words((values.size + 3) // 4).view(np.uint16)[: values.size]
        fine |= random >> np.uint16(16 - bits)
    return fine


def as_long_as_a_sort(size: int) -> None:
    """Take the time of sorting `count` different values."""
    np.sort(words(size))
