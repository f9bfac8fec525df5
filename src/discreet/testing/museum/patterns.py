"""Neighbouring answers of several queries: the patterns on which counterexamples are usually found.

Reference. Ding, Wang, Wang, Zhang, Kifer 2018, table 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Vectors = tuple[Vector, Vector]


def one_differs(length: int) -> list[Vectors]:
    """Return the patterns in which one answer moves by one: below and above the others."""
    base = np.ones(length)
    below, above = base.copy(), base.copy()
    below[0], above[0] = 0.0, 2.0
    return [(base, below), (base, above)]


def all_differ(length: int) -> list[Vectors]:
    """Return all eight patterns, in which every answer may move by one in its own direction."""
    base = np.ones(length)
    half = length // 2
    one_up, one_down = np.zeros(length), np.full(length, 2.0)
    one_up[0], one_down[0] = 2.0, 0.0
    first_half = np.where(np.arange(length) < half, 1.0, 0.0)
    others = [one_up, one_down, 2 * first_half, np.full(length, 2.0), np.zeros(length)]
    return [*one_differs(length), *((base, other) for other in others), (first_half, 1.0 - first_half)]
