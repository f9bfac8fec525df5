"""The secret batches of a training, laid into physical batches of a fixed number of slots."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.display import as_stated
from discreet.errors import ConflictingParameters, MissingParameter, ParameterError
from discreet.learning.deep.plan import BatchState, SecretBatches, uniform_slots

Places = NDArray[np.int64]
_MOST_PHYSICAL = 1 << 20


class SlottedBatches:
    """The batches of a plan's sampler, each as a list of physical batches: a row number for every slot, or -1.

    With `overflow='drop'` every step has the same number of physical batches, and rows get slots at random among all of
    them (`uniform_slots`). Otherwise rows fill slots in order, and there are as many physical batches as it takes, none
    for an empty batch.
    """

    def __init__(self, plan: Any, people: int, physical: int) -> None:
        self._plan, self._people, self._physical = plan, people, physical
        self.most = plan.sampler.physical_batches(plan.steps, physical)
        self.fixed_slots = getattr(plan.sampler, "overflow", "extend") == "drop"
        self._batches: SecretBatches | None = None

    @property
    def renewed_every(self) -> int | None:
        """After how many steps places are drawn anew, None where there are none, or they stay."""
        found: int | None = self._plan.sampler.renewed_every
        return found

    def begin(self, step: int, places: NDArray[np.int32] | None = None) -> None:
        """Be ready for a step, with the places that hold there, or None where they are drawn anew."""
        state = BatchState(step, places)
        self._batches = self._plan.sampler.batches(self._people, self._plan.steps, state=state)

    @property
    def places(self) -> NDArray[np.int32] | None:
        """The places of people for the next step: as secret as the rows."""
        return None if self._batches is None else self._batches.state.places

    def __iter__(self) -> Iterator[list[Places]]:
        return self

    def __next__(self) -> list[Places]:
        if self._batches is None:
            raise AssertionError("begin comes first")
        rows = next(self._batches)
        size = self._physical
        if self.fixed_slots:
            return list(uniform_slots(rows, self.most * size).reshape(self.most, size))
        count = -(-len(rows) // size)
        places = np.full(count * size, -1, dtype=np.int64)
        places[: len(rows)] = rows
        return list(places.reshape(count, size))


def stays_in_place(plan: Any) -> bool:
    """Say whether people are given places once, for all steps: without these places no training can be taken up."""
    return plan.sampler.renewed_every is None and plan.sampler.places(0) is not None


def stated_physical(sampler: Any, physical: Any) -> int:
    """Return the number of slots of a physical batch: that of the call or of the sampler, which must not differ."""
    known = sampler.physical
    if physical is None and known is None:
        raise MissingParameter(
            "physical must be given: how many rows are worked on at once, a public number that only memory and time "
            "depend on; got none, write physical=64, for example. Nothing was spent.",
            parameter="physical",
        )
    if physical is None:
        return int(known)
    if type(physical) is not int or not 1 <= physical <= _MOST_PHYSICAL:
        raise ParameterError(
            f"physical must be a whole number from 1 to {_MOST_PHYSICAL:,}; got {as_stated(physical)}, write "
            "physical=64, for example. Nothing was spent.",
            parameter="physical",
        )
    if known is not None and known != physical:
        raise ConflictingParameters(
            f"physical must be that of the plan's sampler, {known:,}; got {physical:,}, write it in one place. "
            "Nothing was spent.",
            parameter="physical",
        )
    return physical
