"""The law of AboveThreshold's verdicts is the sum over all noises, and its bounds enclose it."""

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
from discreet.laws import AboveThresholdLaw, DiscreteLaplace
from tests.laws.agreement import arb, assert_fits, laplace_mass


def enumerated(values, threshold, threshold_scale, query_scale, hits, window):
    """Run the mechanism on every combination of noises and add their probabilities up."""
    places = range(-window, window + 1)
    of_threshold = DiscreteLaplace(threshold_scale).pmf(np.array(places))
    of_query = DiscreteLaplace(query_scale).pmf(np.array(places))
    result = defaultdict(float)
    for noises in itertools.product(places, repeat=len(values) + 1):
        level = threshold + noises[0]
        reported = []
        for position, (value, noise) in enumerate(zip(values, noises[1:], strict=True)):
            if value + noise >= level:
                reported.append(position)
            if len(reported) == hits:
                break
        result[tuple(reported)] += of_threshold[noises[0] + window] * math.prod(
            of_query[n + window] for n in noises[1:]
        )
    return result


@pytest.mark.parametrize("values", [(0,), (3, -1), (-2, 0), (1, 1)])
@pytest.mark.parametrize("hits", [1, 2])
def test_it_is_the_law_of_all_combinations_of_noises(values, hits):
    law = AboveThresholdLaw(np.array(values), 1, Fraction(1, 2), Fraction(1), hits)
    expected = enumerated(values, 1, Fraction(1, 2), Fraction(1), hits, 40 if len(values) == 1 else 24)
    assert set(law.table()[0]) == set(expected)
    for outcome, probability in expected.items():
        assert law.pmf(outcome) == pytest.approx(probability, abs=1e-9)


def true_probability(law: AboveThresholdLaw, outcome: tuple[int, ...], window: int) -> flint.arb:
    """Evaluate the sum of the docstring in balls."""
    last = outcome[-1] if len(outcome) == law.hits else law.distances.size - 1
    total = arb(0)
    for noise in range(-window, window + 1):
        term = laplace_mass(law.threshold_noise.scale, noise)
        for position in range(last + 1):
            tail = law.query_noise.tail_ball(noise - int(law.distances[position]))
            term *= tail if position in outcome else 1 - tail
        total += term
    return total


@settings(max_examples=12)
@given(
    st.lists(st.integers(-4, 4), min_size=1, max_size=4),
    st.fractions(Fraction(1, 4), 2),
    st.fractions(Fraction(1, 4), 3),
    st.integers(1, 3),
)
def test_the_bounds_enclose_the_law(values, threshold_scale, query_scale, hits):
    law = AboveThresholdLaw(np.array(values), 0, threshold_scale, query_scale, hits)
    outcomes, low, high = law.table()
    with flint.ctx.workprec(200):
        for index, outcome in enumerate(outcomes):
            truth = true_probability(law, outcome, int(75 * threshold_scale) + 10)
            assert arb(float(low[index])) <= truth <= arb(float(high[index]))
    assert np.max(high - low) < 1e-10


@pytest.mark.parametrize("count", [0, 1, 2, 5, 8])
@pytest.mark.parametrize("hits", [1, 2, 3, 10])
def test_the_outcomes_are_all_sets_of_positions_up_to_the_hits_and_add_up_to_one(count, hits):
    law = AboveThresholdLaw(np.zeros(count, dtype=np.int64), 0, Fraction(2), Fraction(4), hits)
    outcomes, low, high = law.table()
    expected = [set_ for size in range(min(hits, count) + 1) for set_ in itertools.combinations(range(count), size)]
    assert sorted(outcomes) == sorted(expected)
    assert low.sum() <= 1.0 <= high.sum()
    assert high.sum() - low.sum() < 1e-9


@pytest.mark.parametrize("hits", [1, 2, 5])
@pytest.mark.parametrize("values", [[0], [3, -1, 2], [-10, 0, 10, 0, 5, 1]], ids=str)
def test_draws_have_the_law(values, hits, rounds):
    law = AboveThresholdLaw(np.array(values), 1, Fraction(3), Fraction(6), hits)
    assert_fits(law, law.sample(rounds(sample=10_000, full=500_000)), comparisons=9)


def test_one_draw_is_a_tuple_of_positions():
    law = AboveThresholdLaw(np.array([100, -100, 100]), 0, Fraction(1, 10), Fraction(1, 10), 2)
    assert law.sample() == (0, 2)
    assert law.sample((2, 3)).shape == (2, 3)


def test_an_empty_stream_reports_nothing():
    law = AboveThresholdLaw(np.array([], dtype=np.int64), 0, Fraction(1), Fraction(1))
    assert law.table()[0] == [()]
    assert law.pmf(()) == pytest.approx(1.0)
    assert law.sample() == ()


def test_more_noise_on_the_threshold_than_the_window_holds_is_refused_with_advice():
    with pytest.raises(ParameterError, match="grid"):
        AboveThresholdLaw(np.array([0]), 0, Fraction(2**30), Fraction(1)).table()


def test_too_many_outcomes_are_refused():
    with pytest.raises(ParameterError, match="outcomes"):
        AboveThresholdLaw(np.zeros(30, dtype=np.int64), 0, Fraction(1), Fraction(1), 15).table()


@pytest.mark.parametrize(("value", "threshold"), [(-(2**63), 0), (2**63 - 1, -1), (-(2**62), 2**62), (0, 2**63)])
def test_distances_that_leave_64_bits_are_refused(value, threshold):
    with pytest.raises(ParameterError, match="2\\^62"):
        AboveThresholdLaw(np.array([value]), threshold, Fraction(1), Fraction(1))


def test_a_far_value_needs_too_large_a_window():
    with pytest.raises(ParameterError, match="grid"):
        AboveThresholdLaw(np.array([1 - 2**62]), 0, Fraction(1), Fraction(1)).table()
