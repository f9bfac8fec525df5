"""AdaSSP, the usual private least squares from moments, as a reference for `Ridge`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.learning.base import Public, regime
from discreet.learning.exact import STEPS, FitRows, Measurements, exact_sum, in_ball, products
from discreet.learning.moments.gram import gram_noise, gram_signal, released_gram
from discreet.learning.moments.linear import Ball, MomentsRegressor

Floats = NDArray[np.float64]
_REACH = 0.5  # of a row, times the root of the number of features
_LENGTH = math.sqrt(2.0)  # of a row of length 1 with a constant 1 beside it
_HALF = Fraction(1, 2)
_FAILING = 0.05  # the chance that the ridge is too small, as in the paper


@dataclass(eq=False, repr=False, kw_only=True)
class AdaSSP(MomentsRegressor):
    """Least squares from noisy X'X and X'y with a ridge that is only as large as the noise asks for.

    A reference: where a model is more than noise, `Ridge` and `LinearRegression` are more accurate. Features and target
    are moved into [-1, 1] by their bounds, and rows farther than sqrt(features) / 2 from the middle are pulled to that
    distance, because the usual sqrt(features) costs most of the accuracy. `coef_` and `intercept_` are in the units of
    the features and the target.

    The paper pays a third of the budget for the smallest eigenvalue of X'X. Here that of the noisy matrix is taken,
    which is free; a routine for eigenvalues rounds in ways that no sensitivity could be proved for.

    Privacy. mu-Gaussian-DP under the stated relation, mu the one that the price buys.
        Proof: X'X and X'y are two releases, each for half of mu^2: the first is `released_gram`; to the second a row
        adds a whole vector of norm |y| |z| <= 2^38. A row becomes z and y by a map of the row alone.
    Accuracy. The ridge is the paper's bound on the largest eigenvalue of the noise, less what the smallest eigenvalue
        of X'X surely has. Noise lowers the smallest eigenvalue on average, because that is concave, and it has
        deviation at most s in every direction, so that P(noisy > true + s sqrt(2 ln(1/p))) <= p.
    Cost. One matrix product with the rows, and one system with a line a feature.
    Reference. Wang 2018.

    >>> from discreet.privacy import Relation
    >>> rows = np.linspace(0, 10, 20000)[:, np.newaxis]
    >>> model = AdaSSP(
    ...     epsilon=4,
    ...     delta=1e-6,
    ...     relation=Relation.ADD_REMOVE,
    ...     people=20000,
    ...     bounds=(0, 10),
    ...     target_bounds=(0, 100),
    ... )
    >>> model.fit(rows, 20 + 6 * rows[:, 0]).predict([[4], [6]]).round(-1)
    array([40., 60.])
    """

    def _plan(self, public: Public) -> Mapping[str, Any]:  # noqa: ARG002  the plan is always the same
        return {"share for X'X": 0.5, "share for X'y": 0.5}

    def _expect(self, public: Public) -> str:
        return regime(gram_signal(public, public.features + 1) / _LENGTH**3)

    def _noise(self, public: Public) -> Mapping[str, float]:
        noise = gram_noise(public, Measurements(public.price), _HALF)[1] * _LENGTH**2
        return {"mean product of two features": noise / public.neighbors.people}

    def _learn(self, public: Public, rows: FitRows, measurements: Measurements) -> None:
        ball, size = Ball(public, _REACH), public.features + 1

        def vectors() -> Iterator[tuple[Floats, Floats]]:
            for lines, targets, counted in ball.chunks(rows):
                longer = np.vstack([lines, np.ones((1, lines.shape[1]))])
                yield np.where(counted, in_ball(longer, _LENGTH), 0.0), np.trunc(targets * STEPS)

        gram = released_gram((z for z, _ in vectors()), (size, len(rows)), public, measurements, _HALF)
        parts = (products(y[np.newaxis], z)[0] for z, y in vectors())
        total = exact_sum(parts, (size,), len(rows))
        with_target = measurements.release(total, share=_HALF, squared=public.neighbors.squared(STEPS**4)) / STEPS**2
        ridge = _ridge(gram.matrix, gram.others * math.sqrt(2.0))
        solved = np.linalg.lstsq(gram.matrix + ridge * np.eye(size), with_target, rcond=None)[0] / _LENGTH
        self._keep(ball, np.asarray(solved[:-1], dtype=np.float64), float(solved[-1]))


def _ridge(gram: Floats, deviation: float) -> float:
    """Return what is added to the diagonal: as much as the smallest eigenvalue may be below the noise's largest."""
    size = len(gram)
    largest = deviation * math.sqrt(size * math.log(2 * size**2 / _FAILING))
    smallest = float(np.linalg.eigvalsh(gram)[0]) - deviation * math.sqrt(2 * math.log(2 / _FAILING))
    return max(0.0, largest - max(0.0, smallest))
