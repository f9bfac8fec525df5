"""Categorical naive Bayes: counts of every bin of every feature in every class, released once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import MissingParameter, ParameterError
from discreet.learning.base import MOST_CELLS, Box, Public, first_float, whole_number
from discreet.learning.counts.one_release import OneRelease, OneRow, labels_of, number_of_classes
from discreet.learning.exact import CHUNK, FitRows, filled

Floats = NDArray[np.float64]
_MOST_BINS = 1 << 16
_LEAST_ALPHA, _MOST_ALPHA = 1e-100, 1e100  # logarithms of chances stay finite


@dataclass(eq=False, repr=False, kw_only=True)
class CategoricalNB(OneRelease):
    """Naive Bayes over categories, or numbers in bins of equal width.

    Category codes 0, 1, ..., k - 1 are the case bins=k, bounds=(0, k - 1): each is alone in its bin.

    Args:
        bins: how many bins, for all features or one number a feature; `fit_session` takes one for each declared value
            and 16 for numbers where it is left out.
        alpha: what is added to every count; by default 2 sqrt(people / classes) / bins, and half a deviation of noise.

    Privacy. epsilon-DP where epsilon is stated alone, by discrete Laplace noise; else mu-Gaussian-DP, mu the one that
        the price buys; under the stated relation.
        Proof: a row adds 1 to the count of its class and to one count of every feature, or nothing: d + 1 ones, a
        vector of norm sqrt(d + 1) and L1 norm d + 1, with no entry below 0. All counts are released once; the rest is
        post-processing.
    Accuracy. A class total is the mean of its own count and of the sums over the bins of every feature, weighted by
        their variances; counts are then moved to add up to it. Counts that noise could have made are drawn towards
        equal ones by `alpha`.
    Cost. One pass over the rows; one count for every bin and class.
    Reference. Ghosh, Roughgarden, Sundararajan 2009 (discrete Laplace); Dong, Roth, Su 2022; Hay, Rastogi, Miklau,
        Suciu 2010 (consistency).

    >>> from discreet.privacy import Relation
    >>> rows = np.repeat([[0, 2], [1, 0]], 500, axis=0)
    >>> model = CategoricalNB(
    ...     epsilon=1,
    ...     relation=Relation.ADD_REMOVE,
    ...     people=1000,
    ...     bounds=(0, [1, 2]),
    ...     bins=[2, 3],
    ...     classes=["a", "b"],
    ... )
    >>> model.fit(rows, ["a"] * 500 + ["b"] * 500).predict([[0, 2], [1, 0]])
    array(['a', 'b'], dtype='<U1')
    """

    bins: Any = None
    alpha: float | None = None

    _pure: ClassVar[bool] = True

    def _shape(self, public: Public) -> tuple[int, ...]:
        return (number_of_classes(public) * (1 + sum(_stated_bins(self.bins, public.features))),)

    def _row(self, public: Public) -> OneRow:
        return OneRow(public.features + 1, l1=public.features + 1, acute=True)

    def _plan(self, public: Public) -> Mapping[str, Any]:
        smoothing = self._smoothing(public)
        return {**super()._plan(public), "added to a count": f"{min(smoothing):.3g} to {max(smoothing):.3g}"}

    def _sums(self, public: Public, rows: FitRows) -> NDArray[Any]:
        """Return the counts of the classes, then of every bin of the first feature by class, then of the second."""
        bins, classes, codes = _stated_bins(self.bins, public.features), number_of_classes(public), labels_of(rows)
        first = np.cumsum([1, *bins[:-1]])[:, np.newaxis]
        total = np.zeros(self._shape(public), dtype=np.int64)
        for begin in range(0, len(rows), CHUNK):
            part, code = rows.features[begin : begin + CHUNK], codes[begin : begin + CHUNK]
            counted = np.isfinite(part).all(axis=1) & (code < classes)
            places = first + _bin_of(part[counted], public.low, public.high, bins)
            cells = np.vstack([np.zeros_like(places[:1]), places]) * classes + code[counted]
            total += np.bincount(cells.ravel(), minlength=len(total))
        return total

    def _boxes(self, public: Public) -> Sequence[Box] | None:
        """Return every row, then the bins of the first feature, then those of the second: `_bin_of` never falls."""
        boxes: list[Box] = [()]
        sizes = _stated_bins(self.bins, public.features)
        if 1 + sum(sizes) > MOST_CELLS:
            return None
        for place, size in enumerate(sizes):
            low, high = public.low[place : place + 1], public.high[place : place + 1]

            def bin_of(cells: Floats, low: Floats = low, high: Floats = high, size: int = size) -> NDArray[np.int64]:
                return np.asarray(_bin_of(cells[:, np.newaxis], low, high, [size])[0])

            inner = [first_float(bin_of, float(low[0]), float(high[0]), one) for one in range(1, size)]
            ends = [-math.inf, *inner, math.inf]
            boxes += [((place, start, end),) for start, end in pairwise(ends)]
        return boxes

    def _model(self, public: Public, noisy: Floats) -> None:
        bins, classes = _stated_bins(self.bins, public.features), number_of_classes(public)
        own, *counts = np.split(noisy.reshape(-1, classes), np.cumsum([1, *bins[:-1]]))
        weights = np.array([1.0, *(1.0 / size for size in bins)])
        seen = np.array([own[0], *(count.sum(axis=0) for count in counts)])
        totals = np.maximum(weights @ seen / weights.sum(), 0.0)
        prior = totals + self._deviation(public) / math.sqrt(weights.sum())
        self._low, self._high, self._bins = public.low, public.high, bins
        self.class_count_, self.class_log_prior_ = totals, np.log(prior / prior.sum())
        self.n_categories_ = np.array(bins)
        self.category_count_ = [
            np.maximum(count + (totals - count.sum(axis=0)) / len(count), 0.0).T for count in counts
        ]
        self.feature_log_prob_ = [
            np.log((count + added) / (count + added).sum(axis=1, keepdims=True))
            for count, added in zip(self.category_count_, self._smoothing(public), strict=True)
        ]

    def _smoothing(self, public: Public) -> list[float]:
        """Return what is added to every count, feature by feature."""
        bins = _stated_bins(self.bins, public.features)
        if self.alpha is None:
            root = 2 * math.sqrt(public.neighbors.people / number_of_classes(public))
            return [root / size + self._deviation(public) / 2 for size in bins]
        number = isinstance(self.alpha, int | float) and not isinstance(self.alpha, bool)
        if not number or not _LEAST_ALPHA <= self.alpha <= _MOST_ALPHA:
            raise ParameterError(
                "alpha must be a finite number above 0, from 1e-100 to 1e100, or None for the public rule; got "
                "another, write alpha=1.0",
                parameter="alpha",
            )
        return [float(self.alpha)] * public.features

    def _scores(self, features: Floats) -> Floats:
        places = _bin_of(filled(features, self._low, self._high), self._low, self._high, self._bins)
        scores = np.tile(self.class_log_prior_, (len(features), 1))
        for place, table in zip(places, self.feature_log_prob_, strict=True):
            scores += table.T[place]
        return scores


def _bin_of(features: Floats, low: Floats, high: Floats, bins: Sequence[int]) -> NDArray[np.int64]:
    """Return the bin of every finite cell, a line a feature; what is outside the bounds is in the first or the last.

    The product is at least 0 and at most `bins`, up to rounding; it depends on the cell and on public numbers alone.
    """
    per_unit = np.array(bins, dtype=np.float64) / (high - low)
    scaled = np.floor((np.clip(features, low, high) - low) * per_unit)
    return np.asarray(np.minimum(scaled, np.array(bins) - 1.0).astype(np.int64).T)


def _stated_bins(bins: Any, features: int) -> list[int]:
    """Return how many bins each feature has."""
    wanted = f"bins=10, or a list with a whole number for each of the {features} features"
    if bins is None:
        raise MissingParameter(
            f"bins must be given: which categories occur is private; got none, write {wanted}", parameter="bins"
        )
    listed = [bins] * features if isinstance(bins, int | np.integer) else bins
    if isinstance(listed, str | bytes) or not isinstance(listed, Sequence | np.ndarray) or len(listed) != features:
        raise ParameterError(f"bins must be one number or one a feature; got another, write {wanted}", parameter="bins")
    return [whole_number(one, name="bins", least=2, most=_MOST_BINS) for one in listed]
