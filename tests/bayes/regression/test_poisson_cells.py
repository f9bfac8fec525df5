"""Poisson regression on cells: against quadrature, a forward draw, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.bayes import Normal, PoissonCells, noisy_counts, posterior
from discreet.errors import ParameterError
from discreet.laws import DiscreteLaplace
from tests.bayes.regression.likelihoods.direct_sums import rate_directly

NOISE = DiscreteLaplace(2)


def asked(counts):
    return noisy_counts(counts, noise=NOISE, key="dose")


@pytest.mark.theorem("PoissonCells.accuracy", "CellRegression.accuracy")
def test_the_posterior_is_that_of_quadrature_over_direct_sums():
    """Seeded: within 5 Monte Carlo errors of 4,000 weighted draws, so that this passes always or never."""
    model = PoissonCells(
        exposures={1: 10, 2: 20, 4: 5}, intercept=Normal(0, 1), coefficients=Normal(0, 0.5), numeric=["dose"]
    )
    found = posterior(asked({1: 12, 2: 31, 4: 19}), model, seed=7)
    axes = np.linspace(-2.5, 2.5, 161), np.linspace(-1.2, 1.6, 161)
    one, two = np.meshgrid(*axes, indexing="ij")
    logs = -0.5 * one**2 - 0.5 * (two / 0.5) ** 2
    grid = np.linspace(-5, 12, 600)
    for dose, exposure, released in ((1, 10, 12), (2, 20, 31), (4, 5, 19)):
        means = np.exp(np.clip(grid, -5, np.log(400.0)))
        logs += np.interp(one + dose * two + np.log(exposure), grid, rate_directly(released, NOISE, means))
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    draws = found.draws["coefficient"].reshape(-1, 2)
    assert found.parameter("coefficient").groups == (("(intercept)",), ("dose",))
    for place, part in enumerate((one, two)):
        assert abs(draws[:, place].mean() - (weights * part).sum()) < 5 * draws[:, place].std() / np.sqrt(2000)
    rate = np.exp(draws @ np.array([[1, 1, 1], [1, 2, 4]]))
    assert found.draws["rate"].reshape(-1, 3) == pytest.approx(rate)


def test_counts_are_drawn_with_the_mean_rate_times_exposure():
    """Seeded: a Poisson mean over 400 draws within 5 standard errors."""
    model = PoissonCells(exposures={"a": 10, "b": 20}, intercept=Normal(0, 1))
    plan = asked({"a": 0, "b": 0}).plan
    generator = np.random.default_rng(1)
    values = {"rate": np.array([0.5, 2.0])}
    drawn = np.array([model.integers(values, [plan], generator)[0][0] for _ in range(400)])
    assert (np.abs(drawn.mean(axis=0) - [5, 40]) < 5 * np.sqrt(np.array([5, 40]) / 400)).all()


def test_a_rate_has_a_unit_so_that_its_prior_must_be_stated():
    with pytest.raises(ParameterError, match="intercept must be a proper normal law; got NoneType"):
        PoissonCells(exposures=1)


def test_a_cell_without_exposure_is_named():
    with pytest.raises(ParameterError, match="got none for 4, write for example exposures="):
        posterior(asked({1: 12, 4: 19}), PoissonCells(exposures={1: 10}, intercept=Normal(0, 1)))
