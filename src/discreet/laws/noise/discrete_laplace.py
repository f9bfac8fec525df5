"""The discrete Laplace law: two geometric tails back to back."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.laws.law import as_floats, offsets
from discreet.laws.noise.noise import IntegerNoise
from discreet.laws.samplers import LaplaceSampler
from discreet.randomness.rigour import Ball, ball


class DiscreteLaplace(IntegerNoise):
    """P(X = x) = (1 - q) / (1 + q) q^|x - center| on the integers, with q = exp(-1 / scale).

    | property | value |
    |---|---|
    | support | all integers |
    | P(|X - center| >= k) | 2 q^k / (1 + q), k >= 1 |
    | variance | 2 q / (1 - q)^2 |
    | loss of a shift d | at most d / scale, attained on a half-line |

    Cost. One 64-bit word and one logarithm a draw up to scale 2^20, two words beyond.
    Reference. Inusah, Kozubowski 2006; Ghosh, Roughgarden, Sundararajan 2009.

    >>> law = DiscreteLaplace(1)
    >>> round(float(law.pmf(0)), 6), round(float(law.sf(2)), 6)
    (0.462117, 0.036397)
    >>> law.half_width(0.95)
    3
    """

    def _make_drawer(self) -> Callable[[int], NDArray[Any]]:
        """Prepare the exact inversion sampler."""
        return LaplaceSampler(self.scale).draw

    @property
    def variance(self) -> float:
        """2 q / (1 - q)^2, written to stay accurate for wide scales."""
        if self.scale < Fraction(1, 700):
            return 0.0  # below e^-700
        half_sinh = math.sinh(float(1 / (2 * self.scale)))
        return 0.5 / half_sinh / half_sinh

    def pmf(self, outcome: ArrayLike) -> Any:
        """Return P(X = outcome)."""
        distance = np.abs(as_floats(offsets(outcome, self.center)))
        rate = float(1 / self.scale)
        return np.tanh(rate / 2.0) * np.exp(-distance * rate)

    def _tail(self, start: NDArray[Any]) -> Any:
        """P(noise >= t) = q^t / (1 + q) for t >= 1, and one minus its mirror otherwise."""
        rate = float(1 / self.scale)
        place = as_floats(np.asarray(start))
        right = np.exp(-np.maximum(place, 1.0) * rate) / (1.0 + math.exp(-rate))
        left = 1.0 - np.exp(-np.maximum(1.0 - place, 1.0) * rate) / (1.0 + math.exp(-rate))
        return np.where(place >= 1.0, right, left)[()]

    def _near(self, tail: float) -> int:
        """Solve q^k / (1 + q) = tail, by symmetry for tails above 1/2."""
        small = min(max(min(tail, 1.0 - tail), 1e-300), 0.25)
        reach = int(Fraction(-math.log(small * (1.0 + math.exp(-1 / float(self.scale))))) * self.scale)
        return reach if tail < 0.5 else -reach

    def tail_ball(self, start: int) -> Ball:
        """Enclose P(noise >= start)."""
        ratio = (-1 / ball(self.scale)).exp()
        beyond = max(start, 1 - start)
        side = (-ball(Fraction(beyond) / self.scale)).exp() / (1 + ratio)
        return side if start >= 1 else 1 - side

    def mass_ball(self, outcome: int) -> Ball:
        """Enclose P(noise = outcome)."""
        return (1 / (2 * ball(self.scale))).tanh() * (-ball(Fraction(abs(outcome)) / self.scale)).exp()

    def first_above(self, shift: int, epsilon: Fraction) -> int | None:
        """The loss is (|y| - |y - shift|) / scale: flat up to 0, then rising by 2 a step up to shift, then flat."""
        if epsilon * self.scale >= shift:
            return None
        return math.floor((epsilon * self.scale + shift) / 2) + 1

    def largest_loss(self, shift: int) -> Fraction:
        """Shift over scale."""
        return Fraction(shift) / self.scale
