"""What every public map of features is: a function of one row, fixed by public parameters, that learns nothing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, validate_data

from discreet.errors import InputError
from discreet.learning.base import stated_bounds
from discreet.learning.exact import CHUNK, matrix

Floats = NDArray[np.float64]
MOST_COLUMNS = 1 << 11  # that go in, and that come out


@dataclass(eq=False, repr=False, kw_only=True)
class PublicMap(TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn has no types
    """The base of maps that run before a private estimator and cost nothing.

    A map is fixed by its parameters: no number of it follows from a row, and what a row becomes is the same to the last
    bit beside any other rows. So a private estimator after it protects the rows before it, one row a person as before.

    Args:
        bounds: the range of the features, (low, high), each a number or one number a feature.
    """

    bounds: Any = None

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002  a step of a pipeline is handed labels
        """Note how many columns there are and what they are called; no row is looked at."""
        low, high = stated_bounds(self.bounds, self._read(X, reset=True).shape[1])
        self._names([""] * len(low), low, high)  # parameters that cannot be used are refused here
        return self

    def transform(self, X: Any) -> Floats:
        """Return the mapped rows."""
        features = self._read(X, reset=False)
        low, high = stated_bounds(self.bounds, features.shape[1])
        parts = [self._map(features[at : at + CHUNK], low, high) for at in range(0, max(len(features), 1), CHUNK)]
        return np.vstack(parts)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns of mapped rows."""
        names = [str(name) for name in _check_feature_names_in(self, input_features)]
        low, high = stated_bounds(self.bounds, len(names))
        return np.array(self._names(names, low, high), dtype=object)

    @abstractmethod
    def _map(self, features: Floats, low: Floats, high: Floats) -> Floats:
        """Return mapped rows, each a function of its own cells alone; NaN where a cell is no finite number."""

    @abstractmethod
    def _names(self, features: list[str], low: Floats, high: Floats) -> list[str]:
        """Return the names of the columns of mapped rows; raise an error where a parameter cannot be used."""

    def _read(self, X: Any, *, reset: bool) -> Floats:
        """Return rows as a matrix, and hold its columns to those of the fit."""
        read = matrix(X)
        if read.shape[1] == 0:
            raise InputError("X must have columns: 0 feature(s) (shape=(0, 0)) while a minimum of 1 is required.")
        if read.shape[1] > MOST_COLUMNS:
            raise InputError(
                f"X must have at most {MOST_COLUMNS:,} features; got {read.shape[1]:,}, write fewer columns"
            )
        if reset or hasattr(self, "n_features_in_"):  # a map that was not fitted can be used all the same
            validate_data(self, X, reset=reset, skip_check_array=True)
        return read

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.requires_fit = False
        return tags
