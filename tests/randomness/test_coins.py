"""Coins are the comparison of an endless uniform with their probability: no bit of either is rounded."""

from __future__ import annotations

from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from discreet.errors import ParameterError
from discreet.randomness import bernoulli, bernoulli_array, bernoulli_exp
from discreet.randomness.coins import exp_scaled
from tests.chances import ALARM
from tests.randomness.sources import WORD, Constant, Script, swapped

PROBABILITIES = st.fractions(0, 1, max_denominator=10**6) | st.builds(
    lambda a, b: Fraction(min(a, b), max(a, b)), st.integers(1, 2**200), st.integers(1, 2**200)
)


def scaled_exp(exponent: Fraction, bit_count: int) -> int:
    """Return floor(exp(-exponent) 2^bit_count), computed with a wide margin."""
    with flint.ctx.workprec(bit_count + 200):
        value = (-flint.arb(flint.fmpq(exponent.numerator, exponent.denominator))).exp() * flint.arb(2) ** bit_count
        return int(value.floor().unique_fmpz())


def prefixed(probability_bits: int, agreed: int, last: int) -> list[int]:
    """Return words that agree with the first `agreed` words of a number of 256 bits and then go their own way."""
    wanted = [(probability_bits >> shift) & (WORD - 1) for shift in (192, 128, 64, 0)]
    return [*wanted[:agreed], last]


@given(PROBABILITIES, st.integers(0, 3), st.integers(0, WORD - 1))
def test_a_coin_is_the_comparison_of_the_bits_drawn_with_the_probability(probability, agreed, last):
    bits = min((probability.numerator << 256) // probability.denominator, (1 << 256) - 1)
    script = prefixed(bits, agreed, last)
    uniform = sum(Fraction(word, WORD ** (place + 1)) for place, word in enumerate(script))
    cell = Fraction(1, WORD ** len(script))
    with swapped(Script(script, then=Constant(0))):
        heads = bernoulli(probability)
    if uniform + cell <= probability:
        assert heads
    elif uniform >= probability:
        assert not heads
    else:  # the cell still holds the probability; the zeros that follow put the uniform at its lower end
        assert heads == (uniform < probability)


@given(PROBABILITIES, st.integers(0, 3), st.integers(0, WORD - 1))
def test_coins_in_an_array_settle_ties_like_single_ones(probability, agreed, last):
    bits = min((probability.numerator << 256) // probability.denominator, (1 << 256) - 1)
    script = prefixed(bits, agreed, last)
    with swapped(Script(script, then=Constant(0))):
        single = bernoulli(probability)
    with swapped(Script([script[0]] * 100, then=Script(script[1:], then=Constant(0)))):
        heads = bernoulli_array(probability, 100)
    assert heads[0] == single


@pytest.mark.parametrize("probability", [Fraction(1, 3), Fraction(1, 2), Fraction(WORD - 1, WORD), Fraction(1, WORD)])
def test_around_a_tie_the_neighboring_words_are_decided_at_once(probability):
    threshold = (probability.numerator << 64) // probability.denominator
    around = [word for word in (threshold - 1, threshold + 1) if 0 <= word < WORD]
    for word in around:
        with swapped(Script([word], then=Constant(1 << 63))):
            assert bernoulli(probability) == (word < threshold)


@pytest.mark.parametrize(
    ("extension", "heads"),
    [(0x5555555555555554, True), (0x5555555555555556, False), (0, True), (WORD - 1, False)],
)
def test_a_word_that_ties_with_one_third_is_decided_by_the_next(extension, heads):
    tie = 0x5555555555555555
    with swapped(Script([tie, tie, extension])):
        assert bernoulli(Fraction(1, 3)) is heads
    with swapped(Script([tie] * 70, then=Script([tie, extension] * 70))):
        assert bernoulli_array(Fraction(1, 3), 70).tolist() == [heads] * 70


def test_certain_coins_are_certain():
    for word in (0, 1, WORD - 1):
        with swapped(Constant(word)):
            assert bernoulli(Fraction(1))
            assert not bernoulli(Fraction(0))
            assert bernoulli_exp(Fraction(0))
            assert bernoulli_array(Fraction(1), 70).all()
            assert not bernoulli_array(Fraction(0), 70).any()


EXPONENTS = st.fractions(Fraction(1, 10**9), 40) | st.fractions(40, 500) | st.just(Fraction(1, 10**40))


@given(EXPONENTS, st.integers(1, 400))
def test_exp_is_enclosed_by_integers_a_few_apart(exponent, bit_count):
    low, high = exp_scaled(exponent, bit_count)
    truth = scaled_exp(exponent, bit_count)
    assert low <= truth
    assert truth + 1 <= high or truth == high
    assert 0 <= low <= high <= low + 3


@given(EXPONENTS, st.integers(0, 3), st.integers(0, WORD - 1))
def test_an_exponential_coin_is_the_comparison_of_the_bits_drawn_with_exp(exponent, agreed, last):
    script = prefixed(scaled_exp(exponent, 256), agreed, last)
    with swapped(Script(script, then=Constant(1 << 63))):
        heads = bernoulli_exp(exponent)
    known = 64 * (len(script) + 4)
    uniform = 0
    for word in [*script, *[1 << 63] * 4]:
        uniform = (uniform << 64) | word
    assert heads == (uniform <= scaled_exp(exponent, known))


def test_words_that_follow_exp_for_200_bits_are_still_decided_right():
    exponent = Fraction(1, 3)
    bits = scaled_exp(exponent, 256)
    for difference in (-1, 1):
        words = prefixed(bits + difference, 4, 0)[:4]
        with swapped(Script(words)):
            assert bernoulli_exp(exponent) is (difference < 0)


@pytest.mark.parametrize("probability", [Fraction(1, 3), Fraction(1, 2), Fraction(999, 1000), Fraction(1, 10**4)])
@pytest.mark.parametrize("array", [False, True])
def test_coins_fall_as_often_as_they_should(probability, array, rounds):
    count = rounds(sample=50_000, full=2_000_000)
    heads = bernoulli_array(probability, count).sum() if array else sum(bernoulli(probability) for _ in range(count))
    assert binomtest(int(heads), count, float(probability)).pvalue > ALARM / 8


@pytest.mark.parametrize("exponent", [Fraction(1, 100), Fraction(1, 3), Fraction(1), Fraction(7, 2)])
def test_exponential_coins_fall_as_often_as_they_should(exponent, rounds):
    count = rounds(sample=20_000, full=500_000)
    heads = sum(bernoulli_exp(exponent) for _ in range(count))
    assert binomtest(heads, count, float(np.exp(-float(exponent)))).pvalue > ALARM / 4


BAD = [-1, 2, Fraction(-1, 10**9), Fraction(10**9 + 1, 10**9), 0.5, float("nan"), float("inf"), -0.0, "1/2", None, 1j]
HUGE = [Fraction(10**400), Fraction(-(10**400)), 10**5000]


@pytest.mark.parametrize("probability", [*BAD, np.float64(0.5)], ids=repr)
def test_what_is_no_rational_probability_is_refused(probability):
    for toss in (bernoulli, lambda p: bernoulli_array(p, 3)):
        with pytest.raises(ParameterError) as refusal:
            toss(probability)
        assert refusal.value.parameter == "probability"


@pytest.mark.parametrize("probability", HUGE, ids=["10^400", "-10^400", "10^5000"])
def test_a_huge_number_is_no_probability(probability):
    for toss in (bernoulli, lambda p: bernoulli_array(p, 3)):
        with pytest.raises(ParameterError):
            toss(probability)


@pytest.mark.parametrize("exponent", [Fraction(-1, 3), -1, float("nan"), float("inf"), "1", None, 1j], ids=repr)
def test_what_is_no_exponent_is_refused(exponent):
    with pytest.raises(ParameterError) as refusal:
        bernoulli_exp(exponent)
    assert refusal.value.parameter == "exponent"


@pytest.mark.parametrize("probability", [Fraction(1, 2), Fraction(1)])
def test_a_negative_number_of_coins_is_refused(probability):
    with pytest.raises(ParameterError):
        bernoulli_array(probability, -1)
