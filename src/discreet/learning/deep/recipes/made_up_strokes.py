"""Made-up images of strokes: curves drawn by a pen from public numbers, which tell a map what images look like."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.learning.features import uniform_numbers

Floats = NDArray[np.float64]
_FINE = 4  # points of a pixel in each direction, at least
_MOST_CURVES, _POINTS = 3, 24
_NUMBERS = 2 + 6 * _MOST_CURVES


def strokes(count: int, side: int, seed: int) -> Floats:
    """Return images from 0 (paper) to 1 (ink): one to three curves each, drawn by a soft pen of some width.

    >>> made = strokes(3, 8, seed=1)
    >>> made.shape, float(made.min()) >= 0, float(made.max()) <= 1
    ((3, 8, 8), True, True)
    """
    numbers = uniform_numbers(seed, b"strokes", count * _NUMBERS).reshape(count, _NUMBERS)
    return np.stack([_drawn(one, side) for one in numbers])


def _drawn(numbers: Floats, side: int) -> Floats:
    """Return one image."""
    curves = 1 + int(numbers[0] * _MOST_CURVES)
    width = 0.03 + 0.03 * numbers[1]
    corners = 0.15 + 0.7 * numbers[2 : 2 + 6 * curves].reshape(curves, 3, 1, 2)
    along = np.linspace(0, 1, _POINTS)[:, np.newaxis]
    points = (1 - along) ** 2 * corners[:, 0] + 2 * along * (1 - along) * corners[:, 1] + along**2 * corners[:, 2]
    fine = _FINE if side < 16 else 1
    places = (np.arange(side * fine) + 0.5) / (side * fine)
    down = (points[:, :, 1].reshape(-1, 1) - places) ** 2
    across = (points[:, :, 0].reshape(-1, 1) - places) ** 2
    distance = np.sqrt((down[:, :, np.newaxis] + across[:, np.newaxis, :]).min(axis=0))
    ink = np.clip(1.5 - distance / width, 0, 1)
    return np.asarray(ink.reshape(side, fine, side, fine).mean(axis=(1, 3)))
