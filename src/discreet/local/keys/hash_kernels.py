"""The loops of the public hash and of scrambling: each compiled, and once more in numpy where numba is missing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._compiled import compiled

Words = NDArray[np.uint32]
Integers = NDArray[np.int64]
PRIME = (1 << 31) - 1


def buckets_by_numpy(keys: Words, constants: NDArray[np.uint64], span: int) -> Integers:
    """Hash with the constants of one row, or of a row for each key (then of shape (words + 4, keys))."""
    words = keys.shape[1]
    wide = keys.astype(np.uint64)
    total = np.broadcast_to(constants[words], len(keys)).copy()
    for pair in range(0, words, 2):
        total += (constants[pair] + wide[:, pair]) * (constants[pair + 1] + wide[:, pair + 1])
    point, prime = total >> np.uint64(33), np.uint64(PRIME)
    value = (constants[words + 3] * point + constants[words + 2]) % prime
    value = (value * point + constants[words + 1]) % prime
    found: Integers = ((value * np.uint64(span)) >> np.uint64(31)).astype(np.int64)
    return found


@compiled
def bucket(keys: Any, rows: Any, constants: Any, span: Any, out: Any) -> None:
    """Hash each key in its own row."""
    words, prime, shift = keys.shape[1], np.uint64(2147483647), np.uint64(31)
    for place in range(keys.shape[0]):
        row = rows[place]
        total = constants[row, words]
        for pair in range(0, words, 2):
            total += (constants[row, pair] + keys[place, pair]) * (constants[row, pair + 1] + keys[place, pair + 1])
        point = total >> np.uint64(33)
        value = constants[row, words + 3] * point + constants[row, words + 2]
        value = ((value & prime) + (value >> shift)) * point + constants[row, words + 1]
        value = (value & prime) + (value >> shift)
        value = (value & prime) + (value >> shift)
        value = value - prime if value >= prime else value
        out[place] = np.int64((value * span) >> shift)


@compiled
def gather(keys: Any, constants: Any, tables: Any, out: Any) -> None:
    """Add up table entries at the buckets: a block of keys at a time, each loop plain enough to run on vectors."""
    words, prime, shift = keys.shape[1], np.uint64(2147483647), np.uint64(31)
    span, block = np.uint64(tables.shape[1]), 4096
    wide, work = np.empty((words, block), dtype=np.uint64), np.empty(block, dtype=np.uint64)
    for start in range(0, keys.shape[0], block):
        count = min(block, keys.shape[0] - start)
        sums = out[start : start + count]
        for place in range(count):
            for word in range(words):
                wide[word, place] = keys[start + place, word]
        for row in range(constants.shape[0]):
            table = tables[row]
            constant_0, constant_1 = constants[row, words + 1], constants[row, words + 2]
            constant_2 = constants[row, words + 3]
            work[:] = constants[row, words]
            for pair in range(0, words, 2):
                first, second, even, odd = constants[row, pair], constants[row, pair + 1], wide[pair], wide[pair + 1]
                for place in range(count):
                    work[place] += (first + even[place]) * (second + odd[place])
            for place in range(count):
                point = work[place] >> np.uint64(33)
                value = constant_2 * point + constant_1
                value = ((value & prime) + (value >> shift)) * point + constant_0
                value = (value & prime) + (value >> shift)
                value = (value & prime) + (value >> shift)
                value = value - prime if value >= prime else value
                work[place] = (value * span) >> shift
            for place in range(count):
                sums[place] += table[work[place]]


def feistel_by_numpy(numbers: Any, keys: Any, high_bits: int, low_bits: int, back: bool) -> None:
    """Run all rounds in place."""
    factor, half = np.uint64(0xD6E8FEB86659FD93), np.uint64(32)
    width = (np.uint64(high_bits), np.uint64(low_bits))
    parts = [numbers >> width[1], numbers & np.uint64((1 << low_bits) - 1)]
    for step, key in enumerate(keys):
        side = (step + back) % 2
        mixed = parts[1 - side] + key
        for _ in range(2):
            mixed = (mixed ^ (mixed >> half)) * factor
        parts[side] ^= mixed >> (np.uint64(64) - width[side])
    numbers[:] = (parts[0] << width[1]) | parts[1]


@compiled
def feistel(numbers: Any, keys: Any, high_bits: Any, low_bits: Any, back: Any) -> None:
    """Run all rounds in place."""
    factor, half = np.uint64(0xD6E8FEB86659FD93), np.uint64(32)
    to_high, to_low = np.uint64(64 - high_bits), np.uint64(64 - low_bits)
    cut, mask = np.uint64(low_bits), (np.uint64(1) << np.uint64(low_bits)) - np.uint64(1)
    for place in range(numbers.shape[0]):
        high, low = numbers[place] >> cut, numbers[place] & mask
        for step in range(keys.shape[0]):
            turn = (step + back) % 2 == 0
            mixed = (low if turn else high) + keys[step]
            mixed = (mixed ^ (mixed >> half)) * factor
            mixed = (mixed ^ (mixed >> half)) * factor
            if turn:
                high ^= mixed >> to_high
            else:
                low ^= mixed >> to_low
        numbers[place] = (high << cut) | low
