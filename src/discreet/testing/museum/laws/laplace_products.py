"""The loss of several independent Laplace answers, all moved equally far: a convolution on a lattice of losses.

One answer moved by e scales loses e with mass 1/2 under P, -e with mass e^-e / 2, and in between it has density
e^((l - e) / 2) / 4. Under the tilted measure, e^(-l / 2) times P, that is two equal atoms and a flat piece. Cut the
flat piece into equal cells: each cell's loss, ln P / Q of its masses, is exactly its middle, so that the coarser pair
lives on the middles and the finer one on the ends of the cells. Sums of such losses stay on the lattice of half cells,
and convolution of positive numbers loses nothing: no grid is refined and no loss is rounded.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from discreet.testing.museum.laws.sandwich import PairAtoms, Sandwich

Floats = NDArray[np.float64]


@cache
def laplace_product(moved: float, count: int, cells: int = 256) -> Sandwich:
    """Return the pair of `count` independent Laplace answers, each moved by `moved` scales."""
    if count == 0 or moved == 0.0:
        return Sandwich.of_atoms(np.ones(1), np.ones(1))
    step = moved / cells  # half a cell
    weight = 0.25 * math.exp(-moved / 2)
    outer, inner = np.zeros(2 * cells + 1), np.zeros(2 * cells + 1)
    for masses in (outer, inner):
        masses[[0, -1]] = 2 * weight
    # the flat piece of one cell: all in its middle, or at its ends, with the masses under P and under Q kept
    inner[1::2] = weight * 4 * math.sinh(step / 2)
    ends = weight * 4 * math.sinh(step / 2) / (2 * math.cosh(step / 2))
    outer[0:-1:2] += ends
    outer[2::2] += ends
    losses: Floats = step * np.arange(-cells * count, cells * count + 1, dtype=np.float64)
    top = moved * count
    return Sandwich(_atoms(_power(inner, count), losses), _atoms(_power(outer, count), losses), top, -top)


def _power(masses: Floats, count: int) -> Floats:
    """Convolve a measure with itself."""
    result: Floats = np.ones(1)
    while count:
        if count & 1:
            result = np.convolve(result, masses)
        count >>= 1
        if count:
            masses = np.convolve(masses, masses)
    return result


def _atoms(tilted: Floats, losses: Floats) -> PairAtoms:
    """Return the masses of P and Q from those of the measure half way between."""
    seen = tilted > 0
    half = np.exp(losses[seen] / 2)
    return PairAtoms(tilted[seen] * half, tilted[seen] / half)
