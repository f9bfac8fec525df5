"""Releases that follow a script: every mechanism answers what was written down, and what it was told is noted.

With one script two neighboring tables give one transcript, so that the price of each step can be read off exactly:
from what the step was told about both tables, and from the noise that it would have added.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from discreet.laws.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms import Exponential
from discreet.statistics.pricing.noisy_vector import NoisyVector
from discreet.synthesis import Records, Synthesizer, SyntheticRelease


class Step(NamedTuple):
    """One call of a mechanism, and what it was told."""

    mechanism: NoisyVector | Exponential
    told: NDArray[Any]


@contextmanager
def scripted(seed: int) -> Iterator[list[Step]]:
    """Let all noise and all choices follow a script; yield the list that steps are noted in."""
    random, steps = np.random.default_rng(seed), list[Step]()

    def noisy(mechanism: NoisyVector, value: Any) -> Any:
        steps.append(Step(mechanism, np.array(value, dtype=np.int64)))
        answer = random.integers(-3, 30, np.shape(value))
        return answer if np.shape(value) else int(answer)

    def chosen(mechanism: Exponential, value: Any) -> int:
        steps.append(Step(mechanism, np.array(value, dtype=np.int64)))
        return int(random.integers(len(value)))

    def words(count: int) -> NDArray[np.uint64]:
        return random.integers(0, 2**64, count, dtype=np.uint64)

    with ExitStack() as stack:
        stack.enter_context(patch.object(NoisyVector, "__call__", noisy))
        stack.enter_context(patch.object(Exponential, "__call__", chosen))
        stack.enter_context(patch("discreet.synthesis.methods.forest.forest.words", words))
        yield steps


def released(method: Synthesizer, records: Records, seed: int) -> tuple[SyntheticRelease, list[Step]]:
    """Release by a script."""
    with scripted(seed) as steps:
        return method(records), steps


def loss(here: list[Step], there: list[Step], *, pure: bool) -> float:
    """Return what one transcript costs two tables: epsilon, or rho, added up over its steps."""
    assert [repr(step.mechanism) for step in here] == [repr(step.mechanism) for step in there]
    return sum(_loss(one, other, pure=pure) for one, other in zip(here, there, strict=True))


def _loss(one: Step, other: Step, *, pure: bool) -> float:
    """Return the cost of a step: distances against the scale of the noise, or the range of a choice's losses."""
    assert one.told.shape == other.told.shape
    moved = one.told - other.told
    if isinstance(one.mechanism, Exponential):
        ranged = float(np.ptp(moved)) * float(one.mechanism.slope)
        return ranged if pure else ranged**2 / 8
    noise = one.mechanism.noise
    assert isinstance(noise, DiscreteLaplace) == pure
    scale = float(noise.scale)
    return float(np.abs(moved).sum()) / scale if pure else float((moved**2).sum()) / (2 * scale**2)
