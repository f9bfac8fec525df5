"""Laplace noise on a Poisson sample: its moments as finite sums, by Gauss's rule on panels.

Under the law without the person the base's loss b has mass e^-r/2 at r, 1/2 at -r and the density e^(-(b + r)/2)/4
between, r = sensitivity/scale. With w(b) = 1 - g + g e^b, removing a person gives the loss ln w, with the masses times
w, and adding one the loss -ln w: M(s) is the mean of w^a, a = s + 1 (remove) or -s (add).

The density is replaced by the nodes of Gauss's rule: n nodes on each of several panels of half-width d. If f is
analytic on the ellipse about a panel with foci at its ends and semi-axes d (rho + 1/rho)/2 = D and d (rho - 1/rho)/2 =
Y, and at most m there, the rule is off by at most d (64/15) m rho^(2 - 2 n)/(1 - rho^-2) (Trefethen 2008, theorem 4.5).
Here f is e^(-b/2) w^a, and Y < pi/2. Let P = g e^b/w <= p at the right end of all ellipses. Then ln w moves by at most
p D horizontally; |w| is at most its value on the axis and at least cos(Y/2) of it; and the tangent of its angle is g
e^b sin y/(1 - g + g e^b cos y) <= p Y/cos Y. So on an ellipse |f| is at most its value at the middle times

    e^(D/2 + |Re a| p D + |t| p Y/cos Y) cos(Y/2)^min(Re a, 0),

and the values at the middles, times 2 d, add up to at most e^(D/2 + |Re a| p D) M(c).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from discreet.laws import Pair
from discreet.privacy.accounting.contour.atoms import AtomsFactor, LossAtoms, mixed_loss
from discreet.privacy.accounting.contour.moments import Factor, Unsuitable
from discreet.privacy.accounting.floats import UNIT, Complexes, Floats, gauss_rule
from discreet.privacy.pairs import LaplacePair, PoissonPair, Side

_NODES, _RHO = 24, 3.0
_ALLOWED, _WIDEST = 8.0, 0.3
_MOST_POINTS, _MOST_TERMS = 1 << 16, 1 << 23
_LEAST_RATIO, _LARGEST_RATIO, _LEAST_RATE = 2.0**-30, 40.0, 2.0**-60


@dataclass(eq=False)
class SampledLaplaceFactor(Factor):
    """Laplace noise on a Poisson sample, `count` times, in one direction."""

    ratio: float
    rate: float
    rest: float  # 1 - rate, rounded by itself
    side: Side
    count: int
    _sums: dict[int, AtomsFactor] = field(default_factory=dict)

    @staticmethod
    def accepts(pair: Pair) -> bool:
        """Say whether a pair belongs to this family and to the range that the bounds are for."""
        return (
            isinstance(pair, PoissonPair)
            and isinstance(pair.base, LaplacePair)
            and _LEAST_RATIO <= pair.base.ratio <= _LARGEST_RATIO
            and _LEAST_RATE <= pair.rate < 1
            and float(pair.rate) < 1.0
        )

    @classmethod
    def of(cls, pair: PoissonPair, count: int) -> SampledLaplaceFactor:
        """Take the parameters as floats; the roundings are within the errors counted here."""
        if not isinstance(pair.base, LaplacePair):
            raise TypeError("this family is Laplace noise")
        return cls(float(pair.base.ratio), float(pair.rate), float(1 - Fraction(pair.rate)), pair.side, count)

    @property
    def counts(self) -> Floats:  # type: ignore[override]
        """How often the release occurs."""
        return np.array([float(self.count)])

    @property
    def work(self) -> int:
        """The points of the coarsest sum."""
        return self._sum(0).work

    def _share(self, loss: float) -> float:
        """Return g e^b/w."""
        return 1 / (1 + self.rest / self.rate * math.exp(-loss))

    @property
    def _steepest(self) -> float:
        """The share p at the right end of all ellipses."""
        return self._share(self.ratio + self._half(0) * (_RHO + 1 / _RHO) / 2)

    def _half(self, level: int) -> float:
        """Return half the width of a panel; each level halves it."""
        return self.ratio / (math.ceil(self.ratio / _WIDEST) * math.ldexp(1.0, level))

    def _sum(self, level: int) -> AtomsFactor:
        """Return the release with its density replaced by the nodes of a level; kept."""
        if level not in self._sums:
            half = self._half(level)
            panels = round(self.ratio / half)
            if panels * _NODES > _MOST_POINTS:
                raise Unsuitable
            self._sums[level] = AtomsFactor(self._atoms(half, panels), self.count, whole=True)
        return self._sums[level]

    def _atoms(self, half: float, panels: int) -> LossAtoms:
        """List the two atoms and the nodes, with the roundings of places, weights and losses."""
        places, weights = gauss_rule(_NODES)
        starts = -self.ratio + 2 * half * np.arange(panels)
        inner = (starts[:, None] + 2 * half * places).ravel()
        base = np.concatenate([[-self.ratio, self.ratio], inner])
        density = np.exp(-(inner + self.ratio) / 2) / 4 * np.tile(2 * half * weights, panels)
        mass = np.concatenate([[0.5, math.exp(-self.ratio) / 2], density])
        shares, blur = (self.rate, self.rest), UNIT * (np.abs(base) + self.ratio)
        low, high = mixed_loss(base - blur, shares, -1), mixed_loss(base + blur, shares, +1)
        slack = UNIT * (4 + self.ratio)
        if self.side is Side.ADD:
            return LossAtoms(-high, -low, mass * (1 - slack), mass * (1 + slack), mass, mass)
        p = mass * (self.rest + self.rate * np.exp(base))
        return LossAtoms(low, high, p * (1 - 2 * slack), p * (1 + 2 * slack), mass, mass)

    def _level(self, order: float, turn: float) -> int:
        """Return the level whose ellipses are small beside the turns of w^a."""
        need = self._steepest * (abs(order) + 1 + turn) * self._half(0) * 2
        return max(math.ceil(math.log2(max(need / _ALLOWED, 1e-300))), 0)

    def _missed(self, order: float, level: int, nodes: Floats) -> Floats:
        """Bound the rule's error relative to M(c), for w^a and for 1."""
        half, power = self._half(level), order + 1 if self.side is Side.REMOVE else -order
        wide, high = half * (_RHO + 1 / _RHO) / 2, half * (_RHO - 1 / _RHO) / 2
        moved = wide / 2 + abs(power) * self._steepest * wide
        least = min(power, 0.0) * math.log(math.cos(high / 2))
        base = math.log(32 / 15) - (2 * _NODES - 2) * math.log(_RHO) - math.log1p(-(_RHO**-2)) + 2 * moved + least + 0.7
        return np.exp(np.minimum(base + nodes * (self._steepest * high / math.cos(high)), 700.0))

    def log_moment(self, order: float) -> tuple[float, float]:
        """Sum at the real order."""
        try:
            level = self._level(order, 0.0)
            value, error = self._sum(level).log_moment(order)
        except (Unsuitable, OverflowError):
            return math.inf, math.inf
        return value, error + 2 * self.count * float(self._missed(order, level, np.zeros(1))[0])

    def slopes(self, order: float) -> tuple[float, float]:
        """Return the mean and the variance of the tilted loss, times the count."""
        return self._sum(self._level(order, 0.0)).slopes(order)

    def variances(self, order: float) -> Floats:
        """Bound the tilted variance by that of the sum: squares of ln w are small beside what the rule allows for."""
        return self._sum(self._level(order, 0.0)).variances(order) * (1 + 1e-9)

    def logs(self, order: float, nodes: Floats) -> tuple[Complexes, Floats, Floats]:
        """Take each node from the level that resolves it, and add the rule's error to that of the sum."""
        logs, errors, heights = np.empty((1, len(nodes)), dtype=np.complex128), *np.empty((2, 1, len(nodes)))
        need = self._steepest * (abs(order) + 1 + nodes) * (self._half(0) * 2 / _ALLOWED)
        levels = np.maximum(np.ceil(np.log2(np.maximum(need, 1.0))), 0).astype(np.int64)
        if float(np.sum(np.exp2(levels))) * _NODES * (self.ratio / self._half(0)) > _MOST_TERMS:
            raise Unsuitable
        base, unsure = (part / self.count for part in self.log_moment(order))
        for level in np.unique(levels):
            chosen = levels == level
            part = self._sum(int(level))
            own = part.log_moment(order)[0] / self.count
            found, error, height = part.logs(order, nodes[chosen])
            found, height = found + (own - base), height + abs(own - base) + 2 * unsure
            missed = self._missed(order, int(level), nodes[chosen]) * 2
            size = np.exp(found.real)
            with np.errstate(all="ignore"):
                doubt = np.where(missed < size / 2, 2 * missed / size, np.inf)
            logs[:, chosen], errors[:, chosen] = found, error + doubt + 2 * unsure
            heights[:, chosen] = np.minimum(np.log(np.exp(np.minimum(height, 0.0)) + missed), 0.0)
        return logs, errors, heights

    def values(self, order: float, nodes: Floats) -> tuple[Complexes, Floats]:
        """Take the exponentials."""
        logs, errors, _ = self.logs(order, nodes)
        values = np.exp(logs)
        return values, np.where(errors < 0.5, np.abs(values) * 2 * errors, 1.0 + np.abs(values))

    def heights(self, order: float, nodes: Floats) -> Floats:
        """Bound ln |phi| by its logarithm, which is sharp near 0."""
        return self.logs(order, nodes)[2]

    def far(self, order: float, start: float) -> float:
        """Bound |phi| by the tilted mass of the atoms plus the variation of the tilted density of the loss over t.

        In b the density is e^(-b/2) w^p/P up to a constant, whose logarithm has the derivative (p + 1) P - 3/2: as P
        grows with b it changes its sign once at most, from minus to plus if p + 1 > 0. So the variation, with the jumps
        at both ends, is at most twice the sum of the two end values.
        """
        power = order + 1 if self.side is Side.REMOVE else -order
        log, error = self.log_moment(order)
        log, error = log / self.count, error / self.count
        ends = np.array([-self.ratio, self.ratio])
        sizes = power * mixed_loss(ends, (self.rate, self.rest), 0) - log + error + 1e-9
        atoms = np.exp(sizes) * np.exp([0.0, -self.ratio]) / 2
        density = np.exp(sizes - (ends + self.ratio) / 2) / 4 / np.array([self._share(float(end)) for end in ends])
        bound = float(np.sum(atoms)) + 2 * float(np.sum(density)) / start
        return self.count * min(math.log(bound) + 1e-9, 0.0)
