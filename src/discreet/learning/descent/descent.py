"""Noisy gradient descent over all rows: exact sums of clipped gradients, with noise, and a mean of later weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.learning.base import Public
from discreet.learning.exact import STEPS, BinnedRows, Chunks, Errors, Measurements, clipped_errors, exact_sum, on_grid

Floats = NDArray[np.float64]
_MOST_WEIGHTS = 1 << 24
_MOST_DRAWS = 1 << 30
_ONE = STEPS**4  # the squared norm of what one row adds, at most


@dataclass(frozen=True, slots=True)
class Descent:
    """The public plan of a descent: how many steps, how long, and where gradients are clipped."""

    steps: int
    rate: float
    clip: float
    share: Fraction  # of the price, for all steps together
    momentum: float = 0.9

    def noise(self, public: Public, measurements: Measurements) -> float:
        """Return the standard deviation of the noise in one coordinate of the mean gradient."""
        deviation = measurements.deviation(self.each, squared=self.squared(public))
        return deviation * self.clip / STEPS**2 / public.neighbors.people

    def noises(self, public: Public, measurements: Measurements) -> dict[str, float]:
        """Return the noise of the mean gradient, and of the mean error in the unit of a target that is a number."""
        noise = self.noise(public, measurements)
        if public.target is None:
            return {"mean gradient": noise}
        low, high = public.target
        return {"mean gradient": noise, "mean error of a step, in the target's unit": noise * (high / 2 - low / 2)}

    def told(self, outputs: int, coordinates: int) -> dict[str, Any]:
        """Return the plan by name, as it is shown to people; raise an error where it is too large."""
        weights = outputs * coordinates
        if weights > _MOST_WEIGHTS or self.steps * weights > _MOST_DRAWS:
            raise ParameterError(
                f"the model must have at most {_MOST_WEIGHTS:,} weights, and at most {_MOST_DRAWS:,} in all steps "
                f"together; got {outputs:,} times {coordinates:,} weights in {self.steps} steps, write fewer classes, "
                "features or bins"
            )
        return {"steps": self.steps, "rate": self.rate, "momentum": self.momentum, "gradients clipped to": self.clip}

    @property
    def each(self) -> Fraction:
        """The share of one step."""
        return self.share / self.steps

    def squared(self, public: Public) -> int:
        """The squared distance of the sums of gradients on neighbors."""
        return public.neighbors.squared(_ONE)


def descend(
    plan: Descent,
    public: Public,
    rows: Chunks | BinnedRows,
    errors: Errors,
    measurements: Measurements,
    shape: tuple[int, int],
) -> Floats:
    """Return weights, a line an output, from rows whose vectors are at most 1 long.

    Privacy. Every step releases the sum over rows of e z', |e| <= clip and |z| <= 1, with Gaussian noise for one row's
        distance, at weights that were released before: mu of all steps together is the root of the share of mu^2.
        Proof: `clipped_errors` and the vectors are whole and at most 2^19 long, so one row adds an integer matrix of
        norm at most 2^38, whatever other rows are there; `Measurements` does the rest. What is done with the noisy sum
        is post-processing.
    """
    weights, velocity, mean = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    first = plan.steps // 2

    def clipped(scores: Floats, beside: NDArray[Any]) -> Floats:
        return clipped_errors(scores, beside, errors, plan.clip)

    for step in range(plan.steps):
        total = exact_sum(rows.gradients(on_grid(weights), clipped), shape, rows.rows)
        noisy = measurements.release(total, share=plan.each, squared=plan.squared(public))
        velocity = plan.momentum * velocity + noisy * (plan.clip / STEPS**2 / public.neighbors.people)
        weights = weights - plan.rate * velocity
        if step >= first:
            mean += weights
    return np.asarray(mean / (plan.steps - first))


def signal_of(public: Public, weights: int) -> float:
    """Return people times mu over the root of the number of weights: how far the rows are above the noise.

    Under change-one, and for persons with several rows, mu counts for as much less as neighbors are further apart.
    """
    distance = math.sqrt(public.neighbors.squared(1))
    return public.neighbors.people * float(public.price.mu or 0) / distance / math.sqrt(weights)


def descent_of_squares(signal: float) -> Descent:
    """Return the plan of a descent on squared errors, by the signal alone.

    Vectors are at most 1 long, so the curvature is at most 1 and steps below 2 (1 + momentum) do not swing up.
    """
    steps = round(min(max(0.5 * signal, 3), 100))
    rate = min(max(0.12 * signal, 0.7), 3.0)
    return Descent(steps, rate, 0.3, Fraction(1), momentum=0.7 if steps < 20 else 0.85)
