"""What linear models share: rows in a ball, targets in their range, and coefficients in the units of the features."""

from __future__ import annotations

import math
from abc import ABC
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.learning.base import PrivateRegressor, Public
from discreet.learning.exact import CHUNK, STEPS, FitRows, filled, in_ball, in_unit_box

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Ball:
    """Public ranges of features and target, and how far rows may be from the middle: `reach` sqrt(features)."""

    public: Public
    reach: float

    @property
    def radius(self) -> float:
        """The radius of the ball to which rows are pulled, in features scaled to [-1, 1]."""
        return self.reach * math.sqrt(self.public.features)

    @property
    def target(self) -> tuple[float, float]:
        """The middle of the target's range and half its length."""
        low, high = self.public.target or (-1.0, 1.0)
        return low / 2 + high / 2, high / 2 - low / 2

    def rows(self, features: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Return rows of norm at most 1, a line a feature, in whole multiples of 2^-19, and which rows count."""
        lines, counted = in_unit_box(features, self.public.low, self.public.high)
        return in_ball(lines, self.radius) / STEPS, counted

    def chunks(self, rows: FitRows) -> Iterator[tuple[Floats, Floats, NDArray[np.bool_]]]:
        """Yield 2^14 rows at a time: vectors of norm at most 1, targets in [-1, 1], and which rows count."""
        if rows.targets is None or self.public.target is None:
            raise AssertionError("a regression reads targets")
        low, high = (np.array([end]) for end in self.public.target)
        for begin in range(0, len(rows), CHUNK):
            part = slice(begin, begin + CHUNK)
            lines, counted = self.rows(rows.features[part])
            targets, known = in_unit_box(rows.targets[part, np.newaxis], low, high)
            yield lines, targets[0], counted & known

    def slopes(self, weights: Floats) -> Floats:
        """Return weights of vectors in the ball as weights of features, in the units of features and target."""
        half = self.public.high / 2 - self.public.low / 2
        return np.asarray(weights * self.target[1] / (half * self.radius))

    def predicted(self, features: Floats, weights: Floats, constant: float) -> Floats:
        """Return predictions of a model in the ball, clipped to the range of the target."""
        middle, half = self.target
        lines, _ = self.rows(filled(features, self.public.low, self.public.high))
        return np.asarray(middle + half * np.clip(weights @ lines + constant, -1.0, 1.0))


@dataclass(eq=False, repr=False, kw_only=True)
class MomentsRegressor(PrivateRegressor, ABC):
    """The base of linear models that are solved from released moments."""

    def _keep(self, ball: Ball, weights: Floats, constant: float) -> None:
        """Keep a model in the ball, and its coefficients in the units of the features and the target."""
        self._ball, self._weights, self._constant = ball, weights, constant
        middle, half = ball.target
        self.coef_ = ball.slopes(weights)
        public = ball.public
        self.intercept_ = float(middle + half * constant - self.coef_ @ (public.low / 2 + public.high / 2))

    def predict(self, X: Any) -> Floats:
        """Return the predicted number of every row; a cell that is no number counts as the middle of its range."""
        features = self._seen(X)
        return self._ball.predicted(features, self._weights, self._constant)
