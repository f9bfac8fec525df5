"""Permute-and-flip: coins and a fair choice, the same as exponential noise, drawn exactly."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.laws import PermuteAndFlipLaw
from discreet.laws.choices.permute_and_flip import HighestOfExponentials
from discreet.laws.samplers import race
from discreet.laws.samplers.race import as_scores
from discreet.randomness import bernoulli_exp, keystream, uniform_below
from tests.laws.agreement import arb, assert_counts_fit, assert_fits
from tests.randomness.sources import WORD, Constant, Script, Stream, swapped, within

SCORES = {
    "ints": ([0, 1, 2, 1], Fraction(1, 2)),
    "floats": ([0.1, -0.7, 0.3], Fraction(2)),
    "fractions": ([Fraction(1, 3), Fraction(2, 3), Fraction(0)], Fraction(3, 2)),
    "huge ints": ([10**30, 10**30 + 1, 10**30 - 1], Fraction(1)),
    "beyond floats": ([10**400, 10**400 + 1, 10**400 - 2], Fraction(1, 2)),
    "a huge slope": ([Fraction(1, 10**400), Fraction(2, 10**400), 0], Fraction(10**400)),
    "a tiny slope": ([2.0**60, 0.0, 2.0**59], Fraction(1, 2**60)),
    "equal": ([7] * 10, Fraction(5)),
}
named = pytest.mark.parametrize("name", SCORES)


def highest(scores, slope):
    contest = HighestOfExponentials(slope)
    contest.run(as_scores(scores))
    return contest.winner


def enumerated(scores, slope):
    """Toss all coins in all ways and share the chance among the heads, in balls."""
    top = max(scores)
    heads = [arb(-slope * (top - score)).exp() for score in scores]
    chances = [arb(0) for _ in scores]
    for tossed in itertools.product((False, True), repeat=len(scores)):
        if any(tossed):
            chance = math.prod((p if up else 1 - p for p, up in zip(heads, tossed, strict=True)), start=arb(1))
            for index, up in enumerate(tossed):
                if up:
                    chances[index] += chance / sum(tossed)
    return chances


def permuted_and_flipped(scores, slope):
    """The algorithm as published: a random order, and the first heads."""
    left, top = list(range(len(scores))), max(scores)
    while True:
        index = left.pop(uniform_below(len(left)))
        if bernoulli_exp(slope * (top - Fraction(scores[index]))):
            return index


@settings(max_examples=25)
@given(st.lists(st.fractions(-6, 6), min_size=1, max_size=6), st.fractions(Fraction(1, 100), 3))
def test_the_bounds_enclose_the_law_of_all_tosses(scores, slope):
    outcomes, low, high = PermuteAndFlipLaw(scores, slope).table()
    assert outcomes == list(range(len(scores)))
    with flint.ctx.workprec(300):
        for index, truth in enumerate(enumerated(scores, slope)):
            assert arb(float(low[index])) <= truth <= arb(float(high[index]))
    assert np.max((high - low) / high) < 1e-14


def test_it_is_the_law_of_the_largest_score_with_exponential_noise():
    """Integrate P(others below x) over the density of the winner: (1, 2) against each other and against (0, 1, 2)."""
    slope = Fraction(1, 2)
    for scores in ([1, 2], [0, 1, 2], [0, 0, 3]):
        places = np.linspace(max(scores), max(scores) + 80, 400_001)
        for index, score in enumerate(scores):
            density = 0.5 * np.exp(-0.5 * (places - score))
            for other, level in enumerate(scores):
                if other != index:
                    density = density * -np.expm1(-0.5 * (places - level))
            integral = float(np.sum((density[1:] + density[:-1]) / 2) * (places[1] - places[0]))
            assert PermuteAndFlipLaw(scores, slope).pmf(index) == pytest.approx(integral, abs=1e-7)


def test_the_published_algorithm_has_this_law(rounds):
    scores, slope = [0, 3, 1, 3, 2], Fraction(2, 3)
    drawn = [permuted_and_flipped(scores, slope) for _ in range(rounds(sample=5_000, full=200_000))]
    assert_fits(PermuteAndFlipLaw(scores, slope), np.array(drawn), comparisons=1)


@named
def test_draws_have_the_law(name, rounds):
    scores, slope = SCORES[name]
    drawn = [highest(scores, slope) for _ in range(rounds(sample=2_000, full=200_000))]
    assert_fits(PermuteAndFlipLaw(scores, slope), np.array(drawn), comparisons=len(SCORES))


@named
def test_draws_have_the_law_when_every_comparison_is_made_in_balls(name, monkeypatch, rounds):
    monkeypatch.setattr(race, "_TIME_ERROR", 1e300)
    scores, slope = SCORES[name]
    drawn = [highest(scores, slope) for _ in range(rounds(sample=300, full=50_000))]
    assert_fits(PermuteAndFlipLaw(scores, slope), np.array(drawn), comparisons=len(SCORES))


@named
def test_the_same_words_choose_the_same_in_floats_and_in_balls(name, monkeypatch):
    scores, slope = SCORES[name]
    for label in range(40):
        with swapped(Stream(f"{name} {label}")):
            in_floats = highest(scores, slope)
        with monkeypatch.context() as patch, swapped(Stream(f"{name} {label}")):
            patch.setattr(race, "_TIME_ERROR", 1e300)
            assert highest(scores, slope) == in_floats


class Watched(HighestOfExponentials):
    """A contest that remembers everyone who took part."""

    def __init__(self, slope):
        super().__init__(slope)
        self.runners = []

    def _challenge(self, runner):
        self.runners.append(runner)
        super()._challenge(runner)


@pytest.mark.parametrize(
    "word",
    [1 << 30, (1 << 30) + 12345, 1 << 40, (1 << 53) + 1, 1 << 63, WORD - 1, WORD - 1000, WORD - (1 << 34), WORD // 3],
)
@pytest.mark.parametrize("score", [0, 3, -1000, 10**9, 0.1, Fraction(1, 3), 1e200])
def test_the_filter_lemma_bounds_the_error_of_the_float(word, score):
    slope = Fraction(7, 3)
    with swapped(Constant(word)):
        one = Watched(slope)
        one.run(as_scores([1]))
        one._best = []
        one.run(as_scores([score]))
    runner = one.runners[-1]
    assert math.isfinite(runner.low)
    with flint.ctx.workprec(1000):
        for end in (word, word + 1):
            truth = arb(Fraction(end, WORD)).log() - arb(slope * (Fraction(score) - 1))
            assert arb(runner.low) <= truth <= arb(runner.high)
            # the lemma itself, before the slack that the race allows
            assert abs(truth - (arb(runner.low) + arb(runner.high)) / 2) <= arb(2.0**-28 + abs(runner.high) * 2.0**-49)


@pytest.mark.parametrize("word", [0, 1, (1 << 30) - 1])
def test_words_outside_the_lemma_are_compared_exactly(word):
    with swapped(Constant(word)):
        one = Watched(Fraction(1))
        one.run(as_scores([1]))
    assert (one.runners[0].low, one.runners[0].high) == (-math.inf, math.inf)


def test_equal_words_and_equal_scores_are_decided_fairly_by_further_bits(rounds):
    wins = np.zeros(4, dtype=np.int64)
    for _ in range(rounds(sample=800, full=50_000)):
        with swapped(Script([12345 << 40] * 1024, then=keystream._operating_system_block)):
            wins[highest(np.zeros(4, dtype=np.int64), Fraction(1))] += 1
    assert_counts_fit(wins, np.full(4, 0.25), comparisons=1)


@pytest.mark.parametrize("word", [0, WORD - 1])
def test_the_least_and_the_greatest_word_are_decided(word):
    for _ in range(20):
        with swapped(Script([word] * 1024, then=keystream._operating_system_block)), within(30):
            assert highest(np.array([0, 1000]), Fraction(1)) == 1


def test_a_stream_of_many_blocks_keeps_only_the_best():
    contest = HighestOfExponentials(Fraction(1))
    for start in range(0, 100_000, 30_000):
        scores = np.zeros(30_000)
        if start == 60_000:
            scores[12_345] = 1000.0
        contest.run(scores)
    assert contest.winner == 72_345


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=5), st.integers(-(10**30), 10**30))
def test_the_law_does_not_change_when_all_scores_move(scores, by):
    moved = PermuteAndFlipLaw([score + by for score in scores], Fraction(1, 3))
    for index in range(len(scores)):
        assert moved.pmf(index) == pytest.approx(PermuteAndFlipLaw(scores, Fraction(1, 3)).pmf(index), rel=1e-12)


def test_scores_far_apart_leave_only_one_choice():
    law = PermuteAndFlipLaw([0, 10**400], Fraction(1, 3))
    assert law.pmf(1) == pytest.approx(1.0)
    assert law.table()[1][0] == 0.0
    assert law.sample((3,)).tolist() == [1, 1, 1]


def test_too_many_candidates_are_refused_with_the_number_that_works():
    with pytest.raises(ParameterError, match="512"):
        PermuteAndFlipLaw(np.zeros(513), Fraction(1)).table()
