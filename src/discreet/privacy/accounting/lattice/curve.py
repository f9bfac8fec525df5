"""A release of which only the curve delta(epsilon) is known: dots on the grid, joined by a convex polygon above."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from discreet.laws import Pair
from discreet.privacy.accounting.lattice.cells import Atoms, Grid, Measure, Reach, Source, TooLarge
from discreet.privacy.accounting.lattice.fft_bounds import ELEMENTARY, UNIT, Floats

_MOST_DOTS = 1 << 10
_MOST_COSTLY_DOTS = 96
_HIGHEST = 700.0
_FARTHEST = 600.0


class CurveSource(Source):
    """Any pair, by the upper ends of its own enclosures.

    Privacy. The measure made from the dots has a curve that is nowhere below the pair's.
        Proof: write D(a) = delta(ln a), a convex function with D(0) = 1. The chords of D through the grid's dots lie
        above D and are convex; the largest convex function below the given dots, which lie above D's, is therefore at
        least as high as the chords. It is a polygon with corners on the grid, that is the curve of a measure: at a
        corner a whose slope changes by s, P has the mass a s.
    """

    two_sided = False

    def __init__(self, pair: Pair) -> None:
        """Keep the pair."""
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

    def measure(self, grid: Grid, reach: Reach, *, upper: bool) -> Measure:
        """Return the corners of the polygon as atoms on the grid; from below, the release may be ignored: loss 0."""
        if not upper:
            return Measure(Atoms.of([0.0], [0.0], 0.0), None, 0.0, 0.0)
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
        atoms = Atoms(corners[keep], np.log(mass[keep]), np.full(int(np.count_nonzero(keep)), 4096 * UNIT))
        total = (math.fsum(mass) + infinite) * (1 + 2 * ELEMENTARY + 8192 * UNIT)
        wobble = 8 * UNIT * float(np.max(np.abs(losses)))
        return Measure(atoms, None, min(infinite, 1.0), wobble, max(math.log(total) * (1 + ELEMENTARY), 0.0))


def _costly(pair: object) -> bool:
    """Say whether a pair is a composition, or made from one: then each dot is an account of its own."""
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
