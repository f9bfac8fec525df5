"""How the benchmarks measure: CPU time in turns, and the rank correlation of noise with time. It needs numpy alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROUNDS = 5


def cpu_seconds(action: Callable[[], object], calls: int = 1) -> float:
    """Return the CPU time of one call, averaged over `calls` in a row."""
    start = time.process_time()
    for _ in range(calls):
        action()
    return (time.process_time() - start) / calls


def in_turns(
    sides: Mapping[str, Callable[[], float]],
    rounds: int = ROUNDS,
    summary: Callable[[list[float]], float] = min,
) -> dict[str, float]:
    """Return the best time of each side, or another summary; sides take turns, so that a busy machine slows all."""
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            taken[name].append(side())
    return {name: summary(times) for name, times in taken.items()}


def noise_against_time(release: Callable[[], Any], center: float, calls: int) -> float:
    """Return the Spearman correlation of the size of the noise with the wall time of the call that made it.

    For an array answer the size is the sum over its coordinates.
    """
    clock = time.perf_counter_ns
    sizes, times = np.empty(calls), np.empty(calls)
    for call in range(calls):
        start = clock()
        answer = release()
        end = clock()
        sizes[call] = np.abs(np.asarray(answer, dtype=np.float64) - center).sum()
        times[call] = end - start
    return spearman(sizes, times)


def spearman(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return the rank correlation; equal values share the mean of their ranks."""
    one, two = _ranks(first), _ranks(second)
    one -= one.mean()
    two -= two.mean()
    return float(one @ two / np.sqrt((one @ one) * (two @ two)))


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ranks from 1, the mean of them for equal values."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    middle: NDArray[np.float64] = np.cumsum(count) - (count - 1) / 2
    return middle[place]
