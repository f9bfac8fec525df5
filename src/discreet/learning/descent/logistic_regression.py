"""Logistic regression, for two classes or more: rows on the unit sphere about a released center, and noisy descent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.learning.base import PrivateClassifier, Public, regime, released_center
from discreet.learning.descent.descent import Descent, descend, signal_of
from discreet.learning.exact import STEPS, Chunks, Cut, FitRows, Measurements, filled, on_sphere, softmax_errors

Floats = NDArray[np.float64]
_CONSTANT = 0.2


@dataclass(eq=False, repr=False, kw_only=True)
class LogisticRegression(PrivateClassifier):
    """Multinomial logistic regression by full-batch noisy descent.

    A center of the rows is released first; every row is then moved to the unit sphere about it. The weights, `coef_`
    and `intercept_`, are those of rows on that sphere: features in [-1, 1] by their bounds, less `center_`, over the
    length of that.

    Privacy. mu-Gaussian-DP under the stated relation, mu the one that the price buys.
        Proof: the center is one release (`released_center`), every step another (`descend`); their shares add up to 1.
        Given the center, a row becomes its vector by a map of that row alone.
    Accuracy. The signal s = people mu / sqrt((features + 1) classes) says what to expect, and sets the number of steps,
        their length and the clipping: a public rule.
    Cost. Two products with the matrix of rows a step, at most 200 steps.
    Reference. Dong, Roth, Su 2022 (Gaussian differential privacy); Bassily, Smith, Thakurta 2014 (noisy descent).

    >>> from discreet.privacy import Relation
    >>> rows = np.repeat([[0.1, 0.2], [0.9, 0.7]], 500, axis=0)
    >>> model = LogisticRegression(
    ...     epsilon=1,
    ...     delta=1e-6,
    ...     relation=Relation.ADD_REMOVE,
    ...     people=1000,
    ...     bounds=(0, 1),
    ...     classes=["a", "b"],
    ... )
    >>> model.fit(rows, ["a"] * 500 + ["b"] * 500).predict([[0, 0.1], [1, 0.8]])
    array(['a', 'b'], dtype='<U1')
    """

    def _descent(self, public: Public) -> tuple[Fraction, Descent]:
        """Return the share of the center and the plan of the descent, by the signal alone."""
        signal = self._signal(public)
        share = Fraction(3, 10) if signal < 4 else Fraction(1, 5) if signal < 30 else Fraction(1, 10)
        steps = round(min(max(4 * signal**0.7, 5), 200))
        rate = min(max(0.8 * math.sqrt(signal), 1.0), 32.0)
        return share, Descent(steps, rate, 0.7 if signal < 10 else 0.5, 1 - share)

    def _signal(self, public: Public) -> float:
        return signal_of(public, (public.features + 1) * len(public.classes or ()))

    def _plan(self, public: Public) -> Mapping[str, Any]:
        share, descent = self._descent(public)
        return {"share for the center": float(share), **descent.told(len(public.classes or ()), public.features + 1)}

    def _expect(self, public: Public) -> str:
        return regime(self._signal(public))

    def _noise(self, public: Public) -> Mapping[str, float]:
        return {"mean gradient": self._descent(public)[1].noise(public, Measurements(public.price))}

    def _learn(self, public: Public, rows: FitRows, measurements: Measurements) -> None:
        share, descent = self._descent(public)
        self._low, self._high = public.low, public.high
        self.center_ = released_center(public, rows, measurements, share)
        cut = Cut(public.low, public.high)

        def made(features: Floats, codes: NDArray[Any]) -> tuple[Floats, NDArray[Any]]:
            lines, counted = cut(features)
            return on_sphere(lines, counted, self.center_, _CONSTANT), codes

        if rows.codes is None or public.classes is None:
            raise AssertionError("a classifier reads labels")
        chunks = Chunks.of(rows.features, rows.codes, made, coordinates=public.features + 1)
        shape = (len(public.classes), public.features + 1)
        weights = descend(descent, public, chunks, softmax_errors, measurements, shape)
        weights -= weights.mean(axis=0)  # a common part of all classes says nothing
        self.coef_, self.intercept_ = weights[:, :-1], weights[:, -1] * _CONSTANT

    def _scores(self, features: Floats) -> Floats:
        lines, counted = Cut(self._low, self._high)(filled(features, self._low, self._high))
        vectors = on_sphere(lines, counted, self.center_, _CONSTANT) / STEPS
        weights = np.column_stack([self.coef_, self.intercept_ / _CONSTANT])
        return np.asarray((weights @ vectors).T)
