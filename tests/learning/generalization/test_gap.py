"""What is learned privately generalizes: the bounds against exact gaps of small learners."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from discreet.errors import ParameterError, RelationMismatch
from discreet.learning.generalization import generalization_gap, transfer_bound
from discreet.learning.pac import FiniteClassLearner
from discreet.privacy import ApproxDP, GaussianDP, PureDP, Relation, change_one_loss

ONE = Relation.CHANGE_ONE


@pytest.mark.theorem("generalization_gap.accuracy")
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 3])
@pytest.mark.parametrize("chance", [0.5, 0.8])
def test_the_expected_gap_of_a_chosen_hypothesis_is_within_the_bound(epsilon, chance):
    """All tables of four labels, exactly: the hypotheses are the constants and their scores the right labels."""
    hypotheses = [lambda rows: np.zeros(len(rows)), lambda rows: np.ones(len(rows))]
    learner = FiniteClassLearner(hypotheses, epsilon=epsilon, relation=ONE)
    rows, gap = np.zeros((4, 1)), 0.0
    for labels in product((0, 1), repeat=4):
        weight = chance ** sum(labels) * (1 - chance) ** (4 - sum(labels))
        law = learner.law((rows, np.array(labels)))
        for place, fresh in ((0, 1 - chance), (1, chance)):
            seen = np.mean(np.array(labels) == place)
            gap += weight * float(law.pmf(place)) * (seen - fresh)
    bound = generalization_gap(learner.loss)
    assert 0 < gap <= bound.bound
    assert bound.textbook == pytest.approx(math.expm1(epsilon), rel=1e-9)


def test_the_gap_of_pure_privacy_is_a_hyperbolic_tangent():
    assert generalization_gap(PureDP(1, relation=ONE).loss).bound == pytest.approx(math.tanh(0.5), abs=1e-9)


def test_the_textbook_is_read_at_its_own_delta():
    loss = GaussianDP(0.05, relation=ONE).loss
    gap = generalization_gap(loss, delta=1e-5)
    assert gap.textbook == pytest.approx(math.expm1(float(loss.epsilon(1e-5).upper)) + 1e-5, rel=1e-9)
    assert gap.bound < gap.textbook < 1
    assert "says nothing" in str(generalization_gap(loss))  # no epsilon at delta 0


def test_neighbors_by_one_more_row_are_refused_and_can_be_converted():
    loss = GaussianDP(0.1, relation=Relation.ADD_REMOVE).loss
    with pytest.raises(RelationMismatch):
        generalization_gap(loss)
    twice = generalization_gap(GaussianDP(0.2, relation=ONE).loss).bound
    assert generalization_gap(change_one_loss(loss)).bound >= twice * (1 - 1e-9)


@pytest.mark.theorem("transfer_bound.accuracy")
def test_the_transfer_bound_is_the_least_over_its_parameters():
    loss = ApproxDP(0.05, 1e-8, relation=ONE).loss
    found = transfer_bound(loss, sample_error=0.01, sample_failure=1e-6, confidence=0.95)
    for level, c, d in product((0.05, 0.06, 0.1), (1e-4, 1e-3, 0.01), (1e-6, 1e-4, 0.01)):
        if 1e-6 / c + float(loss.delta(level).upper) / d <= 0.05:
            assert found <= 0.01 + math.expm1(level) + c + 2 * d + 0.004  # levels between those tried cost little
    assert found > 0.01 + math.expm1(0.045)


@pytest.mark.theorem("transfer_bound.accuracy")
def test_released_means_are_within_the_transfer_bound_of_the_population():
    """A fair bit of 2,000 people, released 400 times: noise and sampling together stay within the bound."""
    draw = np.random.default_rng(4)
    people, mu = 2_000, 0.05
    loss = GaussianDP(mu, relation=ONE).loss
    noise = draw.normal(0, 1 / (people * mu), 400)
    answers = draw.binomial(people, 0.5, 400) / people + noise
    bound = transfer_bound(loss, sample_error=4 / (people * mu), sample_failure=6.4e-5, confidence=0.95)
    assert np.mean(np.abs(answers - 0.5) > bound) <= 0.05
    assert bound < 0.3


@pytest.mark.parametrize(
    "call",
    [
        lambda: generalization_gap(1.0),
        lambda: generalization_gap(PureDP(1, relation=ONE).loss, delta=-0.1),
        lambda: transfer_bound(PureDP(1, relation=ONE).loss, sample_error=-1, sample_failure=0.1, confidence=0.9),
        lambda: transfer_bound(PureDP(1, relation=ONE).loss, sample_error=0.1, sample_failure=0.1, confidence=1),
        *(
            lambda odd=odd: transfer_bound(
                PureDP(1, relation=ONE).loss, sample_error=odd, sample_failure=0.1, confidence=0.9
            )
            for odd in ("0.1", None, math.nan, math.inf, 10**400)
        ),
    ],
)
def test_what_cannot_be_used_is_refused(call):
    with pytest.raises(ParameterError):
        call()
