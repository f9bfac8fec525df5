"""Exhibits with Gaussian noise: integers priced as if they were reals, and shuffled batches priced as if sampled."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.laws import DiscreteGaussian, Pair
from discreet.privacy import ApproxDP
from discreet.testing.museum.exhibit import NumericExhibit, Vector, Vectors, right, wrong
from discreet.testing.museum.laws import Floats, Panels, Sandwich

_CANONNE = "Canonne, Kamath, Steinke 2020"


class IntegerGaussian(NumericExhibit):
    """Integer Gaussian noise with the delta of its own law."""

    label = right(
        "IntegerGaussian",
        ApproxDP(Fraction(1, 2), 6.9345e-9),
        "Integer Gaussian noise of parameter 10, with the delta that its own law has at epsilon 1/2: right.",
        _CANONNE,
    )
    noise = DiscreteGaussian(10)

    def neighbors(self) -> list[Vectors]:
        """A count and the one beside it."""
        return [(np.zeros(1), np.ones(1))]

    def runs(self, value: Vector, draws: int) -> NDArray[np.int64]:
        """Draw noisy counts."""
        return int(value[0]) + self.noise.draw(draws).astype(np.int64)

    def pair(self, first: Vector, second: Vector) -> Pair:
        """Return the exact pair of one law about two centers."""
        return self.noise.at(int(first[0])).pair(self.noise.at(int(second[0])))


class IntegerGaussianByTheContinuousFormula(IntegerGaussian):
    """Integer Gaussian noise with the delta of the continuous law."""

    label = wrong(
        "ContinuousFormula",
        ApproxDP(Fraction(1, 2), 6.857e-9),
        "Integer Gaussian noise of parameter 10 with the continuous law's delta at epsilon 1/2: 1.1 % too small.",
        _CANONNE + "; continuous formula: Balle, Wang 2018",
    )


class ShuffledBatches(NumericExhibit):
    """The largest of a hundred noisy batch sums; every person is in exactly one batch.

    Everybody else contributes -1 to a batch whose size is public, so that up to public constants the batch sums are 0
    but for one, which is 2 where the person contributes 1, and 1 where nothing. With everybody in one batch an
    adversary need not guess whether the person was sampled at all.
    """

    label = wrong(
        "ShuffledBatches",
        ApproxDP(2.3674, 1e-5),
        "A shuffled epoch of 100 batches with noise 0.7, priced as 100 rounds of Poisson sampling at rate 1/100.",
        "Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha, Zhang 2024",
    )
    batches, sigma = 100, 0.7

    def neighbors(self) -> list[Vectors]:
        """The person's batch sum with and without the person."""
        return [(np.array([2.0]), np.array([1.0]))]

    def runs(self, value: Vector, draws: int) -> NDArray[np.float64]:
        """Draw the largest sum."""
        others = self.random.standard_normal((draws, self.batches - 1)).max(axis=1)
        own = float(value[0]) / self.sigma + self.random.standard_normal(draws)
        largest: Floats = self.sigma * np.maximum(own, others)
        return largest

    def pair(self, first: Vector, second: Vector) -> Pair:
        """Cut the line into cells; far out on both sides the loss has no bound."""
        edges = np.linspace(-0.5, 12.0, 5001)  # the largest of a hundred is never below
        panels = Panels(edges, 4)
        at_nodes, at_edges = (
            [self._density(places, float(value[0])) for value in (first, second)] for places in (panels.nodes, edges)
        )
        p, q = (panels.integrals(density) for density in at_nodes)
        loss = np.log(at_edges[0] / at_edges[1])
        inside = np.log(at_nodes[0] / at_nodes[1])
        low = np.minimum(np.minimum(loss[:-1], loss[1:]), inside.min(axis=0))
        high = np.maximum(np.maximum(loss[:-1], loss[1:]), inside.max(axis=0))
        direction = float(first[0] - second[0])
        if direction:
            low[0], high[-1] = (-np.inf, np.inf) if direction > 0 else (low[0], high[-1])
            high[0], low[-1] = (np.inf, -np.inf) if direction < 0 else (high[0], low[-1])
        return Sandwich.of_cells(p, q, low, high)

    def _density(self, places: Floats, shift: float) -> Floats:
        """Return the density of the largest of one shifted and many centered normal variables."""
        from scipy.special import ndtr

        others, own = places / self.sigma, (places - shift) / self.sigma
        centered, shifted = (np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi) / self.sigma for x in (others, own))
        many = self.batches - 1
        below = ndtr(others) ** (many - 1)
        return np.asarray(shifted * below * ndtr(others) + many * centered * below * ndtr(own), dtype=np.float64)
