"""Networks with scikit-learn's manners: a public rule makes the plan, `train` does the rest."""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from numpy.typing import NDArray

from discreet.display import Progress, as_stated
from discreet.errors import MissingParameter, ParameterError
from discreet.laws.number import Number
from discreet.learning.base import (
    PrivateClassifier,
    PrivateEstimator,
    PrivateRegressor,
    Public,
    regime,
    whole_number,
)
from discreet.learning.deep.clip import CrossEntropy, SquaredError
from discreet.learning.deep.plan import BatchSampler, Clip, FullBatch, IndependentNoise, Plan, PoissonBatches
from discreet.learning.deep.training.averages import TailAverage
from discreet.learning.deep.training.preparation import Preparation
from discreet.learning.deep.training.trainer import train
from discreet.learning.exact import FitPrice, FitRows, Measurements, filled, in_unit_box, scaled_targets
from discreet.privacy import Guarantee, Price, PrivacyLoss

if TYPE_CHECKING:
    from discreet.query import Session

Floats = NDArray[np.float64]
_MOST_FULL = 1 << 16  # people up to whom everyone is in every step; beyond, this many are expected
_STEPS, _PHYSICAL, _CHUNK = 40, 256, 1 << 12
_MOST_STEPS, _MOST_WIDTH, _MOST_RATE = 10**6, 1 << 14, 1e30
_AVERAGE = TailAverage(frequency=0.3)
_LINE = 16  # floats of a cache line: rows of such lengths are computed alike in every slot


@dataclass(frozen=True, slots=True)
class PlanPrice(FitPrice):
    """The price of a fit that is a training: that of its plan."""

    plan: Plan

    @property
    def mu(self) -> None:
        """A plan is told by its whole curve, which may be no Gaussian one."""
        return

    @property
    def guarantee(self) -> Guarantee:
        """What the plan guarantees."""
        return self.plan.guarantee

    @property
    def loss(self) -> PrivacyLoss:
        """The whole curve of the plan."""
        return self.plan.loss

    def under(self, budget: Guarantee) -> Guarantee:
        """Return what a ledger with a budget is charged."""
        return self.plan.under(budget)


@dataclass(eq=False, repr=False, kw_only=True)
class PlannedEstimator(PrivateEstimator):
    """What estimators share that `train` fits by a plan: the plan is the price, and weights are what is kept.

    Args:
        unit: the word for who is protected, whose one row is all that counts; `fit_session` takes the ledger's.
    """

    unit: str | None = None

    def telling(self, progress: Progress | None) -> Self:
        """Have the next fit tell how many of its steps are done; both numbers are public.

        A fit that is refused, or fails, is not the next one; a model that a ledger had stored is handed out without a
        step, and nothing is told.

        Args:
            progress: called with the number of steps that are done, and that of all steps; None to tell nobody.
        """
        if progress is None:
            self.__dict__.pop("_progress", None)
        else:
            self._progress = progress
        return self

    def _hand_over(self, fresh: Self) -> None:
        fresh.telling(self.__dict__.get("_progress"))

    def _become(self, fresh: Self) -> None:
        self.telling(None)
        fresh.telling(None)  # a model that was stored was not trained again
        super()._become(fresh)

    def _public(self, features: int, *, rows: int = 1) -> Public:
        public = super()._public(features, rows=rows)
        if rows > 1:
            raise ParameterError(
                "a unit must have one row for a network; got a table in which it may have more, write rows = 1 in the "
                "policy, or train(..., rows=...) with the rows of a unit side by side",
                parameter="rows",
            )
        stated = public.price.stated
        if stated.epsilon is None or stated.delta is None:
            raise MissingParameter(
                "epsilon and delta must be given, because a training is priced by its whole curve; got another price, "
                "write epsilon=1, delta=1e-6, for example",
                parameter="epsilon",
            )
        plan = self._plan_for(public, stated.epsilon, stated.delta)
        found = replace(public, price=PlanPrice(stated, public.price.relation, plan))
        self._preparation(found).steps(self._tensors(found, np.empty((0, features)), np.empty(0)))  # refuses the rest
        return found

    @abstractmethod
    def _plan_for(self, public: Public, epsilon: Number, delta: Number) -> Plan:
        """Return the plan by the public rule."""

    @abstractmethod
    def _preparation(self, public: Public) -> Preparation:
        """Return the training of a new model by the plan of a price."""

    @abstractmethod
    def _tensors(self, public: Public, features: Floats, beside: Any) -> tuple[Any, Any]:
        """Return rows and targets as the model reads them."""

    def _noise(self, public: Public) -> Mapping[str, float]:
        plan = plan_of(public.price)
        return {"mean gradient": float(plan.noise.scale) * float(plan.clip.norm) / float(plan.divisor)}

    @property
    def _price(self) -> FitPrice:
        """The price of the fit, from the plan that was trained by: a stored model keeps the plan, and no curve."""
        plan = self.training_plan_
        return PlanPrice(Price.read(epsilon=self.epsilon, delta=self.delta, accepts=("epsilon",)), plan.relation, plan)

    @_price.setter
    def _price(self, price: FitPrice) -> None:
        self.training_plan_ = plan_of(price)

    def _learn(self, public: Public, rows: FitRows, measurements: Measurements) -> None:  # noqa: ARG002
        self._low, self._high = public.low, public.high
        beside = rows.targets if public.classes is None else rows.codes
        made = self._preparation(public)
        found = train(
            made.model, self._tensors(public, rows.features, beside), made.plan, made.loss,
            optimizer=made.optimizer, physical=made.physical, average=made.average,
            progress=self.__dict__.pop("_progress", None),  # of this fit alone: what stays is stored
        )  # fmt: skip
        self.weights_ = {name: one.detach().cpu().numpy() for name, one in found.model.state_dict().items()}

    def _stated_unit(self) -> str:
        """Return who is protected, or raise an error where nobody said it."""
        if self.unit is None:
            raise MissingParameter(
                "unit must say who is protected, and whose one row is all that counts; got none, write "
                "unit='person', for example",
                parameter="unit",
            )
        return self.unit


@dataclass(eq=False, repr=False, kw_only=True)
class DeepEstimator(PlannedEstimator):
    """What networks share: a plan by a public rule, weights that were released, and a module to put them into.

    Args:
        module: a torch module that takes rows of features in [-1, 1]; without one, layers of tanh units.
        hidden: the widths of the hidden layers, where no module is given; () is a linear model. They are rounded up
            to multiples of 16, and rows are filled up with zeros, so that a row is computed alike in every slot.
        steps: the number of steps, 40 if none is given.
        batch: how many people are expected in a step; up to 65,536 people it is everyone if none is given.
        learning_rate: the length of steps; by a public rule if none is given.
        norm: the length that the gradient of one person is clipped to.
    """

    module: Any = None
    hidden: Sequence[int] = (64,)
    steps: int | None = None
    batch: int | None = None
    learning_rate: float | None = None
    norm: Number = 1.0

    def fit_session(
        self, session: Session, table: str, features: Sequence[str], target: str | None = None, **price: Any
    ) -> Self:
        """Learn from a table of a session, as every estimator does; a module of one's own is trained by `fit`.

        Args:
            session: an open session.
            table: a private table in which a unit has one row.
            features: the columns to learn from.
            target: the column to be predicted.
            price: the price, or `people`, instead of those of the constructor.
        """
        if self.module is not None:
            raise ParameterError(
                "module must be left out in fit_session, because the ledger finds a model again by its parameters, and "
                "a module has no text; got one, write hidden=(64,), or fit(X, y, session=...). Nothing was spent.",
                parameter="module",
            )
        return super().fit_session(session, table, features, target, **price)

    def _plan_for(self, public: Public, epsilon: Number, delta: Number) -> Plan:
        """Return the plan by the public rule."""
        people = public.neighbors.people
        steps = _STEPS if self.steps is None else whole_number(self.steps, name="steps", least=1, most=_MOST_STEPS)
        batch = _MOST_FULL if self.batch is None else whole_number(self.batch, name="batch", least=1, most=1 << 40)
        sampler: BatchSampler = FullBatch() if batch >= people else PoissonBatches(rate=batch / people)
        return Plan.for_target(
            epsilon=epsilon,
            delta=delta,
            sampler=sampler,
            clip=Clip(self.norm),
            steps=steps,
            unit=self._stated_unit(),
            relation=public.neighbors.relation,
            divisor=min(batch, people),
            noise=IndependentNoise,
        )

    def _preparation(self, public: Public) -> Preparation:
        network = self._network(public.features, self._outputs(public))
        return Preparation(
            model=network,
            plan=plan_of(public.price),
            loss=self._loss(public),
            optimizer=partial(torch.optim.SGD, lr=self._rate(public, network), momentum=0.5),
            physical=_PHYSICAL,
            rows=1,
            average=_AVERAGE,
        )

    def _network(self, features: int, outputs: int) -> Any:
        """Return the module that is trained: a copy of the one that was given, or layers of tanh units."""
        if self.module is not None:
            if not isinstance(self.module, torch.nn.Module):
                raise ParameterError(
                    f"module must be a torch module; got {type(self.module).__name__}, write torch.nn.Linear(30, 2), "
                    "for example, or leave it out",
                    parameter="module",
                )
            return copy.deepcopy(self.module)
        if not isinstance(self.hidden, Sequence) or isinstance(self.hidden, str):
            raise ParameterError(
                f"hidden must be a list of widths; got {type(self.hidden).__name__}, write hidden=(64,), or () for a "
                "linear model",
                parameter="hidden",
            )
        inner = [whole_number(one, name="hidden", least=1, most=_MOST_WIDTH) for one in self.hidden]
        widths = [*(one + -one % _LINE for one in (features, *inner)), outputs]
        layers: list[Any] = []
        for before, after in pairwise(widths):
            layers += [torch.nn.Linear(before, after), torch.nn.Tanh()]
        return torch.nn.Sequential(*layers[:-1])

    def _rate(self, public: Public, network: Any) -> float:
        """Return the length of steps: that of the constructor, or as long as the noise allows."""
        if self.learning_rate is None:
            if public.classes is None:  # the curvature of a squared error grows with the rows
                return 1.0 / max(1.0, public.features / 16)
            return min(max(0.8 * math.sqrt(self._signal(public, network)), 1.0), 8.0)
        stated = self.learning_rate
        if isinstance(stated, bool) or not isinstance(stated, int | float) or not 0 < stated < _MOST_RATE:
            raise ParameterError(
                f"learning_rate must be a positive number; got {as_stated(stated)}, write learning_rate=1.0, for "
                "example",
                parameter="learning_rate",
            )
        return float(stated)

    def _signal(self, public: Public, network: Any) -> float:
        """Return how far a mean gradient is above its noise, over all steps."""
        plan = plan_of(public.price)
        weights = sum(one.numel() for one in network.parameters() if one.requires_grad)
        return float(plan.divisor) * math.sqrt(plan.steps) / (float(plan.noise.scale) * math.sqrt(max(weights, 1)))

    def _plan(self, public: Public) -> Mapping[str, Any]:
        plan, network = plan_of(public.price), self._network(public.features, self._outputs(public))
        return {
            "unit": plan.unit,
            "steps": plan.steps,
            "batches": plan.sampler.name,
            "expected batch": float(plan.divisor),
            "norm of a gradient": float(plan.clip.norm),
            "noise multiplier": float(plan.noise.scale),
            "learning rate": self._rate(public, network),
            "weights": sum(one.numel() for one in network.parameters() if one.requires_grad),
        }

    def _expect(self, public: Public) -> str:
        return regime(self._signal(public, self._network(public.features, self._outputs(public))))

    def _tensors(self, public: Public, features: Floats, beside: Any) -> tuple[Any, Any]:
        """Return rows in [-1, 1] and targets; a row with a cell that is no number gets a target that counts nothing."""
        lines, counted = in_unit_box(features, public.low, public.high)
        inputs = self._inputs(lines)
        if public.classes is not None:
            return inputs, torch.from_numpy(np.where(counted, beside, len(public.classes)).astype(np.int64))
        aims = scaled_targets(np.asarray(beside, dtype=np.float64), public.target or (0.0, 1.0))
        return inputs, torch.from_numpy(np.where(counted, aims, np.nan)).to(torch.float32)

    def _inputs(self, lines: Floats) -> Any:
        """Return rows as a tensor, filled up with zeros for the network that is made here."""
        rows = torch.from_numpy(np.ascontiguousarray(lines.T)).to(torch.float32)
        return rows if self.module is not None else torch.nn.functional.pad(rows, (0, -len(lines) % _LINE))

    def _said(self, features: Floats, outputs: int) -> Floats:
        """Return what the trained network says of rows."""
        network = self._network(features.shape[1], outputs)
        network.load_state_dict({name: torch.from_numpy(np.array(one)) for name, one in self.weights_.items()})
        network.eval()
        inputs = self._inputs(in_unit_box(filled(features, self._low, self._high), self._low, self._high)[0])
        with torch.no_grad():
            parts = [network(inputs[at : at + _CHUNK]) for at in range(0, len(inputs), _CHUNK)]
        said = torch.cat(parts) if parts else torch.zeros((0, outputs))
        return np.asarray(said.reshape(len(inputs), outputs).to(torch.float64).numpy())

    def _outputs(self, public: Public) -> int:
        return 1 if public.classes is None else len(public.classes)

    def _loss(self, public: Public) -> Any:
        return SquaredError((-1.0, 1.0)) if public.classes is None else CrossEntropy(len(public.classes))


@dataclass(eq=False, repr=False, kw_only=True)
class DeepClassifier(DeepEstimator, PrivateClassifier):
    """A network for classes, trained by `train` with a plan that a public rule makes.

    Privacy. (epsilon, delta)-DP under the stated relation for one unit, by the plan `training_plan_`; `loss_` is its
        whole curve.
        Proof: rows become tensors one by one, with public bounds and classes; the rest is that of `train`.
    Accuracy. The signal, people times mu over the root of the number of weights, says what to expect.

    >>> from discreet.privacy import Relation
    >>> rows = np.repeat([[0.1, 0.2], [0.9, 0.7]], 500, axis=0)
    >>> model = DeepClassifier(
    ...     epsilon=2,
    ...     delta=1e-6,
    ...     relation=Relation.ADD_REMOVE,
    ...     people=1000,
    ...     unit="person",
    ...     bounds=(0, 1),
    ...     classes=["a", "b"],
    ...     hidden=(),
    ... )
    >>> model.fit(rows, ["a"] * 500 + ["b"] * 500).predict([[0, 0.1], [1, 0.8]])
    array(['a', 'b'], dtype='<U1')
    """

    def _scores(self, features: Floats) -> Floats:
        return self._said(features, len(self.classes_))


@dataclass(eq=False, repr=False, kw_only=True)
class DeepRegressor(DeepEstimator, PrivateRegressor):
    """A network for one number, trained by `train` with a plan that a public rule makes.

    Privacy. (epsilon, delta)-DP under the stated relation for one unit, by the plan `training_plan_`; `loss_` is its
        whole curve.
        Proof: rows become tensors one by one, with public bounds; targets are clipped to theirs; the rest is that of
        `train`.
    """

    def _learn(self, public: Public, rows: FitRows, measurements: Measurements) -> None:
        self._target = public.target or (0.0, 1.0)
        super()._learn(public, rows, measurements)

    def predict(self, X: Any) -> Floats:
        """Return a number for every row, within the declared bounds of the target."""
        said = self._said(self._seen(X), 1)[:, 0]
        low, high = self._target
        return np.asarray(np.clip(low + (said + 1) / 2 * (high - low), low, high))


def plan_of(price: FitPrice) -> Plan:
    """Return the plan of a price."""
    if not isinstance(price, PlanPrice):
        raise AssertionError("a network is priced by its plan")
    return price.plan
