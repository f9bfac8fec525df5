"""Public directions that everybody can compute: number r stands for one point of the sphere, the same on any machine.

The key is SHA-256(b"discreet.local.vectors.directions/1" + seed (32 bytes)), read as little-endian 64-bit words, of which K0 and
K1 are the first two. With mix(z) the finaliser of splitmix64 (see `_mix`), G = 0x9E3779B97F4A7C15 and all sums modulo
2^64, word b = 0, 1, ... of direction r is mix(mix(r G + K0) + (b + 1) G + K1). Each word gives four numbers of 16 bits,
the lowest first; number a stands for the integer nearest to 2^16 times the normal quantile of (a + 1/2) / 2^16. The
direction is that vector of integers over its length, in units of 2^-24, rounded to the nearest (even) integers. Only
integers, divisions and square roots are used, which IEEE arithmetic rounds in one way; no quantile is nearer than 2^-20
to a tie.
Only accuracy rests on these directions: privacy does not.
"""

from __future__ import annotations

import hashlib
from functools import cache

import numpy as np
from numpy.typing import NDArray

from discreet.local.protocol.inputs import Integers

UNIT_BITS = 24
_LABEL = b"discreet.local.vectors.directions/1"
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_TABLE_BITS = 16


class Codebook:
    """Directions of a dimension by number, under a public seed.

    >>> rows = Codebook(seed=0, dimension=3).directions(np.arange(2))
    >>> rows.shape, bool(np.all(abs((rows / 2**24) ** 2 @ np.ones(3) - 1) < 1e-6))
    ((2, 3), True)
    """

    def __init__(self, *, seed: int, dimension: int) -> None:
        """Derive the key."""
        self.dimension = dimension
        key = np.frombuffer(hashlib.sha256(_LABEL + seed.to_bytes(32, "little")).digest(), dtype="<u8")
        self._key = key.astype(np.uint64)

    def vectors(self, numbers: Integers) -> NDArray[np.int32]:
        """Return the integer vectors before they are brought to length 1: nearly normal coordinates times 2^16."""
        blocks = np.arange(1, -(-self.dimension // 4) + 1, dtype=np.uint64)
        with np.errstate(over="ignore"):
            starts = _mix(numbers.astype(np.uint64) * _GOLDEN + self._key[0])
            drawn = _mix(starts[:, None] + (blocks * _GOLDEN + self._key[1])[None, :])
        places = drawn.astype("<u8").view("<u2")[:, : self.dimension]
        return np.asarray(_quantiles()[places])

    def directions(self, numbers: Integers) -> Integers:
        """Return unit vectors in units of 2^-24."""
        vectors = self.vectors(numbers).astype(np.int64)
        lengths = np.sqrt((vectors * vectors).sum(axis=1).astype(np.float64))
        return np.asarray(np.rint(vectors / lengths[:, None] * float(1 << UNIT_BITS)).astype(np.int64))


def _mix(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the finaliser of splitmix64 (Steele, Lea, Flood 2014): a one-to-one map that spreads every bit."""
    mixed = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


@cache
def _quantiles() -> NDArray[np.int32]:
    """Return the table of normal quantiles; it holds no zero, so that no vector has length 0."""
    from scipy.special import ndtri

    size = 1 << _TABLE_BITS
    upper = np.rint(ndtri((np.arange(size // 2, size) + 0.5) / size) * float(1 << 16)).astype(np.int32)
    return np.concatenate([-upper[::-1], upper])
