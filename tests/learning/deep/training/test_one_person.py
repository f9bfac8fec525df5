"""One person moves the integers of a step by no more than the noise is made for, from the rows to the sums."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from discreet.learning.deep.clip import CrossEntropy  # noqa: E402
from discreet.learning.deep.noise import IntegerRelease  # noqa: E402
from discreet.learning.deep.plan import Clip, IndependentNoise, Plan, PoissonBatches, uniform_slots  # noqa: E402
from discreet.learning.deep.training import batches, train  # noqa: E402
from discreet.privacy import Relation  # noqa: E402

PEOPLE, CLASSES, PHYSICAL = 50, 3, 8
RANDOM = np.random.default_rng(12)
SIZES = 10.0 ** RANDOM.integers(-20, 20, (PEOPLE, 1))  # huge rows and tiny ones
X = torch.from_numpy(RANDOM.normal(size=(PEOPLE, 4)) * SIZES).float()
Y = torch.from_numpy(RANDOM.integers(0, CLASSES, PEOPLE))


def one_step(overflow: str, mode: str, kept: Any) -> None:
    torch.manual_seed(3)
    model = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.ReLU(), torch.nn.Linear(5, CLASSES))
    plan = Plan(
        sampler=PoissonBatches(rate=0.5, overflow=overflow, most_people=100),
        clip=Clip(0.3, mode),
        noise=IndependentNoise(1.0),
        steps=1,
        unit="person",
        relation=Relation.ADD_REMOVE,
        divisor=PEOPLE,
    )
    sgd = partial(torch.optim.SGD, lr=1.0)
    train(model, (X[kept], Y[kept]), plan, CrossEntropy(CLASSES), optimizer=sgd, physical=PHYSICAL)


@pytest.mark.theorem("train.privacy")
@pytest.mark.parametrize("overflow", ["extend", "drop"])
@pytest.mark.parametrize("mode", ["flat", "per layer", "normalized"])
def test_one_person_moves_the_sums_of_a_step_by_no_more_than_the_noise_is_made_for(overflow, mode, rounds, monkeypatch):
    # With `extend` all after the one who leaves move to other slots and batches; with `drop` they keep theirs, as the
    # proof couples them.
    taken: list[Any] = []

    def without_noise(self: IntegerRelease, _: int) -> Any:
        taken.append((self._sums.take(), self.grid.distance))
        return taken[-1][0].clone()

    slots: list[Any] = []  # the people in them, of all PEOPLE
    missing: list[int] = []

    def laid(rows: Any, count: int) -> Any:
        if not missing:
            slots[:] = uniform_slots(rows, count).tolist()
            return np.array(slots)
        return np.array([-1 if who in (-1, missing[0]) else who - (who > missing[0]) for who in slots])

    monkeypatch.setattr(IntegerRelease, "_noisy", without_noise)
    monkeypatch.setattr(PoissonBatches, "batch", lambda _, __, people, ___: np.arange(people))
    monkeypatch.setattr(batches, "uniform_slots", laid)
    for place in RANDOM.integers(0, PEOPLE, rounds(sample=3, full=200)).tolist():
        missing.clear()
        one_step(overflow, mode, np.arange(PEOPLE) >= 0)
        missing.append(place)
        one_step(overflow, mode, np.arange(PEOPLE) != place)
        (one, distance), (other, _) = taken[-2:]
        moved = [int(step) for step in (one - other).tolist()]
        assert sum(step * step for step in moved) <= distance**2
