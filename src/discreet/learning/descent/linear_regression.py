"""Linear regression: rows in a ball, a target in its declared range, and noisy descent on clipped squared error."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.learning.base import PrivateRegressor, Public, regime
from discreet.learning.descent.descent import Descent, descend, signal_of
from discreet.learning.exact import (
    STEPS,
    Chunks,
    Cut,
    Measurements,
    Rows,
    filled,
    in_ball,
    in_unit_box,
    squared_errors,
)

Floats = NDArray[np.float64]
_RADIUS = 0.5  # times the root of the number of features
_CONSTANT = 0.5
_LENGTH = math.sqrt(1.0 + _CONSTANT * _CONSTANT)


@dataclass(eq=False, repr=False, kw_only=True)
class LinearRegression(PrivateRegressor):
    """Linear regression by full-batch noisy descent.

    Features and target are moved into [-1, 1] by their bounds, and rows farther than sqrt(features) / 2 from the middle
    are pulled to that distance while learning. `coef_` and `intercept_` are in the units of the features and the
    target: a prediction is X @ coef_ + intercept_ with X clipped to `bounds`, clipped to `target_bounds`.

    Privacy. mu-Gaussian-DP under the stated relation, mu the one that the price buys.
        Proof: every step is one release (`descend`) for an equal share of mu^2. A row becomes its vector of norm at
        most 1, and its target a number in [-1, 1], by maps of that row alone.
    Accuracy. The signal s = people mu / sqrt(features + 1) says what to expect, and sets the number of steps and their
        length: a public rule. Errors count up to 0.3 of half the range of the target, so that outliers say little.
    Cost. Two products with the matrix of rows a step, at most 100 steps.
    Reference. Dong, Roth, Su 2022 (Gaussian differential privacy); Bassily, Smith, Thakurta 2014 (noisy descent).

    >>> from discreet.privacy import Relation
    >>> rows = np.linspace(0, 10, 5000)[:, np.newaxis]
    >>> model = LinearRegression(
    ...     epsilon=1,
    ...     delta=1e-6,
    ...     relation=Relation.ADD_REMOVE,
    ...     people=5000,
    ...     bounds=(0, 10),
    ...     target_bounds=(0, 100),
    ... )
    >>> model.fit(rows, 20 + 6 * rows[:, 0]).predict([[2], [8]]).round(-1)
    array([30., 70.])
    """

    def _descent(self, public: Public) -> Descent:
        """Return the plan of the descent, by the signal alone."""
        signal = self._signal(public)
        steps = round(min(max(0.5 * signal, 3), 100))
        return Descent(steps, min(max(0.05 * signal, 0.3), 4.0), 0.3, Fraction(1))

    def _signal(self, public: Public) -> float:
        return signal_of(public, public.features + 1)

    def _plan(self, public: Public) -> Mapping[str, Any]:
        return self._descent(public).told()

    def _expect(self, public: Public) -> str:
        return regime(self._signal(public))

    def _noise(self, public: Public) -> Mapping[str, float]:
        return {"mean gradient": self._descent(public).noise(public, Measurements(public.price))}

    def _learn(self, public: Public, rows: Rows, measurements: Measurements) -> None:
        if rows.targets is None or public.target is None:
            raise AssertionError("a regression reads targets")
        cut, target = Cut(public.low, public.high), public.target
        radius = _RADIUS * math.sqrt(public.features)

        def made(features: Floats, targets: NDArray[Any]) -> tuple[Floats, NDArray[Any]]:
            lines, counted = cut(features)
            return in_ball_with_constant(lines, counted, radius), scaled_targets(targets, target)

        chunks = Chunks.of(rows.features, rows.targets, made, coordinates=public.features + 1)
        shape = (1, public.features + 1)
        weights = descend(self._descent(public), public, chunks, squared_errors, measurements, shape)[0] / _LENGTH
        self._low, self._high, self._target = public.low, public.high, target
        self._unscale(weights[:-1] / radius, weights[-1] * _CONSTANT)

    def _unscale(self, slopes: Floats, middle: float) -> None:
        """Keep slopes and the value in the middle, both for ranges [-1, 1], in the units of features and target."""
        (low, high), half = self._target, self._high / 2 - self._low / 2
        self.coef_ = slopes * (high / 2 - low / 2) / half
        center = self._low / 2 + self._high / 2
        self.intercept_ = float(low / 2 + high / 2 + middle * (high / 2 - low / 2) - self.coef_ @ center)

    def predict(self, X: Any) -> Floats:
        """Return the predicted number of every row; a cell that is no number counts as the middle of its range."""
        features = filled(self._seen(X), self._low, self._high)
        return np.clip(features @ self.coef_ + self.intercept_, *self._target)


def in_ball_with_constant(lines: Floats, counted: NDArray[np.bool_], radius: float) -> Floats:
    """Return rows pulled into a ball, over its radius, with a constant appended, at norm 1 at most; in steps of 2^-19."""
    unit = in_ball(lines, radius) / STEPS
    longer = np.vstack([unit, np.full((1, lines.shape[1]), _CONSTANT)])
    return np.where(counted, in_ball(longer, _LENGTH), 0.0)


def scaled_targets(targets: NDArray[Any], bounds: tuple[float, float]) -> Floats:
    """Return targets in [-1, 1] by their bounds, NaN where there is no finite one."""
    low, high = (np.array([end]) for end in bounds)
    lines, counted = in_unit_box(targets[:, np.newaxis], low, high)
    return np.where(counted, lines[0], np.nan)
