"""The museum's noise: fast draws on a grid, so that no last bit tells. They are for show, not for protection."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator, default_rng  # noqa: TID251  a museum shows noise, it protects nobody
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_GRID = 2.0**-24  # added to a multiple of it, the noise leaves no trace of the input in the last bits


def seeded(seed: int | None) -> Generator:
    """Return a generator, seeded by the operating system where no seed is given."""
    return default_rng(seed)


def laplace(random: Generator, scale: float, shape: tuple[int, ...]) -> Floats:
    """Draw Laplace noise as an exponential with a fair sign."""
    noise = random.standard_exponential(shape)
    noise *= scale / _GRID
    np.rint(noise, out=noise)
    noise *= _GRID
    flips = np.unpackbits(np.frombuffer(random.bytes(-(-noise.size // 8)), dtype=np.uint8), count=noise.size)
    np.negative(noise, out=noise, where=flips.view(np.bool_).reshape(shape))
    return noise


def exponential(random: Generator, scale: float, shape: tuple[int, ...]) -> Floats:
    """Draw exponential noise."""
    return np.rint(random.standard_exponential(shape) * (scale / _GRID)) * _GRID


def uniform(random: Generator, width: float, draws: int) -> Floats:
    """Draw uniform noise about zero."""
    return np.rint((random.random(draws) - 0.5) * (width / _GRID)) * _GRID
