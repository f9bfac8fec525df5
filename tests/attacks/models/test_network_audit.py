"""A network trained once with a thousand canaries: its plan stays open, and less noise than it claims is refuted."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from discreet.attacks import NetworkTraining, audit_network
from discreet.audit import Canaries
from discreet.errors import ParameterError
from discreet.learning.deep.plan import Clip, FullBatch, IndependentNoise, Plan, PoissonBatches
from discreet.privacy import Relation

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

DELTA = 1e-5
CANARIES = 1000


def plan(epsilon, sampler=None, *, steps=10, relation=Relation.ADD_REMOVE):
    return Plan.for_target(
        epsilon=epsilon, delta=DELTA, sampler=sampler or FullBatch(most_people=4096), clip=Clip(1.0), steps=steps,
        unit="row", relation=relation, divisor=500, noise=IndependentNoise,
    )  # fmt: skip


def audited(claim, *, noise=Fraction(1), guesses, confidence):
    training = NetworkTraining(replace(claim, noise=IndependentNoise(Fraction(claim.noise.scale) * noise)))
    return audit_network(
        training, canaries=CANARIES, guesses=guesses, delta=DELTA, confidence=confidence, guarantee=claim.loss
    )


@pytest.mark.theorem("NetworkTraining.privacy", "audit_network.accuracy")
@pytest.mark.parametrize(("epsilon", "guesses"), [(1, 200), (4, 600)])
def test_an_honest_training_stays_open(epsilon, guesses, rounds):
    """At the confidence 1 - 1e-9 an honest one is refuted, or bounded above its epsilon, once in 1e9 runs."""
    claim = plan(epsilon)
    for _ in range(rounds(sample=1, full=30)):
        found = audited(claim, guesses=guesses, confidence=1 - 1e-9)
        assert not found.refuted
        assert found.low <= epsilon


@pytest.mark.theorem("audit_network.accuracy")
@pytest.mark.parametrize(("epsilon", "noise", "guesses"), [(1, Fraction(1, 6), 200), (4, Fraction(1, 4), 600)])
def test_a_training_with_less_noise_than_it_claims_is_refuted(epsilon, noise, guesses, rounds):
    """A sixth at epsilon 1 and a quarter at 4: 51 and 27 wrong guesses would leave the claim open at 0.99.

    The scores of canaries in and out are normal and about 1.5 and 3.4 deviations apart. By these laws 9 of 200 and 0.9
    of 600 guesses are wrong on average, nearly independently, and as many as above with chances below 1e-20 and 1e-30.
    """
    claim = plan(epsilon)
    for _ in range(rounds(sample=1, full=30)):
        assert audited(claim, noise=noise, guesses=guesses, confidence=0.99).refuted


def test_sampled_canaries_are_weighed_by_the_chance_of_being_in_a_batch():
    """Rate 1/2, ten steps, hardly any noise: of those who are in, one in 1,024 is in no batch and looks as if out.

    Half a canary is such a one on average, and more than ten with a chance of 1e-11. All others are told apart for
    certain: the score of somebody who was never seen is ten times the logarithm of 1/2, that of others far above. (A
    step's ratio has mean -1200 and deviation 49 without the canary: 24 deviations below -10, where it would show.)
    """
    sampled = replace(
        plan(4), sampler=PoissonBatches(rate=Fraction(1, 2), most_people=4096), noise=IndependentNoise(0.02)
    )
    training, drawn = NetworkTraining(sampled), Canaries.drawn(CANARIES)
    scores = training.scores(CANARIES, training.run(drawn.included))
    assert np.allclose(scores[~drawn.included], 10 * np.log(0.5))
    assert np.count_nonzero(scores[drawn.included] < 10) <= 10


def test_what_is_seen_are_the_weights_and_the_noisy_sums_of_every_step():
    training = NetworkTraining(plan(4, steps=3))
    seen = training.run(np.ones(20, dtype=bool))
    assert len(seen) == 3
    for before, after in pairwise(seen):
        for weight, noisy, moved in zip(before.weights, before.noisy, after.weights, strict=True):
            assert torch.allclose(weight - 0.5 * noisy, moved, atol=1e-6)


def test_almost_all_of_a_canary_lies_at_its_own_input():
    """At the first weights a canary adds nearly the clip norm there, and nothing at other inputs."""
    training = NetworkTraining(plan(4))
    sums = next(iter(training._added(training._network(30), 30)()))[1]
    lengths = sums[0][:, :30].norm(dim=0)
    assert bool(((lengths > 0.96) & (lengths <= 1)).all())
    assert bool((sums[0][:, 30:] == 0).all())


def test_plans_without_an_audit_are_refused():
    with pytest.raises(ParameterError, match="under add/remove"):
        NetworkTraining(plan(4, relation=Relation.CHANGE_ONE))
    with pytest.raises(ParameterError, match="must be a Plan"):
        NetworkTraining(4)
    with pytest.raises(ParameterError, match="must be a NetworkTraining"):
        audit_network(plan(4), canaries=10, guesses=5, delta=DELTA, confidence=0.9)
