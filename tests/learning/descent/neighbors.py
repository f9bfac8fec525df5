"""Fits with fixed answers: the transcript of exact sums, which neighbors may move by one row's contribution only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.learning.exact import measurements

HOSTILE = (np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, 1e308, -1e308, 1.0, -1.0, 0.5, 1 + 2**-52, 2.0**-30)


@contextmanager
def frozen(seed: int) -> Iterator[list[NDArray[Any]]]:
    """Answer every release by numbers of a seed, large and small, and note the exact sums."""
    random, sums = np.random.default_rng(seed), []

    def answered(noise: Any, exact: Any) -> Any:
        sums.append(np.array([int(one) for one in np.ravel(exact).tolist()], dtype=object))
        scale = float(noise.noise.scale) * random.choice([0.0, 0.1, 1.0, 30.0])
        return np.rint(random.standard_normal(np.shape(exact)) * scale)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measurements, "noisy", answered)
        yield sums


def exact_sums(model: Any, rows: Any, beside: Any, seed: int) -> list[NDArray[Any]]:
    """Return the exact sums of all releases of a fit whose answers a seed fixes."""
    with frozen(seed) as sums:
        model.fit(rows, beside)
    return sums


def hostile(random: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Draw numbers within and around [-1, 1], some of them as odd as floats can be."""
    drawn = random.uniform(-1.2, 1.2, shape)
    odd = random.random(shape) < random.choice([0.0, 0.05, 0.3])
    return np.where(odd, random.choice(HOSTILE, shape), drawn)


def squared(vector: NDArray[Any]) -> int:
    """Return the squared norm of exact integers."""
    return sum(one * one for one in vector.tolist())
