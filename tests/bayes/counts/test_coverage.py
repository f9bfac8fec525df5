"""Posteriors are calibrated: parameters from the prior, noise drawn by our own laws, in every combination.

Every check is a binomial count at 95 % or a mean of indicators whose chance the posterior states; the limits are exact
binomial tails at 1e-9 (`tests.chances`), or six standard errors where chances differ from run to run.
"""

from fractions import Fraction

import numpy as np
import pytest

from discreet.bayes.counts import BetaBinomial, DirichletMultinomial
from discreet.bayes.evidence import LatentCounts, Observation
from discreet.laws.noise import DiscreteGaussian, DiscreteLaplace
from tests.chances import fewest, most


def latent(released, law):
    cells = tuple((j,) for j in range(len(released)))
    seen = tuple(Observation((j,), int(z), law) for j, z in enumerate(released))
    return LatentCounts(("cell",), cells, seen)


def covers(runs, inside):
    assert fewest(runs, 0.95) <= inside <= most(runs, 0.95)


def as_often_as_stated(covered, masses):
    """Hoeffding: a mean of independent indicators is off by sqrt(ln(2e9) / 2 runs) at most once in 1e9."""
    runs = len(masses)
    assert abs(np.mean(covered) - np.mean(masses)) <= np.sqrt(np.log(2e9) / (2 * runs))


@pytest.mark.theorem("BetaBinomial.accuracy")
@pytest.mark.parametrize("kind", [DiscreteLaplace, DiscreteGaussian])
@pytest.mark.parametrize("people", [30, 100, 1000])
@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1, 10), Fraction(1)])
def test_shares_and_counts_are_covered_as_often_as_stated(kind, people, epsilon, rounds):
    runs = rounds(sample=40, full=4000)
    rng = np.random.default_rng(people)
    law, model = kind(1 / epsilon), BetaBinomial(1, 1, people=people)
    shares = rng.beta(1, 1, runs)
    counts = rng.binomial(people, shares)
    inside, covered, masses = 0, [], []
    for share, count, released in zip(shares, counts, counts + law.sample(runs), strict=True):
        found = model.posterior_of(latent([released], law), generator=rng).exact
        inside += 0.025 <= found["share"][0].cdf(share) <= 0.975
        low, high = (found["count"][0].quantile(p) for p in (0.025, 0.975))
        covered.append(low <= count <= high)
        masses.append(found["count"][0].mass(low, high))
    covers(runs, inside)
    as_often_as_stated(covered, masses)


@pytest.mark.theorem("DirichletMultinomial.accuracy")
@pytest.mark.parametrize("kind", [DiscreteLaplace, DiscreteGaussian])
@pytest.mark.parametrize(("cells", "people"), [(5, 200), (20, 1000)])
def test_shares_of_many_cells_are_covered_as_often_as_stated(kind, cells, people, rounds):
    runs = rounds(sample=15, full=2000)
    rng = np.random.default_rng(cells)
    law, model = kind(10), DirichletMultinomial(1, people=people)
    inside, covered, masses = 0, [], []
    for _ in range(runs):
        shares = rng.dirichlet(np.ones(cells))
        counts = rng.multinomial(people, shares)
        found = model.posterior_of(latent(counts + law.sample(cells), law), generator=rng).exact
        inside += 0.025 <= found["share"][0].cdf(shares[0]) <= 0.975
        low, high = (found["count"][-1].quantile(p) for p in (0.025, 0.975))
        covered.append(low <= counts[-1] <= high)
        masses.append(found["count"][-1].mass(low, high))
    covers(runs, inside)
    as_often_as_stated(covered, masses)


def test_two_answers_about_one_count_are_covered_together_and_not_as_if_independent(rounds):
    """At n = 100 and epsilon 1/2 twice, the product of two posteriors of the share covers .865."""
    runs = rounds(sample=80, full=4000)
    rng = np.random.default_rng(9)
    law, model = DiscreteLaplace(2), BetaBinomial(1, 1, people=100)
    shares = rng.beta(1, 1, runs)
    counts = rng.binomial(100, shares)
    released = counts + law.sample((2, runs))
    inside, apart = 0, 0
    for share, first, second in zip(shares, *released, strict=True):
        seen = tuple(Observation((0,), int(z), law) for z in (first, second))
        both = model.posterior_of(LatentCounts((), ((),), seen), generator=rng).exact["share"][0]
        inside += 0.025 <= both.cdf(share) <= 0.975
        alone = [model.posterior_of(LatentCounts((), ((),), (one,)), generator=rng).exact["share"][0] for one in seen]
        precision = sum(1 / one.deviation**2 for one in alone)
        middle = sum(one.mean / one.deviation**2 for one in alone) / precision
        apart += abs(share - middle) <= 1.96 / np.sqrt(precision)
    covers(runs, inside)
    assert apart < fewest(runs, 0.95) or runs < 1000
