"""Poisson sampling: both directions, on exact mixtures."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError, RelationMismatch
from discreet.privacy import ZCDP, ApproxDP, PureDP, Relation, amplify_by_poisson
from tests.privacy.reference import at_most, ball, bounded_pairs, hockey_stick, leaky_response, mixture

ADDED = {"relation": Relation.ADD_REMOVE}


@pytest.mark.theorem("amplify_by_poisson.privacy")
@given(st.floats(0.01, 6.0), st.floats(0.0, 0.3), st.floats(0.0, 1.0))
def test_the_worst_pair_keeps_the_amplified_guarantee_in_both_directions_and_attains_it(epsilon, delta, rate):
    found = amplify_by_poisson(ApproxDP(epsilon, delta, **ADDED), rate)
    present, absent = leaky_response(epsilon, delta)
    sampled = mixture(rate, absent, present)
    removed, added = (hockey_stick(*pair, found.epsilon) for pair in ((sampled, absent), (absent, sampled)))
    assert at_most(removed, found.delta)
    assert at_most(added, found.delta)
    assert float(removed) == pytest.approx(float(found.delta), rel=1e-9, abs=1e-15)


@pytest.mark.theorem("amplify_by_poisson.privacy")
@given(st.data(), st.floats(0.01, 6.0), st.floats(0.0, 1.0))
def test_every_pure_release_keeps_the_amplified_guarantee(data, epsilon, rate):
    present, absent = data.draw(bounded_pairs(epsilon))
    found = amplify_by_poisson(PureDP(epsilon, **ADDED), rate).epsilon
    sampled = mixture(rate, absent, present)
    for a, b in zip(sampled, absent, strict=True):
        assert at_most((a / b).log(), found)
        assert at_most((b / a).log(), found)


@given(st.floats(0.0, 20.0), st.floats(0.0, 1.0))
def test_sampling_never_costs_more_and_everyone_is_no_sample(epsilon, rate):
    base = ApproxDP(epsilon, 1e-6, **ADDED)
    assert amplify_by_poisson(base, rate).implies(base)
    assert amplify_by_poisson(base, 1) == base
    assert amplify_by_poisson(base, 0) == ApproxDP(0, 0, **ADDED)


@given(st.floats(1e-9, 20.0), st.floats(1e-9, 1.0))
def test_the_result_is_the_formula_rounded_up(epsilon, rate):
    found = ball(amplify_by_poisson(PureDP(epsilon, **ADDED), rate).epsilon)
    truth = (ball(rate) * ball(epsilon).expm1()).log1p()
    assert at_most(truth, found)
    assert at_most(found, truth * (1 + ball(1e-15)))


@pytest.mark.parametrize("epsilon", [5e-324, 1e-300, 1e-9, 700, 710, 1e4, 1e300])
@pytest.mark.parametrize("rate", [5e-324, 1e-300, 1e-6, Fraction(1, 3), 1 - 2**-53])
def test_no_scale_overflows(epsilon, rate):
    found = amplify_by_poisson(PureDP(epsilon, **ADDED), rate).epsilon
    assert 0.0 < found <= epsilon
    if epsilon >= 700 and rate == 1e-6:
        assert found == pytest.approx(epsilon + math.log(1e-6), rel=1e-12)


def test_other_relations_are_refused_with_the_reason():
    with pytest.raises(RelationMismatch, match="differ in size"):
        amplify_by_poisson(PureDP(1, relation=Relation.CHANGE_ONE), 0.1)
    with pytest.raises(RelationMismatch, match="say so"):
        amplify_by_poisson(PureDP(1), 0.1)


@pytest.mark.parametrize("rate", [-0.1, 1.1, math.nan, math.inf, True, "0.5", None])
def test_rates_that_are_no_probabilities_are_refused(rate):
    with pytest.raises(ParameterError) as caught:
        amplify_by_poisson(PureDP(1, **ADDED), rate)
    assert caught.value.parameter == "rate"


def test_other_notions_are_told_to_convert():
    with pytest.raises(ParameterError, match="convert"):
        amplify_by_poisson(ZCDP(1, **ADDED), 0.1)
