"""Small areas of rates: against quadrature, coverage, error beside direct estimates, refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp
from scipy.stats import nbinom

from discreet import Laplace
from discreet.bayes import HalfNormal, LogNormal, Normal, SmallAreaRates, noisy_counts, posterior
from discreet.bayes.regression.areas.pooled_counts import log_rising
from discreet.display import silent
from discreet.errors import InputError, ParameterError
from discreet.laws import DiscreteLaplace
from tests.chances import fewest, most

NOISE = DiscreteLaplace(2)
EXPOSURES = {"a": 100, "b": 80, "c": 120}
RELEASED = {"a": 3, "b": 14, "c": -2}
MODEL = SmallAreaRates(exposures=EXPOSURES, mean=LogNormal(0.05, 0.5), spread=HalfNormal(0.7))


def asked(counts=RELEASED, noise=NOISE, table=""):
    return noisy_counts(counts, noise=noise, key="area", table=table)


def by_quadrature():
    """Return the evidence, and the posterior means of mean, spread and rates, by sums of scipy's negative binomial."""
    logs = np.log(0.05) + np.linspace(-3, 3, 61)
    spreads = np.linspace(0.02, 4, 100)
    counts = np.arange(100)
    weights = np.empty((len(logs), len(spreads)))
    rates = np.empty((3, len(logs), len(spreads)))
    for row, mean in enumerate(np.exp(logs)):
        for column, spread in enumerate(spreads):
            shape, total = 1 / spread**2, 0.0
            for area, (exposure, released) in enumerate(zip(EXPOSURES.values(), RELEASED.values(), strict=True)):
                expected = exposure * mean
                terms = nbinom.logpmf(counts, shape, shape / (shape + expected)) + NOISE.log_pmf(released - counts)
                top = logsumexp(terms)
                total += top
                rates[area, row, column] = np.exp(terms - top) @ ((shape + counts) / (shape / mean + exposure))
            prior = -0.5 * ((logs[row] - np.log(0.05)) / 0.5) ** 2 - 0.5 * (spread / 0.7) ** 2
            weights[row, column] = total + prior + np.log(2 / (2 * np.pi * 0.5 * 0.7))
    area = (logs[1] - logs[0]) * (spreads[1] - spreads[0])
    evidence = logsumexp(weights) + np.log(area)
    share = np.exp(weights - logsumexp(weights))
    means = [(share * np.exp(logs)[:, np.newaxis]).sum(), (share * spreads).sum()]
    return evidence, means, [(share * one).sum() for one in rates]


@pytest.mark.theorem("SmallAreaRates.accuracy")
def test_the_posterior_is_that_of_quadrature():
    """Seeded: within 5 standard errors of 4,000 independent draws, so that this passes always or never."""
    found = posterior(asked(), MODEL, seed=2)
    evidence, hyper, rates = by_quadrature()
    assert found.log_evidence == pytest.approx(evidence, abs=0.02)
    assert found.independent
    for name, mean in (("mean", hyper[0]), ("spread", hyper[1])):
        draws = found.draws[name].ravel()
        assert abs(draws.mean() - mean) < 5 * draws.std() / np.sqrt(draws.size)
    draws = found.draws["rate"].reshape(-1, 3)
    assert (np.abs(draws.mean(axis=0) - rates) < 5 * draws.std(axis=0) / np.sqrt(len(draws))).all()


@pytest.mark.theorem("log_rising.accuracy")
@pytest.mark.parametrize("shape", [1e-3, 0.7, 19.9, 20.0, 35.0, 1e4])
def test_rising_factorials_are_those_of_the_gamma_function(shape):
    counts = np.array([0.0, 1.0, 5.0, 300.0])
    expected = [sum(np.log1p(step / shape) for step in range(int(count))) for count in counts]
    assert log_rising(counts, np.array([shape]))[()] == pytest.approx(expected, abs=1e-10)
    assert gammaln(shape + 5) - gammaln(shape) - 5 * np.log(shape) == pytest.approx(expected[2], abs=1e-6)


@pytest.mark.parametrize("scale", [10_000, 1_000_000])
def test_areas_that_hardly_differ_leave_a_wedge_and_it_is_drawn_from(scale):
    """Seeded. Three equal counts: the mean is known to about spread / sqrt(3), the spread is next to nothing."""
    counts = {"a": scale, "b": scale + 10, "c": scale - 10}
    model = SmallAreaRates(exposures=1, mean=LogNormal(scale, 1), spread=HalfNormal(1))
    draws = posterior(asked(counts), model, seed=1).draws
    assert np.median(draws["spread"]) < 2 / np.sqrt(scale) * 2
    assert np.median(np.abs(np.log(draws["mean"] / scale))) < 3 * np.median(draws["spread"]) + 3 / np.sqrt(scale)


@pytest.mark.theorem("SmallAreaRates.accuracy")
def test_intervals_cover_as_they_say_and_pooling_beats_direct_estimates(rounds):
    """One area, and each hyperparameter, a run: either end of each count fails by chance once in 1e9 runs.

    The mean squared error must be at most .64 of that of the noisy rates in the full count, and below 1 in the sample.
    """
    runs = rounds(sample=15, full=1000)
    generator = np.random.default_rng()
    exposures = {f"area {place}": float(one) for place, one in enumerate(np.linspace(60, 140, 20))}
    model = replace(MODEL, exposures=exposures)
    plan = asked(dict.fromkeys(exposures, 0)).plan
    held, pooled, direct = {"mean": 0, "spread": 0, "rate": 0}, 0.0, 0.0
    for run in range(runs):
        truth = model.prior([plan], generator)
        (counts,) = model.integers(truth, [plan], generator)
        released = counts + NOISE.sample(counts.shape)
        measured = plan.measured(released.tolist(), (run,), Laplace(epsilon=0.5, sensitivity=1).guarantee)
        draws = model.fit([measured], generator=generator, progress=silent).draws
        for name in held:
            one = draws[name][..., run % 20] if name == "rate" else draws[name]
            true = truth[name][run % 20] if name == "rate" else truth[name]
            low, high = np.quantile(one, [0.025, 0.975])
            held[name] += bool(low <= true <= high)
        pooled += float(((draws["rate"].mean(axis=(0, 1)) - truth["rate"]) ** 2).sum())
        direct += float(((released[0] / np.array(list(exposures.values())) - truth["rate"]) ** 2).sum())
    for count in held.values():
        assert fewest(runs, 0.95) <= count <= most(runs, 0.95)
    assert pooled < (0.64 if runs >= 1000 else 1.0) * direct


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ({"mean": Normal(0, 1)}, "mean must be a proper prior of a positive number"),
        ({"mean": LogNormal(1, 1), "spread": Normal(0, 1)}, "mean must be a proper prior of a positive number, and so"),
        ({"mean": LogNormal(1, 1)}, "exposures must be stated; got none"),
    ],
)
def test_what_no_answer_could_fit_is_refused_at_once(stated, words):
    with pytest.raises(ParameterError, match=words):
        SmallAreaRates(**stated)


@pytest.mark.parametrize("exposures", [{"a": 100, "b": 80}, {"a": 100, "b": 80, "c": 0}, -1, True, {"a": "x"}])
def test_every_area_needs_an_exposure(exposures):
    with pytest.raises(ParameterError, match="exposures must be a finite number above 0 for every group"):
        posterior(asked(), SmallAreaRates(exposures=exposures, mean=LogNormal(1, 1)))


def test_groups_that_were_found_in_the_data_have_no_hyperparameters():
    private = asked()
    unlisted = replace(private, plan=replace(private.plan, source=replace(private.plan.source, listed=False)))
    with pytest.raises(ParameterError, match="keys that were found in the data"):
        posterior(unlisted, MODEL)


def test_totals_over_areas_are_refused():
    total = noisy_counts(40, noise=NOISE, table="town")
    with pytest.raises(InputError, match="a total over several cells"):
        posterior([asked(table="town"), total], replace(MODEL, exhaustive=True))


def test_weighted_counts_are_refused_unless_everybody_has_one_row():
    answer = asked()
    adds_up = replace(answer.plan.adds_up, once=False, why="a person with several rows adds them up")
    weighted = replace(answer, plan=replace(answer.plan, adds_up=adds_up))
    with pytest.raises(InputError, match="a person with several rows adds them up"):
        posterior(weighted, MODEL)
    stated = posterior(weighted, replace(MODEL, one_row_a_person=True), seed=1)
    assert stated.draws["rate"].mean() == pytest.approx(posterior(answer, MODEL, seed=1).draws["rate"].mean())
