"""Integer sums of neighbors: never farther apart than stated, with rows deleted so that batches shift."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from discreet.learning.deep.clip import choice  # noqa: E402
from tests.learning.deep.clip import oracle  # noqa: E402
from tests.learning.deep.clip.hostile import hostile_rows  # noqa: E402

PHYSICAL, BATCHES, BITS = 4, 3, 24
SHAPE = (6, 5)  # uneven widths: the products of rows differ from slot to slot, unless they are evened


def models():
    """Return networks small enough for many rounds: a sum over positions, kept gradients, patches."""
    positions = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 4), nn.Flatten(), nn.Linear(24, 4))
    patches = nn.Sequential(nn.Conv1d(6, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(12, 4))
    return {"positions": positions, "patches": patches}


def integers(clipped, inputs, targets):
    """Return the integer sum of all rows, cut into batches of the physical size in order."""
    step = clipped.norm * 2.0**-BITS
    total = torch.zeros(clipped.dimension, dtype=torch.int64)
    for first in range(0, len(targets), PHYSICAL):
        rows = slice(first, first + PHYSICAL)
        there = len(targets[rows])
        batch = torch.zeros(PHYSICAL, *SHAPE)
        labels = torch.zeros(PHYSICAL, dtype=torch.long)
        batch[:there], labels[:there] = inputs[rows], targets[rows]
        sums = clipped(batch, labels, torch.arange(PHYSICAL) < there)
        total += torch.cat([one.flatten() for one in sums]).div_(step).round_().long()
    return total


@pytest.mark.theorem("ClippedSum.privacy")
@pytest.mark.parametrize("name", ["positions", "patches"])
@pytest.mark.parametrize("way", [0, -1])
def test_integer_sums_of_neighbors_are_never_farther_apart_than_stated(name, way, rounds, monkeypatch):
    def forced(arithmetic, cluster, ways, calls):
        return choice._tried(arithmetic, cluster, ways[way], calls)

    monkeypatch.setattr("discreet.learning.deep.clip.clipped_sum.chosen_ways", forced)
    generator = torch.Generator().manual_seed(3)
    model = models()[name]
    example = torch.zeros(PHYSICAL, *SHAPE)
    clipped = oracle.clipped_sum(model, example, torch.zeros(PHYSICAL, dtype=torch.long), oracle.Rule(0.3), exact=True)
    assert clipped.slot_independent
    stated = 2**BITS + BATCHES * (math.sqrt(clipped.dimension) + 2 * clipped.summation_error * 2**BITS)
    farthest = 0.0
    for _ in range(rounds(sample=40, full=2_500)):
        count = int(torch.randint(1, PHYSICAL * BATCHES + 1, (), generator=generator))
        inputs = hostile_rows(generator, count, *SHAPE)
        targets = torch.randint(0, 5, (count,), generator=generator)  # 4 is no class
        gone = int(torch.randint(0, count, (), generator=generator))
        kept = torch.arange(count) != gone
        apart = integers(clipped, inputs, targets) - integers(clipped, inputs[kept], targets[kept])
        farthest = max(farthest, float(apart.double().norm()))
        assert farthest <= stated
    assert farthest > 0.9 * 2**BITS  # some rows do move the sum by the whole norm
