"""Search for the neighbours with the largest loss: coordinate ascent on made-up inputs and how they move."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.laws.pair import Pair
from discreet.mechanisms.above_threshold import AboveThreshold
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.noisy_max import NoisyMax

Inputs = tuple[Any, Any]
Objective = Callable[[Pair], float]


def climb(mechanism: Mechanism, start: Inputs, objective: Objective, *, rounds: int) -> list[Inputs]:
    """Improve a pair of integer vectors coordinate by coordinate, and return what was found best on the way.

    A coordinate may take a few places around the threshold's scale and move by -D, 0 or D (0 or D only when monotone,
    in either direction overall). Each round walks all coordinates once; the search stops early when a round gains
    nothing.
    """
    if not isinstance(mechanism, NoisyMax | AboveThreshold) or not isinstance(start[0], np.ndarray):
        return []
    step = round(float(np.max(np.abs(np.asarray(start[1]) - np.asarray(start[0])))))
    scale = mechanism.noise.scale if isinstance(mechanism, NoisyMax) else mechanism.query_noise.scale
    places = np.unique(
        np.round(float(scale) * np.array([-10, -5, -2, -1, -0.25, 0, 0.25, 1, 2, 5, 10])).astype(np.int64)
    )
    moves = (0, step) if mechanism.monotone else (-step, 0, step)
    improvements: list[Inputs] = []

    def value(base: NDArray[np.int64], move: NDArray[np.int64]) -> tuple[float, Inputs]:
        inputs = (base, base + move)
        try:
            pair = mechanism.law(inputs[0]).pair(mechanism.law(inputs[1]))
        except DiscreetError:
            return -np.inf, inputs
        forward, backward = objective(pair), objective(pair.reversed())
        return (forward, inputs) if forward >= backward else (backward, inputs[::-1])

    base, move = np.array(start[0], dtype=np.int64), np.asarray(start[1]) - np.asarray(start[0])
    if mechanism.monotone and np.any(move < 0):
        base, move = base + move, -move
    anchor = int(base[0])
    best, _ = value(base, move)
    for _ in range(rounds):
        before = best
        for coordinate in range(base.size):
            for place in (*(anchor + places), int(base[coordinate])):
                for shift in moves:
                    trial_base, trial_move = base.copy(), move.copy()
                    trial_base[coordinate], trial_move[coordinate] = place, shift
                    gained, candidate = value(trial_base, trial_move)
                    if gained > best:
                        best, base, move = gained, trial_base, trial_move
                        improvements.append(candidate)
        if best <= before:
            break
    return improvements
