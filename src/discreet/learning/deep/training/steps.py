"""The steps of a training: draw who is in it, sum their clipped gradients, add noise, divide, move the weights."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NoReturn, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from discreet.errors import NotCopyable, StreamSpent
from discreet.learning.deep.noise import CorrelatedRelease, SecretSums
from discreet.learning.deep.training.averages import AveragedWeights
from discreet.learning.deep.training.rows import TrainingRows
from discreet.randomness.process import Process

Tensors = list[Any]


class Clipper(Protocol):
    """What sums the clipped gradients of one physical batch."""

    parameters: Any

    def __call__(self, inputs: Any, targets: Any, present: Any) -> Tensors:
        """Return the sum for each trainable parameter over the slots that are taken."""


class SecretSlots(Protocol):
    """What draws who is in a step, and in which slot of which physical batch."""

    @property
    def places(self) -> Any:
        """Where people are for several steps, None where steps are independent; as secret as the rows."""

    @property
    def renewed_every(self) -> int | None:
        """After how many steps places are drawn anew."""

    def begin(self, step: int, places: Any = None) -> None:
        """Be ready for a step, with the places of people that hold there."""

    def __next__(self) -> list[NDArray[np.int64]]:
        """Return the next step's physical batches."""


class TrainingSteps:
    """A training in progress: it belongs to one process, and every step of its plan is taken or passed over once.

    Everything that a step reads of the rows goes through `release`, a noisy sum; what follows, the division by a public
    number, the optimizer and the average, is post-processing. A step that nobody is in releases noise alone. A row for
    which the model or the loss raises an error, such as a word out of range, counts for nothing: whether it does is
    tried in a batch that holds this row alone.

    Rows are shown to `model` alone. What is handed out, at the end and in checkpoints, is `shown`: another copy, which
    gets the released weights and nothing else that a model may keep of its rows. While rows are read, warnings are
    silent; masks of dropout are the matter of the clipper.
    """

    def __init__(
        self,
        *,
        model: Any,
        shown: Any,
        rows: TrainingRows,
        clipper: Clipper,
        release: Any,
        batches: SecretSlots,
        optimizer: Any,
        divisor: float,
        steps: int,
        average: AveragedWeights | None,
    ) -> None:
        self.model, self._shown = model, shown
        self._rows, self._clipper, self._release = rows, clipper, release
        self._batches, self.optimizer, self._divisor = batches, optimizer, divisor
        self._parameters = list(clipper.parameters)
        self._average = average
        self._device = self._parameters[0].device
        self._owner = Process.here()
        self.steps, self.done, self.taken = steps, 0, 0

    def begin(self, *, at: int = 0, places: Any = None) -> None:
        """Be ready for the step with this number, from 0 on; steps before it that were not taken are lost."""
        self._require_own()
        if not self.done <= at <= self.steps:
            raise AssertionError("steps are taken or passed over in order")
        self.done = at
        self._batches.begin(at, places)

    def step(self) -> None:
        """Take the next step."""
        self._require_own()
        if self.done >= self.steps:
            raise StreamSpent(
                f"the plan has {self.steps:,} steps, and all were taken: a further one is not paid for; write a plan "
                "with more steps"
            )
        step, self.done = self.done, self.done + 1
        stopped: BaseException | None = None
        try:
            self._take(step)
        except (KeyboardInterrupt, SystemExit, GeneratorExit) as stop:
            stopped = next(one for one in _stops() if isinstance(stop, type(one)))
        if stopped is not None:  # outside of the handler: what a model or a row says when it stops is let go
            raise stopped

    def _take(self, step: int) -> None:
        """Do what a step does."""
        self._release.clear()  # a step that was interrupted leaves nothing to this one
        for places in next(self._batches):
            self._release.add(self._sums(places))
        noisy = self._release.release(step)
        torch._foreach_div_(noisy, self._divisor)
        for parameter, one in zip(self._parameters, noisy, strict=True):
            parameter.grad = one.to(dtype=parameter.dtype, device=parameter.device)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.taken += 1
        if self._average is not None:
            self._average.take(self.done, self.steps)

    def finish(self) -> None:
        """Put the average in the place of the last weights, where one is kept."""
        if self._average is not None and self.taken:
            self._average.give()

    @property
    def shown(self) -> Any:
        """A model that never saw a row, with the weights as they are now."""
        names = {id(one): name for name, one in self.model.named_parameters()}
        mine = dict(self._shown.named_parameters())
        with torch.no_grad():
            for one in self._parameters:
                mine[names[id(one)]].copy_(one)
        return self._shown

    def state(self, *, secrets: bool = False) -> dict[str, Any]:
        """Return what a checkpoint keeps; all of it was released, but `places` and `sums`, if `secrets` are kept."""
        self._require_own()
        secrets = secrets and self.done < self.steps  # at the end nothing needs them any more
        places = self._batches.places if secrets else None
        return {
            "done": self.done,
            "taken": self.taken,
            "model": {name: one.detach().clone() for name, one in self.shown.state_dict().items()},
            "optimizer": self.optimizer.state_dict(),
            "average": None if self._average is None else self._average.values,
            "places": None if places is None else torch.from_numpy(places),
            **self._history(secrets=secrets),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over weights, optimizer and average of a checkpoint, and how many steps are in them."""
        self.model.load_state_dict(state["model"])
        self._shown.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        if self._average is not None:
            self._average.restore(state["average"])
        self.done, self.taken = int(state["done"]), int(state["taken"])

    def go_on(self, state: Mapping[str, Any], *, at: int) -> None:
        """Be ready for the first step from `at` on that can be taken after a checkpoint, or for the end.

        Places of people hold until they are drawn anew. Those that another process drew later, and did not keep, are
        lost, and the steps until the next ones are passed over.

        Privacy. Correlated noise that begins anew costs no more than noise that goes on.
            Proof: sums of steps before the gap count as zero afterwards, so the matrix C' of coefficients that mixed
            the sums of steps is 0 wherever it is not that of the plan, C; both have no negative entry. What a person
            adds in steps t, vectors v_t of length at most D, moves the releases by sum_(s,t) (C'^T C')_(s,t) <v_s, v_t>
            squared, and <v_s, v_t> <= D^2 and (C'^T C')_(s,t) <= (C^T C)_(s,t): at most what the plan is priced for.
            Batches until the gap, and after it, are as the plan draws them: places are those that were drawn when they
            were last renewed, or are drawn anew where the plan does that.
        """
        at, every, kept = max(at, self.done), self._batches.renewed_every, state["places"]
        places = None if kept is None else kept.numpy()
        if every is not None and (places is None or at // every != self.done // every):
            at, places = min(-(-at // every) * every, self.steps), None
        if state["sums"] is not None:
            self._release.resume(state["recovered"], SecretSums.disclosed(state["sums"]), step=at)
        self.begin(at=at, places=places if at < self.steps else None)

    def _history(self, *, secrets: bool) -> dict[str, Any]:
        """Return the recent steps that correlated noise mixes in; without them it begins anew, at no other price."""
        if not secrets or not isinstance(self._release, CorrelatedRelease):
            return {"recovered": None, "sums": None}
        return {"recovered": self._release.recovered(), "sums": self._release.secret_sums().disclose()}

    def _sums(self, places: NDArray[np.int64]) -> Tensors:
        """Return the clipped sums of one physical batch; rows that cannot be summed count for nothing."""
        with suppress(Exception):  # looked into below, outside of the handler, so that nothing is chained to it
            return self._tried(places)
        kept = np.full_like(places, -1)
        self._tried(kept)  # what fails here is not the fault of a row
        for slot in np.flatnonzero(places >= 0).tolist():
            if self._sound(slot, places):
                kept[slot] = places[slot]
        return self._tried(kept)

    def _sound(self, slot: int, places: NDArray[np.int64]) -> bool:
        """Say whether a row can be summed when it is alone in its batch, so that no other row has a say in it."""
        alone = np.full(len(places), -1, dtype=np.int64)
        alone[slot] = places[slot]
        try:
            self._tried(alone)
        except Exception:
            return False
        return True

    def _tried(self, places: NDArray[np.int64]) -> Tensors:
        """Return the sums of some rows, without a warning that one of them may cause."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self._clipper(*self._rows.batch(places, self._device))

    def _require_own(self) -> None:
        if self._owner != Process.here():
            raise NotCopyable(
                "this training began in another process, which may go on with it: train with a checkpoint, and take it "
                "up when the other process has ended. Nothing more was drawn."
            )

    def _refuse_copy(self, *_: object) -> NoReturn:
        raise NotCopyable(
            "a training in progress cannot be copied or pickled: its steps would be drawn twice. Write "
            "checkpoint='training.checkpoint', and take that up."
        )

    __copy__ = __deepcopy__ = __reduce__ = _refuse_copy


def _stops() -> tuple[BaseException, ...]:
    """Return what may end a program amid a step, with no words of its own."""
    return KeyboardInterrupt(), SystemExit(1), GeneratorExit()
