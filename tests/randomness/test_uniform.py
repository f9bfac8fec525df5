"""Uniform integers are exactly uniform, whatever the bound."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import chisquare

from discreet.errors import ParameterError
from discreet.randomness import uniform_below, uniform_below_array
from tests.chances import ALARM
from tests.randomness.sources import WORD, Script, swapped


@pytest.mark.parametrize("bound", [*range(1, 70), 127, 128, 129, 255, 256, 257])
def test_every_pattern_of_bits_below_the_bound_is_accepted_once_and_the_others_are_drawn_again(bound):
    width = (bound - 1).bit_length()
    patterns = range(1 << width)
    with swapped(Script([pattern << (64 - width) if width else 5 for pattern in patterns])):
        accepted = [uniform_below(bound) for _ in range(bound)]
    assert accepted == list(range(bound))


@given(st.integers(1, 300).flatmap(lambda n: st.integers((1 << (n - 1)) + 1, 1 << n)), st.data())
def test_below_any_bound_a_candidate_is_taken_as_it_is_or_drawn_again(bound, data):
    width = (bound - 1).bit_length()
    candidates = data.draw(st.lists(st.integers(bound, (1 << width) - 1), max_size=3)) if bound < 1 << width else []
    accepted = data.draw(st.integers(0, bound - 1))
    script = [word for candidate in (*candidates, accepted) for word in words_of(candidate, width)]
    with swapped(Script(script)):
        assert uniform_below(bound) == accepted


def words_of(value: int, width: int) -> list[int]:
    """Return the words whose top bits spell an integer of a given width."""
    padded = value << (-width % 64)
    count = -(-width // 64)
    return [(padded >> (64 * (count - 1 - place))) & (WORD - 1) for place in range(count)]


@given(st.integers(1, 1 << 63))
def test_arrays_accept_a_whole_number_of_periods_and_nothing_beyond(bound):
    assume(bound & (bound - 1))
    periods = WORD // bound
    limit = periods * bound - 1  # the last accepted word
    script = [limit, 0, bound - 1, bound, limit - bound + 1] + [1] * 95
    with swapped(Script(script)):
        drawn = uniform_below_array(bound, 100)
    assert drawn[:5].tolist() == [bound - 1, 0, bound - 1, 0, 0]


@given(st.integers(1, 1 << 63), st.integers(0))
def test_arrays_draw_again_exactly_the_words_beyond_the_last_period(bound, offset):
    assume(bound & (bound - 1))
    first_refused = WORD // bound * bound
    refused = first_refused + offset % (WORD - first_refused)
    script = [refused, WORD - 1, first_refused] + [7] * 97 + [refused] * 64 + [3] * 64  # the redrawn come in chunks
    with swapped(Script(script)):
        drawn = uniform_below_array(bound, 100)
    assert drawn.tolist() == [3 % bound] * 3 + [7 % bound] * 97


@pytest.mark.parametrize("exponent", [0, 1, 5, 31, 62, 63])
def test_powers_of_two_take_the_top_bits(exponent):
    script = [0, WORD - 1, 1 << 63, (1 << 63) - 1] + [0] * 96
    with swapped(Script(script)):
        drawn = uniform_below_array(1 << exponent, 100).tolist()
    assert drawn[:4] == [word >> (64 - exponent) for word in script[:4]]


@pytest.mark.parametrize("bound", [2, 3, 5, 7, 10, 100, 255, 256, 257, 1000])
@pytest.mark.parametrize("array", [False, True])
def test_small_bounds_pass_a_chi_square_test(bound, array, rounds):
    count = rounds(sample=20_000, full=400_000)
    drawn = uniform_below_array(bound, count) if array else [uniform_below(bound) for _ in range(count)]
    counts = np.bincount(drawn, minlength=bound)
    assert counts.size == bound
    assert chisquare(counts).pvalue > ALARM / 20


@pytest.mark.parametrize("bound", [3 * 2**61, 2**63 - 1, 2**62 + 1, 5 * 2**60])
def test_bounds_near_the_word_size_have_no_modulo_bias(bound, rounds):
    drawn = uniform_below_array(bound, rounds(sample=50_000, full=2_000_000))
    cells = np.bincount((drawn // (bound // 16 + 1)).astype(np.int64), minlength=16)
    edges = [min((bound // 16 + 1) * k, bound) for k in range(17)]
    expected = np.diff(np.array(edges, dtype=object)).astype(np.float64) / bound * drawn.size
    assert chisquare(cells, expected).pvalue > ALARM / 4


@pytest.mark.parametrize("bound", [2**64 + 1, 10**30, 2**200, 3**300])
def test_huge_bounds_pass_a_chi_square_test(bound, rounds):
    drawn = [uniform_below(bound) for _ in range(rounds(sample=5_000, full=100_000))]
    assert all(0 <= value < bound for value in drawn)
    assert chisquare(np.bincount([value * 16 // bound for value in drawn], minlength=16)).pvalue > ALARM / 8
    assert chisquare(np.bincount([value % 2 for value in drawn], minlength=2)).pvalue > ALARM / 8


def test_the_only_integer_below_one_is_zero():
    assert uniform_below(1) == 0
    assert uniform_below_array(1, 3).tolist() == [0, 0, 0]


def test_no_draws_are_an_empty_array():
    for bound in (1, 4, 5):
        drawn = uniform_below_array(bound, 0)
        assert drawn.shape == (0,)
        assert drawn.dtype == np.int64


BAD_BOUNDS = [0, -1, -(2**70), True, False, 1.0, 2.5, float("nan"), float("inf"), None, "3", 3j, [3], np.float64(4)]


@pytest.mark.parametrize("bound", BAD_BOUNDS, ids=repr)
def test_a_bound_that_is_no_positive_int_is_refused(bound):
    with pytest.raises(ParameterError) as refusal:
        uniform_below(bound)
    assert refusal.value.parameter == "bound"
    with pytest.raises(ParameterError) as refusal:
        uniform_below_array(bound, 3)
    assert refusal.value.parameter == "bound"


def test_a_bound_beyond_int64_is_refused_for_arrays():
    assert uniform_below_array(1 << 63, 3).dtype == np.int64
    with pytest.raises(ParameterError):
        uniform_below_array((1 << 63) + 1, 3)


@pytest.mark.parametrize("bound", [1, 3, 4])
def test_a_negative_number_of_draws_is_refused(bound):
    with pytest.raises(ParameterError):
        uniform_below_array(bound, -1)
