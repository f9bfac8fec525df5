"""Tables drawn from the posterior, combined by Rubin's rules, know what the release left open; one table does not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.bayes import PoissonGamma, noisy_counts, posterior
from discreet.bayes.bridges import combine_estimates, synthetic_tables
from discreet.errors import InputError, ParameterError
from discreet.laws import DiscreteLaplace
from tests.bayes.small_models import Coins, coins

PEOPLE, SCALE = 200, 10


@pytest.fixture(scope="module")
def one():
    return posterior(coins(60, scale=SCALE), Coins(PEOPLE), seed=1)


def share_of(columns):
    heads = columns["share"]
    p = heads.mean()
    return p, p * (1 - p) / len(heads)


def test_the_combined_interval_is_about_the_posterior_one(one):
    made = synthetic_tables(one, tables=100, size=PEOPLE, seed=2)
    combined, exact = made.estimate(share_of), one.interval("share")
    assert combined.value == pytest.approx(one.mean("share")[0], abs=0.03)
    assert combined.high - combined.low == pytest.approx(exact.high[0] - exact.low[0], rel=0.25)
    assert not combined.adjusted
    assert combined.target.value == "population"


@pytest.mark.theorem("combine_estimates.accuracy")
def test_many_tables_cover_and_one_taken_as_real_does_not():
    """300 populations with uniform shares; noise by the law's own probabilities, everything seeded.

    The noise, of deviation 14, is twice as wide as the sampling: the worst case for a rule that takes it as normal.
    """
    generator = np.random.default_rng(7)
    noise = np.arange(-40 * SCALE, 40 * SCALE + 1)
    masses = DiscreteLaplace(SCALE).pmf(noise)
    held, naive, runs = 0, 0, 300
    for run in range(runs):
        truth = generator.random()
        z = int(generator.binomial(PEOPLE, truth) + generator.choice(noise, p=masses / masses.sum()))
        tables = synthetic_tables(
            posterior(coins(z, scale=SCALE), Coins(PEOPLE), seed=run), tables=20, size=PEOPLE, seed=run
        )
        found = tables.estimate(share_of)
        value, variance = share_of(tables[0])
        held += found.low <= truth <= found.high
        naive += abs(value - truth) <= 1.96 * math.sqrt(variance)
    assert held / runs >= 0.95 - 4 * math.sqrt(0.95 * 0.05 / runs)
    assert naive / runs < 0.85


@pytest.mark.theorem("combine_estimates.accuracy")
def test_the_rule_is_the_published_one():
    estimates, variances = [0.2, 0.3, 0.25, 0.29], [0.0004, 0.0005, 0.0003, 0.0004]
    found = combine_estimates(estimates, variances)
    b, v = np.var(estimates, ddof=1), np.mean(variances)
    assert found.variance == pytest.approx(1.25 * b - v)
    assert found.degrees == pytest.approx(3 * (1 - v / (1.25 * b)) ** 2)
    assert found.value == pytest.approx(0.26)


@pytest.mark.theorem("combine_estimates.accuracy")
def test_a_negative_variance_is_replaced_and_said():
    found = combine_estimates([0.25, 0.25, 0.26], [0.01, 0.01, 0.01], ratio=2.0)
    assert found.adjusted
    assert found.variance == pytest.approx(0.02)
    assert found.high - found.low == pytest.approx(2 * 1.959964 * math.sqrt(0.02), rel=1e-6)


def test_no_interval_claims_more_than_the_people_themselves_would_nor_is_it_as_wide_as_one_likes():
    """Where the two variances nearly cancel, the published degrees of freedom are 0.0001, and its interval endless."""
    estimates = [0.25 - 0.02, 0.25, 0.25, 0.25 + 0.02]
    spread = 1.25 * np.var(estimates, ddof=1)
    found = combine_estimates(estimates, [spread / 1.006] * 4)
    assert found.adjusted
    assert found.high - found.low == pytest.approx(2 * 1.959964 * math.sqrt(spread / 1.006), rel=1e-6)
    few = combine_estimates(estimates, [spread / 1.006] * 4, ratio=0.001)
    assert not few.adjusted
    assert few.degrees == 1.0


@pytest.mark.theorem("combine_estimates.accuracy")
@pytest.mark.parametrize(("people", "deviation", "tables"), [(500, 3, 20), (500, 3, 5), (2000, 14, 20)])
def test_combined_intervals_cover_where_both_variances_are_alike(people, deviation, tables):
    """2000 normal posteriors of a share, seeded."""
    generator = np.random.default_rng(people + tables)
    held, runs = 0, 2000
    for truth in generator.uniform(0.1, 0.9, runs):
        variance = truth * (1 - truth) / people + (deviation / people) ** 2
        middle = truth + math.sqrt(variance) * generator.normal()
        shares = np.clip(middle + math.sqrt(variance) * generator.normal(size=tables), 0.001, 0.999)
        made = generator.binomial(people, shares) / people
        found = combine_estimates(made, made * (1 - made) / people)
        held += found.low <= truth <= found.high
    assert held / runs >= 0.95 - 4 * math.sqrt(0.95 * 0.05 / runs)


def test_tables_hold_rows_of_labels_in_no_order(one):
    made = synthetic_tables(one, tables=3, size=50, seed=4)
    assert len(made) == 3
    assert made.size == 50
    assert made[0]["share"].dtype == bool
    assert [columns["share"].sum() for columns in made] == made.counts[:, 0].tolist()
    assert (made[1]["share"] == made[-2]["share"]).all()
    assert np.flatnonzero(np.diff(made[0]["share"].astype(int))).size > 1
    assert made.to_pandas(2).shape == (50, 1)
    assert made.to_polars().columns == ["share"]
    assert made.to_arrow().num_rows == 50
    with pytest.raises(IndexError):
        made[3]


def test_a_seed_repeats_the_tables(one):
    first, second = (synthetic_tables(one, tables=3, size=50, seed=4) for _ in range(2))
    assert (first[2]["share"] == second[2]["share"]).all()


@pytest.mark.theorem("SyntheticTables.privacy", "likelihood_tables.privacy")
def test_bridges_are_functions_of_the_release_alone():
    """The same release and seed give the same tables, whatever the session or the moment."""
    from discreet.bayes.bridges import likelihood_tables

    made = [
        synthetic_tables(posterior(coins(60, scale=2), Coins(100), seed=1), tables=4, size=30, seed=1) for _ in "ab"
    ]
    assert made[0].counts.tolist() == made[1].counts.tolist()
    tables = [likelihood_tables(coins(60, scale=2), people=100)[0] for _ in "ab"]
    assert tables[0].to_stan() == tables[1].to_stan()


def test_shares_that_do_not_add_up_are_no_cells():
    two = posterior(coins({"a": 30, "b": 40}), Coins(100), seed=1)
    with pytest.raises(ParameterError, match="shares of the population that add up to 1"):
        synthetic_tables(two, size=10)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"tables": 1}, "tables must be"),
        ({"tables": 5000}, "tables must be at most the number of draws"),
        ({"size": 0}, "size must be"),
        ({"size": 2.5}, "size must be"),
        ({"name": "other"}, "name must be one of"),
        ({"name": "heads"}, "shares of the population"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_bad_arguments_are_refused(one, wrong, words):
    with pytest.raises(ParameterError, match=words):
        synthetic_tables(one, **{"size": 10, **wrong})


@pytest.mark.parametrize(
    ("estimates", "variances", "words"),
    [
        ([0.1], [0.1], "equally long"),
        ([0.1, 0.2], [0.1], "equally long"),
        ([0.1, 0.2], [0.1, -0.1], "no variance negative"),
        ([0.1, math.nan], [0.1, 0.1], "estimates must be a list"),
        (["a", "b"], [0.1, 0.1], "estimates must be a list"),
    ],
)
def test_bad_estimates_are_refused(estimates, variances, words):
    with pytest.raises(InputError, match=words):
        combine_estimates(estimates, variances)


def test_bad_ratios_and_posteriors_are_refused():
    with pytest.raises(ParameterError, match="ratio must be"):
        combine_estimates([0.1, 0.2], [0.1, 0.1], ratio=0)
    with pytest.raises(ParameterError, match="posterior must be"):
        synthetic_tables("answer", size=10)


def test_a_rate_between_0_and_1_is_no_share():
    rate = posterior(noisy_counts(31, noise=DiscreteLaplace(2)), PoissonGamma(2, 10, exposures=100), seed=1)
    assert rate["rate"].max() < 1
    with pytest.raises(ParameterError, match="shares of the population"):
        synthetic_tables(rate, size=100)
