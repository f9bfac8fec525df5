"""Exhibits from the training of networks: one step of noisy descent done right, and the faults of programs that train.

Gradients are whole numbers, clipped to 4, and the noise has four times that deviation: Gaussian privacy of 1/4 a step.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.laws import Pair, RoundedGaussian
from discreet.privacy import ApproxDP
from discreet.testing.museum.budgets import disjoint
from discreet.testing.museum.exhibit import Floats, NumericExhibit, Vector, Vectors, right, wrong
from discreet.testing.museum.laws import Panels, Sandwich

_ABADI = "Abadi et al. 2016"
CLIP, MULTIPLIER = 4, 4
_STEP = ApproxDP(1, 2.92428e-6)  # of N(0, 1) and N(1/4, 1)
_TWO_STEPS = ApproxDP(1, 3.97772e-4)  # of N(0, 1) and N(sqrt(2)/4, 1)


class ClippedStep(NumericExhibit):
    """One step: everybody's gradient is clipped, the sum gets noise, and all else is public."""

    label = right(
        "ClippedStep",
        _STEP,
        "Gradients are clipped one by one, summed, and get integer normal noise of four times the clip: right.",
        _ABADI,
    )
    noise = RoundedGaussian(CLIP * MULTIPLIER)

    def neighbors(self) -> list[Vectors]:
        """Gradients of people, of whom one leaves: a long gradient, one against all others, one beside equal ones."""
        return [
            (np.array([1.0, -2.0, 40.0]), np.array([1.0, -2.0])),
            (np.array([-10.0, 30.0]), np.array([-10.0])),
            (np.array([0.0, 0.0, 0.0, 40.0]), np.array([0.0, 0.0, 0.0])),
        ]

    def total(self, value: Vector) -> int:
        """Return the sum before the noise."""
        return int(np.clip(value, -CLIP, CLIP).sum())

    def runs(self, value: Vector, draws: int) -> NDArray[np.int64]:
        """Draw noisy sums."""
        return self.total(value) + self.noise.draw(draws).astype(np.int64)

    def pair(self, first: Vector, second: Vector) -> Pair:
        """Return the exact pair of one law about two centers."""
        return self.noise.at(self.total(first)).pair(self.noise.at(self.total(second)))


class HalfNoise(ClippedStep):
    """The same step with half the noise that it is priced by."""

    label = wrong(
        "HalfNoise",
        _STEP,
        "The noise has half the deviation of the plan, as where a multiplier is taken for that of twice the clip.",
        _ABADI + "; the fault is a common one",
    )
    noise = RoundedGaussian(CLIP * MULTIPLIER // 2)


class ClippedAfterSum(ClippedStep):
    """The same step, but the sum is clipped and not the gradients in it."""

    label = wrong(
        "ClippedAfterSum",
        _STEP,
        "The sum of a batch is clipped instead of each gradient: one person can turn it from one end to the other.",
        _ABADI + ", on what is clipped; the fault is a common one",
    )

    def total(self, value: Vector) -> int:
        """Return the sum, clipped at last."""
        return int(np.clip(value.sum(), -CLIP, CLIP))


class BatchNormalized(ClippedStep):
    """The same step, but what is clipped was computed with the mean of the batch."""

    label = wrong(
        "BatchNormalized",
        _STEP,
        "A layer subtracts the mean of the batch: one person moves the gradients of all others before the clip.",
        "Ioffe, Szegedy 2015, for the layer; that it mixes people is well known",
    )

    def total(self, value: Vector) -> int:
        """Return the sum of what the layer makes of the batch, clipped one by one."""
        return super().total(value - np.rint(value.mean()))


class NoiseReused(ClippedStep):
    """Two steps with the same noise, as after an interruption that goes on with an old state of its generator."""

    label = wrong(
        "NoiseReused",
        _TWO_STEPS,
        "A training goes on from a checkpoint with noise that it has shown before: the difference of steps is exact.",
        "Dwork, Roth 2014, on composition; the fault is a textbook one",
    )

    def neighbors(self) -> list[Vectors]:
        """Clipped sums of two steps, of which somebody moves the first more than the second."""
        return [(np.array([4.0, 1.0]), np.array([0.0, 0.0]))]

    def runs(self, value: Vector, draws: int) -> NDArray[np.int64]:
        """Draw both noisy sums."""
        return value.astype(np.int64) + self.noise.draw(draws).astype(np.int64)[:, np.newaxis]

    def pair(self, first: Vector, second: Vector) -> Pair:
        """Different differences never meet; with equal ones the second sum adds nothing to the first."""
        if first[1] - first[0] != second[1] - second[0]:
            return disjoint()
        return self.noise.at(int(first[0])).pair(self.noise.at(int(second[0])))


class BatchCounted(NumericExhibit):
    """The mean gradient of a network: its noisy sum divided by the number of rows in the batch.

    Nobody's gradient matters here, all are zero: the noise of a hundred weights has a width, and that width tells how
    many rows it was divided by. Shown is its square sum, which says as much about the number as all weights do.
    """

    label = wrong(
        "BatchCounted",
        _STEP,
        "The noisy sum is divided by the number of rows of the batch: the width of the noise says how many there are.",
        "the fault is a common one; PublicDivisor is right",
    )
    weights = 100

    def neighbors(self) -> list[Vectors]:
        """A batch of four people whose gradients are zero, with and without one of them."""
        return [(np.zeros(4), np.zeros(3))]

    def runs(self, value: Vector, draws: int) -> Floats:
        """Draw sums of squares of the noise, in units of its deviation in the sum."""
        return np.asarray(self.random.chisquare(self.weights, draws) / len(value) ** 2)

    def pair(self, first: Vector, second: Vector) -> Pair:
        """Cut the line into cells, on whose edges the loss is known: it is linear in the sum of squares."""
        counts = [len(value) ** 2 for value in (first, second)]
        # beyond the ends is less than 1e-20 of either law
        edges = np.linspace(self.weights / 20 / max(counts), 5 * self.weights / min(counts), 5001)
        panels = Panels(edges, 4)
        p, q = (panels.integrals(self._density(panels.nodes, count)) for count in counts)
        steepness, most = (counts[0] - counts[1]) / 2, self.weights / 2 * math.log(counts[0] / counts[1])
        loss = most - steepness * edges
        if steepness:  # the outermost cells reach to 0 and to infinity
            loss[0], loss[-1] = most, -steepness * math.inf
        low, high = np.minimum(loss[:-1], loss[1:]), np.maximum(loss[:-1], loss[1:])
        return Sandwich.of_cells(p, q, low, high)

    def _density(self, places: Floats, count: int) -> Floats:
        """Return the density of a chi-square variable over `count`."""
        half = self.weights / 2
        logs = (half - 1) * np.log(places * count / 2) - places * count / 2 - math.lgamma(half)
        return np.asarray(np.exp(logs) * count / 2)
