"""The law of winner and lead is the sum over all noises and fractions, and its bounds enclose it."""

from __future__ import annotations

import itertools
from collections import defaultdict
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.laws import DiscreteLaplace, NoisyMaxGapLaw, NoisyMaxLaw
from discreet.laws.choices.noisy_max import Winner, leader
from tests.laws.agreement import arb, assert_counts_fit, assert_fits, laplace_mass


def orders(count):
    """All orders of the fractions, equally likely: what matters of them is which is larger."""
    return list(itertools.permutations(range(count)))


def by_fractions(noised, order):
    """Return winner and floor of its lead when the fractions have this order."""
    values = [(whole, order[index]) for index, whole in enumerate(noised)]
    first, second = sorted(range(len(values)), key=values.__getitem__)[:-3:-1]
    lead = values[first][0] - values[second][0]
    return first, lead if values[first][1] > values[second][1] else lead - 1


def enumerated(scores, scale, window, cap):
    """Run the definition on every combination of noises and every order of fractions."""
    masses = DiscreteLaplace(scale).pmf(np.arange(-window, window + 1))
    listed = orders(len(scores))
    result = defaultdict(float)
    for noises in itertools.product(range(-window, window + 1), repeat=len(scores)):
        chance = np.prod([masses[noise + window] for noise in noises])
        noised = [score + noise for score, noise in zip(scores, noises, strict=True)]
        for order in listed:
            index, lead = by_fractions(noised, order)
            result[Winner(index, min(lead, cap))] += chance / len(listed)
    return result


@pytest.mark.parametrize("scores", [(0, 0), (0, 1), (2, 0), (0, 0, 0), (2, 0, 1), (0, 3, 3)])
def test_it_is_the_law_of_all_noises_and_fractions(scores):
    scale = Fraction(1, 2)
    window = 9 if len(scores) == 3 else 30
    law = NoisyMaxGapLaw(np.array(scores), DiscreteLaplace(scale), cap=6)
    expected = enumerated(scores, scale, window, 6)
    outcomes, low, high = law.table()
    assert set(expected) <= set(outcomes)
    for outcome, least, most in zip(outcomes, low, high, strict=True):
        assert (least + most) / 2 == pytest.approx(expected[outcome], abs=1e-6 if len(scores) == 3 else 1e-12)


def true_chance(scores, scale, index, gap, window):
    """Evaluate the sum of the docstring in balls, term by term; what lies outside the window is below 2^-100."""
    others = [score for place, score in enumerate(scores) if place != index]
    noise = DiscreteLaplace(scale)
    total = arb(0)
    for k in range(-window, window + 1):
        ways = [arb(1)]
        for score in others:
            equal, less = laplace_mass(scale, k - score), 1 - noise.tail_ball(k - score)
            ways = [a * less + b * equal for a, b in zip([*ways, arb(0)], [arb(0), *ways], strict=True)]
        here, above = (laplace_mass(scale, k + gap + more - scores[index]) for more in (0, 1))
        total += sum((w * (here + t * above) / (t + 1) for t, w in enumerate(ways) if t), arb(0))
    return total


@settings(max_examples=6)
@given(st.lists(st.integers(-3, 3), min_size=2, max_size=4), st.fractions(Fraction(1, 4), 2), st.integers(0, 12))
def test_the_bounds_enclose_the_law(scores, scale, gap):
    outcomes, low, high = NoisyMaxGapLaw(np.array(scores), DiscreteLaplace(scale)).table()
    with flint.ctx.workprec(200):
        for index in range(len(scores)):
            place = outcomes.index(Winner(index, gap))
            truth = true_chance(scores, scale, index, gap, int(75 * scale) + 30)
            assert not arb(float(low[place])) > truth
            assert not arb(float(high[place])) < truth
    assert np.max((high - low) / high) < 1e-10
    assert low.sum() <= 1.0 <= high.sum()


def test_without_the_lead_only_the_tie_break_differs_from_the_law_of_the_winner():
    spread = np.array([0, 4, 9])
    fine = DiscreteLaplace(40)
    with_lead = NoisyMaxGapLaw(10 * spread, fine)
    outcomes, low, _ = with_lead.table()
    winners = np.zeros(3)
    for outcome, chance in zip(outcomes, low, strict=True):
        winners[outcome.index] += chance
    plain = [NoisyMaxLaw(10 * spread, fine).pmf(index) for index in range(3)]
    assert np.allclose(winners, plain, atol=0.01)
    tied = NoisyMaxGapLaw(np.array([5, 5]), DiscreteLaplace(Fraction(1, 100)))
    assert tied.pmf(Winner(0, 0)) == pytest.approx(0.5)
    assert tied.pmf(Winner(1, 0)) == pytest.approx(0.5)


@pytest.mark.parametrize("scores", [[0, 0], [3, 1, 2], [0, 10, 10, 9, -5]], ids=range(3))
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3)], ids=str)
def test_draws_have_the_law(scores, scale, rounds):
    law = NoisyMaxGapLaw(np.array(scores), DiscreteLaplace(scale))
    assert_fits(law, law.sample(rounds(sample=10_000, full=500_000)), comparisons=6)


def test_ties_are_broken_fairly(rounds):
    count = rounds(sample=3_000, full=100_000)
    drawn = [leader(np.array([1, 7, 7, 0, 7])) for _ in range(count)]
    assert {gap for _, gap in drawn} == {0}
    wins = np.bincount([index for index, _ in drawn], minlength=5)
    assert wins[[0, 3]].sum() == 0
    assert_counts_fit(wins[[1, 2, 4]], np.full(3, 1 / 3), comparisons=2)
    leads = np.bincount([leader(np.array([5, 9, 5]))[1] for _ in range(count)], minlength=5)
    assert_counts_fit(leads[[3, 4]], [2 / 3, 1 / 3], comparisons=2)  # the best of two fractions is behind


def test_leads_are_exact_beyond_int64():
    assert leader(np.array([2**62, -(2**62), -(2**62)]))[1] in (2**63, 2**63 - 1)
    assert leader(np.array([10**30, 10**40], dtype=object))[1] in (10**40 - 10**30, 10**40 - 10**30 - 1)


def test_laws_of_different_reach_are_compared_at_the_larger_cap():
    noise = DiscreteLaplace(1)
    near, far = NoisyMaxGapLaw(np.array([0, 0]), noise), NoisyMaxGapLaw(np.array([0, 9]), noise)
    assert near.cap < far.cap
    assert len(near.pair(far).outcomes) == 2 * (far.cap + 1)
    assert far.pair(near).max_loss().lower > 1


def test_leads_are_told_in_the_unit_of_the_grid():
    law = NoisyMaxGapLaw(np.array([40, 0]), DiscreteLaplace(Fraction(1, 50)), grid=Fraction(1, 4))
    assert law.sample() in (Winner(0, 10.0), Winner(0, 9.75))


def test_a_window_too_wide_is_refused_with_advice():
    with pytest.raises(ParameterError, match="grid"):
        NoisyMaxGapLaw(np.array([0, 1]), DiscreteLaplace(2**20)).table()
