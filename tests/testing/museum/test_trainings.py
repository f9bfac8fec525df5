"""The planted faults of trainings cannot be had from the trainer: each is refused, or is no argument of it at all."""

from __future__ import annotations

import copy
import inspect
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from discreet.audit import Outcome, audit
from discreet.errors import DiscreetError, NotCopyable, ParameterError, StreamSpent
from discreet.learning.deep.plan import Clip, FullBatch, Independent, Plan
from discreet.privacy import Relation
from discreet.testing.museum import exhibit_named
from discreet.testing.museum.trainings import CLIP, MULTIPLIER, ClippedStep

PLANTED = ("HalfNoise", "BatchCounted", "ShuffledBatches", "BatchNormalized", "NoiseReused", "ClippedAfterSum")


def planned() -> Plan:
    return Plan(
        sampler=FullBatch(most_people=64), clip=Clip(CLIP), noise=Independent(MULTIPLIER), steps=2, unit="row",
        relation=Relation.ADD_REMOVE, divisor=10, delta=1e-5,
    )  # fmt: skip


def trained(model: Any, data: Any) -> Any:
    torch = pytest.importorskip("torch")
    from discreet.learning.deep.clip import SquaredError
    from discreet.learning.deep.training import train

    def descent(parameters: Any) -> Any:
        return torch.optim.SGD(parameters, lr=0.1)

    return train(model, data, planned(), SquaredError(bounds=(-1, 1)), optimizer=descent, physical=8)


@pytest.mark.parametrize("name", PLANTED)
def test_every_planted_fault_is_refuted_by_its_exact_law(name: str) -> None:
    assert audit(exhibit_named(name), search=0).outcome is Outcome.REFUTED


def test_half_the_noise_is_another_plan_with_another_price() -> None:
    plan = planned()
    half = replace(plan, noise=Independent(MULTIPLIER / 2))
    assert half.epsilon(1e-5).lower > 1.9 * plan.epsilon(1e-5).upper
    assert half.digest != plan.digest


def test_the_divisor_is_a_public_number_of_the_plan() -> None:
    torch = pytest.importorskip("torch")
    from discreet.learning.deep.training import train

    assert "divisor" not in inspect.signature(train).parameters
    with pytest.raises(DiscreetError, match="divisor"):
        replace(planned(), divisor=len)  # type: ignore[arg-type]
    del torch


def test_a_loader_that_shuffles_is_refused() -> None:
    torch = pytest.importorskip("torch")
    rows = torch.utils.data.TensorDataset(torch.zeros(8, 2), torch.zeros(8, 1))
    with pytest.raises(ParameterError, match=r"shuffled batches are another mechanism.*Nothing was spent"):
        trained(torch.nn.Linear(2, 1), torch.utils.data.DataLoader(rows, batch_size=4, shuffle=True))


def test_a_layer_that_normalizes_by_the_batch_is_refused() -> None:
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 1))
    with pytest.raises(ParameterError, match=r"statistics of a batch; got BatchNorm1d"):
        trained(model, (torch.zeros(8, 2), torch.zeros(8, 1)))


def test_a_model_that_subtracts_the_mean_of_the_batch_by_itself_is_refused() -> None:
    torch = pytest.importorskip("torch")

    class Centered(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.last = torch.nn.Linear(2, 1)

        def forward(self, rows: Any) -> Any:
            return self.last(rows - rows.mean(dim=0))

    with pytest.raises(DiscreetError, match="rows"):
        trained(Centered(), (torch.zeros(8, 2), torch.zeros(8, 1)))


def test_noise_is_released_once_and_neither_copied_nor_pickled() -> None:
    pytest.importorskip("torch")
    from discreet.learning.deep.noise import GradientGrid, IntegerRelease

    grid = GradientGrid(
        norm=Fraction(CLIP), dimension=2, physical=8, batches=1, summation_error=Fraction(0),
        scale=Fraction(MULTIPLIER), fixed_slots=True,
    )  # fmt: skip
    release = IntegerRelease(grid, [(2,)], steps=2)
    release.release(0)
    with pytest.raises(StreamSpent):
        release.release(0)
    with pytest.raises(NotCopyable):
        copy.deepcopy(release)


def test_gradients_are_clipped_before_they_are_summed() -> None:
    """People as rows of a linear model: who leaves moves the sum by the clip at most, not by twice it."""
    torch = pytest.importorskip("torch")
    from discreet.learning.deep.clip import ClippedSum

    model = torch.nn.Linear(1, 1, bias=False)

    def slope(predicted: Any, _: Any) -> Any:  # its gradient in the weight is the row itself
        return predicted[:, 0]

    clipped = ClippedSum(model, slope, Clip(CLIP), physical=4, exact=True, example=(torch.zeros(1, 1), torch.zeros(1)))
    for people, fewer in ClippedStep().neighbors():
        sums = []
        for value in (people, fewer):
            rows = torch.zeros(4, 1)
            rows[: len(value), 0] = torch.tensor(value)
            sums.append(float(clipped(rows, torch.zeros(4), torch.arange(4) < len(value))[0]))
        assert sums == pytest.approx([ClippedStep().total(people), ClippedStep().total(fewer)], abs=1e-9)
        assert abs(sums[0] - sums[1]) <= CLIP * (1 + 2 * clipped.summation_error)
