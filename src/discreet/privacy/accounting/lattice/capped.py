"""Losses far above every level asked for: their mass at one grid loss and at infinity, which changes nothing below."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.privacy.accounting.lattice.cells import (
    Grid,
    LatticeAtoms,
    LossMeasure,
    LossSource,
    Nodes,
    Reach,
    TooLarge,
)
from discreet.privacy.accounting.lattice.fft_bounds import ELEMENTARY, UNIT, Floats


class CappedSource(LossSource):
    """A release whose losses above a cap are split between a grid loss c above the cap and infinity.

    Privacy. The curve of a composition does not fall, and at levels up to c plus the least possible sum of the other
        losses it does not change.
        Proof: mass e^(c - l) at c and the rest at infinity keep the mass and the mean of y = e^-loss, so by convexity
        max(0, 1 - a y) does not fall. It is linear for y in [0, e^-c] if a e^-c <= 1; then it does not change. In a
        composition a = e^(epsilon - the other losses), and capped losses are at least the least loss too.
    """

    def __init__(self, inner: LossSource, cap: float) -> None:
        self.inner, self.cap = inner, cap
        inner.cap = cap
        self.two_sided, self.atoms_only = inner.two_sided, inner.atoms_only
        self.infinite_mass = inner.infinite_mass

    def extent(self, reach: Reach) -> tuple[float, float]:
        """End at the cap."""
        low, high = self.inner.extent(reach)
        return min(low, self.cap), min(high, self.cap)

    def forget(self) -> None:
        """Free what the release itself kept."""
        self.inner.forget()

    def lattice(self) -> tuple[float, float] | None:
        """Return what the release itself has."""
        return self.inner.lattice()

    def measure(self, grid: Grid, reach: Reach, *, upper: bool) -> LossMeasure:
        """Move what is above the cap."""
        found = self.inner.measure(grid, reach, upper=upper)
        index = grid.index_above(self.cap)
        place = float(grid.loss(np.array([index]))[0])
        high = found.atoms.loss > place
        atoms = LatticeAtoms(*(column[~high] for column in (found.atoms.loss, found.atoms.log_mass, found.atoms.slack)))
        parts = [_Part.of(found.atoms.loss[high], found.atoms.log_mass[high], found.atoms.slack[high], place, 0.0)]
        nodes = found.nodes
        if nodes is not None:
            far = nodes.half_cell >= 2 * index
            error = nodes.error * (1 + math.exp(grid.step))
            parts.append(_Part.of(nodes.loss[far], nodes.log_mass[far], nodes.slack[far], place, error))
            loss, log_mass, slack = (column[~far] for column in (nodes.loss, nodes.log_mass, nodes.slack))
            nodes = Nodes(loss, log_mass, slack, nodes.half_cell[~far], nodes.error)
        side = 1 if upper else 0
        near, infinite = (math.fsum(part.ends(finite=finite)[side] for part in parts) for finite in (True, False))
        if near > 0:
            atoms = LatticeAtoms.joined(atoms, LatticeAtoms.of([place], [math.log(near)], 4 * ELEMENTARY))
        wobble = found.wobble + 8 * UNIT * (abs(place) + abs(grid.anchor))
        outside = found.infinite + infinite
        outside *= 1 + 4 * UNIT if upper else 1 - 4 * UNIT
        return LossMeasure(atoms, nodes, min(outside, 1.0), wobble, found.log_excess)


@dataclass(frozen=True, slots=True)
class _Part:
    """What is above the cap: its mass times e^(c - loss), the rest of it, and a bound on the error of either."""

    near: float
    rest: float
    doubt: float

    @classmethod
    def of(cls, loss: Floats, log_mass: Floats, slack: Floats, place: float, error: float) -> _Part:
        """Add up; all terms are positive."""
        if not len(loss):
            return cls(0.0, 0.0, 0.0)
        mass = np.exp(log_mass)
        over = np.maximum(loss - place, 0.0)
        worst = float(np.max(slack)) + 8 * ELEMENTARY + 2 * UNIT * (len(loss) + float(np.max(np.abs(log_mass))))
        if not worst < 1e-3:
            raise TooLarge("masses are not known well enough")
        near, rest = float(np.sum(mass * np.exp(-over))), float(np.sum(mass * -np.expm1(-over)))
        return cls(near, rest, 2 * (worst + error) * float(np.sum(mass)))

    def ends(self, *, finite: bool) -> tuple[float, float]:
        """Bound one of the two masses."""
        value = self.near if finite else self.rest
        return max(value - self.doubt, 0.0), value + self.doubt
