"""Public numbers from a public seed, the same on any machine: what random maps are made of, and never noise.

Word number i is made of 8 bytes of SHA-256(b"discreet.learning.features/1" + purpose + seed (32 bytes) + b (8 bytes))
with b = floor(i / 4): bytes 8 (i mod 4) to 8 (i mod 4) + 7, all integers little-endian. Its upper 53 bits u give the
number (u + 1/2) / 2^53 between 0 and 1. Only the use of a map rests on these numbers: privacy does not.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError

Floats = NDArray[np.float64]
_LABEL = b"discreet.learning.features/1"


def uniform_numbers(seed: Any, purpose: bytes, count: int) -> Floats:
    """Return public numbers between 0 and 1, spread evenly.

    >>> uniform_numbers(1, b"example", 3).round(3).tolist()
    [0.099, 0.328, 0.488]
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= int(seed) < 1 << 256:
        raise ParameterError(
            "seed must be a public whole number from 0 to 2^256 - 1; got another, write seed=1", parameter="seed"
        )
    start = _LABEL + purpose + int(seed).to_bytes(32, "little")
    blocks = (hashlib.sha256(start + block.to_bytes(8, "little")).digest() for block in range(-(-count // 4)))
    words = np.frombuffer(b"".join(blocks), dtype="<u8")[:count]
    return np.asarray(((words >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53)


def normal_numbers(seed: Any, purpose: bytes, count: int) -> Floats:
    """Return public numbers with the standard normal law: the normal quantiles of even ones."""
    from scipy.special import ndtri

    return np.asarray(ndtri(uniform_numbers(seed, purpose, count)))
