"""Logarithms of likelihoods as splines, one for each cell, evaluated for all cells and many points at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A cubic spline on even nodes of a place x, that goes on straight in another variable beyond its ends."""

    start: float
    step: float
    coefficients: Floats  # (4, pieces), highest power first
    ends: tuple[float, float]  # the straight variable at both ends
    values: tuple[float, float]
    slopes: tuple[float, float]  # by the straight variable
    top: float  # the largest value

    @classmethod
    def through(cls, places: Floats, values: Floats, straight: Floats, rates: Floats) -> Curve:
        """Return the spline through values at even places; `rates` is dx by the straight variable at both ends."""
        from scipy.interpolate import CubicSpline

        spline = CubicSpline(places, values)
        first, last = (
            float(spline(place, 1)) * float(rate) for place, rate in zip(places[[0, -1]], rates, strict=True)
        )
        return cls(
            float(places[0]),
            float(places[1] - places[0]),
            np.ascontiguousarray(spline.c),
            (float(straight[0]), float(straight[-1])),
            (float(values[0]), float(values[-1])),
            (first, last),
            float(values.max()),
        )


class Curves:
    """Several curves side by side: column j of what is looked up belongs to curve j."""

    def __init__(self, curves: Sequence[Curve]) -> None:
        pieces = np.array([one.coefficients.shape[1] for one in curves])
        self.first = np.concatenate([[0], np.cumsum(pieces)[:-1]])
        self.last = pieces - 1
        self.start = np.array([one.start for one in curves])
        self.step = np.array([one.step for one in curves])
        self.parts = np.concatenate([one.coefficients for one in curves], axis=1)
        self.ends = np.array([one.ends for one in curves])
        self.values = np.array([one.values for one in curves])
        self.slopes = np.array([one.slopes for one in curves])
        self.top = np.array([one.top for one in curves])

    def within(self, values: Floats, depth: float) -> bool:
        """Say whether 999 of 1000 rows of values (rows, curves) are no deeper below the tops."""
        return bool((values >= self.top - depth).all(axis=1).mean() >= 0.999)

    def at(self, place: Floats, straight: Floats) -> Floats:
        """Return the curves at places (..., curves); the straight variable says where beyond an end that is."""
        return self._look_up(slice(None), place, straight)

    def of(self, curve: int, place: Floats, straight: Floats) -> Floats:
        """Return one curve at places of any shape."""
        return self._look_up(curve, place, straight)

    def _look_up(self, which: int | slice, place: Floats, straight: Floats) -> Floats:
        step, (low, high) = self.step[which], self.ends[which].T
        moved = (place - self.start[which]) / step
        piece = np.clip(moved, 0.0, self.last[which]).astype(np.int64)
        along = (moved - piece) * step
        cubed, squared, rise, base = self.parts[:, self.first[which] + piece]
        inside = ((cubed * along + squared) * along + rise) * along + base
        for side, beyond in ((0, straight < low), (1, straight > high)):
            if beyond.any():
                value, slope = self.values[which].T[side], self.slopes[which].T[side]
                inside = np.where(beyond, value + slope * (straight - self.ends[which].T[side]), inside)
        return np.asarray(inside)
