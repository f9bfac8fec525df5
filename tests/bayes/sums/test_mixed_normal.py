"""Mixing variables of Laplace noise: exponential where their scores are normal, and Laplace once they are drawn."""

import numpy as np
import pytest
from scipy import integrate, stats

from discreet.bayes.sums.mixed_normal import log_mixing, log_scores


def test_mixing_variables_have_the_exponential_law():
    """P(w <= x) = P(u <= score of x): at every level the score of a normal law is that of an exponential one."""
    levels = np.array([1e-200, 1e-12, 1e-3, 0.2, 0.5, 0.9, 1 - 1e-9])
    assert np.exp(log_mixing(stats.norm.ppf(levels))) == pytest.approx(stats.expon.ppf(levels), rel=1e-6)
    assert np.exp(log_mixing(np.array([10.0, 30.0]))) == pytest.approx(-stats.norm.logsf([10.0, 30.0]))
    assert np.isfinite(log_mixing(np.array([-1e3, -40.0, 40.0, 1e3]))).all()


@pytest.mark.parametrize("residual", [0.3, 1.0, 4.0])
def test_normals_of_mixed_variance_are_laplace(residual):
    """The integral over the score of N(residual; 0, 2 w) is the density e^-|residual| / 2."""

    def height(score):
        variance = 2.0 * np.exp(float(log_mixing(np.array([score]))[0]))
        prior = np.exp(float(log_scores(np.array([[score]]))[0]))
        return prior * np.exp(-(residual**2) / (2.0 * variance)) / np.sqrt(2.0 * np.pi * variance)

    found = integrate.quad(height, -9.0, 9.0, limit=400)[0]
    assert found == pytest.approx(np.exp(-residual) / 2.0, rel=1e-6)
