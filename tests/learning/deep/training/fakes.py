"""A training without noise and without sampling: what the tests of interruptions count and compare."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from discreet.learning.deep.training.averages import AveragedWeights, TailAverage  # noqa: E402
from discreet.learning.deep.training.rows import TrainingRows  # noqa: E402
from discreet.learning.deep.training.steps import TrainingSteps  # noqa: E402
from discreet.ledger import Terms  # noqa: E402
from discreet.privacy import ApproxDP, Relation  # noqa: E402

PEOPLE, PHYSICAL, CLASSES = 20, 4, 3


class PricedSteps:
    """What interruptions need of a plan: a name, a number of steps, a price."""

    relation = Relation.ADD_REMOVE

    def __init__(self, steps: int, digest: str = "a") -> None:
        self.steps, self.digest = steps, digest

    def under(self, budget: Any) -> ApproxDP:  # noqa: ARG002
        """Return the price."""
        return ApproxDP(0.5, 1e-6, relation=self.relation)


class CountingSum:
    """Adds up without noise, and calls `seen` with every step that it releases."""

    def __init__(self, seen: Callable[[int], None]) -> None:
        self._seen, self._parts = seen, []

    def add(self, sums: list[Any]) -> None:
        self._parts.append(sums)

    def clear(self) -> None:
        self._parts = []

    def release(self, step: int) -> list[Any]:
        self._seen(step)
        parts, self._parts = self._parts, []
        return [torch.stack(one).sum(dim=0) for one in zip(*parts, strict=True)]


class PlainSum:
    """The sum of unclipped gradients over the slots that are taken."""

    def __init__(self, model: Any) -> None:
        self.model, self.parameters = model, list(model.parameters())

    def __call__(self, inputs: Any, targets: Any, present: Any) -> list[Any]:
        losses = torch.nn.functional.cross_entropy(self.model(inputs), targets, reduction="none")
        chosen = torch.where(present, losses, torch.zeros(()))
        return [one.double() for one in torch.autograd.grad(chosen.sum(), self.parameters)]


class FullSlots:
    """Full batches, cut into physical ones."""

    places, renewed_every = None, None

    def __init__(self, people: int) -> None:
        places = np.full(-(-people // PHYSICAL) * PHYSICAL, -1, dtype=np.int64)
        places[:people] = np.arange(people)
        self._slots = list(places.reshape(-1, PHYSICAL))

    def begin(self, step: int, places: Any = None) -> None:
        pass

    def __next__(self) -> list[Any]:
        return self._slots


def rows(people: int = PEOPLE) -> TrainingRows:
    """Return made-up rows."""
    random = np.random.default_rng(1)
    inputs = torch.from_numpy(random.normal(size=(people, 2)).astype(np.float32))
    return TrainingRows((inputs, torch.from_numpy(random.integers(0, CLASSES, people))), 1 << 28)


def made(steps: int, seen: Callable[[int], None] = lambda _: None, data: TrainingRows | None = None) -> TrainingSteps:
    """Return a training of a small model, the same each time."""
    model = torch.nn.Linear(2, CLASSES)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    held = rows() if data is None else data
    return TrainingSteps(
        model=model,
        shown=copy.deepcopy(model),
        rows=held,
        clipper=PlainSum(model),
        release=CountingSum(seen),
        batches=FullSlots(len(held)),
        optimizer=torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9),
        divisor=PEOPLE,
        steps=steps,
        average=AveragedWeights(TailAverage(frequency=0.5), list(model.parameters())),
    )


def terms() -> Terms:
    """Return the terms of a ledger with room for two trainings."""
    budget = ApproxDP(4, 1e-5, relation=Relation.ADD_REMOVE)
    return Terms(lineage="trial", unit="person", budget=budget, caps={"ann": None})


def appending(path: Path) -> Callable[[int], None]:
    """Return a function that adds a line to a file for every step: what was written there, no kill takes back."""

    def write(step: int) -> None:
        with path.open("a", encoding="ascii") as file:
            file.write(f"{step}\n")

    return write


def quiet(done: int, total: int | None) -> None:
    """Say nothing."""
