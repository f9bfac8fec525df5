"""The privacy loss of one release: a pair of output laws, P on one table and Q on its neighbor."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws.enclosure import Enclosure
from discreet.randomness import words

_BISECTIONS = 80


class Pair(ABC):
    """Two laws P, Q on the same outputs, and what an adversary can do with one draw from P or from Q.

    The loss of an output y is ln P(y) / Q(y). Everything a privacy notion says about one release in this direction is a
    function of the pair; `reversed` gives the other direction.
    """

    @abstractmethod
    def delta(self, epsilon: float | Fraction) -> Enclosure:
        """Enclose the hockey-stick divergence sup over events S of P(S) - e^epsilon Q(S)."""

    @abstractmethod
    def max_loss(self) -> Enclosure:
        """Enclose the essential supremum of ln P / Q: the least pure epsilon of this direction (may be infinite)."""

    @abstractmethod
    def tradeoff(self, alpha: float) -> Enclosure:
        """Enclose the least chance of calling P 'Q' among tests that call Q 'P' with chance at most alpha."""

    @abstractmethod
    def reversed(self) -> Pair:
        """Return the pair with P and Q exchanged."""

    def concentration(self) -> Fraction | None:
        """Return a rho with every Renyi divergence D_alpha proven to be at most alpha rho, where one is known."""
        return None

    def gaussian_square(self) -> Fraction | None:
        """Return mu^2 where the pair is proven to be no easier to tell apart than N(mu, 1) and N(0, 1)."""
        return None

    def components(self) -> tuple[tuple[Pair, int], ...]:
        """Return pairs, each with a count, whose independent product dominates this one: what compositions use."""
        return ((self, 1),)

    def moments(self) -> tuple[Enclosure, Enclosure] | None:
        """Return the mean and the variance of the loss under P, where they are known without an integral."""
        return None

    def draw_losses(self, count: int) -> NDArray[np.float64]:  # noqa: ARG002  for pairs that have laws
        """Draw losses ln P(y) / Q(y) of outputs y from P, independently."""
        raise ParameterError(f"{type(self).__name__} is known by its curve only, and has no law to draw from")

    def epsilon(self, delta: float) -> Enclosure:
        """Enclose the least epsilon >= 0 whose hockey-stick divergence is at most delta."""
        if not 0.0 <= delta <= 1.0:
            raise ParameterError(f"delta must lie in [0, 1], got {delta}", parameter="delta")
        method = "bisection on the enclosed delta(epsilon), both ends certified"
        if self.delta(0.0).upper <= delta:
            return Enclosure.exact(0.0, method=method)
        ceiling = self.max_loss()
        if delta == 0.0 and self.delta(0.0).lower > 0.0:
            return Enclosure(
                max(ceiling.lower, 0.0), max(ceiling.estimate, 0.0), max(ceiling.upper, 0.0), ceiling.method
            )
        high = self._bracket(delta, ceiling.upper)
        if math.isinf(high):
            return Enclosure(self._least(delta, 700.0)[0], math.inf, math.inf, method)
        low, high = self._least(delta, high)
        return Enclosure(low, low + (high - low) / 2, high, method)

    def _bracket(self, delta: float, ceiling: float) -> float:
        """Return an epsilon whose delta is certainly small enough, or infinity."""
        trial = 1.0
        while trial < min(ceiling, 700.0):
            if self.delta(trial).upper <= delta:
                return trial
            trial *= 2.0
        return ceiling if math.isfinite(ceiling) else math.inf

    def _least(self, delta: float, high: float) -> tuple[float, float]:
        """Return an epsilon certainly too small (or 0) and one certainly large enough, by bisection."""
        sure_low, sure_high = 0.0, high
        low, top = 0.0, high
        for _ in range(_BISECTIONS):
            middle = low + (top - low) / 2
            if middle in (low, top):
                break
            if self.delta(middle).upper <= delta:
                top = sure_high = middle
            else:
                low = middle
        low, top = 0.0, sure_high
        for _ in range(_BISECTIONS):
            middle = low + (top - low) / 2
            if middle in (low, top):
                break
            if self.delta(middle).lower > delta:
                low = sure_low = middle
            else:
                top = middle
        return sure_low, sure_high


def unit_floats(count: int) -> NDArray[np.float64]:
    """Return uniform floats inside (0, 1), the middles of 2^53 equal cells: for pictures of losses, not for noise."""
    return ((words(count) >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
