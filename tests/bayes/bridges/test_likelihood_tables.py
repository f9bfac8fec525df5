"""Tables that other languages read hold the release's likelihood: with them, the posterior is the exact one."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from discreet.bayes import posterior
from discreet.bayes.bridges import NUMPYRO, likelihood_tables, noise_terms
from discreet.errors import ParameterError
from discreet.laws import DiscreteGaussian, DiscreteLaplace
from discreet.statistics.measurement import KEYS, Counts, PowerSums
from tests.bayes.small_models import Coins, coins, plan, released

TWO = {"north": 12, "south": 58}
PEOPLE = 100


@pytest.mark.theorem("LikelihoodTable.accuracy")
def test_a_table_gives_the_exact_posterior_by_quadrature():
    (table,) = likelihood_tables(coins(TWO, scale=5), people=PEOPLE)
    exact = posterior(coins(TWO, scale=5), Coins(PEOPLE)).exact["share"]
    grid = (np.arange(20_000) + 0.5) / 20_000
    for place, law in enumerate(exact):
        counts = table.counts[place]
        ways = gammaln(PEOPLE + 1) - gammaln(counts + 1) - gammaln(PEOPLE - counts + 1)
        given = counts * np.log(grid)[:, np.newaxis] + (PEOPLE - counts) * np.log1p(-grid)[:, np.newaxis]
        density = np.exp(logsumexp(table.log_likelihood[place] + ways + given, axis=1))
        heights = np.cumsum(density) / density.sum()
        for level in (0.025, 0.3, 0.5, 0.975):
            assert np.interp(level, heights, grid) == pytest.approx(law.quantile(level), abs=1e-4)


@pytest.mark.theorem("LikelihoodTable.accuracy")
@pytest.mark.parametrize("law", [DiscreteLaplace(3), DiscreteGaussian(4)])
def test_entries_are_the_laws_own_logarithms_and_little_is_left_out(law):
    made = plan(groups=2)
    measured = type(made)("n", ("region",), made.keys, Counts("n"), law).measured([[400, 7]], ("x", 0), None)
    (table,) = likelihood_tables(measured)
    assert table.start[0] > 0
    assert table.start[1] == 0
    for z, counts, logs in zip((400, 7), table.counts, table.log_likelihood, strict=True):
        assert logs == pytest.approx([float(law.log_pmf(z - int(count))) for count in counts], abs=1e-12)
        inside = math.fsum(np.exp(logs))
        possible = float(law.cdf(z))  # counts are at least 0, so that noise is at most z
        assert inside == pytest.approx(possible, abs=1e-13)


def test_public_people_bound_the_counts():
    (whole,) = likelihood_tables(coins(TWO), people=PEOPLE)
    assert whole.log_likelihood.shape == (2, PEOPLE + 1)
    (cut,) = likelihood_tables(coins({"a": 4999, "b": 12}), people=5000)
    assert cut.counts.max() == 5000
    assert cut.counts.min() == 0
    assert cut.log_likelihood.shape[1] < 500


def test_weights_are_counted_off():
    made = plan(groups=1, scale=1 << 20, weight=1 << 20).measured([[41 << 20]], ("x", 0), None)
    (table,) = likelihood_tables(made, people=60)
    assert int(table.counts[0][np.argmax(table.log_likelihood[0])]) == 41
    assert table.weight == 1 << 20


def test_stan_gets_plain_values():
    (table,) = likelihood_tables(coins(TWO), people=PEOPLE)
    data = json.loads(json.dumps(table.to_stan()))
    assert data["groups"] == 2
    assert data["counts"] == PEOPLE + 1
    assert data["released"] == [12, 58]
    assert np.array(data["log_likelihood"]).tolist() == table.log_likelihood.tolist()


def test_sums_come_with_the_kind_of_their_noise():
    (term,) = noise_terms(released(scale=2))
    assert term == {
        "name": "heads",
        "groups": [["a"], ["b"]],
        "released": [[30, 40]],
        "noise": "laplace",
        "scale": 2.0,
    }


def test_what_has_no_table_is_refused():
    made = plan(groups=1)
    sums = type(made)("s", ("k",), made.keys, PowerSums("x", None, ((0, 1, 0),)), DiscreteLaplace(2))
    with pytest.raises(ParameterError, match="released must be counts"):
        likelihood_tables(sums.measured([[3]], ("x", 0), None))
    often = type(made)("n", ("k",), made.keys, Counts("n", once=False, why="rows weigh"), DiscreteLaplace(2))
    with pytest.raises(ParameterError, match="weighted counts, which are not binomial: rows weigh"):
        likelihood_tables(often.measured([[3]], ("x", 0), None))
    with pytest.raises(ParameterError, match="at most 1,048,576 entries"):
        likelihood_tables(coins(TWO, scale=100_000))
    for people in (-1, 1.5, True):
        with pytest.raises(ParameterError, match="people must be"):
            likelihood_tables(coins(TWO), people=people)


def test_weighted_counts_have_the_table_of_whole_ones_once_it_is_stated_that_nobody_has_two_rows():
    """Rows weigh 2^20, as those of a session do: the noise is on a finer grid, the counts are as before."""
    made = plan(groups=1)
    often = Counts("rows", weight=1 << 20, once=False, why="rows weigh")
    weighed = type(made)("n", ("k",), made.keys, often, DiscreteLaplace(3 << 20))
    measured = weighed.measured([[5 << 20]], ("x", 0), None)
    (table,) = likelihood_tables(measured, people=9, one_row_a_person=True)
    assert table.counts.tolist() == [list(range(10))]
    steps = table.log_likelihood[0] - table.log_likelihood[0, 5]
    assert np.allclose(steps, -np.abs(np.arange(10) - 5) / 3, atol=1e-9)
    assert table.to_stan()["released"] == [5.0]
    keys = replace(often, counted=KEYS)
    with pytest.raises(ParameterError, match="weighted counts"):
        likelihood_tables(replace(weighed, adds_up=keys).measured([[5]], ("x", 0), None), one_row_a_person=True)


@pytest.mark.needs("numpyro")
@pytest.mark.filterwarnings("ignore")
def test_numpyro_agrees_with_the_exact_posterior_where_its_tails_allow():
    """Four chains of 10,000 draws by NUTS: each quantile within 5 Monte Carlo standard errors of the exact one.

    Seeded: it runs the same every time. The tails' effective draws are asked first: a chain of 2,000 draws may miss a
    tail altogether.
    """
    import jax
    from numpyro.diagnostics import effective_sample_size
    from numpyro.infer import MCMC, NUTS

    from discreet.bayes.base import Diagnostics

    jax.config.update("jax_enable_x64", True)
    (table,) = likelihood_tables(coins({"north": 3, "south": 58}, scale=10), people=PEOPLE)
    exact = posterior(coins({"north": 3, "south": 58}, scale=10), Coins(PEOPLE)).exact["share"]
    names = {}
    exec(NUMPYRO, names)  # noqa: S102  the program that users are shown
    run = MCMC(NUTS(names["model"]), num_warmup=1000, num_samples=10_000, num_chains=4, chain_method="vectorized",
               progress_bar=False)  # fmt: skip
    run.run(jax.random.PRNGKey(1), table, PEOPLE)
    draws = np.asarray(run.get_samples(group_by_chain=True)["share"])
    found = Diagnostics.of(draws)
    assert found.tail >= 400, "too few effective draws in the tails to compare quantiles"
    assert found.r_hat <= 1.01
    for place, law in enumerate(exact):
        for level in (0.025, 0.25, 0.5, 0.75, 0.975):
            there = law.quantile(level)
            below = (draws[:, :, place] <= there).astype(float)
            error = math.sqrt(level * (1 - level) / float(effective_sample_size(below)))
            assert abs(below.mean() - level) < 5 * error, (place, level, below.mean())
