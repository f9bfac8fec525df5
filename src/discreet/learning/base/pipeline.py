"""Pipelines of private steps on one ledger, with a warning that names steps which learn from rows and pay nothing.

scikit-learn's own Pipeline runs private estimators too, but nobody can hook into it: there, `unpriced_steps` says
beforehand which steps leave the guarantee.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn import get_config, pipeline
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from discreet.errors import ParameterError, SenselessParameter
from discreet.learning.base.estimator import PrivateEstimator

if TYPE_CHECKING:
    from discreet.ledger import Ledger
    from discreet.query import Session

_PARTS = {
    pipeline.Pipeline: "steps",
    pipeline.FeatureUnion: "transformer_list",
    ColumnTransformer: "transformers",
    GridSearchCV: "estimator",
    RandomizedSearchCV: "estimator",
    TransformedTargetRegressor: "regressor",
}

_BESIDE = ("remainder", "transformer", "func")  # what else some of them run on rows or targets


def unpriced_steps(model: Any) -> list[str]:
    """Return the names of all steps of a pipeline that learn from rows without a price, those of nested ones too.

    A step may stand in a pipeline where it is an estimator of this room, or surely treats one row at a time by public
    rules: a public map of this room; `SimpleImputer` with a constant that keeps empty columns; `OrdinalEncoder` and
    `OneHotEncoder` with stated categories that let unknown ones pass. Everything else is named: what such a step
    learned is part of the model, and no guarantee covers it. `FunctionTransformer` is named as well, because its
    function is handed all rows at once, and one row may move what it makes of the others.

    >>> from discreet.learning import Bins
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> unpriced_steps(make_pipeline(StandardScaler(), Bins(bounds=(-3, 3))))
    ['standardscaler']
    """
    return [name for name, step in _leaves(model) if not _is_private(step) and not _is_public(step)]


class Pipeline(pipeline.Pipeline):  # type: ignore[misc]  # scikit-learn has no types
    """scikit-learn's Pipeline for private steps: all are charged to one ledger, and a warning names unpriced ones.

    Privacy. The price of the pipeline is that of its private steps together, each charged as it is fitted, where every
        step is private or learns nothing.
        Proof: each step reads rows that a released map made of the rows, one at a time; adaptive composition, as the
        ledger counts it.

    >>> from discreet.learning import LogisticRegression
    >>> from discreet.privacy import Relation
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> model = LogisticRegression(
    ...     mu=1,
    ...     relation=Relation.ADD_REMOVE,
    ...     people=1000,
    ...     bounds=(0, 1),
    ...     classes=[0, 1],
    ... )
    >>> unpriced_steps(Pipeline([("scale", MinMaxScaler()), ("model", model)]))
    ['scale']
    """

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        session: Session | None = None,
        ledger: Ledger | None = None,
        analyst: str | None = None,
        **params: Any,
    ) -> Self:
        """Fit all steps in their order; every private one is charged to the same books.

        Args:
            X: rows of features.
            y: labels or numbers to be predicted, where a step needs them.
            session: the session whose ledger is charged.
            ledger: the ledger that is charged, where there is no session.
            analyst: who fits, where the ledger knows several.
            params: what else scikit-learn hands to single steps, such as model__option=3.
        """
        super().fit(X, y, **params, **self._books(session, ledger, analyst))
        return self

    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        *,
        session: Session | None = None,
        ledger: Ledger | None = None,
        analyst: str | None = None,
        **params: Any,
    ) -> Any:
        """Fit all steps, and return the transformed rows: as private as the rows, for whoever holds them."""
        return super().fit_transform(X, y, **params, **self._books(session, ledger, analyst))

    def fit_predict(
        self,
        X: Any,
        y: Any = None,
        *,
        session: Session | None = None,
        ledger: Ledger | None = None,
        analyst: str | None = None,
        **params: Any,
    ) -> Any:
        """Fit all steps, and return what the last one predicts of the same rows, for whoever holds them."""
        return super().fit_predict(X, y, **params, **self._books(session, ledger, analyst))

    def _books(self, session: Any, ledger: Any, analyst: Any) -> dict[str, Any]:
        """Return the books under the names that scikit-learn hands them on by; warn of steps without a price."""
        if unpriced := unpriced_steps(self):
            warnings.warn(
                f"these steps learn from rows, or may look at all of them, and pay nothing, so the pipeline as a whole "
                f"keeps no guarantee: {', '.join(unpriced)}. Write private steps or public maps of discreet.learning "
                "instead, such as StandardScaler, Bins, FourierFeatures, or none: models scale by their bounds. Fill "
                'cells by SimpleImputer(strategy="constant", fill_value=..., keep_empty_features=True); give encoders '
                'categories=[...] and handle_unknown="ignore" or "use_encoded_value"; run functions of your own before '
                "the pipeline, one row at a time",
                SenselessParameter,
                stacklevel=3,
            )
        stated = {"session": session, "ledger": ledger, "analyst": analyst}
        books = {name: value for name, value in stated.items() if value is not None}
        return books if get_config()["enable_metadata_routing"] else self._by_step(books)

    def _by_step(self, books: Mapping[str, Any]) -> dict[str, Any]:
        """Return books for every private step by its name; raise an error where one inside a step would get none."""
        hidden = [name for name, step in _leaves(self) if "__" in name and _is_private(step)]
        if books and hidden:
            raise ParameterError(
                f"metadata routing must be on, so that private steps inside others are charged too: "
                f"{', '.join(hidden)}; write sklearn.set_config(enable_metadata_routing=True). Nothing was spent.",
                parameter=next(iter(books)),
            )
        private = [name for name, step in self.steps if _is_private(step)]
        return {f"{name}__{key}": value for name in private for key, value in books.items()}


def _is_private(step: Any) -> bool:
    return isinstance(step, PrivateEstimator)


def _is_public(step: Any) -> bool:
    """Return whether a step treats one row at a time by public rules: only what is known to do so, and no subclass."""
    kind = type(step)
    if kind is SimpleImputer:  # which columns are empty, or have empty cells, is read off all rows
        return bool(step.strategy == "constant" and step.keep_empty_features and not step.add_indicator)
    if kind in (OrdinalEncoder, OneHotEncoder):
        stated = not isinstance(step.categories, str) and step.min_frequency is None and step.max_categories is None
        return stated and step.handle_unknown in ("ignore", "use_encoded_value")  # an error would tell of a row
    return kind.__module__.startswith("discreet.learning.")


def _leaves(model: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all estimators that are no frame around others, with their names as `set_params` takes them."""
    for kind, attribute in _PARTS.items():
        if isinstance(model, kind):
            held = getattr(model, attribute)
            parts = held if isinstance(held, list) else [(attribute, held)]
            beside = [(name, getattr(model, name)) for name in _BESIDE if hasattr(model, name)]
            for name, part, *columns in [*parts, *beside]:
                if any(callable(one) for one in columns):  # it is handed all rows to choose columns
                    yield f"{prefix}__{name}" if prefix else name, columns
                yield from _leaves(part, f"{prefix}__{name}" if prefix else name)
            return
    elsewhere = callable(model) and not isinstance(model, np.ufunc)  # a function that is handed all targets at once
    if hasattr(model, "fit") or elsewhere:  # others are words such as passthrough
        yield prefix or type(model).__name__, model
