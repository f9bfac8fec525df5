"""The secret batches of a training: drawn exactly, one a step, and continued after a crash without repeating one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, NotCopyable, ParameterError
from discreet.privacy.numbers import whole
from discreet.randomness import words
from discreet.randomness.process import Process

Indices = NDArray[np.int64]
Places = NDArray[np.int32]


class _Draws(Protocol):
    """What a sampler draws: where each person belongs for some steps, and the batch of one step."""

    @property
    def below(self) -> int:
        """The number of people that no table reaches."""

    @property
    def renewed_every(self) -> int | None:
        """After how many steps places are drawn anew; None if a sampler has no places, or draws them once."""

    def places(self, people: int) -> Places | None:
        """Draw where each person belongs, or None where batches are independent."""

    def batch(self, step: int, people: int, places: Places | None) -> Indices:
        """Draw the batch of a step."""

    def most_rows(self, steps: int) -> int:
        """Return the number of rows beyond which a batch is cut."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BatchState:
    """Where a training stands: the next step, and the places that people have now.

    Places are as secret as the rows: whoever knows in which bin a person was is not deceived by sampling. A checkpoint
    that holds them must be guarded like the data. Without places (Poisson, full batches) only the step is in it.
    """

    step: int
    places: Places | None = None

    @property
    def is_secret(self) -> bool:
        """Whether places are in it."""
        return self.places is not None

    def __repr__(self) -> str:
        return f"BatchState(step={self.step}{', with secret places' if self.is_secret else ''})"


class SecretBatches:
    """The batches of a training from a step on, as an iterator of row numbers.

    Privacy. Given the places, the batch of a step is independent of all others, and places are drawn once for the steps
        they are for; so a run that stops after step t and goes on at t + 1 with the same state has the batches that the
        run without a stop would have had, in law. A batch is drawn when it is asked for and never kept.
        Proof: Poisson and full batches have no places, and every step draws fresh coins. Bins: the places of an epoch
        decide all its batches, and `state` holds them from the first batch of the epoch on. Cyclic: places are drawn
        once, coins afresh at every step.

    The object belongs to the process that made it, and cannot be copied or pickled: two of them would show the same
    people twice. Pass `state` on instead, once.

    >>> from discreet.learning.deep.plan.samplers import FullBatch
    >>> [batch.tolist() for batch in FullBatch().batches(3, steps=2)]
    [[0, 1, 2], [0, 1, 2]]
    """

    __slots__ = ("_cap", "_drawn", "_owner", "_people", "_places", "_step", "_steps")

    def __init__(self, drawn: _Draws, people: int, steps: int, state: BatchState | None = None) -> None:
        self._drawn, self._steps = drawn, whole(steps, name="steps")
        self._people = _rows_below(people, drawn.below)
        self._cap = drawn.most_rows(self._steps)
        self._owner = Process.here()
        self._step, self._places = (0, None) if state is None else (state.step, state.places)
        if not 0 <= self._step <= self._steps:
            raise ParameterError(
                f"a state must be of a step up to {self._steps}; got one beyond the plan, write the state of this "
                "training",
                parameter="state",
            )
        if self._places is not None and self._places.shape != (self._people,):
            raise InputError("the state must be of the same table; got one of another, write the state of this one")
        if self._places is None and not self._begins():
            raise ParameterError(
                "the state must hold the places that were drawn when they were last renewed; got none, write the state "
                "that was stored, or go on at the step where places are drawn anew",
                parameter="state",
            )

    @property
    def state(self) -> BatchState:
        """What the next step needs: store it before the step, guarded like the data if it `is_secret`."""
        self._own()
        self._place()
        return BatchState(self._step, self._places)

    def __iter__(self) -> SecretBatches:
        return self

    def __next__(self) -> Indices:
        self._own()
        if self._step >= self._steps:
            raise StopIteration
        self._place()
        batch = self._drawn.batch(self._step, self._people, self._places)[: self._cap]
        self._step += 1
        if self._step % (self._drawn.renewed_every or self._steps) == 0:
            self._places = None
        return batch

    def _place(self) -> None:
        """Draw the places of the next step where none are there."""
        if self._places is None and self._step < self._steps:
            self._places = self._drawn.places(self._people)

    def _begins(self) -> bool:
        """Say whether the next step needs no places that were drawn before it."""
        every = self._drawn.renewed_every
        without = every is None and self._drawn.places(0) is None
        return without or self._step in (0, self._steps) or (every is not None and self._step % every == 0)

    def _own(self) -> None:
        if self._owner != Process.here():
            raise NotCopyable(
                "secret batches must stay in the process that drew them; got a fork of it, write the training there"
            )

    def _refuse_copy(self) -> NoReturn:
        raise NotCopyable(
            "secret batches must not be copied or pickled, because the same people would be drawn twice; write "
            "sampler.batches(people, steps, state=batches.state) in the run that goes on"
        )

    def __copy__(self) -> NoReturn:
        self._refuse_copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> NoReturn:
        self._refuse_copy()

    def __reduce__(self) -> NoReturn:
        self._refuse_copy()

    def __repr__(self) -> str:
        return f"<SecretBatches: step {self._step} of {self._steps}>"


def uniform_slots(rows: Indices, slots: int) -> Indices:
    """Return a row number for each slot, -1 where it stays empty: rows get different slots, all choices equally likely.

    Privacy. On neighboring batches the slots of all others can be taken to be the same, and the slot of the person who
        is in one of them is empty in the other.
        Proof: a uniformly random order of the slots is drawn (the order of independent random words, all drawn again if
        two are equal), and row i gets slot i of it. Any k slots given to k rows in turn are equally likely, whatever
        the rows; so a uniform choice for k - 1 rows is a uniform choice for k rows of which one is taken out.

    >>> sorted(uniform_slots(np.array([7, 9]), 4).tolist())
    [-1, -1, 7, 9]
    """
    size = whole(slots, name="slots")
    if len(rows) > size:
        raise ParameterError(f"a batch must fit into its slots; got {size} slots, write more", parameter="slots")
    while True:
        keys = words(size)
        order = np.argsort(keys, kind="stable")
        if not np.any(np.diff(keys[order]) == 0):
            break
    placed = np.full(size, -1, dtype=np.int64)
    placed[order[: len(rows)]] = rows
    return placed


def _rows_below(people: object, below: int) -> int:
    """Return the private number of rows; nothing of it is in a message."""
    if isinstance(people, bool) or not isinstance(people, int | np.integer) or people < 0:
        raise ParameterError("people must be the number of rows of the table, a whole number", parameter="people")
    if people >= below:
        raise InputError(
            f"the table must have fewer than {below:,} people, which the plan assumes by name; got another, write "
            "most_people= of a number that no table of yours reaches"
        )
    return int(people)
