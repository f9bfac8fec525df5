"""Scores and stream values in steps of a public grid: what report noisy max and AboveThreshold share."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ConflictingParameters, InputError
from discreet.laws.number import Number
from discreet.laws.samplers import as_scores
from discreet.mechanisms.domain import grid_steps, integer_steps
from discreet.mechanisms.noise import check_grid, floor_log2, power_of_two, two_to
from discreet.privacy import Sensitivity

_STEPS_PER_SCALE_BITS = 20
_SMALL = 1 << 61


class SelectionGrid:
    """Rounds single values to a grid and says what the sensitivity is after rounding: grid * ceil(D / grid)."""

    def __init__(self, sensitivity: Sensitivity, grid: Number | None, approximate_scale: Fraction) -> None:
        given = power_of_two(grid)
        self.integer = sensitivity.is_integer
        if self.integer and given not in (None, Fraction(1)):
            raise ConflictingParameters(
                "an integer sensitivity means integer values on grid 1; for a finer grid give the "
                "sensitivity as a float",
                parameter="grid",
            )
        self.step = (
            Fraction(1) if self.integer else given or two_to(floor_log2(approximate_scale) - _STEPS_PER_SCALE_BITS)
        )
        check_grid(self.step)
        self.sensitivity = Fraction(math.ceil(sensitivity.exact / self.step))

    def steps(self, value: object) -> int:
        """Return one value in grid steps."""
        steps = integer_steps(value) if self.integer else grid_steps(value, self.step)
        if not isinstance(steps, int):
            raise InputError("the value must be a single number")
        return steps

    def array(self, values: Any) -> NDArray[Any]:
        """Return a one-dimensional array of values in grid steps."""
        scores = as_scores(values)
        steps = integer_steps(scores) if self.integer else grid_steps(scores, self.step)
        if isinstance(steps, int):
            raise AssertionError("scores must be an array")
        if steps.dtype == object and max(abs(int(step)) for step in steps) < _SMALL:
            return steps.astype(np.int64)
        return steps

    def in_units(self, steps: Iterable[int]) -> NDArray[Any] | list[Fraction]:
        """Return grid steps in the unit of the values: an array of integers on grid 1, else a list of Fractions."""
        whole = [int(step) for step in steps]
        if not self.integer:
            return [step * self.step for step in whole]
        return np.array(whole, dtype=np.int64 if max(map(abs, whole)) < _SMALL else object)


def is_large(steps: NDArray[Any]) -> bool:
    """Say whether int64 sums and differences of steps could leave their range and hide which one is larger."""
    return bool(steps.dtype == object or steps.max() >= _SMALL or steps.min() <= -_SMALL)
