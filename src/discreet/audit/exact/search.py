"""Search for the neighbors with the largest loss: coordinate ascent on made-up inputs and how they move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.audit.exact.compared import compared
from discreet.errors import DiscreetError
from discreet.laws import Pair
from discreet.mechanisms import AboveThreshold, NoisyMax

Inputs = tuple[Any, Any]
Objective = Callable[[Pair], float]
Vector = NDArray[Any]
_GAIN = 1e-9


@dataclass(frozen=True)
class Varied:
    """What a search may try: the places a coordinate can take, and how far it may move between the neighbors.

    `together` says that all coordinates move the same way, as for monotone queries: then no move is negative.
    """

    places: tuple[float, ...]
    moves: tuple[float, ...]
    together: bool = False


def climb(mechanism: Any, start: Inputs, objective: Objective, *, rounds: int) -> list[Inputs]:
    """Improve a pair of vectors coordinate by coordinate, and return what was found best on the way.

    A coordinate may take a few places and move by -D, 0 or D (0 or D only when monotone, in either direction overall),
    as `varied` says of the mechanism, or a ladder around the first value for discreet's own. Each round walks all
    coordinates once; the search stops early when a round gains nothing.
    """
    varied = _varied(mechanism, start)
    if varied is None:
        return []
    improvements: list[Inputs] = []
    base, move = np.array(start[0]), np.asarray(start[1]) - np.asarray(start[0])
    if varied.together and np.any(move < 0):
        base, move = base + move, -move
    best, _ = _value(mechanism, objective, base, move)
    for _ in range(rounds):
        before = best
        for coordinate in range(base.size):
            for place in (*varied.places, base[coordinate]):
                for shift in varied.moves:
                    trial_base, trial_move = base.copy(), move.copy()
                    trial_base[coordinate], trial_move[coordinate] = place, shift
                    gained, candidate = _value(mechanism, objective, trial_base, trial_move)
                    if gained > best:
                        best, base, move = gained, trial_base, trial_move
                        improvements.append(candidate)
        if best <= before + _GAIN * abs(before):
            break
    return improvements


def _value(mechanism: Any, objective: Objective, base: Vector, move: Vector) -> tuple[float, Inputs]:
    """Return the larger loss of the two directions, and the inputs in that order."""
    inputs = (base, base + move)
    try:
        pair = compared(mechanism, *inputs)
    except DiscreetError:
        return -np.inf, inputs
    forward, backward = objective(pair), objective(pair.reversed())
    return (forward, inputs) if forward >= backward else (backward, inputs[::-1])


def _varied(mechanism: Any, start: Inputs) -> Varied | None:
    """Return what may vary, or None where a search would not know."""
    if not isinstance(start[0], np.ndarray):
        return None
    if not isinstance(mechanism, NoisyMax | AboveThreshold):
        told: Varied | None = getattr(mechanism, "varied", None)
        return told
    step = round(float(np.max(np.abs(np.asarray(start[1]) - np.asarray(start[0])))))
    scale = mechanism.noise.scale if isinstance(mechanism, NoisyMax) else mechanism.query_noise.scale
    ladder = np.unique(np.round(float(scale) * np.array([-10, -5, -2, -1, -0.25, 0, 0.25, 1, 2, 5, 10])).astype(int))
    apart = np.asarray(start[1]) - np.asarray(start[0])
    # a pair that moves both ways shows that the scores are not monotone, whatever was stated
    together = mechanism.monotone and not (np.any(apart < 0) and np.any(apart > 0))
    # a monotone pair may be turned round by the search, which then starts from the other vector
    anchor = int(start[1 if together and np.any(apart < 0) else 0][0])
    moves = (0, step) if together else (-step, 0, step)
    return Varied(tuple((anchor + ladder).tolist()), moves, together)
