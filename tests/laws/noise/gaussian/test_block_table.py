"""Tables of fine blocks have the rounded Gaussian law: integer comparisons decide only what is certain."""

from __future__ import annotations

from fractions import Fraction

import flint
import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.laws import RoundedGaussian
from discreet.laws.noise.gaussian.block_table import BlockTable, block_table
from discreet.laws.noise.gaussian.gaussian_sampler import RESIDUAL
from tests.laws.agreement import arb, assert_counts_fit, assert_fits, rounded_mass
from tests.randomness.sources import Constant, Script, Stream, swapped, within

SCALES = {
    "2^20": Fraction(2**20),
    "1e7/3": Fraction(10**7, 3),
    "2^30": Fraction(2**30) * Fraction(13, 10),
    "2^40": Fraction(2**40),
}
TOP = (1 << 64) - 1


def chance(table: BlockTable, scale: Fraction, block: int, offset: int) -> flint.arb:
    """The probability of acceptance s sqrt(2 pi) r(x) exp(start^2 / (2 v)), from the lemma."""
    start = block << table.low_bits
    variance = scale**4 / (scale**2 - Fraction(1, 12))
    height = arb(scale) * (2 * flint.arb.pi()).sqrt()
    return height * rounded_mass(scale, start + offset) * arb(Fraction(start * start) / (2 * variance)).exp()


@pytest.mark.parametrize("name", SCALES)
def test_draws_have_the_law(name, rounds):
    draws = BlockTable(SCALES[name]).draw(rounds(sample=200_000, full=8_000_000))
    assert_fits(RoundedGaussian(SCALES[name]), draws, comparisons=len(SCALES), degrees=20)


@pytest.mark.parametrize("name", SCALES)
def test_low_bits_are_uniform(name, rounds):
    draws = BlockTable(SCALES[name]).draw(rounds(sample=200_000, full=8_000_000)) % 64
    assert_counts_fit(np.bincount(draws, minlength=64), np.full(64, 1 / 64), comparisons=len(SCALES))


@pytest.mark.parametrize("name", SCALES)
def test_what_a_comparison_decides_is_heads_for_certain(name):
    scale, table = SCALES[name], block_table(SCALES[name])
    doubt, least = table.doubts
    for block in (0, 1, 100, 4096, table._reach - 1, table._reach):
        open_words = (2 * block + 1) * doubt + least
        assert open_words < 1 << 58  # below 2^63, as the comparison of signed integers needs
        word = TOP - open_words - 1  # the largest that is heads by comparison
        for offset in (0, 1, 1 << (table.low_bits - 1), (1 << table.low_bits) - 1):
            with flint.ctx.workprec(400):
                highest = arb(Fraction((word >> table.low_bits) + 1, 1 << (64 - table.low_bits)))
                assert highest < chance(table, scale, block, offset)


@pytest.mark.parametrize("name", SCALES)
@pytest.mark.parametrize("undecided", [None, 2.0], ids=["floats", "balls"])
def test_open_coins_are_decided_exactly(name, undecided):
    scale, table = SCALES[name], BlockTable(SCALES[name])
    table._undecided = undecided or table._undecided
    width = table.low_bits
    for block, offset in (0, 1), (17, 3), (4000, (1 << width) - 1), (20_000, 1 << (width - 1)):
        with flint.ctx.workprec(400):
            bits = int((chance(table, scale, block, offset) * flint.arb(2) ** 128).floor().unique_fmpz())
        cell, after = divmod(bits, 1 << (64 + width))
        near = [cell - 3, cell - 1, cell + 1, cell + 2, cell - (1 << 12), 0]
        cases = [(coin, 1 << 63) for coin in near if 0 <= coin < 1 << (64 - width)]
        cases += [(cell, (after >> width) + step) for step in (-1, 1)]
        for coin, later in cases:
            for minus in (False, True):
                low = offset ^ ((1 << width) - 1) if minus else offset
                word = np.array([(coin << width) | low], dtype=np.uint64)
                with swapped(Constant(later)):
                    heads = table._heads(np.array([block]), word, np.array([minus]))
                assert heads.tolist() == [(coin, later) < (cell, after >> width)], (block, coin - cell, minus)


@pytest.mark.parametrize("name", SCALES)
def test_settling_everything_gives_the_law(name, rounds):
    """What the table would decide by comparison is settled one by one instead: the same law, and the same values."""
    table, count = block_table(SCALES[name]), rounds(sample=100_000, full=2_000_000)
    random = np.empty(2 * count, dtype=np.uint64)
    Stream(name)(random.data.cast("B"))
    blocks = table._table.lookup(random[:count])
    settled = table.settle(blocks, random[count:])
    assert_fits(RoundedGaussian(SCALES[name]), settled, comparisons=len(SCALES), degrees=20)
    doubt, least = table.doubts
    certain = ~random[count:] > ((2 * (blocks ^ (blocks >> 63)) + 1) * doubt + least).astype(np.uint64)
    assert 0.999 < certain.mean() < 1
    mask = np.uint64((1 << table.low_bits) - 1)
    values = (blocks << table.low_bits) | (random[count:] & mask).astype(np.int64)
    certain &= values != -1  # minus zero is drawn again, whatever its coin
    values -= values >> 63
    assert np.array_equal(values[certain], settled[certain])


def test_the_residual_and_minus_zero_are_drawn_again():
    table = BlockTable(SCALES["2^20"])
    heads = np.zeros(3, dtype=np.uint64)
    with swapped(Script([1 << 63] * 20)), within(30):
        found = table.settle(np.array([RESIDUAL, 5, RESIDUAL]), heads)
    assert found[1] == 5 << table.low_bits
    assert RESIDUAL not in found.tolist()
    mask = (1 << table.low_bits) - 1
    zeros = table.settle(np.full(200, -1), np.full(200, mask, dtype=np.uint64))
    assert len(set(zeros.tolist())) > 150  # draws of the law, not 200 zeros; a tie among 200 is rare at 2^20
    assert table.settle(np.array([0]), np.array([0], dtype=np.uint64)).tolist() == [0]


def test_far_places_are_left_to_balls(monkeypatch):
    table = BlockTable(SCALES["2^20"])
    asked = []
    monkeypatch.setattr(BlockTable, "_is_heads", lambda *arguments: asked.append(arguments[1:]) or True)
    width = table.low_bits
    far = (64 * 2**20) >> width
    word = np.array([(123 << width) | 5], dtype=np.uint64)
    assert table._heads(np.array([far]), word, np.array([False])).tolist() == [True]
    assert asked[-1] == (far << width, 5, 123)
    table._heads(np.array([far]), word, np.array([True]))
    assert asked[-1] == (far << width, ((1 << width) - 1) ^ 5, 123)


@pytest.mark.parametrize("scale", [Fraction(2**20) - 1, Fraction(2**40) + 1, Fraction(1)])
def test_scales_without_a_proof_are_refused(scale):
    with pytest.raises(ParameterError, match="between 2\\^20 and 2\\^40"):
        BlockTable(scale)
