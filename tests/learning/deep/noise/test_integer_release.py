"""What a step releases is its exact integer sum plus exact Gaussian noise, once, in one process."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from discreet.errors import NotCopyable, ParameterError, StreamSpent  # noqa: E402  torch comes first
from discreet.laws import RoundedGaussian  # noqa: E402
from discreet.learning.deep.noise import GradientGrid, IntegerRelease, integer_sums  # noqa: E402
from discreet.privacy.pairs import NormalPair  # noqa: E402
from tests.laws.agreement import assert_fits  # noqa: E402
from tests.randomness.sources import in_child  # noqa: E402

SHAPES = [(30, 40), (40,), (2, 3, 5)]
DIMENSION = 1270


def grid_of(scale=Fraction(1), **changed):
    numbers = {
        "norm": Fraction(0.3),
        "dimension": DIMENSION,
        "physical": 8,
        "batches": 3,
        "summation_error": Fraction(1, 10**9),
        "scale": Fraction(scale),
        "fixed_slots": False,
    }
    return GradientGrid(**numbers | changed)


def sums_of(value, dtype=torch.float64):
    return [torch.full(shape, value, dtype=dtype) for shape in SHAPES]


def in_steps(tensors, grid):
    flat = torch.cat([one.reshape(-1) for one in tensors]).numpy()
    steps = flat * 2.0**-grid.exponent
    assert np.array_equal(steps, np.rint(steps))
    return steps.astype(np.int64)


@pytest.mark.theorem("IntegerRelease.privacy")
@pytest.mark.parametrize("scale", [Fraction(1, 1 << 24), Fraction(7, 5), Fraction(50)], ids=float)
def test_the_noise_of_a_release_has_the_law(scale, rounds):
    grid = grid_of(scale)
    steps = rounds(sample=60, full=2_000)
    release = IntegerRelease(grid, SHAPES, steps=steps)
    drawn = []
    for step in range(steps):
        release.add(sums_of(0.25))
        release.add(sums_of(-0.125))
        drawn.append(in_steps(release.release(step), grid))
    fine = 2.0 ** (grid.carry_bits - grid.exponent)
    total = int(np.rint(0.25 * fine)) + int(np.rint(-0.125 * fine))
    exact = (total + (1 << (grid.carry_bits - 1))) >> grid.carry_bits
    # 3 comparisons at 1e-9 in all
    assert_fits(RoundedGaussian(scale * grid.distance), np.concatenate(drawn) - exact, comparisons=3, degrees=5)


@pytest.mark.theorem("IntegerRelease.privacy")
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1), Fraction(13, 4)])
def test_the_price_is_that_of_the_noise_multiplier_whatever_the_model(scale):
    for changed in ({}, {"dimension": 10**6}, {"batches": 1000, "norm": Fraction(17)}, {"fixed_slots": True}):
        grid = grid_of(scale, **changed)
        square = RoundedGaussian(grid.noise_scale).gaussian_square(grid.distance)
        assert square == 1 / scale**2
    small = grid_of(Fraction(1, 1 << 9), norm=Fraction(1), dimension=1, batches=1, summation_error=Fraction(0))
    law = RoundedGaussian(scale * small.distance)
    pair = law.at(small.distance).pair(law)
    for epsilon in (0, 0.5, 2):
        assert pair.delta(epsilon).lower <= NormalPair(1 / scale).delta(epsilon).upper


def test_a_release_is_the_sum_where_noise_is_small():
    release = IntegerRelease(grid_of(Fraction(1, 1 << 26)), SHAPES, steps=2)
    release.add(sums_of(0.2))
    release.add(sums_of(-0.05))
    first = release.release(0)
    assert [tuple(one.shape) for one in first] == SHAPES
    assert all(one.dtype == torch.float64 for one in first)
    assert all(torch.allclose(one, torch.full_like(one, 0.15), atol=1e-6) for one in first)
    assert all(torch.allclose(one, torch.zeros_like(one), atol=1e-6) for one in release.release(1))


def test_a_step_that_failed_can_be_forgotten():
    release = IntegerRelease(grid_of(Fraction(1, 1 << 26)), SHAPES, steps=2)
    release.add(sums_of(0.2))
    release.clear()
    assert float(release.release(0)[1].abs().max()) < 1e-6


@pytest.mark.parametrize("when", ["drawing", "adding"])
def test_an_interrupted_release_leaves_nothing_to_the_next_step(when, monkeypatch):
    release = IntegerRelease(grid_of(Fraction(1, 1 << 26)), SHAPES, steps=3)
    release.add(sums_of(0.2))

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(*((release, "_fresh") if when == "drawing" else (integer_sums, "pieces")), interrupt)
        with pytest.raises(KeyboardInterrupt):
            release.release(0)
    with pytest.raises(StreamSpent):
        release.release(0)
    assert float(release.release(1)[1].abs().max()) < 1e-6


def test_an_interrupted_batch_can_be_forgotten(monkeypatch):
    large = (300, 150)  # more than is added at once
    release = IntegerRelease(grid_of(Fraction(1, 1 << 26), dimension=45_000), [large], steps=1)
    real = torch.mul
    calls = []

    def second_fails(*given):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*given)

    with monkeypatch.context() as patch:
        patch.setattr(torch, "mul", second_fails)
        with pytest.raises(KeyboardInterrupt):
            release.add([torch.full(large, 0.2, dtype=torch.float64)])
    release.clear()
    assert float(release.release(0)[0].abs().max()) < 1e-6


def test_no_step_is_released_twice_or_beyond_the_plan():
    release = IntegerRelease(grid_of(), SHAPES, steps=10)
    release.release(3)
    for step in (3, 0, 2):
        with pytest.raises(StreamSpent, match="write 4"):
            release.release(step)
    release.release(7)
    for step in (10, -1, 1.0, True, None):
        with pytest.raises(ParameterError, match="from 0 to 9"):
            release.release(step)


def test_no_two_releases_have_the_same_noise():
    releases = [IntegerRelease(grid_of(), SHAPES, steps=60) for _ in range(2)]
    noises = {tuple(in_steps(one.release(step), one.grid).tolist()) for one in releases for step in range(60)}
    assert len(noises) == 120


def test_a_forked_child_cannot_go_on_and_the_parent_can():
    release = IntegerRelease(grid_of(), SHAPES, steps=3)
    release.start()
    release.add(sums_of(0.1))

    def child():
        told = []
        for act in (lambda: release.release(0), lambda: release.add(sums_of(0.1)), release.start, release.clear):
            try:
                act()
            except NotCopyable as refused:
                told.append(str(refused))
        return told

    told = in_child(child)
    assert len(told) == 4
    assert all("another process" in one for one in told)
    release.release(0)


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_release_is_neither_copied_nor_pickled(way):
    with pytest.raises(NotCopyable, match="checkpoint"):
        way(IntegerRelease(grid_of(), SHAPES, steps=1))


def test_a_text_of_it_shows_nothing_private():
    release = IntegerRelease(grid_of(), [(DIMENSION,)], steps=1)
    release.add([torch.full((DIMENSION,), 0.123456789, dtype=torch.float64)])
    assert "tensor" not in repr(release)
    assert "tensor" not in str(vars(release)["_sums"])


@pytest.mark.parametrize(
    "sums",
    [sums_of(0.1)[:2], sums_of(0.1)[::-1], [*sums_of(0.1), torch.zeros(1, dtype=torch.float64)]],
    ids=["too few", "order", "too many"],
)
def test_sums_of_other_shapes_are_refused(sums):
    with pytest.raises(ParameterError, match="shapes of the trainable"):
        IntegerRelease(grid_of(), SHAPES, steps=1).add(sums)


def test_short_floats_are_refused_because_nothing_is_proven_for_them():
    with pytest.raises(ParameterError, match="exact=True"):
        IntegerRelease(grid_of(), SHAPES, steps=1).add(sums_of(0.1, torch.float32))


def test_shapes_must_fit_the_grid_and_steps_must_be_a_number():
    with pytest.raises(ParameterError, match="1270 coordinates"):
        IntegerRelease(grid_of(), [(3,)], steps=1)
    for steps in (0, 1.0, True):
        with pytest.raises(ParameterError, match="steps"):
            IntegerRelease(grid_of(), SHAPES, steps=steps)


def test_noise_scale_is_in_units_of_the_gradient():
    release = IntegerRelease(grid_of(Fraction(2)), SHAPES, steps=1)
    assert 0.6 < release.noise_scale == pytest.approx(0.6, rel=1e-5)
