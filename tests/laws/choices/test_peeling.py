"""The first k of a race are k choices by softmax, each among what the earlier ones left."""

from __future__ import annotations

import itertools
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.laws import Peeling, Race, Softmax
from discreet.laws.samplers import race
from discreet.laws.samplers.race import as_scores
from discreet.randomness import keystream
from tests.laws.agreement import arb, assert_fits
from tests.randomness.sources import WORD, Stream, swapped

SCORES = {
    "two of three": ([0, 1, 3], Fraction(1, 2), 2),
    "all of three": ([0.5, -1.0, 0.25], Fraction(2), 3),
    "three of five": ([0, 0, 1, 1, 2], Fraction(1, 3), 3),
    "one of four": ([Fraction(1, 3), 0, 1, 1], Fraction(1), 1),
    "beyond floats": ([10**400, 10**400 + 1, 10**400 - 2], Fraction(1, 2), 2),
}
named = pytest.mark.parametrize("name", SCORES)


def first_ones(scores, slope, places, blocks=1):
    one = Race(slope, places)
    for block in np.array_split(as_scores(scores), blocks):
        one.run(block)
    return one.winners


@settings(max_examples=25)
@given(st.lists(st.fractions(-8, 8), min_size=1, max_size=5), st.fractions(Fraction(1, 50), 3), st.integers(1, 3))
def test_it_is_softmax_on_what_is_left_again_and_again(scores, slope, places):
    places = min(places, len(scores))
    outcomes, low, high = Peeling(scores, slope, places).table()
    assert outcomes == list(itertools.permutations(range(len(scores)), places))
    with flint.ctx.workprec(300):
        for outcome, least, most in zip(outcomes, low, high, strict=True):
            left, truth = list(range(len(scores))), arb(1)
            for index in outcome:
                weights = {place: arb(slope * scores[place]).exp() for place in left}
                truth *= weights[index] / sum(weights.values(), arb(0))
                left.remove(index)
            assert not arb(float(least)) > truth
            assert not arb(float(most)) < truth
            assert most - least <= 1e-15
    assert low.sum() <= 1.0 <= high.sum() * (1 + 1e-15)


def test_one_place_is_softmax():
    scores, slope = [0, 3, 1], Fraction(1, 2)
    for index in range(3):
        assert Peeling(scores, slope, 1).pmf((index,)) == pytest.approx(Softmax(scores, slope).pmf(index), rel=1e-12)


@named
def test_winners_have_the_law(name, rounds):
    scores, slope, places = SCORES[name]
    law = Peeling(scores, slope, places)
    assert_fits(law, law.sample(rounds(sample=2_000, full=200_000)), comparisons=len(SCORES))


@named
def test_winners_have_the_law_when_scores_come_in_blocks(name, rounds):
    scores, slope, places = SCORES[name]
    drawn = [first_ones(scores, slope, places, len(scores)) for _ in range(rounds(sample=1_000, full=100_000))]
    assert_fits(Peeling(scores, slope, places), drawn, comparisons=len(SCORES))


@named
def test_the_same_words_have_the_same_winners_in_floats_and_in_balls(name, monkeypatch):
    scores, slope, places = SCORES[name]
    for label in range(40):
        with swapped(Stream(f"{name} {label}")):
            in_floats = first_ones(scores, slope, places)
        with monkeypatch.context() as patch, swapped(Stream(f"{name} {label}")):
            patch.setattr(race, "_TIME_ERROR", 1e300)
            assert first_ones(scores, slope, places) == in_floats


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=200),
    st.fractions(Fraction(1, 10**4), 3),
    st.integers(1, 40),
    st.integers(0),
)
def test_the_winners_are_the_least_times_in_their_order(scores, slope, places, label):
    with swapped(Stream(str(label))):
        drawn = keystream.words(len(scores))
    with swapped(Stream(str(label))):
        winners = first_ones(scores, slope, places)
    with flint.ctx.workprec(300):
        times = [
            (-arb(Fraction(2 * int(word) + 1, 2 * WORD)).log()).log() - arb(slope * Fraction(score))
            for word, score in zip(drawn.tolist(), scores, strict=True)
        ]
        order = sorted(range(len(times)), key=lambda index: float(times[index]))
        assert len(winners) == min(places, len(scores))
        for found, expected in zip(winners, order, strict=False):
            assert abs(times[found] - times[expected]) < arb(Fraction(1, 2**30))


def test_positions_count_across_blocks():
    scores = np.zeros(3 * keystream.BLOCK_WORDS + 5)
    scores[[7, 20_000, 49_000]] = [3000.0, 2000.0, 1000.0]
    assert first_ones(scores, Fraction(1), 3) == (7, 20_000, 49_000)


def test_weights_that_no_float_holds_keep_their_order():
    outcomes, low, _ = Peeling([0, -(10**5), -(10**6)], Fraction(1), 3).table()
    assert low[outcomes.index((0, 1, 2))] == pytest.approx(1.0)
    assert Peeling([0, -(10**400), 0], Fraction(1), 1).pmf((1,)) < 1e-300


def test_where_not_even_balls_tell_the_bounds_are_those_of_any_probability():
    outcomes, low, high = Peeling([0, -(10**400), -(2 * 10**400)], Fraction(1), 2).table()
    assert (low[outcomes.index((0, 1))], high[outcomes.index((0, 1))]) == (0.0, 1.0)


def test_too_many_outcomes_are_refused():
    with pytest.raises(ParameterError, match="fewer candidates"):
        Peeling(np.zeros(20), Fraction(1), 6).table()
