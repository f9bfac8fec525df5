"""Features with mean 0 and deviation 1, as far as one release of means and squares tells."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.learning.base import PrivateTransformer, Public, regime
from discreet.learning.exact import CHUNK, STEPS, FitRows, Measurements, exact_sum, in_ball, in_unit_box, squared_norms
from discreet.privacy import Relation

Floats = NDArray[np.float64]
_ALL = Fraction(1)


@dataclass(eq=False, repr=False, kw_only=True)
class StandardScaler(PrivateTransformer):
    """Subtract a private mean from every feature and divide by a private standard deviation.

    `mean_`, `var_` and `scale_` are in the units of the features. `bounds_` are the ends of the features' bounds after
    scaling: they follow from what was released, so that a next estimator may have them as its `bounds`. In a pipeline,
    whose steps are written before any is fitted, write bounds=(-3, 3) for the next step instead: what is farther than
    three deviations from the mean is then clipped.

    Privacy. mu-Gaussian-DP under the stated relation, mu the one that the price buys.
        Proof: one release of sums. With features in [-1, 1] and r = |x|^2 <= d, a row adds x, the squares of its
        entries, and sqrt(2/d) (d - r), a vector of squared norm at most 2 r + (2/d) (d - r)^2: convex in r, hence at
        most 2 d, the value at both ends. A replaced row moves the sums by at most 1.5 times as much: with s and t the
        sum and the difference of two rows, |s_i| + |t_i| <= 2, the squared distance is sum t_i^2 (1 + s_i^2) + (2/d)
        (sum s_i t_i)^2 <= sum t_i^2 (1 + 3 s_i^2) <= 4.21 d, and 4.5 d leaves room for the cutting to integers.
        `transform` treats a row by itself.
    Accuracy. The last sum, with the squares, gives the number of rows at no further price. Means have noise of
        deviation sqrt(2 d) / (mu n) in units of half a range. A variance below the noise of it counts as that noise.
    Cost. One pass.
    Reference. Dwork, Roth 2014, chapter 3 (noisy sums).

    >>> from discreet.privacy import Relation
    >>> scaler = StandardScaler(
    ...     epsilon=1,
    ...     delta=1e-6,
    ...     relation=Relation.ADD_REMOVE,
    ...     people=10000,
    ...     bounds=(0, 100),
    ... )
    >>> scaler.fit([[40.0], [60.0]] * 5000).transform([[60.0]]).round(1)
    array([[1.]])
    """

    def _plan(self, public: Public) -> Mapping[str, Any]:  # noqa: ARG002  the plan is always the same
        return {"releases": 1}

    def _expect(self, public: Public) -> str:
        return regime(1.0 / (3.0 * self._deviation(public)))

    def _noise(self, public: Public) -> Mapping[str, float]:
        return {"mean, in units of half a range": self._deviation(public)}

    def _deviation(self, public: Public) -> float:
        """Return the deviation of a noisy mean of features in [-1, 1]."""
        unit = math.sqrt(2.0 * public.features) / STEPS / public.neighbors.people
        return Measurements(public.price).deviation(_ALL, squared=_squared(public)) * unit

    def _learn(self, public: Public, rows: FitRows, measurements: Measurements) -> None:
        starts = range(0, len(rows), CHUNK)
        parts = (_vectors(public, rows.features[at : at + CHUNK]).astype(np.int64).sum(axis=1) for at in starts)
        features = public.features
        total = exact_sum(parts, (2 * features + 1,), len(rows))
        noisy = measurements.release(total, share=_ALL, squared=_squared(public)) * (math.sqrt(2 * features) / STEPS)
        sums, squares, left = noisy[:features], noisy[features:-1], noisy[-1]
        known = (left * math.sqrt(features / 2) + squares.sum()) / features
        number = max(float(known), public.neighbors.people / 4)
        mean = np.clip(sums / number, -1.0, 1.0)
        least = min(self._deviation(public), 1.0)
        variance = np.clip(squares / number - mean * mean, least, 1.0)
        half = public.high / 2 - public.low / 2
        self.mean_ = public.low / 2 + public.high / 2 + mean * half
        self.scale_ = np.sqrt(variance) * half
        self.var_ = self.scale_**2
        self.bounds_ = self._scaled(public.low), self._scaled(public.high)

    def _scaled(self, features: Floats) -> Floats:
        return np.asarray((features - self.mean_) / self.scale_)

    def transform(self, X: Any) -> Floats:
        """Return rows less the mean, over the deviation; a cell that is no number stays so."""
        return self._scaled(self._seen(X))

    def inverse_transform(self, X: Any) -> Floats:
        """Return scaled rows in the units of the features."""
        return np.asarray(self._seen(X) * self.scale_ + self.mean_)


def _vectors(public: Public, features: Floats) -> Floats:
    """Return what rows add to the sums: features, squares and what is left of d, at most 2^19 long.

    These are at most 2^12 + 1 coordinates; the lemma of the ball has room for nearly twice as many.
    """
    lines, counted = in_unit_box(features, public.low, public.high)
    left = math.sqrt(2.0 / len(lines)) * (len(lines) - squared_norms(lines))
    vectors = in_ball(np.vstack([lines, lines * lines, left[np.newaxis]]), math.sqrt(2.0 * len(lines)))
    return np.where(counted, vectors, 0.0)


def _squared(public: Public) -> int:
    """The squared distance of the sums on neighbors: that of one row, 9/4 times that between two."""
    if public.neighbors.relation is Relation.ADD_REMOVE:
        return public.neighbors.squared(STEPS**2)
    return public.neighbors.rows**2 * 9 * STEPS**2 // 4
