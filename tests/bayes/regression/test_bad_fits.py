"""Cells that a regression fits badly: their likelihood is taken where the draws are, however deep that is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import gammaln

from discreet.bayes import (
    HalfNormal,
    LogisticCells,
    LogNormal,
    Normal,
    PoissonCells,
    SmallAreaRates,
    noisy_counts,
    posterior,
)
from discreet.errors import InputError
from discreet.laws import DiscreteLaplace

NOISE = DiscreteLaplace(1)
AGES = np.array([20, 30, 40, 50])
MATRIX = np.stack([np.ones(4), AGES], axis=1)


def near_the_mode(found, height):
    """The posterior of many people is normal, and the noise is nothing beside them; seeded."""
    top = minimize(lambda point: -height(MATRIX @ point) + (point**2).sum() / 12.5, [1.0, 0.0], method="Nelder-Mead",
                   options={"xatol": 1e-9, "fatol": 1e-9, "maxiter": 4000})  # fmt: skip
    draws = found.draws["coefficient"].reshape(-1, 2)
    assert np.abs((draws.mean(axis=0) - top.x) / draws.std(axis=0)).max() < 0.2  # straight tails were off by 1.7


@pytest.mark.theorem("CellRegression.accuracy")
def test_rates_24_deviations_off_weigh_what_they_weigh():
    counts = np.array([10_000, 13_000, 12_000, 20_000])
    answer = noisy_counts(dict(zip(AGES.tolist(), counts.tolist(), strict=True)), noise=NOISE, key="age")
    model = PoissonCells(exposures=1, intercept=Normal(0, 2.5), numeric=["age"])
    near_the_mode(
        posterior(answer, model, seed=1), lambda predictor: float(counts @ predictor - np.exp(predictor).sum())
    )


@pytest.mark.theorem("CellRegression.accuracy")
@pytest.mark.parametrize("people", [None, 20_000])
def test_shares_20_deviations_off_weigh_what_they_weigh(people):
    yes = np.array([3000, 5000, 4500, 8000])
    counts = {(age, side): int(one if side == "y" else 20_000 - one)
              for age, one in zip(AGES.tolist(), yes, strict=True) for side in "yn"}  # fmt: skip
    answer = noisy_counts(counts, noise=NOISE, key=["age", "ill"])
    model = LogisticCells(success=("ill", "y"), numeric=["age"], people=people)
    near_the_mode(
        posterior(answer, model, seed=1),
        lambda predictor: float(yes @ predictor - 20_000 * np.logaddexp(0, predictor).sum()),
    )


def test_a_prior_that_rules_out_what_was_released_gives_its_posterior_and_no_evidence_that_is_off():
    """Averages of weights over 3,000 units of a logarithm do not agree between runs; draws do, after the last moves."""
    answer = noisy_counts({"a": 3, "b": 4000}, noise=NOISE, key="ward")
    model = PoissonCells(exposures=1, intercept=Normal(0, 0.5), coefficients=Normal(0, 0.05))
    found = posterior(answer, model, seed=1)
    count, places = np.arange(6000), np.linspace(5.5, 8.5, 1201)
    tables = []
    for released in (3, 4000):
        terms = places[:, None] * count - np.exp(places)[:, None] - gammaln(count + 1) + NOISE.log_pmf(released - count)
        tables.append(np.logaddexp.reduce(terms, axis=1))
    one, two = np.meshgrid(np.linspace(6.4, 7.1, 301), np.linspace(1.1, 1.7, 301), indexing="ij")
    logs = -2.0 * one**2 - 200.0 * two**2 + np.interp(one, places, tables[0]) + np.interp(one + two, places, tables[1])
    weights = np.exp(logs - logs.max())
    draws = found.draws["coefficient"].reshape(-1, 2)
    for place, part in enumerate((one, two)):
        mean = (weights * part).sum() / weights.sum()
        assert abs(draws[:, place].mean() - mean) < 5 * draws[:, place].std() / np.sqrt(400)
    assert found.log_evidence is None


def test_a_release_that_the_model_can_hardly_lead_to_is_refused():
    answer = noisy_counts({"a": 3, "b": 10**7}, noise=NOISE, key="ward")
    model = PoissonCells(exposures=1, intercept=Normal(0, 0.1), coefficients=Normal(0, 0.001))
    with pytest.raises(InputError, match="must be able to lead to what was released"):
        posterior(answer, model, seed=1)


@pytest.mark.theorem("SmallAreaRates.accuracy")
def test_small_areas_that_the_priors_hold_together_keep_the_counts_that_matter():
    """A count of 100 that must have been near 5: noise that far off is rarer than e^-40. By a sum over a grid."""
    released, count = (100, 4, 5), np.arange(200)
    answer = noisy_counts(dict(enumerate(released)), noise=DiscreteLaplace(2), key="area")
    model = SmallAreaRates(exposures=1, mean=LogNormal(5, 0.1), spread=HalfNormal(0.02))
    found = posterior(answer, model, seed=1)
    logs, rates = [], []
    for log_mean in np.linspace(np.log(5) - 0.5, np.log(5) + 0.6, 60):
        for spread in np.linspace(0.001, 0.1, 40):
            shape, mean = spread**-2, np.exp(log_mean)
            law = gammaln(count + shape) - gammaln(shape) - gammaln(count + 1)
            law += shape * np.log(shape / (shape + mean)) + count * np.log(mean / (shape + mean))
            terms = law - np.abs(np.array(released)[:, None] - count) / 2
            totals = np.logaddexp.reduce(terms, axis=1)
            rates.append(np.exp(terms - totals[:, None]) @ (shape + count) / (1 + shape / mean))
            logs.append(totals.sum() - 50 * (log_mean - np.log(5)) ** 2 - spread**2 / 0.0008)
    weights = np.exp(np.array(logs) - max(logs))
    assert found.mean("rate") == pytest.approx(weights @ np.array(rates) / weights.sum(), abs=0.1)  # was .7 off
