"""What a graphics card must do as the processor does: noise, clipped sums, the bits of a row, and whole trainings."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from benchmarks.deep.models import NETWORKS  # noqa: E402
from discreet.errors import AssumptionFailed  # noqa: E402
from discreet.laws import RoundedGaussian  # noqa: E402
from discreet.learning.deep.clip import ClippedSum, CrossEntropy, probe, replay  # noqa: E402
from discreet.learning.deep.clip.layers import arithmetic  # noqa: E402
from discreet.learning.deep.noise import GradientGrid, IntegerRelease  # noqa: E402
from discreet.learning.deep.noise.device import DeviceNoise, chacha  # noqa: E402
from discreet.learning.deep.plan import Clip, Float, FullBatch, IndependentNoise, Plan, PoissonBatches  # noqa: E402
from discreet.learning.deep.training import Checkpoint, train  # noqa: E402
from discreet.ledger import MemoryLedger, Terms  # noqa: E402
from discreet.privacy import ApproxDP, Relation  # noqa: E402
from tests.laws.agreement import assert_counts_fit, assert_fits  # noqa: E402
from tests.learning.deep.clip import oracle  # noqa: E402

pytestmark = [pytest.mark.needs("cuda"), pytest.mark.filterwarnings("ignore")]

SCALES = {"2^20": Fraction(2**20), "2^31": Fraction(2**31) * Fraction(7, 5), "2^40": Fraction(2**40)}
ROWS = 64


SWITCHES = (
    (torch.backends.cudnn, "deterministic", True),
    (torch.backends.cudnn, "benchmark", False),
    (torch.backends.cudnn, "allow_tf32", False),
    (torch.backends.cuda.matmul, "allow_tf32", False),
)


@pytest.fixture(autouse=True)
def _settings():
    """Torch as exact sums demand it."""
    torch.manual_seed(0)
    before = [getattr(at, name) for at, name, _ in SWITCHES]
    for at, name, value in SWITCHES:
        setattr(at, name, value)
    yield
    for (at, name, _), value in zip(SWITCHES, before, strict=True):
        setattr(at, name, value)


@pytest.mark.parametrize("name", SCALES)
@pytest.mark.parametrize("count", [1, 3, 1_021, 300_002])
def test_the_kernel_draws_what_the_processor_draws_under_one_key(name, count):
    there, here = DeviceNoise(SCALES[name], 1, "cuda"), DeviceNoise(SCALES[name], 1, "cpu")
    assert there._fused
    for _ in range(3):
        key = chacha.new_key()
        values, places, blocks, words = there._made(key, count)
        theirs, others, other_blocks, other_words = here._computed(key, count)
        assert torch.equal(values.cpu(), theirs)
        order = places.cpu().argsort()
        assert torch.equal(places.cpu()[order], others)
        assert np.array_equal(blocks[order.numpy()], other_blocks)
        assert np.array_equal(words[order.numpy()], other_words)


def test_a_list_of_open_pairs_that_is_too_short_is_made_again_with_the_same_draws(monkeypatch):
    noise, key = DeviceNoise(SCALES["2^31"], 1, "cuda"), chacha.new_key()
    values, places, *_ = noise._made(key, 300_000)
    monkeypatch.setattr("discreet.learning.deep.noise.device.device_noise._OPEN", 4)
    again, others, *_ = noise._made(key, 300_000)
    assert torch.equal(values, again)
    assert torch.equal(places.sort().values, others.sort().values)


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("name", SCALES)
def test_draws_have_the_law(name, fused, rounds, monkeypatch):
    monkeypatch.setattr(DeviceNoise, "_fuses", lambda _: fused)
    draws = DeviceNoise(SCALES[name], rounds(sample=5_000_000, full=50_000_000), "cuda").take().cpu().numpy()
    assert_fits(RoundedGaussian(SCALES[name]), draws, comparisons=2 * len(SCALES), degrees=20)
    assert_counts_fit(np.bincount(draws % 32, minlength=32), np.full(32, 1 / 32), comparisons=2 * len(SCALES))


def test_a_kernel_that_draws_something_else_is_found(monkeypatch):
    made = DeviceNoise._made

    def wrong(self: Any, key: bytes, count: int) -> Any:
        values, *rest = made(self, key, count)
        values[7] += 1
        return values, *rest

    monkeypatch.setattr(DeviceNoise, "_made", wrong)
    with pytest.raises(AssumptionFailed, match="Nothing was sampled"):
        DeviceNoise(SCALES["2^20"], 4, "cuda")


def test_no_noise_comes_twice_not_in_a_copy_or_a_pickle():
    noise = DeviceNoise(SCALES["2^40"], 4, "cuda")
    unpickled = pickle.loads(pickle.dumps(noise))  # noqa: S301  written here
    drawn = [one.take().tolist() for one in (noise, noise, copy.copy(noise), copy.deepcopy(noise), unpickled)]
    assert len({tuple(one) for one in drawn}) == 5  # four draws of scale 2^40 agree with a chance below 2^-160


def test_a_release_on_the_card_has_the_law(rounds):
    grid = GradientGrid(
        norm=Fraction(1), dimension=100_000, physical=4, batches=1, summation_error=Fraction(0), scale=Fraction(2),
        fixed_slots=True,
    )  # fmt: skip
    count = rounds(sample=10, full=200)
    release, drawn = IntegerRelease(grid, [(100_000,)], steps=count, device="cuda"), []
    for step in range(count):
        release.add([torch.full((100_000,), 0.5, dtype=torch.float64, device="cuda")])
        drawn.append(release.release(step)[0].cpu().numpy() / float(grid.step))
    noise = np.rint(np.concatenate(drawn)).astype(np.int64) - int(Fraction(1, 2) / grid.step)
    assert_fits(RoundedGaussian(grid.noise_scale), noise, comparisons=1, degrees=20)


def made(kind: str, rows: int = ROWS) -> tuple[Any, Any, Any]:
    network = NETWORKS[kind](False)
    inputs, targets = (one.cuda() for one in network.batch(rows))
    return network._replace(model=network.model.cuda()), inputs, targets


@pytest.mark.parametrize("kind", NETWORKS)
def test_a_row_keeps_its_bits_when_other_rows_or_slots_change(kind):
    network, inputs, targets = made(kind)
    clipped = oracle.clipped_sum(network.model, inputs, targets, oracle.Rule(0.1), classes=network.classes, exact=True)
    assert clipped.slot_independent
    base = probe._numbers(clipped, (inputs,), targets, 5)
    for by in (0, 1, 17, ROWS - 1):
        others, labels = (one.cuda() for one in network.batch(ROWS))
        others[5], labels[5] = inputs[5], targets[5]
        found = probe._numbers(clipped, (others.roll(by, 0),), labels.roll(by, 0), (5 + by) % ROWS)
        assert all(torch.equal(one, other) for one, other in zip(base.own, found.own, strict=True))
        assert not base.sums or oracle.distance(found.sums, base.sums) < 1e-13


@pytest.mark.parametrize("kind", ["digits", "MLP", "CNN"])
def test_sums_that_are_played_again_keep_a_rows_bits_and_follow_the_weights(kind):
    network, inputs, targets = made(kind)
    clipped = oracle.clipped_sum(network.model, inputs, targets, oracle.Rule(0.1), classes=network.classes, exact=True)
    assert isinstance(clipped._added_up, replay.WhileInPlace)
    for turn in range(3):
        only = oracle.everyone(ROWS) & (torch.arange(ROWS) == 5)
        base = clipped(inputs, targets, only)
        others, labels = (one.cuda() for one in network.batch(ROWS))
        others[5], labels[5] = inputs[5], targets[5]
        found = clipped(others, labels, only)
        assert all(torch.equal(one, other) for one, other in zip(base, found, strict=True))
        everyone = oracle.everyone(ROWS).cuda()
        with torch.no_grad():
            wanted = clipped._sums((inputs,), targets, everyone)
            assert oracle.distance(clipped(inputs, targets, everyone), wanted) < 1e-13
            for one in clipped.parameters:
                if turn == 1:  # as an optimizer may do: the weights are elsewhere from then on
                    one.data = one.data.clone()
                one.add_(torch.randn_like(one), alpha=0.01)


def test_a_model_that_draws_masks_or_waits_for_the_card_is_not_recorded():
    class Waiting(torch.nn.Linear):
        def forward(self, x: Any) -> Any:
            return super().forward(x) * (2.0 if float(x.detach().square().sum()) >= 0 else 1.0)

    for model in (torch.nn.Sequential(torch.nn.Linear(16, 2), torch.nn.Dropout(0.5)), Waiting(16, 2)):
        inputs, targets = people()
        clipped = oracle.clipped_sum(
            model.cuda(), inputs[:8].cuda(), targets[:8].cuda(), oracle.Rule(0.1), classes=2, exact=False
        )
        assert clipped._added_up == clipped._sums


@pytest.mark.parametrize("kind", NETWORKS)
def test_the_sum_is_that_of_vmap(kind):
    network, inputs, targets = made(kind, 8)
    model = network.model.double()
    inputs = inputs.double() if inputs.is_floating_point() else inputs
    found = oracle.gradients(model, CrossEntropy(network.classes), inputs, targets)
    norm = oracle.middle_norm(found)
    clipped = oracle.clipped_sum(model, inputs, targets, oracle.Rule(norm), classes=network.classes)
    assert oracle.distance(clipped(inputs, targets, oracle.everyone(8)), oracle.flat_sum(found, norm)) < 1e-12


@pytest.mark.parametrize("kind", NETWORKS)
def test_exact_sums_are_those_of_the_gradients_of_floats(kind):
    network, inputs, targets = made(kind, 8)
    found = oracle.gradients(network.model, CrossEntropy(network.classes), inputs, targets)
    found = [one.double() for one in found]
    norm = oracle.middle_norm(found)
    clipped = oracle.clipped_sum(network.model, inputs, targets, oracle.Rule(norm), classes=network.classes, exact=True)
    sums = clipped(inputs, targets, oracle.everyone(8))
    assert {one.dtype for one in sums} == {torch.float64}
    assert oracle.distance(sums, oracle.flat_sum(found, norm)) < 1e-4  # two float32 gradients of one row


@pytest.mark.parametrize("kind", ["digits", "CNN", "embedding"])
@pytest.mark.parametrize("exact", [True, False])
def test_a_row_that_is_not_finite_adds_nothing(kind, exact):
    network, inputs, targets = made(kind, 8)
    clipped = oracle.clipped_sum(network.model, inputs, targets, oracle.Rule(0.1), classes=network.classes, exact=exact)
    absent = oracle.everyone(8)
    absent[3] = False
    base = clipped(inputs, targets, absent)
    inputs[3] = float("nan") if inputs.is_floating_point() else 10**9
    found = clipped(inputs, targets, oracle.everyone(8))
    assert oracle.distance(found, base) < (1e-13 if exact else 1e-5)  # words are added in any order on a card


def test_float64_sums_of_the_kernels_are_those_of_torch():
    values = torch.randn(7, 200_003, device="cuda") * torch.logspace(-44, 15, 7, device="cuda").unsqueeze(1)
    assert arithmetic.sums_on_card(values)
    wide, weights = values.double(), torch.rand(7, dtype=torch.float64, device="cuda")
    exact = arithmetic.Arithmetic(exact=True)
    assert bool((exact.squares(values) >= wide.square().sum(1) * (1 - 1e-15)).all())
    assert torch.allclose(exact.squares(values), wide.square().sum(1), rtol=1e-9, atol=0)
    assert torch.allclose(exact.weighted(weights, values), weights @ wide, rtol=1e-9, atol=0)
    values[3], weights[3] = float("nan"), 0
    assert bool(torch.isfinite(exact.weighted(weights, values)).all())


@pytest.mark.parametrize("kind", ["CNN", "ResNet-GN", "embedding", "transformer", "LoRA"])
def test_compiled_sums_are_those_that_are_not_compiled(kind):
    network, inputs, targets = made(kind, 16)
    example = torch.zeros_like(inputs[:1]), torch.zeros_like(targets[:1])
    plain, fast = (
        ClippedSum(
            network.model, CrossEntropy(network.classes), oracle.Rule(0.1), physical=16, exact=False, example=example,
            compiled=compiled,
        )
        for compiled in (False, True)
    )  # fmt: skip
    present = oracle.everyone(16)
    present[3] = False
    for _ in range(2):
        inputs[5] = float("nan") if inputs.is_floating_point() else 10**9
        wanted = plain(inputs, targets, present)
        assert oracle.distance(fast(inputs, targets, present), wanted) < 1e-4
        with torch.no_grad():
            for one in plain.parameters:
                one.add_(torch.randn_like(one), alpha=0.01)


@pytest.mark.parametrize("switch", SWITCHES, ids=lambda switch: switch[1])
def test_short_floats_and_ways_that_mix_rows_are_refused(switch):
    network, inputs, targets = made("digits", 8)
    at, name, value = switch
    setattr(at, name, not value)
    with pytest.raises(AssumptionFailed, match="exact sums must be made"):
        oracle.clipped_sum(network.model, inputs, targets, oracle.Rule(0.1), classes=10, exact=True)


class Stop(BaseException):
    """The end of a process, as far as the training can see."""


def stated(noise: Any, **changed: Any) -> Plan:
    given = {
        "sampler": FullBatch(), "clip": Clip(1.0), "noise": noise, "steps": 12, "unit": "person",
        "relation": Relation.ADD_REMOVE, "divisor": 400, "delta": 1e-6,
    }  # fmt: skip
    return Plan(**{**given, **changed})


def people() -> tuple[Any, Any]:
    source = torch.Generator().manual_seed(1)
    inputs = torch.randn(400, 16, generator=source)
    return inputs, (inputs[:, 0] > inputs[:, 1]).long()


def learner() -> Any:
    return torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Tanh(), torch.nn.Linear(32, 2)).cuda()


def descent(parameters: Any) -> Any:
    return torch.optim.SGD(parameters, lr=2.0, momentum=0.5)


def score(found: Any) -> float:
    inputs, targets = people()
    return float((found.model(inputs.cuda()).argmax(1).cpu() == targets).double().mean())


@pytest.mark.parametrize("noise", [IndependentNoise(2.0), Float(2.0)])
@pytest.mark.parametrize("sampler", [FullBatch(), PoissonBatches(rate=0.5)])
def test_a_training_on_the_card_learns(noise, sampler):
    found = train(learner(), people(), stated(noise, sampler=sampler), CrossEntropy(2), optimizer=descent, physical=128)
    assert {one.device.type for one in found.model.parameters()} == {"cuda"}
    assert score(found) > 0.8  # noise of deviation 2 beside sums over some 400 rows of length 1


def test_a_training_on_the_card_is_taken_up_where_it_was(tmp_path):
    budget = ApproxDP(10, 1e-5, relation=Relation.ADD_REMOVE)
    books = MemoryLedger(Terms(lineage="trial", unit="person", budget=budget, caps={"ann": None}))
    plan, kept, seen = stated(IndependentNoise(2.0)), Checkpoint(tmp_path / "c", every=4), []

    def stop(done: int, _: int) -> None:
        seen.append(done)
        if seen == [*range(7)]:
            raise Stop

    def go() -> Any:
        torch.manual_seed(5)
        return train(
            learner(), people(), plan, CrossEntropy(2), optimizer=descent, physical=128, ledger=books, analyst="ann",
            checkpoint=kept, progress=stop,
        )  # fmt: skip

    with pytest.raises(Stop):
        go()
    found = go()
    assert float(books.balance().spent.epsilon) == pytest.approx(plan.guarantee.epsilon)
    assert seen == [0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12]  # the block that was cut short is spent, and not drawn again
    assert found.taken == 8
    assert score(found) > 0.7
