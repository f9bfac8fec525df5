"""Draws from many candidates are exact: weights are never too small, and coins take away exactly what is too much."""

from __future__ import annotations

from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import DiscreetError, InputError, ParameterError
from discreet.laws import SignedDraws, SoftmaxDraws, signed_draws
from discreet.laws.samplers import softmax_draws
from tests.laws.agreement import arb, assert_fits
from tests.randomness.sources import WORD, Constant, Script, Stream, in_child, swapped

SCORES = {
    "a few": ([0, 1, 2, 1], Fraction(1, 2)),
    "both signs": ([-3, 2, 0, 5, -5], Fraction(1, 7)),
    "near the top of int64": ([2**63 - 1, 2**63 - 2, 2**63 - 4], Fraction(1)),
    "all of int64": ([2**63 - 1, -(2**63), 0, 2**62], Fraction(1, 2**63)),
    "beyond int64": ([10**30, 10**30 + 1, 10**30 - 1], Fraction(1)),
    "beyond floats": ([10**400, 10**400 + 1, 10**400 - 2], Fraction(1, 2)),
    "a tiny slope": ([10**400, -(10**400), 0], Fraction(1, 10**400)),
    "a huge slope": ([3, 3, 2], Fraction(10**400)),
    "very skewed": ([0, 0, -1000, -(10**6)], Fraction(1)),
    "equal": ([7] * 10, Fraction(5)),
}
SIGNED = {
    "zeros": ([0, 0, 0], Fraction(1)),
    "a few": ([0, 1, -2, 1], Fraction(1, 2)),
    "one": ([1], Fraction(1, 3)),
    "all of int64": ([2**63 - 1, -(2**63), 0, 2**62], Fraction(1, 2**63)),
    "beyond int64": ([10**30, -(10**30), 5], Fraction(1, 10**30)),
    "very skewed": ([1000, -1000, 3, -(10**6), 10**6 - 1], Fraction(1)),
}
named = pytest.mark.parametrize("name", SCORES)
signed = pytest.mark.parametrize("name", SIGNED)


def positions(scores, slope, count):
    """Return signed draws as positions of their law."""
    queries, signs = signed_draws(scores, slope, count)
    return queries + len(scores) * (signs < 0)


@named
def test_draws_have_the_law(name, rounds):
    draws = SoftmaxDraws(*SCORES[name])
    assert_fits(draws.law, draws.draw(rounds(sample=20_000, full=500_000)), comparisons=len(SCORES))


@named
def test_draws_have_the_law_when_every_coin_is_tossed_in_balls(name, monkeypatch, rounds):
    monkeypatch.setattr(softmax_draws, "_SLIVER", 2.0)
    draws = SoftmaxDraws(*SCORES[name])
    assert_fits(draws.law, draws.draw(rounds(sample=2_000, full=50_000)), comparisons=len(SCORES))


@signed
def test_signed_draws_have_the_law(name, rounds):
    scores, slope = SIGNED[name]
    drawn = positions(scores, slope, rounds(sample=20_000, full=500_000))
    assert_fits(SignedDraws(scores, slope).law, drawn, comparisons=len(SIGNED))


@signed
def test_signed_draws_have_the_law_when_every_coin_is_tossed_in_balls(name, monkeypatch, rounds):
    monkeypatch.setattr(softmax_draws, "_SLIVER", 2.0)
    scores, slope = SIGNED[name]
    drawn = positions(scores, slope, rounds(sample=2_000, full=50_000))
    assert_fits(SignedDraws(scores, slope).law, drawn, comparisons=len(SIGNED))


def test_draws_among_many_candidates_have_the_law(rounds):
    """The same few scores, each a thousand times: the classes have the law of the few."""
    few = np.array([0, 3, -2, 7, 1])
    draws = SoftmaxDraws(np.tile(few, 1000), Fraction(1, 3)).draw(rounds(sample=20_000, full=500_000))
    assert_fits(SoftmaxDraws(few, Fraction(1, 3)).law, draws % 5, comparisons=1)


@named
def test_the_same_words_draw_the_same_in_floats_and_in_balls(name, monkeypatch):
    draws = SoftmaxDraws(*SCORES[name])
    with swapped(Stream(name)):
        in_floats = draws.draw(500)
    monkeypatch.setattr(softmax_draws, "_SLIVER", 2.0)
    with swapped(Stream(name)):
        assert np.array_equal(draws.draw(500), in_floats)


@signed
def test_the_same_words_draw_the_same_queries_and_signs_in_floats_and_in_balls(name, monkeypatch):
    with swapped(Stream(name)):
        in_floats = positions(*SIGNED[name], 500)
    monkeypatch.setattr(softmax_draws, "_SLIVER", 2.0)
    with swapped(Stream(name)):
        assert np.array_equal(positions(*SIGNED[name], 500), in_floats)


def weights_of(draws):
    """Return the weights and the exponent of 2 they are in units of."""
    proposals = draws._proposals
    return np.diff(proposals._ends, prepend=0).tolist(), proposals._shift


WIDE = st.integers(-(2**63), 2**63 - 1)
NARROW = st.integers(-2000, 2000)
RATES = st.fractions(Fraction(1, 2**80), 4) | st.fractions(Fraction(1, 10**6), 4) | st.integers(1, 10**6).map(Fraction)


@given(st.lists(NARROW | WIDE | st.integers(-(10**40), 10**40), min_size=1, max_size=70), RATES)
def test_no_weight_is_too_small_and_none_is_much_too_large(scores, slope):
    weights, shift = weights_of(SoftmaxDraws(scores, slope))
    with flint.ctx.workprec(300):
        for score, weight in zip(scores, weights, strict=True):
            exponent = max(slope * (score - max(scores)), Fraction(-(10**5)))
            truth = arb(exponent).exp() * (1 << shift)
            assert truth <= weight
            assert weight - 1 <= truth * (1 + arb(Fraction(1, 2**35)))


@pytest.mark.parametrize("count", [1, 2, 3, 64, 65, 2**17, 2**17 + 1])
def test_prefix_sums_do_not_overflow_when_all_scores_tie(count):
    ends = SoftmaxDraws(np.zeros(count, dtype=np.int64), 1)._proposals._ends
    assert ends[0] > 0
    assert np.all(np.diff(ends) > 0)
    assert ends[-1] < 2**62


def thresholds(exponent, shift, weight):
    """Return the whole part of the coin's chance times 2^64."""
    with flint.ctx.workprec(2000):
        return int((arb(-exponent).exp() * (1 << (64 + shift)) / weight).floor().fmpz())


@pytest.mark.parametrize("distance", [1, 2, 5, 30, 43, 44, 60, 700, 1750], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_words_at_the_threshold_are_decided_exactly(distance, weighted):
    """The first word leaves the coin open; the bits after it decide."""
    slope = Fraction(3, 7)
    (_, weight), shift = weights_of(SoftmaxDraws([0, -distance], slope)) if weighted else ((1, 1), 0)
    edge = thresholds(slope * distance, shift, weight)
    for word in {max(edge - 1, 0), edge, min(edge + 1, WORD - 1)}:
        for after, heads in ((0, word <= edge), (WORD - 1, word + 1 <= edge)):
            with swapped(Script([word] * 64, then=Constant(after))):
                coin = softmax_draws._coins(np.array([distance], dtype=np.uint64), slope, shift, np.array([weight]))
            assert coin.tolist() == [heads]


def test_a_certain_coin_shows_heads_on_every_word():
    for word in (0, WORD // 2, WORD - 1):
        with swapped(Constant(word)):
            assert softmax_draws._coins(np.zeros(3, dtype=np.uint64), Fraction(1)).all()


def test_a_single_candidate_is_always_drawn():
    assert SoftmaxDraws([-5], 1).draw(100).tolist() == [0] * 100


def test_no_draws_are_an_empty_array():
    assert SoftmaxDraws([1, 2], 1).draw(0).shape == (0,)
    queries, signs = SignedDraws([1, 2], 1).draw(0)
    assert queries.shape == signs.shape == (0,)


def test_every_draw_is_of_type_int64_whatever_the_scores():
    for scores in (np.array([1, 2], dtype=np.int8), np.array([2**64 - 1, 2**64 - 2], dtype=np.uint64), [10**30, 0]):
        assert SoftmaxDraws(scores, 1).draw(5).dtype == np.int64
        assert {array.dtype for array in SignedDraws(scores, 1).draw(5)} == {np.dtype(np.int64)}


def test_changing_the_array_afterwards_changes_nothing():
    scores = np.array([0, 1000])
    draws, both = SoftmaxDraws(scores, 1), SignedDraws(scores, 1)
    scores[:] = [1000, 0]
    assert set(draws.draw(50).tolist()) == {1}
    assert set(both.draw(50)[0].tolist()) == {1}


@pytest.mark.parametrize("kind", [SoftmaxDraws, SignedDraws])
@pytest.mark.parametrize("scores", [[0.5, 1.0], [Fraction(1, 2), 1], [], [[1]], ["a"], None, [True], [None]], ids=str)
def test_scores_that_are_not_whole_are_refused(kind, scores):
    with pytest.raises(InputError, match="score"):
        kind(scores, 1)


@pytest.mark.parametrize("slope", [0, -1, float("nan"), None, "1"])
def test_a_rate_that_is_not_positive_is_refused(slope):
    with pytest.raises(ParameterError):
        SoftmaxDraws([1], slope)


def test_a_count_that_is_none_is_refused():
    for count in (-1, 1.0, True):
        with pytest.raises(DiscreetError):
            SoftmaxDraws([1], 1).draw(count)


def test_too_many_candidates_are_refused(monkeypatch):
    monkeypatch.setattr(softmax_draws, "_MOST_BITS", 3)
    SoftmaxDraws([0] * 8, 1)
    with pytest.raises(InputError, match="at most 2\\^3"):
        SoftmaxDraws([0] * 9, 1)


def test_the_repr_shows_no_score():
    assert repr(SoftmaxDraws([123, 456], 1)) == "SoftmaxDraws(<2 scores>)"
    assert repr(SignedDraws([123, 456], 1)) == "SignedDraws(<2 scores>)"


def test_a_forked_child_draws_its_own():
    """2^-1000 is the chance that both see the same."""
    draws = SoftmaxDraws(np.zeros(1024, dtype=np.int64), 1)
    draws.draw(10)
    theirs = in_child(lambda: draws.draw(100).tolist())
    assert len(theirs) == 100
    assert theirs != draws.draw(100).tolist()


def test_every_integer_below_the_sum_belongs_to_the_position_that_its_weights_give_it(monkeypatch):
    draws = SoftmaxDraws([3, 1, 2], Fraction(1, 2))
    weights, _ = weights_of(draws)
    ends = np.cumsum(weights)
    edges = np.array([0, ends[0] - 1, ends[0], ends[1] - 1, ends[1], ends[2] - 1])
    monkeypatch.setattr(softmax_draws, "uniform_below_array", lambda bound, _: edges if bound == ends[2] else None)
    monkeypatch.setattr(softmax_draws, "_coins", lambda distances, *_: np.ones(distances.size, dtype=np.bool_))
    assert draws._proposals.kept(6).tolist() == [0, 0, 1, 1, 2, 2]
