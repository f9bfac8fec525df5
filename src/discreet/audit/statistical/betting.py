"""Betting against a claim: a wealth that a true claim cannot make grow, so that an audit may stop whenever it likes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.laws.clopper_pearson import chance_at_least, chance_at_most

Floats = npt.NDArray[np.float64]
_STAKES = np.geomspace(1.0, 1e-4, 24)  # shares of the largest stake that cannot lose more than everything
_FUTILE = 0.01
_LARGEST = 700.0  # no number of pairs that can be run refutes a claim as large


@dataclass(frozen=True, slots=True)
class Tally:
    """How often an event was shown by both runs of a pair, by the first only, by the second only, and by neither."""

    both: int = 0
    first: int = 0
    second: int = 0
    neither: int = 0

    def __add__(self, other: Tally) -> Tally:
        """Count on."""
        return Tally(
            self.both + other.both,
            self.first + other.first,
            self.second + other.second,
            self.neither + other.neither,
        )

    @property
    def pairs(self) -> int:
        """The number of pairs of runs."""
        return self.both + self.first + self.second + self.neither

    @classmethod
    def of(cls, shown: npt.NDArray[np.bool_], other: npt.NDArray[np.bool_]) -> Tally:
        """Count pairs of runs, one on each input."""
        counts = np.bincount(2 * shown.astype(np.int64) + other.astype(np.int64), minlength=4)
        return cls(int(counts[3]), int(counts[2]), int(counts[1]), int(counts[0]))


def log_wealth(tally: Tally, epsilon: float, delta: float) -> float:
    """Return the logarithm of what a capital of 1 has become by betting against P(S) <= e^epsilon Q(S) + delta.

    Each pair of runs, X = 1 if the run on the first input shows S and Y = 1 if the run on the second does, multiplies a
    capital by 1 + stake (X - e^epsilon Y - delta). Capital is spread evenly over stakes between 0 and the largest one
    that can lose no more than everything, and is left there.

    Accuracy. If the claim holds for S, the wealth ever reaches 1 / alpha with probability at most alpha, at whatever
        time one looks: an audit that stops and refutes at 1 / alpha is wrong with probability at most alpha.
        Proof: fix a stake s with 0 <= s <= 1 / (e^epsilon + delta). The factor is at least 1 - s (e^epsilon + delta)
        >= 0. Given the past its mean is 1 + s (P(S) - e^epsilon Q(S) - delta) <= 1, because pairs are independent of
        the past and S was fixed before them. So the capital on each stake is a non-negative supermartingale that starts
        at 1, and so is the average over the stakes. By Ville's inequality a non-negative supermartingale that starts at
        1 reaches 1 / alpha at any time with probability at most alpha.
    Reference. Ville 1939; Waudby-Smith, Ramdas 2024 for means of bounded numbers.

    >>> log_wealth(Tally(), 0.5, 0.0)
    0.0
    >>> math.exp(log_wealth(Tally(first=200, second=50, neither=750), 0.5, 0.0)) > 1e6
    True
    """
    return float(log_wealths(tally, np.array([epsilon]), delta)[0])


def log_wealths(tally: Tally, epsilons: Floats, delta: float) -> Floats:
    """Return the logarithm of the wealth against each of several claims."""
    factor = np.exp(np.minimum(epsilons, _LARGEST))[:, None]
    stakes = _STAKES[None, :] / (factor + delta)
    with np.errstate(divide="ignore"):
        total = np.zeros(stakes.shape)
        for count, gain in (
            (tally.both, 1.0 - factor - delta),
            (tally.first, 1.0 - delta + 0.0 * factor),
            (tally.second, -factor - delta),
            (tally.neither, -delta + 0.0 * factor),
        ):
            if count:
                total = total + count * np.log(np.maximum(1.0 + stakes * gain, 0.0))
    top = np.max(total, axis=1, keepdims=True)
    steady = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray((steady + np.log(np.mean(np.exp(total - steady), axis=1, keepdims=True)))[:, 0])


def loss_refuted(tally: Tally, delta: float, rest: float, *, reach: float, points: int = 400) -> float:
    """Return a lower bound on the loss that holds with probability at least 1 - rest at any stopping time.

    Each epsilon of a fixed grid up to `reach` is bet against; the bound is the largest below which all are refuted.

    Accuracy. Let e be the least epsilon for which the claim holds for S, and g the first point of the grid that is at
        least e. If the bound exceeds e then g was refuted, though the claim holds at g; that happens with probability
        at most rest.
    """
    grid = np.linspace(0.0, reach, points)
    refuted = log_wealths(tally, grid, delta) >= math.log(1.0 / rest)
    firsts = int(np.argmin(refuted)) if not refuted.all() else points
    return float(grid[firsts - 1]) if firsts else 0.0


def hopeless(tally: Tally, epsilon: float, delta: float, rest: float, *, left: int, look: int) -> bool:
    """Say whether the pairs that are left can hardly refute the claim; stopping then can cause no false alarm.

    The chances of S are bounded by what was seen (at a level that makes all looks together hold), and the wealth is let
    grow as fast as chances within these bounds allow, with three standard deviations of luck.
    """
    level = _FUTILE / (look * (look + 1))
    p = float(chance_at_most(tally.both + tally.first, tally.pairs, level))
    q = float(chance_at_least(tally.both + tally.second, tally.pairs, level))
    factor = math.exp(min(epsilon, _LARGEST))
    stakes = _STAKES / (factor + delta)
    gains = np.array([1.0 - factor - delta, 1.0 - delta, -factor - delta, -delta])
    chances = np.array([p * q, p * (1 - q), (1 - p) * q, (1 - p) * (1 - q)])
    with np.errstate(divide="ignore"):
        logs = np.log(np.maximum(1.0 + stakes[:, None] * gains[None, :], 1e-300))
    growth = logs @ chances
    luck = np.sqrt(np.maximum((logs**2) @ chances - growth**2, 0.0))
    best = float(np.max(np.maximum(growth * left + 3.0 * luck * math.sqrt(left), 0.0)))
    return log_wealth(tally, epsilon, delta) + best < math.log(1.0 / rest)
