"""Warnings for guarantees that protect nobody or answer nothing."""

from __future__ import annotations

import math
import warnings

import pytest

from discreet.errors import ParameterError, SenselessParameter
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP, group_privacy, warn_if_senseless
from tests.privacy.reference import at_most, hockey_stick, law


def reasons(guarantee, people=None):
    """Return the warnings raised."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_if_senseless(guarantee, people)
    assert all(one.category is SenselessParameter for one in caught)
    return [str(one.message) for one in caught]


@pytest.mark.theorem("warn_if_senseless.privacy")
@pytest.mark.parametrize("people", [2, 5, 20])
def test_publishing_one_row_at_random_is_private_with_delta_one_over_n(people):
    table = law(*([1] * people + [0]))
    changed = law(*([1] * (people - 1) + [0, 1]))
    removed = law(*([1] * (people - 1) + [0, 0]))
    for other in (changed, removed):
        for pair in ((table, other), (other, table)):
            assert at_most(hockey_stick(*pair, 0), 1 / people, slack=1e-15)
    assert "publishing one of" in reasons(ApproxDP(1, 1 / people), people)[0]


@pytest.mark.theorem("warn_if_senseless.accuracy")
@pytest.mark.parametrize(
    ("guarantee", "people"), [(PureDP(0.0009), 1000), (ApproxDP(0.0009, 1e-9), 1000), (GaussianDP(0.0009), 1000)]
)
def test_all_people_together_hardly_change_the_answer(guarantee, people):
    (reason,) = reasons(guarantee, people)
    assert "below 1/1000" in reason
    together = group_privacy(guarantee, people)
    assert float(next(value for _, value in together._parameters())) < 1


@pytest.mark.theorem("warn_if_senseless.accuracy")
def test_a_tiny_rho_is_useless_too():
    (reason,) = reasons(ZCDP(4.9e-7), 1000)
    assert "1/(2 * 1000^2)" in reason
    assert group_privacy(ZCDP(4.9e-7), 1000).rho < 0.5
    assert reasons(ZCDP(5.1e-7), 1000) == []


@pytest.mark.parametrize("guarantee", [PureDP(20), ApproxDP(25, 1e-9), ZCDP(20), RenyiDP(2, 30), GaussianDP(6.4)])
def test_an_epsilon_that_guarantees_nothing_is_named(guarantee):
    (reason,) = reasons(guarantee)
    assert "guarantees nothing" in reason


@pytest.mark.parametrize("guarantee", [ApproxDP(1, 0.01), ZCDP(1, 0.5)])
def test_a_large_delta_is_senseless_for_every_table(guarantee):
    (reason,) = reasons(guarantee)
    assert "complete disclosure" in reason


@pytest.mark.parametrize(
    ("guarantee", "people"),
    [
        (PureDP(1), None),
        (PureDP(0.001), 1000),
        (ApproxDP(1, 1e-6), 10_000),
        (ApproxDP(1, 0.0099), None),
        (ZCDP(0.5), 100),
        (GaussianDP(1), 100),
        (RenyiDP(2, 1), 100),
        (PureDP(19.99), 10),
    ],
)
def test_sensible_guarantees_pass_in_silence(guarantee, people):
    assert reasons(guarantee, people) == []


def test_several_faults_are_all_named():
    assert len(reasons(ApproxDP(30, 0.5), 100)) == 2
    assert len(reasons(ApproxDP(0, 0.5), 100)) == 2


@pytest.mark.parametrize("people", [0, -5, 2.5, True, "10", math.nan])
def test_numbers_of_people_are_counts(people):
    with pytest.raises(ParameterError) as caught:
        warn_if_senseless(PureDP(1), people)
    assert caught.value.parameter == "people"
