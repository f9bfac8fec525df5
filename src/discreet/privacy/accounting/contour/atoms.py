"""Finitely many losses: any table of two distributions, narrow integer noise, and samples of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.laws import DiscreteGaussian, DiscreteLaplace, FinitePair, LocationPair, Pair, RoundedGaussian
from discreet.laws.number import Number
from discreet.privacy.accounting.contour.gaussian import NARROW
from discreet.privacy.accounting.contour.moments import Factor, Unsuitable, log_height, log_one_more
from discreet.privacy.accounting.floats import UNIT, Complexes, Floats
from discreet.privacy.pairs import FixedSizePair, PoissonPair, PureApproxPair, Side
from discreet.randomness.rigor import Ball, ball, lower_float, precision, upper_float

_MOST_ATOMS = 1 << 16
_CHUNK = 1 << 21
_ON_GRID = 1e-11
_NEGLIGIBLE = 1e-18
_LIGHT, _DROPPED = -60.0, 1e-22
_NEAR_ONE, _MOST_TILTS = math.log(2.0), 256


@dataclass(frozen=True, slots=True, eq=False)
class LossAtoms:
    """Outcomes with their losses, infinite ones included, and masses under P and Q, each between two ends."""

    low: Floats
    high: Floats
    p_low: Floats
    p_high: Floats
    q_low: Floats
    q_high: Floats


def atoms_of(pair: Pair) -> LossAtoms | None:
    """Return the atoms of a pair's loss under P, or None when it has a density or too many."""
    match pair:
        case FinitePair():
            return _of_table(pair)
        case PureApproxPair():
            return _of_guarantee(pair)
        case LocationPair() if isinstance(pair.noise, DiscreteGaussian | DiscreteLaplace | RoundedGaussian):
            return _of_noise(pair)
        case PoissonPair() | FixedSizePair():
            base, shares = atoms_of(pair.base), _shares(pair.rate)
            if base is not None and shares is not None:
                if isinstance(pair, FixedSizePair):
                    return _of_fixed_size(base, shares)
                return _sampled(base, shares, pair.side)
    return None


def is_whole(pair: Pair) -> bool:
    """Say whether the atoms' masses add up to 1: not where a curve that may belong to no pair is laid out."""
    return is_whole(pair.base) if isinstance(pair, PoissonPair) else not isinstance(pair, FixedSizePair)


def _shares(rate: Number) -> tuple[float, float] | None:
    """Return a sampling rate and 1 minus it, each rounded by itself; None where a float cannot hold them."""
    exact = Fraction(rate)
    shares = float(exact), float(1 - exact)
    return None if (shares[0] == 1.0) != (exact == 1) else shares


def _of_table(pair: FinitePair) -> LossAtoms | None:
    """Return each atom unchanged."""
    if len(pair.p_low) > _MOST_ATOMS:
        return None
    low, high = pair.losses()
    return LossAtoms(low, high, pair.p_low, pair.p_high, pair.q_low, pair.q_high)


def _of_guarantee(pair: PureApproxPair) -> LossAtoms:
    """Two atoms at plus and minus epsilon, and with probability delta an outcome of P or of Q alone."""
    reach, lost = float(pair.claimed_epsilon), float(pair.claimed_delta)
    small = math.exp(-min(reach, 700.0))
    p = np.array([lost, (1 - lost) / (1 + small), (1 - lost) * small / (1 + small), 0.0])
    loss = np.array([math.inf, reach, -reach, -math.inf])
    blur = np.array([0.0, reach, reach, 0.0]) * 2.0**-50
    near, far = 1 - UNIT, 1 + UNIT
    return LossAtoms(loss - blur, loss + blur, p * near, p * far, p[::-1] * near, p[::-1] * far)


def _of_noise(pair: LocationPair) -> LossAtoms | None:
    """List the outcomes that carry all but 2^-1040 of both laws; the rest of P counts as an infinite loss."""
    if pair.shift == 0:
        return None
    gaussian = not isinstance(pair.noise, DiscreteLaplace)
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
        if not gaussian:  # beyond both centers the loss is constant: the tails belong to the outermost outcomes
            p[-1], q[-1], p[0], q[0] = p[-1] + right[0], q[-1] + right[1], p[0] + left[0], q[0] + left[1]
        ends = [np.array([lower_float(b) for b in part]) for part in (p, q)]
        tops = [np.array([upper_float(b) for b in part]) for part in (p, q)]
        lost = upper_float(right[0] + left[0]) if gaussian else 0.0
        low, high = _losses(pair, places, p, q)
    tails = (np.array([0.0]), np.array([lost])) if lost else (np.array([]), np.array([]))
    wide = np.full(len(tails[0]), math.inf)
    return LossAtoms(
        np.append(low, -wide), np.append(high, wide),
        np.append(ends[0], tails[0]), np.append(tops[0], tails[1]),
        np.append(ends[1], tails[0]), np.append(tops[1], tails[1]),
    )  # fmt: skip


def _masses(pair: LocationPair, reach: int) -> list[Ball]:
    """Enclose P(noise = x) for x from 0 on: the mass at 0 times a power, or each mass by itself."""
    if isinstance(pair.noise, RoundedGaussian):
        return [pair.noise.mass_ball(x) for x in range(reach + 1)]
    scale, top = pair.noise.scale, pair.noise.mass_ball(0)
    if isinstance(pair.noise, DiscreteGaussian):
        return [top * (-ball(Fraction(x * x) / (2 * scale * scale))).exp() for x in range(reach + 1)]
    return [top * (-ball(Fraction(x) / scale)).exp() for x in range(reach + 1)]


def _losses(pair: LocationPair, places: range, p: list[Ball], q: list[Ball]) -> tuple[Floats, Floats]:
    """Return ends of ln p(y - shift)/p(y), which is rational in the scale but for rounded noise."""
    scale, shift = pair.noise.scale, pair.shift
    if isinstance(pair.noise, RoundedGaussian):
        logs = [(one / other).log() for one, other in zip(p, q, strict=True)]
        return np.array([lower_float(log) for log in logs]), np.array([upper_float(log) for log in logs])
    if isinstance(pair.noise, DiscreteGaussian):
        exact = [Fraction(2 * y * shift - shift * shift) / (2 * scale * scale) for y in places]
    else:
        exact = [Fraction(abs(y) - abs(y - shift)) / scale for y in places]
    loss = np.array([float(one) for one in exact])
    blur = 2.0**-52 * np.abs(loss)
    return loss - blur, loss + blur


def _sampled(base: LossAtoms, shares: tuple[float, float], side: Side) -> LossAtoms:
    """Mix the two laws, and move each loss to ln(1 - g + g e^l) (remove) or -ln(1 - g + g e^-l) (add)."""
    near, far = 1 - UNIT, 1 + UNIT
    rate, rest = shares
    if side is Side.REMOVE:
        mixed = (rest * base.q_low + rate * base.p_low, rest * base.q_high + rate * base.p_high)
        low, high = mixed_loss(base.low, shares, -1), mixed_loss(base.high, shares, +1)
        return LossAtoms(low, high, mixed[0] * near, mixed[1] * far, base.q_low, base.q_high)
    mixed = (rest * base.p_low + rate * base.q_low, rest * base.p_high + rate * base.q_high)
    low, high = -mixed_loss(-base.low, shares, +1), -mixed_loss(-base.high, shares, -1)
    return LossAtoms(low, high, base.p_low, base.p_high, mixed[0] * near, mixed[1] * far)


def mixed_loss(loss: Floats, shares: tuple[float, float], direction: int) -> Floats:
    """Return ln(1 - g + g e^l), rounded up or down; every sum is one of positive terms, or far from canceling."""
    rate, rest = shares
    bend = max(1.0, -math.log(rate)) if rate > 0 else 1.0  # beyond, g e^l is more than 1
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        low, tall = np.minimum(loss, bend), loss > bend
        small = rate * np.expm1(low)
        near = small > -0.5
        moved = np.where(near, np.log1p(np.where(near, small, 0.0)), np.log(rest + rate * np.exp(low)))
        if rest == 0.0:
            moved = loss
        moved = np.where(tall, loss + np.log(rate + rest * np.exp(-np.maximum(loss, 0.0))), moved)
        # what a relative UNIT in each term, and a blur of the loss, does to the logarithm
        doubt = np.where(near & ~tall, np.abs(small) / (1 + np.maximum(small, -0.5)) + np.abs(moved), 2 + np.abs(loss))
        doubt = np.where(np.isfinite(loss), doubt, 2 + np.abs(moved))
        return np.where(np.isfinite(moved), moved + direction * 2 * UNIT * doubt, moved)


def _of_fixed_size(base: LossAtoms, shares: tuple[float, float]) -> LossAtoms:
    """Join the positive losses of a removed person, their mirror images, and what is left near loss 0.

    The mirror image of an outcome exchanges its two masses and the sign of its loss: the curve continues below 0 as
    1 - e^e + e^e delta(-e). An outcome of which nothing is known may be anywhere.
    """
    removed = _sampled(base, shares, Side.REMOVE)
    lost = np.isinf(removed.low) & np.isinf(removed.high) & (removed.low < removed.high)
    above = (removed.low > 0) & ~lost
    unclear = ~above & ~lost & (removed.high > 0)
    near = float(np.max(removed.high[unclear], initial=0.0))
    sides = ((removed.p_low, removed.p_high), (removed.q_low, removed.q_high))
    rest_high = max(1 - math.fsum(math.fsum(low[above]) for low, _ in sides) + UNIT, 0.0)
    rest_low = max(1 - math.fsum(math.fsum(high[above | lost]) for _, high in sides) - UNIT, 0.0)
    spread = math.exp(min(near, 700.0))
    pieces = (
        (removed.low[above], -removed.high[above], [-near], removed.low[lost]),
        (removed.high[above], -removed.low[above], [near], removed.high[lost]),
        (removed.p_low[above], removed.q_low[above], [rest_low], removed.p_low[lost]),
        (removed.p_high[above], removed.q_high[above], [rest_high], removed.p_high[lost]),
        (removed.q_low[above], removed.p_low[above], [rest_low / spread], removed.q_low[lost]),
        (removed.q_high[above], removed.p_high[above], [rest_high * spread], removed.q_high[lost]),
    )
    low, high, p_low, p_high, q_low, q_high = (np.concatenate(piece) for piece in pieces)
    return LossAtoms(low, high, p_low, p_high, q_low, q_high)


@dataclass(frozen=True, slots=True)
class _Tilt:
    """ln M at a real order with the relative error of M, and M - 1 with its error where M is near 1."""

    log: float
    relative: float
    more: float
    error: float

    @property
    def near(self) -> bool:
        """Whether M - 1 is known, and better than M is."""
        return 0 < self.error < min(self.relative, 0.1)

    @property
    def best(self) -> tuple[float, float]:
        """Ln M and its error, by the better of the two."""
        if self.near:
            value = math.log1p(self.more)
            return value, 2 * self.error / (1 + self.more) + UNIT * abs(value)
        return self.log, 2 * self.relative + UNIT * (1 + abs(self.log))


class AtomsFactor(Factor):
    """One release with finitely many losses, `count` times."""

    def __init__(self, atoms: LossAtoms, count: int, *, whole: bool = False) -> None:
        """Sort the atoms; `whole` says that the masses under P, within their ends, add up to exactly 1."""
        infinite = (atoms.high == math.inf) | ((atoms.low == -math.inf) & (atoms.high > -math.inf))
        certain = math.fsum(atoms.p_low[atoms.low == math.inf])
        possible = min(math.fsum(atoms.p_high[infinite]) * (1 + UNIT), 1.0)
        seen = ~infinite & (atoms.p_high > 0) & (atoms.high > -math.inf)
        low, high = atoms.low[seen], atoms.high[seen]
        mass = np.maximum((atoms.p_low[seen] + atoms.p_high[seen]) / 2, 5e-324)
        self.counts = np.array([float(count)])
        self._loss = low + (high - low) / 2
        self._blur = (high - low) / 2 + 2.0**-51 * np.abs(self._loss)
        self._log_mass = np.log(mass)
        half = (atoms.p_high[seen] - atoms.p_low[seen]) / 2
        self._doubt = half / mass * (1 + UNIT) + 2.0**-50
        self._rest = (certain + possible) / 2, (possible - certain) / 2 + 2.0**-52 * possible
        self._whole = whole and math.fsum(atoms.p_low) <= 1 + UNIT and math.fsum(atoms.p_high) >= 1 - UNIT
        self._tilts: dict[float, _Tilt] = {}
        self.log_finite = (
            count * math.log1p(-possible) * (1 + UNIT) if possible < 1 else -math.inf,
            count * math.log1p(-certain) * (1 - UNIT) if certain < 1 else -math.inf,
        )

    @property
    def work(self) -> int:
        """One term for each atom that is not negligible beside the heaviest."""
        return max(int(np.sum(self._log_mass > np.max(self._log_mass, initial=-math.inf) + _LIGHT)), 1)

    @property
    def lattice(self) -> tuple[float, float, float] | None:
        """Find a step of which all differences are multiples: the least gap divided by 1, 2 or 3."""
        places = np.unique(self._loss)
        if not np.any(np.isfinite(places)):
            return None
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
        moved.__dict__.update(self.__dict__, _loss=places, _blur=2.0**-50 * (np.abs(places) + abs(offset)), _tilts={})
        return moved

    def _base(self, order: float) -> tuple[float, float, Floats, float]:
        """Return the sum of the tilted masses over e^peak, a bound on its relative error, the masses, and the peak."""
        logs = self._log_mass + order * self._loss
        peak = float(np.max(logs))
        weights = np.exp(logs - peak)
        total = float(np.sum(weights))
        moved = np.expm1(np.minimum(abs(order) * self._blur, 700.0))
        rounded = UNIT * (3 + np.abs(self._log_mass) + np.abs(order * self._loss))
        error = weights * (self._doubt + moved + rounded)
        return total, float(np.sum(error)) / total * (1 + 1e-9), weights, peak

    def _tilt(self, order: float) -> _Tilt:
        """Sum at a real order, relative to 1 where M is near 1; kept."""
        if order not in self._tilts:
            if len(self._tilts) > _MOST_TILTS:
                self._tilts.clear()
            total, relative, _, peak = self._base(order)
            log = peak + math.log(total)
            more, error = np.zeros(1, dtype=np.complex128), np.zeros(1)
            if self._whole and abs(log) < _NEAR_ONE:
                with np.errstate(
                    all="ignore"
                ):  # where numbers leave the range of floats nothing is known, and NaN says it
                    more, error = self._more(order, np.zeros(1))
            self._tilts[order] = _Tilt(log, relative, float(more[0].real), float(error[0]))
        return self._tilts[order]

    def _more(self, order: float, nodes: Floats) -> tuple[Complexes, Floats]:
        """Return M - 1 at c + i t, and bounds on the errors.

        The masses of finite losses add up to 1 - r, r the infinite mass, so M - 1 is the sum of masses times (e^(s l) -
        1), less r: no rounding of the masses' own sum enters, and errors are relative to the terms.
        """
        with np.errstate(all="ignore"):
            kept = np.exp(self._log_mass) * (1 + np.exp(order * self._loss)) > _DROPPED / len(self._loss)
        mass, loss, blur = np.exp(self._log_mass[kept]), self._loss[kept], self._blur[kept]
        unsure = self._doubt[kept] + UNIT * (2 + np.abs(self._log_mass[kept])) + 2.0**-52 * len(mass)
        sums, errors = np.empty(len(nodes), dtype=np.complex128), np.empty(len(nodes))
        rows = max(_CHUNK // max(len(mass), 1) // 4, 1)
        real = order * loss
        less, grown = np.expm1(real), np.exp(real)
        blurred = float((mass * grown) @ np.expm1(np.minimum(abs(order) * blur, 700.0)))
        turned = float((mass * grown) @ (blur + UNIT * np.abs(loss)) * (1 + 1e-6))
        steady = blurred + float((mass * grown) @ np.abs(real)) * UNIT + self._rest[1] + _DROPPED
        for first in range(0, len(nodes), rows):
            part = nodes[first : first + rows]
            angles = np.multiply.outer(part, loss)
            half = np.sin(angles / 2)
            terms = less - 2 * grown * half * half + 2j * (grown * half * np.cos(angles / 2))
            sums[first : first + rows] = terms @ mass
            errors[first : first + rows] = np.abs(terms) @ (mass * unsure) + part * turned
        return sums - self._rest[0], errors + steady

    def log_moment(self, order: float) -> tuple[float, float]:
        """Count times ln of the sum of masses times e^(order loss)."""
        if not len(self._loss):  # every loss is infinite
            return math.inf, math.inf
        tilt, count = self._tilt(order), float(self.counts[0])
        if tilt.relative > 0.5:
            return math.inf, math.inf
        value, error = tilt.best
        return count * value, count * error

    def logs(self, order: float, nodes: Floats) -> tuple[Complexes, Floats, Floats]:
        """Take ln(1 + (M - 1)) where M(c) is near 1 and little of it is in doubt, else the logarithm of the ratio."""
        if not len(self._loss):
            raise Unsuitable
        tilt = self._tilt(order)
        if not tilt.near:
            return super().logs(order, nodes)
        more, errors = self._more(order, nodes)
        logs, error = log_one_more(more, errors)
        base, unsure = tilt.best
        logs, error = logs - base, error + unsure
        sizes = (np.abs(1 + more) + errors) / math.exp(base) * (1 + 4 * unsure)
        return logs[None, :], error[None, :], np.minimum(np.minimum(logs.real + error, 0.0), log_height(sizes))[None, :]

    def heights(self, order: float, nodes: Floats) -> Floats:
        """Bound ln |phi| by its logarithm, which is sharp near 0."""
        return self.logs(order, nodes)[2]

    def values(self, order: float, nodes: Floats) -> tuple[Complexes, Floats]:
        """Divide the sum at c + i t by the sum at c; turning about the mean loss keeps phases small."""
        if not len(self._loss):
            raise Unsuitable
        total, relative, weights, _ = self._base(order)
        if relative > 0.5:
            raise Unsuitable
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
        error = 4 * relative + _NEGLIGIBLE + UNIT * 4 + 2.0**-52 * len(off) + np.abs(nodes) * turned
        values = values / total * np.exp(1j * (nodes * center))
        return values[None, :], error[None, :]

    def variances(self, order: float) -> Floats:
        """The tilted second moment about any point bounds the variance; the point is the tilted mean."""
        if not len(self._loss):
            raise Unsuitable
        total, relative, weights, _ = self._base(order)
        center = float(weights @ self._loss) / total
        moment = float(weights @ (np.abs(self._loss - center) + self._blur) ** 2) / total
        spread = float(np.max(np.abs(self._loss - center) + self._blur))
        return np.array([moment * (1 + 1e-9) + 4 * relative * spread * spread])
