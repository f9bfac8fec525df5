"""Train by a recipe in one call: features, plan, model and optimizer as its public rule has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.display import Progress
from discreet.display.result import told_in_rows
from discreet.errors import ParameterError
from discreet.learning.deep.recipes import Recipe
from discreet.learning.deep.training.averages import TailAverage
from discreet.learning.deep.training.trained_model import TrainedModel
from discreet.learning.deep.training.trainer import train
from discreet.ledger import Ledger
from discreet.privacy import Guarantee

if TYPE_CHECKING:
    from discreet.query import Session


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
