"""Finite pairs whose masses are sums and integrals in floating point: enclosures that say what they rest on."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws import Enclosure, FinitePair

Floats = NDArray[np.float64]
TOLERANCE = 1e-12
RESTS_ON = ("sums and integrals in floating point, good to a relative 1e-12 but not proven in interval arithmetic",)
_METHOD = "masses in floating point to a relative 1e-12, then over the atoms"
_LEAST = 1e-280  # smaller chances lose their digits, or vanish


class FloatingPair(FinitePair):
    """A finite pair whose masses were computed in floating point; what it answers is as good as they are."""

    def delta(self, epsilon: float | Fraction) -> Enclosure:
        """Enclose the sum of max(0, P - e^epsilon Q) over atoms."""
        return _resting(super().delta(epsilon))

    def max_loss(self) -> Enclosure:
        """Enclose the largest ln P / Q over atoms."""
        return _resting(super().max_loss())

    def epsilon(self, delta: float) -> Enclosure:
        """Enclose the least epsilon whose hockey-stick divergence is at most delta."""
        return _resting(super().epsilon(delta))

    def tail(self, epsilon: float) -> Enclosure:
        """Enclose P(loss > epsilon)."""
        return _resting(super().tail(epsilon))

    def tradeoff(self, alpha: float) -> Enclosure:
        """Enclose the error of the best test of size alpha."""
        return _resting(super().tradeoff(alpha))

    def reversed(self) -> FloatingPair:
        """Exchange P and Q."""
        return FloatingPair(self.outcomes, self.q_low, self.q_high, self.p_low, self.p_high)


def finite_pair(outcomes: list[object], p: Floats, q: Floats, *, tolerance: float = TOLERANCE) -> FloatingPair:
    """Return the pair of finitely many outcomes whose masses are known to a relative tolerance, alike ones merged.

    Outcomes of the same loss (to a hundredth of the tolerance) are one atom, named after one of them: a test
    cannot tell them apart.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        losses = np.where(p > 0, np.log(p) - np.log(q), -np.inf)
    order, starts = alike(losses, 0.01 * tolerance)
    masses = [np.add.reduceat(mass[order], starts) for mass in (p, q)]
    names = [outcomes[index] for index in order[starts]]
    bounds = [(mass * (1 - tolerance), mass * (1 + tolerance)) for mass in masses]
    return FloatingPair(names, *bounds[0], *bounds[1])


def alike(losses: Floats, tolerance: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return an order from the largest loss down, and where in it groups begin that are nowhere wider than this."""
    order = np.argsort(-losses, kind="stable")
    rising = -losses[order]
    starts = [0]
    while True:
        # counted from the first of a group: from neighbor to neighbor many small steps would add up
        end = int(np.searchsorted(rising, rising[starts[-1]] + tolerance, side="right"))
        if end >= rising.size:
            return order, np.array(starts, dtype=np.int64)
        starts.append(end)


def positive(chances: Floats) -> Floats:
    """Return chances of possible outcomes; refuse them if floats cannot hold one."""
    if not np.min(chances, initial=1.0) >= _LEAST:
        raise ParameterError(
            f"these inputs lie so far apart that an outcome has a chance below {_LEAST:g}, too small for floating "
            "point; take inputs that are closer together",
            parameter="neighbors",
        )
    return chances


def _resting(enclosure: Enclosure) -> Enclosure:
    """Say how the bounds were obtained, and what they rest on."""
    return replace(enclosure, method=_METHOD, assumptions=RESTS_ON)
