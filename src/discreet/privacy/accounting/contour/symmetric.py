"""Losses between -r and r: randomized response, Laplace noise, bounded range; closed forms for many releases at once.

Such a loss is r with mass `top`, -r with mass `bottom`, and between them it has the density kappa e^(l/2), or, for
integer Laplace noise, atoms with the same weights at a regular step. Everything is divided by e^(c r), so that no power
overflows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.laws import DiscreteLaplace, LocationPair, Pair
from discreet.privacy.accounting.contour.moments import Factor, Indices
from discreet.privacy.accounting.floats import UNIT, Complexes, Floats
from discreet.privacy.pairs import BoundedRangePair, LaplacePair, PureApproxPair

_SMALLEST, _LARGEST, _SMALL = 2.0**-200, 2.0**16, 0.25
_ARRAYS = 7  # of the fields the first ones, with one entry for each release


@dataclass(frozen=True, slots=True, eq=False)
class SymmetricFactor(Factor):
    """Releases whose losses have the closed form of this module; arrays hold one entry for each."""

    counts: Floats
    reach: Floats
    top: Floats
    log_bottom: Floats
    kappa: Floats  # the density at r is kappa; 0 where there is none
    skew: Floats  # top - bottom, without cancellation
    half_step: Floats  # of integer Laplace noise: losses r - 2 j half_step; 0 for a density
    log_finite: tuple[float, float] = (0.0, 0.0)
    _bases: dict[float, tuple[Floats, Floats]] = field(default_factory=dict)

    @staticmethod
    def accepts(pair: Pair) -> bool:
        """Say whether a pair belongs to this family and its parameters to the range the error bounds are for."""
        found = _coefficients(pair)
        return found is not None and _SMALLEST < found[0] <= _LARGEST

    @classmethod
    def of(cls, pairs: Sequence[Pair], counts: Sequence[int]) -> SymmetricFactor:
        """Gather pairs that this family accepts."""
        rows = np.array([_coefficients(pair) for pair in pairs], dtype=np.float64)
        number = np.array(counts, dtype=np.float64)
        lost = [
            (count, Fraction(pair.claimed_delta))
            for pair, count in zip(pairs, counts, strict=True)
            if isinstance(pair, PureApproxPair) and pair.claimed_delta
        ]
        kept = math.fsum(count * _log_rest(chance) for count, chance in lost)
        slack = UNIT * abs(kept) if math.isfinite(kept) else 0.0
        reach, top, log_bottom, kappa, skew, half_step = rows.T.copy()
        return cls(number, reach, top, log_bottom, kappa, skew, half_step, (kept - slack, kept + slack))

    def restricted(self, chosen: Indices) -> SymmetricFactor:
        """Return some of the releases."""
        return SymmetricFactor(*(getattr(self, one.name)[chosen] for one in fields(self)[:_ARRAYS]))

    @property
    def lattice(self) -> tuple[float, float, float] | None:
        """All losses at r - 2 j half_step when there is one kind of release, and it has no density."""
        if len(self.counts) != 1 or (self.kappa[0] > 0 and self.half_step[0] == 0):
            return None
        reach = float(self.reach[0])
        step = 2 * float(self.half_step[0]) if self.half_step[0] else 2 * reach
        return -reach, step, 4 * 2.0**-52 * reach

    def _scaled(self, order: float, nodes: Floats) -> tuple[Complexes, Floats]:
        """Return M(order + i t) e^(-order r), and the sum of the sizes of its terms."""
        reach, kappa = self.reach[:, None], self.kappa[:, None]
        angle = nodes * reach
        turn = np.cos(angle) + 1j * np.sin(angle)
        lowest = np.exp(self.log_bottom[:, None] - 2 * order * reach)
        value = self.top[:, None] * turn + lowest * np.conj(turn)
        size = np.broadcast_to(self.top[:, None] + lowest, value.shape)
        if not np.any(kappa):
            return value, size
        middle = order + 0.5 + 1j * nodes
        far = np.exp(-(2 * order + 1) * reach)
        smooth = (turn - far * np.conj(turn)) / middle
        sizes = 2 / np.abs(middle) * np.ones_like(reach)
        if np.any(self.half_step):
            step = 2 * self.half_step[:, None]
            with np.errstate(divide="ignore", invalid="ignore"):
                stride = np.exp(-step * middle)
                ratio = -_expm1(-step * (order + 0.5), -step * nodes)
                stepped = (turn * stride - far * np.conj(turn)) / ratio
                # near a full turn a rounded phase moves the denominator by up to its own size times |phase|
                turned = np.abs(stride) * (step * nodes) / np.abs(ratio)
                heavy = (1 + np.abs(stride)) / np.abs(ratio) * (1 + turned / 16)
            smooth = np.where(step > 0, stepped, smooth)
            sizes = np.where(step > 0, heavy, sizes)
        return value + kappa * smooth, size + kappa * sizes

    def _base(self, order: float) -> tuple[Floats, Floats]:
        """Return M(order) e^(-order r), and the relative error of it; kept."""
        if order not in self._bases:
            self._bases[order] = self._fresh_base(order)
        return self._bases[order]

    def _fresh_base(self, order: float) -> tuple[Floats, Floats]:
        value, size = self._scaled(order, np.zeros(1))
        base = value.real[:, 0]
        return base, UNIT * (6 + (2 * abs(order) + 1) * self.reach) * size[:, 0] / base

    def log_moments(self, orders: list[float]) -> list[tuple[float, float]]:
        """Return K at several orders in one pass where losses are small."""
        if not np.all(self._small(np.abs(orders) + 1)):
            return [self.log_moment(order) for order in orders]
        found, errors = self._log_one_more(np.array(orders, dtype=np.complex128))
        return self._summed(found.real, errors)

    def local(self, order: float) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the moment and about its two derivatives; in one pass where losses are small."""
        node = 1e-2 / float(np.max(self.reach))
        if order < -0.5 or not bool(self._small(np.array([math.hypot(order + 1, node)]))[0]):
            return self.log_moment(order), self.slopes(order)
        found, errors = self._log_one_more(np.array([order, order + 1j * node]))
        log = complex(self.counts @ (found[:, 1] - found[:, 0]))
        return self._summed(found.real, errors)[0], (log.imag / node, -2 * log.real / (node * node))

    def _summed(self, values: Floats, errors: Floats) -> list[tuple[float, float]]:
        """Return the sums over releases, one for each column, with the share of infinite losses."""
        doubts = self.counts @ (errors + UNIT * np.abs(values)) * (1 + 1e-12)
        low, high = self.log_finite
        return [
            (float(value) + (low + high) / 2, float(doubt) + (high - low))
            for value, doubt in zip(self.counts @ values, doubts, strict=True)
        ]

    def log_moment(self, order: float) -> tuple[float, float]:
        """Sum order r + ln(M e^(-order r)); these pairs are symmetric, so M(-1 - s) = M(s)."""
        if order < -0.5:
            return self.log_moment(-1 - order)
        if bool(self._small(np.array([abs(order) + 1]))[0]):
            return self.log_moments([order])[0]
        base, relative = self._base(order)
        terms = order * self.reach + np.log(base)
        error = 2 * relative + UNIT * (abs(order) * self.reach + np.abs(np.log(base)))
        low, high = self.log_finite
        doubt = float(np.sum(self.counts * (error + UNIT * np.abs(terms)))) * (1 + 1e-12) + (high - low)
        return float(np.sum(self.counts * terms)) + (low + high) / 2, doubt

    def values(self, order: float, nodes: Floats) -> tuple[Complexes, Floats]:
        """Divide by the value at t = 0; errors are relative to the sizes of the terms, phases included."""
        base, relative = self._base(order)
        value, size = self._scaled(order, nodes)
        weight = UNIT * (6 + (2 * abs(order) + 1) * self.reach[:, None] + np.abs(nodes) * self.reach[:, None])
        error = weight * size / base[:, None] * (1 + 1e-6) + 2 * relative[:, None]
        return value / base[:, None], error

    def logs(self, order: float, nodes: Floats) -> tuple[Complexes, Floats, Floats]:
        """Use M - 1 itself where all losses are small beside 1/|s|: then errors are relative to K, not to 1."""
        if order < -0.5:
            logs, error, ceilings = self.logs(-1 - order, nodes)
            return np.conj(logs), error, ceilings
        small = self._small(np.hypot(order + 1, nodes))
        if not np.any(small):
            return super(SymmetricFactor, self).logs(order, nodes)
        if not np.all(small):
            near, far = self.logs(order, nodes[small]), super(SymmetricFactor, self).logs(order, nodes[~small])
            order_of = np.argsort(np.concatenate([np.flatnonzero(small), np.flatnonzero(~small)]))
            logs, errors, ceilings = (np.concatenate(both, axis=1)[:, order_of] for both in zip(near, far, strict=True))
            return logs, errors, ceilings
        base, base_error = self._log_one_more(np.array([complex(order)]))
        values, errors = self._log_one_more(np.asarray(order + 1j * nodes, dtype=np.complex128))
        logs, error = values - base, errors + base_error
        return logs, error, np.minimum(logs.real + error, 0.0)

    def heights(self, order: float, nodes: Floats) -> Floats:
        """Bound ln |phi| by its logarithm where losses are small, by its size elsewhere."""
        if order < -0.5:
            return self.heights(-1 - order, nodes)
        if np.any(self._small(np.hypot(order + 1, nodes))):
            return self.logs(order, nodes)[2]
        return super(SymmetricFactor, self).heights(order, nodes)

    def _small(self, size: Floats) -> NDArray[np.bool_]:
        """Say at which |s| the expansion in small losses is used: never with atoms inside."""
        if np.any(self.half_step):
            return np.zeros(len(size), dtype=bool)
        return np.asarray(size * float(np.max(self.reach)) < _SMALL)

    def _log_one_more(self, s: Complexes) -> tuple[Complexes, Floats]:
        """Return ln M by M - 1 = (top + bottom)(cosh(s r) - 1) + (top - bottom) sinh(s r) + the part of the density.

        That part is kappa e^(-r/2) times the integral over [-r, r] of e^(l/2)(e^(s l) - 1), in powers of r: with a =
        (s + 1/2)^2 and b = 1/4 it is 2 s (s+1) r^3 times the sum over n >= 0 of r^(2n)/(2n+3)! (a^n + a^(n-1) b + ... +
        b^n). For |s + 1| r < 1/4 the terms fall by a factor of at least 100; those that matter are taken, up to seven.
        """
        r = self.reach[:, None]
        small = s * r
        even = (self.top + np.exp(self.log_bottom))[:, None] * 2 * _sinh(small / 2) ** 2
        odd = self.skew[:, None] * _sinh(small)
        density = self._density_part(s, r) if np.any(self.kappa) else np.zeros_like(small)
        more = even + odd + density
        sizes = np.abs(even) + np.abs(odd) + np.abs(density)
        logs = np.log1p(2 * more.real + more.real**2 + more.imag**2) / 2 + 1j * np.arctan2(more.imag, 1 + more.real)
        return logs, 16 * UNIT * sizes

    def _density_part(self, s: Complexes, r: Floats) -> Complexes:
        """Sum the powers of r; the first left out is below 10^-19 of the first taken."""
        x, y = (s + 0.5) ** 2 * (r * r), r * r / 4
        largest = float(np.max(np.abs(x))) + float(np.max(y))
        count = min(max(math.ceil(-44.0 / math.log(largest)) if largest < 1 else 7, 1), 7)
        power, last, term, total = np.ones_like(x), y, 1 / 6, np.full_like(x, 1 / 6)
        for index in range(1, count):
            term /= (2 * index + 2) * (2 * index + 3)
            power = power * x + last
            last = last * y
            total = total + term * power
        return np.asarray((self.kappa * np.exp(-self.reach / 2))[:, None] * 2 * r**3 * (s * (s + 1)) * total)

    def variances(self, order: float) -> Floats:  # noqa: ARG002  the same at every tilt
        """A law on an interval of length 2 r has a variance of at most r^2."""
        return self.reach**2 * (1 + 1e-15)

    def far(self, order: float, start: float) -> float:
        """Bound |phi| by the tilted mass of the atoms plus the variation 2 kappa of the tilted density over t."""
        if order < -0.5:
            return self.far(-1 - order, start)
        base, relative = self._base(order)
        smooth = (self.half_step == 0) & (self.kappa > 0)
        atoms = (self.top + np.exp(self.log_bottom - 2 * order * self.reach)) / base
        bound = np.where(smooth, (atoms + 2 * self.kappa / base / start) * (1 + 4 * relative + UNIT), 1.0)
        return float(self.counts @ np.log(np.minimum(bound, 1.0))) + 1e-12


def _sinh(value: Complexes) -> Complexes:
    """Return sinh without cancellation near 0."""
    real, turn = value.real, value.imag
    growth, decay = np.expm1(real), np.expm1(-real)
    return np.asarray((growth - decay) / 2 * np.cos(turn) + 1j * ((growth + decay) / 2 + 1) * np.sin(turn))


def _expm1(real: Floats, imaginary: Floats) -> Complexes:
    """Return e^(real + i imaginary) - 1 without cancellation."""
    half = np.sin(imaginary / 2)
    growth = np.exp(real)
    return np.asarray(np.expm1(real) - 2 * growth * half * half + 1j * (growth * np.sin(imaginary)))


def _log_rest(chance: Fraction) -> float:
    """Return ln(1 - chance), accurately at either end."""
    if 2 * chance <= 1:
        return math.log1p(-float(chance))
    rest = float(1 - chance)
    return math.log(rest) if rest > 0 else -math.inf


def _coefficients(pair: Pair) -> tuple[float, float, float, float, float, float] | None:
    """Return reach, top, bottom, kappa, skew and half step of a pair of this family."""
    match pair:
        case PureApproxPair():
            reach = float(pair.claimed_epsilon)
            small = math.exp(-reach) if reach < 700 else 0.0
            return reach, 1 / (1 + small), -reach - math.log1p(small), 0.0, math.tanh(reach / 2), 0.0
        case LaplacePair():
            reach = float(pair.ratio)
            return reach, 0.5, -reach - math.log(2), 0.25, -math.expm1(-min(reach, 700.0)) / 2, 0.0
        case BoundedRangePair() if pair.range > 0:
            reach = float(pair.range)
            return reach, 0.0, -math.inf, -0.5 / math.expm1(-min(reach, 700.0)), 0.0, 0.0
        case LocationPair() if isinstance(pair.noise, DiscreteLaplace) and pair.shift > 0:
            reach, rate = float(pair.shift / pair.noise.scale), float(1 / pair.noise.scale)
            small = math.exp(-min(rate, 700.0))
            top, bottom = 1 / (1 + small), -reach - math.log1p(small)
            inner = math.tanh(rate / 2) if pair.shift > 1 else 0.0
            skew = -math.expm1(-min(reach, 700.0)) / (1 + small)
            return reach, top, bottom, inner, skew, rate if pair.shift > 1 else 0.0
    return None
