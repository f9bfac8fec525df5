"""Importance sampling about the mode: right where the posterior has one hill, and aware of where it is not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from discreet.bayes.sampling import Joint
from discreet.bayes.sampling.importance import about_mode, mode
from discreet.errors import NotConverged
from tests.bayes.sampling.targets import gaussian, kinks, normal_prior, two_hills


def test_the_mode_and_the_curvature_of_a_normal_posterior():
    joint, mean, covariance, _ = gaussian()
    place, root = mode(joint, generator=np.random.default_rng(1))
    assert np.allclose(place, mean, atol=1e-3)
    assert np.allclose(root @ root.T, covariance, rtol=1e-3, atol=1e-4)


def test_moments_and_evidence_of_a_normal_posterior():
    joint, mean, covariance, evidence = gaussian()
    found = about_mode(joint, generator=np.random.default_rng(2))
    deviations = np.sqrt(np.diagonal(covariance))
    points = found.draws.reshape(-1, 5)
    assert np.abs((points.mean(axis=0) - mean) / deviations).max() < 0.1
    assert np.allclose(points.std(axis=0) / deviations, 1, atol=0.06)
    assert np.allclose(found.log_evidences, evidence, atol=0.06)
    assert found.k_hat < 0.3


def test_a_far_start_is_found_from():
    precision = 1e6
    joint = Joint(*normal_prior(3, 100.0), lambda points: -0.5 * precision * ((points - 37.0) ** 2).sum(axis=1))
    place, root = mode(joint, generator=np.random.default_rng(3), start=np.zeros(3))
    assert np.allclose(place, 37.0, atol=1e-5)
    assert np.allclose(np.diagonal(root), 1e-3, rtol=1e-2)


def test_a_second_hill_is_not_overlooked():
    with pytest.raises(NotConverged, match="several"):
        about_mode(two_hills(), generator=np.random.default_rng(4))


def test_k_hat_is_large_where_the_curvature_says_nothing():
    found = about_mode(kinks(), generator=np.random.default_rng(5))
    assert found.k_hat > 0.7


@pytest.mark.parametrize("width", [0.4, 3.0])
def test_the_mode_of_a_likelihood_with_steps_is_sought_by_its_outline_and_its_weights_are_its_own(width):
    """A whole number is known through noise: draws of it against the sum; 4,000 of them are off by 7 se never."""

    def height(numbers):
        return -0.5 * ((numbers - 5.3) / width) ** 2

    stairs, slope = (lambda points: height(np.rint(points[:, 0]))), (lambda points: height(points[:, 0]))
    joint = Joint(*normal_prior(1, 10.0), stairs, outline=slope)
    found = about_mode(joint, generator=np.random.default_rng(6))
    numbers = np.arange(-80, 81)
    edges = stats.norm(0, 10).cdf(np.stack([numbers - 0.5, numbers + 0.5]))
    weights = (edges[1] - edges[0]) * np.exp(height(numbers))
    mean = float(numbers @ weights / weights.sum())
    deviation = math.sqrt(float((numbers - mean) ** 2 @ weights / weights.sum()))
    drawn = np.rint(found.draws[..., 0])
    assert found.k_hat < 0.7
    assert abs(drawn.mean() - mean) < 0.11 * deviation
    assert drawn.std() == pytest.approx(deviation, rel=0.11)
    assert np.allclose(found.log_evidences, math.log(weights.sum()), atol=0.11)
