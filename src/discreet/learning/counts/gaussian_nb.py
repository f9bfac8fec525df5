"""Gaussian naive Bayes: in every class every feature is normal, with a mean and a variance of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.learning.base import Public
from discreet.learning.counts.class_sums import ClassSums, shrunk
from discreet.learning.exact import filled

Floats = NDArray[np.float64]
_LEAST_SPREAD = 0.01  # the least mean variance of features in [-1, 1]
_OF_MEAN, _OF_POOLED = 0.6, 0.2  # least variances: of the mean over features, of a feature over the classes


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianNB(ClassSums):
    """Naive Bayes with normal features, from one release of counts, sums and sums of squares by class.

    Privacy. mu-Gaussian-DP under the stated relation, mu the one that the price buys.
        Proof: counts, sums and sums of squares are the class sums of one vector a row, released once, with noise for
        the distance that `ClassSums` proves; the rest is post-processing.
    Accuracy. The signal people mu / sqrt((2 features + 1) classes) says what to expect. Means and variances are drawn
        towards those of all classes by as much as is noise, and a variance is at least 0.6 of the mean variance of the
        scaled features: noise hurts most where a variance is small.
    Cost. One pass over the rows; two sums for every feature and class, and one for every class.
    Reference. Dong, Roth, Su 2022 (Gaussian differential privacy); James, Stein 1961 (shrinkage).

    >>> from discreet.privacy import Relation
    >>> rows = np.repeat([[0.1, 0.2], [0.9, 0.7]], 500, axis=0)
    >>> model = GaussianNB(
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

    _powers: ClassVar[int] = 2

    def _model(self, public: Public, noisy: Floats) -> None:
        found = self._means(public, noisy)
        prior = found.counts / found.counts.sum()
        means, squares = found.means[:, : public.features], found.means[:, public.features :]
        variances = _variances(squares - means * means, prior, found.noise, found.overall_noise)
        half = public.high / 2 - public.low / 2
        self._low, self._high = public.low, public.high
        self.theta_ = public.low / 2 + public.high / 2 + half * means
        self.var_ = half * half * variances
        self.class_count_, self.class_prior_ = found.counts, prior

    def _scores(self, features: Floats) -> Floats:
        rows = filled(features, self._low, self._high)
        scores = np.tile(np.log(self.class_prior_), (len(rows), 1))
        for place, (mean, variance) in enumerate(zip(self.theta_, self.var_, strict=True)):
            away = (rows - mean) / np.sqrt(variance)
            scores[:, place] -= 0.5 * ((away * away).sum(axis=1) + np.log(variance).sum())
        return scores


def _variances(seen: Floats, prior: Floats, noise: Floats, overall_noise: float) -> Floats:
    """Return variances of scaled features: noisy ones drawn to those over all classes, these to the mean of all."""
    pooled = prior @ seen
    mean = float(np.clip(pooled.mean(), _LEAST_SPREAD, 1.0))
    pooled = np.maximum(mean + shrunk(pooled - mean, overall_noise), _OF_MEAN * mean)
    return np.asarray(
        np.maximum(pooled + shrunk(seen - pooled, noise), np.maximum(_OF_POOLED * pooled, _OF_MEAN * mean))
    )
