"""Discrete Laplace draws are exact: floats, balls and the slow reference have one law, and a word has one value."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.laws import DiscreteLaplace
from discreet.laws.noise import discrete_laplace as laplace_sampler
from discreet.laws.noise.discrete_laplace import LaplaceSampler, LogarithmFloor
from discreet.laws.samplers.reference import reference_laplace
from tests.laws.agreement import SCALES as COMMON
from tests.laws.agreement import arb, assert_counts_fit, assert_fits
from tests.randomness.sources import WORD, Constant, Script, Stream, swapped

SCALES = COMMON | {"2^20+1/3": 2**20 + Fraction(1, 3), "2^70": Fraction(2**70)}
NARROW = [name for name, scale in SCALES.items() if scale <= 2**20]
WIDE = [name for name, scale in SCALES.items() if 2**20 < scale < 2**54]
HALF = 1 << 63


def unfiltered(scale: Fraction, monkeypatch) -> LaplaceSampler:
    """Return a sampler whose filter trusts no float: every draw and every coin goes to balls."""
    sampler = LaplaceSampler(scale)
    sampler._high.bound = 1.0
    monkeypatch.setattr(laplace_sampler, "_DOUBTFUL", np.uint64(0))
    return sampler


@pytest.mark.parametrize("name", SCALES)
def test_the_fast_path_has_the_law(name, rounds):
    count = rounds(sample=100_000, full=4_000_000) if SCALES[name] < 2**54 else rounds(sample=10_000, full=200_000)
    draws = LaplaceSampler(SCALES[name]).draw(count)
    assert_fits(DiscreteLaplace(SCALES[name]), draws, comparisons=len(SCALES), degrees=2)


@pytest.mark.parametrize("name", SCALES)
def test_the_path_in_balls_has_the_law(name, monkeypatch, rounds):
    draws = unfiltered(SCALES[name], monkeypatch).draw(rounds(sample=3_000, full=200_000))
    assert_fits(DiscreteLaplace(SCALES[name]), draws, comparisons=len(SCALES), degrees=2)


@pytest.mark.parametrize("name", SCALES)
def test_the_reference_has_the_law(name, rounds):
    draws = [reference_laplace(SCALES[name]) for _ in range(rounds(sample=3_000, full=100_000))]
    assert_fits(DiscreteLaplace(SCALES[name]), np.array(draws, dtype=object), comparisons=len(SCALES), degrees=2)


@pytest.mark.parametrize("name", ["1", "1e3", "2^30"])
def test_single_draws_from_the_stock_have_the_law(name, rounds):
    law = DiscreteLaplace(SCALES[name], center=12345)
    draws = np.array([law.sample() for _ in range(rounds(sample=20_000, full=500_000))])
    assert_fits(law, draws, comparisons=3)


def test_a_scale_of_a_thousandth_is_always_zero():
    assert not LaplaceSampler(Fraction(1, 1000)).draw(50_000).any()  # another value has probability 2 e^-1000
    assert {reference_laplace(Fraction(1, 1000)) for _ in range(50)} == {0}


@pytest.mark.parametrize("name", ["1e3", "1e6", "2^20", "2^20+1/3", "2^21", "2^30", "2^40", "2^70"])
@pytest.mark.parametrize("modulus", [2, 16])
def test_the_low_bits_have_the_law(name, modulus, rounds):
    scale = SCALES[name]
    count = rounds(sample=100_000, full=4_000_000) if scale < 2**54 else rounds(sample=5_000, full=100_000)
    draws = LaplaceSampler(scale).draw(count) % modulus
    q = math.exp(-1 / scale)
    places = np.arange(modulus)
    probabilities = q**places + q ** (modulus - places)  # the sum of q^|r + modulus k| over k, up to a constant
    counts = np.bincount(draws.astype(np.int64), minlength=modulus)
    assert_counts_fit(counts, probabilities / probabilities.sum(), comparisons=16)


@pytest.mark.parametrize("name", [*NARROW, *WIDE])
def test_the_same_words_give_the_same_draws_with_and_without_the_filter(name, monkeypatch, rounds):
    count = rounds(sample=6_000, full=20_000)
    with swapped(Stream(name)):
        fast = LaplaceSampler(SCALES[name]).draw(count)
    with swapped(Stream(name)):
        slow = unfiltered(SCALES[name], monkeypatch).draw(count)
    assert np.array_equal(fast, slow)


@given(st.fractions(Fraction(1, 50), 2**22), st.integers(0))
def test_the_same_words_give_the_same_draws_at_any_scale(scale, label):
    with swapped(Stream(str(label))):
        fast = LaplaceSampler(scale).draw(60)
    with swapped(Stream(str(label))):
        sampler = LaplaceSampler(scale)
        sampler._high.bound = 1.0
        assert np.array_equal(fast, sampler.draw(60))


def threshold(scale: Fraction, k: int) -> flint.arb:
    """P(|X| >= k): the words below it give at least k."""
    if k == 0:
        return arb(1)
    return 2 * (-arb(k / scale)).exp() / (1 + (-1 / arb(scale)).exp())


def true_magnitude(scale: Fraction, uniform: Fraction) -> int:
    """Return the greatest k with uniform <= P(|X| >= k), decided at 500 bits from the law alone."""
    with flint.ctx.workprec(500):
        k = max(int(float(scale) * -math.log(uniform) + 0.5), 0)
        while not arb(uniform) <= threshold(scale, k):
            k -= 1
        while arb(uniform) <= threshold(scale, k + 1):
            k += 1
        return k


def adversarial_words(scale: Fraction, k: int):
    """Yield magnitudes whose cell holds or touches the threshold of k, and the words that could follow."""
    with flint.ctx.workprec(500):
        bits = int((threshold(scale, k) * flint.arb(2) ** 127).floor().unique_fmpz())
    cell, after = divmod(bits, WORD)
    for offset in (-2, -1, 1, 2):
        if 0 < cell + offset < HALF:
            yield cell + offset, 0
            yield cell + offset, WORD - 1
    for later in {0, max(after - 1, 0), after, min(after + 1, WORD - 1), WORD - 1}:
        yield cell, later


@pytest.mark.parametrize("name", NARROW)
def test_words_around_the_edges_of_cells_give_what_the_law_says(name):
    scale = SCALES[name]
    for k in {1, 2, 3, max(int(scale / 2), 1), int(scale) + 1, int(5 * scale) + 1, int(12 * scale) + 1}:
        for magnitude, later in adversarial_words(scale, k):
            uniform = (magnitude + Fraction(later, WORD - 1)) / HALF  # the word `later` for ever
            expected = true_magnitude(scale, uniform)
            for sampler in fast_and_slow(scale):
                for word, sign in ((magnitude, 1), (WORD - 1 - magnitude, -1)):
                    with swapped(Script([word], then=Constant(later))):
                        assert sampler.draw(1).tolist() == [sign * expected]


def fast_and_slow(scale: Fraction) -> list[LogarithmFloor]:
    slow = LogarithmFloor(scale, two_sided=True)
    slow.bound = 1.0
    return [LogarithmFloor(scale, two_sided=True), slow]


@pytest.mark.parametrize("name", NARROW)
@pytest.mark.parametrize("magnitude", [0, 1, 2, 1000, 2**43 - 1, 2**43, 2**43 + 1, 2**62, HALF - 1])
def test_words_at_the_ends_of_the_range_give_what_the_law_says(name, magnitude):
    scale = SCALES[name]
    later = 0x123456789ABCDEF
    uniform = (magnitude + Fraction(later, WORD - 1)) / HALF
    for sampler in fast_and_slow(scale):
        with swapped(Script([magnitude], then=Constant(later))):
            assert sampler.draw(1).tolist() == [true_magnitude(scale, uniform)]


@pytest.mark.parametrize("name", NARROW)
def test_the_filter_lemma_bounds_the_error_of_the_float(name, monkeypatch):
    scale = SCALES[name]
    sampler = LogarithmFloor(scale, two_sided=True)
    levels = []
    monkeypatch.setattr(np, "floor", lambda values, out: levels.append(values.copy()) or np.trunc(values, out=out))
    extreme = [
        2**43 + 1,
        2**44 - 1,
        2**53 + 1,
        2**62 + 2**8,
        HALF - 1,
        HALF - 600,
        WORD - 2**43 - 1,
        HALF,
        WORD - HALF + 512,
    ]
    with swapped(Script([*extreme, *Stream_words(400)])):
        raw, out = np.empty(409, np.uint64), np.empty(409, np.int64)
        sampler._block(raw, np.empty(409), np.empty(409), out)
    with flint.ctx.workprec(200):
        q = (-1 / arb(scale)).exp()
        offset = arb(scale) * (2 / (1 + q)).log()
        for word, level in zip(raw.view(np.int64).tolist(), levels[0].tolist(), strict=True):
            magnitude = word if word >= 0 else -word - 1
            if magnitude < 2**43:
                continue
            for end in (magnitude, magnitude + 1):
                truth = offset - arb(scale) * arb(Fraction(end, HALF)).log()
                assert abs(arb(level) - truth) < arb(sampler.bound)


def Stream_words(count: int) -> list[int]:  # noqa: N802
    block = bytearray(8 * count)
    Stream("lemma")(memoryview(block))
    return np.frombuffer(block, dtype=np.uint64).tolist()


@pytest.mark.parametrize("name", WIDE)
def test_coins_of_low_parts_around_their_probability_are_decided_exactly(name, monkeypatch):
    sampler = LaplaceSampler(SCALES[name])
    monkeypatch.setattr(sampler, "_low_part", lambda: "tails")
    monkeypatch.setattr(sampler, "_mask", sampler._mask)
    length = 64 - sampler.low_bits
    for low in {1, 2, sampler._mask // 2, sampler._mask}:
        exponent = Fraction(low) / sampler.scale
        with flint.ctx.workprec(400):
            bits = int(((-arb(exponent)).exp() * flint.arb(2) ** (length + 64)).floor().unique_fmpz())
        cell, after = divmod(bits, WORD)
        for coin, later in [(cell - 1, WORD - 1), (cell + 1, 0), (cell, after - 1), (cell, after + 1)]:
            if coin >= 1 << length:
                continue
            heads = (coin, later) < (cell, after)
            for value in ((5 << sampler.low_bits) | low, -1 - ((5 << sampler.low_bits) | low)):
                with swapped(Constant(later)):
                    assert kept(sampler, value, (coin << sampler.low_bits) | 7) == heads


def kept(sampler: LaplaceSampler, value: int, word: int) -> bool:
    """Say whether a low part is kept (on tails the stand-in for a new one cannot be combined and raises)."""
    try:
        return sampler._reconsidered(value, word) == value
    except TypeError:
        return False


@pytest.mark.parametrize("name", WIDE)
def test_a_coin_is_heads_for_every_low_part_unless_its_first_14_bits_are_ones(name):
    sampler = LaplaceSampler(SCALES[name])
    with flint.ctx.workprec(200):
        least = (-arb(Fraction(sampler._mask) / sampler.scale)).exp()
        assert arb(Fraction(int(laplace_sampler._DOUBTFUL), WORD)) < least


@pytest.mark.parametrize("name", WIDE)
def test_minus_zero_is_drawn_again(name):
    sampler = LaplaceSampler(SCALES[name])
    zero = HALF - 1  # a uniform next to 1: the high part is 0
    with swapped(Script([WORD - 1 - zero, sampler._mask], then=Stream("again"))):
        drawn = int(sampler.draw(1)[0])
    assert drawn != 0  # minus zero was drawn, and replaced by a draw from the stream
    with swapped(Script([zero, 0])):
        assert sampler.draw(1).tolist() == [0]


@pytest.mark.parametrize("count", [0, 1, 2, 63, 64, 65, 16_384, 16_385, 40_000])
@pytest.mark.parametrize("name", ["1", "2^30"])
def test_as_many_draws_as_asked(name, count):
    drawn = LaplaceSampler(SCALES[name]).draw(count)
    assert drawn.shape == (count,)
    assert drawn.dtype == np.int64


def test_scales_beyond_int64_give_python_integers():
    drawn = LaplaceSampler(Fraction(2**70)).draw(100)
    assert drawn.dtype == object
    assert all(type(value) is int for value in drawn)
    assert max(abs(value) for value in drawn) > 2**63


@pytest.mark.parametrize("scale", [Fraction(2**53), Fraction(2**54 - 1), Fraction(2**54), Fraction(2**55)])
def test_draws_next_to_the_limit_of_int64_have_the_law(scale):
    assert_fits(DiscreteLaplace(scale), LaplaceSampler(scale).draw(5_000), comparisons=4, degrees=50)


def test_a_value_beyond_int64_turns_the_array_into_python_integers():
    out = np.array([1, 2, 3])
    wide = laplace_sampler.with_integers(out, {1: 2**80})
    assert wide.tolist() == [1, 2**80, 3]
    assert laplace_sampler.with_integers(out, {}) is out
