"""Coins for what is invented: people, an attacker's own choices, the noise of toys; never for protection."""

from __future__ import annotations

import numpy as np

Coins = np.random.Generator


def coins(*seed: int) -> Coins:
    """Return numpy's generator for a seed, or for several numbers that make one together.

    >>> int(coins(7).integers(0, 100)) == int(coins(7).integers(0, 100))
    True
    """
    return np.random.default_rng(seed[0] if len(seed) == 1 else list(seed))
