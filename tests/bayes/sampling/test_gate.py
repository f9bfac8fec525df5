"""The gate hands out draws that passed, says what was tried, and raises where nothing passes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.bayes.base import Diagnostics
from discreet.bayes.sampling import Joint, gate, sampled
from discreet.errors import NotConverged
from tests.bayes.sampling.targets import gaussian, hopeless, kinks, two_hills


@pytest.mark.theorem("sampled.accuracy")
def test_what_is_handed_out_passes_its_diagnostics():
    joint, _, _, evidence = gaussian()
    found = sampled(joint, generator=np.random.default_rng(1))
    assert found.method == "importance sampling about the mode"
    assert found.k_hat is not None
    assert found.k_hat <= 0.7
    assert found.failed == ()
    assert Diagnostics.of(found.draws, found.k_hat) == found.diagnostics
    assert found.diagnostics.passed
    assert abs(found.log_evidence - evidence) < 0.05 + 4 * found.log_evidence_error


@pytest.mark.parametrize("joint", [kinks(), two_hills()])
def test_weights_that_fail_lead_to_tempering(joint):
    found = sampled(joint, generator=np.random.default_rng(2))
    assert found.method.startswith("tempered")
    assert found.k_hat is None
    assert found.failed[0].startswith("importance sampling: ")
    assert found.diagnostics.passed


def test_tempering_alone_can_be_asked_for_with_its_evidence():
    joint, _, _, evidence = gaussian()
    found = sampled(joint, generator=np.random.default_rng(3), importance=False)
    assert found.method.startswith("tempered")
    assert math.isfinite(found.log_evidence_error)
    assert abs(found.log_evidence - evidence) < 0.3


def test_more_particles_are_tried_once(monkeypatch):
    asked = []
    exact = gate.tempered

    def counted(joint, *, generator, runs, particles, progress):
        asked.append(particles)
        found = exact(joint, generator=generator, runs=runs, particles=particles, progress=progress)
        if len(asked) == 1:
            object.__setattr__(found, "correlation", 0.5)
        return found

    monkeypatch.setattr(gate, "tempered", counted)
    joint, *_ = gaussian(2)
    found = sampled(joint, generator=np.random.default_rng(4), importance=False, draws=500)
    assert asked == [500, 2000]
    assert "still remember" in found.failed[0]


def test_a_hopeless_posterior_raises_and_hands_out_nothing(monkeypatch):
    monkeypatch.setattr("discreet.bayes.sampling.tempered._MOST_MOVES", 20, raising=False)
    with pytest.raises(NotConverged, match="none are handed out"):
        sampled(hopeless(), generator=np.random.default_rng(5), draws=200)


def test_an_impossible_release_raises():
    joint = Joint(gaussian(2)[0].draw_prior, gaussian(2)[0].log_prior, lambda points: np.full(len(points), -np.inf))
    with pytest.raises(NotConverged, match="covers it"):
        sampled(joint, generator=np.random.default_rng(6))
