"""The fast Walsh-Hadamard transform: sums over all characters of bit strings, in N log N steps."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError

Floats = NDArray[np.float64]

_BLOCK = 4  # bits at a time: products with 16 x 16 blocks are the fastest form that numpy has
_ROWS = 512  # of a product: linear algebra libraries start no threads for so few, and threads wait for each other
UNIT = 2.0**-53  # the largest relative error of one rounded operation


def walsh_hadamard(values: Floats) -> Floats:
    """Return the sums over a of (-1)^parity(a AND x) values[a] for all x; the length is a power of two.

    A second axis holds several such columns, and every column is transformed.

    Accuracy. Whole numbers whose absolute values add up to at most 2^53 are transformed exactly. Any other sum is off
        by at most `rounding(N)` times the sum of the absolute values.
        Proof: with the index written in groups of 4 bits the matrix is a Kronecker product of blocks of 16 signs (or
        fewer), one a group; the transform multiplies by one block after the other. Signs cost no rounding, so that an
        output is a sum of the inputs with signs in which an input passes at most 15 rounded additions a group, in any
        order and fused or not: its factor is off by at most (1 + u)^(15 g) - 1 for g groups and u = 2^-53. Partial sums
        of whole numbers are whole and at most 2^53: nothing is rounded.
    Cost. 16 N additions a group, at the speed of a matrix product: less than numpy's real Fourier transform of the same
        length takes, on one core.
    Reference. Walsh 1923; Yates 1937, for the fast form; Higham 2002, section 3.1, for rounding.

    >>> walsh_hadamard(np.array([1.0, 2.0])).tolist()
    [3.0, -1.0]
    """
    size = len(values)
    if size == 0 or size & (size - 1):
        raise InputError(f"a Walsh-Hadamard transform takes a power of two values, got {size}")
    done = np.asarray(values, dtype=np.float64).reshape(-1)
    for bits in _groups(size):
        block = _signs(bits)
        slabs = done.reshape(len(block), -1, math.gcd(done.size // len(block), _ROWS))
        # the leading group of bits is summed over and goes to the end: after all groups only the columns lead
        done = (slabs.transpose(1, 2, 0) @ block).reshape(-1)
    return done.reshape(-1, size).T.reshape(values.shape)


def rounding(size: int) -> float:
    """Return how far a transformed sum of `size` values can be off, as a part of the sum of their absolute values."""
    additions = sum((1 << bits) - 1 for bits in _groups(size))
    # (1 + u)^k - 1 <= k u / (1 - k u) <= 1.001 k u
    return 1.001 * additions * UNIT


def _groups(size: int) -> list[int]:
    """Return the number of bits of each group of the index."""
    bits = size.bit_length() - 1
    return [_BLOCK] * (bits // _BLOCK) + ([bits % _BLOCK] if bits % _BLOCK else [])


@cache
def _signs(bits: int) -> Floats:
    """Return the matrix of the signs (-1)^parity(a AND x)."""
    index = np.arange(1 << bits)
    signs: Floats = 1.0 - 2.0 * (np.bitwise_count(index[:, None] & index) & 1)
    return signs
