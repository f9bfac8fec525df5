"""Models so small that their posteriors are written out: the reference for everything that posteriors do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, betaln, gammaln
from scipy.stats import beta

from discreet.bayes.base import Marginal, Model, Parameter, Posterior
from discreet.bayes.evidence import noisy_counts
from discreet.laws import DiscreteLaplace
from discreet.privacy import PureDP, Target
from discreet.statistics.measurement import Counts, MeasurementPlan


class Listed(Marginal):
    """A law on 0, 1, 2, ..."""

    def __init__(self, masses):
        self.masses, self.places = masses, np.arange(len(masses))

    @property
    def mean(self):
        return float(self.masses @ self.places)

    @property
    def deviation(self):
        return float(np.sqrt(self.masses @ (self.places - self.mean) ** 2))

    def cdf(self, value):
        return float(self.masses[: int(np.floor(value)) + 1].sum()) if value >= 0 else 0.0

    def quantile(self, probability):
        return int(np.searchsorted(np.cumsum(self.masses), probability))


class Mixed(Marginal):
    """A mixture of Beta laws."""

    def __init__(self, masses, first, second):
        self.masses, self.law = masses, beta(first, second)
        self.first, self.second = first, second

    @property
    def mean(self):
        return float(self.masses @ self.law.mean())

    @property
    def deviation(self):
        return float(np.sqrt(self.masses @ (self.law.var() + self.law.mean() ** 2) - self.mean**2))

    def cdf(self, value):
        return float(self.masses @ betainc(self.first, self.second, min(max(value, 0.0), 1.0)))

    def quantile(self, probability):
        low, high = 0.0, 1.0
        for _ in range(44):
            middle = (low + high) / 2
            low, high = (low, middle) if self.cdf(middle) >= probability else (middle, high)
        return high


@dataclass(frozen=True)
class Coins(Model):
    """In every group `people` coins of one share, which is uniform; a count of heads is released for each."""

    people: int = 100
    prior_off: float = 0.0  # how far `prior` lies about the shares, to make a model that is wrong
    chains: str = ""  # "good" or "stuck": hand out draws as a sampler would

    def fit(self, measurements, *, generator, progress):
        (one,) = measurements
        counts = np.arange(self.people + 1)
        found = []
        for z in one.released[0]:
            logs = one.plan.noise.log_pmf(z - one.plan.adds_up.weight * counts)
            masses = np.exp(logs - logs.max())  # the prior of the count is uniform too
            found.append(masses / masses.sum())
        shares = tuple(Mixed(masses, 1 + counts, 1 + self.people - counts) for masses in found)
        progress(1, 1)

        def drawn(chains, draws):
            size = (chains, draws)
            heads = np.stack([generator.choice(counts, size, p=masses) for masses in found], axis=-1)
            share = generator.beta(1 + heads, 1 + self.people - heads)
            return {"share": share, "heads": heads}

        exact = {"share": shares, "heads": tuple(map(Listed, found))}
        parameters = (
            Parameter("share", "share of heads", Target.POPULATION, one.plan.keys),
            Parameter("heads", "heads in the table", Target.TABLE, one.plan.keys),
        )
        if not self.chains:
            return Posterior(self, measurements, parameters, drawn, "exact, by a list", exact=exact)
        stored = dict(drawn(4, 1000))
        if self.chains == "stuck":
            stored["share"] = stored["share"] + 0.2 * np.arange(4)[:, np.newaxis, np.newaxis]
        return Posterior(self, measurements, parameters, stored, "chains")

    def prior(self, plans, generator):
        groups = len(plans[0].keys)
        share = np.clip(generator.random(groups) + self.prior_off, 0, 1)
        return {"share": share, "heads": generator.binomial(self.people, share)}

    def integers(self, values, plans, generator):
        heads = values["heads"] if "heads" in values else generator.binomial(self.people, values["share"])
        return [np.asarray(heads)[np.newaxis] * plan.adds_up.weight for plan in plans]


def coins(heads, *, scale=2, key="region", **words):
    """Return noisy heads as a measurement: by region, or one number."""
    return noisy_counts(heads, noise=DiscreteLaplace(scale), key=key, **words)


def plan(groups=2, scale=2, weight=1):
    """Return a plan of counts."""
    keys = tuple((name,) for name in "abcdefghij"[:groups])
    return MeasurementPlan("heads", ("region",), keys, Counts("heads", weight=weight), DiscreteLaplace(scale))


def released(groups=2, scale=2, guarantee=None, place=0, **words):
    """Return a measurement of a plan with made-up integers."""
    made = plan(groups, scale)
    return made.measured(
        [[30 + 10 * one for one in range(groups)]],
        ("ledger", 7 + place, "hash", 0),
        guarantee or PureDP(0.5),
        **words,
    )


def enumerated(masses, people, share):
    """Return P(share <= x) by summing over the counts: another road to `Mixed.cdf`, by the density on a grid."""
    grid = np.linspace(0, 1, 20_001)[1:-1]
    counts = np.arange(people + 1)
    ways = gammaln(people + 1) - gammaln(counts + 1) - gammaln(people - counts + 1)
    density = np.zeros_like(grid)
    for count, mass, way in zip(counts, masses, ways, strict=True):
        if mass > 1e-14:
            logs = way + count * np.log(grid) + (people - count) * np.log1p(-grid)
            density += mass * np.exp(logs - way - betaln(1 + count, 1 + people - count))
    heights = np.cumsum(density) / density.sum()
    return float(np.interp(share, grid, heights))
