"""Train a network by a plan: refuse or prepare first, charge, then take the plan's steps."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from discreet.display import Progress, listener
from discreet.errors import DiscreetError, MissingParameter, ParameterError
from discreet.learning.base import charged, stated_books
from discreet.learning.deep.plan import Plan
from discreet.learning.deep.training.averages import WeightAverage, stated_average
from discreet.learning.deep.training.batches import stays_in_place
from discreet.learning.deep.training.checkpoint import Checkpoint, stated_checkpoint
from discreet.learning.deep.training.interruptible import train_with_checkpoint
from discreet.learning.deep.training.preparation import Preparation
from discreet.learning.deep.training.steps import TrainingSteps
from discreet.learning.deep.training.trained_model import TrainedModel
from discreet.ledger import Charge, Ledger
from discreet.query.pricing import nothing_spent

if TYPE_CHECKING:
    from discreet.query import Session

_used: weakref.WeakValueDictionary[int, Plan] = weakref.WeakValueDictionary()


def train(
    model: Any,
    data: Any,
    plan: Plan,
    loss: Callable[[Any, Any], Any],
    *,
    optimizer: Callable[[Any], Any],
    physical: int | None = None,
    rows: int = 1,
    example: tuple[Any, Any] | None = None,
    session: Session | None = None,
    ledger: Ledger | None = None,
    analyst: str | None = None,
    checkpoint: Any = None,
    progress: Progress | None = None,
    average: WeightAverage | None = None,
    compiled: bool = False,
) -> TrainedModel:
    """Train a copy of a model on private rows; the charge, if there is a ledger, is durable before the first step.

    What is refused is refused before the charge: nothing is spent, and no message follows from a row. A row whose
    gradient is not finite, or for which model or loss raise an error, counts for nothing (clipped per layer: in the
    layers where it is not finite). A failure after the charge is one constant message. A plan that is trained by twice
    is charged twice; where nobody keeps books, the second time is refused.

    Args:
        model: a torch module; it stays as it is.
        data: two tensors (X, y) with a row a person, or a map-style Dataset of such pairs, with an `example`.
        plan: what is to be done and what it costs.
        loss: a function of what the model says and of the targets, which returns one number a row.
        optimizer: a function of the parameters that returns a torch optimizer, such as
            `lambda parameters: torch.optim.SGD(parameters, lr=0.5)`.
        physical: how many people are worked on at once; time and memory depend on it, the price does not.
        rows: how many rows a person has; the tensors then have shape (people, rows, ...).
        example: a made-up row, inputs and a target, of the shape and type that the rows of a Dataset have; a row of
            another shape or type counts for nothing.
        session: the session whose ledger is charged.
        ledger: the ledger that is charged, where there is no session.
        analyst: who trains, where the ledger knows several.
        checkpoint: a path or a `Checkpoint`; with it an interrupted training is taken up by the same call.
        progress: called with the number of steps that are done, and that of all steps.
        average: `ExponentialAverage` or `TailAverage` of the weights, instead of the last ones.
        compiled: whether forward, backward and clipping are made one function by torch's compiler, which pays on a
            graphics card; for `Float` noise alone, because exact sums are proven of operations as they are written.

    Privacy. The weights after every step, all of them together, keep the guarantee of the plan, under its relation, for
        one unit.
        Proof: batches are drawn by the plan's sampler (`SlottedBatches`), summed and clipped (`ClippedSum`), rounded to
        a grid that follows from public numbers, and released with the plan's noise in units of the distance that one
        person moves them (`GradientGrid`, `IntegerRelease`, `CorrelatedRelease`): that is the mechanism that `Plan`
        prices. At most as many physical batches are added as the grid assumes, since the sampler cuts longer ones.
        Which rows count for nothing is decided row by row. Masks of dropout are secret, drawn for a batch without
        regard to its rows. All else is post-processing: what is handed out is a model that never saw a row.
    Cost. See `ClippedSum.report`; with a checkpoint, two small files are synchronized for every block of steps.
    """
    kept, rule, tell = stated_checkpoint(checkpoint), stated_average(average), listener(progress)
    books = stated_books(session, ledger, analyst)
    try:
        _check(model, plan, optimizer, books, kept)
        prepared = Preparation(
            model=model, plan=plan, loss=loss, optimizer=optimizer, physical=physical, rows=rows, average=rule,
            example=example, compiled=compiled,
        )  # fmt: skip
        steps = prepared.steps(data)
    except DiscreetError as problem:
        raise nothing_spent(problem) from None
    description = f"training of {type(model).__name__}: {plan.steps:,} steps"
    charge: Charge | None
    if kept is not None and books is not None:
        charge = train_with_checkpoint(steps, kept, prepared.names(steps), plan, description, *books, tell)
    else:
        if books is None:
            _used[id(plan)] = plan
        charge = charged(lambda: _run(steps, tell), plan, description, session=session, ledger=ledger, analyst=analyst)
    steps.finish()
    return TrainedModel(
        model=steps.shown,
        plan=plan,
        cost=None if charge is None else charge.cost,
        charge=None if charge is None else charge.number,
        taken=steps.taken,
    )


def _run(steps: TrainingSteps, tell: Progress) -> None:
    """Take all steps."""
    steps.begin()
    while steps.done < steps.steps:
        steps.step()
        tell(steps.done, steps.steps)


def _check(model: Any, plan: Any, optimizer: Any, books: tuple[Ledger, str] | None, kept: Checkpoint | None) -> None:
    """Refuse what cannot be trained or charged, from what is public."""
    if not isinstance(model, torch.nn.Module):
        raise ParameterError(
            f"model must be a torch module; got {type(model).__name__}, write torch.nn.Linear(784, 10), for example",
            parameter="model",
        )
    if not isinstance(plan, Plan):
        raise ParameterError(
            f"plan must be a Plan; got {type(plan).__name__}, write Plan.for_target(epsilon=..., delta=..., ...)",
            parameter="plan",
        )
    if not callable(optimizer) or isinstance(optimizer, torch.optim.Optimizer):
        raise ParameterError(
            f"optimizer must be a function of the parameters; got {type(optimizer).__name__}, write "
            "optimizer=lambda parameters: torch.optim.SGD(parameters, lr=0.5)",
            parameter="optimizer",
        )
    if kept is not None and books is None:
        raise MissingParameter(
            "ledger must be given with a checkpoint, because a file can be copied and put back, and only a ledger can "
            "say which steps were drawn; got none, write ledger=SqliteLedger.open(...) or session=...",
            parameter="ledger",
        )
    if kept is not None and not kept.secrets and stays_in_place(plan):
        raise ParameterError(
            "secrets must be kept in a checkpoint where people stay in one group for the whole training; got "
            "secrets=False, write Checkpoint(path, secrets=True), and guard the file like the rows",
            parameter="checkpoint",
        )
    if books is None and _used.get(id(plan)) is plan:
        raise ParameterError(
            "plan must be used once where nobody keeps books, because two trainings cost more than it says; got one "
            "that was used, write ledger=..., which is charged for each, or another Plan, and add the two prices up",
            parameter="plan",
        )
    if books is not None:
        if books[0].terms.unit != plan.unit:
            raise ParameterError(
                f"unit must be that of the ledger ({books[0].terms.unit!r}); got {plan.unit!r}, write a plan with "
                f"unit={books[0].terms.unit!r}, where a row of the data is all of one such unit",
                parameter="unit",
            )
        plan.under(books[0].terms.budget)
