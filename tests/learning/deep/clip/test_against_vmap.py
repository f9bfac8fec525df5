"""The clipped sum equals the one from vmap(grad) of the whole model, for every layer, way and mode."""

from __future__ import annotations

import math
import warnings

import pytest

torch = pytest.importorskip("torch")

from benchmarks.deep.models import NETWORKS  # noqa: E402
from discreet.learning.deep.clip import CrossEntropy, choice  # noqa: E402
from tests.learning.deep.clip import oracle  # noqa: E402

ROWS = 6
KINDS = sorted(oracle.networks())


def found_by_oracle(model, loss, inputs, targets, rows=1):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says where a batching rule is missing
        try:
            return oracle.gradients(model, loss, inputs, targets, rows)
        except RuntimeError:
            return oracle.gradients_one_by_one(model, loss, inputs, targets, rows)


def small(kind):
    model, shape = oracle.networks()[kind]
    if kind == "bias only":
        model[0].weight.requires_grad_(False)
    return model.double(), oracle.batch_for(shape, ROWS), oracle.whole_numbers(4, ROWS)


@pytest.mark.parametrize("name", NETWORKS)
def test_the_eight_networks(name):
    network = NETWORKS[name](False)
    model = network.model.double()
    inputs, targets = network.batch(4)
    inputs = inputs.double() if inputs.is_floating_point() else inputs
    found = found_by_oracle(model, CrossEntropy(network.classes), inputs, targets)
    norm = oracle.middle_norm(found)
    clipped = oracle.clipped_sum(model, inputs, targets, oracle.Rule(norm), classes=network.classes)
    sums = clipped(inputs, targets, oracle.everyone(4))
    assert oracle.distance(sums, oracle.flat_sum(found, norm)) < 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_layer(kind):
    model, inputs, targets = small(kind)
    found = found_by_oracle(model, CrossEntropy(4), inputs, targets)
    norm = oracle.middle_norm(found)
    sums = oracle.clipped_sum(model, inputs, targets, oracle.Rule(norm))(inputs, targets, oracle.everyone(ROWS))
    assert oracle.distance(sums, oracle.flat_sum(found, norm)) < 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_every_way_of_every_layer(kind, monkeypatch):
    """The last way, then the one before: each is forced instead of timed."""
    model, inputs, targets = small(kind)
    found = found_by_oracle(model, CrossEntropy(4), inputs, targets)
    norm = oracle.middle_norm(found)
    for place in range(4):
        seen = []

        def forced(arithmetic, cluster, ways, calls, place=place, seen=seen):
            seen.append(len(ways))
            try:
                return choice._tried(arithmetic, cluster, ways[min(place, len(ways) - 1)], calls)
            except RuntimeError:  # torch cannot map recurrent modules in float64
                return choice._tried(arithmetic, cluster, ways[-1], calls)

        monkeypatch.setattr("discreet.learning.deep.clip.clipped_sum.chosen_ways", forced)
        clipped = oracle.clipped_sum(model, inputs, targets, oracle.Rule(norm))
        sums = clipped(inputs, targets, oracle.everyone(ROWS))
        assert oracle.distance(sums, oracle.flat_sum(found, norm)) < 1e-12
        if max(seen) <= place + 1:
            break


@pytest.mark.parametrize("kind", KINDS)
def test_a_person_of_three_rows(kind):
    model, inputs, targets = small(kind)
    found = found_by_oracle(model, CrossEntropy(4), inputs, targets, rows=3)
    norm = oracle.middle_norm(found)
    clipped = oracle.clipped_sum(model, inputs, targets, oracle.Rule(norm), rows=3)
    sums = clipped(inputs, targets, oracle.everyone(2))
    assert oracle.distance(sums, oracle.flat_sum(found, norm)) < 1e-12


@pytest.mark.parametrize("kind", ["tied", "norms", "lstm", "padding"])
def test_exact_sums_are_the_same_to_float32(kind):
    model, inputs, targets = small(kind)
    found = found_by_oracle(model, CrossEntropy(4), inputs, targets)
    norm = oracle.middle_norm(found)
    inputs = inputs.float() if inputs.is_floating_point() else inputs
    clipped = oracle.clipped_sum(model.float(), inputs, targets, oracle.Rule(norm), exact=True)
    sums = clipped(inputs, targets, oracle.everyone(ROWS))
    assert all(one.dtype == torch.float64 for one in sums)
    assert oracle.distance(sums, oracle.flat_sum(found, norm)) < 1e-5


def test_normalized_clipping_divides_by_the_norm_and_a_hundredth():
    model, inputs, targets = small("norms")
    found = found_by_oracle(model, CrossEntropy(4), inputs, targets)
    sums = oracle.clipped_sum(model, inputs, targets, oracle.Rule(2.0, "normalized"))(
        inputs, targets, oracle.everyone(ROWS)
    )
    theirs = oracle.flat_sum(found, 2.0, factor=lambda lengths: 2.0 / (lengths + 0.02))
    assert oracle.distance(sums, theirs) < 1e-12


def test_per_layer_clipping_cuts_each_layer_by_itself():
    model, inputs, targets = small("rms")
    found = found_by_oracle(model, CrossEntropy(4), inputs, targets)
    clipped = oracle.clipped_sum(model, inputs, targets, oracle.Rule(0.1, "per layer"))
    sums = clipped(inputs, targets, oracle.everyone(ROWS))
    theirs = [None] * len(found)
    for group in clipped.groups:
        for slot, one in zip(group, oracle.flat_sum([found[s] for s in group], 0.1 / math.sqrt(5)), strict=True):
            theirs[slot] = one
    assert clipped.sizes == tuple(sum(clipped.parameters[s].numel() for s in group) for group in clipped.groups)
    assert sum(clipped.sizes) == clipped.dimension
    assert oracle.distance(sums, theirs) < 1e-12


def test_sums_of_several_calls_are_the_sum_of_a_large_batch():
    model, inputs, targets = small("norms")
    half = oracle.clipped_sum(model, inputs[:3], targets[:3], oracle.Rule(0.5))
    whole = oracle.clipped_sum(model, inputs, targets, oracle.Rule(0.5))(inputs, targets, oracle.everyone(ROWS))
    parts = [half(inputs[cut], targets[cut], oracle.everyone(3)) for cut in (slice(3), slice(3, 6))]
    assert oracle.distance([a + b for a, b in zip(*parts, strict=True)], whole) < 1e-12


def test_the_report_names_every_layer_and_its_way():
    model, inputs, targets = small("tied")
    lines = oracle.clipped_sum(model, inputs, targets, oracle.Rule(0.5)).report().splitlines()
    assert lines[0].split() == ["layer", "way", "milliseconds", "kept", "megabytes"]
    assert any(line.startswith("words + out") for line in lines[1:])
    assert any(line.startswith("mix") for line in lines[1:])


def test_the_model_is_left_as_it_was():
    model, inputs, targets = small("norms")
    clipped = oracle.clipped_sum(model, inputs, targets, oracle.Rule(0.5))
    before = [value.detach().clone() for value in model.parameters()]
    clipped(inputs, targets, oracle.everyone(ROWS))
    assert all(not module._forward_hooks and "forward" not in vars(module) for module in model.modules())
    assert all(value.grad is None for value in model.parameters())
    assert all(torch.equal(one, value) for one, value in zip(before, model.parameters(), strict=True))


def test_a_forward_of_ones_own_is_called_and_stays_also_after_an_error():
    model, inputs, targets = small("norms")
    layer = next(module for module in model.modules() if isinstance(module, torch.nn.Linear))
    plain, calls = layer.forward, []

    def counted(given):
        calls.append(1)
        if len(calls) == fails_at:
            raise KeyboardInterrupt
        return plain(given)

    fails_at = 0
    clipped = oracle.clipped_sum(model, inputs, targets, oracle.Rule(0.5))
    expected = clipped(inputs, targets, oracle.everyone(ROWS))
    layer.forward = counted
    found = clipped(inputs, targets, oracle.everyone(ROWS))
    assert len(calls) == 1
    assert all(torch.equal(one, other) for one, other in zip(found, expected, strict=True))
    fails_at = 2
    with pytest.raises(KeyboardInterrupt):
        clipped(inputs, targets, oracle.everyone(ROWS))
    assert layer.forward is counted
    again = clipped(inputs, targets, oracle.everyone(ROWS))
    assert all(torch.equal(one, other) for one, other in zip(again, expected, strict=True))
