"""Benchmark exhibits: the largest of several noisy scores; its index is safe to tell, its value is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.audit.exact import Varied
from discreet.laws import Pair
from discreet.privacy import PureDP
from discreet.testing.museum.exhibit import (
    ANSWERS,
    NumericExhibit,
    Vector,
    Vectors,
    all_differ,
    exponential,
    laplace,
    right,
    wrong,
)
from discreet.testing.museum.laws import (
    TAILS,
    Floats,
    Panels,
    Sandwich,
    cut,
    finite_pair,
    laplace_below,
    laplace_density,
    positive,
)

_DING = "Ding, Wang, Wang, Zhang, Kifer 2018"
_EPSILON = 0.1
_SCALE = 2 / _EPSILON
Function = Callable[[Floats], Floats]


def _exponential_below(distance: Floats) -> Floats:
    return -np.expm1(-np.maximum(distance, 0.0))


def _exponential_density(distance: Floats) -> Floats:
    return np.where(distance >= 0, np.exp(-np.maximum(distance, 0.0)), 0.0)


class NoisyMaximum(NumericExhibit):
    """The index of the largest score after Laplace noise."""

    label = right(
        "ReportNoisyMax1",
        PureDP(_EPSILON),
        "The index of the largest of five scores with Laplace noise of scale 2 / epsilon: right.",
        _DING,
    )
    varied: ClassVar[Varied | None] = ANSWERS
    noise = staticmethod(laplace)
    density = staticmethod(laplace_density)
    below = staticmethod(laplace_below)

    def neighbors(self) -> list[Vectors]:
        """Five scores that all may differ."""
        return all_differ(5)

    def noisy(self, value: Vector, draws: int) -> Floats:
        """Return the scores of each run with their noise."""
        return value + self.noise(self.random, _SCALE, (draws, value.size))

    def runs(self, value: Vector, draws: int) -> NDArray[Any]:
        """Draw indices."""
        winners: NDArray[np.int64] = np.argmax(self.noisy(value, draws), axis=1)
        return winners

    def pair(self, first: Vector, second: Vector) -> Pair:
        """Integrate over where the largest noisy score lies, between the scores, where the densities have kinks."""
        panels = Panels(cut(np.concatenate([first, second]), width=_SCALE, reach=TAILS * _SCALE), 12)
        masses = [_winners(panels, scores, self.density, self.below) for scores in (first, second)]
        return finite_pair(list(range(first.size)), masses[0], masses[1])


class NoisyMaximumExponential(NoisyMaximum):
    """The index of the largest score after exponential noise."""

    label = right(
        "ReportNoisyMax2",
        PureDP(_EPSILON),
        "The index of the largest of five scores with exponential noise of scale 2 / epsilon: right.",
        _DING,
    )
    noise = staticmethod(exponential)
    density = staticmethod(_exponential_density)
    below = staticmethod(_exponential_below)


class NoisyMaximumValue(NoisyMaximum):
    """The largest noisy score itself, with Laplace noise."""

    label = wrong(
        "ReportNoisyMax3",
        PureDP(_EPSILON),
        "The value of the largest noisy score instead of its index: a low maximum tells that all five were low.",
        _DING,
    )
    varied = None

    def runs(self, value: Vector, draws: int) -> NDArray[Any]:
        """Draw values."""
        largest: Floats = np.max(self.noisy(value, draws), axis=1)
        return largest

    def pair(self, first: Vector, second: Vector) -> Pair:
        """Cut the values into cells; below all scores the loss is constant, so that one cell goes to minus infinity."""
        kinks = np.concatenate([first, second])
        for scores in (first, second):  # refused before a line that is far too long is cut into cells
            positive(_largest(np.array([kinks.min()]), scores, laplace_density, laplace_below))
        fine = cut(kinks, width=_SCALE / 200, reach=12 * _SCALE)
        fine = fine[fine >= kinks.min()]
        edges = np.concatenate([fine[:1] - TAILS * _SCALE, fine, fine[-1:] + _SCALE * np.arange(0.05, TAILS, 0.05)])
        panels = Panels(edges, 6)
        densities = [_largest(panels.nodes, scores, laplace_density, laplace_below) for scores in (first, second)]
        at_edges = [
            np.concatenate([[1.0], positive(_largest(edges[1:], scores, laplace_density, laplace_below))])
            for scores in (first, second)
        ]
        p, q = (panels.integrals(density) for density in densities)
        # one panel cannot hold the exponential to the left of all scores: there the mass is the product of the tails
        p[0], q[0] = (np.prod(laplace_below((fine[0] - scores) / _SCALE)) for scores in (first, second))
        loss = np.log(at_edges[0] / at_edges[1])
        inside = np.log(densities[0] / densities[1])
        inside[:, 0] = loss[0] = loss[1]
        low, high = _range(loss, inside)
        return Sandwich.of_cells(p, q, low, high)


class NoisyMaximumValueExponential(NoisyMaximumValue):
    """The largest noisy score itself, with exponential noise."""

    label = wrong(
        "ReportNoisyMax4",
        PureDP(_EPSILON),
        "The value of the largest score with one-sided noise: a value below a score rules that score out for certain.",
        _DING,
    )
    noise = staticmethod(exponential)

    def pair(self, first: Vector, second: Vector) -> Pair:
        """Cut the values into cells, ever smaller towards the least possible value, where losses may be infinite."""
        starts = np.array([first.max(), second.max()])
        steps = np.concatenate([np.geomspace(1e-12, 1e-3, 40), np.arange(0.005, 12, 0.005), np.arange(12, TAILS, 0.05)])
        later = starts.max() + _SCALE * steps
        between = np.linspace(starts.min(), starts.max(), 2)[: 2 if starts[0] != starts[1] else 1]
        edges = np.concatenate([between, later])
        panels = Panels(edges, 8)
        densities, at_edges = (
            [_largest(places, scores, _exponential_density, _exponential_below) for scores in (first, second)]
            for places in (panels.nodes, edges)
        )
        p, q = (panels.integrals(density) for density in densities)
        with np.errstate(divide="ignore", invalid="ignore"):
            loss = np.log(at_edges[0]) - np.log(at_edges[1])
            inside = np.log(densities[0]) - np.log(densities[1])
        boundary = between.size - 1
        orders = [_order(scores, starts.max()) for scores in (first, second)]
        limit = np.inf * np.sign(orders[1] - orders[0]) if orders[0] != orders[1] else loss[boundary + 1]
        low, high = _range(loss, inside)
        ends = np.array([limit, loss[boundary + 1], *inside[:, boundary]])
        low[boundary], high[boundary] = ends.min(), ends.max()
        return Sandwich.of_cells(p, q, low, high)


def _order(scores: Floats, place: float) -> int:
    """Return how fast the density of the largest vanishes at a place: one less than the scores that start there."""
    return max(int(np.sum(scores == place)) - 1, 0)


def _range(at_edges: Floats, inside: Floats) -> tuple[Floats, Floats]:
    """Return the least and the largest loss seen on each cell: at its ends and at its nodes."""
    with np.errstate(invalid="ignore"):
        low = np.fmin(np.fmin(at_edges[:-1], at_edges[1:]), inside.min(axis=0))
        high = np.fmax(np.fmax(at_edges[:-1], at_edges[1:]), inside.max(axis=0))
    return low, high


def _parts(places: Floats, scores: Floats, density: Function, below: Function) -> list[Floats]:
    """Return, for each score, the density that it is the largest and lies at these places."""
    distances = [(places - score) / _SCALE for score in scores.tolist()]
    chances = [below(distance) for distance in distances]
    parts = []
    for index, distance in enumerate(distances):
        part = density(distance) / _SCALE
        for other, chance in enumerate(chances):
            if other != index:
                part = part * chance
        parts.append(part)
    return parts


def _winners(panels: Panels, scores: Floats, density: Function, below: Function) -> Floats:
    """Return the chance of each score to be the largest."""
    chances = [panels.integrals(part).sum() for part in _parts(panels.nodes, scores, density, below)]
    return positive(np.array(chances))


def _largest(places: Floats, scores: Floats, density: Function, below: Function) -> Floats:
    """Return the density of the largest noisy score."""
    total: Floats = np.sum(_parts(places, scores, density, below), axis=0)
    return total
