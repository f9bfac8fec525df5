"""The law of AboveThreshold's hits with their gaps is the sum over all noises, and its bounds enclose it."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.laws import AboveThresholdGapLaw, AboveThresholdLaw, DiscreteLaplace
from discreet.laws.choices.above_threshold import Hit
from tests.laws.agreement import arb, assert_fits, laplace_mass


def enumerated(distances, threshold_scale, query_scale, hits, cap, window):
    """Run the mechanism on every combination of noises and add their probabilities up."""
    places = range(-window, window + 1)
    of_threshold = DiscreteLaplace(threshold_scale).pmf(np.array(places))
    of_query = DiscreteLaplace(query_scale).pmf(np.array(places))
    result = defaultdict(float)
    for noises in itertools.product(places, repeat=len(distances) + 1):
        reported = []
        for position, (distance, noise) in enumerate(zip(distances, noises[1:], strict=True)):
            margin = distance + noise - noises[0]
            if margin >= 0:
                reported.append(Hit(position, min(margin, cap)))
            if len(reported) == hits:
                break
        result[tuple(reported)] += of_threshold[noises[0] + window] * math.prod(
            of_query[n + window] for n in noises[1:]
        )
    return result


@pytest.mark.parametrize("distances", [(0,), (2, -1), (-2, 0), (1, 1)])
@pytest.mark.parametrize("hits", [1, 2])
def test_it_is_the_law_of_all_combinations_of_noises(distances, hits):
    window = 40 if len(distances) == 1 else 20
    law = AboveThresholdGapLaw(
        np.array(distances), DiscreteLaplace(Fraction(1, 2)), DiscreteLaplace(Fraction(3, 4)), hits=hits, cap=5
    )
    expected = enumerated(distances, Fraction(1, 2), Fraction(3, 4), hits, 5, window)
    outcomes, low, high = law.table()
    assert set(outcomes) == set(expected)
    for outcome, least, most in zip(outcomes, low, high, strict=True):
        assert (least + most) / 2 == pytest.approx(expected[outcome], abs=1e-9)


def true_probability(law: AboveThresholdGapLaw, outcome: tuple[Hit, ...], window: int) -> flint.arb:
    """Evaluate the sum of the docstring in balls."""
    gaps = {hit.position: hit.gap for hit in outcome}
    last = outcome[-1].position if len(outcome) == law.hits else law.distances.size - 1
    total = arb(0)
    for noise in range(-window, window + 1):
        term = laplace_mass(law.threshold_noise.scale, noise)
        for position in range(last + 1):
            needed = noise - int(law.distances[position])
            if position not in gaps:
                term *= 1 - law.query_noise.tail_ball(needed)
            elif gaps[position] == law.cap:
                term *= law.query_noise.tail_ball(needed + law.cap)
            else:
                term *= laplace_mass(law.query_noise.scale, needed + gaps[position])
        total += term
    return total


@settings(max_examples=6)
@given(
    st.lists(st.integers(-3, 3), min_size=1, max_size=3),
    st.fractions(Fraction(1, 4), 1),
    st.fractions(Fraction(1), 2),
    st.integers(1, 2),
)
def test_the_bounds_enclose_the_law(distances, threshold_scale, query_scale, hits):
    law = AboveThresholdGapLaw(
        np.array(distances), DiscreteLaplace(threshold_scale), DiscreteLaplace(query_scale), hits=hits, cap=4
    )
    outcomes, low, high = law.table()
    with flint.ctx.workprec(200):
        for index in range(0, len(outcomes), 7):
            truth = true_probability(law, outcomes[index], int(75 * threshold_scale) + 20)
            assert not arb(float(low[index])) > truth
            assert not arb(float(high[index])) < truth
    assert np.max((high - low) / high) < 1e-10
    assert low.sum() <= 1.0 <= high.sum()


@pytest.mark.parametrize("hits", [1, 2])
def test_without_the_gaps_it_is_the_law_of_the_verdicts(hits):
    distances = np.array([0, 2, -3])
    noises = DiscreteLaplace(Fraction(1, 2)), DiscreteLaplace(1)
    outcomes, low, _ = AboveThresholdGapLaw(distances, *noises, hits=hits).table()
    verdicts = defaultdict(float)
    for outcome, chance in zip(outcomes, low, strict=True):
        verdicts[tuple(hit.position for hit in outcome)] += chance
    plain = AboveThresholdLaw(distances, 0, noises[0].scale, noises[1].scale, hits)
    for positions, chance in verdicts.items():
        assert plain.pmf(positions) == pytest.approx(chance, rel=1e-9)


@pytest.mark.parametrize(("hits", "scale"), [(1, 3), (2, Fraction(1, 2))])
@pytest.mark.parametrize("values", [[0], [2, -1]], ids=str)
def test_draws_have_the_law(values, hits, scale, rounds):
    law = AboveThresholdGapLaw(np.array(values), DiscreteLaplace(scale), DiscreteLaplace(2 * scale), hits=hits)
    assert_fits(law, law.sample(rounds(sample=10_000, full=500_000)), comparisons=4)


def test_one_draw_is_a_tuple_of_hits():
    small = DiscreteLaplace(Fraction(1, 50))
    law = AboveThresholdGapLaw(np.array([100, -100, 40]), small, small, hits=2, grid=Fraction(1, 4))
    assert law.sample() == (Hit(0, 25.0), Hit(2, 10.0))
    assert law.sample((2, 3)).shape == (2, 3)


def test_laws_of_different_reach_are_compared_at_the_larger_cap():
    noise = DiscreteLaplace(1)
    near, far = (AboveThresholdGapLaw(np.array([place]), noise, noise) for place in (0, 9))
    assert len(near.pair(far).outcomes) == far.cap + 2
    assert far.pair(near).max_loss().lower > 1


def test_what_is_too_large_is_refused_with_advice():
    wide, narrow = DiscreteLaplace(2**30), DiscreteLaplace(1)
    with pytest.raises(ParameterError, match="grid"):
        AboveThresholdGapLaw(np.array([0]), wide, narrow, cap=5).table()
    with pytest.raises(ParameterError, match="outcomes"):
        AboveThresholdGapLaw(np.zeros(5, dtype=np.int64), narrow, narrow, hits=3).table()


def test_distances_that_leave_64_bits_are_refused():
    noise = DiscreteLaplace(1)
    with pytest.raises(ParameterError, match="2\\^62"):
        AboveThresholdGapLaw(np.array([-(2**63)]), noise, noise)
