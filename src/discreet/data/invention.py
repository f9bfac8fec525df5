"""Coins for what is invented: people, an attacker's own choices, the noise of toys; never for protection."""

from __future__ import annotations

import numpy as np

from discreet.errors import ParameterError

Coins = np.random.Generator


def coins(*seed: int) -> Coins:
    """Return numpy's generator for a seed, or for several numbers that make one together.

    >>> int(coins(7).integers(0, 100)) == int(coins(7).integers(0, 100))
    True
    """
    if not all(isinstance(one, int | np.integer) and one >= 0 for one in seed):
        raise ParameterError("seed must be a whole number from 0 on; got another, write seed=1", parameter="seed")
    return np.random.default_rng(seed[0] if len(seed) == 1 else list(seed))
