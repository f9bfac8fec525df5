"""The posterior of two numbers that everything else depends on: a grid, a spline, and independent exact draws.

Where all other unknowns can be summed out exactly, two hyperparameters are left: the center and the spread of a law
that areas share. Their density is wedge-shaped: the less the areas differ, the better the center is known. So the grid
stands in v = (center - middle) / sqrt(width^2 + spread^2) and t = asinh(spread / small), covers everything within e^-30
of the top, and the logarithm is a bicubic spline between its nodes. A draw takes a small box by its mass and an even
point in it, and is kept with a chance in proportion to the density itself there, so that the spline decides how many
tries it takes and not what is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.base import Normal, Prior
from discreet.errors import NotConverged

Floats = NDArray[np.float64]
Density = Callable[[Floats, Floats], Floats]
Ends = tuple[float, float]
_COARSE, _FINE, _FINEST, _BOXES = 21, 49, 193, 320
_ZOOMS = 24
_REACH, _DEPTH, _FLOOR = 30.0, 30.0, 60.0
_LOOKS, _OFF = 400, 0.05
_IN_A_BOX, _OVER_SPLINE = 1.5, 1.1  # how much larger than expected the density may be where it matters


@dataclass(frozen=True, slots=True)
class Wedge:
    """Where a center and a spread may lie, and how finely.

    `middle` and `width` are about the center and its standard deviation if the spread is hardly 0, `small` is a spread
    that could hardly be told from 0. The search for spreads that matter begins between 0 and `largest`.
    """

    middle: float
    width: float
    small: float
    largest: float

    @classmethod
    def of(cls, log_density: Density, prior: Normal, spread: Prior, small: float) -> Wedge:
        """Return the wedge of a density, by a search for the center at a small spread, where it has one peak."""
        tip = min(small, float(spread.quantile(0.01)))
        middle, step = prior.mean, 3.0 * prior.deviation
        for _ in range(_ZOOMS):
            tried = np.linspace(middle - step * _COARSE, middle + step * _COARSE, 2 * _COARSE + 1)
            best = int(np.argmax(log_density(tried, np.full(len(tried), tip))))
            middle = float(tried[best])
            step = step / 7.0 if 0 < best < len(tried) - 1 else 3.0 * step
        width = tip
        for _ in range(_ZOOMS):  # the distance at which the density falls by 1/2
            around = np.array([middle - width, middle, middle + width])
            low, top, high = log_density(around, np.full(3, tip)).tolist()
            fall = max(top - (low + high) / 2, 1e-9)
            if 0.2 < fall < 1.0:
                break
            width *= float(np.clip((0.5 / fall) ** 0.5, 0.01, 30.0))
        return cls(middle, width, tip, float(spread.quantile(1 - 1e-9)))

    def at(self, v: Floats, t: Floats) -> tuple[Floats, Floats, Floats]:
        """Return center and spread, and ln of the area that they move over if v and t move by 1."""
        spread = self.small * np.sinh(t)
        wide = np.sqrt(self.width**2 + spread**2)
        return self.middle + v * wide, spread, np.log(wide) + np.log(self.small * np.cosh(t))

    @property
    def bounds(self) -> tuple[Ends, Ends]:
        """The ends of v and t."""
        return (-_REACH, _REACH), (0.0, math.asinh(self.largest / self.small))


@dataclass(frozen=True, eq=False)
class Plane:
    """A density of a center and a spread, with a spline of its logarithm.

    Accuracy. Draws follow the density cut to a rectangle outside of which it is below e^-30 of its top, as far as it is
        at most 1.65 times what box and spline say. The grid is made finer until 399 of 400 draws are within 5 % of the
        spline, else NotConverged is raised.
    Cost. Some 5,000 evaluations, and 1.1 a draw.

    >>> generator = np.random.default_rng(1)
    >>> wedge = Wedge(0.0, 1.0, 0.1, 60.0)
    >>> plane = Plane.of(lambda x, y: -(x**2) / 2 - y, wedge, generator=generator)
    >>> round(plane.log_total, 2), round(0.5 * float(np.log(2 * np.pi)), 2)
    (0.92, 0.92)
    >>> first, second = plane.drawn(1000, generator)
    >>> abs(float(first.mean())) < 0.2, abs(float(second.mean()) - 1) < 0.2
    (True, True)
    """

    log_density: Density  # of v and t
    wedge: Wedge
    first: Floats
    second: Floats
    logs: Floats  # (first, second)

    @classmethod
    def of(cls, log_density: Density, wedge: Wedge, *, generator: np.random.Generator) -> Plane:
        """Return the density of a function of many centers and spreads, on the part of a wedge that matters."""

        def warped(v: Floats, t: Floats) -> Floats:
            center, spread, area = wedge.at(v, t)
            return np.asarray(log_density(center, spread) + area)

        ends = wedge.bounds
        for _ in range(40):
            axes, logs = _evaluated(warped, ends, (2 * _COARSE, _COARSE))
            narrowed = _narrowed(axes, logs)
            ratios = [(new[1] - new[0]) / (old[1] - old[0]) for new, old in zip(narrowed, ends, strict=True)]
            ends = narrowed
            if min(ratios) > 0.8 and max(ratios) <= 1.0:
                break
        size = _FINE
        while size <= _FINEST:
            axes, logs = _evaluated(warped, ends, (size, size))
            plane = cls(warped, wedge, *axes, np.maximum(logs, logs.max() - _FLOOR))
            if plane._holds(generator):
                return plane
            size = 2 * size - 1
        raise NotConverged(
            "the density of the hyperparameters must be smooth enough for a grid, and it is not; write narrower priors"
        )

    def _holds(self, generator: np.random.Generator) -> bool:
        """Say whether the spline is close to the density where the spline has its mass."""
        points, logs = self._proposed(_LOOKS, generator)
        off = np.abs(self.log_density(*points) - logs)
        return bool((off > _OFF).sum() <= _LOOKS // 400)

    @cached_property
    def _spline(self) -> Callable[..., Floats]:
        from scipy.interpolate import RectBivariateSpline

        found: Callable[..., Floats] = RectBivariateSpline(self.first, self.second, self.logs, s=0)
        return found

    @cached_property
    def _boxes(self) -> tuple[Floats, Floats, Floats]:
        """The middles of small boxes on both axes, and ln of the density there."""
        middles = [
            axis[0] + (axis[-1] - axis[0]) * (np.arange(_BOXES) + 0.5) / _BOXES for axis in (self.first, self.second)
        ]
        return middles[0], middles[1], self._spline(*middles, grid=True)

    @cached_property
    def log_total(self) -> float:
        """The logarithm of the integral of the density."""
        first, second, logs = self._boxes
        top = float(logs.max())
        area = (first[1] - first[0]) * (second[1] - second[0])
        return top + math.log(float(np.exp(logs - top).sum()) * area)

    def drawn(self, count: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw centers and spreads independently."""
        parts: list[Floats] = []
        while (missing := count - sum(part.shape[1] for part in parts)) > 0:
            points, logs = self._proposed(int(1.15 * missing) + 20, generator)
            ratio = np.exp(self.log_density(*points) - logs) / _OVER_SPLINE
            parts.append(points[:, generator.random(len(ratio)) < ratio])
        center, spread, _ = self.wedge.at(*np.concatenate(parts, axis=1)[:, :count])
        return center, spread

    def _proposed(self, count: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw from the spline's density; return points (2, count) and the spline there."""
        first, second, logs = self._boxes
        heights = np.cumsum(np.exp(logs - logs.max()).ravel())
        parts: list[tuple[Floats, Floats]] = []
        while (missing := count - sum(len(values) for _, values in parts)) > 0:
            wanted = int(1.6 * missing) + 20
            place = np.minimum(np.searchsorted(heights, generator.random(wanted) * heights[-1]), heights.size - 1)
            row, column = np.divmod(place, _BOXES)
            shift = generator.random((2, wanted)) - 0.5
            one = first[row] + shift[0] * (first[1] - first[0])
            two = second[column] + shift[1] * (second[1] - second[0])
            values = self._spline(one, two, grid=False)
            kept = generator.random(wanted) * _IN_A_BOX < np.exp(values - logs[row, column])
            parts.append((np.stack([one[kept], two[kept]]), values[kept]))
        points = np.concatenate([part for part, _ in parts], axis=1)
        return points[:, :count], np.concatenate([values for _, values in parts])[:count]


def _evaluated(
    log_density: Density, ends: tuple[Ends, Ends], sizes: tuple[int, int]
) -> tuple[tuple[Floats, Floats], Floats]:
    """Return both axes and the logarithms on their grid."""
    axes = (np.linspace(*ends[0], sizes[0]), np.linspace(*ends[1], sizes[1]))
    one, two = (part.ravel() for part in np.meshgrid(*axes, indexing="ij"))
    return axes, log_density(one, two).reshape(sizes)


def _narrowed(axes: tuple[Floats, Floats], logs: Floats) -> tuple[Ends, Ends]:
    """Return the ends of what matters on both axes, with a step of room, and more where it has not ended.

    What was released may outweigh every prior, so that neither axis ends where the prior says; t alone begins, at 0.
    """
    found = []
    for axis, over, least in ((axes[0], 1, -math.inf), (axes[1], 0, 0.0)):
        best = logs.max(axis=over)
        inside = np.flatnonzero(best > logs.max() - _DEPTH)
        low, high = max(inside[0] - 1, 0), min(inside[-1] + 1, len(axis) - 1)
        more = (axis[-1] - axis[0]) / 2
        found.append(
            (
                max(float(axis[low]) - (more if inside[0] == 0 else 0.0), least),
                float(axis[high]) + (more if inside[-1] == len(axis) - 1 else 0.0),
            )
        )
    return found[0], found[1]
