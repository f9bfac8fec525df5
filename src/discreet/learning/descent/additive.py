"""Additive models: every feature adds what its bin says, so that each feature's shape can be looked at by itself."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.display.plots import Plot, axes, explained, plotted
from discreet.display.safe_text import visible
from discreet.learning.base import BINS, PrivateClassifier, PrivateEstimator, PrivateRegressor, Public, regime
from discreet.learning.descent.descent import Descent, descend, descent_of_squares, signal_of
from discreet.learning.exact import (
    STEPS,
    BinnedRows,
    Errors,
    FitRows,
    Measurements,
    bin_length,
    binned_scores,
    filled,
    scaled_targets,
    softmax_errors,
    squared_errors,
)
from discreet.learning.features import BinEdges, stated_bins

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Shape:
    """What one feature adds to the score, bin by bin: a line an output, whose mean over the bins is 0.

    `words` are the declared values, one a bin, where the feature is a column of words of a session.
    """

    feature: str
    edges: Floats
    values: Floats
    outputs: tuple[str, ...]
    words: tuple[str, ...] | None = None

    def plot(self) -> Plot:
        """Draw the contribution over the range of the feature, or a bar a word; of two classes that of the second."""
        lines = list(zip(self.values, self.outputs, strict=True))
        adds = "adds to the score" if len(lines) > 1 else "adds"
        shown = lines[1:] if len(lines) == 2 else lines
        drawn = self._stairs(shown, adds) if self.words is None else self._bars(shown, self.words, adds)
        return plotted(drawn) if len(lines) == 1 else explained(drawn, ncols=min(len(lines), 5))

    def _stairs(self, lines: Sequence[tuple[Floats, str]], adds: str) -> Any:
        """Return axes with one line of steps an output."""
        drawn = axes(x_label=self.feature, y_label=adds)
        for heights, name in lines:
            drawn.stairs(heights, self.edges, baseline=None, linewidth=2, label=name)
        drawn.axhline(0.0, color="0.7", linewidth=0.8)
        return drawn

    def _bars(self, lines: Sequence[tuple[Floats, str]], words: Sequence[str], adds: str) -> Any:
        """Return axes with one bar an output beside every word, the first word on top."""
        rows, thick = np.arange(len(words)), 0.8 / len(lines)
        drawn = axes(x_label=adds, y_label=self.feature, height=max(2.6, 1.5 + 0.26 * len(words)))
        for place, (lengths, name) in enumerate(lines):
            drawn.barh(rows + (place - (len(lines) - 1) / 2) * thick, lengths, height=thick, label=name)
        drawn.axvline(0.0, color="0.7", linewidth=0.8)
        drawn.set_yticks(rows, [visible(word) for word in words], parse_math=False)
        drawn.set_ylim(len(words) - 0.4, -0.6)
        return drawn


@dataclass(eq=False, repr=False, kw_only=True)
class _Additive(PrivateEstimator, ABC):
    """What both additive models share.

    Args:
        bins: how many bins a feature has, a number or one number a feature; for codes 0 to k - 1, bounds (0, k - 1)
            and k bins. By default 16, and in `fit_session` one for each declared value of a column of words.
    """

    bins: Any = None

    @abstractmethod
    def _descent(self, public: Public) -> Descent:
        """Return the plan of the descent, by the signal alone."""

    @abstractmethod
    def _outputs(self, public: Public) -> tuple[str, ...]:
        """Return the names of the outputs."""

    def _signal(self, public: Public) -> float:
        return signal_of(public, self._edges(public).total + 1)

    def _edges(self, public: Public) -> BinEdges:
        return stated_bins(BINS if self.bins is None else self.bins, public.low, public.high)

    def _plan(self, public: Public) -> Mapping[str, Any]:
        total = self._edges(public).total
        return {"bins": total, **self._descent(public).told(len(self._outputs(public)), total + 1)}

    def _expect(self, public: Public) -> str:
        return regime(self._signal(public))

    def _noise(self, public: Public) -> Mapping[str, float]:
        return self._descent(public).noises(public, Measurements(public.price))

    def _descended(self, public: Public, rows: BinnedRows, errors: Errors, measurements: Measurements) -> Floats:
        """Return the learned weights of bins and of the constant, a line an output."""
        shape = (len(self._outputs(public)), self._edges(public).total + 1)
        weights = descend(self._descent(public), public, rows, errors, measurements, shape)
        return weights * (bin_length(public.features) / STEPS)

    def _keep(self, public: Public, weights: Floats) -> None:
        """Keep the weights, the mean of every feature's bins moved into the constant."""
        self._bins, self._names = self._edges(public), self._outputs(public)
        parts = np.split(weights[:, :-1], self._bins.starts[1:], axis=1)
        means = [part.mean(axis=1, keepdims=True) for part in parts]
        self._shapes = [part - mean for part, mean in zip(parts, means, strict=True)]
        self._constant = weights[:, -1] + sum(mean[:, 0] for mean in means)

    def _sums(self, features: Floats) -> Floats:
        """Return the scores of rows, a line an output."""
        places, _ = self._bins.places(filled(features, self._bins.low, self._bins.high))
        return binned_scores(places, np.column_stack([*self._shapes, self._constant]))

    def shapes(self) -> list[Shape]:
        """Return what every feature adds to the score, in the order of the features."""
        from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

        check_is_fitted(self)
        names = [str(name) for name in _check_feature_names_in(self, None)]
        return [
            Shape(name, self._bins.edges(place), values, self._names, self._words(name, values.shape[1]))
            for place, (name, values) in enumerate(zip(names, self._shapes, strict=True))
        ]

    def _words(self, feature: str, bins: int) -> tuple[str, ...] | None:
        """Return the declared values of a feature where each has a bin of its own."""
        declared = vars(self).get("columns_", {}).get(feature)
        return tuple(map(str, declared)) if declared is not None and len(declared) == bins else None


@dataclass(eq=False, repr=False, kw_only=True)
class AdditiveClassifier(PrivateClassifier, _Additive):
    """An additive model of two classes or more: the score of a class is a sum of one number a feature, by public bins.

    `shapes()` returns those numbers, feature by feature, and each of them draws itself by `plot()`.

    Privacy. mu-Gaussian-DP under the stated relation, mu the one that the price buys.
        Proof: every step is one release (`descend`) for an equal share of mu^2. A row becomes its bins, a vector of
        norm at most 1, by a map of that row alone.
    Accuracy. The signal s = people mu / sqrt(bins + 1), the bins of all features counted, says what to expect, and sets
        the number of steps and their length: a public rule. Probabilities lean towards 0 and 1, because errors count up
        to a bound only.
    Cost. One look-up and one sum a cell and class in each of at most 200 steps; 8 bytes a cell of memory.
    Reference. Hastie, Tibshirani 1986 (additive models); Dong, Roth, Su 2022; Bassily, Smith, Thakurta 2014.

    >>> from discreet.privacy import Relation
    >>> rows = np.linspace(0, 10, 20_000)[:, np.newaxis]
    >>> model = AdditiveClassifier(
    ...     epsilon=1,
    ...     delta=1e-6,
    ...     relation=Relation.ADD_REMOVE,
    ...     people=20_000,
    ...     bounds=(0, 10),
    ...     bins=5,
    ...     classes=["inside", "outside"],
    ... )
    >>> inside = abs(rows[:, 0] - 5) < 3
    >>> model.fit(rows, np.where(inside, "inside", "outside")).predict([[1], [5], [9]])
    array(['outside', 'inside', 'outside'], dtype='<U7')
    """

    def _descent(self, public: Public) -> Descent:
        signal = self._signal(public)
        steps = round(min(max(6 * signal**0.6, 5), 200))
        rate = min(max(0.8 * math.sqrt(signal), 1.0), 2.7 * math.sqrt(self._edges(public).total + 1), 45.0)
        return Descent(steps, rate, 0.5 if signal < 100 else 0.7, Fraction(1))

    def _outputs(self, public: Public) -> tuple[str, ...]:
        return tuple(str(label) for label in public.classes.labels) if public.classes else ()

    def _learn(self, public: Public, rows: FitRows, measurements: Measurements) -> None:
        if rows.codes is None or public.classes is None:
            raise AssertionError("a classifier reads labels")
        edges, none = self._edges(public), len(public.classes)

        def made(features: Floats, codes: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
            places, counted = edges.places(features)
            return places, np.where(counted, codes, none)

        binned = BinnedRows.of(rows.features, rows.codes, made, bins=edges.total)
        weights = self._descended(public, binned, softmax_errors, measurements)
        self._keep(public, weights - weights.mean(axis=0))  # a common part of all classes says nothing
        self.intercept_ = self._constant

    def _scores(self, features: Floats) -> Floats:
        return self._sums(features).T


@dataclass(eq=False, repr=False, kw_only=True)
class AdditiveRegressor(PrivateRegressor, _Additive):
    """An additive model of a number: a sum of one number a feature, by public bins.

    `shapes()` returns those numbers in the unit of the target, feature by feature, and each of them draws itself by
    `plot()`.

    Privacy. mu-Gaussian-DP under the stated relation, mu the one that the price buys.
        Proof: every step is one release (`descend`) for an equal share of mu^2. A row becomes its bins, a vector of
        norm at most 1, and its target a number in [-1, 1], by maps of that row alone.
    Accuracy. The signal s = people mu / sqrt(bins + 1), the bins of all features counted, says what to expect, and sets
        the number of steps and their length: a public rule.
    Cost. One look-up and one sum a cell in each of at most 100 steps; 8 bytes a cell of memory.
    Reference. Hastie, Tibshirani 1986 (additive models); Dong, Roth, Su 2022; Bassily, Smith, Thakurta 2014.

    >>> from discreet.privacy import Relation
    >>> rows = np.linspace(0, 10, 5000)[:, np.newaxis]
    >>> model = AdditiveRegressor(
    ...     epsilon=1,
    ...     delta=1e-6,
    ...     relation=Relation.ADD_REMOVE,
    ...     people=5000,
    ...     bounds=(0, 10),
    ...     bins=5,
    ...     target_bounds=(0, 100),
    ... )
    >>> model.fit(rows, 80 - 60 * (abs(rows[:, 0] - 5) < 3)).predict([[1], [5]]).round(
    ...     -1
    ... )
    array([80., 20.])
    """

    def _descent(self, public: Public) -> Descent:
        return descent_of_squares(self._signal(public))

    def _outputs(self, public: Public) -> tuple[str, ...]:  # noqa: ARG002
        return ("target",)

    def _learn(self, public: Public, rows: FitRows, measurements: Measurements) -> None:
        if rows.targets is None or public.target is None:
            raise AssertionError("a regression reads targets")
        edges, (low, high) = self._edges(public), public.target

        def made(features: Floats, targets: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
            places, counted = edges.places(features)
            return places, np.where(counted, scaled_targets(targets, (low, high)), np.nan)

        binned = BinnedRows.of(rows.features, rows.targets, made, bins=edges.total)
        weights = self._descended(public, binned, squared_errors, measurements) * (high / 2 - low / 2)
        weights[:, -1] += low / 2 + high / 2
        self._keep(public, weights)
        self._target, self.intercept_ = (low, high), float(self._constant[0])

    def predict(self, X: Any) -> Floats:
        """Return the predicted number of every row; a cell that is no number counts as the middle of its range."""
        return np.asarray(np.clip(self._sums(self._seen(X))[0], *self._target))
