"""Principal components: rows on the unit sphere about a released center, and the eigenvectors of their noisy Gram."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from discreet.errors import InputError
from discreet.learning.base import PrivateTransformer, Public, regime, whole_number
from discreet.learning.exact import FitRows, Measurements, matrix
from discreet.learning.moments.directions import RowDirections, center_share, combined
from discreet.learning.moments.gram import gram_noise, gram_signal

Floats = NDArray[np.float64]


@dataclass(eq=False, repr=False, kw_only=True)
class PCA(ClassNamePrefixFeaturesOutMixin, PrivateTransformer):  # type: ignore[misc]
    """The directions in which rows differ most from a released center.

    Features are moved into [-1, 1] by their bounds and stay so scaled: `components_` are orthonormal there. Every row
    counts by its direction from the center alone, so that no outlier counts for more than others.
    `explained_variance_` is therefore a part of 1, the squared length of a direction, and never below 0. `mean_` is the
    center in the units of the features. `bounds_` is a range that holds all transformed rows within the bounds of the
    features: it follows from what was released, so that it may bound the features of a next estimator.

    Args:
        n_components: how many directions; all of them where None.

    Privacy. mu-Gaussian-DP under the stated relation, mu the one that the price buys.
        Proof: a public share of mu^2 is for the center (`released_center`), the rest for one Gram matrix
        (`released_gram`) of vectors that are made of the center and one row each. `transform` treats a row by itself,
        bit for bit.
    Accuracy. The largest eigenvalue of the noise is about sqrt(2 features) / mu; directions in which people times the
        explained part is below that are mostly noise.
    Cost. One matrix product with the rows, and one decomposition of a matrix with a line a feature.
    Reference. Dwork, Talwar, Thakurta, Zhang 2014.

    >>> from discreet.privacy import Relation
    >>> place = np.linspace(-1, 1, 4000)
    >>> model = PCA(
    ...     n_components=1,
    ...     epsilon=1,
    ...     delta=1e-6,
    ...     relation=Relation.ADD_REMOVE,
    ...     people=4000,
    ...     bounds=(-2, 2),
    ... )
    >>> model.fit(np.column_stack([place, place])).components_.round(1)
    array([[0.7, 0.7]])
    """

    n_components: int | None = None

    def _components(self, public: Public) -> int:
        """Return the number of components."""
        if self.n_components is None:
            return public.features
        return whole_number(self.n_components, name="n_components", least=1, most=public.features)

    def _plan(self, public: Public) -> Mapping[str, Any]:
        return {"components": self._components(public), "share for the center": float(center_share(public))}

    def _expect(self, public: Public) -> str:
        return regime(gram_signal(public, public.features))

    def _noise(self, public: Public) -> Mapping[str, float]:
        noise = gram_noise(public, Measurements(public.price), 1 - center_share(public))[1]
        return {"mean product of two features on the sphere": noise / public.neighbors.people}

    def _learn(self, public: Public, rows: FitRows, measurements: Measurements) -> None:
        number = self._components(public)
        self._directions = RowDirections.released(public, rows, measurements, 1 - center_share(public))
        self.components_, found = self._directions.largest(number)
        self.explained_variance_ = np.minimum(found / public.neighbors.people, 1.0)
        self.explained_variance_ratio_ = self.explained_variance_.copy()
        self.mean_ = self._directions.in_units(self._directions.center[np.newaxis])[0]
        self.n_components_ = number
        ends = [self.components_ * (end - self._directions.center) for end in (-1.0, 1.0)]
        self.bounds_ = np.minimum(*ends).sum(axis=1), np.maximum(*ends).sum(axis=1)

    def transform(self, X: Any) -> Floats:
        """Return how far every row, clipped to the bounds, is from the center along each component.

        A row with a cell that is no finite number has no place: it is NaN throughout, and counts for nothing in a next
        estimator.
        """
        features = self._seen(X)
        lines, counted = self._directions.lines(features)
        found = combined(self.components_, lines - self._directions.center[:, np.newaxis])
        return np.ascontiguousarray(np.where(counted, found, np.nan).T)

    def inverse_transform(self, X: Any) -> Floats:
        """Return the rows that transformed rows stand for, in the units of the features."""
        check_is_fitted(self)
        places = matrix(X)
        if places.shape[1] != self.n_components_:
            raise InputError("X must have a column a component; got another number, write what transform returned")
        return self._directions.in_units(self._directions.center + places @ self.components_)

    @property
    def _n_features_out(self) -> int:  # scikit-learn asks for it
        return self.n_components_
