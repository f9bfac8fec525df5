"""No neighbor moves the integer sums farther than the grid states, whatever the rows, the batches and the rounding."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from discreet.learning.deep.noise import GradientGrid  # noqa: E402  torch comes first
from discreet.learning.deep.noise.integer_sums import IntegerSums  # noqa: E402

ERROR = Fraction(1, 1 << 30)  # larger than any real one, so that it shows


def made(random, *, fixed):
    """Return a grid of random public numbers."""
    return GradientGrid(
        norm=Fraction(float(random.choice([1.0, 0.7, 3e-5, 2.0**40 * 1.3]))),
        dimension=int(random.choice([1, 3, 40, 300])),
        physical=int(random.integers(1, 6)),
        batches=int(random.choice([1, 2, 7, 30])),
        summation_error=ERROR,
        scale=Fraction(int(random.choice([1, 1 << 12, 1 << 25]))),
        fixed_slots=fixed,
    )


def rows_of(grid, random):
    """Return clipped rows: any direction, opposite ones, one coordinate, tiny, or a grid's half steps."""
    count, size = int(random.integers(1, grid.physical * grid.batches + 1)), grid.dimension
    norm, kind = float(grid.norm), random.integers(5)
    rows = random.standard_normal((count, size))
    if kind == 1:
        rows = np.where(np.arange(count)[:, None] % 2, 1.0, -1.0) * rows[:1]
    elif kind == 2:
        rows = np.eye(size)[random.integers(size, size=count)]
    elif kind == 3:
        rows *= 2.0 ** random.integers(-90, 1, size=(count, 1))
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300) * norm * (1 - 2.0**-40)
    if kind == 3:
        rows *= 2.0 ** random.integers(-90, 1, size=(count, 1))
    if kind == 4:  # every batch lies at the half steps, where a hair decides the rounding
        half = float(grid.step) / 2 ** (grid.carry_bits + 1)
        rows = half * (2 * random.integers(-3, 4, size=(count, size)) + 1)
    return rows[np.linalg.norm(rows, axis=1) <= norm]


def batches_of(rows, slots, grid, random):
    """Return the float sums of each batch, each off by as much as the stated error, in some direction."""
    sums = []
    for first in range(0, grid.physical * grid.batches, grid.physical):
        inside = (slots >= first) & (slots < first + grid.physical)
        if not grid.fixed_slots and not inside.any():
            continue
        exact = rows[inside].sum(axis=0)
        push = random.standard_normal(grid.dimension) if random.integers(2) else np.ones(grid.dimension)
        sums.append(exact + push / np.linalg.norm(push) * float(ERROR * grid.norm) * random.choice([-0.99, 0.0, 0.99]))
    return sums


def integers(sums, grid):
    """Return the integer sum of batches."""
    total = IntegerSums(grid, [(grid.dimension,)])
    for one in sums:
        total.add([torch.from_numpy(one)])
    return [int(value) for value in total.take()]


def moved(first, second):
    """Return the squared distance of two integer vectors."""
    return sum((a - b) ** 2 for a, b in zip(first, second, strict=True))


@pytest.mark.theorem("GradientGrid.privacy")
def test_removing_a_row_so_that_batches_shift_stays_within_the_distance(rounds):
    random = np.random.default_rng()
    for _ in range(rounds(sample=400, full=10_000)):
        grid = made(random, fixed=False)
        rows = rows_of(grid, random)
        if not len(rows):
            continue
        gone = int(random.integers(len(rows)))
        fewer = np.delete(rows, gone, axis=0)
        with_row = integers(batches_of(rows, np.arange(len(rows)), grid, random), grid)
        without = integers(batches_of(fewer, np.arange(len(fewer)), grid, random), grid)
        assert moved(with_row, without) <= grid.distance**2


@pytest.mark.theorem("GradientGrid.privacy")
def test_removing_a_row_from_its_slot_stays_within_the_distance(rounds):
    random = np.random.default_rng()
    for _ in range(rounds(sample=400, full=10_000)):
        grid = made(random, fixed=True)
        rows = rows_of(grid, random)
        if not len(rows):
            continue
        slots = random.permutation(grid.physical * grid.batches)[: len(rows)]
        gone = int(random.integers(len(rows)))
        # Batches without the person are equal to the bit: the same errors, then one batch computed anew.
        sums = batches_of(rows, slots, grid, random)
        other = [one.copy() for one in sums]
        batch = int(slots[gone]) // grid.physical
        alone = batches_of(np.delete(rows, gone, axis=0), np.delete(slots, gone), grid, random)
        other[batch] = alone[batch]
        assert moved(integers(sums, grid), integers(other, grid)) <= grid.distance**2


def shifting(grid, fine):
    """Return rows whose pairs are just above half a step of a grid, and just below if one row leaves."""
    values = [0.9]
    for place in range(1, grid.physical * grid.batches):
        values.append((0.501 if place % 2 else 0.499) - values[-1])
    return np.outer(values, np.ones(grid.dimension)) * fine


def apart_when_the_first_leaves(grid):
    """Return how far the integers of shifting rows move when the first of them leaves."""
    rows = shifting(grid, float(grid.step) / 2**grid.carry_bits)
    assert max(np.linalg.norm(rows, axis=1)) < grid.norm
    pairs = [rows[at : at + 2].sum(axis=0) for at in range(0, len(rows), 2)]
    shifted = [rows[at : at + 2].sum(axis=0) for at in range(1, len(rows), 2)]
    return moved(integers(pairs, grid), integers(shifted, grid)) ** 0.5


def test_without_the_roundings_of_every_batch_the_claim_would_be_false(monkeypatch):
    numbers = {
        "norm": Fraction(1),
        "dimension": 900,
        "physical": 2,
        "batches": 400,
        "summation_error": Fraction(0),
        "scale": Fraction(1),
        "fixed_slots": False,
    }
    carried = GradientGrid(**numbers)
    assert carried.carry_bits == 20
    one_row, one_rounding = 0.9 * 30, 30  # the first row in steps of the grid, and sqrt(900)
    assert apart_when_the_first_leaves(carried) <= one_row / 2**20 + one_rounding + 1
    monkeypatch.setattr(GradientGrid, "_carry_bits", lambda *_: 0)
    rounded = GradientGrid(**numbers)
    apart = apart_when_the_first_leaves(rounded)
    assert 200 * (one_row + one_rounding) < apart <= one_row + 400 * one_rounding
    assert rounded.distance >= rounded.norm / rounded.step + 400 * one_rounding


@pytest.mark.parametrize("carry", [True, False])
def test_sums_do_not_depend_on_the_order_of_batches_or_on_carrying(carry, monkeypatch):
    random = np.random.default_rng(1)
    grid = GradientGrid(
        norm=Fraction(1), dimension=50, physical=4, batches=64, summation_error=ERROR, scale=Fraction(1),
        fixed_slots=False,
    )  # fmt: skip
    assert grid.carry_bits > 0
    if carry:
        monkeypatch.setattr(GradientGrid, "between_carries", 2)
    batches = [random.uniform(-1, 1, 50) / 8 for _ in range(64)]
    scaled = np.rint(np.array(batches) * 2.0 ** (grid.carry_bits - grid.exponent))
    fine = [sum(int(value) for value in column) for column in scaled.T]
    exact = [(value + (1 << (grid.carry_bits - 1))) >> grid.carry_bits for value in fine]
    assert integers(batches, grid) == integers(batches[::-1], grid) == exact


def test_batches_beyond_the_cap_add_nothing():
    grid = made(np.random.default_rng(3), fixed=True)
    batches = [np.full(grid.dimension, float(grid.norm) / 1000)] * grid.batches
    assert integers(batches, grid) == integers([*batches, *batches], grid)


def test_the_largest_sums_do_not_overflow():
    for fixed in (False, True):
        grid = GradientGrid(
            norm=Fraction(1.999), dimension=2, physical=1 << 12, batches=1 << 16, summation_error=Fraction(0),
            scale=Fraction(1), fixed_slots=fixed,
        )  # fmt: skip
        most = torch.tensor([1.999 * (1 << 12), -1.999 * (1 << 12)], dtype=torch.float64)
        total = IntegerSums(grid, [(2,)])
        for _ in range(1 << 12):
            total.add([most])
        wanted = round(Fraction(1.999) * (1 << 24) / grid.step)
        assert [abs(abs(int(value)) - wanted) <= 1 << 12 for value in total.take()] == [True, True]
