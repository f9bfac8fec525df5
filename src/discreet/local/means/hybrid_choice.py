"""Which grid, window and branch weight make the largest variance of the hybrid mean smallest: a public rule."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

WEIGHTS = 128
GRIDS = (1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024)
_ENOUGH = 1.002
_ONE_BIT = 0.61


@dataclass(frozen=True)
class HybridChoice:
    """A grid, a window, the probability of the piecewise branch, and the largest variance in half-widths squared."""

    steps: int
    window: int
    weight: Fraction
    worst: float


def choose_hybrid(epsilon: Fraction, steps: int | None = None) -> HybridChoice:
    """Return the best choice on a grid; without one, on the coarsest grid within 0.2 % of the best of all.

    That grid must also be no worse than the continuous hybrid, if any is. The search runs in floats over a few thousand
    candidates; the variance that a spec states is exact for what was chosen. One step is the one-bit mean, and a weight
    of 1 the piecewise law alone, so that neither is ever better.

    >>> choose_hybrid(Fraction(1, 2)).steps, choose_hybrid(Fraction(2), 64).window
    (1, 35)
    """
    found = [_best_on_grid(float(epsilon), grid) for grid in ([steps] if steps is not None else GRIDS)]
    best = min(choice.worst for choice in found)
    enough = max(best, min(best * _ENOUGH, continuous_hybrid(float(epsilon))))
    return next(choice for choice in found if choice.worst <= enough)


def continuous_hybrid(epsilon: float) -> float:
    """Return the largest variance of the hybrid of Wang et al., in half-widths squared, in floats: to choose by.

    Its piecewise law has a continuous output and the weight 1 - e^(-epsilon/2); below 0.61 it is the one bit.
    """
    root, bit = math.exp(epsilon / 2), 1 / math.tanh(epsilon / 2) ** 2
    if epsilon <= _ONE_BIT:
        return bit
    return (1 - 1 / root) * 4 * root / (3 * (root - 1) ** 2) + (bit - 1) / root


def _best_on_grid(epsilon: float, steps: int) -> HybridChoice:
    """Search all windows no wider than the grid and all weights j / 128."""
    if steps == 1:
        return HybridChoice(1, 1, Fraction(1), 1 / math.tanh(epsilon / 2) ** 2)
    windows = np.arange(1, steps + 1, dtype=np.float64)[:, None]
    weights = np.arange(1, WEIGHTS + 1)[None, :] / WEIGHTS
    worst = largest_variance(epsilon, steps, windows, weights)
    place, column = divmod(int(np.argmin(worst)), WEIGHTS)
    return HybridChoice(steps, place + 1, Fraction(column + 1, WEIGHTS), float(worst[place, column]))


def largest_variance(
    epsilon: float, steps: int, windows: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the largest variance over all values, in half-widths squared, in floats; see `ScalarMean` for the cells.

    Positions are counted from the middle of the grid, where the second moment of a decoded report at u is u^2 / s + c.
    """
    preference = 1 / (1 + math.exp(-epsilon) * steps / windows)
    slope = preference - (1 - preference) * windows / steps
    spread, outputs = (windows**2 - 1) / 12, windows + steps
    everything = outputs * (outputs**2 - 1) / 12
    constant = (preference * spread + (1 - preference) * (everything - windows * spread) / steps) / slope**2
    bit = (steps / 2 / math.tanh(epsilon / 2)) ** 2

    def moment(place: float) -> NDArray[np.float64]:
        return np.asarray(weights * (place**2 / slope + constant) + (1 - weights) * bit)

    found = []
    for cell in {0, (steps - 1) // 2}:
        start = cell - steps / 2
        low, high = moment(start), moment(start + 1)
        best = np.clip((high - low) / 2, start, start + 1)
        found.append(low + (high - low) * (best - start) - best**2)
    return np.asarray(np.max(found, axis=0) / (steps / 2) ** 2)
