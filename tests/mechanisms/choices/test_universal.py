"""The exponential mechanism is every mechanism: randomized response and Laplace noise from their scores, law by law."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.laws import DiscreteLaplace
from discreet.mechanisms import Exponential, RandomizedResponse
from discreet.privacy.numbers import written

RELATIVE = 1e-11  # the laws' own bounds are this wide


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), 1, 4])
@pytest.mark.parametrize("categories", [2, 3, 10])
def test_randomized_response_is_the_exponential_mechanism_with_score_one_for_the_truth(epsilon, categories):
    own, general = (
        RandomizedResponse(epsilon=epsilon, categories=categories),
        Exponential(epsilon=2 * epsilon, sensitivity=1),
    )
    for truth in range(categories):
        scores = [int(report == truth) for report in range(categories)]
        laws = general.law(scores), own.law(truth)
        for report in range(categories):
            assert laws[0].pmf(report) == pytest.approx(laws[1].pmf(report), rel=RELATIVE)
    # its own loss is half of what the exponential mechanism guarantees for all scores of sensitivity 1
    pair = general.law([1, *[0] * (categories - 1)]).pair(general.law([0, 1, *[0] * (categories - 2)]))
    assert pair.max_loss().estimate == pytest.approx(float(epsilon), rel=1e-10)
    assert written(general.guarantee.epsilon) == 2 * epsilon


@pytest.mark.parametrize(("scale", "reach"), [(1, 80), (Fraction(5, 2), 200)])
def test_laplace_noise_is_the_exponential_mechanism_with_minus_the_distance_as_score(scale, reach):
    # epsilon = 2 D/scale makes the weight e^(-|y - x|/scale); what lies outside the window is below e^-80
    general, noise = Exponential(epsilon=Fraction(2) / scale, sensitivity=1), DiscreteLaplace(scale)
    law = general.law([-abs(output) for output in range(-reach, reach + 1)])
    for output in range(-20, 21):
        assert law.pmf(output + reach) == pytest.approx(noise.pmf(output), rel=RELATIVE)


def test_in_a_window_the_sum_of_weights_moves_and_the_loss_lies_between_one_and_two_epsilons():
    scale, window = 4, range(0, 9)
    general = Exponential(epsilon=Fraction(2, scale), sensitivity=1)
    laws = [general.law([-abs(output - value) for output in window]) for value in window]
    losses = [one.pair(other).max_loss().estimate for one, other in pairwise(laws)]
    assert 1 / scale < max(losses) < 2 / scale


@given(
    st.lists(st.lists(st.integers(1, 40), min_size=4, max_size=4), min_size=2, max_size=4),
)
def test_every_mechanism_is_the_exponential_mechanism_of_its_log_chances(rows):
    """With score ln p(y | x) and rate 1 the law is p itself; its epsilon is at most half of the one guaranteed."""
    chances = [[one / sum(row) for one in row] for row in rows]
    logs = [[math.log(one) for one in row] for row in chances]
    sensitivity = max(abs(a - b) for first in logs for second in logs for a, b in zip(first, second, strict=True))
    if sensitivity == 0:
        sensitivity = 1.0
    general = Exponential(epsilon=2 * Fraction(sensitivity), sensitivity=sensitivity)
    for row, scores in zip(chances, logs, strict=True):
        law = general.law(scores)
        assert all(law.pmf(place) == pytest.approx(chance, rel=1e-9) for place, chance in enumerate(row))
