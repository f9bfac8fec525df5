"""Gaussian noise on a Poisson sample: its moments by the trapezoid rule along a line in the complex plane.

With w(x) = 1 - g + g e^(mu x - mu^2/2), g the rate, removing a person gives the loss ln w under ((1-g) Q + g P, Q), and
adding one the loss -ln w under (P, (1-g) P + g Q). Both moments are integrals over the standard normal density n: M(s)
= integral of n(x) w(x)^a with a = s + 1 (remove) or a = -s (add).

The line. At x + i y, 0 <= y < pi/mu, the number w is the sum of 1 - g and a positive multiple of e^(i mu y): its angle
is between 0 and mu y, and cos(mu y/2) w(x) <= |w| <= w(x). So n w^a is analytic there, and for a = p + i t, t >= 0,

    |n w^a|(x + i y) <= n(x) w(x)^p e^(gain) e^(-t angle),   gain = y^2/2 where p >= 0.

Where p < 0 (adding, c = -p > 0), |w|^p can be larger than on the axis: gain is y^2/2 + p ln r with r <= |w|/w(x). One
such r is cos(mu y/2); another is 1 - P(x) (1 - cos(mu y)), P = g e^z/w, as |w| >= Re w. For mu y <= pi/2, Re w >= 1 -
g, so |w|^p <= (1 - g)^p too; and as M(c) >= 1 for c > 0, the integral of |n w^a| is at most M(c) e^(gain) with gain =
y^2/2 + p ln(1 - g), whatever x: for small rates this is almost nothing.

By Cauchy the integral may be taken along the line at any such height Y. There large t does no harm: where the phase t
ln|w| turns fast the angle is large too, and the factor e^(-t angle) leaves nothing to resolve. (For adding, a = -c - i
t, and the line below the axis is the mirror image: everything is computed for p + i t and conjugated.)

Error of the rule, step h: the strip from height 0 to 2 Y has the line in its middle, and on each line of it the
integral of |n w^a| is at most M(c) e^(gain(2 Y)), whatever t >= 0. So the rule is off by at most 2 M(c) e^(gain(2 Y))
/(e^(2 pi Y/h) - 1) (Trefethen, Weideman 2014, theorem 5.1): one grid serves all t. On the real axis itself the strip is
-d to d, and the bound holds for t = 0 with gain(d). Cutting the sum at x = X loses at most e^(gain(Y) + E(X)) (h + 1/(X
- A)), because the logarithm E of n w^p falls at least at the slope X - A there, A = max(p, 0) mu. On the left, where p
< 0, E' = |x| + p mu P(x) and P falls as |x| grows: beyond the peak, |x| = -p mu P(x) = A, the same holds.

Small rates. M is close to 1, and k ln M would inherit the rounding of the 1, k times. So M - 1 = integral of n (w^a -
1) is summed, each term without cancellation: errors are then relative to the integral of n |w^a - 1|. The rule and the
cut apply to n w^a and to n alike, and their bounds add.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.laws import Pair
from discreet.privacy.accounting.contour.damping import DampedCells
from discreet.privacy.accounting.contour.moments import Factor, Unsuitable, log_height, log_one_more
from discreet.privacy.accounting.floats import UNIT, Complexes, Floats
from discreet.privacy.pairs import NormalPair, PoissonPair, Side

_TARGET = 40.0  # the rule's error is made e^-40 of M(c)
_BEYOND = 9.5
_LARGEST_MU, _SMALLEST_MU, _SMALLEST_RATE = 64.0, 2.0**-30, 2.0**-60
_MOST_POINTS, _CHUNK, _MOST_TERMS = 1 << 16, 1 << 17, 1 << 26
_HEIGHTS = np.concatenate([np.linspace(0.02, 0.96, 48), np.linspace(0.97, 0.995, 4)])
_MOST_GAIN = 2.0  # terms on the line are at most e^2 as large as on the axis
_NEAR_ONE, _FARTHEST = math.log(2.0), 36.0
_DEAD, _CLEAR = -60.0, -50.0
_CELLS = 512
_MOST_LINES = 64


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    """Points x + i Y, the logarithm of w there with its error, and ln|n| and the angle of n, the step included."""

    log_w: Floats
    angle: Floats
    blur: Floats
    log_n: Floats
    turn: Floats
    unsure: Floats  # relative error of n
    rule: float  # ln of the rule's error relative to e^gain times M(c), or to the mass 1 of n
    gain: float  # the largest of gain over the strip, and of y^2/2
    own_gain: float  # at the line
    log_ends: float  # of what is cut off of n w^p


@dataclass(frozen=True, slots=True)
class _Moment:
    """M(c) e^-peak, less 1 if it is near 1 (then the peak is 0), and a bound on its error."""

    value: float
    error: float
    peak: float
    near: bool

    @property
    def size(self) -> float:
        """M(c) e^-peak."""
        return 1 + self.value if self.near else self.value

    @property
    def log(self) -> tuple[float, float]:
        """Ln M(c), and a bound on its error."""
        if self.near:
            value = math.log1p(self.value)
            return value, 2 * self.error / self.size + UNIT * abs(value)
        value = math.log(self.value)
        return self.peak + value, 2 * self.error / self.value + UNIT * (abs(self.peak) + abs(value))


@dataclass(eq=False)
class SampledNormalFactor(Factor):
    """The Gaussian mechanism on a Poisson sample, `count` times, in one direction."""

    patient = True

    mu: float
    rate: float
    rest: float  # 1 - rate, rounded by itself
    side: Side
    count: int
    _lines: dict[tuple[float, bool], _Line] = field(default_factory=dict)
    _moments: dict[float, _Moment] = field(default_factory=dict)
    _cells: dict[float, DampedCells] = field(default_factory=dict)
    needs_short_intervals = False

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

    def _power(self, order: float) -> float:
        return order + 1 if self.side is Side.REMOVE else -order

    def _gain(self, order: float, heights: Floats) -> Floats:
        """Return by how much, in logarithms, the integral of the integrand's size can be larger than on the axis."""
        plain, power = heights * heights / 2, self._power(order)
        if power >= 0:
            return np.asarray(plain)
        turned = power * np.log(np.cos(self.mu * heights / 2))
        flat = power * math.log(self.rest)
        return np.asarray(plain + np.where(self.mu * heights <= math.pi / 2, np.minimum(turned, flat), turned))

    def _left(self, order: float) -> float:
        """Return how far to the left of 0 the peak of n w^p can lie: where |x| = -p mu g e^z/w, by halving."""
        lean = max(-self._power(order), 0.0) * self.mu
        odds, half = self.rest / self.rate, self.mu * self.mu / 2
        low, high = 0.0, lean
        while high - low > 1e-3 * (1 + low):
            middle = (low + high) / 2
            share = 1 / (1 + odds * math.exp(min(self.mu * middle + half, 600.0)))
            low, high = (middle, high) if middle < lean * share else (low, middle)
        return high

    def _share(self, x: Floats) -> Floats:
        """Return g e^z/w: how much of w is its second term; it grows with x."""
        z = self.mu * x - self.mu * self.mu / 2
        return np.asarray(1 / (1 + self.rest / self.rate * np.exp(np.minimum(-z, 600.0))))

    def _spacing(self, order: float, *, off_axis: bool) -> tuple[float, float, float]:
        """Return the height of a line, half the width of its strip, and a step for which the rule's error is e^-40."""
        tops = self._tops
        widths = tops / 2 if off_axis else tops
        needs = (_TARGET + self._gain(order, tops)) / widths
        needs = np.where(self._gain(order, widths) <= _MOST_GAIN, needs, math.inf) if off_axis else needs
        best = int(np.argmin(needs))
        width = float(widths[best])
        return width if off_axis else 0.0, width, 2 * math.pi / float(needs[best])

    @cached_property
    def _tops(self) -> Floats:
        """The heights at which a strip is tried to end: below pi/mu, and no higher than useful."""
        near = np.linspace(0.5, 40.0, 80)
        return np.concatenate([_HEIGHTS * (math.pi / self.mu), near[near < 0.995 * math.pi / self.mu]])

    def _line(self, order: float, *, off_axis: bool) -> _Line:
        """Lay the points that matter at an order; kept for the next call."""
        key = (order, off_axis)
        if key not in self._lines:
            if len(self._lines) >= _MOST_LINES:
                self._lines.clear()
            self._lines[key] = self._fresh_line(order, off_axis=off_axis)
        return self._lines[key]

    def _fresh_line(self, order: float, *, off_axis: bool) -> _Line:
        height, width, step = self._spacing(order, off_axis=off_axis)
        if not math.isfinite(step) or step <= 0 or not self._reach(order) / step <= _MOST_POINTS:
            raise Unsuitable
        power, mu = self._power(order), self.mu
        right, left = max(power, 0.0) * mu, self._left(order)
        x = np.arange(-math.ceil((left + _BEYOND) / step), math.ceil((right + _BEYOND) / step) + 1.0) * step
        log_w, angle, blur = self._log_mixture(x, height)
        own = float(self._gain(order, np.array([height]))[0])
        base = math.log(step) - math.log(2 * math.pi) / 2
        sizes = self._edge_sizes(power, x, mu * height, log_w[[0, -1]])
        ends = [
            size + (height * height - x[end] ** 2) / 2 + base + math.log1p(1 / (step * (abs(x[end]) - side)))
            for end, side, size in zip((0, -1), (left, right), sizes, strict=True)
        ]
        most = max(float(self._gain(order, np.array([height + width]))[0]), (height + width) ** 2 / 2)
        return _Line(
            log_w, angle, blur, np.asarray(base + (height * height - x * x) / 2), np.asarray(-height * x),
            UNIT * (4 + x * x / 2 + height * np.abs(x)), math.log(2.0) + 1e-9 - 2 * math.pi * width / step,
            most, own, float(np.logaddexp(*ends)) + 1e-6,
        )  # fmt: skip

    def _edge_sizes(self, power: float, x: Floats, turn: float, on_axis: Floats) -> tuple[float, float]:
        """Bound ln |w^p| at the two ends, and beyond up to a fall of n w^p on the axis; `turn` is mu * height."""
        first, last = (float(end) for end in (on_axis if turn == 0 else self._log_mixture(x[[0, -1]], 0.0)[0]))
        if power >= 0:
            return power * first, power * last
        least = max(math.cos(turn / 2), 1 - float(self._share(x[:1])[0]) * (1 - math.cos(turn)))
        return (
            power * (first + math.log(least)),
            min(power * (last + math.log(math.cos(turn / 2))), power * math.log(self.rest)),
        )

    def _reach(self, order: float) -> float:
        """Return the length of the range of x that matters."""
        return 2 * _BEYOND + max(self._power(order), 0.0) * self.mu + self._left(order)

    def _log_mixture(self, x: Floats, height: float) -> tuple[Floats, Floats, Floats]:
        """Return ln|w|, the angle of w, and a bound on the error of ln w, at x + i height; mu height <= pi/2.

        With z = mu x - mu^2/2 and b = mu height, w = 1 + g (e^z cos b - 1) + i g e^z sin b. |w|^2 - 1 is known to a
        relative unit of g (1 + e^z) times |w| + 1. Where g e^z > 1 all is divided by e^z; then all terms are positive.
        """
        rate, rest, b = self.rate, self.rest, self.mu * height
        z = self.mu * x - self.mu * self.mu / 2
        bend = max(1.0, -math.log(rate))
        low, tall = np.minimum(z, bend), z > bend
        more = rate * (np.expm1(low) * math.cos(b) - 2 * math.sin(b / 2) ** 2)
        across = rate * np.exp(low) * math.sin(b)
        square = 2 * more + more * more + across * across
        near = square > -0.5
        first = np.where(
            near,
            np.log1p(np.where(near, square, 0.0)) / 2,
            np.log(np.hypot(rest + rate * np.exp(low) * math.cos(b), across)),
        )
        fall = rest * np.exp(-np.maximum(z, 0.0))
        second = z + np.log(np.hypot(rate * math.cos(b) + fall, rate * math.sin(b)))
        log_w = np.where(tall, second, first)
        sizes = np.where(tall, 1.0, rest + rate * np.exp(low))
        angle = np.where(
            tall,
            np.arctan2(rate * math.sin(b), rate * math.cos(b) + fall),
            np.arctan2(across, rest + rate * np.exp(low) * math.cos(b)),
        )
        # the terms of |w|^2 - 1 relative to |w|^2, which is at least w^2/2 for b <= pi/2; a rounded mu moves z, and z
        # moves ln w by at most sqrt 2 times the share of the second term
        share = np.where(tall, 1.0, np.minimum(rate * np.exp(low) / sizes, 1.0))
        terms = np.where(tall, 4 + np.abs(second), np.where(near, 8 * rate * (1 + np.exp(low)) / sizes, 4.0))
        moved = 2 * share * (2 + np.abs(self.mu * x) + self.mu * self.mu)
        return log_w, angle, UNIT * (terms + moved + np.abs(log_w) + np.abs(angle))

    def _sums(self, order: float, nodes: Floats, line: _Line, peak: float, *, near: bool) -> tuple[Complexes, Floats]:
        """Return the rule's sums of n w^a e^-peak, or of n (w^a - 1), at a = power + i t, and their rounding errors."""
        power, points = self._power(order), len(line.log_w)
        if len(nodes) * points > _MOST_TERMS:
            raise Unsuitable
        sums, errors = np.empty(len(nodes), dtype=np.complex128), np.empty(len(nodes))
        rows = max(_CHUNK // points, 1)
        for first in range(0, len(nodes), rows):
            part = nodes[first : first + rows]
            still = power * line.log_w - float(np.min(part)) * line.angle
            alive = still > (_DEAD if near else float(np.max(still + line.log_n)) + _DEAD - line.log_n)
            dead = float(np.sum(np.exp((still + line.log_n)[~alive] - peak)))
            found = _chunk(line, power, part, alive, peak, near=near)
            sums[first : first + rows], errors[first : first + rows] = found[0], found[1] + dead
        return sums, errors

    def _moment(self, order: float) -> _Moment:
        """Sum the integrand at the real order, on the axis; kept."""
        if order not in self._moments:
            if len(self._moments) > 1024:
                self._moments.clear()
            self._moments[order] = self._fresh_moment(order)
        return self._moments[order]

    def _fresh_moment(self, order: float) -> _Moment:
        line, power = self._line(order, off_axis=False), self._power(order)
        real = power * line.log_w
        logs = real + line.log_n
        peak = float(np.max(logs))
        weights = np.exp(logs - peak)
        total = float(np.sum(weights))
        rough = peak + math.log(total)
        rounding = 2.0**-52 * len(weights)
        if abs(rough) < _NEAR_ONE and self._reach(order) < _FARTHEST:
            mass, more = np.exp(line.log_n), np.expm1(real)
            error = float(mass @ (np.abs(more) * (line.unsure + UNIT + rounding) + abs(power) * (more + 1) * line.blur))
            return _Moment(float(mass @ more), error + self._missed(line, rough, 0.0, near=True), 0.0, True)
        exact = line.unsure + UNIT * (np.abs(line.log_n) + abs(peak)) + abs(power) * line.blur + rounding
        return _Moment(total, float(weights @ exact) + self._missed(line, rough, peak, near=False), peak, False)

    def _missed(self, line: _Line, log_moment: float, peak: float, *, near: bool) -> float:
        """Bound the errors of the rule and of the cut, in units of e^peak; ln M(c) need be known to 1/10 only."""
        rule = math.exp(min(line.rule + line.gain + log_moment - peak + 0.1, 700.0))
        cut = math.exp(min(line.log_ends - peak, 700.0))
        if near:  # the same for n by itself
            rule += math.exp(line.rule + line.gain)
            cut += 2 * math.exp(line.own_gain - _BEYOND * _BEYOND / 2)
        return (rule + cut) * (1 + 1e-9)

    def log_moment(self, order: float) -> tuple[float, float]:
        """Sum the integrand at the real order."""
        try:
            value, error = self._moment(order).log
        except Unsuitable:
            return math.inf, math.inf
        return self.count * value, self.count * error * (1 + UNIT)

    def slopes(self, order: float) -> tuple[float, float]:
        """Return the mean and the variance of the tilted loss, times the count."""
        mean, variance = self._spread(order)
        return self.count * (mean if self.side is Side.REMOVE else -mean), self.count * variance

    def _spread(self, order: float) -> tuple[float, float]:
        """Return the mean and the variance of the tilted ln w, by the rule on the axis."""
        weights, line = self._weights(order)
        mean = float(weights @ line.log_w)
        return mean, float(weights @ (line.log_w - mean) ** 2)

    def _weights(self, order: float) -> tuple[Floats, _Line]:
        line = self._line(order, off_axis=False)
        logs = self._power(order) * line.log_w + line.log_n
        weights = np.exp(logs - float(np.max(logs)))
        return weights / float(np.sum(weights)), line

    def variances(self, order: float) -> Floats:
        """Bound the tilted variance by the second moment of ln w about its mean, with the rule's error on it.

        From the axis to height y, ln w moves by at most mu y P/cos(mu y/2), P = g e^z/w its slope: so |ln w - m|^2 is
        at most twice its value on the axis plus twice (mu y P/cos)^2, and the mean of (mu P)^2 is about the variance of
        ln w over that of x. The rule's error is thus e^-40 times the variance itself, times y^2 and the inverse
        variance of x, below 1e6 together: nothing beside the relative 1e-9 added here.
        """
        weights, line = self._weights(order)
        mean = float(weights @ line.log_w)
        moment = float(weights @ (np.abs(line.log_w - mean) + line.blur) ** 2)
        return np.array([moment * (1 + 1e-9)])

    def _ratios(self, order: float, nodes: Floats) -> tuple[Complexes, Floats, _Moment]:
        """Return M(c + i t) e^-peak, less 1 where M(c) is near 1, and bounds on the errors; and M(c)."""
        base, line = self._moment(order), self._line(order, off_axis=True)
        sums, errors = self._sums(order, nodes, line, base.peak, near=base.near)
        errors = errors + self._missed(line, base.log[0], base.peak, near=base.near)
        return sums if self.side is Side.REMOVE else np.conj(sums), errors, base

    def values(self, order: float, nodes: Floats) -> tuple[Complexes, Floats]:
        """Divide the sums on the line by the sum on the axis."""
        sums, errors, base = self._ratios(order, nodes)
        values = (1 + sums if base.near else sums) / base.size
        return values[None, :], ((errors + 2 * base.error) / base.size * (1 + 1e-6) + UNIT)[None, :]

    def logs(self, order: float, nodes: Floats) -> tuple[Complexes, Floats, Floats]:
        """Take ln(1 + (M - 1)) where M(c) is near 1, else the logarithm of the ratio."""
        if not self._moment(order).near:
            return super().logs(order, nodes)
        sums, errors, base = self._ratios(order, nodes)
        log, unsure = base.log
        sizes = np.abs(1 + sums)
        logs, error = log_one_more(sums, errors)
        logs, error = logs - log, error + unsure
        ceilings = np.minimum(logs.real + error, log_height((sizes + errors) / base.size * (1 + 4 * unsure)))
        return logs[None, :], error[None, :], ceilings[None, :]

    def heights(self, order: float, nodes: Floats) -> Floats:
        """Bound ln |phi| by its logarithm, which is sharp near 0."""
        return self.logs(order, nodes)[2]

    def far(self, order: float, start: float) -> float:
        """Bound ln |Phi| by what the line's factor e^(-t angle) leaves; see `DampedCells`."""
        return float(self._damped(order, np.array([start]))[0])

    def ceilings(self, order: float, starts: Floats, ends: Floats) -> Floats:
        """Take the better of the bound for ever at the start of each interval, and of value and slope at its middle."""
        found = super().ceilings(order, starts, ends)
        unclear = found > _CLEAR
        found[unclear] = np.minimum(found[unclear], self._damped(order, starts[unclear]))
        return found

    def _damped(self, order: float, starts: Floats) -> Floats:
        if order not in self._cells:
            self._cells[order] = self._fresh_cells(order)
        return self.count * self._cells[order].log_bounds(starts)

    def _fresh_cells(self, order: float) -> DampedCells:
        """Bound the tilted law on cells of x from both sides, and take several heights."""
        power, mu = self._power(order), self.mu
        x = np.linspace(-self._left(order) - _BEYOND, max(power, 0.0) * mu + _BEYOND, _CELLS + 1)
        log_w, _, _ = self._log_mixture(x, 0.0)
        log, error = self._moment(order).log
        logs = power * log_w - x * x / 2 - math.log(2 * math.pi) / 2 - log
        cell = float(x[1] - x[0])
        share = self._share(x)
        steep = (np.maximum(np.abs(x[1:]), np.abs(x[:-1])) + abs(power) * mu * share[1:]) * cell / 2
        doubt = error + 1e-9
        below = cell * np.exp(np.minimum(logs[1:], logs[:-1]) - steep - doubt)
        above = cell * np.exp(np.maximum(logs[1:], logs[:-1]) + steep + doubt)
        heights = np.minimum(np.linspace(0.08, 0.5, 6) * (math.pi / mu), np.linspace(0.4, 2.5, 6))[:, None]
        turn = mu * heights
        least = np.maximum(np.cos(turn / 2), 1 - share * (1 - np.cos(turn)))
        gains = heights * heights / 2 + min(power, 0.0) * np.log(least) + 1e-9
        # beyond the last edge w^p is at most (1 - g)^p where p < 0, and M(c) is at least 1
        last = logs[-1] if power >= 0 else power * math.log(self.rest) - x[-1] ** 2 / 2
        with np.errstate(over="ignore"):  # an infinite bound is one
            outside = np.exp(heights[:, 0] ** 2 / 2 + last) + np.exp(gains[:, 0] + logs[0])
        outside = outside * math.exp(doubt) / _BEYOND
        return DampedCells(
            np.append(np.cumsum(below[::-1])[::-1], 0.0), above, np.exp(logs + doubt), share * (1 - 1e-9),
            np.sin(turn) * (1 - 1e-9), np.sin(turn) / heights * (1 - 1e-9), gains, outside,
        )  # fmt: skip


def _chunk(
    line: _Line, power: float, nodes: Floats, alive: NDArray[np.bool_], peak: float, *, near: bool
) -> tuple[Complexes, Floats]:
    """Sum at some nodes; where a term has died out, w^a counts as 0 (the caller adds what it was)."""
    log_w, angle = line.log_w[alive], line.angle[alive]
    real = power * log_w - np.multiply.outer(nodes, angle)
    turn = power * angle + np.multiply.outer(nodes, log_w)
    reach, rounding = abs(power) + nodes, 2.0**-52 * len(log_w)
    if not near:
        size = np.exp(real + (line.log_n[alive] - peak))
        whole = turn + line.turn[alive]
        sums = np.sum(size * np.cos(whole), axis=1) + 1j * np.sum(size * np.sin(whole), axis=1)
        exact = line.unsure[alive] + UNIT * (np.abs(line.log_n[alive]) + abs(peak))
        return sums, size @ exact + reach * (size @ line.blur[alive]) + rounding * np.sum(size, axis=1)
    weight = np.exp(line.log_n)
    turned = weight * np.exp(1j * line.turn)
    part, grown = _expm1(real, turn)
    sums = part @ turned[alive] - np.sum(turned[~alive])
    size, own = np.abs(part), weight[alive]
    gone = float(np.sum(weight[~alive] * (line.unsure[~alive] + UNIT)))
    blurred = (grown + 2.0**-52) @ (own * line.blur[alive])
    return sums, size @ (own * (line.unsure[alive] + UNIT + rounding)) + reach * blurred + gone


def _expm1(real: Floats, turn: Floats) -> tuple[Complexes, Floats]:
    """Return e^(real + i turn) - 1 without cancellation, and e^real."""
    half = np.sin(turn / 2)
    less = np.expm1(real)
    grown = less + 1
    return less - 2 * grown * half * half + 2j * (grown * half * np.cos(turn / 2)), grown
