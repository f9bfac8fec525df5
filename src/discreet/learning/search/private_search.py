"""Private search for the best settings: a secret number of priced runs, of which the best by its noisy score is kept.

The number of runs is no attribute, no progress, no part of a message or of the ledger; only the running time follows
from it (see the threat model).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from discreet.display import format_number
from discreet.display.result import told_in_rows
from discreet.errors import ConflictingParameters, InputError, MissingParameter, ParameterError, QueryFailed
from discreet.laws.number import Number
from discreet.learning.base import (
    PrivateClassifier,
    PrivateEstimator,
    PrivateRegressor,
    Public,
    charged,
    chosen,
    said,
    stated_people,
)
from discreet.learning.exact import STEPS, FitRows, Measurements, unheard
from discreet.learning.search.price import SearchPrice
from discreet.learning.search.runs import Poisson, RunsLaw, TruncatedNegativeBinomial
from discreet.privacy import Guarantee, PrivacyLoss, Relation, warn_if_senseless
from discreet.privacy.guarantees import with_notion
from discreet.randomness import uniform_below

if TYPE_CHECKING:
    from discreet.ledger import Ledger
    from discreet.query import Session

Floats = NDArray[np.float64]
Score = Callable[[Any, Any], float]
_PRICED = ("epsilon", "delta", "rho", "mu")
_STATED = (*_PRICED, "relation", "people", "classes", "target_bounds")  # the same for all runs
_MOST_SETTINGS = 1 << 16
_NO_RUN = "the search made no run, as its law allows, and has no model; fit again at the price of a new search"


@told_in_rows
@dataclass(frozen=True, repr=False)
class SearchPlan:
    """What a search would cost and leave for every run; everything is public and nothing is charged."""

    guarantee: Guarantee
    run: str
    expected_runs: float
    settings: int
    tried: float
    composed: float
    factor: float
    score_noise: float | None

    def _rows(self) -> list[tuple[str, str | None]]:
        noise = None if self.score_noise is None else f"standard deviation {format_number(self.score_noise)}"
        return [
            ("price", with_notion(self.guarantee)),
            ("each run", self.run),
            ("runs", f"{format_number(self.expected_runs)} expected; how many there are stays secret"),
            ("settings", f"{self.settings:,}; each has a chance of {self.tried:.0%} to be tried at all"),
            ("noise: score", noise),
            ("composed", f"that many runs, all of them told, would cost epsilon {format_number(self.composed)}"),
            (
                "advice",
                f"a run has {self.factor:.2f} times the noise of one fit at the whole price: do not search where a "
                "public default does about as well",
            ),
        ]


@dataclass(eq=False, repr=False)
class PrivateSearch(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Fit an estimator with settings drawn at random from a public list, a secret number of times; keep the best.

    A run draws a setting, all equally likely and with replacement, fits with its part of the price, and scores itself
    by a noisy sum over the same rows. The run with the largest noisy score is kept.

    Args:
        estimator: an estimator of `discreet.learning` without a price of its own; or a factory, called for every run
            with a setting and its price as keywords (`mu=`, or `epsilon=` where the price is pure), that returns a
            fresh function of (X, y). That function returns (output, score) and keeps the price, score included; the
            caller answers for that. It gets copies and must not remember earlier runs.
        settings: the public list of parameters to try, a mapping each.
        scoring: how good one prediction is, a function of the true and the predicted value with values in [0, 1].
            Without one, classifiers count right predictions, regressions 1 less the error as a part of the target's
            range.
        runs: the expected number of runs, for the logarithmic law.
        law: the law of the number of runs, instead of `runs`.
        epsilon: the privacy loss of the whole search, with `delta` beside it; alone where the runs are pure.
        delta: the chance of a larger loss.
        base: the price of one run, score included, instead of epsilon: `GaussianDP`, `ApproxDP` or `PureDP`.
        share: the part of a run's price that its score gets.
        relation: who is a neighbor, `Relation.ADD_REMOVE` or `Relation.CHANGE_ONE`.
        people: about how many people there are; public, and never counted in the rows.

    Privacy. (epsilon, delta)-DP, or epsilon-DP, under the stated relation, for the model, its settings and its score
        together.
        Proof: runs are independent and alike: one draws its setting, fits with (1 - share) of mu^2, and releases a sum
        of scores, integers of 0 to 2^19 a row, which one person moves by at most 2^19, with the rest of mu^2; pure runs
        split epsilon alike. The score is the only ground of the choice, the first of equal ones wins. The price is that
        of `discreet.learning.search.price`. What a row adds to a score is the same beside any other rows: it is
        predicted alone, from the same place in memory, and counts 0 where a prediction or its score fails. A run that
        fails is an outcome with the lowest score: the search goes on, and fails only where such a run is its best.
    Accuracy. A setting is tried at least once with the chance that `explain` shows. All runs share one price: each has
        more noise than one fit with a setting that is known beforehand.
    Cost. A fit and a prediction of every row by itself, for every run: about a tenth of a millisecond a row.
    Reference. Liu, Talwar 2019; Papernot, Steinke 2022.

    >>> from discreet.learning import AdditiveClassifier
    >>> rows = np.repeat([[0.1], [0.9]], 200, axis=0)
    >>> search = PrivateSearch(
    ...     AdditiveClassifier(bounds=(0, 1), classes=["a", "b"]),
    ...     [{"bins": 2}, {"bins": 20}],
    ...     runs=3,
    ...     epsilon=4,
    ...     delta=1e-6,
    ...     relation=Relation.ADD_REMOVE,
    ...     people=400,
    ... )
    >>> search.fit(rows, ["a"] * 200 + ["b"] * 200).guarantee_
    ApproxDP(epsilon=4, delta=1e-06, relation=Relation.ADD_REMOVE)
    >>> search.best_params_ in search.settings
    True
    """

    estimator: Any
    settings: Any
    scoring: Score | None = None
    runs: Number | None = None
    law: RunsLaw | None = None
    epsilon: Number | None = None
    delta: Number | None = None
    base: Guarantee | None = None
    share: Number = Fraction(1, 10)
    relation: Relation | None = None
    people: int | None = None

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        session: Session | None = None,
        ledger: Ledger | None = None,
        analyst: str | None = None,
    ) -> Self:
        """Search; the charge, if there is a ledger, is durable before a row counts.

        Args:
            X: rows of features, one a person.
            y: labels or numbers to be predicted.
            session: the session whose ledger is charged.
            ledger: the ledger that is charged, where there is no session.
            analyst: who searches, where the ledger knows several.
        """
        price, settings = self._price(), self._settings()
        run = self._estimator_run(price, settings, X, y) if self._fits else self._factory_run(price, X, y)
        warn_if_senseless(price.guarantee, people=None if self.people is None else stated_people(self.people))
        name = type(self.estimator).__name__ if self._fits else "a function"

        def work() -> None:
            with unheard():  # one warning a run would tell how many there were
                self._keep(price, _best(price.law, settings, run))

        description = f"private search over {name}"
        charge = charged(work, price, description, session=session, ledger=ledger, analyst=analyst)
        self.charge_ = None if charge is None else charge.number
        return self

    def explain(self) -> SearchPlan:
        """Return price, what it leaves for every run, and what to expect; no data is read and nothing is charged."""
        price, settings = self._price(), self._settings()
        people = None if self.people is None else stated_people(self.people)
        noise = None
        if self._fits and people is not None:
            noise = Measurements(price.run).deviation(price.share, squared=STEPS**2, l1=STEPS) / (STEPS * people)
        return SearchPlan(
            price.guarantee,
            price.told(),
            price.law.mean,
            len(settings),
            price.law.hit(Fraction(1, len(settings))),
            price.composed(),
            price.factor(),
            noise,
        )

    def predict(self, X: Any) -> Any:
        """Return what the best model predicts."""
        check_is_fitted(self, "guarantee_")
        if self.best_estimator_ is None:
            raise InputError(_NO_RUN)
        return self.best_estimator_.predict(X)

    @property
    def _fits(self) -> bool:
        return isinstance(self.estimator, PrivateEstimator)

    def _price(self) -> SearchPrice:
        """Read what was stated; raise an error where something is missing."""
        if not self._fits and not callable(self.estimator):
            raise ParameterError(
                "estimator must be an estimator of discreet.learning or a factory of functions; got another, write "
                "AdditiveClassifier(...), for example",
                parameter="estimator",
            )
        if self._fits:
            own = [word for word in _PRICED if getattr(self.estimator, word) is not None]
            if own:
                raise ConflictingParameters(
                    f"the price must be stated by the search alone; got {own[0]}= at the estimator too, write it "
                    "without",
                    parameter=own[0],
                )
            stated_people(self.people)
            if self.share is None:
                raise MissingParameter(
                    "share must say which part of a run's price its score gets; got none, write share=0.1",
                    parameter="share",
                )
        return SearchPrice.read(
            law=self._law(),
            epsilon=self.epsilon,
            delta=self.delta,
            base=self.base,
            share=self.share if self._fits else None,
            relation=self.relation,
        )

    def _law(self) -> RunsLaw:
        if (self.runs is None) == (self.law is None):
            raise MissingParameter(
                "the number of runs must be given once; write runs=10, how many are expected, or law=Poisson(10)",
                parameter="runs",
            )
        if self.law is None:
            return TruncatedNegativeBinomial.of_mean(self.runs or 0)
        if type(self.law) not in (TruncatedNegativeBinomial, Poisson):  # the price is proven for these
            raise ParameterError("law must be a law of runs; got another, write law=Poisson(10)", parameter="law")
        return self.law

    def _settings(self) -> list[dict[str, Any]]:
        """Return the list of settings; raise an error where one states what is the same for all."""
        given = self.settings
        usable = isinstance(given, Iterable) and not isinstance(given, Iterator | Mapping | str)
        if not usable or not all(isinstance(one, Mapping) for one in given):
            raise ParameterError(
                "settings must be a list of mappings; got another, write settings=[{...}, {...}]", parameter="settings"
            )
        listed = [dict(one) for one in given]
        if not 1 <= len(listed) <= _MOST_SETTINGS:
            raise ParameterError(f"settings must be 1 to {_MOST_SETTINGS:,} mappings; got others", parameter="settings")
        common = {name for one in listed for name in one} & set(_STATED if self._fits else _PRICED)
        if common:
            raise ParameterError(
                f"settings must not state {min(common)}, which is the same for all runs; write it outside of settings",
                parameter="settings",
            )
        return listed

    def _model(self, price: SearchPrice, setting: Mapping[str, Any]) -> Any:
        """Return a fresh estimator of one run."""
        words = {**dict.fromkeys(_PRICED), **price.fit_words(), "relation": self.relation, "people": self.people}
        unknown = [name for name in setting if name not in self.estimator.get_params()]
        if unknown:
            raise ParameterError(
                f"settings must name parameters of the estimator; got {unknown[0]}, write others", parameter="settings"
            )
        return clone(self.estimator).set_params(**words).set_params(**setting)

    def _estimator_run(self, price: SearchPrice, settings: list[dict[str, Any]], X: Any, y: Any) -> Run:
        """Return a run over an estimator, after refusing every setting that cannot be used."""
        if not isinstance(self.estimator, PrivateClassifier | PrivateRegressor):
            raise ParameterError("estimator must predict; got another, write a classifier or a regression")
        models = [self._model(price, setting) for setting in settings]
        features = models[0]._read(X, reset=True)
        public = [model._public(features.shape[1]) for model in models]
        for model, known in zip(models, public, strict=True):
            model._plan(known)
        rows = models[0]._rows(public[0], features, y)

        def run(place: int) -> tuple[Any, float]:
            model = self._model(price, settings[place])
            model._read(X, reset=True)
            model._fit(public[place], rows)
            total = _scored(model, public[place], rows, self.scoring)
            noisy = Measurements(price.run).release(
                np.array([total], dtype=np.int64), share=price.share, squared=STEPS**2, l1=STEPS
            )
            return model, float(noisy[0]) / STEPS / public[place].neighbors.people

        return run

    def _factory_run(self, price: SearchPrice, X: Any, y: Any) -> Run:
        """Return a run over a factory of functions: it, the rows and the labels are copied for every run."""
        settings = self._settings()

        def run(place: int) -> tuple[Any, float]:
            made = copy.deepcopy(self.estimator)(**copy.deepcopy(settings[place]), **price.fit_words())
            output, score = made(copy.deepcopy(X), copy.deepcopy(y))
            return output, float(score)

        return run

    def _keep(self, price: SearchPrice, best: tuple[Any, float, Mapping[str, Any]] | None) -> None:
        """Keep what was released, with the price of the whole search."""
        self.guarantee_, self.loss_ = price.guarantee, PrivacyLoss.from_guarantee(price.guarantee)
        kept: tuple[Any, Any, Any] = (None, None, None) if best is None else best
        self.best_estimator_, self.best_score_, self.best_params_ = kept
        if self._fits and self.best_estimator_ is not None:
            # it was chosen: one run's own price would say too little
            self.best_estimator_.guarantee_, self.best_estimator_.loss_ = self.guarantee_, self.loss_
            self.best_estimator_.charge_ = None


Run = Callable[[int], tuple[Any, float]]
_NOTHING = object()


def _best(law: RunsLaw, settings: list[dict[str, Any]], run: Run) -> tuple[Any, float, Mapping[str, Any]] | None:
    """Make a secret number of runs and return the first of those with the largest score.

    An end at the first run that fails would tell of the number of runs: the more there are, the sooner one fails.
    """
    best, largest = None, -math.inf
    for _ in range(law.sample()):
        place = uniform_below(len(settings))
        output, score = _tried(run, place)
        order = -math.inf if math.isnan(score) else score
        if best is None or order > largest:
            best, largest = (output, score, settings[place]), order
    if best is not None and best[0] is _NOTHING:
        raise QueryFailed("the best run is one that failed")
    return best


def _tried(run: Run, place: int) -> tuple[Any, float]:
    """Return what a run returns, or what stands for one that fails."""
    try:
        return run(place)
    except Exception:  # what it says may show a row
        return _NOTHING, -math.inf


def _scored(model: Any, public: Public, rows: FitRows, score: Score | None) -> int:
    """Return the sum of the scores of all rows, in steps of 2^-19: each row's is predicted alone. Private."""
    judge = _judged_class(model, public, rows, score) if rows.targets is None else _judged(model, public, rows, score)
    alone = np.empty((1, public.features))
    total = 0
    for place, row in enumerate(rows.features):
        if np.isfinite(row).all():
            alone[0] = row
            good = judge(place, alone)
            total += 0 if math.isnan(good) else round(min(max(good, 0.0), 1.0) * STEPS)
    return total


def _judged_class(model: Any, public: Public, rows: FitRows, score: Score | None) -> Callable[[int, Floats], float]:
    """Return how good a classifier is on a row; 0 for a row of no declared class."""
    labels = () if public.classes is None else public.classes.labels
    codes = np.empty(0) if rows.codes is None else rows.codes

    def judge(place: int, alone: Floats) -> float:
        truth, found = int(codes[place]), said(lambda: chosen(model, alone))
        if truth >= len(labels) or math.isnan(found):
            return 0.0
        return float(truth == found) if score is None else said(lambda: score(labels[truth], labels[int(found)]))

    return judge


def _judged(model: Any, public: Public, rows: FitRows, score: Score | None) -> Callable[[int, Floats], float]:
    """Return how good a regression is on a row; 0 for a row without a number to be predicted."""
    low, high = public.target or (0.0, 1.0)
    targets = np.empty(0) if rows.targets is None else rows.targets

    def judge(place: int, alone: Floats) -> float:
        if not math.isfinite(targets[place]):
            return 0.0
        truth, found = min(max(float(targets[place]), low), high), said(lambda: model.predict(alone)[0])
        return 1.0 - abs(truth - found) / (high - low) if score is None else said(lambda: score(truth, found))

    return judge
