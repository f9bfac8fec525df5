"""Loss pairs of continuous outputs, held between two finite pairs: one coarser than the truth and one finer.

Cut the outputs into cells. Publishing only the cell is post-processing, so the masses of the cells form a pair that is
at most as revealing. Where the loss on a cell stays within [low, high], the two atoms of losses low and high with the
same masses can be turned back into the cell, so they are at least as revealing: the mean of a convex function of the
loss over the cell is largest when all the mass sits at the ends. Both differ from the truth by the square of the width
of the cells, and products of independent outputs multiply inner with inner and outer with outer.

What is certain and what is not: the inequalities between inner, truth and outer are theorems; the masses come from
quadrature, good to the stated relative tolerance but not proven in interval arithmetic, and the range of the loss on a
cell is the one seen at its ends and nodes. Every enclosure says so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws import Enclosure, Pair, SafeEnd
from discreet.testing.museum.laws.floating_pair import RESTS_ON, TOLERANCE, alike

Floats = NDArray[np.float64]
_LARGEST_EXPONENT = 700.0
_BINS = 4096
_METHOD = "between a coarser and a finer finite pair, in floating point to a relative 1e-12"


class PairAtoms(NamedTuple):
    """The masses of P and Q on finitely many outcomes."""

    p: Floats
    q: Floats

    def losses(self) -> Floats:
        """Return ln P / Q of every atom, infinite where one of the two is zero."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.p > 0, np.log(self.p) - np.log(self.q), -np.inf)

    def times(self, other: PairAtoms) -> PairAtoms:
        """Multiply out two independent families."""
        return PairAtoms(np.outer(self.p, other.p).ravel(), np.outer(self.q, other.q).ravel())

    def reversed(self) -> PairAtoms:
        """Exchange P and Q."""
        return PairAtoms(self.q, self.p)


@dataclass(frozen=True)
class Sandwich(Pair):
    """A pair between `inner`, a post-processing of it, and `outer`, of which it is a post-processing.

    `top` and `bottom` are the essential supremum and infimum of the loss.
    """

    inner: PairAtoms
    outer: PairAtoms
    top: float
    bottom: float

    @classmethod
    def of_cells(cls, p: Floats, q: Floats, low: Floats, high: Floats) -> Sandwich:
        """Build it from cells of outputs, on each of which the loss comes as close as one likes to low and to high."""
        seen = (p > 0) | (q > 0)
        p, q, low, high = p[seen], q[seen], low[seen], high[seen]
        low, high = np.where(q > 0, low, np.inf), np.where(p > 0, high, -np.inf)
        low, high = np.where(p > 0, low, -np.inf), np.where(q > 0, high, np.inf)
        return cls(PairAtoms(p, q), split(p, q, low, high), float(np.max(high)), float(np.min(low)))

    @classmethod
    def of_atoms(cls, p: Floats, q: Floats) -> Sandwich:
        """Build it from finitely many outcomes: then inner and outer are the same."""
        atoms = PairAtoms(p, q)
        losses = atoms.losses()
        return cls(atoms, atoms, float(np.max(losses)), float(np.min(losses)))

    def delta(self, epsilon: float | Fraction) -> Enclosure:
        """Enclose the hockey-stick divergence between those of the inner and the outer pair."""
        level = math.exp(min(float(epsilon), _LARGEST_EXPONENT))
        high = np.maximum(self.outer.p * (1 + TOLERANCE) - level * self.outer.q * (1 - TOLERANCE), 0.0).sum()
        if epsilon > _LARGEST_EXPONENT:  # delta falls: beyond the largest level only what Q cannot give is certain
            low = self._certain() * (1 - TOLERANCE)
        else:
            low = np.maximum(self.inner.p * (1 - TOLERANCE) - level * self.inner.q * (1 + TOLERANCE), 0.0).sum()
        return _resting(Enclosure.outward(float(low), min(float(high), math.nextafter(1.0, 0.0)), method="", floor=0.0))

    def epsilon(self, delta: float) -> Enclosure:
        """Enclose the least epsilon whose hockey-stick divergence is at most delta."""
        if self._certain() * (1 - TOLERANCE) > delta:
            return _resting(Enclosure.exact(math.inf, method=""))
        return _resting(super().epsilon(delta))

    def max_loss(self) -> Enclosure:
        """Enclose the largest loss."""
        if math.isinf(self.top):
            return Enclosure.exact(self.top, method="an output that one of the two inputs cannot give")
        slack = TOLERANCE * (1 + abs(self.top))
        return _resting(Enclosure(self.top - slack, self.top, self.top + slack, ""))

    def tradeoff(self, alpha: float) -> Enclosure:
        """Enclose the error of the best test of size alpha."""
        if not 0.0 <= alpha <= 1.0:
            raise ParameterError(f"a test's size must lie in [0, 1], got {alpha}", parameter="alpha")
        sure = float(np.interp(alpha, *self._inner_curve)) * (1 - 2 * TOLERANCE)
        possible = float(np.interp(alpha, *self._outer_curve)) * (1 + 2 * TOLERANCE) + TOLERANCE
        low, high = max(1.0 - possible, 0.0), min(max(1.0 - sure, 0.0), 1.0)
        low = min(low, high)
        return _resting(Enclosure(low, low + (high - low) / 2, high, "", SafeEnd.LOWER))

    def reversed(self) -> Sandwich:
        """Exchange P and Q."""
        return Sandwich(self.inner.reversed(), self.outer.reversed(), -self.bottom, -self.top)

    def times(self, other: Sandwich) -> Sandwich:
        """Return the pair of two independent outputs; their losses add."""
        inner, outer = self.inner.times(other.inner), self.outer.times(other.outer)
        return Sandwich(inner, outer, self.top + other.top, self.bottom + other.bottom)

    def merged(self) -> Sandwich:
        """Merge atoms of the same loss: a test cannot tell them apart."""
        sides = []
        for atoms in (self.inner, self.outer):
            order, starts = alike(atoms.losses(), 0.01 * TOLERANCE)
            sides.append(PairAtoms(*(np.add.reduceat(mass[order], starts) for mass in atoms)))
        return Sandwich(sides[0], sides[1], self.top, self.bottom)

    def compressed(self, bins: int = _BINS) -> Sandwich:
        """Gather atoms of nearly the same loss: the inner ones are merged, the outer ones split to the bins' ends."""
        return Sandwich(merge(self.inner, bins), spread(self.outer, bins), self.top, self.bottom)

    def _certain(self) -> float:
        """Return the chance under P of outputs that are impossible under Q."""
        return float(self.inner.p[self.inner.q == 0].sum())

    @cached_property
    def _inner_curve(self) -> tuple[Floats, Floats]:
        return power_curve(self.inner)

    @cached_property
    def _outer_curve(self) -> tuple[Floats, Floats]:
        return power_curve(self.outer)


def mixture(parts: list[tuple[float, float, Sandwich]]) -> Sandwich:
    """Return the pair of outputs that also show which part they belong to, from (mass of P, mass of Q, pair given it).

    Parts of mass zero on one side have no pair given them: pass one whose atoms are all alike. Parts of mass zero on
    both sides never occur and are left out.
    """
    parts = [part for part in parts if part[0] > 0.0 or part[1] > 0.0]
    inner = PairAtoms(*(np.concatenate([m[k] * part.inner[k] for *m, part in parts]) for k in (0, 1)))
    outer = PairAtoms(*(np.concatenate([m[k] * part.outer[k] for *m, part in parts]) for k in (0, 1)))
    shifts = [_difference(p, q) for p, q, _ in parts]
    top = max(shift + part.top for shift, (*_, part) in zip(shifts, parts, strict=True))
    bottom = min(shift + part.bottom for shift, (*_, part) in zip(shifts, parts, strict=True))
    return Sandwich(inner, outer, top, bottom)


def split(p: Floats, q: Floats, low: Floats, high: Floats) -> PairAtoms:
    """Move the masses of each cell to two atoms, of losses low and high, that add up to the same."""
    p, q, low, high = np.broadcast_arrays(p, q, low, high)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        narrow = (low == high) | ~(high - low > 1e-14)
        up = (p - q * np.exp(low)) / -np.expm1(low - high)
        up = np.where(np.isneginf(low), p, np.where(narrow, 0.0, np.clip(up, 0.0, p)))
        q_up = np.where(up > 0, np.minimum(up * np.exp(-high), q), 0.0)
    down, q_down = p - up, q - q_up
    p_all, q_all = np.concatenate([up, down]), np.concatenate([q_up, q_down])
    seen = (p_all > 0) | (q_all > 0)
    return PairAtoms(p_all[seen], q_all[seen])


def merge(atoms: PairAtoms, bins: int) -> PairAtoms:
    """Add up the atoms whose losses share a bin; infinite losses keep bins of their own."""
    losses = atoms.losses()
    edges = _edges(atoms, losses, bins)
    if edges is None:
        return atoms
    place = np.searchsorted(edges, losses, side="right")
    place[np.isneginf(losses)], place[np.isposinf(losses)] = 0, edges.size + 1
    p, q = (np.asarray(np.bincount(place, mass, edges.size + 2), dtype=np.float64) for mass in atoms)
    seen = (p > 0) | (q > 0)
    return PairAtoms(p[seen], q[seen])


def spread(atoms: PairAtoms, bins: int) -> PairAtoms:
    """Split every atom to the two ends of its bin, and add up what meets there."""
    losses = atoms.losses()
    edges = _edges(atoms, losses, bins)
    if edges is None:
        return atoms
    finite = np.isfinite(losses)
    place = np.clip(np.searchsorted(edges, losses[finite], side="right") - 1, 0, edges.size - 2)
    p, q = atoms.p[finite], atoms.q[finite]
    low, high = edges[place], edges[place + 1]
    up = np.clip((p - q * np.exp(low)) / -np.expm1(low - high), 0.0, p)
    q_up = up * np.exp(-high)
    masses = []
    for mass, upper, rest in ((p, up, atoms.p[~finite]), (q, q_up, atoms.q[~finite])):
        lower = np.maximum(mass - upper, 0.0)
        gathered = np.bincount(place, lower, edges.size) + np.bincount(place + 1, upper, edges.size)
        masses.append(np.concatenate([gathered, rest]))
    seen = (masses[0] > 0) | (masses[1] > 0)
    return PairAtoms(masses[0][seen], masses[1][seen])


def power_curve(atoms: PairAtoms) -> tuple[Floats, Floats]:
    """Return sizes and powers of the likelihood-ratio tests, from (0, mass of infinite loss) to (1, 1)."""
    order = np.argsort(-atoms.losses(), kind="stable")
    certain = float(atoms.p[atoms.q == 0].sum())
    order = order[atoms.q[order] > 0]
    size = np.concatenate([[0.0], np.cumsum(atoms.q[order])])
    power = np.concatenate([[certain], certain + np.cumsum(atoms.p[order])])
    return size, np.minimum(power, 1.0)


def _edges(atoms: PairAtoms, losses: Floats, bins: int) -> Floats | None:
    """Return bins over the finite losses, most of them where the mass is; None where there is nothing to gather."""
    finite = np.isfinite(losses)
    if np.count_nonzero(finite) <= bins:
        return None
    seen, mass = losses[finite], atoms.p[finite] + atoms.q[finite]
    low, high = float(seen.min()) - 1e-12, float(seen.max()) + 1e-12
    if high - low < 1e-9:
        return None
    mean = float(np.average(seen, weights=mass))
    reach = 5 * math.sqrt(float(np.average((seen - mean) ** 2, weights=mass)))
    near = np.linspace(max(mean - reach, low), min(mean + reach, high), 3 * bins // 4)
    return np.unique(np.concatenate([np.linspace(low, high, max(bins // 4, 1) + 1), near]))


def _difference(p: float, q: float) -> float:
    """Return ln p / q, infinite where one of the two is zero."""
    if p <= 0.0:
        return -math.inf
    return math.log(p / q) if q > 0.0 else math.inf


def _resting(enclosure: Enclosure) -> Enclosure:
    """Say how the bounds were obtained, and what they rest on."""
    return replace(enclosure, method=_METHOD, assumptions=RESTS_ON)
