"""Finitely many losses: any table of two distributions, narrow integer noise, and samples of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.laws.discrete_gaussian import DiscreteGaussian
from discreet.laws.discrete_laplace import DiscreteLaplace
from discreet.laws.finite import FinitePair
from discreet.laws.location_pair import LocationPair
from discreet.laws.pair import Pair
from discreet.privacy.accounting.factor import Factor
from discreet.privacy.accounting.floats import UNIT, Complexes, Floats
from discreet.privacy.accounting.normal import NARROW
from discreet.privacy.claim_pairs import PureApproxPair
from discreet.privacy.mixture_pair import FixedSizePair, PoissonPair, Side
from discreet.randomness.rigour import Ball, ball, lower_float, precision, upper_float

_MOST_ATOMS = 1 << 16
_CHUNK = 1 << 21
_ON_GRID = 1e-11
_NEGLIGIBLE = 1e-18


@dataclass(frozen=True, slots=True, eq=False)
class LossAtoms:
    """Losses within `blur` of the true ones, masses under P and Q between two ends, and P's mass at infinity."""

    loss: Floats
    blur: Floats
    p_low: Floats
    p_high: Floats
    q_low: Floats
    q_high: Floats
    infinite: tuple[float, float] = (0.0, 0.0)


def atoms_of(pair: Pair) -> LossAtoms | None:
    """Return the atoms of a pair's loss under P, or None when it has a density or too many."""
    match pair:
        case FinitePair():
            return _of_table(pair)
        case PureApproxPair():
            return _of_claim(pair)
        case LocationPair() if isinstance(pair.noise, DiscreteGaussian | DiscreteLaplace):
            return _of_noise(pair)
        case PoissonPair():
            base = atoms_of(pair.base)
            return None if base is None else _sampled(base, float(pair.rate), pair.side)
        case FixedSizePair():
            base = atoms_of(pair.base)
            return None if base is None else _of_fixed_size(base, float(pair.rate))
    return None


def _of_table(pair: FinitePair) -> LossAtoms | None:
    """Take each atom with both masses; where Q's may be zero the loss may be infinite: P's mass counts as such."""
    low, high = pair.losses()
    known = np.isfinite(low) & np.isfinite(high)
    unbounded = ~known & (high == math.inf)
    certain = low == math.inf
    if np.count_nonzero(known) > _MOST_ATOMS:
        return None
    infinite = (math.fsum(pair.p_low[certain]), math.fsum(pair.p_high[unbounded]) * (1 + UNIT))
    middle = (low[known] + high[known]) / 2
    blur = (high[known] - low[known]) / 2 + 2.0**-50 * np.abs(middle)
    p_low, p_high, q_low, q_high = (array[known] for array in (pair.p_low, pair.p_high, pair.q_low, pair.q_high))
    return LossAtoms(middle, blur, p_low, p_high, q_low, q_high, infinite)


def _of_claim(pair: PureApproxPair) -> LossAtoms:
    """Two atoms at plus and minus epsilon; a share delta of P is at infinity."""
    reach, lost = float(pair.claimed_epsilon), float(pair.claimed_delta)
    small = math.exp(-min(reach, 700.0))
    p = (1 - lost) * np.array([1 / (1 + small), small / (1 + small)])
    loss = np.array([reach, -reach])
    near, far = 1 - UNIT, 1 + UNIT
    return LossAtoms(
        loss, 2.0**-50 * np.abs(loss), p * near, p * far, p[::-1] * near, p[::-1] * far, (lost * near, lost * far)
    )


def _of_noise(pair: LocationPair) -> LossAtoms | None:
    """List the outcomes that carry all but 2^-1040 of both laws; the rest of P counts as an infinite loss."""
    if pair.shift == 0:
        return None
    gaussian = isinstance(pair.noise, DiscreteGaussian)
    if gaussian and pair.noise.scale > NARROW:
        return None
    reach = int(38 * pair.noise.scale) + 3 if gaussian else 0
    if 2 * reach + pair.shift > _MOST_ATOMS or pair.shift > _MOST_ATOMS // 4:
        return None
    places = range(-reach, pair.shift + reach + 1)
    with precision(128):
        masses = _masses(pair, pair.shift + reach)
        p, q = [masses[abs(x - pair.shift)] for x in places], [masses[abs(x)] for x in places]
        right = (pair.noise.tail_ball(reach + 1), pair.noise.tail_ball(pair.shift + reach + 1))
        left = (pair.noise.tail_ball(pair.shift + reach + 1), pair.noise.tail_ball(reach + 1))
        if not gaussian:  # beyond both centres the loss is constant: the tails belong to the outermost outcomes
            p[-1], q[-1], p[0], q[0] = p[-1] + right[0], q[-1] + right[1], p[0] + left[0], q[0] + left[1]
        ends = [np.array([lower_float(b) for b in part]) for part in (p, q)]
        tops = [np.array([upper_float(b) for b in part]) for part in (p, q)]
        lost = upper_float(right[0] + left[0]) if gaussian else 0.0
        loss = np.array([float(_loss(pair, y)) for y in places])
    blur = 2.0**-52 * np.abs(loss)
    return LossAtoms(loss, blur, ends[0], tops[0], ends[1], tops[1], (0.0, lost))


def _masses(pair: LocationPair, reach: int) -> list[Ball]:
    """Enclose P(noise = x) for x from 0 on: the mass at 0 times a power."""
    scale, top = pair.noise.scale, pair.noise.mass_ball(0)
    if isinstance(pair.noise, DiscreteGaussian):
        return [top * (-ball(Fraction(x * x) / (2 * scale * scale))).exp() for x in range(reach + 1)]
    return [top * (-ball(Fraction(x) / scale)).exp() for x in range(reach + 1)]


def _loss(pair: LocationPair, outcome: int) -> Fraction:
    """Return ln p(y - shift)/p(y), which is rational in the scale."""
    scale, shift = pair.noise.scale, pair.shift
    if isinstance(pair.noise, DiscreteGaussian):
        return Fraction(2 * outcome * shift - shift * shift) / (2 * scale * scale)
    return Fraction(abs(outcome) - abs(outcome - shift)) / scale


def _sampled(base: LossAtoms, rate: float, side: Side) -> LossAtoms:
    """Mix the two laws, and move each loss to ln(1 - g + g e^l) (remove) or -ln(1 - g + g e^-l) (add)."""
    near, far = 1 - UNIT, 1 + UNIT
    sign = 1.0 if side is Side.REMOVE else -1.0
    inner = sign * base.loss
    # ln(1 + g (e^x - 1)) for small x, x + ln(g + (1 - g) e^-x) for large: neither overflows
    moved = np.where(
        inner > 1,
        inner + np.log(rate + (1 - rate) * np.exp(-np.maximum(inner, 0.0))),
        np.log1p(rate * np.expm1(np.minimum(inner, 1.0))),
    )
    blur = base.blur + UNIT * (np.abs(moved) + np.minimum(rate * np.exp(np.minimum(inner, 1.0)), 2.0))
    mixed_low = ((1 - rate) * base.q_low + rate * base.p_low, (1 - rate) * base.p_low + rate * base.q_low)
    mixed_high = ((1 - rate) * base.q_high + rate * base.p_high, (1 - rate) * base.p_high + rate * base.q_high)
    lost = (rate * base.infinite[0] * near, rate * base.infinite[1] * far)
    if side is Side.REMOVE:
        return LossAtoms(moved, blur, mixed_low[0] * near, mixed_high[0] * far, base.q_low, base.q_high, lost)
    if rate < 1 and base.infinite[1] > 0:  # where Q was zero the mixture has (1 - g) P: the loss is -ln(1 - g)
        ceiling = -math.log1p(-rate)
        extra = np.array([ceiling]), np.array([UNIT * (ceiling + rate)]), np.array(base.infinite[:1])
        tops = np.array(base.infinite[1:])
        columns = (
            (-moved, extra[0]), (blur, extra[1]), (base.p_low, extra[2]), (base.p_high, tops),
            (mixed_low[1] * near, extra[2] * (1 - rate) * near), (mixed_high[1] * far, tops * (1 - rate) * far),
        )  # fmt: skip
        loss, wide, p_low, p_high, q_low, q_high = (np.concatenate(pieces) for pieces in columns)
        return LossAtoms(loss, wide, p_low, p_high, q_low, q_high)
    return LossAtoms(
        -moved,
        blur,
        base.p_low,
        base.p_high,
        mixed_low[1] * near,
        mixed_high[1] * far,
        base.infinite if rate == 1 else (0.0, 0.0),
    )


def _of_fixed_size(base: LossAtoms, rate: float) -> LossAtoms:
    """Join the positive losses of the removed person, the negative ones of the added, and what is left at loss 0."""
    removed, added = _sampled(base, rate, Side.REMOVE), _sampled(base, rate, Side.ADD)
    above, below = removed.loss > 0, added.loss < 0
    picked = [
        np.concatenate([getattr(removed, name)[above], getattr(added, name)[below], [0.0]])
        for name in ("loss", "blur", "p_low", "p_high", "q_low", "q_high")
    ]
    loss, blur, p_low, p_high, q_low, q_high = picked
    rest_low = 1 - math.fsum(p_high) - removed.infinite[1]
    rest_high = 1 - math.fsum(p_low) - removed.infinite[0]
    p_low[-1], p_high[-1] = max(rest_low - UNIT, 0.0), max(rest_high + UNIT, 0.0)
    q_low[-1], q_high[-1] = p_low[-1], p_high[-1]
    return LossAtoms(loss, blur, p_low, p_high, q_low, q_high, removed.infinite)


class AtomsFactor(Factor):
    """One release with finitely many losses, `count` times."""

    def __init__(self, atoms: LossAtoms, count: int) -> None:
        """Keep the atoms that P can produce."""
        seen = atoms.p_high > 0
        self.counts = np.array([float(count)])
        self._loss, self._blur = atoms.loss[seen], atoms.blur[seen]
        self._mass = (atoms.p_low[seen] + atoms.p_high[seen]) / 2
        half = (atoms.p_high[seen] - atoms.p_low[seen]) / 2
        self._doubt = np.minimum(half / np.maximum(self._mass, 5e-324), 1.0) + 2.0**-50
        low, high = atoms.infinite
        self.log_finite = (
            count * math.log1p(-high) * (1 + UNIT) if high < 1 else -math.inf,
            count * math.log1p(-low) * (1 - UNIT) if low < 1 else -math.inf,
        )

    @property
    def lattice(self) -> tuple[float, float, float] | None:
        """Find a step of which all differences are multiples: the least gap divided by 1, 2 or 3."""
        places = np.unique(self._loss)
        if len(places) < 2:
            return (float(places[0]), 1.0, float(np.max(self._blur))) if len(places) else None
        gaps = np.diff(places)
        scale = float(np.max(np.abs(places)))
        least = float(np.min(gaps[gaps > _ON_GRID * scale], initial=math.inf))
        for part in (1, 2, 3):
            rough = least / part
            count = np.rint((places - places[0]) / rough)
            if not math.isfinite(rough) or count[-1] < 1 or count[-1] > 2**40:
                continue
            step = float((places[-1] - places[0]) / count[-1])
            index = np.rint((self._loss - places[0]) / step)
            off = float(np.max(np.abs(self._loss - (places[0] + step * index)) + self._blur))
            if off <= _ON_GRID * scale:
                return float(places[0]), step, off + 2.0**-50 * scale
        return None

    def snapped(self, offset: float, step: float) -> AtomsFactor:
        """Return the factor with every loss moved to its place on a lattice."""
        places = offset + step * np.rint((self._loss - offset) / step)
        moved = object.__new__(AtomsFactor)
        moved.__dict__.update(self.__dict__, _loss=places, _blur=2.0**-50 * (np.abs(places) + abs(offset)))
        return moved

    def _weights(self, order: float) -> tuple[Floats, float]:
        """Return the masses tilted by e^(order (l - largest)), and the largest loss."""
        largest = float(np.max(self._loss))
        return self._mass * np.exp(order * (self._loss - largest)), largest

    def _base(self, order: float) -> tuple[float, float, Floats]:
        """Return the sum of the weights, a bound on its relative error, and the weights."""
        weights, largest = self._weights(order)
        total = float(np.sum(weights))
        moved = order * self._blur
        error = weights * (
            self._doubt + (np.expm1(np.minimum(moved, 1.0)) + UNIT * (3 + order * (largest - self._loss)))
        )
        return total, float(np.sum(error)) / total * (1 + 1e-9), weights

    def log_moment(self, order: float) -> tuple[float, float]:
        """Count times ln of the sum of masses times e^(order loss)."""
        total, relative, _ = self._base(order)
        if not 0 < relative < 0.5:
            return math.inf, math.inf
        largest = float(np.max(self._loss))
        value = order * largest + math.log(total)
        count = float(self.counts[0])
        return count * value, count * (2 * relative + UNIT * (abs(order * largest) + abs(math.log(total))))

    def values(self, order: float, nodes: Floats) -> tuple[Complexes, Floats]:
        """Divide the sum at c + i t by the sum at c; turning about the mean loss keeps phases small."""
        total, relative, weights = self._base(order)
        center = float(weights @ self._loss) / total
        kept = weights > total * (_NEGLIGIBLE / len(weights))
        off, blur, weights = self._loss[kept] - center, self._blur[kept], weights[kept]
        values = np.empty(len(nodes), dtype=np.complex128)
        rows = max(_CHUNK // len(off), 1)
        for first in range(0, len(nodes), rows):
            part = nodes[first : first + rows]
            angles = np.outer(part, off)
            values[first : first + rows] = np.cos(angles) @ weights + 1j * (np.sin(angles) @ weights)
        turned = float(weights @ (np.abs(off) * UNIT + UNIT * abs(center) + blur)) / total
        error = 2 * relative + _NEGLIGIBLE + UNIT * 4 + 2.0**-52 * len(off) + np.abs(nodes) * turned
        values = values / total * np.exp(1j * (nodes * center))
        return values[None, :], error[None, :]

    def variances(self, order: float) -> Floats:
        """The tilted second moment about any point bounds the variance; the point is the tilted mean."""
        total, relative, weights = self._base(order)
        center = float(weights @ self._loss) / total
        moment = float(weights @ (np.abs(self._loss - center) + self._blur) ** 2) / total
        spread = float(np.max(np.abs(self._loss - center) + self._blur))
        return np.array([moment * (1 + 1e-9) + 4 * relative * spread * spread])
