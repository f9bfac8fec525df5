"""A race is won with probability exactly proportional to exp(slope * score), whatever the scores are made of."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.laws import Race, Softmax
from discreet.laws.samplers import race
from discreet.laws.samplers.race import as_scores
from discreet.randomness import keystream
from tests.laws.agreement import arb, assert_counts_fit, assert_fits
from tests.randomness.sources import WORD, Constant, Script, Stream, swapped, within

SCORES = {
    "ints": ([0, 1, 2, 1], Fraction(1, 2)),
    "floats": ([0.1, -0.7, 0.3], Fraction(2)),
    "fractions": ([Fraction(1, 3), Fraction(2, 3), Fraction(0)], Fraction(3, 2)),
    "mixed": ([1, 0.5, Fraction(1, 3), 10**3 // 999], Fraction(1)),
    "huge ints": ([10**30, 10**30 + 1, 10**30 - 1], Fraction(1)),
    "beyond floats": ([10**400, 10**400 + 1, 10**400 - 2], Fraction(1, 2)),
    "a huge slope": ([Fraction(1, 10**400), Fraction(2, 10**400), 0], Fraction(10**400)),
    "a tiny slope": ([2.0**60, 0.0, 2.0**59], Fraction(1, 2**60)),
    "near the ends of int64": ([2**63 - 1, 2**63 - 2, 2**63 - 4], Fraction(1)),
    "equal": ([7] * 10, Fraction(5)),
}
named = pytest.mark.parametrize("name", SCORES)


def won(scores, slope, count, blocks=1):
    """Run races, feeding the scores in blocks, and return the winners."""
    winners = []
    for _ in range(count):
        one = Race(slope)
        for block in np.array_split(as_scores(scores), blocks):
            one.run(block)
        winners.append(one.winner)
    return np.array(winners)


@named
def test_winners_have_the_law(name, rounds):
    scores, slope = SCORES[name]
    assert_fits(Softmax(scores, slope), won(scores, slope, rounds(sample=2_000, full=200_000)), comparisons=len(SCORES))


@named
def test_winners_have_the_law_when_scores_come_in_blocks(name, rounds):
    scores, slope = SCORES[name]
    winners = won(scores, slope, rounds(sample=1_500, full=100_000), blocks=len(scores) - 1)
    assert_fits(Softmax(scores, slope), winners, comparisons=len(SCORES))


@named
def test_winners_have_the_law_when_every_comparison_is_made_in_balls(name, monkeypatch, rounds):
    monkeypatch.setattr(race, "_TIME_ERROR", 1e300)
    scores, slope = SCORES[name]
    winners = won(scores, slope, rounds(sample=1_000, full=50_000))
    assert_fits(Softmax(scores, slope), winners, comparisons=len(SCORES))


@named
def test_the_same_words_have_the_same_winner_in_floats_and_in_balls(name, monkeypatch):
    scores, slope = SCORES[name]
    for label in range(100):
        with swapped(Stream(f"{name} {label}")):
            in_floats = won(scores, slope, 1)
        with monkeypatch.context() as patch, swapped(Stream(f"{name} {label}")):
            patch.setattr(race, "_TIME_ERROR", 1e300)
            assert won(scores, slope, 1) == in_floats


@given(
    st.lists(st.floats(-1e6, 1e6) | st.integers(-(10**6), 10**6), min_size=2, max_size=80),
    st.fractions(Fraction(1, 10**7), 3),
    st.integers(0),
)
def test_the_winner_is_the_runner_with_the_least_time(scores, slope, label):
    values = as_scores(scores)
    with swapped(Stream(str(label))):
        drawn = keystream.words(values.size)
    with swapped(Stream(str(label))):
        one = Race(slope)
        one.run(values)
    with flint.ctx.workprec(400):
        times = [
            (-arb(Fraction(2 * int(word) + 1, 2 * WORD)).log()).log() - arb(slope * Fraction(score))
            for word, score in zip(drawn.tolist(), values.tolist(), strict=True)
        ]
        assert all(not times[index] < times[one.winner] - arb(Fraction(1, 2**30)) for index in range(len(times)))


def test_blocks_of_different_kinds_are_compared_exactly(rounds):
    """The first score is no float; a float next to it must not be taken for equal."""
    third, close_by = Fraction(1, 3), 1 / 3
    slope = abs(1 / (third - Fraction(close_by)))  # one unit of loss between the two
    blocks = [as_scores([third]), as_scores([close_by, close_by]), as_scores([0, 1]), as_scores([Fraction(1, 7)])]
    wins = np.zeros(6, dtype=np.int64)
    for _ in range(rounds(sample=3_000, full=100_000)):
        one = Race(slope)
        for block in blocks:
            one.run(block)
        wins[one.winner] += 1
    assert wins[[0, 1, 2, 3, 5]].sum() == 0  # the score 1 is ahead by far
    wins = np.zeros(3, dtype=np.int64)
    for _ in range(rounds(sample=3_000, full=100_000)):
        one = Race(slope)
        for block in blocks[:2]:
            one.run(block)
        wins[one.winner] += 1
    shares = np.array([math.exp(float(slope * (third - Fraction(close_by)))), 1.0, 1.0])
    assert_counts_fit(wins, shares / shares.sum(), comparisons=1)


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.uint8, np.uint32, np.float32, np.float16])
def test_narrow_numbers_are_not_mistaken(kind, rounds):
    scores = np.array([100, 27, 120, 0], dtype=kind)
    winners = [run_one(scores, Fraction(1, 20)) for _ in range(rounds(sample=2_000, full=50_000))]
    assert_fits(Softmax(scores.tolist(), Fraction(1, 20)), np.array(winners), comparisons=7)


def run_one(scores, slope):
    one = Race(slope)
    one.run(scores)
    return one.winner


@pytest.mark.parametrize(
    "scores", [[0.0, 1e308, -1e308], [0.0, 1e300], [-(10**400), 0], [0, 10**400, 5], [5e-324, 1.0]], ids=range(5)
)
@pytest.mark.parametrize("slope", [Fraction(10**10), Fraction(10**400)], ids=["1e10", "1e400"])
def test_scores_of_any_range_are_compared(scores, slope):
    with within(30):
        assert run_one(as_scores(scores), slope) == int(np.argmax(np.array(scores, dtype=object)))
        law = Softmax(scores, slope)
        assert law.pmf(law.sample()) == pytest.approx(1.0)


class Watched(Race):
    """A race that remembers everyone who challenged."""

    def __init__(self, slope):
        super().__init__(slope)
        self.runners = []

    def _challenge(self, runner):
        self.runners.append(runner)
        super()._challenge(runner)


WORDS = [
    1 << 30, (1 << 30) + 1, (1 << 30) + 12345, 1 << 31, 1 << 40, (1 << 53) + 1, 1 << 62, (1 << 63) - 1, 1 << 63,
    WORD - (1 << 34) - 1, WORD - (1 << 34), WORD - (1 << 34) + 512, WORD - (1 << 40) - 3, WORD // 3,
]  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("score", [0, 3, -1000, 10**9, 0.1, Fraction(1, 3), 1e200])
def test_the_filter_lemma_bounds_the_error_of_the_float(word, score):
    slope = Fraction(7, 3)
    with swapped(Constant(word)):
        one = Watched(slope)
        one.run(as_scores([1]))
        one._best = []
        one.run(as_scores([score]))
    runner = one.runners[-1]
    assert runner.index == 1
    with flint.ctx.workprec(1000):
        for end in (word, word + 1):
            if end < WORD:
                truth = (-arb(Fraction(end, WORD)).log()).log() - arb(slope * (Fraction(score) - 1))
                assert math.isinf(runner.low) or arb(runner.low) <= truth
                assert math.isinf(runner.high) or truth <= arb(runner.high)
    assert math.isfinite(runner.low) or not (1 << 30) <= word <= WORD - (1 << 34)


@pytest.mark.parametrize("word", [0, 1, (1 << 30) - 1, WORD - 1, WORD - 1000, WORD - (1 << 20), WORD - (1 << 33)])
def test_words_outside_the_lemma_are_compared_exactly(word):
    with swapped(Constant(word)):
        one = Watched(Fraction(1))
        one.run(as_scores([1]))
    assert (one.runners[0].low, one.runners[0].high) == (-math.inf, math.inf)


def test_equal_words_and_equal_scores_are_decided_fairly_by_further_bits(rounds):
    count = rounds(sample=1_000, full=50_000)
    wins = np.zeros(4, dtype=np.int64)
    for _ in range(count):
        with swapped(Script([12345 << 40] * 1024, then=keystream._operating_system_block)):
            wins[run_one(np.zeros(4, dtype=np.int64), Fraction(1))] += 1
    assert_counts_fit(wins, np.full(4, 0.25), comparisons=1)


@pytest.mark.parametrize("word", [0, WORD - 1])
def test_the_least_and_the_greatest_word_are_decided_by_further_bits(word):
    for _ in range(20):
        with swapped(Script([word] * 1024, then=keystream._operating_system_block)), within(30):
            assert run_one(np.array([0, 1000]), Fraction(1)) == 1


def test_a_stream_of_many_blocks_keeps_only_the_best():
    one = Race(Fraction(1))
    for start in range(0, 100_000, 30_000):
        scores = np.zeros(30_000)
        if start == 60_000:
            scores[12_345] = 1000.0
        one.run(scores)
    assert one.winner == 72_345


def test_positions_count_across_blocks_longer_than_a_block_of_words():
    scores = np.zeros(3 * keystream.BLOCK_WORDS + 5)
    scores[-1] = 1000.0
    assert run_one(scores, Fraction(1)) == scores.size - 1


def test_many_equal_candidates_win_equally_often(rounds):
    count = rounds(sample=300, full=20_000)
    winners = [run_one(np.zeros(20_000), Fraction(1)) for _ in range(count)]
    assert_counts_fit(np.bincount(np.array(winners) // 5_000, minlength=4), np.full(4, 0.25), comparisons=1)


def test_without_candidates_there_is_no_winner():
    one = Race(Fraction(1))
    with pytest.raises(InputError):
        _ = one.winner
    with pytest.raises(InputError):
        run_one(np.array([], dtype=np.float64), Fraction(1))


@given(st.lists(st.fractions(-50, 50), min_size=1, max_size=20), st.fractions(Fraction(1, 100), 10))
def test_softmax_encloses_its_definition(scores, slope):
    outcomes, low, high = Softmax(scores, slope).table()
    with flint.ctx.workprec(300):
        weights = [arb(slope * score).exp() for score in scores]
        total = sum(weights, arb(0))
        for index, weight in enumerate(weights):
            truth = weight / total
            assert arb(float(low[index])) <= truth <= arb(float(high[index]))
    assert outcomes == list(range(len(scores)))
    assert np.max(high - low) < 1e-11


@pytest.mark.parametrize("tenths", range(7000, 7600, 13))
def test_softmax_encloses_probabilities_below_the_normal_floats(tenths):
    _, low, high = Softmax([0, Fraction(-tenths, 10)], Fraction(1)).table()
    with flint.ctx.workprec(300):
        weight = arb(Fraction(-tenths, 10)).exp()
        assert arb(float(low[1])) <= weight / (1 + weight) <= arb(float(high[1]))


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=5), st.integers(-(10**30), 10**30))
def test_softmax_does_not_change_when_all_scores_move(scores, by):
    moved = Softmax([score + by for score in scores], Fraction(1, 3))
    for index in range(len(scores)):
        assert moved.pmf(index) == pytest.approx(Softmax(scores, Fraction(1, 3)).pmf(index), rel=1e-12)


def test_the_loss_of_moving_one_score_by_d_is_at_most_rate_d():
    pair = Softmax([0, 1, 2], Fraction(1, 2)).pair(Softmax([1, 1, 2], Fraction(1, 2)))
    assert 0 < pair.max_loss().upper <= 0.5
    both = Softmax([0, 1, 2], Fraction(1, 2)).pair(Softmax([1, 0, 1], Fraction(1, 2)))
    assert both.max_loss().upper <= 1.0


BAD_SCORES = [
    [np.float64(math.nan)], [np.float64(math.inf), 1.0],
    [], [math.nan], [1, math.inf], [True], ["1"], [None], [1j], [[1, 2]], "abc", None, 5, {1: 2}, np.array([[1.0]]),
    np.array([True]), np.array(["a"]), np.array([np.nan]), np.array([], dtype=np.float64), np.array([1 + 2j]),
    np.array([np.longdouble(1)]), np.array(3), np.array([1, None], dtype=object), {1.0, 2.0},
]  # fmt: skip


@pytest.mark.parametrize("scores", BAD_SCORES, ids=range(len(BAD_SCORES)))
def test_scores_that_are_no_finite_numbers_are_refused_without_being_shown(scores):
    with pytest.raises(InputError) as refusal:
        as_scores(scores)
    assert refusal.value.__cause__ is None
    assert refusal.value.__context__ is None
    assert "nan" not in str(refusal.value)


EXACT = [
    ([1, 2], np.int64, [1, 2]),
    ([1.0, 0.1], np.float64, [1, Fraction(0.1)]),
    ([1, 0.1], object, [1, Fraction(0.1)]),
    ([2**70, Fraction(1, 3)], object, [2**70, Fraction(1, 3)]),
    (range(3), np.int64, [0, 1, 2]),
    ((1,), np.int64, [1]),
    (np.array([2**64 - 1], dtype=np.uint64), object, [2**64 - 1]),
    (np.array([-128], dtype=np.int8), np.int64, [-128]),
    ([np.float64(0.1), 2.0], np.float64, [Fraction(0.1), 2]),
    ([np.int64(-(2**61)), 5], np.int64, [-(2**61), 5]),
    ([np.int64(-(2**63)), 5], object, [-(2**63), 5]),
    ([np.float64(0.5), 2], object, [Fraction(1, 2), 2]),
    (np.array([0.1], dtype=np.float32), np.float64, [Fraction(float(np.float32(0.1)))]),
]


@pytest.mark.parametrize(("scores", "kind", "exact"), EXACT, ids=range(len(EXACT)))
def test_scores_keep_their_exact_values(scores, kind, exact):
    values = as_scores(scores)
    assert values.dtype == kind
    assert [Fraction(value) for value in values.tolist()] == exact
