"""Linear regression: rows in a ball, a target in its declared range, and noisy descent on clipped squared error."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.learning.base import PrivateRegressor, Public, regime
from discreet.learning.descent.descent import Descent, descend, descent_of_squares, signal_of
from discreet.learning.exact import (
    STEPS,
    Chunks,
    FitRows,
    Measurements,
    filled,
    in_ball,
    in_unit_box,
    scaled_targets,
    squared_errors,
)

Floats = NDArray[np.float64]
_CONSTANT = 0.5
_LENGTH = math.sqrt(1.0 + _CONSTANT * _CONSTANT)


@dataclass(eq=False, repr=False, kw_only=True)
class LinearRegression(PrivateRegressor):
    """Linear regression by full-batch noisy descent.

    Features and target are moved into [-1, 1] by their bounds, and rows farther than sqrt(features) / 2 (at least 1)
    from the middle are pulled to that distance. `coef_` and `intercept_` are in the units of the features and the
    target: for a row within that distance the prediction is X @ coef_ + intercept_, clipped to `target_bounds`. Rows
    farther away are pulled before they are predicted, as they were when the weights were learned.

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
        return descent_of_squares(self._signal(public))

    def _signal(self, public: Public) -> float:
        return signal_of(public, public.features + 1)

    def _plan(self, public: Public) -> Mapping[str, Any]:
        return self._descent(public).told(1, public.features + 1)

    def _expect(self, public: Public) -> str:
        return regime(self._signal(public))

    def _noise(self, public: Public) -> Mapping[str, float]:
        return self._descent(public).noises(public, Measurements(public.price))

    def _learn(self, public: Public, rows: FitRows, measurements: Measurements) -> None:
        if rows.targets is None or public.target is None:
            raise AssertionError("a regression reads targets")
        self._low, self._high, self._target = public.low, public.high, public.target

        def made(features: Floats, targets: NDArray[Any]) -> tuple[Floats, NDArray[Any]]:
            return self._vectors(features), scaled_targets(targets, self._target)

        chunks = Chunks.of(rows.features, rows.targets, made, coordinates=public.features + 1)
        shape = (1, public.features + 1)
        self._weights = descend(self._descent(public), public, chunks, squared_errors, measurements, shape)[0]
        half, half_target = public.high / 2 - public.low / 2, self._target[1] / 2 - self._target[0] / 2
        slopes = self._weights[:-1] / (_LENGTH * _radius(public.features))
        self.coef_ = slopes * half_target / half
        middle = self._target[0] / 2 + self._target[1] / 2 + self._weights[-1] * (_CONSTANT / _LENGTH) * half_target
        self.intercept_ = float(middle - self.coef_ @ (public.low / 2 + public.high / 2))

    def _vectors(self, features: Floats) -> Floats:
        """Return rows in the ball, over its radius, with a constant appended, in steps of 2^-19 and at most 1 long."""
        lines, counted = in_unit_box(features, self._low, self._high)
        unit = in_ball(lines, _radius(len(lines))) / STEPS
        longer = np.vstack([unit, np.full((1, lines.shape[1]), _CONSTANT)])
        return np.where(counted, in_ball(longer, _LENGTH), 0.0)

    def predict(self, X: Any) -> Floats:
        """Return the predicted number of every row; a cell that is no number counts as the middle of its range."""
        vectors = self._vectors(filled(self._seen(X), self._low, self._high))
        low, high = self._target
        scaled = np.clip(self._weights @ vectors / STEPS, -1.0, 1.0)
        return np.asarray(low / 2 + high / 2 + scaled * (high / 2 - low / 2))


def _radius(features: int) -> float:
    """Return the radius of the ball that rows are pulled into: few rows of several features are far from the middle."""
    return max(1.0, 0.5 * math.sqrt(features))
