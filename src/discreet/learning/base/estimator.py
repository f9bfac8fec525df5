"""What every private estimator is: public parameters, one price, a charge, exact sums with noise, a model.

A constructor keeps what it is given and looks at nothing, as scikit-learn asks; what is missing is refused at `fit`,
before anything is charged. Nothing that a refusal says, nor whether there is one, follows from a row.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from discreet._optional import optional
from discreet.errors import InputError
from discreet.laws.number import Number
from discreet.learning.base.charging import charged, refuse_books
from discreet.learning.base.declared_columns import coded
from discreet.learning.base.explanation import FitExplanation
from discreet.learning.base.parameters import stated_bounds, stated_people, whole_number
from discreet.learning.base.pushed_down import Box
from discreet.learning.exact import (
    Classes,
    FitNeighbors,
    FitPrice,
    FitRows,
    Measurements,
    judged,
    matrix,
    stated_classes,
    targets,
)
from discreet.privacy import Estimate, Relation

optional("sklearn", extra="learn", purpose="discreet.learning")

from sklearn.base import (  # noqa: E402  the line above says what to install where it is missing
    BaseEstimator,
    ClassifierMixin,
    OneToOneFeatureMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.exceptions import DataConversionWarning  # noqa: E402
from sklearn.utils.validation import check_is_fitted, validate_data  # noqa: E402

if TYPE_CHECKING:
    from discreet.ledger import Ledger
    from discreet.query import Session

Floats = NDArray[np.float64]
_MOST_FEATURES = 1 << 11


@dataclass(frozen=True, slots=True)
class Public:
    """Everything that is public about one fit: who is protected, the price, the ranges and the classes."""

    features: int
    neighbors: FitNeighbors
    price: FitPrice
    low: Floats
    high: Floats
    classes: Classes | None = None
    target: tuple[float, float] | None = None


@dataclass(eq=False, repr=False, kw_only=True)
class PrivateEstimator(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn has no types
    """The base of all estimators.

    Args:
        epsilon: the privacy loss, with `delta` beside it.
        delta: the chance of a larger loss.
        rho: the price in zero-concentrated differential privacy, instead of epsilon.
        mu: the price in Gaussian differential privacy, instead of epsilon.
        relation: who is a neighbor, `Relation.ADD_REMOVE` or `Relation.CHANGE_ONE`.
        people: about how many people there are; public, and never counted in the rows.
        bounds: the range of the features, (low, high), each a number or one number a feature.
    """

    epsilon: Number | None = None
    delta: Number | None = None
    rho: Number | None = None
    mu: Number | None = None
    relation: Relation | None = None
    people: int | None = None
    bounds: Any = None

    _pure: ClassVar[bool] = False  # whether there is a form with Laplace noise
    # Under metadata routing every private step of a pipeline asks for the books by itself.
    __metadata_request__fit: ClassVar[Mapping[str, bool]] = {"session": True, "ledger": True, "analyst": True}

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        session: Session | None = None,
        ledger: Ledger | None = None,
        analyst: str | None = None,
    ) -> Self:
        """Learn from rows, one a person; the charge, if there is a ledger, is durable before a row counts.

        Args:
            X: rows of features; a row with a cell that is no finite number counts for nothing.
            y: labels or numbers to be predicted, where the estimator needs them.
            session: the session whose ledger is charged.
            ledger: the ledger that is charged, where there is no session.
            analyst: who fits, where the ledger knows several.
        """
        stated = self.get_params(deep=False)
        refuse_books(stated)
        fresh = type(self)(**stated)  # a fit that is refused, or fails, leaves the model as it was
        features = fresh._read(X, reset=True)
        public = fresh._public(features.shape[1])
        rows = fresh._rows(public, features, y)
        fresh._plan(public)  # what cannot be planned is refused before the charge
        judged(public.price, public.neighbors.people)
        self._hand_over(fresh)
        charge = charged(
            lambda: fresh._fit(public, rows),
            public.price,
            f"fit of {type(self).__name__}",
            session=session,
            ledger=ledger,
            analyst=analyst,
        )
        fresh.charge_ = None if charge is None else charge.number
        self._become(fresh)
        return self

    def _hand_over(self, fresh: Self) -> None:
        """Give the copy that is about to be fitted what is no parameter and of this fit alone; most have nothing."""

    def _become(self, fresh: Self) -> None:
        """Take over what a fit has left in another model of the same parameters, and let go of what was learned before.

        Names that do not end with an underscore may be scikit-learn's own, and stay.
        """
        stated = self.get_params(deep=False)
        for name in [name for name in vars(self) if name not in stated and name.endswith("_")]:
            delattr(self, name)
        self.__dict__.update({name: one for name, one in vars(fresh).items() if name not in stated})

    def fit_session(
        self,
        session: Session,
        table: str,
        features: Sequence[str],
        target: str | None = None,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        share: Number | None = None,
        people: int | None = None,
    ) -> Self:
        """Learn from a table of a session; its ledger is charged first and keeps the model: the same again is free.

        What the constructor leaves out comes from the policy: the relation, ranges, classes and people. Texts with
        declared values become codes 0, 1, ... in the declared order, and `predict` reads frames of such columns. At
        most the policy's `rows` of one unit count.

        Args:
            session: an open session.
            table: a private table.
            features: the columns to learn from.
            target: the column to be predicted, where the estimator needs one.
            epsilon: the price, instead of that of the constructor, as for `rho` and `mu`; with `delta` beside it.
            delta: the chance of a larger loss.
            rho: the price in zero-concentrated differential privacy.
            mu: the price in Gaussian differential privacy.
            share: the price as a part of the budget.
            people: about how many rows count; public, and never counted.
        """
        from discreet.learning.base.from_session import prepared_fit

        prepared = prepared_fit(
            self, session, table, features, target,
            epsilon=epsilon, delta=delta, rho=rho, mu=mu, share=share, people=people,
        )  # fmt: skip
        self._hand_over(prepared.model)
        prepared.fit()
        self._become(prepared.model)
        return self

    def score_session(
        self,
        session: Session,
        table: str,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        share: Number | None = None,
        confidence: float = 0.95,
    ) -> Estimate:
        """Return the accuracy, or the mean absolute error, on another table of a session, at a price of its own.

        The model was fitted by `fit_session`, and the table has the same columns. The ledger is charged first and keeps
        the score: the same again is free. Rows that the model was fitted on flatter it; take others.

        Args:
            session: an open session.
            table: a private table with rows that the model has not seen.
            epsilon: the price, alone or with `delta` beside it.
            delta: the chance of a larger loss.
            rho: the price in zero-concentrated differential privacy.
            mu: the price in Gaussian differential privacy.
            share: the price as a part of the budget.
            confidence: of the interval.
        """
        from discreet.learning.base.score_session import prepared_score

        prepared = prepared_score(self, session, table, epsilon=epsilon, delta=delta, rho=rho, mu=mu, share=share)
        return prepared.compute(confidence)[0]

    def explain_session(
        self,
        session: Session,
        table: str,
        features: Sequence[str],
        target: str | None = None,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        share: Number | None = None,
        people: int | None = None,
    ) -> FitExplanation:
        """Return what `fit_session` with the same arguments would do; no row is read and nothing is charged.

        Args:
            session: an open session.
            table: a private table.
            features: the columns to learn from.
            target: the column to be predicted, where the estimator needs one.
            epsilon: the price, instead of that of the constructor, as for `rho` and `mu`; with `delta` beside it.
            delta: the chance of a larger loss.
            rho: the price in zero-concentrated differential privacy.
            mu: the price in Gaussian differential privacy.
            share: the price as a part of the budget.
            people: about how many rows count; public, and never counted.
        """
        from discreet.learning.base.from_session import prepared_fit

        return prepared_fit(
            self, session, table, features, target,
            epsilon=epsilon, delta=delta, rho=rho, mu=mu, share=share, people=people,
        ).explain()  # fmt: skip

    def explain(self, features: int | None = None) -> FitExplanation:
        """Return plan, price, noise and what to expect; no data is read and nothing is charged.

        A model that was fitted on a table of a session tells of that fit.

        Args:
            features: how many features there will be, where `bounds` do not say it.
        """
        if features is not None and not np.isscalar(features):
            raise InputError(
                "features must be a number: how many there will be; got a list or the like, write "
                "explain(len(features)), or explain_session(session, table, features, ...) for a table of a session"
            )
        if features is None and "expected_" in vars(self):
            mu = self._price.mu
            mu_told = None if mu is None else float(mu)
            return FitExplanation(type(self).__name__, self.guarantee_, mu_told, **self.expected_)
        known = _lengths(self.bounds) if features is None else features
        if known is None and hasattr(self, "n_features_in_"):
            known = self.n_features_in_
        if known is None:
            raise InputError("features must be given where bounds do not say how many there are; write explain(30)")
        count = whole_number(known, name="features", least=1, most=_MOST_FEATURES)
        return self._explanation(self._public(count))

    def _explanation(self, public: Public) -> FitExplanation:
        """Return what is known of a fit from what is public about it."""
        mu = public.price.mu
        return FitExplanation(
            type(self).__name__,
            public.price.guarantee,
            None if mu is None else float(mu),
            {"relation": public.neighbors.relation.value, "people": public.neighbors.people, **self._plan(public)},
            self._expect(public),
            self._noise(public),
        )

    @abstractmethod
    def _learn(self, public: Public, rows: FitRows, measurements: Measurements) -> None:
        """Read sums of the rows through `measurements`, and keep the model; nothing else of the rows is kept."""

    @abstractmethod
    def _plan(self, public: Public) -> Mapping[str, Any]:
        """Return the public plan of a fit, by name; raise an error where a parameter cannot be used."""

    @abstractmethod
    def _expect(self, public: Public) -> str:
        """Say what to expect of the model, from public numbers."""

    def _noise(self, public: Public) -> Mapping[str, float]:  # noqa: ARG002  most estimators say more
        """Return the standard deviation of the noise of each kind of release, in units that people know."""
        return {}

    def _public(self, features: int, *, rows: int = 1) -> Public:
        """Read what a user stated; raise an error, with the line to add, where something is missing."""
        price = FitPrice.read(
            epsilon=self.epsilon, delta=self.delta, rho=self.rho, mu=self.mu, relation=self.relation, pure=self._pure
        )
        low, high = self._ranges(features)
        neighbors = FitNeighbors(price.relation, stated_people(self.people), rows)
        return Public(features, neighbors, price, low, high)

    def _boxes(self, public: Public) -> Sequence[Box] | None:  # noqa: ARG002  only models of counts have them
        """Return the boxes whose class counts are all that is read of the rows; None where more is read."""
        return None

    def _ranges(self, features: int) -> tuple[Floats, Floats]:
        """Return the ends of the ranges of the features."""
        return stated_bounds(self.bounds, features)

    def _rows(self, public: Public, features: Floats, y: Any) -> FitRows:  # noqa: ARG002  labels are for subclasses
        """Return the rows with what is beside them."""
        return FitRows(features)

    def _fit(self, public: Public, rows: FitRows) -> None:
        """Learn, and keep what was guaranteed."""
        self._learn(public, rows, Measurements(public.price))
        self._price = public.price
        self.guarantee_, self.loss_ = public.price.guarantee, public.price.loss
        self.plan_ = dict(self._plan(public))

    def _read(self, X: Any, *, reset: bool) -> Floats:
        """Return rows as a matrix, and hold its columns to those of the fit."""
        if reset:
            self.__dict__.pop("columns_", None)
        columns = vars(self).get("columns_")
        named = None if columns is None else coded(X, columns)
        read = matrix(X) if named is None else named
        if read.shape[1] == 0:
            raise InputError("X must have columns: 0 feature(s) (shape=(0, 0)) while a minimum of 1 is required.")
        if read.shape[1] > _MOST_FEATURES:
            raise InputError(f"X must have at most {_MOST_FEATURES:,} features; got more, write fewer columns")
        if named is None:
            validate_data(self, X, reset=reset, skip_check_array=True)
        return read

    def _seen(self, X: Any) -> Floats:
        """Return rows to be predicted or transformed, of the columns of the fit."""
        check_is_fitted(self)
        return self._read(X, reset=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


@dataclass(eq=False, repr=False, kw_only=True)
class PrivateClassifier(ClassifierMixin, PrivateEstimator, ABC):  # type: ignore[misc]
    """The base of classifiers; the classes are declared, because which ones occur is private.

    Args:
        classes: every label that may occur; a row with another label counts for nothing.
    """

    classes: Any = None

    def _public(self, features: int, *, rows: int = 1) -> Public:
        public = super()._public(features, rows=rows)
        return Public(features, public.neighbors, public.price, public.low, public.high, stated_classes(self.classes))

    def _rows(self, public: Public, features: Floats, y: Any) -> FitRows:
        classes = public.classes or stated_classes(self.classes)
        return FitRows(features, codes=classes.codes(_flat(y)))

    def _fit(self, public: Public, rows: FitRows) -> None:
        super()._fit(public, rows)
        if public.classes is not None:
            self.classes_ = public.classes.array()

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most likely class of every row; a cell that is no number counts as the middle of its range."""
        scores = self._scores(self._seen(X))
        return np.asarray(self.classes_[scores.argmax(axis=1)])

    @abstractmethod
    def _scores(self, features: Floats) -> Floats:
        """Return a score for every row and class; the largest wins."""

    def decision_function(self, X: Any) -> Floats:
        """Return the scores of the classes; of two classes, how far the second is above the first."""
        scores = self._scores(self._seen(X))
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of every class, as the model has it."""
        scores = self._scores(self._seen(X))
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of the probability of every class."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))


@dataclass(eq=False, repr=False, kw_only=True)
class PrivateRegressor(RegressorMixin, PrivateEstimator, ABC):  # type: ignore[misc]
    """The base of regressions; the range of the target is declared, because it is private.

    Args:
        target_bounds: the range of the numbers to be predicted, (low, high); others are clipped to it.
    """

    target_bounds: Any = None

    def _public(self, features: int, *, rows: int = 1) -> Public:
        public = super()._public(features, rows=rows)
        low, high = stated_bounds(self.target_bounds, 1, name="target_bounds")
        return Public(
            features, public.neighbors, public.price, public.low, public.high, target=(float(low[0]), float(high[0]))
        )

    def _rows(self, public: Public, features: Floats, y: Any) -> FitRows:  # noqa: ARG002
        return FitRows(features, targets=targets(_flat(y)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class PrivateTransformer(OneToOneFeatureMixin, TransformerMixin, PrivateEstimator, ABC):  # type: ignore[misc]
    """The base of transformers that learn from rows at a price."""


def _flat(y: Any) -> Any:
    """Return labels as they are, with scikit-learn's warning where they stand in a matrix of one column."""
    shape: Any = getattr(y, "shape", ())
    if len(shape) == 2 and shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y, for example "
            "using ravel().",
            DataConversionWarning,
            stacklevel=4,
        )
    return y


def _lengths(bounds: Any) -> int | None:
    """Return how many features bounds name, None where one pair is for all."""
    try:
        lengths = {len(end) for end in bounds if not np.isscalar(end)}
    except TypeError:
        return None
    return lengths.pop() if len(lengths) == 1 else None
