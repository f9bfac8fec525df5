"""Train by a recipe in one call, or with scikit-learn's manners: features, plan and rates as its public rule says."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from discreet.display import Progress
from discreet.display.result import told_in_rows
from discreet.errors import ParameterError
from discreet.laws.number import Number
from discreet.learning.base import PrivateClassifier, Public, regime
from discreet.learning.deep.clip import CrossEntropy
from discreet.learning.deep.plan import Plan
from discreet.learning.deep.recipes import BinnedNumbers, OneHot, Recipe
from discreet.learning.deep.training.averages import TailAverage
from discreet.learning.deep.training.estimators import PlannedEstimator, plan_of
from discreet.learning.deep.training.preparation import Preparation
from discreet.learning.deep.training.trained_model import TrainedModel
from discreet.learning.deep.training.trainer import train
from discreet.learning.exact import FitRows, Measurements
from discreet.learning.features import stated_bins
from discreet.ledger import Ledger
from discreet.privacy import Guarantee

if TYPE_CHECKING:
    from discreet.query import Session

Floats = NDArray[np.float64]
_BINS = 16  # of every column, where nobody states a number


@told_in_rows
@dataclass(frozen=True, repr=False, eq=False)
class TrainedRecipe:
    """A recipe and the model that it trained; `predict` takes rows as the recipe's features read them."""

    recipe: Recipe
    trained: TrainedModel

    @property
    def guarantee(self) -> Guarantee:
        """What the weights guarantee."""
        return self.trained.guarantee

    @property
    def cost(self) -> Guarantee | None:
        """What the ledger was charged."""
        return self.trained.cost

    def predict(self, rows: Any) -> list[Any]:
        """Return a class for each row."""
        return self.recipe.predict(self.trained.model, rows)

    def predict_proba(self, rows: Any) -> NDArray[np.float64]:
        """Return the probability of every class for each row, in the order of `recipe.classes`."""
        return self.recipe.predict_proba(self.trained.model, rows)

    def score(self, rows: Any, labels: Sequence[Any]) -> float:
        """Return the frequency of rows whose class is found, without noise: of private rows it is private itself."""
        return self.recipe.score(self.trained.model, rows, labels)

    def _rows(self) -> list[tuple[str, str | None]]:
        return [("features", self.recipe.kind.told), *self.trained._rows()]


def train_recipe(
    made: Recipe,
    rows: Any,
    labels: Sequence[Any],
    *,
    session: Session | None = None,
    ledger: Ledger | None = None,
    analyst: str | None = None,
    checkpoint: Any = None,
    progress: Progress | None = None,
) -> TrainedRecipe:
    """Train by a recipe on private rows and labels; books, checkpoint and progress as in `train`.

    Privacy. That of `train` with the recipe's plan.
        Proof: features are computed from each row alone, by public maps; the rest is `train`.

    >>> from discreet.data import glyphs
    >>> from discreet.learning.deep import Scattering, recipe
    >>> from discreet.privacy import Relation
    >>> written = glyphs(people=40, seed=1)
    >>> made = recipe(
    ...     Scattering(side=28),
    ...     classes=10,
    ...     people=40,
    ...     epsilon=3,
    ...     delta=1e-5,
    ...     relation=Relation.ADD_REMOVE,
    ...     unit="writer",
    ... )
    >>> found = train_recipe(made, written.images, written.labels)
    >>> len(found.predict(written.images))
    40
    """
    if not isinstance(made, Recipe):
        raise ParameterError(
            f"a recipe must be made by recipe(...); got {type(made).__name__}, write train_recipe(recipe(...), X, y)",
            parameter="made",
        )
    trained = train(
        made.model(),
        made.data(rows, labels),
        made.plan(),
        made.loss,
        optimizer=made.optimizer,
        physical=made.physical,
        session=session,
        ledger=ledger,
        analyst=analyst,
        checkpoint=checkpoint,
        progress=progress,
        average=TailAverage(made.tail),
    )
    return TrainedRecipe(made, trained)


@dataclass(eq=False, repr=False, kw_only=True)
class RecipeClassifier(PlannedEstimator, PrivateClassifier):
    """A linear model on one-hot columns by the public rule of `recipe`, with scikit-learn's manners.

    A column of numbers is cut into bins of equal length between its bounds; codes 0 to k - 1 with bounds (0, k - 1) and
    k bins have a bin each. A cell that is missing has no bin, and its row still counts.

    Args:
        bins: how many bins a column has, a number or one a column, 16 if none is given; `fit_session` takes one for
            each declared value.

    Privacy. (epsilon, delta)-DP under the stated relation for one unit, by the plan `training_plan_`; `loss_` is its
        whole curve.
        Proof: rows become features one by one, with public bounds and bins; the rest is that of `train`.

    >>> from discreet.privacy import Relation
    >>> model = RecipeClassifier(
    ...     epsilon=2,
    ...     delta=1e-6,
    ...     relation=Relation.ADD_REMOVE,
    ...     people=1000,
    ...     unit="person",
    ...     bounds=(0, 1),
    ...     classes=["a", "b"],
    ...     bins=4,
    ... )
    >>> rows = np.repeat([[0.1, 0.2], [0.9, 0.7]], 500, axis=0)
    >>> model.fit(rows, ["a"] * 500 + ["b"] * 500).predict([[0, 0.1], [1, 0.8]])
    array(['a', 'b'], dtype='<U1')
    """

    bins: Any = None

    def _features(self, low: Floats, high: Floats, bins: Any) -> OneHot:
        """Return the public map of rows."""
        counts = stated_bins(_BINS if bins is None else bins, low, high).counts
        ends = zip(low.tolist(), high.tolist(), counts.tolist(), strict=True)
        return OneHot({str(at): BinnedNumbers((one, other), bins=count) for at, (one, other, count) in enumerate(ends)})

    def _recipe(self, public: Public, epsilon: Number | None, delta: Number | None) -> Recipe:
        if public.classes is None or epsilon is None or delta is None:
            raise AssertionError("classes and a price were stated")
        kind, codes = self._features(public.low, public.high, self.bins), tuple(range(len(public.classes)))
        neighbors = public.neighbors
        return Recipe(kind, codes, neighbors.people, epsilon, delta, neighbors.relation, self._stated_unit())

    def _made(self, public: Public) -> Recipe:
        stated = public.price.stated
        return self._recipe(public, stated.epsilon, stated.delta)

    def _plan_for(self, public: Public, epsilon: Number, delta: Number) -> Plan:
        return self._recipe(public, epsilon, delta).plan()

    def _preparation(self, public: Public) -> Preparation:
        made = self._made(public)
        return Preparation(
            model=made.model(), plan=plan_of(public.price), loss=CrossEntropy(len(made.classes)),
            optimizer=made.optimizer, physical=made.physical, rows=1, average=TailAverage(made.tail),
        )  # fmt: skip

    def _tensors(self, public: Public, features: Floats, beside: Any) -> tuple[Any, Any]:
        kind = self._features(public.low, public.high, self.bins)
        return torch.from_numpy(kind(features)), torch.from_numpy(np.asarray(beside).astype(np.int64))

    def _learn(self, public: Public, rows: FitRows, measurements: Measurements) -> None:
        self.bins_ = copy.copy(self.bins)  # those of the fit: `fit_session` takes them from the policy
        super()._learn(public, rows, measurements)

    def _plan(self, public: Public) -> Mapping[str, Any]:
        plan, made = plan_of(public.price), self._made(public)
        return {
            "unit": plan.unit,
            "features": made.kind.told,
            "steps": plan.steps,
            "batches": plan.sampler.name,
            "expected batch": float(plan.divisor),
            "norm of a gradient": float(plan.clip.norm),
            "noise multiplier": float(plan.noise.scale),
            "learning rate": made.rate,
            "weights": made.kind.width * len(made.classes),
        }

    def _expect(self, public: Public) -> str:
        made = self._made(public)
        return regime(made.signal / math.sqrt(made.kind.width * len(made.classes)))

    def _scores(self, features: Floats) -> Floats:
        shown = self._features(self._low, self._high, self.bins_)(features).astype(np.float64)
        return np.asarray(shown @ self.weights_["weight"].T.astype(np.float64))
