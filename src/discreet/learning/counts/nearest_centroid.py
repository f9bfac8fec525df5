"""Nearest centroid: a row belongs to the class whose mean is nearest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.learning.base import Public
from discreet.learning.counts.class_sums import ClassSums
from discreet.learning.exact import filled

Floats = NDArray[np.float64]


@dataclass(eq=False, repr=False, kw_only=True)
class NearestCentroid(ClassSums):
    """Classify by the nearest of the noisy class means, with features scaled by their bounds to [-1, 1].

    Privacy. mu-Gaussian-DP under the stated relation, mu the one that the price buys.
        Proof: the class sums are released once, with noise for the distance that `ClassSums` proves; the rest is
        post-processing.
    Accuracy. The signal people mu / sqrt((features + 1) classes) says what to expect. Means are drawn towards their
        common mean by as much as is noise.
    Cost. One pass over the rows; one sum for every feature and class, and one for every class.
    Reference. Dong, Roth, Su 2022 (Gaussian differential privacy); James, Stein 1961 (shrinkage).

    >>> from discreet.privacy import Relation
    >>> rows = np.repeat([[0.1, 0.2], [0.9, 0.7]], 500, axis=0)
    >>> model = NearestCentroid(
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

    def _model(self, public: Public, noisy: Floats) -> None:
        found = self._means(public, noisy)
        self._low, self._high = public.low, public.high
        self._half, self._middle = public.high / 2 - public.low / 2, public.low / 2 + public.high / 2
        self._scaled = found.means
        self.centroids_ = self._middle + self._half * found.means
        self.class_prior_ = found.counts / found.counts.sum()

    def _scores(self, features: Floats) -> Floats:
        scaled = (filled(features, self._low, self._high) - self._middle) / self._half
        squares = (self._scaled * self._scaled).sum(axis=1)
        return np.asarray(scaled @ self._scaled.T - squares / 2)
