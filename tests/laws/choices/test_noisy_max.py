"""The law of the noisy maximum is the sum over all noises, and its bounds enclose it."""

from __future__ import annotations

import itertools
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.laws import DiscreteLaplace, NoisyMaxLaw
from tests.laws.agreement import arb, assert_fits, laplace_mass


def enumerated(scores, scale, window):
    """Add the probability of every combination of noises to the position that wins, the first one on a tie."""
    masses = DiscreteLaplace(scale).pmf(np.arange(-window, window + 1))
    result = np.zeros(len(scores))
    for noises in itertools.product(range(-window, window + 1), repeat=len(scores)):
        noised = [score + noise for score, noise in zip(scores, noises, strict=True)]
        result[noised.index(max(noised))] += np.prod([masses[noise + window] for noise in noises])
    return result


def true_table(scores, scale, window):
    """Evaluate the sum of the docstring in balls; what lies outside the window is below 2^-100."""
    with flint.ctx.workprec(200):
        cumulative, total = {}, arb(0)
        for place in range(-window, window + 1):
            total += laplace_mass(scale, place)
            cumulative[place] = total

        def at_most(place):
            return cumulative[place] if -window <= place <= window else arb(int(place > window))

        result = []
        for i, score in enumerate(scores):
            value = arb(0)
            for z in range(score - window, score + window + 1):
                term = laplace_mass(scale, z - score)
                for j, other in enumerate(scores):
                    if j != i:
                        term *= at_most(z - other - (1 if j < i else 0))
                value += term
            result.append(value)
        return result


@pytest.mark.parametrize("scores", [(0, 0), (0, 1), (1, 0), (0, 0, 0), (2, 0, 1), (0, 3, 3)])
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1)], ids=str)
def test_it_is_the_law_of_all_combinations_of_noises(scores, scale):
    window = 13 if len(scores) == 3 else 40
    law = NoisyMaxLaw(np.array(scores), DiscreteLaplace(scale))
    expected = enumerated(scores, scale, window)
    assert np.allclose([law.pmf(i) for i in range(len(scores))], expected, atol=1e-5 if len(scores) == 3 else 1e-12)


@settings(max_examples=12)
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=4), st.fractions(Fraction(1, 4), 2))
def test_the_bounds_enclose_the_law(scores, scale):
    outcomes, low, high = NoisyMaxLaw(np.array(scores), DiscreteLaplace(scale)).table()
    truth = true_table(scores, scale, int(75 * scale) + 20)
    assert outcomes == list(range(len(scores)))
    with flint.ctx.workprec(200):
        for index, value in enumerate(truth):
            assert arb(float(low[index])) <= value <= arb(float(high[index]))
    assert np.max(high - low) < 1e-10


def test_on_a_tie_the_first_position_wins():
    low_noise = NoisyMaxLaw(np.array([5, 5, 5]), DiscreteLaplace(Fraction(1, 100)))
    assert low_noise.pmf(0) == pytest.approx(1.0)
    assert set(low_noise.sample(200).tolist()) == {0}


@pytest.mark.parametrize("scores", [[0], [0, 0], [3, 1, 2], [0, 10, 10, 9, -5], list(range(20))], ids=range(5))
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3), Fraction(40)], ids=str)
def test_draws_have_the_law(scores, scale, rounds):
    law = NoisyMaxLaw(np.array(scores), DiscreteLaplace(scale))
    drawn = law.sample(rounds(sample=20_000, full=1_000_000))
    if len(scores) == 1:
        assert not drawn.any()
    else:
        assert_fits(law, drawn, comparisons=15)


def test_the_loss_of_moving_scores_by_one_is_at_most_two_over_the_scale():
    noise = DiscreteLaplace(4)
    for moved in itertools.product([-1, 0, 1], repeat=3):
        pair = NoisyMaxLaw(np.array([2, 0, 1]), noise).pair(NoisyMaxLaw(np.array([2, 0, 1]) + moved, noise))
        assert pair.max_loss().lower <= 0.5


def test_a_window_too_wide_is_refused_with_advice():
    with pytest.raises(ParameterError, match="grid"):
        NoisyMaxLaw(np.array([0, 1]), DiscreteLaplace(2**30)).table()


def test_scores_far_apart_leave_only_one_winner():
    law = NoisyMaxLaw(np.array([0, 1000]), DiscreteLaplace(1))
    assert law.pmf(1) == pytest.approx(1.0)
    assert law.table()[1][0] <= law.table()[2][0]
