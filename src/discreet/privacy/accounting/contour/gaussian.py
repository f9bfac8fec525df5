"""Gaussian losses: continuous noise, integer noise wide enough to look like it, and noise on a Poisson sample.

The first two have closed forms. On a sample, in either direction, moments are computed by the trapezoid rule, whose
error is proven. With w(x) = 1 - g + g e^(mu x - mu^2/2), g the rate, removing a person gives the loss ln w under
((1-g) Q + g P, Q), and adding one the loss -ln w under (P, (1-g) P + g Q). Both moments are integrals over the standard
normal density n: M(s) = integral of n(x) w(x)^a with a = s + 1 (remove) or a = -s (add).

Error of the trapezoid rule. Off the real line at x + i y, |y| < pi/mu, the number w is a convex combination of 1 and a
point of angle mu y, so its angle is between 0 and mu y, and cos(mu y/2) w(x) <= |w| <= w(x). Hence for s = c + i t the
integrand is at most n(x) w(x)^(Re a) e^(y^2/2 + |t| mu |y|), times cos(mu y/2)^(-c) when adding, c > 0; its integral
along the line at height y is at most M(c) times that factor F(y), and the rule with step h is off by at most 2 M(c)
F(y)/(e^(2 pi y/h) - 1), for any y < pi/mu (Trefethen, Weideman 2014, theorem 5.1). Cutting the sum at x = X loses at
most e^(E(X)) (h + 1/(X - A)), because the logarithm E of the integrand falls at least at the slope X - A there, A =
max(Re a, 0) mu; likewise on the left.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.laws import DiscreteGaussian, LocationPair, Pair
from discreet.privacy.accounting.contour.moments import Factor, Indices, Unsuitable
from discreet.privacy.accounting.floats import UNIT, Complexes, Floats
from discreet.privacy.pairs import NormalPair, PoissonPair, Side

NARROW = Fraction(40)
_LARGEST_SQUARE = 1e8
_TARGET = 37.0  # the rule's error is made e^-37 of M(c)
_BEYOND, _NEAR = 9.5, 6.0
_LARGEST_MU, _SMALLEST_MU, _SMALLEST_RATE = 64.0, 2.0**-30, 2.0**-60
_MOST_POINTS = 1 << 16
_MOST_TERMS, _CHUNK = 1 << 24, 1 << 18
_HEIGHTS = np.concatenate([np.linspace(0.02, 0.96, 48), np.linspace(0.97, 0.995, 4)])


@dataclass(frozen=True, slots=True, eq=False)
class NormalFactor(Factor):
    """All Gaussian releases of a composition as one: mu^2 is the sum of theirs; ln phi is exact for every t."""

    square: float  # mu^2, within a relative 2^-50
    needs_short_intervals = False

    @property
    def counts(self) -> Floats:  # type: ignore[override]
        """One release."""
        return np.ones(1)

    def log_moment(self, order: float) -> tuple[float, float]:
        """K(s) = s (s + 1) mu^2/2."""
        value = order * (order + 1) * self.square / 2
        return value, UNIT * abs(value)

    def slopes(self, order: float) -> tuple[float, float]:
        """K' = (s + 1/2) mu^2, K'' = mu^2."""
        return (order + 0.5) * self.square, self.square

    def values(self, order: float, nodes: Floats) -> tuple[Complexes, Floats]:
        """phi(t) = exp(i t (2 c + 1) mu^2/2 - mu^2 t^2/2)."""
        exponent = self.square / 2 * (1j * nodes * (2 * order + 1) - nodes * nodes)
        values = np.exp(exponent)[None, :]
        return values, UNIT * np.abs(values) * (2 + np.abs(exponent)) + 1e-300

    def variances(self, order: float) -> Floats:  # noqa: ARG002  the same at every tilt
        """The variance is mu^2."""
        return np.array([self.square * (1 + UNIT)])

    def far(self, order: float, start: float) -> float:  # noqa: ARG002  the same at every tilt
        """|phi| falls with t."""
        return -self.square * start * start / 2 * (1 - UNIT)

    def ceilings(self, order: float, starts: Floats, ends: Floats) -> Floats:  # noqa: ARG002  it falls with t
        """|phi| is largest where an interval starts."""
        return np.asarray(-self.square * starts * starts / 2 * (1 - UNIT))


@dataclass(frozen=True, slots=True, eq=False)
class WideGaussianFactor(Factor):
    """Integer Gaussian noise of scale sigma >= 40 steps, moved by `shift` steps, `counts` times.

    With theta(a) the sum over integers y of exp(-(y - a)^2/(2 sigma^2)), completing the square gives
    M(s) = e^(s (s+1) shift^2/(2 sigma^2)) theta(shift (1 + s))/theta(0). Poisson's formula turns theta(a)/(sigma
    sqrt(2 pi)) into 1 + the sum over m != 0 of e^(-2 pi^2 sigma^2 m^2 + 2 pi i m a); with |Im a| = shift |t| <= pi
    sigma^2/2 the m-th term is at most e^(-pi^2 sigma^2 |m|), so for sigma >= 40 both thetas differ from 1 by less than
    e^-15000: nothing, beside a rounding. Beyond that t only |phi| <= 1 is used.
    """

    counts: Floats
    square: Floats  # (shift/sigma)^2
    valid: Floats  # the largest t for which the closed form is used: pi sigma^2/(2 shift)
    needs_short_intervals = False

    @staticmethod
    def accepts(pair: Pair) -> bool:
        """Say whether a pair is integer Gaussian noise, wide in steps."""
        return (
            isinstance(pair, LocationPair)
            and isinstance(pair.noise, DiscreteGaussian)
            and pair.shift > 0
            and pair.noise.scale >= NARROW
            and Fraction(pair.shift) ** 2 <= pair.noise.scale**2 * int(_LARGEST_SQUARE)
        )

    @classmethod
    def of(cls, pairs: Sequence[Pair], counts: Sequence[int]) -> WideGaussianFactor:
        """Gather pairs that this family accepts."""
        kept = [pair for pair in pairs if isinstance(pair, LocationPair)]
        square = np.array([float(Fraction(pair.shift) ** 2 / pair.noise.scale**2) for pair in kept])
        valid = np.array([math.pi / 2 * float(pair.noise.scale**2 / pair.shift) for pair in kept]) * (1 - UNIT)
        return cls(np.array(counts, dtype=np.float64), square, valid)

    def restricted(self, chosen: Indices) -> WideGaussianFactor:
        """Return some of the releases."""
        return WideGaussianFactor(self.counts[chosen], self.square[chosen], self.valid[chosen])

    def log_moment(self, order: float) -> tuple[float, float]:
        """K(s) = s (s + 1) (shift/sigma)^2/2: theta of a real argument is within e^-15000 of theta(0)."""
        value = order * (order + 1) / 2 * float(np.sum(self.counts * self.square))
        return value, UNIT * abs(value) + 1e-300 * float(np.sum(self.counts))

    def slopes(self, order: float) -> tuple[float, float]:
        """As for continuous noise."""
        total = float(self.counts @ self.square)
        return (order + 0.5) * total, total

    def values(self, order: float, nodes: Floats) -> tuple[Complexes, Floats]:
        """The closed form up to its last t, and an error of 1 about 0 beyond."""
        exponent = self.square[:, None] / 2 * (1j * nodes * (2 * order + 1) - nodes * nodes)
        known = nodes <= self.valid[:, None]
        values = np.where(known, np.exp(np.where(known, exponent, 0.0)), 0.0)
        return values, np.where(known, UNIT * np.abs(values) * (2 + np.abs(exponent)) + 1e-300, 1.0)

    def ceilings(self, order: float, starts: Floats, ends: Floats) -> Floats:  # noqa: ARG002  it falls with t
        """|phi| is largest where an interval starts, within the range of the closed form."""
        falling = np.where(ends <= self.valid[:, None], self.square[:, None] * starts * starts / 2, 0.0)
        return np.asarray(-(self.counts @ falling) * (1 - UNIT))

    def variances(self, order: float) -> Floats:  # noqa: ARG002  the same at every tilt
        """The second derivative of K: (shift/sigma)^2, theta's part being below a rounding."""
        return self.square * (1 + 1e-9)


@dataclass(frozen=True, slots=True)
class _Grid:
    """Points x, the logarithm of w there with its error, the weights of the tilted law, and what they sum to."""

    step: float
    log_w: Floats
    blur: Floats
    weights: Floats  # divided by e^peak
    total: float
    peak: float
    cut: float  # what lies outside the points, relative to the total
    slack: float  # relative rounding error of the total


@dataclass(eq=False)
class SampledNormalFactor(Factor):
    """The Gaussian mechanism on a Poisson sample, `count` times, in one direction."""

    mu: float
    rate: float
    rest: float  # 1 - rate, rounded by itself
    side: Side
    count: int
    _grids: dict[tuple[float, float], _Grid] = field(default_factory=dict)
    _largest: dict[float, float] = field(default_factory=dict)
    _steps: dict[tuple[float, float], float] = field(default_factory=dict)

    @staticmethod
    def accepts(pair: Pair) -> bool:
        """Say whether a pair belongs to this family and to the range that the bounds are for."""
        return (
            isinstance(pair, PoissonPair)
            and isinstance(pair.base, NormalPair)
            and _SMALLEST_MU <= pair.base.mu <= _LARGEST_MU
            and _SMALLEST_RATE <= pair.rate < 1
            and float(pair.rate) < 1.0
        )

    @classmethod
    def of(cls, pair: PoissonPair, count: int) -> SampledNormalFactor:
        """Take the parameters as floats; the roundings are within the errors counted here."""
        base = pair.base
        if not isinstance(base, NormalPair):
            raise TypeError("this family is Gaussian")
        return cls(float(base.mu), float(pair.rate), float(1 - Fraction(pair.rate)), pair.side, count)

    @property
    def counts(self) -> Floats:  # type: ignore[override]
        """How often the release occurs."""
        return np.array([float(self.count)])

    @property
    def _near(self) -> float:
        """Up to this t one grid serves; beyond, one for each octave."""
        return _NEAR / self.mu

    def _exponent(self, order: float) -> float:
        return order + 1 if self.side is Side.REMOVE else -order

    def _gain(self, order: float) -> Floats:
        """Return ln F(y) at t = 0 for each height: how much larger the integrand can be there than on the line."""
        if self.side is Side.REMOVE or order <= 0:
            return self._plain_gain
        return np.asarray(self._plain_gain - order * self._log_cosines)

    @cached_property
    def _plain_gain(self) -> Floats:
        return np.asarray(self._heights**2 / 2)

    @cached_property
    def _log_cosines(self) -> Floats:
        return np.asarray(np.log(np.cos(self.mu * self._heights / 2)))

    @cached_property
    def _heights(self) -> Floats:
        """The heights at which the error bound is tried: below pi/mu, and no higher than useful."""
        near = np.linspace(2.0, 40.0, 20)
        return np.concatenate([_HEIGHTS * (math.pi / self.mu), near[near < 0.96 * math.pi / self.mu]])

    def _step(self, order: float, largest: float) -> float:
        """Return a step whose error is e^-37 for |t| up to `largest`; a power of sqrt 2, so that grids are shared."""
        key = (order, largest)
        if key not in self._steps:
            self._steps[key] = self._fresh_step(order, largest)
        return self._steps[key]

    def _fresh_step(self, order: float, largest: float) -> float:
        need = float(np.min((_TARGET + self._gain(order)) / self._heights)) + largest * self.mu
        return float(2.0 ** (math.floor(2 * math.log2(2 * math.pi / need)) / 2))

    def _log_rule_error(self, order: float, step: float, nodes: Floats) -> Floats:
        """Return ln of the bound on the trapezoid rule's error at each t, relative to M(c)."""
        heights = self._heights
        base = self._gain(order) - 2 * math.pi * heights / step
        found = np.min(base[:, None] + self.mu * heights[:, None] * np.abs(nodes)[None, :], axis=0)
        return np.asarray(np.minimum(found + math.log(2.0) + 1e-9, 0.0))

    def _grid(self, order: float, step: float) -> _Grid:
        """Evaluate the integrand at order c on the points that matter; kept for the next call."""
        key = (order, step)
        if key in self._grids:
            return self._grids[key]
        power, mu, rate = self._exponent(order), self.mu, self.rate
        right, left = max(power, 0.0) * mu, max(-power, 0.0) * mu
        first, last = -math.ceil((left + _BEYOND) / step), math.ceil((right + _BEYOND) / step)
        x = np.arange(first, last + 1) * step
        z = mu * x - mu * mu / 2
        log_w, inside = self._log_mixture(np.asarray(z, dtype=np.float64))
        # the rounded mu moves z by a relative UNIT, and z moves ln w by the share of its second term
        share = np.where(z > 1, 1.0, np.minimum(rate * np.exp(np.minimum(z, 1.0)) / self.rest, 1.0))
        blur = UNIT * (np.abs(log_w) + share * (2 + np.abs(mu * x) + mu * mu) + inside)
        logs = power * log_w - x * x / 2
        peak = float(np.max(logs))
        weights = np.exp(logs - peak)
        total = float(np.sum(weights))
        slack = (
            float(np.sum(weights * (np.expm1(np.minimum(abs(power) * blur, 700.0)) + UNIT * (3 + x * x / 2)))) / total
        )
        ends = weights[-1] * (1 + 1 / (step * (x[-1] - right))) + weights[0] * (1 + 1 / (step * (-x[0] - left)))
        grid = _Grid(step, log_w, blur, weights, total, peak, float(ends) / total * (1 + 1e-6), slack)
        if len(self._grids) > 64:
            self._grids.clear()
        self._grids[key] = grid
        return grid

    def _log_mixture(self, z: Floats) -> tuple[Floats, Floats]:
        """Return ln(1 - g + g e^z), by sums of positive terms, and what a relative unit of error in these does."""
        rate, low = self.rate, np.minimum(z, 1.0)
        small = rate * np.expm1(low)
        near = small > -0.5
        log_w = np.where(near, np.log1p(np.where(near, small, 0.0)), np.log(self.rest + rate * np.exp(low)))
        large = z + np.log(rate + self.rest * np.exp(-np.maximum(z, 0.0)))
        inside = np.where(near, np.abs(small) / (1 + np.where(near, small, 0.0)), 2.0)
        return np.where(z > 1, large, log_w), np.where(z > 1, 2.0, inside)

    def log_moment(self, order: float) -> tuple[float, float]:
        """Sum the integrand at the real order."""
        if self._points(order) > _MOST_POINTS:
            return math.inf, math.inf
        step = self._step(order, self._near)
        grid = self._grid(order, step)
        relative = grid.slack + grid.cut + 2 * math.exp(float(self._log_rule_error(order, step, np.zeros(1))[0]))
        value = grid.peak + math.log(grid.total * step) - math.log(2 * math.pi) / 2
        error = 2 * relative + UNIT * (4 + abs(grid.peak) + abs(math.log(grid.total * step)))
        return self.count * value, self.count * error

    def slopes(self, order: float) -> tuple[float, float]:
        """Return the mean and the variance of the tilted loss, times the count."""
        grid = self._grid(order, self._step(order, self._near))
        mean = float(grid.weights @ grid.log_w) / grid.total
        variance = float(grid.weights @ (grid.log_w - mean) ** 2) / grid.total
        return self.count * (mean if self.side is Side.REMOVE else -mean), self.count * variance

    def _points(self, order: float) -> float:
        """Return about how many points a sum at this order takes."""
        return (2 * _BEYOND + (abs(order) + 1) * self.mu) / self._step(order, self._near)

    def values(self, order: float, nodes: Floats) -> tuple[Complexes, Floats]:
        """Sum the turned weights; large t needs smaller steps, so nodes are taken in groups of one octave."""
        values = np.empty(len(nodes), dtype=np.complex128)
        errors = np.empty(len(nodes))
        reach = np.abs(nodes)
        low = 0.0
        for high in (self._near * 2.0**octave for octave in range(64)):
            group = (reach >= low) & (reach <= high)
            if np.any(group):
                values[group], errors[group] = self._sum(order, nodes[group], high)
            if high > np.max(reach, initial=0.0):
                break
            low = high
        return values[None, :], errors[None, :]

    def _sum(self, order: float, nodes: Floats, largest: float) -> tuple[Complexes, Floats]:
        step = self._step(order, largest)
        points = (2 * _BEYOND + (abs(order) + 1) * self.mu) / step
        if len(nodes) * points > _MOST_TERMS or points > _MOST_TERMS / 16:
            raise Unsuitable
        grid = self._grid(order, step)
        values = np.empty(len(nodes), dtype=np.complex128)
        rows = max(_CHUNK // len(grid.weights), 1)
        for first in range(0, len(nodes), rows):
            angles = np.outer(nodes[first : first + rows], grid.log_w)
            values[first : first + rows] = np.cos(angles) @ grid.weights + 1j * (np.sin(angles) @ grid.weights)
        values /= grid.total
        if self.side is Side.ADD:
            values = np.conj(values)
        turned = float(grid.weights @ grid.blur) / grid.total * (1 + 1e-9)
        rule = np.exp(self._log_rule_error(order, grid.step, nodes))
        none = math.exp(float(self._log_rule_error(order, grid.step, np.zeros(1))[0]))
        error = 2 * (grid.slack + grid.cut + none) + 2 * rule + 2 * grid.cut + np.abs(nodes) * turned
        return values, error + UNIT * 4 + 2.0**-52 * len(grid.weights)

    def variances(self, order: float) -> Floats:
        """Bound the tilted variance by the second moment of ln w about its mean, with the rule's error on it.

        At height y the square of |ln w - m| is at most twice its value on the line plus twice (ln 1/cos(mu y/2) + mu
        y)^2, so the error bound of the rule applies with a moment that contains itself; at e^-37 that is far below the
        relative 1e-9 and the absolute 1e-12 added here.
        """
        grid = self._grid(order, self._step(order, self._near))
        mean = float(grid.weights @ grid.log_w) / grid.total
        moment = float(grid.weights @ (np.abs(grid.log_w - mean) + grid.blur) ** 2) / grid.total
        outside = (grid.cut + 1e-15) * (10 + abs(mean) + self.mu * (_BEYOND + (abs(order) + 2) * self.mu)) ** 2
        return np.array([moment * (1 + 1e-9) + outside])

    def far(self, order: float, start: float) -> float:
        """Bound |phi| by the total variation of the tilted loss's density over t.

        In x, the density's logarithm is E(x) - ln(mu p(x)), p = g e^z/w: its derivative -x - mu + (Re a + 1) mu p is a
        line against a logistic curve and has at most three zeros, so the density has at most two peaks (one, if
        the curve is nowhere as steep as the line) and a variation of at most twice its largest value for each.
        That value is found on a grid, each cell raised by the largest slope.
        """
        if order not in self._largest:
            self._largest[order] = self._log_variation(order)
        return self.count * min(self._largest[order] - math.log(start), 0.0)

    def _log_variation(self, order: float) -> float:
        """Return ln of the bound on the total variation of the tilted density."""
        power, mu, rate = self._exponent(order), self.mu, self.rate
        grid = self._grid(order, self._step(order, self._near))
        low, high = -(max(-power, 0.0) + 1) * mu - 1, max(power, 0.0) * mu + 1
        points = min(64 + int(4 * (high - low) ** 2), 20_000)
        x = np.linspace(low, high, points)
        z = mu * x - mu * mu / 2
        log_w, _ = self._log_mixture(np.asarray(z, dtype=np.float64))
        logs = power * log_w - x * x / 2 - (math.log(rate * mu) + z - log_w)
        slope = max(abs(low), abs(high)) + mu + abs(power + 1) * mu
        peak = float(np.max(logs)) + slope * (high - low) / (points - 1) / 2 - grid.peak
        peaks = 1 if (power + 1) * mu * mu < 4 else 2  # below, the derivative falls throughout
        return math.log(2 * peaks) + peak - math.log(grid.total * grid.step) + 1e-6
