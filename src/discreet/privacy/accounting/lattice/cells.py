"""What the loss of one release looks like on a grid: atoms, nodes for a density in each half-cell, or just a curve.

Of a curve delta(epsilon) the dots on the grid are taken, joined by a convex polygon above.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.laws import Pair
from discreet.privacy.accounting.lattice.fft_bounds import ELEMENTARY, UNIT, Floats

Indices = NDArray[np.int64]
LEAST = 5e-324
MOST_VALUES = 1 << 22
_SAME = 1e-12  # atoms this near each other, relative to the largest, count as one where a spacing is read
_MOST_DOTS = 1 << 10
_MOST_COSTLY_DOTS = 96
_HIGHEST = 700.0
_FARTHEST = 600.0


class TooLarge(ValueError):
    """A layout would need more room, or larger numbers, than there is: the interval found so far is the answer."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The losses anchor + index * step; every kind of release has its own anchor, all share the step."""

    step: float
    anchor: float

    def loss(self, index: Indices) -> Floats:
        """Return the losses at some indices."""
        losses: Floats = self.anchor + index.astype(np.float64) * self.step
        return losses

    def index_above(self, loss: float) -> int:
        """Return the index of a grid loss certainly above a loss."""
        return math.ceil((loss - self.anchor) / self.step * (1 + 4 * UNIT)) + 1


@dataclass(frozen=True, slots=True)
class Reach:
    """How far out a law is followed: logarithms of the mass that may be cut off at high and at low losses."""

    high: float
    low: float


@dataclass(frozen=True, slots=True, eq=False)
class LatticeAtoms:
    """Single losses, with the logarithm of P's mass and a bound on the error of that logarithm."""

    loss: Floats
    log_mass: Floats
    slack: Floats

    @classmethod
    def of(cls, loss: list[float], log_mass: list[float], slack: float) -> LatticeAtoms:
        """Make a few atoms with one bound for all, leaving out those without mass."""
        places, logs = np.array(loss, dtype=np.float64), np.array(log_mass, dtype=np.float64)
        seen = logs > -math.inf
        return cls(places[seen], logs[seen], np.full(int(np.count_nonzero(seen)), slack))

    @classmethod
    def joined(cls, first: LatticeAtoms, second: LatticeAtoms) -> LatticeAtoms:
        """Put two lists together."""
        return cls(
            np.concatenate([first.loss, second.loss]),
            np.concatenate([first.log_mass, second.log_mass]),
            np.concatenate([first.slack, second.slack]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """Quadrature nodes: summed with their masses they give each half-cell's mass and first moments of e^-loss.

    `half_cell` counts half steps from the grid's anchor. A sum of masses times weights, where a weight is c + d e^(g -
    l) with g a grid loss next to l, differs from the integral by at most error * (|c| + |d| e^step) * the mass.
    """

    loss: Floats
    log_mass: Floats
    slack: Floats
    half_cell: Indices
    error: float

    def mirrored(self, grid: Grid) -> Nodes:
        """Add each node's mirror image: at -l the law has e^-l times the mass it has at l."""
        if grid.anchor != 0.0:
            raise ValueError("a law that is symmetric about 0 needs a grid through 0")
        return replace(
            self,
            loss=np.concatenate([self.loss, -self.loss]),
            log_mass=np.concatenate([self.log_mass, self.log_mass - self.loss]),
            slack=np.concatenate([self.slack, self.slack + 8 * UNIT * np.abs(self.loss)]),
            half_cell=np.concatenate([self.half_cell, -1 - self.half_cell]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class LossMeasure:
    """A measure of losses under P that bounds the true one from one side, and how far each loss may be off.

    `infinite` is rounded to the sound side, and `wobble` bounds the distance of a listed loss from the true one.
    `log_excess` is ln of the total mass where a measure is more than a law, else 0.
    """

    atoms: LatticeAtoms
    nodes: Nodes | None
    infinite: float
    wobble: float
    log_excess: float = 0.0


class LossSource(ABC):
    """A kind of release, which can be laid out on any grid."""

    two_sided = True  # whether the lower side comes near the upper one on fine grids
    atoms_only = False  # whether there is no density and no curve
    cap = math.inf  # losses above it need no cells of their own
    resolution = 0.0  # a step below which finer grids add nothing to what is known of the law
    infinite_mass: tuple[float, float] = (0.0, 0.0)  # bounds on P's mass at infinite loss

    @abstractmethod
    def extent(self, reach: Reach) -> tuple[float, float]:
        """Return the least and the largest loss within reach."""

    @abstractmethod
    def measure(self, grid: Grid, reach: Reach, *, upper: bool) -> LossMeasure:
        """Lay the law out: `upper` keeps what is cut off (high at infinity, low at the edge), else it is dropped."""

    def forget(self) -> None:  # noqa: B027  most keep nothing
        """Free what was kept between the two sides."""

    def lattice(self) -> tuple[float, float] | None:
        """Return an anchor and a spacing on which heavy atoms lie, where there are any."""
        return None


class AtomSource(LossSource):
    """A release with finitely many losses, listed once for each side."""

    atoms_only = True

    def __init__(
        self,
        sides: tuple[LatticeAtoms, LatticeAtoms],
        infinite: tuple[float, float],
        wobble: float,
        step: float | None = None,
        log_excess: float = 0.0,
    ) -> None:
        self.sides, self.infinite_mass, self._wobble, self._step = sides, infinite, wobble, step
        self._log_excess = log_excess

    def extent(self, reach: Reach) -> tuple[float, float]:  # noqa: ARG002  all atoms are within reach
        """Return the extreme losses."""
        places = np.concatenate([side.loss for side in self.sides])
        return (float(np.min(places)), float(np.max(places))) if len(places) else (0.0, 0.0)

    def measure(self, grid: Grid, reach: Reach, *, upper: bool) -> LossMeasure:  # noqa: ARG002  as above
        """Return the list."""
        excess = self._log_excess if upper else 0.0
        return LossMeasure(self.sides[upper], None, self.infinite_mass[upper], self._wobble, excess)

    def lattice(self) -> tuple[float, float] | None:
        """Return the spacing, that of two atoms if there are just two, or one atom as an anchor."""
        places = np.unique(self.sides[1].loss)
        if not len(places):
            return None
        places = places[np.diff(places, prepend=-math.inf) > _SAME * float(np.max(np.abs(places)))]
        gap = float(places[-1] - places[0])
        if self._step is not None:
            return float(places[0]), self._step
        return float(places[0]), gap if len(places) == 2 else 0.0  # two atoms have one gap


def rounding_of(*magnitudes: Floats | float) -> Floats:
    """Bound the error of a sum or an exponent made of terms of these magnitudes."""
    total: Floats = np.zeros(1)
    for magnitude in magnitudes:
        total = total + np.abs(magnitude)
    return 8 * UNIT * total + ELEMENTARY


def log_sum(values: Floats) -> float:
    """Return log of the sum of exponentials, in floats without a bound: for choosing, not for proving."""
    top = float(np.max(values, initial=-math.inf))
    return top if math.isinf(top) else top + math.log(float(np.sum(np.exp(values - top))))


class CurveSource(LossSource):
    """Any pair, by the upper ends of its own enclosures.

    Privacy. The measure made from the dots has a curve that is nowhere below the pair's.
        Proof: write D(a) = delta(ln a), a convex function with D(0) = 1. The chords of D through the grid's dots lie
        above D and are convex; the largest convex function below the given dots, which lie above D's, is therefore at
        least as high as the chords. It is a polygon with corners on the grid, that is the curve of a measure: at a
        corner a whose slope changes by s, P has the mass a s.
    """

    two_sided = False

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.infinite_mass = (0.0, pair.delta(_FARTHEST).upper)

    def extent(self, reach: Reach) -> tuple[float, float]:
        """Return the largest loss on both sides, or the levels where almost nothing is left."""
        return (-self._end(self.pair.reversed(), reach.low), self._end(self.pair, reach.high))

    def _end(self, pair: Pair, log_tail: float) -> float:
        largest = pair.max_loss().upper
        level = 1e-6
        while level < min(largest, _FARTHEST):
            if pair.delta(level).upper <= math.exp(max(log_tail, -700.0)):
                return level
            level *= 2
        return min(max(largest, 1e-6), _FARTHEST)

    def measure(self, grid: Grid, reach: Reach, *, upper: bool) -> LossMeasure:
        """Return the corners of the polygon as atoms on the grid; from below, the release may be ignored: loss 0."""
        if not upper:
            return LossMeasure(LatticeAtoms.of([0.0], [0.0], 0.0), None, 0.0, 0.0)
        low, high = self.extent(reach)
        first, last = math.floor((low - grid.anchor) / grid.step) - 1, math.ceil((high - grid.anchor) / grid.step) + 1
        most = _MOST_COSTLY_DOTS if _costly(self.pair) else _MOST_DOTS
        stride = max(1, -(-(last - first) // most))
        index = np.arange(first, last + stride, stride)
        losses = grid.loss(index)
        if float(np.max(np.abs(losses))) > _HIGHEST:
            raise TooLarge("the levels of a curve are too far out")
        dots = _dots(self.pair, tuple(float(loss) for loss in losses))
        corners, mass, infinite = _polygon(losses, dots)
        keep = mass > 0
        atoms = LatticeAtoms(corners[keep], np.log(mass[keep]), np.full(int(np.count_nonzero(keep)), 4096 * UNIT))
        total = (math.fsum(mass) + infinite) * (1 + 2 * ELEMENTARY + 8192 * UNIT)
        wobble = 8 * UNIT * float(np.max(np.abs(losses)))
        return LossMeasure(atoms, None, min(infinite, 1.0), wobble, max(math.log(total) * (1 + ELEMENTARY), 0.0))


def _costly(pair: object) -> bool:
    """Say whether a pair is a composition, or made from one: each point of its curve is then computed separately."""
    from discreet.privacy.pairs import ComposedPair

    if isinstance(pair, ComposedPair):
        return True
    inner = [getattr(pair, name, None) for name in ("base", "pair", "inner")] + list(getattr(pair, "pairs", ()))
    return any(_costly(one) for one in inner if isinstance(one, Pair))


@lru_cache(maxsize=64)
def _dots(pair: Pair, levels: tuple[float, ...]) -> Floats:
    """Return the upper ends of delta at some levels."""
    return np.array([pair.delta(level).upper for level in levels])


def _polygon(losses: Floats, dots: Floats) -> tuple[Floats, Floats, float]:
    """Return the corners, their masses under P and the mass at infinity of the largest convex function below dots."""
    place = np.exp(losses)
    hull: list[int] = []
    x, y = np.concatenate([[0.0], place]), np.concatenate([[1.0], dots])
    for new in range(len(x)):
        while len(hull) > 1 and _above(x, y, hull[-2], hull[-1], new):
            hull.pop()
        hull.append(new)
    corners = np.array(hull)
    slopes = np.minimum(np.append(np.diff(y[corners]) / np.diff(x[corners]), 0.0), 0.0)
    mass = np.zeros(len(x))
    mass[corners[1:]] = np.maximum(np.diff(slopes), 0.0) * x[corners[1:]]
    last = float(y[corners[-1]])
    # Rounding may have left the polygon below a dot: measure it there, by sums of positive terms, and raise it all.
    steep = np.append(np.cumsum((mass[1:] / x[1:])[::-1])[::-1], 0.0)
    reached = last + np.append(np.cumsum((np.diff(x) * steep[:-1])[::-1])[::-1], 0.0)
    short = float(np.max(np.divide(y, reached, out=np.ones_like(y), where=reached > 0)))
    raised = max(short, 1.0) * (1 + 16 * len(x) * UNIT + 8 * ELEMENTARY / min(float(np.min(np.diff(losses))), 1.0))
    return losses, mass[1:] * raised, last * raised


def _above(x: Floats, y: Floats, first: int, middle: int, last: int) -> bool:
    """Say whether the middle dot lies on or above the line through the other two."""
    return bool((y[middle] - y[first]) * (x[last] - x[first]) >= (y[last] - y[first]) * (x[middle] - x[first]))
