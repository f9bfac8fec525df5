"""Sums without a look at a number, as a compiler or a recording needs them: the same as those that look."""

from __future__ import annotations

import copy

import pytest

torch = pytest.importorskip("torch")

from benchmarks.deep.models import NETWORKS  # noqa: E402
from discreet.errors import ParameterError  # noqa: E402
from discreet.learning.deep.clip import ClippedSum, CrossEntropy  # noqa: E402
from discreet.learning.deep.clip.replay import WhileInPlace  # noqa: E402
from tests.learning.deep.clip import oracle  # noqa: E402

ROWS = 6


def made(kind, **changed):
    network = NETWORKS[kind](False)
    inputs, targets = network.batch(ROWS)
    example = torch.zeros_like(inputs[:1]), torch.zeros_like(targets[:1])
    given = {"physical": ROWS, "exact": False, "example": example, **changed}
    model = copy.deepcopy(network.model)
    return ClippedSum(model, CrossEntropy(network.classes), oracle.Rule(0.1), **given), inputs, targets


def hurt(inputs):
    """Return the inputs with a row that is not finite, or a word that is in no table."""
    inputs = inputs.clone()
    inputs[2] = float("nan") if inputs.is_floating_point() else 10**9
    return inputs


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("kind", NETWORKS)
def test_sums_that_look_at_no_number_are_the_same(kind, exact):
    clipped, inputs, targets = made(kind, exact=exact)
    for given in (inputs, hurt(inputs)):
        with torch.no_grad():
            plain = clipped._sums((given,), targets, oracle.everyone(ROWS))
            steady = clipped._steadily((given,), targets, oracle.everyone(ROWS))
        assert all(torch.isfinite(one).all() for one in steady)
        assert oracle.distance(steady, plain) < (1e-14 if exact else 1e-5)
    assert not clipped._arithmetic.traced


@pytest.mark.parametrize("kind", ["digits", "CNN", "ResNet-GN", "embedding", "LoRA"])
def test_what_is_recorded_for_a_compiler_follows_numbers_and_weights(kind, monkeypatch):
    monkeypatch.setattr(torch, "compile", lambda recorded, **_: recorded)
    clipped, inputs, targets = made(kind, compiled=True)
    present = oracle.everyone(ROWS)
    present[3] = False
    for given in (inputs, hurt(inputs), inputs.roll(1, 0)):
        with torch.no_grad():
            padded, labels = clipped._made_up.in_place_of_absent(given, targets, present, ROWS)
            plain = clipped._sums(padded, labels, present)
        assert oracle.distance(clipped(given, targets, present), plain) < 1e-5
        with torch.no_grad():
            for one in clipped.parameters:
                one.add_(torch.randn_like(one), alpha=0.01)


def test_a_recorded_model_has_its_own_forward_again(monkeypatch):
    monkeypatch.setattr(torch, "compile", lambda recorded, **_: recorded)
    clipped, _, _ = made("digits", compiled=True)
    assert not any("forward" in vars(module) for module in clipped.model.modules())


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore")  # torch's compiler uses what torch itself calls deprecated
def test_compiled_sums_are_the_same():
    clipped, inputs, targets = made("digits", compiled=True)
    with torch.no_grad():
        plain = clipped._sums((inputs,), targets, oracle.everyone(ROWS))
    assert oracle.distance(clipped(inputs, targets, oracle.everyone(ROWS)), plain) < 1e-5


def test_exact_sums_are_not_compiled():
    with pytest.raises(ParameterError, match="compiled must be False for exact sums"):
        made("digits", exact=True, compiled=True)


def test_a_processor_plays_nothing_again():
    clipped, _, _ = made("digits", exact=True)
    assert clipped._added_up == clipped._sums


def test_a_recording_is_left_once_the_weights_are_elsewhere():
    held = [torch.zeros(3), torch.zeros(2)]
    sums = WhileInPlace(lambda *_: ["recorded"], lambda *_: ["anew"], held)
    held[0].add_(1)
    assert sums(held, held[0], held[0]) == ["recorded"]
    held[1].data = torch.ones(2)  # what an optimizer may write instead of `copy_`
    assert sums(held, held[0], held[0]) == ["anew"]
