"""A training made ready before anything is charged: whatever can be refused without a row is refused here."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import torch

from discreet.errors import AssumptionFailed, DiscreetError, ParameterError
from discreet.learning.deep.clip import ClippedSum
from discreet.learning.deep.noise import CorrelatedRelease, FloatRelease, GradientGrid, IntegerRelease
from discreet.learning.deep.plan import Plan
from discreet.learning.deep.training.averages import AveragedWeights, WeightAverage
from discreet.learning.deep.training.batches import SlottedBatches, stated_physical
from discreet.learning.deep.training.rows import TrainingRows
from discreet.learning.deep.training.steps import TrainingSteps


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """What is public about a training: the model, the plan, the loss, and how weights are moved."""

    model: Any
    plan: Plan
    loss: Callable[[Any, Any], Any]
    optimizer: Callable[[Any], Any]
    physical: Any
    rows: int
    average: WeightAverage | None
    example: Any = None
    compiled: bool = False

    def steps(self, data: Any) -> TrainingSteps:
        """Return the training of a copy of the model on these rows, ready to begin."""
        plan, size = self.plan, stated_physical(self.plan.sampler, self.physical)
        mine, shown = _copied(self.model), _copied(self.model)
        floats = next((one.dtype for one in mine.parameters() if one.is_floating_point()), torch.float32)
        held = TrainingRows(data, plan.sampler.below - 1, floats=floats, rows=self.rows, example=self.example)
        batches = SlottedBatches(plan, len(held), size)
        clipped = self._clipped(mine, held.example, size)
        if plan.exact and not batches.fixed_slots and not clipped.slot_independent:
            raise AssumptionFailed(
                "a row of this model must be computed alike in every slot of a batch on this machine; got another "
                "result in another slot, as with dropout, or with some activations unless physical is a multiple of "
                "64, write physical=64, a model without dropout, or PoissonBatches(rate=..., overflow='drop', "
                "most_people=...), which gives rows slots at random (rate=1 is everyone)"
            )
        shown.load_state_dict(mine.state_dict())  # a lazy layer has tensors from its first made-up row on
        _try_optimizer(shown, self.optimizer)
        return TrainingSteps(
            model=mine,
            shown=shown,
            rows=held,
            clipper=clipped,
            release=_release(plan, clipped, batches, size),
            batches=batches,
            optimizer=self.optimizer(list(clipped.parameters)),
            divisor=float(plan.divisor),
            steps=plan.steps,
            average=None if self.average is None else AveragedWeights(self.average, clipped.parameters),
        )

    def _clipped(self, model: Any, example: tuple[Any, Any], size: int) -> ClippedSum:
        """Return the clipped sums of a model, which is tried on made-up rows: what that says is public."""
        try:
            return ClippedSum(
                model, self.loss, self.plan.clip, physical=size, exact=self.plan.exact, example=example, rows=self.rows,
                compiled=self.compiled,
            )  # fmt: skip
        except DiscreetError:
            raise
        except Exception as problem:
            words = f"{type(problem).__name__}: {str(problem)[:200]}"
        raise ParameterError(
            "model and loss must take made-up rows of the shapes and types of the data; got an error from them, write "
            f"others, or another shape of the data ({words})",
            parameter="model",
        )

    def names(self, steps: TrainingSteps) -> dict[str, str]:
        """Return the digests of what a checkpoint must share with a training that takes it up."""
        rule = None if self.average is None else self.average.words()
        way = [type(steps.optimizer).__name__, rule, stated_physical(self.plan.sampler, self.physical), self.rows]
        words = _model_words(steps.model)
        return {"plan": self.plan.digest, "model": _digest(words), "way of training": _digest(way)}


def _release(plan: Plan, clipped: Any, batches: SlottedBatches, physical: int) -> Any:
    """Return what adds the batches of a step up and releases them with the plan's noise."""
    shapes = [tuple(one.shape) for one in clipped.parameters]
    device = clipped.parameters[0].device
    if not plan.exact:
        deviation = float(Fraction(plan.noise.scale) * Fraction(plan.clip.norm))
        return FloatRelease(shapes, deviation=deviation, steps=plan.steps, device=device)
    grid = GradientGrid(
        norm=Fraction(plan.clip.norm),
        dimension=clipped.dimension,
        physical=physical,
        batches=batches.most,
        summation_error=Fraction(clipped.summation_error),
        scale=Fraction(plan.noise.scale),
        fixed_slots=batches.fixed_slots,
        sizes=tuple(clipped.sizes),
    )
    coefficients = plan.noise.coefficients(plan.steps)
    if len(coefficients) == 1:
        return IntegerRelease(grid, shapes, steps=plan.steps, device=device)
    return CorrelatedRelease(grid, shapes, steps=plan.steps, coefficients=coefficients, device=device)


def _copied(model: Any) -> Any:
    """Return a copy of a model, or raise an error where it has none."""
    try:
        return copy.deepcopy(model)
    except Exception as problem:
        words = type(problem).__name__
    raise ParameterError(
        f"model must be one that copy.deepcopy copies; got {words} from it, write it without tensors that were "
        "computed from others",
        parameter="model",
    )


def _try_optimizer(model: Any, optimizer: Any) -> None:
    """Take a step of the optimizer with made-up gradients, on a copy: what fails would fail after the charge."""
    trial = copy.deepcopy(model)
    parameters = [one for one in trial.parameters() if one.requires_grad]
    try:
        made = optimizer(parameters)
        for one in parameters:
            one.grad = torch.full_like(one, 1e-3)
        made.step()
        made.load_state_dict(made.state_dict())
        made.zero_grad(set_to_none=True)
    except Exception as problem:
        raise ParameterError(
            f"optimizer must make steps with the parameters of the model; got {type(problem).__name__} on made-up "
            "gradients, write optimizer=lambda parameters: torch.optim.SGD(parameters, lr=0.5), for example",
            parameter="optimizer",
        ) from None
    mine = {id(one) for one in parameters}
    if any(id(one) not in mine for group in getattr(made, "param_groups", ()) for one in group["params"]):
        raise ParameterError(
            "optimizer must move the parameters that it is given, those of a copy of the model; got others, write "
            "optimizer=lambda parameters: torch.optim.SGD(parameters, lr=0.5), for example",
            parameter="optimizer",
        )


def _model_words(model: Any) -> list[Any]:
    """Return what two models must share for the one to go on with the weights of the other."""
    modules = [[name, type(one).__qualname__] for name, one in model.named_modules()]
    tensors = [[name, list(one.shape), str(one.dtype)] for name, one in model.state_dict().items()]
    return [modules, tensors, [name for name, one in model.named_parameters() if one.requires_grad]]


def _digest(words: Any) -> str:
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()
