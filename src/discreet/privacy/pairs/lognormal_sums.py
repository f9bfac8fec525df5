"""Laws with finitely many atoms on both sides, in convex order, of a sum of independent lognormal variables.

Let X = e^(mu Z - mu^2/2) with Z standard normal, and S the sum of T independent copies. `sum_law(..., upper=True)` has
E f(S') >= E f(S) for every convex f >= 0 (up to the numbers that it states), `upper=False` has E f(S') <= E f(S).

Proof. Order: if E f(x + X) <= E f(x + X') for every convex f >= 0 and every x, the same holds for sums of independent
copies, one exchanged after the other. Below: outcomes are gathered in cells, and each cell is replaced by its mean,
which lowers E f (Jensen). Above: an outcome s between two neighbors a < b of a grid is sent to b with chance
(s - a)/(b - a) and to a otherwise, which keeps its mean and raises E f. What is above the last point h of the grid is
moved down to h, and the mean of what was cut off, E(s - h)^+, is kept in `beyond`: call payoffs (s - a)^+ do not grow
faster than s, so they rise by at most `beyond`, and falling convex functions rise by themselves.

Rounding. All terms are positive, so masses carry a relative error, `doubt`, and places another, `shift`: both are
bounds on the distance of logarithms. Adding n positive floats one by one costs n units of 2^-53 at most. Which cell an
outcome is put in does not matter below; above, how far an outcome was outside its cell is measured, not assumed. The
masses of the first cells come from balls. Nothing but IEEE arithmetic is assumed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from discreet.laws.number import Number
from discreet.privacy.numbers import normal_upper_tail, number
from discreet.randomness.rigor import Ball, precision, upper_float

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

UNIT = 2.0**-53
_CUT = 2.0**-58  # of Q's mass at the lower end, and of P's at the upper end
_FARTHEST = 8.7  # standard deviations followed: beyond them less than the cut is left
_BLOCK = 1 << 16
_FINER = 4  # the last grid, which is not squared again, has so many times as many cells
_RARE = 1e-9
_SMALL = 2.0**-7
_BITS, _ENOUGH_BITS = 128, 56
_MORE = 1 + 1e-9
_REMEMBERED = 48


@dataclass(frozen=True, slots=True, eq=False)
class SumLaw:
    """Atoms of a sum, in rising order; `beyond` is the mean that was cut off above, 0 for a law from below."""

    place: Floats
    mass: Floats
    beyond: float
    doubt: float
    shift: float


@lru_cache(maxsize=_REMEMBERED)
def sum_law(mu: Number, terms: int, cells: int, *, upper: bool) -> SumLaw:
    """Return a law above or below that of a sum of `terms` independent e^(mu Z - mu^2/2), from grids of `cells` cells.

    Accuracy. Both errors fall with the square of the number of cells.
    Cost. About 2 log2(terms) steps of cells^2 additions each.

    >>> law = sum_law(1, 4, 64, upper=True)
    >>> bool(abs(np.dot(law.place, law.mass) + law.beyond - 4) < 1e-12)
    True
    """
    offset = _offset(float(mu), terms)
    power, size = _first(Fraction(mu), offset, cells, upper=upper), 1
    total, count = (power, 1) if terms & 1 else (None, 0)
    while 2 * size <= terms:
        size *= 2
        power = _added(power, power, offset * size, cells, upper=upper, last=size == terms)
        if terms & size:
            count += size
            last = count == terms
            total = power if total is None else _added(total, power, offset * count, cells, upper=upper, last=last)
    return power if total is None else total


def _offset(mu: float, terms: int) -> float:
    """Return how small a mean of the terms may matter: a distance from 0 below which cells need not shrink."""
    all_small = math.exp(mu * NormalDist().inv_cdf(_RARE ** (1 / terms)) - mu * mu / 2) / terms
    return max(all_small, (1 - 6 * math.sqrt(math.expm1(mu * mu) / terms)) / 4)


@dataclass(frozen=True, slots=True, eq=False)
class _Grid:
    """0 and points whose distances grow like the point plus an offset; `offset` 0 makes logarithms evenly spaced."""

    points: Floats
    step: float
    offset: float

    @classmethod
    def between(cls, low: float, high: float, offset: float, cells: int) -> _Grid:
        """Return a grid of 0 and so many cells from low to high, or from a small part of the offset."""
        low = max(low, offset * _SMALL)
        step = math.log((high + offset) / (low + offset)) / cells
        points = (low + offset) * np.exp(step * np.arange(cells + 1)) - offset
        points[0], points[-1] = low, high
        return cls(np.concatenate([[0.0], np.maximum.accumulate(points)]), step, offset)

    def cell(self, sums: Floats) -> Indices:
        """Return the cell of each sum, up to rounding."""
        position = sums + self.offset
        with np.errstate(divide="ignore"):
            np.log(position, out=position)
        position *= 1 / self.step
        position += 1 - math.log(self.points[1] + self.offset) / self.step
        np.minimum(position, len(self.points) - 2, out=position)
        return np.maximum(position, 0, out=position).astype(np.int64)


def _first(mu: Fraction, offset: float, cells: int, *, upper: bool) -> SumLaw:
    """Return the law of one term: each cell's mass and mean are differences of normal distribution functions."""
    grid, mass, mean = _cells(mu, offset, cells)
    with precision(_BITS):
        if not upper:
            place = np.array([float(p / q) for q, p in zip(mass, mean, strict=True)])
            return SumLaw(place, np.array([float(q) for q in mass]), 0.0, 4 * UNIT, 4 * UNIT)
        points = [number(float(point)) for point in grid]
        total = [number(0) for _ in points]
        for index, (q, p) in enumerate(zip(mass[:-1], mean[:-1], strict=True)):
            right = (p - points[index] * q) / (points[index + 1] - points[index])
            total[index], total[index + 1] = total[index] + q - right, total[index + 1] + right
        total[-1] += mass[-1]
        beyond = upper_float(mean[-1] - points[-1] * mass[-1])
        high = np.array([max(upper_float(one), 0.0) for one in total])
    return SumLaw(grid, high, max(beyond, 0.0), 0.0, 0.0)


@lru_cache(maxsize=2)  # of the law from above and then the one from below
def _cells(mu: Fraction, offset: float, cells: int) -> tuple[Floats, tuple[Ball, ...], tuple[Ball, ...]]:
    """Return a grid for one term, the mass of each cell, and the mean on it, the last cell reaching to infinity."""
    reach = _FARTHEST * float(mu)
    middle = float(mu * mu) / 2
    grid = _Grid.between(math.exp(-reach - middle), math.exp(reach + middle), offset, cells).points
    half = int(np.searchsorted(grid, 1.0))  # differences of small numbers: of lower tails below, of upper ones above
    with precision(_BITS):
        below: list[tuple[Ball, Ball]] = [(number(0), number(0))]
        above: list[tuple[Ball, Ball]] = []
        spread, shift = number(mu), number(mu) / 2
        for index, point in enumerate(grid[1:].tolist(), 1):
            score = number(point).log() / spread + shift
            scores = (score, score - spread)  # of the point under Q and under P, which has the density X
            if index <= half:
                below.append((normal_upper_tail(-scores[0]), normal_upper_tail(-scores[1])))
            if index >= half:
                above.append((normal_upper_tail(scores[0]), normal_upper_tail(scores[1])))
        above.append((number(0), number(0)))
        mass, mean = (
            (*(other[which] - one[which] for one, other in pairwise(below)),
             *(one[which] - other[which] for one, other in pairwise(above)))
            for which in (0, 1)
        )  # fmt: skip
        if min(one.rel_accuracy_bits() for one in (*mass, *mean)) < _ENOUGH_BITS:
            raise ArithmeticError("the cells are too narrow for the precision")
    return grid, mass, mean


def _added(first: SumLaw, second: SumLaw, offset: float, cells: int, *, upper: bool, last: bool) -> SumLaw:
    """Return the law of a sum of two independent sums."""
    inner = 1 if upper else 0  # a law from above has an atom at 0
    low = float(first.place[inner] + second.place[inner])
    high = float(first.place[-1] + second.place[-1])
    grid = _Grid.between(low, high, 0.0 if last else offset, _FINER * cells if last else cells)
    place, mass, moved = (_split if upper else _merged)(first, second, grid)
    crowd = (_BLOCK + len(first.place) + len(second.place) + 16) * UNIT * _MORE
    beyond = (first.beyond + second.beyond) * _MORE
    doubt, shift = first.doubt + second.doubt + crowd, max(first.shift, second.shift) + moved + 16 * UNIT
    if not upper:
        return _gathered(SumLaw(place, mass, 0.0, doubt, shift + 2 * crowd))
    return _trimmed(SumLaw(place, mass, beyond, doubt, shift))


def _outcomes(first: SumLaw, second: SumLaw) -> Iterator[tuple[Floats, Floats]]:
    """Return all sums of two places with their masses, in blocks; of equal laws each couple once, with twice it."""
    same, rows = first is second, max(_BLOCK // len(second.place), 1)
    for start in range(0, len(first.place), rows):
        stop, columns = start + rows, slice(start if same else 0, None)
        sums = first.place[start:stop, None] + second.place[None, columns]
        masses = first.mass[start:stop, None] * second.mass[None, columns]
        if same:
            masses[:, rows:] *= 2
        yield sums.ravel(), masses.ravel()


def _split(first: SumLaw, second: SumLaw, grid: _Grid) -> tuple[Floats, Floats, float]:
    """Send every outcome to the two points beside it, keeping its mean; say how far one was outside its cell."""
    points, widths = grid.points, np.diff(grid.points)
    total, outside = np.zeros(len(points)), 0.0
    for sums, masses in _outcomes(first, second):
        cell = grid.cell(sums)
        part = sums - points[cell]
        part /= widths[cell]
        if part.min() < 0 or part.max() > 1:
            strays = np.flatnonzero((part < 0) | (part > 1))
            distance = np.maximum(-part[strays], part[strays] - 1) * widths[cell[strays]]
            outside = max(outside, float(np.max(distance / sums[strays])))
            np.clip(part, 0.0, 1.0, out=part)
        right = np.multiply(masses, part, out=part)
        total[1:] += np.bincount(cell, right, len(points) - 1)
        np.subtract(masses, right, out=masses)
        total[:-1] += np.bincount(cell, masses, len(points) - 1)
    return points, total, 2 * outside


def _merged(first: SumLaw, second: SumLaw, grid: _Grid) -> tuple[Floats, Floats, float]:
    """Replace all outcomes of a cell by their mean."""
    mass, mean = np.zeros(len(grid.points) - 1), np.zeros(len(grid.points) - 1)
    for sums, masses in _outcomes(first, second):
        cell = grid.cell(sums)
        mass += np.bincount(cell, masses, len(mass))
        mean += np.bincount(cell, np.multiply(masses, sums, out=masses), len(mass))
    seen = mass > 0
    return mean[seen] / mass[seen], mass[seen], 0.0


def _ends(law: SumLaw) -> tuple[int, int]:
    """Return the first and the last atom between which all but a negligible part of the law lies."""
    tail = np.cumsum((law.mass * law.place)[::-1])[::-1]
    seen = np.flatnonzero((np.cumsum(law.mass) > _CUT) & (tail > _CUT * tail[0]))
    return int(seen[0]), int(seen[-1])


def _trimmed(law: SumLaw) -> SumLaw:
    """Send what is below the first atom kept to 0 and to it, and cut what is above the last one."""
    place, mass = law.place, law.mass
    start, stop = _ends(law)
    start = max(start, 1)
    low, high = float(place[start]), float(place[stop])
    share = float(np.dot(mass[:start], place[:start])) / low
    kept = np.concatenate([[max(float(np.sum(mass[:start])) - share, 0.0)], mass[start : stop + 1]])
    kept[1] += share
    kept[-1] += float(np.sum(mass[stop + 1 :]))
    cut = float(np.dot(mass[stop + 1 :], place[stop + 1 :] - high)) * (1 + 2 * (law.shift + law.doubt)) * _MORE
    error = 4 * len(place) * UNIT
    places = np.concatenate([[0.0], place[start : stop + 1]])
    return SumLaw(places, kept, law.beyond + cut, law.doubt + error, law.shift + error)


def _gathered(law: SumLaw) -> SumLaw:
    """Replace each negligible end by its mean."""
    start, stop = _ends(law)
    groups = np.concatenate([[0], np.arange(start + 1, stop + 1)]) if stop > start else np.zeros(1, dtype=np.int64)
    mass = np.add.reduceat(law.mass, groups)
    place = np.add.reduceat(law.mass * law.place, groups) / mass
    error = 4 * len(law.place) * UNIT
    return SumLaw(place, mass, 0.0, law.doubt + error, law.shift + 2 * error)
