"""Small areas of shares: against quadrature, coverage, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logsumexp

from discreet import Laplace
from discreet.bayes import HalfNormal, LogNormal, Normal, SmallAreaShares, noisy_counts, posterior
from discreet.bayes.evidence import Observation
from discreet.bayes.regression import ShareCell, ShareLikelihood
from discreet.bayes.regression.areas.pooled_shares import PooledShares
from discreet.display import silent
from discreet.errors import ParameterError
from discreet.laws import DiscreteLaplace
from tests.bayes.regression.likelihoods.direct_sums import share_directly
from tests.chances import fewest, most

NOISE = DiscreteLaplace(2)
RELEASED = {("a", "yes"): 3, ("a", "no"): 24, ("b", "yes"): 19, ("b", "no"): 20, ("c", "yes"): -2, ("c", "no"): 15}
MODEL = SmallAreaShares(success=("ill", "yes"), center=Normal(0, 1), spread=HalfNormal(0.7))

CELLS = [
    ShareCell((Observation((0,), yes, NOISE),), (Observation((1,), no, NOISE),)) for yes, no in ((3, 24), (190, 200))
]


def asked(counts=RELEASED):
    return noisy_counts(counts, noise=NOISE, key=["area", "ill"])


@pytest.mark.theorem("SmallAreaShares.accuracy")
def test_the_posterior_is_that_of_quadrature_over_direct_sums():
    """Seeded: within 5 standard errors of 4,000 independent draws, so that this passes always or never."""
    places = np.linspace(-9, 9, 361)
    likelihoods = [share_directly(yes, no, NOISE, places) for yes, no in ((3, 24), (19, 20), (-2, 15))]
    centers, spreads = np.linspace(-5, 5, 101), np.linspace(0.06, 4, 120)
    one, two = np.meshgrid(centers, spreads, indexing="ij")
    logs = -0.5 * one**2 - 0.5 * (two / 0.7) ** 2
    normal = -0.5 * ((places - one[..., np.newaxis]) / two[..., np.newaxis]) ** 2 - np.log(two)[..., np.newaxis]
    shares = []
    for likelihood in likelihoods:
        terms = normal + likelihood
        total = logsumexp(terms, axis=-1)
        logs = logs + total
        shares.append((np.exp(terms - total[..., np.newaxis]) * expit(places)).sum(axis=-1))
    weights = np.exp(logs - logsumexp(logs))
    draws = posterior(asked(), MODEL, seed=5).draws
    expected = [(weights * one).sum(), (weights * two).sum(), *((weights * share).sum() for share in shares)]
    found = [draws["center"], draws["spread"], *np.moveaxis(draws["share"], -1, 0)]
    # the grid leaves out spreads below .03, which have about 1 % of the mass
    for want, have in zip(expected, found, strict=True):
        assert abs(have.mean() - want) < 5 * have.std() / np.sqrt(have.size) + 0.03 * have.std()


@pytest.mark.theorem("PooledShares.accuracy")
@pytest.mark.parametrize("spread", [1e-6, 0.01, 0.1, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("center", [-30.0, -3.0, 0.4])
def test_the_likelihood_of_areas_is_the_integral_over_their_log_odds(center, spread):
    table = ShareLikelihood(CELLS)
    found = PooledShares(table).log_likelihood(np.array([center, 0.0]), np.array([spread, 1.0]))[0]
    wide, fine = np.linspace(-60, 40, 60_001), center + spread * np.linspace(-20, 20, 20_001)
    places = np.unique(np.concatenate([wide, fine]))
    logs = table.at(places[:, np.newaxis]) + (-0.5 * ((places - center) / spread) ** 2)[:, np.newaxis]
    steps = np.gradient(places)
    expected = logsumexp(logs, b=steps[:, np.newaxis], axis=0).sum() - 2 * np.log(spread * np.sqrt(2 * np.pi))
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-5)


@pytest.mark.theorem("PooledShares.accuracy")
@pytest.mark.parametrize("spread", [0.01, 0.25, 1.0])
def test_log_odds_are_drawn_from_their_density(spread):
    """Seeded: the mean of ranks under the density itself is 1/2 within 5 standard errors of 20,000 draws."""
    table = ShareLikelihood(CELLS)
    count = 20_000
    draws = PooledShares(table).drawn(np.full(count, -1.5), np.full(count, spread), np.random.default_rng(3))
    places = -1.5 + spread * np.linspace(-9, 9, 6001)
    logs = table.at(places[:, np.newaxis]) - 0.5 * (((places + 1.5) / spread) ** 2)[:, np.newaxis]
    heights = np.cumsum(np.exp(logs - logs.max(axis=0)), axis=0)
    for area in range(2):
        ranks = np.interp(draws[:, area], places, heights[:, area] / heights[-1, area])
        assert abs(ranks.mean() - 0.5) < 5 / np.sqrt(12 * count)
        assert abs(((ranks - 0.5) ** 2).mean() - 1 / 12) < 5 * np.sqrt(1 / 180 / count)


@pytest.mark.theorem("SmallAreaShares.accuracy")
def test_intervals_cover_as_they_say(rounds):
    """One area, and each hyperparameter, a run: either end of each count fails by chance once in 1e9 runs."""
    runs = rounds(sample=8, full=1000)
    generator = np.random.default_rng()
    names = [f"area {place}" for place in range(12)]
    model = SmallAreaShares(success=("ill", "yes"), center=Normal(0, 1), spread=HalfNormal(0.7), people=40)
    plan = asked({(name, side): 0 for name in names for side in ("yes", "no")}).plan
    held = {"center": 0, "spread": 0, "share": 0}
    for run in range(runs):
        truth = model.prior([plan], generator)
        (counts,) = model.integers(truth, [plan], generator)
        released = (counts + NOISE.sample(counts.shape)).tolist()
        measured = plan.measured(released, (run,), Laplace(epsilon=0.5, sensitivity=1).guarantee)
        draws = model.fit([measured], generator=generator, progress=silent).draws
        for name in held:
            one = draws[name][..., run % 12] if name == "share" else draws[name]
            true = truth[name][run % 12] if name == "share" else truth[name]
            low, high = np.quantile(one, [0.025, 0.975])
            held[name] += bool(low <= true <= high)
    for count in held.values():
        assert fewest(runs, 0.95) <= count <= most(runs, 0.95)


@pytest.mark.parametrize(
    "stated", [{"center": LogNormal(1, 1)}, {"spread": Normal(0, 1)}, {"center": None}, {"spread": 1.0}]
)
def test_priors_must_be_proper_and_of_the_right_sign(stated):
    with pytest.raises(ParameterError, match="center must be a proper normal law and spread a proper prior"):
        SmallAreaShares(success=("ill", "yes"), **stated)
