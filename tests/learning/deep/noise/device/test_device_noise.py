"""Noise made by integer operations of torch has exactly the law, on the path that a release takes."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from discreet.laws import RoundedGaussian  # noqa: E402  torch comes first
from discreet.laws.noise.gaussian.block_table import block_table  # noqa: E402
from discreet.laws.noise.gaussian.gaussian_sampler import RESIDUAL  # noqa: E402
from discreet.learning.deep.noise import CorrelatedRelease, GradientGrid, IntegerRelease, integer_release  # noqa: E402
from discreet.learning.deep.noise.device import DeviceNoise, chacha, device_noise  # noqa: E402
from tests.laws.agreement import assert_counts_fit, assert_fits  # noqa: E402
from tests.randomness.sources import Stream, in_child  # noqa: E402

SCALES = {"2^20": Fraction(2**20), "2^31": Fraction(2**31) * Fraction(7, 5), "2^40": Fraction(2**40)}


def words(name, count):
    """Return words that are the same in every run."""
    found = np.empty(count, dtype=np.int64)
    Stream(name)(found.data.cast("B"))
    return found


def odd_words(table, count):
    """Return pairs that end at the edges of every comparison."""
    random = np.random.default_rng()
    first, second = random.integers(-(2**63), 2**63 - 1, (2, count))
    column = random.integers(0, 1 << table.column_bits, count)
    edge = table.kept[column] + random.integers(-1, 2, count)
    capacity = 1 << (64 - table.column_bits)
    at_edge = (column.astype(np.uint64) << np.uint64(64 - table.column_bits)) | np.clip(edge, 0, capacity - 1).astype(
        np.uint64
    )
    first = np.where(random.random(count) < 0.7, at_edge.view(np.int64), first)
    blocks = table._table.lookup(first.view(np.uint64))
    doubt, least = table.doubts
    with np.errstate(over="ignore"):
        bound = (2 * (blocks ^ (blocks >> 63)) + 1) * doubt + least
    near = ~(bound + random.integers(-1, 2, count))
    second = np.where(random.random(count) < 0.7, near, second)
    second[::97] = (1 << table.low_bits) - 1  # minus zero where the block is -1
    return first, second


@pytest.mark.parametrize("name", SCALES)
def test_draws_have_the_law(name, rounds):
    count = rounds(sample=200_000, full=5_000_000)
    draws = DeviceNoise(SCALES[name], count, "cpu").take().numpy()
    assert_fits(RoundedGaussian(SCALES[name]), draws, comparisons=len(SCALES), degrees=20)


@pytest.mark.parametrize("name", SCALES)
def test_low_bits_are_uniform(name, rounds):
    draws = DeviceNoise(SCALES[name], rounds(sample=100_000, full=5_000_000), "cpu").take().numpy() % 32
    assert_counts_fit(np.bincount(draws, minlength=32), np.full(32, 1 / 32), comparisons=len(SCALES))


@pytest.mark.parametrize("name", SCALES)
def test_what_the_device_decides_is_what_the_table_decides(name, rounds):
    table, noise = block_table(SCALES[name]), DeviceNoise(SCALES[name], 1, "cpu")
    for turn in range(rounds(sample=2, full=50)):
        plain = np.split(words(f"{name} {turn}", 100_000), 2)
        for first, second in (plain, odd_words(table, 50_000)):
            values, flagged, chosen = (
                one.numpy() for one in noise._decided(torch.from_numpy(first.copy()), torch.from_numpy(second.copy()))
            )
            blocks = table._table.lookup(first.view(np.uint64))
            assert np.array_equal(chosen, blocks)
            doubt, least = table.doubts
            for at in np.flatnonzero(np.arange(first.size) % 25 == 0).tolist():
                block, word = int(blocks[at]), int(second[at]) % (1 << 64)
                magnitude = block if block >= 0 else -1 - block
                value = (block << table.low_bits) | (word & ((1 << table.low_bits) - 1))
                doubtful = (1 << 64) - 1 - word <= (2 * magnitude + 1) * doubt + least
                assert bool(flagged[at]) == (block == RESIDUAL or doubtful or value == -1)
                if not flagged[at]:
                    assert int(values[at]) == value + (value < 0)
            kept = np.flatnonzero(~flagged)[:2_000]
            assert np.array_equal(table.settle(blocks[kept], second[kept].view(np.uint64)), values[kept])


def test_few_pairs_are_left_to_the_processor():
    for name, scale in SCALES.items():
        noise = DeviceNoise(scale, 1, "cpu")
        _, flagged, _ = noise._decided(*torch.from_numpy(words(name, 400_000)).view(2, -1))
        assert 0 < float(flagged.double().mean()) < 3e-4


def test_open_pairs_are_settled_and_all_else_is_untouched(monkeypatch):
    noise, seen = DeviceNoise(SCALES["2^31"], 1, "cpu"), []
    table = block_table(SCALES["2^31"])

    def settle(blocks, second):
        seen.append((blocks, second))
        return np.arange(blocks.size) + (1 << 50)

    monkeypatch.setattr(table, "settle", settle, raising=False)
    key = bytes(range(32))
    drawn = noise._drawn(key, 200_000)
    first, second = noise._pairs(key, 200_000)
    values, flagged, chosen = noise._decided(first, second)
    places = flagged.nonzero().squeeze(1)
    assert places.numel() == seen[0][0].size > 0
    assert np.array_equal(seen[0][0], chosen[places].numpy())
    assert np.array_equal(seen[0][1].view(np.int64), second[places].numpy())
    assert drawn[places].tolist() == [(1 << 50) + i for i in range(places.numel())]
    assert torch.equal(drawn[~flagged], values[~flagged])


@pytest.mark.parametrize("count", [1, 4, 4_001])
def test_each_draw_has_two_words_of_the_stream_of_its_own(count):
    key = bytes(range(32))
    blocks = -(-count // 4)
    stream = chacha.keystream(8 * blocks, "cpu", key).tolist()
    first, second = DeviceNoise(SCALES["2^31"], 1, "cpu")._pairs(key, count)
    wanted = [(stream[8 * block + 2 * j], stream[8 * block + 2 * j + 1]) for j in range(4) for block in range(blocks)]
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == wanted[:count]


def test_vectors_longer_than_a_chunk_are_whole(monkeypatch):
    monkeypatch.setattr(device_noise, "_CHUNK", 1_000)
    for length in (1, 999, 1_000, 1_001, 3_500):
        drawn = DeviceNoise(SCALES["2^31"], length, "cpu").take()
        assert drawn.shape == (length,)
        assert len(set(drawn.tolist())) > 0.99 * length  # 2^31 places: a tie among 3,500 is rare, 35 are not possible


def test_no_noise_comes_twice_not_even_in_a_fork_a_copy_or_a_pickle():
    noise = DeviceNoise(SCALES["2^40"], 4, "cpu")
    childs = in_child(lambda: [noise.take().tolist() for _ in range(5)])
    unpickled = pickle.loads(pickle.dumps(noise))  # noqa: S301  written here
    vectors = childs + [
        one.take().tolist() for one in (noise, noise, copy.copy(noise), copy.deepcopy(noise), unpickled)
    ]
    assert len({tuple(one) for one in vectors}) == 10  # four draws of scale 2^40 agree with a chance below 2^-160


@pytest.mark.theorem("IntegerRelease.privacy")
@pytest.mark.parametrize("kind", ["independent", "correlated"])
def test_a_release_with_noise_of_the_device_has_the_law(kind, monkeypatch, rounds):
    monkeypatch.setattr(
        integer_release, "_noises", lambda grid, _: DeviceNoise(grid.noise_scale, grid.dimension, "cpu")
    )
    grid = GradientGrid(
        norm=Fraction(1),
        dimension=2_000,
        physical=4,
        batches=1,
        summation_error=Fraction(0),
        scale=Fraction(2),
        fixed_slots=True,
    )
    steps = rounds(sample=30, full=500)
    if kind == "independent":
        release, factor = IntegerRelease(grid, [(2_000,)], steps=steps), 1
    else:
        release, factor = CorrelatedRelease(grid, [(2_000,)], steps=steps, coefficients=(5,)), 5
    drawn = []
    for step in range(steps):
        release.add([torch.full((2_000,), 0.5, dtype=torch.float64)])
        drawn.append(release.release(step)[0].numpy() / float(release.grid.step) * factor)
    noise = np.rint(np.concatenate(drawn)).astype(np.int64) - factor * int(Fraction(1, 2) / release.grid.step)
    assert_fits(RoundedGaussian(release.grid.noise_scale), noise, comparisons=2, degrees=20)


def test_the_processor_draws_ahead_and_so_do_short_vectors_and_scales_without_a_table():
    grid = GradientGrid(
        norm=Fraction(1), dimension=3, physical=1, batches=1, summation_error=Fraction(0), scale=Fraction(1, 2**20),
        fixed_slots=True,
    )  # fmt: skip
    assert not DeviceNoise.serves(grid.noise_scale)
    for device in (None, "cpu", "meta"):
        assert isinstance(integer_release._noises(grid, device), integer_release.DrawnAhead)
