"""A score that adds up one learned function a column: logistic regression on ramps, special values and tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.audit.statistical.columns import BETWEEN, View
from discreet.audit.statistical.outcomes import Codes, Floats
from discreet.audit.statistical.scores import RunScore, TableScore

_SHARED = (0.004, 0.04, 0.15, 0.32, 0.5, 0.68, 0.85, 0.96, 0.996)
_FREE = (0.01, 0.1, 0.35, 0.65, 0.9, 0.99)
_KINDS = 96
_CHUNK = 16_384
_WARM = 20_000
_STEPS = 8
_SHARED_RIDGE = 1.0
_FREE_RIDGE = 30.0
_TELLING = (2.0, 3.2, 5.0)
_TOO_FAR = 30.0
_SETTLED = 3e-2


@dataclass(frozen=True)
class AdditiveScore(RunScore):
    """The sum over columns of a piecewise linear function of the value, or of an entry for its special value."""

    differenced: bool
    knots: tuple[Floats, ...]
    heights: tuple[Floats, ...]
    kinds: Floats
    tables: tuple[TableScore, ...]
    weights: Floats

    def __call__(self, view: View) -> Floats:
        """Add up."""
        numbers = view.differences if self.differenced else view.numbers
        total = np.zeros(len(view))
        for column, (knots, heights) in enumerate(zip(self.knots, self.heights, strict=True)):
            kinds = view.kinds[:, column]
            plain = not np.any(kinds)
            if len(knots) > 1:
                curve = np.interp(numbers[:, column], knots, heights)
                total += curve if plain else np.where(kinds == BETWEEN, curve, 0.0)
            if not plain:
                total += self.kinds[column][kinds]
        for table, weight in zip(self.tables, self.weights, strict=True):
            total += weight * table(view)
        return np.nan_to_num(total)

    def __str__(self) -> str:
        return f"a learned sum over the {'differences' if self.differenced else 'numbers'} of the output"


@dataclass(frozen=True)
class RegressionPart:
    """One function of the regression: its knots, the special values it tells apart, and the columns that share it."""

    columns: tuple[int, ...]
    knots: Floats
    shown: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of its coefficients."""
        return max(len(self.knots) - 1, 0) + len(self.shown)

    @np.errstate(over="ignore", invalid="ignore")
    def features(self, numbers: Floats, kinds: Codes) -> NDArray[np.float32]:
        """Return its ramps and indicators, added up over its columns."""
        total = np.zeros((self.size, len(numbers)), dtype=np.float32)
        ramps = max(len(self.knots) - 1, 0)
        for column in self.columns:
            values, special = numbers[:, column].astype(np.float32), kinds[:, column]
            plain = not np.any(special)
            for place in range(ramps):
                start, stop = np.float32(self.knots[place]), np.float32(self.knots[place + 1])
                width = max(stop - start, np.float32(1e-30))
                ramp = np.clip((values - start) / width, np.float32(0), np.float32(1))
                total[place] += ramp if plain else np.where(special == BETWEEN, ramp, np.float32(0))
            for place, kind in enumerate(self.shown):
                total[ramps + place] += special == kind
        return total.T

    def function(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return its heights at the knots, and its entries for special values."""
        ramps = max(len(self.knots) - 1, 0)
        kinds = np.zeros(_KINDS)
        kinds[list(self.shown)] = theta[ramps:]
        return np.concatenate([[0.0], np.cumsum(theta[:ramps])]), kinds


@dataclass(frozen=True)
class RegressionDesign:
    """The regression: functions shared by the columns of a group, what single columns add, and tables of patterns."""

    shared: tuple[RegressionPart, ...]
    free: tuple[RegressionPart, ...]
    tables: tuple[TableScore, ...]
    differenced: bool
    width: int

    @classmethod
    def fitted(
        cls, first: View, second: View, *, free: bool, tables: tuple[TableScore, ...] = (), differenced: bool = False
    ) -> RegressionDesign:
        """Place the knots at quantiles, with one ramp between the medians of the two inputs."""
        few = [view.part(0, _WARM) for view in (first, second)]
        sides = [(view.differences if differenced else view.numbers, view.kinds) for view in few]
        groups = [group for group in first.columns.groups if group]
        shared = tuple(_part(group, sides, _SHARED) for group in groups)
        single = tuple(_part((column,), sides, _FREE) for group in groups if len(group) > 1 for column in group)
        return cls(shared, single if free else (), tables, differenced, first.numbers.shape[1])

    def matrix(self, view: View) -> NDArray[np.float32]:
        """Return the rows of the regression for some runs."""
        numbers = view.differences if self.differenced else view.numbers
        blocks = [np.ones((len(view), 1), dtype=np.float32)]
        blocks += [part.features(numbers, view.kinds) for part in (*self.shared, *self.free)]
        blocks += [table(view)[:, None].astype(np.float32) for table in self.tables]
        return np.nan_to_num(np.hstack(blocks))

    def ridges(self) -> Floats:
        """Return the penalty of each column of the matrix."""
        shared, free = (sum(part.size for part in parts) for parts in (self.shared, self.free))
        return np.array([1e-3] + [_SHARED_RIDGE] * shared + [_FREE_RIDGE] * free + [_SHARED_RIDGE] * len(self.tables))

    def score(self, theta: Floats) -> AdditiveScore:
        """Fold the coefficients into one function a column."""
        knots: list[Floats] = [np.empty(0)] * self.width
        heights: list[Floats] = [np.empty(0)] * self.width
        kinds = np.zeros((self.width, _KINDS))
        place = 1
        for part in (*self.shared, *self.free):
            rise, entries = part.function(theta[place : place + part.size])
            place += part.size
            for column in part.columns:
                kinds[column] += entries
                if len(part.knots) > 1:
                    knots[column], heights[column] = _added(knots[column], heights[column], part.knots, rise)
        return AdditiveScore(
            self.differenced,
            tuple(knots),
            tuple(heights),
            kinds,
            self.tables,
            theta[place:],
        )


def _part(columns: tuple[int, ...], sides: list[tuple[Floats, Codes]], quantiles: tuple[float, ...]) -> RegressionPart:
    """Place knots at quantiles of both sides together and at the two medians, and list the special values."""
    places = list(columns)
    values = [one[:, places][kinds[:, places] == BETWEEN] for one, kinds in sides]
    values = [one[np.isfinite(one)][: 4 * _WARM] for one in values]
    seen = np.unique(np.concatenate([kinds[:, places].ravel() for _, kinds in sides]))
    knots = np.empty(0)
    if min(len(one) for one in values) >= 2 * len(quantiles):
        medians = [float(np.median(one)) for one in values]
        knots = np.unique(np.concatenate([np.quantile(np.concatenate(values), quantiles), medians]))
    return RegressionPart(columns, knots, tuple(int(kind) for kind in seen if kind != BETWEEN))


def _added(knots: Floats, heights: Floats, more: Floats, rise: Floats) -> tuple[Floats, Floats]:
    """Add two piecewise linear functions."""
    if not len(knots):
        return more, rise
    places = np.union1d(knots, more)
    return places, np.interp(places, knots, heights) + np.interp(places, more, rise)


def fitted_additive(design: RegressionDesign, first: View, second: View) -> Iterator[AdditiveScore]:
    """Fit by penalized maximum likelihood, and yield the fit whole, with shared functions only, and thinned out."""

    def rows(limit: int) -> Iterator[tuple[NDArray[np.float32], float]]:
        for view, label in ((first, 1.0), (second, 0.0)):
            for start in range(0, min(limit, len(view)), _CHUNK):
                yield design.matrix(view.part(start, min(start + _CHUNK, limit, len(view)))), label

    ridge = design.ridges()
    theta, curvature = np.zeros(len(ridge)), np.diag(ridge)
    few = list(rows(_WARM))
    for _ in range(_STEPS):
        step, curvature = _newton(few, theta, ridge)
        theta = theta + step
        if np.max(np.abs(step)) < _SETTLED:
            break
    if max(len(first), len(second)) > _WARM:
        step, curvature = _newton(rows(max(len(first), len(second))), theta, ridge)
        theta = theta + step
    yield design.score(theta)
    kept = np.ones(len(theta), dtype=bool)
    if design.free:
        common = kept.copy()
        start = 1 + sum(part.size for part in design.shared)
        common[start : start + sum(part.size for part in design.free)] = False
        yield design.score(_restricted(theta, curvature, common))
        for thinned in _thinned(theta, curvature, common):
            yield design.score(thinned)
    for thinned in _thinned(theta, curvature, kept):
        yield design.score(thinned)


def _restricted(theta: Floats, curvature: Floats, kept: NDArray[np.bool_]) -> Floats:
    """Return the best coefficients with some of them zero, where the likelihood is as curved as at the best of all."""
    pulled = curvature @ theta
    found = np.zeros(len(theta))
    places = np.flatnonzero(kept)
    found[places] = np.linalg.solve(curvature[np.ix_(places, places)], pulled[places])
    return found


def _thinned(theta: Floats, curvature: Floats, kept: NDArray[np.bool_]) -> Iterator[Floats]:
    """Leave out coefficients that noise alone explains, the least telling first, at ever stricter levels."""
    kept = kept.copy()
    found = _restricted(theta, curvature, kept)
    for least in _TELLING:
        while True:
            places = np.flatnonzero(kept)
            spread = np.sqrt(np.maximum(np.diag(np.linalg.inv(curvature[np.ix_(places, places)])), 1e-12))
            telling = np.abs(found[places]) / spread
            telling[0] = np.inf  # the intercept
            weak = np.flatnonzero(telling < least)
            if not len(weak):
                break
            out = weak[np.argsort(telling[weak])][: max(len(weak) // 3, 1)]
            kept[places[out]] = False
            found = _restricted(theta, curvature, kept)
        yield found


def _newton(parts: Iterable[tuple[NDArray[np.float32], float]], theta: Floats, ridge: Floats) -> tuple[Floats, Floats]:
    """Return one Newton step and the curvature, from one pass over the rows."""
    gradient, curvature = -ridge * theta, np.diag(ridge + 1e-6)
    for matrix, label in parts:
        chances = 1.0 / (1.0 + np.exp(-np.clip(matrix @ theta.astype(np.float32), -_TOO_FAR, _TOO_FAR)))
        gradient = gradient + (label - chances) @ matrix
        weighted = matrix * np.sqrt(np.maximum(chances * (1.0 - chances), 1e-6))[:, None].astype(np.float32)
        curvature += weighted.T @ weighted
    return np.clip(np.linalg.solve(curvature, gradient), -5.0, 5.0), curvature
