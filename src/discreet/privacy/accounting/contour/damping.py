"""How small the characteristic function of a sampled Gaussian loss is far out: a bound that falls with t."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.privacy.accounting.floats import Floats


@dataclass(frozen=True, slots=True, eq=False)
class DampedCells:
    """Bounds on the tilted law of x, and on |phi| from them.

    Let P(x) = g e^z/w, which grows with x, and let f be the tilted density. At height y with b = mu y <= pi/2 the sine
    of w's angle is g e^z sin(b)/|w| >= P(x) sin b, so e^(-t angle) <= e^(-t P sin b). Two bounds on |phi(t)|, for every
    y, and in the second every x:

    - the whole line at height y: the mean of e^(gain - t P sin b);
    - the mass below x, plus the integral from x on, moved up to height y: the leg from x to x + i y is at most e^gain
      f(x) times the integral of e^(-t P sin(mu y')) over y' <= y, and sin(mu y') >= mu y' sin(b)/b; the rest is at most
      the mass above x times the largest e^(gain - t P sin b) there.

    In a cell the gain is taken at its right end and P at its left. Both bounds fall as t grows.
    """

    mass_above: Floats  # at most the tilted mass above each edge
    masses: Floats  # at least the mass of each cell
    density: Floats
    share: Floats
    sines: Floats
    leg: Floats  # sin(b)/y
    gains: Floats
    outside: Floats

    def log_bounds(self, starts: Floats) -> Floats:
        """Return ln of the least bound on |phi(t)| for all t >= each start."""
        return np.array([self._log_bound(float(start)) for start in starts])

    def _log_bound(self, start: float) -> float:
        falls = self.gains[:, 1:] - np.minimum(start * self.sines * self.share[:-1], 1e6)
        left = np.exp(np.minimum(falls, 700.0))
        whole = left @ self.masses + self.outside
        rest = np.maximum.accumulate(left[:, ::-1], axis=1)[:, ::-1]
        turned = np.maximum(start * self.share[:-1] * self.leg, 1e-300)
        with np.errstate(over="ignore"):
            kept = self.mass_above[:-1] * (1 - rest) - np.exp(self.gains[:, :-1]) * self.density[:-1] / turned
        # what lies beyond the last edge is not in the mass above, and may turn as it likes
        best = float(np.max(kept - np.minimum(self.outside, 1e300)[:, None]))
        least = min(float(np.min(whole)), 1 - best, 1.0)
        return math.log(max(least, 1e-300)) + 1e-12 if least < 1 else 0.0
