"""Tempered sequential Monte Carlo finds means, spreads and evidence that are known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.bayes.base import Diagnostics
from discreet.bayes.sampling import Joint
from discreet.bayes.sampling.tempered import CORRELATION, tempered
from discreet.errors import NotConverged
from tests.bayes.sampling.targets import banana, gaussian, kinks, normal_prior, two_hills


def drawn(joint, *, seed=1, **options):
    return tempered(joint, generator=np.random.default_rng(seed), **options)


def log_mean(logs):
    return float(np.logaddexp.reduce(logs) - math.log(len(logs)))


def test_a_normal_posterior_has_its_mean_covariance_and_evidence():
    joint, mean, covariance, evidence = gaussian()
    found = drawn(joint)
    points = found.draws.reshape(-1, 5)
    deviations = np.sqrt(np.diagonal(covariance))
    assert np.abs((points.mean(axis=0) - mean) / deviations).max() < 0.12
    assert np.allclose(points.std(axis=0) / deviations, 1, atol=0.08)
    assert np.allclose(np.corrcoef(points.T), covariance / np.outer(deviations, deviations), atol=0.1)
    assert log_mean(found.log_evidences) == pytest.approx(evidence, abs=0.3)
    assert found.correlation < CORRELATION


def test_many_coordinates_do_not_draw_the_particles_together():
    # with proposals fitted to the particles they move, the evidence was off by 3 here and the spread by 2 %
    dimension, precision = 20, 1000.0
    joint = Joint(*normal_prior(dimension, 3.0), lambda points: -0.5 * precision * (points**2).sum(axis=1))
    found = drawn(joint)
    exact = -0.5 * dimension * math.log(1 + 9.0 * precision)
    assert log_mean(found.log_evidences) == pytest.approx(exact, abs=0.8)
    assert found.draws.std() * math.sqrt(precision) == pytest.approx(1, abs=0.02)


def test_two_hills_keep_their_shares():
    found = drawn(two_hills(share=0.25), particles=2000)
    assert (found.draws[..., 0] > 0).mean() == pytest.approx(0.25, abs=0.05)
    assert Diagnostics.of(found.draws).passed


def test_a_bent_posterior_is_followed():
    joint, deviation, evidence = banana()
    found = drawn(joint)
    assert found.draws[..., 0].mean() == pytest.approx(0, abs=0.15)
    assert found.draws[..., 0].std() == pytest.approx(deviation, rel=0.06)
    assert log_mean(found.log_evidences) == pytest.approx(evidence, abs=0.15)


def test_kinks_do_no_harm():
    found = drawn(kinks())
    assert np.allclose(found.draws.mean(axis=(0, 1)), 1, atol=0.01)
    assert np.allclose(found.draws.std(axis=(0, 1)), math.sqrt(2) / 20, rtol=0.1)
    exact = 4 * (math.log(2 / 20) - 0.5 * math.log(2 * math.pi * 100)) - 4 * 0.5 / 100
    assert log_mean(found.log_evidences) == pytest.approx(exact, abs=0.5)


def test_a_bound_is_respected():
    joint = Joint(
        lambda count, generator: generator.random((count, 1)),
        lambda points: np.where((points[:, 0] > 0) & (points[:, 0] < 1), 0.0, -np.inf),
        lambda points: -10.0 * points[:, 0],
    )
    found = drawn(joint)
    assert found.draws.min() > 0
    assert found.draws.mean() == pytest.approx(0.1 - math.exp(-10) / (1 - math.exp(-10)), abs=0.01)
    assert log_mean(found.log_evidences) == pytest.approx(math.log((1 - math.exp(-10)) / 10), abs=0.1)


def test_an_impossible_release_is_refused_and_an_unlikely_region_is_not():
    joint = Joint(*normal_prior(1, 1.0), lambda points: np.full(len(points), -np.inf))
    with pytest.raises(NotConverged, match="possible under the prior"):
        drawn(joint)
    half = Joint(*normal_prior(1, 1.0), lambda points: np.where(points[:, 0] > 1, 0.0, -np.inf))
    found = drawn(half)
    assert found.draws.min() > 1
    assert log_mean(found.log_evidences) == pytest.approx(math.log(0.158655), abs=0.15)


def test_a_prior_alone_is_returned_as_it_is():
    found = drawn(Joint(*normal_prior(2, 1.0), lambda points: np.zeros(len(points))))
    assert found.temperatures == 1
    assert log_mean(found.log_evidences) == pytest.approx(0, abs=1e-12)


def test_equal_seeds_give_equal_draws_and_progress_is_told():
    joint, *_ = gaussian(2)
    seen = []
    one = drawn(joint, seed=7, particles=200, progress=lambda done, total: seen.append((done, total)))
    assert np.array_equal(one.draws, drawn(joint, seed=7, particles=200).draws)
    assert seen[-1] == (one.moves, None)
