"""Discrete Gaussian draws from a table are exact: no integer mass is too large, and the residual makes up the rest."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import flint
import numpy as np
import pytest

from discreet.errors import AssumptionFailed
from discreet.laws.noise.gaussian import gaussian_sampler as module
from discreet.laws.noise.gaussian.gaussian_sampler import GaussianTable, gaussian_table
from discreet.randomness.rigor import precision
from tests.laws.agreement import SCALES as COMMON
from tests.laws.agreement import arb, assert_counts_fit, assert_fits, gaussian
from tests.randomness.sources import WORD, Constant, Stream, swapped

SCALES = COMMON | {"1023": Fraction(1023), "1024": Fraction(1024)}
NARROW = [name for name, scale in SCALES.items() if scale < 1024]
WIDE = [name for name, scale in SCALES.items() if scale >= 1024]
COARSE = {"1/3": 8, "1": 8, "3.7": 8, "10": 8, "1e3": 17, "1024": 15, "2^30": 15}


@pytest.mark.parametrize("name", SCALES)
def test_the_table_has_the_law(name, rounds):
    draws = GaussianTable(SCALES[name]).draw(rounds(sample=100_000, full=10_000_000))
    assert_fits(gaussian(SCALES[name]), draws, comparisons=len(SCALES), degrees=2)


@pytest.mark.parametrize("name", COARSE)
def test_a_table_that_often_leaves_it_to_the_residual_has_the_law(name, rounds):
    table = GaussianTable(SCALES[name], mass_bits=COARSE[name])
    assert table._residual > WORD >> 8
    draws = table.draw(rounds(sample=2_000, full=50_000))
    assert_fits(gaussian(SCALES[name]), draws, comparisons=len(COARSE), degrees=2)


@pytest.mark.parametrize("name", ["1/3", "1", "3.7"])
def test_the_residual_alone_has_the_law_of_what_the_masses_leave_out(name, rounds):
    table = GaussianTable(SCALES[name], mass_bits=8)
    drawn = [table._from_residual() for _ in range(rounds(sample=1_500, full=50_000))]
    places = range(-table._reach - 3, table._reach + 4)
    with precision(200):
        missing = [float(residual_mass(table, place) * WORD / table._residual) for place in places]
    counts = np.bincount(np.array(drawn) - places[0], minlength=len(places))
    assert_counts_fit(counts, missing, comparisons=3)


def residual_mass(table: GaussianTable, outcome: int) -> flint.arb:
    """Return what an outcome's integer mass leaves out of its probability, from the definitions."""
    masses = dict(zip(table._outcomes.tolist(), table._masses, strict=True))
    return weight(table, outcome) / total(table) - arb(Fraction(masses.get(outcome, 0), WORD))


def weight(table: GaussianTable, outcome: int) -> flint.arb:
    place = outcome if table.low_bits == 0 or outcome >= 0 else -1 - outcome
    return (-arb(Fraction(place * place * 4**table.low_bits) / (2 * table._variance))).exp()


@lru_cache(maxsize=32)
def total(table: GaussianTable) -> flint.arb:
    """Add all weights up, far beyond the table."""
    with flint.ctx.workprec(400):
        reach = 3 * table._reach + 40
        half = sum((weight(table, place) for place in range(1, reach)), arb(0))
        return 1 + 2 * half if table.low_bits == 0 else 2 + 2 * half


@pytest.mark.parametrize("name", SCALES)
def test_no_integer_mass_exceeds_its_probability_and_little_is_left(name):
    table = GaussianTable(SCALES[name])
    assert sum(table._masses) + table._residual == WORD
    assert 0 < table._residual < WORD >> 35
    with flint.ctx.workprec(160):
        whole = total(table)
        for outcome, mass in zip(table._outcomes.tolist(), table._masses, strict=True):
            assert arb(Fraction(mass, WORD)) <= weight(table, outcome) / whole


@pytest.mark.parametrize("name", ["1/3", "1", "10", "1e3", "2^30"])
def test_words_reach_outcomes_by_exactly_their_integer_masses(name):
    table = GaussianTable(SCALES[name])
    capacity = 1 << (64 - table._table.column_bits)
    found = [0] * table.columns
    for column, (keep, alias) in enumerate(zip(table._table._keep.tolist(), table._table._alias.tolist(), strict=True)):
        found[column] += keep
        found[alias] += capacity - keep
    expected = [table._residual, *table._masses]
    assert found == expected + [0] * (table.columns - len(expected))
    assert table._decode.tolist()[1:] == table._outcomes.tolist()


@pytest.mark.parametrize("name", NARROW)
def test_a_narrow_table_lists_every_integer_within_8_sigma_once(name):
    table = GaussianTable(SCALES[name])
    reach = math.floor(8 * SCALES[name])
    assert set(range(-reach, reach + 1)) <= set(table._outcomes.tolist())
    assert len(set(table._outcomes.tolist())) == table._outcomes.size


@pytest.mark.parametrize("name", WIDE)
def test_a_wide_table_draws_blocks_of_a_256th_to_a_512th_of_sigma(name):
    table = GaussianTable(SCALES[name])
    assert 256 <= SCALES[name] / (1 << table.low_bits) < 512


@pytest.mark.parametrize("name", ["1", "10", "2^30"])
def test_the_walk_finds_the_outcome_whose_residual_interval_holds_the_uniform(name):
    table = GaussianTable(SCALES[name], mass_bits=8 if SCALES[name] < 100 else 15)
    with flint.ctx.workprec(400):
        ends = [arb(0)]
        outcomes = [outcome for outcome, _ in zip(table._everywhere(), range(40), strict=False)]
        for outcome in outcomes:
            ends.append(ends[-1] + residual_mass(table, outcome) * WORD / table._residual)
        edges = [int((end * flint.arb(2) ** 64).floor().unique_fmpz()) for end in ends[1:]]
    with precision(192):
        for index in (index for index in (0, 1, 2, 7, 12, 20, 38) if edges[index + 1] - edges[index] > 2):
            assert table._walk(edges[index], 64) is None  # its cell holds the end of an interval
            assert table._walk(edges[index] - 1, 64) in outcomes[: index + 1]
            assert table._walk(edges[index] + 1, 64) in outcomes[index + 1 : index + 2]


def test_the_walk_goes_on_beyond_the_table():
    table = GaussianTable(Fraction(1))
    with precision(400):
        assert table._walk(WORD - 1, 64) is None
        far = [table._walk((1 << 128) - 1 - step, 128) for step in (2**40, 2**50, 2**55)]
    assert any(outcome is not None and abs(outcome) > 8 for outcome in far)


def exact_coin(table: GaussianTable, magnitude: int, low: int) -> Fraction:
    high = magnitude << table.low_bits
    return Fraction(2 * high * low + low * low) / (2 * table._variance)


@pytest.mark.parametrize("name", WIDE)
@pytest.mark.parametrize("filter_width", [None, 4.0], ids=["fast", "balls"])
def test_coins_of_low_parts_around_their_probability_are_decided_exactly(name, filter_width, monkeypatch):
    table = GaussianTable(SCALES[name])
    monkeypatch.setattr(module, "_FILTER", filter_width or module._FILTER)
    width, mask = table.low_bits, (1 << table.low_bits) - 1
    for magnitude in (0, 1, 300, 2000):
        for low in {1, 2, mask // 2, mask}:
            exponent = exact_coin(table, magnitude, low)
            with flint.ctx.workprec(400):
                bits = int(((-arb(exponent)).exp() * flint.arb(2) ** (128 - width)).floor().unique_fmpz())
            cell, after = divmod(bits, WORD)
            near = [
                (cell - 1, 0),
                (cell + 1, 0),
                (cell - 2**10, 0),
                (cell + 2**10, 0),
                (cell, after - 1),
                (cell, after + 1),
            ]
            for coin, later in near:
                if not 0 <= coin < 1 << (64 - width):
                    continue
                for minus in (False, True):
                    raw = np.array([(coin << width) | ((mask - low) if minus else low)], dtype=np.uint64)
                    with swapped(Constant(later)):
                        heads = table._heads(np.array([magnitude]), raw, np.array([minus]))
                    assert heads.tolist() == [(coin, later) < (cell, after)]


@pytest.mark.parametrize("sigma", [*(SCALES[name] for name in WIDE), Fraction(777_777_777_777), Fraction(10**12, 3)])
def test_a_coin_taken_for_heads_at_first_sight_is_heads_for_every_low_part(sigma):
    table = GaussianTable(sigma)
    width, mask = table.low_bits, (1 << table.low_bits) - 1
    for magnitude in (0, 1, 100, 1000, table._reach):
        for block in (magnitude, -1 - magnitude):
            last = last_undoubted(table, block)
            with flint.ctx.workprec(200):
                least = (-arb(exact_coin(table, magnitude, mask))).exp()
                assert arb(Fraction(((last >> width) + 1) << width, WORD)) <= least


def last_undoubted(table: GaussianTable, block: int) -> int:
    """Return the greatest word that is taken for heads at first sight, by bisection."""
    low, high = 0, WORD
    while high - low > 1:
        middle = (low + high) // 2
        doubted = table._doubtful(np.array([middle], dtype=np.uint64), np.array([block])).size
        low, high = (low, middle) if doubted else (middle, high)
    assert low > WORD // 2
    return low


@pytest.mark.parametrize("name", WIDE)
def test_the_same_words_give_the_same_draws_with_and_without_the_filters(name, monkeypatch):
    with swapped(Stream(name)):
        fast = GaussianTable(SCALES[name]).draw(10_000)
    monkeypatch.setattr(module, "_FILTER", 4.0)
    table = GaussianTable(SCALES[name])
    monkeypatch.setattr(table, "_doubtful", lambda _, block: np.arange(block.size))
    with swapped(Stream(name)):
        slow = table.draw(10_000)
    assert np.array_equal(fast, slow)


@pytest.mark.parametrize("name", [*WIDE, "1e3"])
@pytest.mark.parametrize("modulus", [2, 16])
def test_the_low_bits_are_uniform(name, modulus, rounds):
    draws = GaussianTable(SCALES[name]).draw(rounds(sample=100_000, full=10_000_000)) % modulus
    assert_counts_fit(np.bincount(draws, minlength=modulus), np.full(modulus, 1 / modulus), comparisons=16)


def test_minus_zero_is_drawn_again(monkeypatch):
    table = GaussianTable(Fraction(2**20))
    mask = (1 << table.low_bits) - 1
    for block, low, again in [(-1, mask, True), (-1, mask - 1, False), (0, 0, False), (-2, mask, False)]:
        monkeypatch.setattr(module, "fill", lambda raw, low=low: raw.fill(low))
        raw, blocks = np.empty(3, np.uint64), np.full(3, block)
        assert table._refine(raw, blocks).size == (3 if again else 0)


def test_a_mass_above_its_probability_is_noticed_by_the_residual():
    table = GaussianTable(Fraction(1), mass_bits=8)
    table._masses[0] += 1 << 60
    with precision(200), pytest.raises(AssumptionFailed):
        table._walk(WORD - 2, 64)


@pytest.mark.parametrize("count", [0, 1, 2, 16_384, 16_385, 50_000])
@pytest.mark.parametrize("name", ["1", "2^30"])
def test_as_many_draws_as_asked(name, count):
    drawn = GaussianTable(SCALES[name]).draw(count)
    assert drawn.shape == (count,)
    assert drawn.dtype == np.int64


def test_a_table_is_made_once_for_a_sigma():
    assert gaussian_table(Fraction(77), Fraction(77 * 77)) is gaussian_table(Fraction(77), Fraction(77 * 77))
