"""One public rule for private training of a linear model on public features, and why it says what it says.

The rule was found on handwritten digits, newsgroups, film reviews and census rows (`benchmarks/deep/accuracy.py` says
on which parts), and is one for all of them. Let s = people * mu, mu the Gaussian price that
epsilon and delta buy: the signal. All steps read all rows; there are 70 of them, gradients are clipped to 1/4, the
momentum is 0.8, and the mean of the weights after the later half of the steps is kept. Noise of all steps together
then moves every weight by rate * clip * steps / (s * (1 - momentum)), whatever the number of features: the rate makes
that 1.2. Rows have norm 1, so the noise of a score does not grow with the number of features either.
"""

from __future__ import annotations

import math
from collections.abc import Sequence, Sized
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from discreet.display import as_stated, format_number
from discreet.display.result import told_in_rows
from discreet.errors import InputError, ParameterError
from discreet.frames import places
from discreet.laws.number import Number
from discreet.learning.base import whole_number
from discreet.learning.deep.plan import Clip, FullBatch, Plan
from discreet.learning.deep.plan.plan import checked_relation
from discreet.learning.deep.recipes.hashed_words import HashedWords
from discreet.learning.deep.recipes.networks import linear
from discreet.learning.deep.recipes.one_hot import OneHot
from discreet.learning.deep.recipes.scattering import Scattering
from discreet.privacy import Relation
from discreet.privacy.numbers import positive, probability
from discreet.privacy.price import largest_mu

STEPS, MOMENTUM, TAIL = 70, 0.8, 0.5
CLIP = Fraction(1, 4)
_MOVED = 1.2  # by how much all noise together moves a weight, as a standard deviation
_CELLS = 1 << 20  # numbers of a physical batch: larger blocks of memory are handed back to the system at every step
_MOST_CLASSES = 1 << 12

FeatureMap = Scattering | HashedWords | OneHot


@told_in_rows
@dataclass(frozen=True, repr=False)
class RecipeExplanation:
    """What a recipe does and why; all of it follows from public numbers."""

    features: str
    model: str
    signal: float
    steps: int
    clip: float
    rate: float
    momentum: float
    moved: float
    tuned: str

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return dict(self.__dict__)

    def _rows(self) -> list[tuple[str, str | None]]:
        return [
            ("features", self.features),
            ("model", self.model),
            ("signal (people times mu)", format_number(self.signal)),
            ("steps", f"{self.steps}, each over all rows: more steps with less noise each would change little"),
            (
                "clip",
                f"{format_number(self.clip)}: rows have norm 1, so rows that are classified wrong count about equally",
            ),
            ("rate", f"{format_number(self.rate)}, so that all noise moves a weight by {format_number(self.moved)}"),
            ("momentum", f"{format_number(self.momentum)}; the mean of the weights after the later steps is kept"),
            ("tuned on private rows", self.tuned),
        ]


@dataclass(frozen=True)
class Recipe:
    """Features, model, plan and optimizer for one task; see `recipe`."""

    kind: FeatureMap
    classes: tuple[Any, ...]
    people: int
    epsilon: Number
    delta: Number
    relation: Relation
    unit: str

    @cached_property
    def signal(self) -> float:
        """People times the Gaussian price, over how far apart neighbors are."""
        mu = float(largest_mu(Fraction(self.epsilon), Fraction(self.delta)))
        return self.people * mu / (2 if self.relation is Relation.CHANGE_ONE else 1)

    @property
    def rate(self) -> float:
        """The learning rate."""
        return _MOVED * (1 - MOMENTUM) * self.signal / (STEPS * float(CLIP))

    @property
    def tail(self) -> float:
        """Which part of the steps, at the end, has its weights averaged."""
        return TAIL

    @property
    def physical(self) -> int:
        """How many rows are worked on at once."""
        return max(16, min(1024, 1 << int(math.log2(_CELLS / self.kind.width))))

    def plan(self) -> Plan:
        """Return a new plan that is certified to keep epsilon and delta."""
        return Plan.for_target(
            epsilon=self.epsilon,
            delta=self.delta,
            sampler=FullBatch(),
            clip=Clip(CLIP),
            steps=STEPS,
            unit=self.unit,
            relation=self.relation,
            divisor=self.people,
        )

    def model(self) -> Any:
        """Return the model before training: a linear map without intercept, all zero."""
        return linear(self.kind.width, len(self.classes))

    def optimizer(self, parameters: Any) -> Any:
        """Return the optimizer of a model's parameters."""
        return torch.optim.SGD(parameters, lr=self.rate, momentum=MOMENTUM)

    @staticmethod
    def loss(scores: Any, codes: Any) -> Any:
        """Return the cross entropy of each row."""
        return torch.nn.functional.cross_entropy(scores, codes, reduction="none")

    def data(self, rows: Any, labels: Sequence[Any]) -> tuple[Any, Any]:
        """Return features and codes of classes; a row whose label is not among the classes counts for nothing."""
        features = self.kind(rows)
        codes = places(labels, self.classes)
        _refuse_lengths(codes, features)
        unknown = codes == len(self.classes)
        features[unknown] = np.nan
        return torch.from_numpy(features), torch.from_numpy(np.where(unknown, 0, codes))

    def predict(self, model: Any, rows: Any) -> list[Any]:
        """Return the classes that a trained model finds for other rows."""
        return [self.classes[code] for code in self._scores(model, rows).argmax(dim=1).tolist()]

    def predict_proba(self, model: Any, rows: Any) -> NDArray[np.float64]:
        """Return the probability of every class for other rows, as a trained model has it."""
        return np.asarray(self._scores(model, rows).to(torch.float64).softmax(dim=1).numpy())

    def score(self, model: Any, rows: Any, labels: Sequence[Any]) -> float:
        """Return the frequency of rows whose class a trained model finds; of private rows it is private itself."""
        found = self._scores(model, rows).argmax(dim=1).numpy()
        codes = places(labels, self.classes)
        _refuse_lengths(codes, found)
        return float(np.mean(found == codes))

    def _scores(self, model: Any, rows: Any) -> Any:
        with torch.no_grad():
            return model(torch.from_numpy(np.nan_to_num(self.kind(rows))))

    def explain(self) -> RecipeExplanation:
        """Return what is done and why, before any row is read."""
        return RecipeExplanation(
            features=self.kind.told,
            model=f"linear, {self.kind.width:,} weights for each of {len(self.classes)} classes, all 0 at first",
            signal=self.signal,
            steps=STEPS,
            clip=float(CLIP),
            rate=self.rate,
            momentum=MOMENTUM,
            moved=_MOVED,
            tuned="nothing: the rule reads people, epsilon, delta and the relation, and no row",
        )


def recipe(
    kind: FeatureMap,
    *,
    people: int,
    epsilon: Number,
    delta: Number,
    classes: int | Sequence[Any],
    relation: Relation,
    unit: str,
) -> Recipe:
    """Return how to train a private classifier of images, texts or tables, by one public rule.

    Args:
        kind: the public map of features: `Scattering(side=28)` for images, `HashedWords()` for texts,
            `OneHot({...})` for tables.
        people: a public round number near the number of people; the rule and the divisor follow from it.
        epsilon: the price.
        delta: the price.
        classes: the values of the target, or how many there are, for codes from 0 on.
        relation: who differs.
        unit: your word for who is protected.

    Privacy. A training by `plan()` keeps (epsilon, delta), whatever the rows and the number of people are in truth.
        Proof: the map is public and maps a row alone, so neighbors stay neighbors, and the plan is certified.

    >>> made = recipe(
    ...     OneHot({"sex": ("f", "m"), "age": range(100)}),
    ...     people=1000,
    ...     epsilon=1,
    ...     delta=1e-6,
    ...     classes=2,
    ...     relation=Relation.ADD_REMOVE,
    ...     unit="person",
    ... )
    >>> round(made.signal), round(made.rate, 1)
    (237, 3.2)
    """
    if not isinstance(kind, Scattering | HashedWords | OneHot):
        raise ParameterError(
            f"kind must be Scattering, HashedWords or OneHot; got a {type(kind).__name__}, write Scattering(side=28) "
            "for images of 28 x 28, for example",
            parameter="kind",
        )
    stated = checked_relation(relation)
    if not isinstance(unit, str) or not unit:
        raise ParameterError(
            f"unit must say who is protected; got {'an empty text' if unit == '' else type(unit).__name__}, write "
            "unit='person', for example",
            parameter="unit",
        )
    people = whole_number(people, name="people", least=1, most=(1 << 28) - 1)
    price = positive(epsilon, name="epsilon"), positive(probability(delta, name="delta"), name="delta")
    return Recipe(kind, _listed(classes), people, *price, stated, unit)


def _refuse_lengths(labels: Sized, rows: Sized) -> None:
    """Raise an error where labels and rows differ in number; neither number is said, because rows may be private."""
    if len(labels) != len(rows):
        raise InputError("labels must be one a row; got another number, write as many as there are rows")


def _listed(classes: Any) -> tuple[Any, ...]:
    """Return the classes, at least two different ones."""
    if isinstance(classes, int | np.integer) and not isinstance(classes, bool):
        return tuple(range(whole_number(classes, name="classes", least=2, most=_MOST_CLASSES)))
    classes = classes.tolist() if isinstance(classes, np.ndarray) else classes
    listed = tuple(classes) if isinstance(classes, Sequence) and not isinstance(classes, str) else ()
    if not 2 <= len(set(listed)) == len(listed) <= _MOST_CLASSES:
        raise ParameterError(
            f"classes must be a number from 2 on, or a list of different values; got {_as_classes(classes)}, write "
            "['no', 'yes']",
            parameter="classes",
        )
    return listed


def _as_classes(classes: Any) -> str:
    """Say what was given instead of classes."""
    if isinstance(classes, Sequence) and not isinstance(classes, str):
        repeated = len(set(classes)) < len(classes)
        return f"{len(classes):,} values{', some of them equal' if repeated else ''}"
    return as_stated(classes)
