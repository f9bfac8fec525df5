"""Engine A: delta(epsilon) as an integral of moments along a line, with every error bounded.

For the sum L of all losses, delta(epsilon) = P(L infinite) + E[(1 - e^(epsilon - L))^+; L finite], and for c > 0

    delta(epsilon) - P(L infinite) = (1 / 2 pi i) integral over Re s = c of M(s) e^(-s epsilon)/(s (s+1)) ds.

Left of the pole at 0, for -1 < c < 0, minus the same integral is P(L finite) - (delta(epsilon) - P(L infinite)) =
E[min(1, e^(epsilon - L)); L finite]: the better number where delta is large.

Composition multiplies M, so the cost does not depend on the number of releases. The errors of the sum that replaces
the integral, and where each is bounded:

- aliases: the infinite sum of step h is delta(epsilon) plus e^(c m P) delta(epsilon + m P) for all m != 0, P = 2 pi/h:
  never too small, and too large by no more than Chernoff bounds at other orders allow (`_aliases`);
- the nodes left out: bounds on |Phi| over intervals, by values and slopes, and beyond them by the variation of the
  tilted density (`_left_out`);
- the moments: each `Factor` bounds its own errors, quadrature and rounding; they are summed over the releases;
- rounding of the weights and of the sum;
- smoothing, only where |Phi| does not die out: the composition with one more Gaussian release of small mu has a larger
  delta, by no more than a multiple of a smoothed density at epsilon, computed by the same sum (`_smoothing_gap`).

The real axis gives the Renyi bound, which is a ceiling for every answer.

How the moments on a line turn into delta: one weight for losses anywhere, one for losses on a lattice.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.laws import Enclosure
from discreet.privacy.accounting.contour.gaussian import NormalFactor
from discreet.privacy.accounting.contour.moments import Factor, Indices, Moments, Spectrum, Unsuitable, log_constant
from discreet.privacy.accounting.floats import LARGEST_PHASE, UNIT, Complexes, Floats, bounded, ensure_tested

_ALIAS, _DECAYED = 36.0, 36.0
_MOST_NODES, _MOST_BLOCKS, _MOST_WORK, _MOST_SPREAD = 1 << 18, 1 << 14, 1 << 25, 1 << 23
_PATIENCE = 8
_MOST_SMOOTHING = 64.0  # of (tau c)^2: beyond it the smoothed answer says nothing
_WIDER = 1.25  # the square of the ratio of the two Gaussians in the bound on smoothing
_FEW, _UNBOUNDED = 16, 1e300


@dataclass(frozen=True, slots=True)
class ContourValue:
    """The logarithm of the integral, enclosed, and about its slope in epsilon."""

    log: Enclosure
    slope: float


class Contour:
    """One line Re s = c with its nodes: serves every epsilon whose saddle is near c."""

    def __init__(self, moments: Moments, order: float, epsilon: float, kernel: Kernel, smoothing: float = 0.0) -> None:
        """Choose the nodes for the neighborhood of one epsilon, and evaluate the moments there.

        `smoothing` is the mu of the Gaussian release added, 0 for none. Raises `Unsuitable` where the nodes would be
        too many.
        """
        ensure_tested()
        if (smoothing * order) ** 2 > _MOST_SMOOTHING:
            raise Unsuitable
        self.order, self.kernel, self.smoothing = order, kernel, smoothing
        self.sign = 1.0 if order > 0 else -1.0
        self._values: dict[float, ContourValue] = {}
        self._levels: list[tuple[float, float]] = []
        self._counted = -1
        self._ready: dict[int, tuple[Complexes, Floats, Floats]] = {}
        self.extra = [NormalFactor(smoothing * smoothing)] if smoothing else []
        self.moments = moments
        moments(order)
        self.total, self.total_error = moments.known[order]
        if not math.isfinite(self.total):
            raise Unsuitable
        self.step = self._spacing(epsilon)
        head = self._head()
        more, self.left_out, self._left_out_unweighted = self._tail(head)
        self.nodes = np.concatenate([np.arange(head + 1), more]) * self.step
        parts = [factor.spectrum(order, self.nodes) for factor in moments.factors]
        self.spectrum = _sum(parts)
        self.smooth = _sum([self.spectrum, *(factor.spectrum(order, self.nodes) for factor in self.extra)])

    def _spacing(self, epsilon: float) -> float:
        """Return a step whose aliases are e^-36 of the answer's order of magnitude."""
        window = alias_window(self.moments, self.order, epsilon, self.smoothing)
        if math.isfinite(self.kernel.limit):
            count = max(math.ceil(window * self.kernel.limit / math.pi), 1)
            return 2 * self.kernel.limit / count
        return 2 * math.pi / window

    def _chernoff(self, epsilon: float) -> list[tuple[float, float]]:
        """Return orders with bounds on ln of the integral by its moment there; what bounds it by 1 costs nothing."""
        known = self.moments.known
        if len(known) != self._counted:
            self._counted = len(known)
            self._levels = _levels(self.moments, self.order, self.smoothing)
        return [(order, level - order * epsilon) for order, level in self._levels]

    def _smooth_moment(self, order: float) -> float:
        return _smooth_moment(self.smoothing, order)

    @property
    def _most(self) -> int:
        """Return how many nodes are affordable."""
        times = _PATIENCE if any(factor.patient for factor in self.moments.factors) else 1
        return min(times * _MOST_NODES, times * _MOST_WORK // max(sum(factor.work for factor in self.moments.factors), 1))

    def _head(self) -> int:
        """Return about the number of nodes until |Phi| has died out a first time, or to the end of the period."""
        whole = math.floor(self.kernel.limit / self.step + 1e-9) if math.isfinite(self.kernel.limit) else math.inf
        spread = sum(float(f.counts @ f.variances(self.order)) for f in (*self.moments.factors, *self.extra))
        count = math.ceil(math.sqrt(2 * _DECAYED / max(spread, 1e-300)) / self.step) + 8
        if min(count, whole) > self._most:
            raise Unsuitable
        return int(min(count, whole))

    def _tail(self, head: int) -> tuple[Indices, float, float]:
        """Return the indices of the later nodes that count, and bounds on the sum over all others of |Phi| |W| h/pi.

        Intervals on which |Phi| is certainly negligible are bounded, the nodes in the others are added, and beyond the
        last interval one bound serves for ever. The second bound is without W, for the smoothing's own sum.
        """
        start = (head + 0.5) * self.step
        if start >= self.kernel.limit:
            return np.array([], dtype=np.intp), 0.0, 0.0
        factors = [*self.moments.factors, *self.extra]
        end, far = self._far_end(factors, start)
        longest = self._longest(factors)
        nodes, blocks = (end - start) / self.step, (end - start) / longest
        if nodes <= self._most and (nodes <= blocks + _FEW or blocks > _MOST_BLOCKS):  # intervals would cost more
            edges = np.array([start, max(end, start)])
            logs = np.zeros(1)
        else:
            edges = self._edges(start, end, longest)
            logs = sum((f.ceilings(self.order, edges[:-1], edges[1:]) for f in factors), np.zeros(len(edges) - 1))
        starts, ends = edges[:-1], edges[1:]
        unclear = logs + self._fading(starts) > -_DECAYED
        more = self._unclear(head, edges, unclear)
        sizes = np.where(unclear, 0.0, np.exp(np.minimum(logs, 0.0))) * (ends - starts + self.step) / math.pi
        found = float(sizes @ self.kernel.largest(self.order, starts, 0.0))
        bare = float(np.sum(sizes))
        if math.isfinite(far) and math.isinf(self.kernel.limit):
            found += math.exp(far) * (1 / end + self.step / end**2) / math.pi
            bare += math.exp(far) * (self.step + 1 / (self.smoothing**2 * end)) / math.pi if self.smoothing else 0.0
        return more, found * (1 + 1e-9), bare * (1 + 1e-9)

    def _fading(self, nodes: Floats) -> Floats:
        """Return ln(W(t)/W(0)), by which a node counts less; 0 with smoothing, whose own sum is without W."""
        if self.smoothing or math.isfinite(self.kernel.limit):
            return np.zeros(len(nodes))
        sizes = self.kernel.largest(self.order, np.append(nodes, 0.0), 0.0)
        return np.asarray(np.log(sizes[:-1] / sizes[-1]))

    def _unclear(self, head: int, edges: Floats, unclear: NDArray[np.bool_]) -> Indices:
        """Return the indices of the nodes in intervals that are not negligible."""
        if not np.any(unclear):
            return np.array([], dtype=np.intp)
        last = min(edges[-1], self.kernel.limit) / self.step + 1e-9
        if last - head > _MOST_SPREAD:
            raise Unsuitable
        indices = np.arange(head + 1, math.floor(last) + 1)
        which = np.clip(np.searchsorted(edges, indices * self.step, side="right") - 1, 0, len(unclear) - 1)
        # a node within a rounding of an edge is in both intervals: count it if either is unclear
        near = np.clip(np.searchsorted(edges, indices * self.step * (1 - 1e-12), side="right") - 1, 0, len(unclear) - 1)
        chosen = indices[unclear[which] | unclear[near]]
        if len(chosen) > self._most:
            raise Unsuitable
        return chosen

    def _far_end(self, factors: list[Factor], start: float) -> tuple[float, float]:
        """Return a t from which one bound on ln |Phi| serves for ever, and that bound; or the end of the period."""
        end, limit = start, self.kernel.limit
        if math.isinf(limit) and sum(factor.far(self.order, 1e300) for factor in factors) > -_DECAYED:
            raise Unsuitable
        for _ in range(60):
            bound = sum(factor.far(self.order, end) for factor in factors) if math.isinf(limit) else 0.0
            if bound + float(self._fading(np.array([end]))[0]) <= -_DECAYED:
                return end, bound
            if end >= limit:
                return limit, -math.inf
            end = min(end * 2, limit)
        raise Unsuitable

    def _longest(self, factors: list[Factor]) -> float:
        """Return the length of an interval over which |phi| of a typical release cannot change much."""
        spreads = [(factor.counts, factor.variances(self.order)) for factor in factors if factor.needs_short_intervals]
        if not spreads:
            return _UNBOUNDED
        total = sum(float(counts @ spread) for counts, spread in spreads)
        typical = sum(float(counts @ spread**2) for counts, spread in spreads) / total
        return 0.8 / math.sqrt(2 * typical)

    def _edges(self, start: float, end: float, longest: float) -> Floats:
        """Cut [start, end] into intervals short beside t and beside the inverse spread of the losses."""
        if end <= start:
            return np.array([start])
        edges, growth = [start], 0.06
        while edges[-1] < end and edges[-1] * growth < longest:  # |Phi| falls fast at first: steps may grow with it
            edges.append(min(edges[-1] * (1 + growth), end))
            growth = min(growth * 1.15, 0.4)
        flat = math.ceil((end - edges[-1]) / longest)
        if flat > _MOST_BLOCKS:
            raise Unsuitable
        return np.concatenate([edges, np.linspace(edges[-1], end, flat + 1)[1:]])

    def value(self, epsilon: float) -> ContourValue:
        """Bound ln of the integral at one epsilon."""
        if epsilon not in self._values:
            self._values[epsilon] = self._value(epsilon)
        return self._values[epsilon]

    def _value(self, epsilon: float) -> ContourValue:
        weights, roundings = self.kernel.weights(self.order, self.nodes, epsilon)
        scale, scale_error = self.kernel.scale(self.order, epsilon)
        total, error, slope = self._weighted(self.smooth, self.sign * weights, roundings)
        error += self.left_out
        front = self.total + self._smooth_moment(self.order) + scale
        unsure = self.total_error + scale_error + UNIT * (abs(self.total) + abs(self._smooth_moment(self.order)) + 4)
        high = total + error
        low = total - error - self._aliases(epsilon, front)
        if math.isnan(high) or math.isnan(low):
            raise Unsuitable
        if self.smoothing:  # it raises delta, so it lowers what is left of 1
            gap = self._smoothing_gap(epsilon)
            low, high = (low - gap, high) if self.sign > 0 else (low, high + gap)
        lower, middle, upper = (
            front + off + math.log(part) if part > 0 else -math.inf
            for off, part in ((-unsure, low), (0.0, total), (unsure, high))
        )
        return ContourValue(bounded(lower, middle, upper, "contour integral"), slope)

    def _weighted(self, spectrum: Spectrum, weights: Complexes, roundings: Floats) -> tuple[float, float, float]:
        """Return h/(2 pi) times the sum over all nodes and their mirror images, its error, and the slope of its log."""
        values, sizes, unsure = self._prepared(spectrum)
        terms = values * weights
        factor = self.step / (2 * math.pi)
        total = factor * float(np.sum(terms.real))
        error = unsure * (np.abs(weights) + roundings) + sizes * roundings + UNIT * np.abs(terms)
        turning = -factor * float(np.sum(self.order * terms.real - self.nodes * terms.imag))
        return total, factor * float(np.sum(error)) * (1 + UNIT), turning / total if total > 0 else -self.order

    def _prepared(self, spectrum: Spectrum) -> tuple[Complexes, Floats, Floats]:
        """Return Phi at the nodes, its size and a bound on its error, each counted with its mirror image."""
        if id(spectrum) not in self._ready:
            known = (spectrum.error < 0.5) & (np.abs(spectrum.log.imag) < LARGEST_PHASE)
            values = np.where(known, np.exp(np.where(known, spectrum.log, 0.0)), 0.0)
            doubt = np.where(known, 2 * spectrum.error + UNIT * (1 + np.abs(spectrum.log)), 0.0)
            unsure = np.where(known, np.abs(values) * doubt, np.exp(np.minimum(spectrum.ceiling, 0.0)))
            multiplicity = np.full(len(values), 2.0)
            multiplicity[0] = 1.0
            if math.isfinite(self.kernel.limit) and abs(self.nodes[-1] - self.kernel.limit) < self.step / 4:
                multiplicity[-1] = 1.0  # half a period away, a node and its mirror image are one
            self._ready[id(spectrum)] = multiplicity * values, multiplicity * np.abs(values), multiplicity * unsure
        return self._ready[id(spectrum)]

    def _aliases(self, epsilon: float, front: float) -> float:
        """Bound the aliases, in units of e^front, by Chernoff bounds at the orders already known."""
        window = 2 * math.pi / self.step
        best = {-1: math.inf, 1: math.inf}
        for order, bound in self._chernoff(epsilon):
            side = 1 if order > self.order else -1
            # an alias counts e^(c m P) times the answer at epsilon + m P, for the one kernel as for the other
            best[side] = min(best[side], self._geometric(bound - front, abs(order - self.order) * window))
        return best[-1] + best[1]

    @staticmethod
    def _geometric(log_first: float, rate: float) -> float:
        """Return e^log_first times the sum of e^(-m rate) over m >= 1, rounded up; infinite where it overflows."""
        if rate <= 0 or log_first - rate > 700:
            return math.inf
        return math.exp(max(log_first - rate, -700.0)) / -math.expm1(-rate) * (1 + 1e-9)

    def _smoothing_gap(self, epsilon: float) -> float:
        """Bound how much the added Gaussian release raises delta, in units of e^front.

        Given the loss l, it raises (1 - e^d)^+, d = epsilon - l, to delta_tau(d), tau = mu: by e^min(d,0)
        delta_tau(|d|). For d >= 0, delta_tau(d) is the integral of e^x Phi(-tau/2 - x/tau) from d on, at most (tau
        sqrt(2 pi)/2) Phi(tau/2 - d/tau) because Phi(-v) <= e^(-v^2/2)/2; and with w^2 = 5 tau^2/4 that is at most C
        e^(-d^2/(2 w^2)), C = (tau sqrt(2 pi)/2)(1/2 + tau/5) e^(tau^2/2). The mean of e^(-(epsilon - L)^2/(2 w^2)) is
        (w/sqrt(2 pi)) times the integral of M(s) e^(-s epsilon + w^2 s^2/2) over t; its aliases are positive.
        """
        tau = self.smoothing
        wide = _WIDER * tau * tau
        constant = tau * math.sqrt(2 * math.pi) / 2 * (0.5 + tau / 5) * math.exp(tau * tau / 2) * (1 + 1e-9)
        shift = wide * (self.order**2 - self.nodes**2) / 2
        turn = wide * self.order * self.nodes - self.nodes * epsilon
        weights = np.exp(shift + 1j * turn)
        roundings = UNIT * np.abs(weights) * (4 + np.abs(turn) + np.abs(shift))
        total, error, _ = self._weighted(self.spectrum, weights, roundings)
        # the nodes left out: their Gaussian weight is e^(w^2 c^2/2) times one that falls faster than the smoothing
        beyond = math.exp(wide * self.order**2 / 2) * self._left_out_unweighted
        density = math.sqrt(2 * math.pi * wide) * (total + error + beyond)
        # the front contains the smoothing's own moment, which this integral does not
        return constant * max(density, 0.0) * math.exp(-self._smooth_moment(self.order)) * (1 + 1e-9)


def alias_window(moments: Moments, order: float, epsilon: float, smoothing: float = 0.0) -> float:
    """Return the distance of aliases that makes them e^-36 of the answer's order of magnitude."""
    level = moments(order) - order * epsilon - math.log(abs(order * (order + 1)))
    below, above = [math.inf], [math.inf]
    for other, bound in _levels(moments, order, smoothing):
        need = max(bound - other * epsilon - level + _ALIAS, 1.0) / abs(other - order)
        (above if other > order else below).append(need)
    window = max(min(below), min(above), 1e-300)
    if not math.isfinite(window):
        raise Unsuitable
    return window


def _levels(moments: Moments, order: float, smoothing: float) -> list[tuple[float, float]]:
    """Return orders other than the line's, with bounds on ln of the integral at level 0; 1 bounds it at order 0."""
    found = [(0.0, 0.0)] + ([(-1.0, 0.0)] if order < 0 else [])
    for other, (value, error) in moments.known.items():
        if other != order and math.isfinite(value) and (other > 0) == (order > 0):
            smooth = _smooth_moment(smoothing, other)
            found.append((other, value + error + smooth + UNIT * abs(smooth) + log_constant(other) + 1e-9))
    return found


def _smooth_moment(smoothing: float, order: float) -> float:
    """Return the moment of the added Gaussian release."""
    return smoothing**2 * order * (order + 1) / 2


def _sum(parts: list[Spectrum]) -> Spectrum:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


class Kernel(ABC):
    """A weight W with delta = e^scale (h / 2 pi) times the sum over nodes t of Phi(t) W(t), up to aliases."""

    limit: float = math.inf
    """The largest t that counts: half a period when Phi is periodic."""

    @abstractmethod
    def scale(self, order: float, epsilon: float) -> tuple[float, float]:
        """Return the logarithm of the factor in front, K(order) left out, and a bound on its error."""

    @abstractmethod
    def weights(self, order: float, nodes: Floats, epsilon: float) -> tuple[Complexes, Floats]:
        """Return W at the nodes, and bounds on its errors."""

    @abstractmethod
    def largest(self, order: float, nodes: Floats, epsilon: float) -> Floats:
        """Return bounds on |W| that do not grow with t."""


@dataclass(frozen=True, slots=True)
class LineKernel(Kernel):
    """W(t) = e^(-i t epsilon)/(s (s + 1)), s = c + i t: the two-sided Laplace transform of (1 - e^-x) for x > 0.

    Proof of the identity: for c > 0 the integral over x > 0 of e^(-s x)(1 - e^-x) is 1/s - 1/(s+1) = 1/(s (s+1));
    invert it at x = L - epsilon and take the mean over L.
    """

    def scale(self, order: float, epsilon: float) -> tuple[float, float]:
        """Return -c epsilon."""
        return -order * epsilon, UNIT * abs(order * epsilon)

    def weights(self, order: float, nodes: Floats, epsilon: float) -> tuple[Complexes, Floats]:
        """Turn by -t epsilon and divide by s (s + 1)."""
        s = np.asarray(order + 1j * nodes, dtype=np.complex128)
        weights = np.exp(-1j * (nodes * epsilon)) / (s * (s + 1))
        return weights, UNIT * np.abs(weights) * (4 + np.abs(nodes * epsilon))

    def largest(self, order: float, nodes: Floats, epsilon: float) -> Floats:  # noqa: ARG002  the same at every level
        """|s| and |s + 1| grow with t."""
        return np.asarray((1 + UNIT) / np.hypot(order, nodes) / np.hypot(order + 1, nodes))


@dataclass(frozen=True, slots=True)
class LatticeKernel(Kernel):
    """The weight for losses on start + step * integers: delta is a sum over the lattice points above epsilon.

    With l the first of them, the sum over l + j step of e^(-s (l + j step)) (1 - e^(epsilon - l - j step)) is e^(-s l)
    (1/(1 - e^(-s step)) - e^(epsilon - l)/(1 - e^(-(s+1) step))): geometric series. Inverting over one period of t is
    exact, and a finite sum of equally spaced nodes is a sum over lattice points a window apart: aliases again.
    """

    start: float
    step: float

    @property
    def limit(self) -> float:  # type: ignore[override]
        """Half a period."""
        return math.pi / self.step

    def _first(self, epsilon: float) -> float:
        """Return the first lattice point at or above epsilon (a point within a rounding of it counts for nothing)."""
        return self.start + self.step * math.ceil((epsilon - self.start) / self.step)

    def scale(self, order: float, epsilon: float) -> tuple[float, float]:
        """Return -c l."""
        first = self._first(epsilon)
        return -order * first, UNIT * abs(order) * (abs(first) + abs(self.start))

    def weights(self, order: float, nodes: Floats, epsilon: float) -> tuple[Complexes, Floats]:
        """Turn by -t l, times the difference of the two geometric series."""
        first = self._first(epsilon)
        s = np.asarray(order + 1j * nodes, dtype=np.complex128)
        one = self.step * _series(s, self.step)
        two = self.step * math.exp(min(epsilon - first, 0.0)) * _series(s + 1, self.step)
        turn = np.exp(-1j * (nodes * first))
        sizes = np.abs(one) + np.abs(two)
        return turn * (one - two), UNIT * sizes * (6 + np.abs(nodes) * (abs(first) + abs(self.start)))

    def largest(self, order: float, nodes: Floats, epsilon: float) -> Floats:  # noqa: ARG002  the same at every level
        """Each denominator's size grows with t up to half a period."""
        s = np.asarray(order + 1j * nodes, dtype=np.complex128)
        sizes = self.step * np.abs(_series(s, self.step)) + self.step * np.abs(_series(s + 1, self.step))
        return np.asarray(sizes * (1 + 16 * UNIT))


def _series(s: Complexes, step: float) -> Complexes:
    """Return 1/(1 - e^(-s step)) without cancellation or overflow, for real parts of either sign (not both at once)."""
    right = bool(s.real[0] > 0)
    real, turn = -step * np.abs(s.real), -step * s.imag if right else step * s.imag
    half = np.sin(turn / 2)
    growth = np.exp(real)
    less = np.expm1(real) - 2 * growth * half * half + 1j * (growth * np.sin(turn))
    # to the left of 0 it is e^z/(e^z - 1) with z = s step
    return np.asarray(-1 / less if right else growth * (np.cos(turn) + 1j * np.sin(turn)) / less)
