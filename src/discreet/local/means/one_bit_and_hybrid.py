"""The one-bit mean, and the hybrid mean in which a public coin picks the piecewise law or the one-bit report.

One bit: round to an end of the range by chance, then toss Warner's coin. The hybrid is never worse than either; a
public rule says which grid, window and branch weight make its largest variance smallest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws.number import Number, exact_rational
from discreet.local.means.piecewise import Piecewise
from discreet.local.means.scalar_mean import Branch, ScalarMean
from discreet.local.protocol import COIN_TOTAL

WEIGHTS = 128
GRIDS = (1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024)
_ENOUGH = 1.002
_ONE_BIT = 0.61


@dataclass(frozen=True, kw_only=True, eq=False)
class DuchiBit(ScalarMean):
    """Report one bit: 1 with a probability that grows linearly with the value.

    Privacy. Pure epsilon-local privacy.
        Proof: `ScalarMean` with one branch, one step and a window of one output.
    Accuracy. With E = e^epsilon and x the value in [-1, 1] (its distance from the middle of the range, in half-widths)
        a decoded bit is unbiased for x and has the variance ((E + 1) / (E - 1))^2 - x^2, at most ((E + 1) / (E - 1))^2.
        Up to epsilon about 0.6 `HybridMean` finds nothing better. The variances that the methods return are those of
        the rational coin.
        Proof: a decoded bit is +-1 / (2 p - 1), whose square is constant, and p = E / (E + 1) up to the rounding.
    Cost. Two 64-bit words a report; one bit on the wire.
    Figure. local-means.svg
    Reference. Duchi, Jordan, Wainwright 2018.

    >>> spec = DuchiBit(epsilon=1, bounds=(-1, 1))
    >>> spec.report_bits, round(spec.variance(1), 4)
    (1, 4.6827)
    >>> reports = spec.client().report_many([0.25] * 1000)
    >>> mean = spec.aggregator().add(reports).estimate()
    >>> abs(mean.value - 0.25) < 0.6
    True
    """

    protocol: ClassVar[str] = "duchi-bit"

    @cached_property
    def branches(self) -> tuple[Branch, ...]:
        """Warner's coin."""
        return (Branch(Fraction(1), Piecewise(self.exact_epsilon, 1, 1), 0),)

    def derived(self) -> dict[str, Any]:
        """Return the coin."""
        return {"cells": self.cells, "coin": self.branches[0].law.coin}


@dataclass(frozen=True, kw_only=True, eq=False)
class HybridMean(ScalarMean):
    """Report by the piecewise law with a public probability `weight`, by one bit otherwise.

    The grid (`steps`), the window and the weight are chosen so that the largest variance over all values is smallest;
    each can be given instead. For epsilon below about 0.6 that is the one-bit report itself.

    Privacy. Pure epsilon-local privacy.
        Proof: `ScalarMean`, with the piecewise law and Warner's coin as branches.
    Accuracy. Unbiased. On the grid that it chooses itself the largest variance is not above that of the one-bit mean,
        nor above 4 e^(epsilon/2) / (3 (e^(epsilon/2) - 1)^2) half-widths squared of the continuous piecewise mechanism,
        nor above that of the continuous hybrid of Wang et al. (`docs/local/means.md` has the table).
        Proof: unbiased: `ScalarMean`. The one-bit mean is among the candidates, and up to rounding the choice is never
        above it. The other two are compared, not proven for all epsilon: the tests hold the exact rational variance
        against proven bounds of the formulas at every tenth from 0.1 to 20.
    Cost. Three to five 64-bit words a report; 1 to 11 bits on the wire.
    Figure. local-means.svg
    Reference. Wang et al. 2019; Zhao et al. 2020.

    >>> spec = HybridMean(epsilon=2, bounds=(-1, 1))
    >>> spec.steps, spec.window, spec.weight, round(spec.variance(1), 3)
    (48, 28, Fraction(45, 64), 0.983)
    """

    protocol: ClassVar[str] = "hybrid-mean"
    steps: int = 0
    window: int = 0
    weight: Number = 0  # held as a Fraction

    def __post_init__(self) -> None:
        super().__post_init__()
        weight = exact_rational(self.weight, name="weight")
        if not self.window and not weight:
            choice = choose_hybrid(self.exact_epsilon, self._grid())
            self._take(steps=choice.steps, window=choice.window)
            weight = choice.weight
        if not 0 < weight <= 1 or (weight * COIN_TOTAL).denominator != 1:
            raise ParameterError("weight must be a probability above 0 and a multiple of 2^-64", parameter="weight")
        law = Piecewise(self.exact_epsilon, self.steps, self.window)
        self._take(weight=weight, steps=law.steps, window=law.window)

    def _grid(self) -> int | None:
        """Return the grid if it was given."""
        if not self.steps and not isinstance(self.steps, bool):
            return None
        return Piecewise(self.exact_epsilon, self.steps, 1).steps

    @cached_property
    def branches(self) -> tuple[Branch, ...]:
        """The piecewise law and, unless it has all the weight, the bit."""
        law, weight = Piecewise(self.exact_epsilon, self.steps, self.window), Fraction(self.weight)
        first = Branch(weight, law, 0)
        if weight == 1:
            return (first,)
        return (first, Branch(1 - weight, Piecewise(self.exact_epsilon, 1, 1), law.outputs))

    def derived(self) -> dict[str, Any]:
        """Return the coins."""
        return {"cells": self.cells, "coins": [branch.law.coin for branch in self.branches]}


@dataclass(frozen=True)
class HybridChoice:
    """A grid, a window, the probability of the piecewise branch, and the largest variance in half-widths squared."""

    steps: int
    window: int
    weight: Fraction
    worst: float


def choose_hybrid(epsilon: Fraction, steps: int | None = None) -> HybridChoice:
    """Return the best choice on a grid; without one, on the coarsest grid within 0.2 % of the best of all.

    That grid must also be no worse than the continuous hybrid, if any is. The search runs in floats over a few thousand
    candidates; the variance that a spec states is exact for what was chosen. One step is the one-bit mean, and a weight
    of 1 the piecewise law alone, so that neither is ever better.

    >>> choose_hybrid(Fraction(1, 2)).steps, choose_hybrid(Fraction(2), 64).window
    (1, 35)
    """
    found = [_best_on_grid(float(epsilon), grid) for grid in ([steps] if steps is not None else GRIDS)]
    best = min(choice.worst for choice in found)
    enough = max(best, min(best * _ENOUGH, continuous_hybrid(float(epsilon))))
    return next(choice for choice in found if choice.worst <= enough)


def continuous_hybrid(epsilon: float) -> float:
    """Return the largest variance of the hybrid of Wang et al., in half-widths squared, in floats: to choose by.

    Its piecewise law has a continuous output and the weight 1 - e^(-epsilon/2); below 0.61 it is the one bit.
    """
    root, bit = math.exp(epsilon / 2), 1 / math.tanh(epsilon / 2) ** 2
    if epsilon <= _ONE_BIT:
        return bit
    return (1 - 1 / root) * 4 * root / (3 * (root - 1) ** 2) + (bit - 1) / root


def _best_on_grid(epsilon: float, steps: int) -> HybridChoice:
    """Search all windows no wider than the grid and all weights j / 128."""
    if steps == 1:
        return HybridChoice(1, 1, Fraction(1), 1 / math.tanh(epsilon / 2) ** 2)
    windows = np.arange(1, steps + 1, dtype=np.float64)[:, None]
    weights = np.arange(1, WEIGHTS + 1)[None, :] / WEIGHTS
    worst = largest_variance(epsilon, steps, windows, weights)
    place, column = divmod(int(np.argmin(worst)), WEIGHTS)
    return HybridChoice(steps, place + 1, Fraction(column + 1, WEIGHTS), float(worst[place, column]))


def largest_variance(
    epsilon: float, steps: int, windows: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the largest variance over all values, in half-widths squared, in floats; see `ScalarMean` for the cells.

    Positions are counted from the middle of the grid, where the second moment of a decoded report at u is u^2 / s + c.
    """
    preference = 1 / (1 + math.exp(-epsilon) * steps / windows)
    slope = preference - (1 - preference) * windows / steps
    spread, outputs = (windows**2 - 1) / 12, windows + steps
    everything = outputs * (outputs**2 - 1) / 12
    constant = (preference * spread + (1 - preference) * (everything - windows * spread) / steps) / slope**2
    bit = (steps / 2 / math.tanh(epsilon / 2)) ** 2

    def moment(place: float) -> NDArray[np.float64]:
        return np.asarray(weights * (place**2 / slope + constant) + (1 - weights) * bit)

    found = []
    for cell in {0, (steps - 1) // 2}:
        start = cell - steps / 2
        low, high = moment(start), moment(start + 1)
        best = np.clip((high - low) / 2, start, start + 1)
        found.append(low + (high - low) * (best - start) - best**2)
    return np.asarray(np.max(found, axis=0) / (steps / 2) ** 2)
