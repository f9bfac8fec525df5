"""Windows: the counts that matter, cut where a bound proves that the rest is below 1e-15 of the total.

Theorem. Let w be positive on the integers of [0, top], and suppose ln w(t + 1) - ln w(t) <= r < 0 for every t >= u.
Then the sum of w over t > u is at most w(u) e^r / (1 - e^r).
    Proof: w(u + k) <= w(u) e^(r k), and the geometric series. The same holds downwards.
A window grows until this is small at both of its ends, or until an end is 0 or a public top. So nothing is assumed of
where the mode is, or that there is only one: a window that started in the wrong place grows until it has met all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.counts.weights import Logs, Weight
from discreet.errors import InputError, ParameterError

LEFT_OUT = 1e-16  # of the total mass, at both ends together; ten windows a posterior are still below 1e-15
_LARGEST = 1 << 25
_WHOLE = 1 << 10  # a domain this short is taken whole


@dataclass(frozen=True)
class CountWindow:
    """Weights of consecutive counts: ln w(t) for t = start, start + 1, ..., and the share of all that was left out."""

    start: int
    logs: Logs
    left_out: float = 0.0

    @property
    def stop(self) -> int:
        """One more than the last count."""
        return self.start + len(self.logs)

    @cached_property
    def log_total(self) -> float:
        """Return the logarithm of the sum of all weights."""
        top = float(self.logs.max())
        return top + math.log(float(np.exp(self.logs - top).sum()))

    @cached_property
    def masses(self) -> NDArray[np.float64]:
        """Return the weights, so that they add up to 1."""
        return np.exp(self.logs - self.log_total)


def window(
    weight: Weight, *, bottom: int = 0, top: int | None = None, tilt: float = 0.0, left_out: float = LEFT_OUT
) -> CountWindow | None:
    """Return ln w(t) where w(t) e^(tilt t) matters on bottom <= t <= top, or None where the sum may be infinite.

    The counts outside have at most `left_out` of all mass of w(t) e^(tilt t), half of it by the theorem above and half
    by trimming what was computed and turned out to be small. The logarithms are those of w itself.
    """
    if top is None and weight.decay <= tilt:
        return None
    below = above = weight.reach
    center = max(weight.center or 0, bottom) if top is None else min(max(weight.center or 0, bottom), top)
    if top is not None and top - bottom < _WHOLE:
        center, below, above = bottom, 0, top - bottom
    if top is not None:  # a likelihood may reach beyond all counts that there are
        below, above = min(below, center - bottom), min(above, top - center)
    while below + above < _LARGEST:
        low = max(bottom, center - below)
        high = center + above if top is None else min(top, center + above)
        logs = _possible(weight.log(low, high - low + 1))
        tilted = logs + tilt * np.arange(high - low + 1)
        allowed = CountWindow(low, tilted).log_total + math.log(left_out / 4)
        done_above = high == top or _rest(tilted[-1], weight.rise(high) + tilt) <= allowed
        done_below = low == bottom or _rest(tilted[0], weight.fall(low) - tilt) <= allowed
        if done_above and done_below:
            return _trimmed(CountWindow(low, logs, left_out), tilted, left_out / 4)
        above, below = above * (1 if done_above else 2), below * (1 if done_below else 2)
    raise ParameterError(
        f"the noise must leave at most {_LARGEST:,} counts possible; got a scale so wide, or a prior or another answer "
        "so far from what was released, that more are, give one answer, or leave out exhaustive=True and people= if "
        "they may not hold",
        parameter="model",
    )


def _possible(logs: Logs) -> Logs:
    """Return the logarithms where one of them at least is a number."""
    if np.isnan(logs).any():
        raise ParameterError(
            "the prior must have probabilities that floats hold; got numbers so large or small that they do not, write "
            "others, such as 1",
            parameter="model",
        )
    if logs.max() == -math.inf:
        raise InputError("a released integer must be possible under its noise; got one that no count can give")
    return logs


def _rest(edge: float, rate: float) -> float:
    """Return the logarithm of the bound on all weights beyond an edge, infinite where they need not fall."""
    if edge == -math.inf or rate == -math.inf:
        return -math.inf
    return edge + rate - math.log(-math.expm1(rate)) if rate < 0 else math.inf


def _trimmed(found: CountWindow, tilted: Logs, share: float) -> CountWindow:
    """Drop counts at either end that together have at most a share of the tilted mass."""
    masses = np.exp(tilted - tilted.max())
    least = share * masses.sum()
    low = int(np.searchsorted(np.cumsum(masses), least, side="right"))
    high = len(masses) - int(np.searchsorted(np.cumsum(masses[::-1]), least, side="right"))
    return CountWindow(found.start + low, found.logs[low:high], found.left_out)
