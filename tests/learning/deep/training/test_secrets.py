"""Secrets of a checkpoint: named, kept only where asked for, and what is lost without them is spent, not repeated."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from discreet.errors import ParameterError  # noqa: E402
from discreet.learning.deep.clip import CrossEntropy  # noqa: E402
from discreet.learning.deep.noise import CorrelatedRelease, GradientGrid, ahead  # noqa: E402
from discreet.learning.deep.noise.integer_sums import IntegerSums  # noqa: E402
from discreet.learning.deep.plan import BallsInBins, Banded, Clip, CyclicPoisson, IndependentNoise, Plan  # noqa: E402
from discreet.learning.deep.training import Checkpoint, TrainedModel, train  # noqa: E402
from discreet.ledger import MemoryLedger, Terms  # noqa: E402
from discreet.privacy import ApproxDP, Relation  # noqa: E402

PEOPLE, CLASSES, STEPS = 60, 3, 12
RANDOM = np.random.default_rng(13)
X = torch.from_numpy(RANDOM.normal(size=(PEOPLE, 4)).astype(np.float32))
Y = torch.from_numpy(RANDOM.integers(0, CLASSES, PEOPLE))
BINS, GROUPS = BallsInBins(steps_per_epoch=4, most_people=100), CyclicPoisson(rate=0.1, groups=4, most_people=100)
PLACES, SUMS = b"which people are in which steps", b"sums of recent steps without noise"


def plan_of(sampler: Any, noise: Any) -> Plan:
    return Plan(
        sampler=sampler, clip=Clip(1.0), noise=noise, steps=STEPS, unit="person", relation=Relation.ADD_REMOVE,
        divisor=15, delta=1e-6,
    )  # fmt: skip


def ledger() -> MemoryLedger:
    budget = ApproxDP(1000, 1e-3, relation=Relation.ADD_REMOVE)
    return MemoryLedger(Terms(lineage="trial", unit="person", budget=budget, caps={"ann": None}))


def trained(plan: Plan, books: MemoryLedger, checkpoint: Checkpoint, **more: Any) -> TrainedModel:
    torch.manual_seed(3)
    sgd = partial(torch.optim.SGD, lr=0.5)
    model, loss = torch.nn.Linear(4, CLASSES), CrossEntropy(CLASSES)
    return train(model, (X, Y), plan, loss, optimizer=sgd, physical=8, ledger=books, checkpoint=checkpoint, **more)


def stop_at(step: int) -> Any:
    def stop(done: int, _: int | None) -> None:
        if done == step:
            raise KeyboardInterrupt

    return stop


@pytest.mark.parametrize(
    ("sampler", "noise", "named"),
    [
        (BINS, IndependentNoise(2.0), [PLACES]),
        (GROUPS, IndependentNoise(2.0), [PLACES]),
        (GROUPS, Banded(2.0, bands=4), [PLACES, SUMS]),
        (BINS, Banded(2.0, bands=1), [PLACES]),
    ],
)
def test_secrets_are_named_at_the_top_of_the_file(tmp_path, sampler, noise, named):
    plan, books, path = plan_of(sampler, noise), ledger(), tmp_path / "c"
    with pytest.raises(KeyboardInterrupt):
        trained(plan, books, Checkpoint(path, every=2, secrets=True), progress=stop_at(7))
    top = path.read_bytes()[:4000]
    assert b"private: as secret as the rows" in top
    assert [one for one in (PLACES, SUMS) if one in top] == named
    assert path.stat().st_mode & 0o777 == 0o600
    assert trained(plan, books, Checkpoint(path, every=2, secrets=True)).taken == STEPS - 2
    assert b"released: may be shown" in path.read_bytes()[:4000]  # at the end nobody needs them any more
    assert float(books.balance().spent.epsilon) == pytest.approx(plan.guarantee.epsilon)


def test_without_secrets_bins_go_on_where_they_are_drawn_anew(tmp_path):
    plan, books, path = plan_of(BINS, IndependentNoise(2.0)), ledger(), tmp_path / "c"
    with pytest.raises(KeyboardInterrupt):
        trained(plan, books, Checkpoint(path, every=1), progress=stop_at(6))
    assert b"released: may be shown" in path.read_bytes()[:4000]
    told: list[int] = []
    found = trained(plan, books, Checkpoint(path, every=1), progress=lambda done, _: told.append(done))
    # the sixth step was taken but not kept, the seventh and eighth have lost their places
    assert (told[0], found.taken, told[-1]) == (8, STEPS - 3, STEPS)


@pytest.mark.theorem("TrainingSteps.go_on.privacy")
def test_places_that_were_drawn_and_not_kept_are_never_drawn_again_for_the_same_steps(tmp_path):
    """A block that ends inside of an epoch which it began: its places were lost with it."""
    plan, books, path = plan_of(BINS, IndependentNoise(2.0)), ledger(), tmp_path / "c"
    with pytest.raises(KeyboardInterrupt):
        trained(plan, books, Checkpoint(path, every=3, secrets=True), progress=stop_at(5))  # block 2: steps 4 to 6
    found = trained(plan, books, Checkpoint(path, every=3, secrets=True))
    assert found.taken == 3 + 4  # block 1, then the epoch of steps 9 to 12


def test_groups_that_stay_need_their_secrets(tmp_path):
    books = ledger()
    with pytest.raises(ParameterError, match=r"secrets=True.*Nothing was spent"):
        trained(plan_of(GROUPS, IndependentNoise(2.0)), books, Checkpoint(tmp_path / "c"))
    assert len(list(books.entries())) == 1


def test_correlated_noise_goes_on_with_the_sums_that_were_kept(tmp_path, monkeypatch):
    """Without noise, what is recovered of a step is its sum; that holds only if recent steps are mixed in rightly."""
    monkeypatch.setattr(ahead, "_draw", lambda _, count, length: list(np.zeros((count, length), dtype=np.int64)))
    exact: list[Any] = []
    recovered: list[Any] = []
    noisy, take = CorrelatedRelease._noisy, IntegerSums.take

    def taken(self: IntegerSums) -> Any:
        exact.append(take(self))
        return exact[-1].clone()

    def released(self: CorrelatedRelease, step: int) -> Any:
        found = noisy(self, step)
        recovered.append((step, found.clone()))
        return found

    monkeypatch.setattr(IntegerSums, "take", taken)
    monkeypatch.setattr(CorrelatedRelease, "_noisy", released)
    plan, books, path = plan_of(GROUPS, Banded(2.0, bands=4)), ledger(), tmp_path / "c"
    with pytest.raises(KeyboardInterrupt):
        trained(plan, books, Checkpoint(path, every=1, secrets=True), progress=stop_at(6))
    trained(plan, books, Checkpoint(path, every=1, secrets=True))
    assert [step for step, _ in recovered] == list(range(STEPS))
    assert any(one.abs().max() > 1000 for one in exact[6:])
    for (_, found), one in zip(recovered, exact, strict=True):
        assert torch.allclose(found, one.double(), rtol=1e-9, atol=1.0)


@pytest.mark.theorem("TrainingSteps.go_on.privacy")
@pytest.mark.parametrize("gap", [(3, 3), (2, 5), (7, 8)])
def test_a_gap_in_correlated_noise_moves_the_releases_no_farther_than_the_plan_is_priced_for(gap, monkeypatch):
    """Sums of one person in every step, all alike or at random, through a release that begins anew after a gap."""
    steps, mixtures = 10, []
    coefficients = Banded(2.0, bands=6).coefficients(steps)

    def without_noise(self: CorrelatedRelease, _: int) -> Any:
        mixtures.append(torch.zeros(self.grid.dimension, dtype=torch.int64))  # the sums are mixed into it
        return mixtures[-1]

    monkeypatch.setattr(CorrelatedRelease, "_fresh", without_noise)
    grid = GradientGrid(
        norm=Fraction(1), dimension=3, physical=1, batches=1, summation_error=Fraction(0), scale=Fraction(1),
        fixed_slots=True,
    )  # fmt: skip
    matrix = np.array([[coefficients[i - j] if 0 <= i - j < 6 else 0 for j in range(steps)] for i in range(steps)])
    priced = float(np.linalg.norm(matrix.sum(axis=1)))
    for alike in (True, False):
        vectors = RANDOM.normal(size=(1 if alike else steps, 3)).repeat(steps if alike else 1, axis=0)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        mixtures.clear()
        for some in (range(gap[0]), range(gap[1], steps)):
            release = CorrelatedRelease(grid, [(3,)], steps=steps, coefficients=coefficients)
            for step in some:
                release.add([torch.from_numpy(vectors[step])])
                release.release(step)
        moved = float(torch.linalg.vector_norm(torch.stack(mixtures).double())) * float(grid.step)
        assert moved <= priced * float(grid.distance * grid.step)
        assert moved > priced / 100
