"""Benchmark exhibit: a sparse-vector algorithm that also releases the values it found above the threshold.

A hit at answer i with value v, compared with the same noise, has density g(v - x_i) H(v), where H(v) integrates the
threshold's density times the chance of all misses so far over thresholds up to v. H comes from one cumulative
integral on panels; cells of values then give a coarser and a finer pair. Two hits with values v and w share
H(min(v, w)), so that the larger of the two only needs cells where its own loss changes.
Reference. Lyu, Su, Li 2017.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.privacy import PureDP
from discreet.testing.museum.exhibit import Vector, laplace, wrong
from discreet.testing.museum.laws import TAILS, Floats, Panels, Sandwich, cut, laplace_below, laplace_density, positive
from discreet.testing.museum.sparse_vector.verdicts import EPSILON, LYU, SparseVector, stopped

BELOW, UNSEEN = -1000.0, -2000.0
_BANDS = {1: 64, 2: 8}  # parts into which the stretch between the two positions of an answer is cut, by hits
Answers = tuple[float, float]  # one answer on the first and on the second input


class SparseVectorValues(SparseVector):
    """The third: the noisy value that was compared is released with each hit."""

    label = wrong(
        "SVT3",
        PureDP(EPSILON),
        "The compared value itself is released with a hit: a low one tells that the threshold, and with it all misses"
        " before, lay even lower.",
        LYU,
    )
    threshold = 1.0
    query_scale = 2 / EPSILON
    varied = None

    def __init__(self, *, hits: int = 1, cells: int = 160, seed: int | None = None) -> None:
        super().__init__(hits=hits, seed=seed)
        if hits not in (1, 2):
            raise ParameterError("the law of released values is worked out for one hit and for two", parameter="hits")
        self.cells = cells

    def runs(self, value: Vector, draws: int) -> NDArray[Any]:
        """Draw vectors of values, -1000 for a miss and -2000 for not looked at any more."""
        noisy = value + laplace(self.random, self.query_scale, (draws, value.size))
        bar = self.threshold + laplace(self.random, self.threshold_scale, (draws, 1))
        verdicts = stopped((noisy >= bar).astype(np.int8), self.hits or 1)
        noisy[verdicts == 0] = BELOW
        noisy[verdicts == -1] = UNSEEN
        return noisy

    def pair(self, first: Vector, second: Vector) -> Sandwich:
        """Add up the parts: no hit, one hit, and two hits where they are allowed."""
        answers = list(zip(first.tolist(), second.tolist(), strict=True))
        axis = _Axis(self, answers)
        others = [answers[:i] if self.hits == 1 else answers[:i] + answers[i + 1 :] for i in range(len(answers))]
        parts = [_cells_of_none(axis, answers)]
        parts += [_cells_of_one(axis, hit, skipped) for hit, skipped in zip(answers, others, strict=True)]
        if self.hits == 1:
            return Sandwich.of_cells(*_columns(parts))
        known = Sandwich.of_cells(*_columns(parts))
        ends = [(known.bottom, known.top)]
        for (one, two, skipped), times in _two_hits(answers).items():
            found, reached = _cells_of_two(axis, one, two, skipped, times)
            parts, ends = parts + found, ends + reached
        bottoms, tops = zip(*ends, strict=True)
        # on cells in which both values change, the sum of two ranges is more than what is attained
        return replace(Sandwich.of_cells(*_columns(parts)), top=max(tops), bottom=min(bottoms)).compressed(1 << 14)


@dataclass(frozen=True)
class _Side:
    """What belongs to one of the two inputs, on the nodes and on the edges of the panels."""

    nodes: Floats
    edges: Floats


class _Axis:
    """The values, cut into cells, with the densities and misses of every answer on it."""

    def __init__(self, exhibit: SparseVectorValues, answers: list[Answers]) -> None:
        self.scale, self.cutoff = exhibit.query_scale, exhibit.threshold
        self.threshold_scale = exhibit.threshold_scale
        places = np.unique(answers)
        self.bands = _BANDS[exhibit.hits or 1]
        steps = np.concatenate([np.linspace(a, b, self.bands + 1) for a, b in set(answers)])
        kinks = np.unique(np.concatenate([steps, places, [self.cutoff]]))
        fine = cut(kinks, width=self.scale / exhibit.cells, reach=12 * self.scale)
        far = np.arange(0.25, TAILS * self.threshold_scale / self.scale, 0.25) * self.scale
        self.panels = Panels(np.concatenate([fine[0] - far[::-1], fine, fine[-1] + far]), 4)
        self._misses: dict[float, _Side] = {}
        self._densities: dict[float, _Side] = {}
        distances = ((x - self.cutoff) / self.threshold_scale for x in (self.panels.nodes, self.panels.edges))
        self.bar = _Side(*(laplace_density(distance) / self.threshold_scale for distance in distances))

    def misses(self, answer: float) -> _Side:
        """Return the chance that an answer's noisy value stays below each place."""
        if answer not in self._misses:
            sides = (laplace_below((x - answer) / self.scale) for x in (self.panels.nodes, self.panels.edges))
            self._misses[answer] = _Side(*sides)
        return self._misses[answer]

    def density(self, answer: float) -> _Side:
        """Return the density of an answer's noisy value."""
        if answer not in self._densities:
            sides = (
                laplace_density((x - answer) / self.scale) / self.scale for x in (self.panels.nodes, self.panels.edges)
            )
            self._densities[answer] = _Side(*sides)
        return self._densities[answer]

    def own_loss(self, answer: Answers) -> _Side:
        """Return the loss that the density of one answer's value alone contributes."""
        return _Side(
            *(
                (np.abs(x - answer[1]) - np.abs(x - answer[0])) / self.scale
                for x in (self.panels.nodes, self.panels.edges)
            )
        )

    def passed(self, skipped: list[float]) -> _Side:
        """Return H: the chance that the threshold lies below a place and all skipped answers below the threshold."""
        values = self.bar.nodes
        for answer, count in Counter(skipped).items():
            values = values * self.misses(answer).nodes ** count
        nodes, edges = self.panels.primitive(values)
        return _Side(positive(nodes), np.concatenate([edges[:1], positive(edges[1:])]))


Cells = tuple[Floats, Floats, Floats, Floats]


def _cells_of_none(axis: _Axis, answers: list[Answers]) -> Cells:
    """Return the single outcome without any hit."""
    p, q = (axis.passed([answer[k] for answer in answers]).edges[-1] for k in (0, 1))
    loss = np.array([np.log(p / q)])
    return np.array([p]), np.array([q]), loss, loss


def _cells_of_one(axis: _Axis, hit: Answers, skipped: list[Answers]) -> Cells:
    """Return the cells of a hit's value, when all the skipped answers were misses."""
    passed = [axis.passed([answer[k] for answer in skipped]) for k in (0, 1)]
    p, q = (axis.panels.integrals(axis.density(hit[k]).nodes * passed[k].nodes) for k in (0, 1))
    low, high = _extremes(_total(axis.own_loss(hit), _log_ratio(passed)))
    return p, q, low, high


def _columns(parts: list[Cells]) -> list[Floats]:
    """Put the cells of all parts together: masses under both laws, least and largest losses."""
    return [np.concatenate([part[k] for part in parts]) for k in range(4)]


def _cells_of_two(
    axis: _Axis, one: Answers, two: Answers, skipped: tuple[Answers, ...], times: int
) -> tuple[list[Cells], list[tuple[float, float]]]:
    """Return the cells of two hits' values, the smaller one cut finely, the larger one into bands of its own loss.

    With them go the least and the largest loss, each for either of the two being the smaller one.
    """
    passed = [axis.passed([answer[k] for answer in skipped]) for k in (0, 1)]
    shared = _log_ratio(passed)
    orders = [(one, two, 2 * times)] if one == two else [(one, two, times), (two, one, times)]
    parts: list[Cells] = []
    ends = []
    for smaller, larger, count in orders:
        low, high = _extremes(_total(axis.own_loss(smaller), shared))
        loss = axis.own_loss(larger).edges
        # the larger value is anywhere above the smaller one, and its own loss rises or falls all the way
        sums = (axis.own_loss(smaller).edges + shared.edges)[:, None] + np.stack(
            [loss, np.full_like(loss, loss[-1])], 1
        )
        ends.append((float(sums.min()), float(sums.max())))
        edges = np.unique(np.concatenate([np.linspace(*larger, axis.bands + 1), axis.panels.edges[[0, -1]]]))
        bands = np.searchsorted(axis.panels.edges, edges - 1e-9)
        for start, end in pairwise(bands.tolist()):
            # the larger value lies in this band and above the smaller one, which lies in any cell up to its end
            masses = []
            for k in (0, 1):
                chance = axis.misses(larger[k])
                reached = chance.edges[end] - np.maximum(chance.nodes[:, :end], chance.edges[start])
                if larger[k] <= axis.panels.edges[start]:  # to the right of the answer differences lose their digits
                    above = laplace_below((larger[k] - axis.panels.edges) / axis.scale)
                    above_nodes = laplace_below((larger[k] - axis.panels.nodes[:, :end]) / axis.scale)
                    reached = np.minimum(above_nodes, above[start]) - above[end]
                values = np.zeros_like(passed[k].nodes)
                values[:, :end] = axis.density(smaller[k]).nodes[:, :end] * passed[k].nodes[:, :end] * reached
                masses.append(count * axis.panels.integrals(values)[:end])
            band = loss[start], loss[end]
            parts.append((masses[0], masses[1], low[:end] + min(band), high[:end] + max(band)))
    return parts, ends


def _two_hits(answers: list[Answers]) -> Counter[tuple[Answers, Answers, tuple[Answers, ...]]]:
    """Count the pairs of hits that have the same law: the answers hit, and which ones were missed before the second."""
    found: Counter[tuple[Answers, Answers, tuple[Answers, ...]]] = Counter()
    for second in range(1, len(answers)):
        for first in range(second):
            skipped = tuple(sorted(answers[:first] + answers[first + 1 : second]))
            one, two = sorted((answers[first], answers[second]))
            found[one, two, skipped] += 1
    return found


def _log_ratio(sides: list[_Side]) -> _Side:
    """Return ln P / Q on nodes and edges; the leftmost edge, where nothing has passed yet, takes its neighbor's."""
    nodes = np.log(sides[0].nodes / sides[1].nodes)
    inner = np.log(sides[0].edges[1:] / sides[1].edges[1:])
    return _Side(nodes, np.concatenate([inner[:1], inner]))


def _total(left: _Side, right: _Side) -> _Side:
    return _Side(left.nodes + right.nodes, left.edges + right.edges)


def _extremes(loss: _Side) -> tuple[Floats, Floats]:
    """Return the least and the largest loss on each cell, as seen at its nodes and ends."""
    low = np.minimum(np.minimum(loss.edges[:-1], loss.edges[1:]), loss.nodes.min(axis=0))
    high = np.maximum(np.maximum(loss.edges[:-1], loss.edges[1:]), loss.nodes.max(axis=0))
    return low, high
