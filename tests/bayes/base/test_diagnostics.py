"""Diagnostics of draws: against small references written from the papers, and on draws whose answer is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from discreet.bayes.base import Diagnostics, smoothed
from discreet.bayes.base.diagnostics import bulk, pareto_fit, r_hat, tail
from discreet.errors import InputError


def split(draws):
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, -half:]])


def scores(chains):
    ranks = stats.rankdata(chains, method="average").reshape(chains.shape)
    return stats.norm.ppf((ranks - 3 / 8) / (chains.size + 1 / 4))


def reference_r_hat(chains):
    count = chains.shape[1]
    between = count * np.var([chain.mean() for chain in chains], ddof=1)
    within = np.mean([np.var(chain, ddof=1) for chain in chains])
    return math.sqrt(((count - 1) / count * within + between / count) / within)


def reference_effective(chains):
    number, count = chains.shape
    acov = np.array(
        [[np.sum((c[: count - t] - c.mean()) * (c[t:] - c.mean())) / count for t in range(count)] for c in chains]
    ).mean(axis=0)
    within = acov[0] * count / (count - 1)
    pooled = acov[0] + np.var(chains.mean(axis=1), ddof=1)
    rho = 1 - (within - acov) / pooled
    rho[0] = 1.0
    total, last = 0.0, math.inf
    for k in range(count // 2):
        pair = rho[2 * k] + rho[2 * k + 1]
        if pair <= 0:
            break
        last = min(last, pair)
        total += last
    return number * count / max(2 * total - 1, 1 / math.log10(number * count))


def chains_of(correlation, *, seed, shape=(4, 200)):
    rng = np.random.default_rng(seed)
    noise, out = rng.normal(size=shape), np.empty(shape)
    out[:, 0] = noise[:, 0]
    for t in range(1, shape[1]):
        out[:, t] = correlation * out[:, t - 1] + math.sqrt(1 - correlation**2) * noise[:, t]
    return out


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9, -0.5])
@pytest.mark.theorem("Diagnostics.accuracy")
def test_diagnostics_equal_the_published_formulas(correlation):
    draws = chains_of(correlation, seed=3)
    halves = split(draws)
    folded = np.abs(halves - np.median(halves))
    assert r_hat(draws) == pytest.approx(max(reference_r_hat(scores(halves)), reference_r_hat(scores(folded))))
    assert bulk(draws) == pytest.approx(reference_effective(scores(halves)))
    quantiles = [reference_effective((halves <= np.quantile(halves, q)).astype(float)) for q in (0.05, 0.95)]
    assert tail(draws) == pytest.approx(min(quantiles))


def test_effective_draws_of_an_autoregression_are_near_the_theory():
    draws = chains_of(0.7, seed=5, shape=(4, 5000))
    assert bulk(draws) == pytest.approx(20_000 * 0.3 / 1.7, rel=0.15)


def test_every_place_is_looked_at_alone():
    rng = np.random.default_rng(1)
    draws = rng.normal(size=(4, 400, 2, 3))
    draws[:, :, 1, 2] += np.arange(4)[:, None]
    found = r_hat(draws)
    assert found.shape == (2, 3)
    assert found[1, 2] > 1.4
    assert np.delete(found.ravel(), 5).max() < 1.02
    assert found[0, 1] == r_hat(draws[..., 0, 1])


def test_chains_of_different_width_are_seen_by_the_folded_r_hat():
    draws = np.random.default_rng(2).normal(size=(4, 1000)) * np.array([1, 1, 1, 3])[:, None]
    assert r_hat(draws) > 1.05


def test_heavy_tails_do_not_break_the_ranks():
    assert r_hat(np.random.default_rng(4).standard_cauchy(size=(4, 1000))) < 1.01


def test_a_public_number_is_perfect_and_a_broken_draw_worthless():
    draws = np.random.default_rng(1).normal(size=(4, 500, 3))
    draws[..., 1] = 7.0
    draws[2, 17, 2] = np.nan
    assert r_hat(draws)[1] == 1.0
    assert bulk(draws)[1] == tail(draws)[1] == 2000
    assert r_hat(draws)[2] == math.inf
    assert bulk(draws)[2] == 0
    assert not Diagnostics.of(draws).passed


def test_chains_stuck_at_different_constants_fail():
    draws = np.broadcast_to(np.arange(4.0)[:, None], (4, 500))
    assert not Diagnostics.of(draws).passed


def test_the_complaint_names_everything_that_failed():
    words = Diagnostics(1.2, 30.0, 20.0, 0.9).complaint
    assert all(part in words for part in ("R-hat is 1.2", "30 effective", "20 effective", "k-hat is 0.90"))
    assert Diagnostics(1.005, 500.0, 450.0, 0.5).passed


@pytest.mark.parametrize("shape", [-0.3, 0.2, 0.5, 1.0])
def test_the_pareto_fit_finds_the_shape(shape):
    rng = np.random.default_rng(8)
    sample = np.sort(3.0 * np.expm1(shape * rng.exponential(size=20_000)) / shape)
    found, scale = pareto_fit(sample)
    assert found == pytest.approx(shape, abs=0.04)
    assert scale == pytest.approx(3.0, rel=0.06)


@pytest.mark.parametrize(("freedom", "low", "high"), [(3, 0.2, 0.5), (1, 0.8, 1.2)])
def test_k_hat_is_the_tail_of_the_weights(freedom, low, high):
    ratios = np.log(np.abs(np.random.default_rng(6).standard_t(freedom, size=50_000)))
    logs, k_hat = smoothed(ratios)
    assert low < k_hat < high
    assert np.logaddexp.reduce(logs) == pytest.approx(0, abs=1e-9)


def test_smoothing_keeps_the_order_and_does_not_exceed_the_largest():
    ratios = np.random.default_rng(6).standard_t(2, size=4000)
    logs, _ = smoothed(ratios)
    order = np.argsort(ratios)
    assert np.all(np.diff(logs[order]) >= -1e-12)
    assert np.exp(logs).max() <= np.exp(ratios - ratios.max()).max() / np.exp(ratios - ratios.max()).sum() * 2


def test_what_cannot_be_judged_is_refused():
    with pytest.raises(InputError, match="at least four draws"):
        r_hat(np.zeros((4, 3)))
    with pytest.raises(InputError, match="at least two numbers"):
        smoothed([math.nan, 0.0])
