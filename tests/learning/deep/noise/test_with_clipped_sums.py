"""From rows to released integers: clipped sums on the grid that their own bounds choose, and the noises of plans."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402  torch comes first

from discreet.learning.deep.noise import CorrelatedRelease, GradientGrid  # noqa: E402
from discreet.learning.deep.noise.integer_sums import IntegerSums  # noqa: E402
from discreet.learning.deep.plan import Banded, Buffered, Clip, IndependentNoise  # noqa: E402
from tests.learning.deep.clip import oracle  # noqa: E402
from tests.learning.deep.clip.hostile import hostile_rows  # noqa: E402

PHYSICAL, BATCHES, SHAPE = 4, 3, (6, 8)


def clipped_sum(mode):
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 4), nn.Flatten(), nn.Linear(24, 4))
    example = torch.zeros(PHYSICAL, *SHAPE), torch.zeros(PHYSICAL, dtype=torch.long)
    return oracle.clipped_sum(model, *example, Clip(0.3, mode), exact=True)


def grid_of(clipped, *, fixed):
    return GradientGrid(
        norm=Fraction(0.3),
        dimension=clipped.dimension,
        physical=PHYSICAL,
        batches=BATCHES,
        summation_error=Fraction(clipped.summation_error),
        scale=Fraction(1),
        fixed_slots=fixed,
        sizes=clipped.sizes,
    )


def integers(clipped, grid, inputs, targets, slots):
    """Return the integer sum of rows in their slots."""
    sums = IntegerSums(grid, [tuple(one.shape) for one in clipped.parameters])
    batch = torch.zeros(PHYSICAL * BATCHES, *SHAPE)
    labels = torch.zeros(PHYSICAL * BATCHES, dtype=torch.long)
    present = torch.zeros(PHYSICAL * BATCHES, dtype=torch.bool)
    batch[slots], labels[slots], present[slots] = inputs, targets, True
    for first in range(0, PHYSICAL * BATCHES, PHYSICAL):
        part = slice(first, first + PHYSICAL)
        if grid.fixed_slots or present[part].any():
            sums.add(clipped(batch[part], labels[part], present[part]))
    return [int(value) for value in sums.take()]


@pytest.mark.theorem("GradientGrid.privacy")
@pytest.mark.parametrize("mode", ["flat", "per layer", "normalized"])
@pytest.mark.parametrize("fixed", [False, True], ids=["batches shift", "slots stay"])
def test_one_person_moves_the_integers_of_a_network_by_no_more_than_the_distance(mode, fixed, rounds):
    clipped = clipped_sum(mode)
    grid, generator, farthest = grid_of(clipped, fixed=fixed), torch.Generator().manual_seed(2), 0
    assert (len(grid.sizes) > 1) == (mode == "per layer")
    for _ in range(rounds(sample=12, full=1_700)):
        count = int(torch.randint(1, PHYSICAL * BATCHES + 1, (), generator=generator))
        inputs = hostile_rows(generator, count, *SHAPE)
        targets = torch.randint(0, 5, (count,), generator=generator)  # 4 is no class
        kept = torch.arange(count) != int(torch.randint(0, count, (), generator=generator))
        slots = torch.randperm(PHYSICAL * BATCHES, generator=generator)[:count] if fixed else torch.arange(count)
        others = slots[kept] if fixed else torch.arange(count - 1)
        first = integers(clipped, grid, inputs, targets, slots)
        second = integers(clipped, grid, inputs[kept], targets[kept], others)
        farthest = max(farthest, sum((a - b) ** 2 for a, b in zip(first, second, strict=True)))
        assert farthest <= grid.distance**2
    assert farthest > (0.9 * grid.norm / grid.step) ** 2  # some row moves the sum by nearly the whole norm


@pytest.mark.parametrize("noise", [IndependentNoise(1.5), Banded(1.5, 8), Buffered(1.5, 3)], ids=lambda one: one.name)
def test_the_noise_of_a_plan_has_the_deviation_that_the_plan_states(noise):
    grid = GradientGrid(
        norm=Fraction(1),
        dimension=50,
        physical=1,
        batches=1,
        summation_error=Fraction(0),
        scale=Fraction(noise.scale),
        fixed_slots=True,
    )
    coefficients = noise.coefficients(40)
    release = CorrelatedRelease(grid, [(50,)], steps=40, coefficients=coefficients)
    squares = Fraction(3, 2) ** 2 * sum(one * one for one in coefficients) * release.grid.distance**2
    assert squares <= release.grid.noise_scale**2 <= squares * (1 + Fraction(1, 10**9))
    assert release.grid.inflation < 1 + 1e-4
    released = np.array([release.release(step)[0].numpy() for step in range(40)])
    assert np.isfinite(released).all()
    if len(coefficients) > 1:  # what later steps take back: the sum of all has less noise than independent steps give
        single = float(grid.scale)
        # each of 50 sums has a deviation of at most .47 sqrt(40) single (8 bands; 3 buffers .36): a mean square 4.5
        # times as large as expected has a chance below exp(-50)
        assert np.mean(released.sum(axis=0) ** 2) < 40 * single**2
