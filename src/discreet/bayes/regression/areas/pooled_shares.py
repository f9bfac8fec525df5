"""Noisy shares of areas whose log odds share a normal law: likelihood of its two numbers, and draws given them.

Given center c and spread s of the normal law, what was released about an area has the likelihood
M(c, s) = integral of N(v; c, s) L(v) dv, L the tabulated likelihood of log odds v. Where the normal law is wide, it is
summed over even nodes of a place x, in which no L is narrower than a normal law of deviation 1: the same nodes serve
all areas. Where it is narrow, even nodes of (v - c) / s do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.regression.likelihoods import ShareLikelihood, even_logits

Floats = NDArray[np.float64]
_REACH = 8.5  # standard deviations of the normal law: beyond them are 2e-17
_SPACING = 0.4  # of nodes of an integral: e^-44 where the narrower factor has a deviation of .6
_FINE = 0.3  # of nodes that draws start from: straight between them is 4 % too low where the density is most curved
_NARROW = 0.6
_AT_ONCE = 1 << 19
_ROOM = 1.06
_FAINT = 1e-280


class PooledShares:
    """All areas at many pairs of center and spread.

    Accuracy. ln M within 1e-6, from L within 1e-6. A draw of v takes a node by its mass, a point about it by straight
        interpolation, and keeps it with a chance in proportion to the density over that, so that it is as exact as L.
    Cost. Some 100 products for each pair and area.

    >>> from discreet.bayes.evidence import Observation
    >>> from discreet.bayes.regression.likelihoods import ShareCell
    >>> from discreet.laws import DiscreteLaplace
    >>> yes, no = (Observation((0,), z, DiscreteLaplace(2)) for z in (12, 31))
    >>> areas = PooledShares(ShareLikelihood([ShareCell((yes,), (no,))]))
    >>> center, spread = np.array([-1.0, -1.0]), np.array([0.01, 1.0])
    >>> areas.log_likelihood(center, spread).round(3).tolist()
    [-2.195, -3.132]
    """

    def __init__(self, table: ShareLikelihood) -> None:
        self.table = table

    def least_spread(self) -> float:
        """Return about the least spread that these counts could tell from 0."""
        likely = self.table.likely
        deviations = np.exp(np.logaddexp(likely / 2, -likely / 2)) / self.table.stretch
        return float(deviations.min())

    def log_likelihood(self, center: Floats, spread: Floats) -> Floats:
        """Return ln of the likelihood of all areas."""
        found = np.zeros(len(center))
        for rows, nodes, measure, normal, logs in self._wide(center, spread, _SPACING):
            top = logs.max(axis=0)
            sums = (normal * measure) @ np.exp(logs - top)
            with np.errstate(divide="ignore"):
                terms = np.log(sums) + top - np.log(spread[rows] * np.sqrt(2 * np.pi))[:, np.newaxis]
            faint = np.argwhere(sums < _FAINT)
            for row, area in faint:
                pair = rows[row]
                terms[row, area] = np.logaddexp.reduce(
                    _log_normal(nodes, center[pair], spread[pair]) + logs[:, area] + np.log(measure)
                )
            found[rows] = terms.sum(axis=1)
        for rows, _, _, logs in self._narrow(center, spread, _SPACING):
            top = logs.max(axis=1)
            found[rows] += top + np.log(np.exp(logs - top[:, np.newaxis]).sum(axis=1) * _SPACING / np.sqrt(2 * np.pi))
        return found

    def drawn(self, center: Floats, spread: Floats, generator: np.random.Generator) -> Floats:
        """Draw the log odds of all areas, (pairs, areas)."""
        found = np.empty((len(center), len(self.table.stretch)))
        for rows, nodes, _, normal, logs in self._wide(center, spread, _FINE):
            for area, top in enumerate(logs.max(axis=0)):
                heights = normal * np.exp(logs[:, area] - top)
                draws = _Rows(self.table, area, center[rows], spread[rows], np.full(len(rows), top))
                found[rows, area] = draws.taken(np.broadcast_to(nodes, heights.shape), heights, generator)
        for rows, area, nodes, logs in self._narrow(center, spread, _FINE):
            top = logs.max(axis=1)
            draws = _Rows(self.table, area, center[rows], spread[rows], top)
            found[rows, area] = draws.taken(nodes, np.exp(logs - top[:, np.newaxis]), generator)
        return found

    def _is_wide(self, center: Floats, spread: Floats) -> NDArray[np.bool_]:
        """Say where the normal law is wide enough for even nodes of the place, between its center and all areas."""
        ends = _root_odds(np.array([self.table.likely.min(), self.table.likely.max()])).min()
        own = _root_odds(center)
        rate = np.maximum(np.minimum(own, ends), own / 4.0)
        return np.asarray(spread * (1.0 + float(self.table.stretch.max()) * rate) >= _NARROW)

    def _wide(self, center: Floats, spread: Floats, spacing: float) -> Iterator[tuple[Any, ...]]:
        """Yield pairs, nodes and their widths, the normal law relative to its top, and ln L (nodes, areas).

        The peak of a product lies between those of its factors: nodes reach from the least to the largest of these.
        """
        wide = np.flatnonzero(self._is_wide(center, spread))
        if not len(wide):
            return
        least, largest = np.minimum(center, self.table.likely.min()), np.maximum(center, self.table.likely.max())
        ends = float((least - _REACH * spread)[wide].min()), float((largest + _REACH * spread)[wide].max())
        nodes, measure = even_logits(ends, float(self.table.stretch.max()), spacing)
        logs = self.table.at(nodes[:, np.newaxis])
        for rows in _parts(wide, len(nodes)):
            standard = (nodes - center[rows, np.newaxis]) / spread[rows, np.newaxis]
            yield rows, nodes, measure, np.exp(-0.5 * standard**2), logs

    def _narrow(self, center: Floats, spread: Floats, spacing: float) -> Iterator[tuple[Any, ...]]:
        """Yield pairs, an area, nodes (pairs, nodes), and ln of L times the normal law relative to its top.

        ln L rises by at most n for each unit of log odds, so that it moves the peak by at most n spread^2, and never
        beyond its own.
        """
        narrow = np.flatnonzero(~self._is_wide(center, spread))
        for area, likely in enumerate(self.table.likely):
            away = (likely - center[narrow]) / spread[narrow]
            moved = np.sign(away) * np.minimum(np.abs(away), spread[narrow] * float(self.table.stretch[area]) ** 2)
            for part in _parts(
                np.argsort(moved, kind="stable"), int((2 * _REACH + np.ptp([0.0, *moved])) / spacing) + 2
            ):
                rows, shift = narrow[part], moved[part]
                low, high = min(float(shift.min()), 0.0) - _REACH, max(float(shift.max()), 0.0) + _REACH
                standard = np.arange(low, high + spacing, spacing)
                places = center[rows, np.newaxis] + spread[rows, np.newaxis] * standard
                yield rows, area, places, self.table.of_cell(area, places) - 0.5 * standard**2


@dataclass(frozen=True, eq=False)
class _Rows:
    """The densities of one area's log odds, one for each pair, relative to a number each."""

    table: ShareLikelihood
    area: int
    center: Floats
    spread: Floats
    top: Floats

    def logs(self, values: Floats) -> Floats:
        """Return ln of the densities at values (pairs, ...)."""
        more = (slice(None),) + (np.newaxis,) * (values.ndim - 1)
        standard = (values - self.center[more]) / self.spread[more]
        return self.table.of_cell(self.area, values) - 0.5 * standard**2 - self.top[more]

    def taken(self, nodes: Floats, heights: Floats, generator: np.random.Generator) -> Floats:
        """Draw a value from each density, whose heights at nodes are given."""
        faint = heights.max(axis=1) < _FAINT
        if faint.any():  # both factors are far from each other: the densities relative to their own largest node
            rows = np.flatnonzero(faint)
            logs = self._of(rows).logs(nodes[rows])
            self.top[rows] += logs.max(axis=1)
            heights[rows] = np.exp(logs - logs.max(axis=1)[:, np.newaxis])
        masses = np.cumsum((heights[:, 1:] + heights[:, :-1]) * np.diff(nodes, axis=1), axis=1)
        found, left = np.empty(len(heights)), np.arange(len(heights))
        while len(left):
            level = generator.random(len(left)) * masses[left, -1]
            piece = np.minimum((masses[left] < level[:, np.newaxis]).sum(axis=1), masses.shape[1] - 1)
            first, second = heights[left, piece], heights[left, piece + 1]
            along = _between(first, second, generator)
            found[left] = nodes[left, piece] * (1.0 - along) + nodes[left, piece + 1] * along
            density = np.exp(self._of(left).logs(found[left]))
            left = left[generator.random(len(left)) * _ROOM * (first + along * (second - first)) >= density]
        return found

    def _of(self, rows: NDArray[np.intp]) -> _Rows:
        return _Rows(self.table, self.area, self.center[rows], self.spread[rows], self.top[rows])


def _between(first: Floats, second: Floats, generator: np.random.Generator) -> Floats:
    """Draw numbers of [0, 1] whose density goes straight from one height to another, by the inverse of its integral."""
    level = generator.random(len(first))
    root = np.sqrt(first**2 * (1.0 - level) + second**2 * level)
    return np.asarray((first + second) * level / np.maximum(first + root, 1e-300))


def _log_normal(values: Floats, center: float, spread: float) -> Floats:
    """Return ln of a normal density."""
    return np.asarray(-0.5 * ((values - center) / spread) ** 2 - np.log(spread * np.sqrt(2 * np.pi)))


def _root_odds(logit: Floats) -> Floats:
    """Return sqrt(p (1 - p)) of a share p by its log odds."""
    return np.exp(-np.logaddexp(logit / 2, -logit / 2))


def _parts(rows: NDArray[np.intp], width: int) -> list[NDArray[np.intp]]:
    """Return rows in parts that are small enough for memory."""
    step = max(_AT_ONCE // width, 1)
    return [rows[start : start + step] for start in range(0, len(rows), step)]
