"""Shares from one noisy count, from several cells, and from two answers about the same people."""

from __future__ import annotations

import time
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, gammaln, logsumexp

from benchmarks.bayes.covered import Timed, coverage_bar, cpu_seconds, mass_bar, within
from benchmarks.common.bars import Bar
from discreet.bayes import (
    BetaBinomial,
    DirichletMultinomial,
    NegativeBinomialPeople,
    calibration,
    counts_plan,
    noisy_counts,
    posterior,
)
from discreet.laws import DiscreteGaussian, DiscreteLaplace
from discreet.laws.noise import IntegerNoise
from discreet.privacy import Relation

RUNS, TABLE_RUNS = 4000, 2000
SIZES, EPSILONS = (30, 100, 1000), (0.01, 0.1, 1.0)
Floats = NDArray[np.float64]


def beta_binomial() -> Iterator[Bar]:
    """Return a line for every one of the 18 cells, with what two common intervals would cover beside it."""
    plan = counts_plan(relation=Relation.ADD_REMOVE)
    for place, (kind, people, epsilon) in enumerate(
        (kind, people, epsilon) for kind in ("Laplace", "Gaussian") for people in SIZES for epsilon in EPSILONS
    ):
        price = {"epsilon": epsilon} if kind == "Laplace" else {"rho": epsilon**2 / 2}
        found = calibration(BetaBinomial(1, 1, people=people), plan, reps=RUNS, seed=place, **price)
        noise = plan(**price).noise
        naive, wald = _common_intervals(people, noise, np.random.default_rng(1000 + place))
        beside = f"; naive {naive:.3f}, Wald {wald:.3f}"
        what = f"{kind}, n {people:,}, epsilon {epsilon:g}"
        yield coverage_bar(what, found, "share", tolerance=within(RUNS), beside=beside)
        yield mass_bar(what, found, "count")


def _common_intervals(people: int, noise: IntegerNoise, generator: np.random.Generator) -> tuple[float, float]:
    """Return the coverage of a Beta interval that takes the noisy count for the count, and of Wald's with the noise."""
    share = generator.beta(1, 1, size=RUNS)
    noisy = generator.binomial(people, share) + noise.sample(RUNS)
    count = np.clip(noisy, 0, people)
    low, high = (betaincinv(1 + count, 1 + people - count, one) for one in (0.025, 0.975))
    center = np.clip(noisy / people, 0.0, 1.0)
    variance = 2 * float(noise.scale) ** 2 if isinstance(noise, DiscreteLaplace) else float(noise.scale) ** 2
    half = 1.959964 * np.sqrt(center * (1 - center) / people + variance / people**2)
    off = np.abs(noisy / people - share)
    return float(np.mean((low <= share) & (share <= high))), float(np.mean(off <= half))


def cells() -> Iterator[Bar]:
    """Return lines for Dirichlet-multinomial tables, the number of people public and unknown."""
    settings: list[tuple[int, Any, str, float]] = [
        (5, 200, "epsilon", 0.1),
        (5, 1000, "epsilon", 1.0),
        (20, 1000, "epsilon", 0.1),
        (5, None, "epsilon", 0.1),
        (20, None, "epsilon", 0.1),
        (5, 30, "epsilon", 1.0),
        (5, 200, "rho", 0.005),
    ]
    for place, (count, people, price, value) in enumerate(settings):
        groups = [f"g{number}" for number in range(count)]
        plan = counts_plan(groups, relation=Relation.ADD_REMOVE)
        known = people if people is not None else NegativeBinomialPeople(mean=200 if count == 5 else 1000, dispersion=4)
        timed = Timed(DirichletMultinomial(1, people=known))
        found = timed.calibrated([plan(**{price: value})], reps=TABLE_RUNS, seed=100 + place)
        words = f"n {people:,}" if people is not None else "n unknown"
        what = f"{count} cells, {words}, {price} {value:g}"
        yield coverage_bar(what, found, "share", tolerance=0.02)
        yield mass_bar(what, found, "count")
        if people is None:
            yield mass_bar(what, found, "people")


def large() -> Iterator[Bar]:
    """Return the times of large tables, and whether all draws add up to the public number of people."""
    for count, people, epsilon, bar in ((100, 1000, 0.5, 2.0), (1000, 100_000, 0.1, 20.0)):
        generator = np.random.default_rng(count)
        truth = generator.multinomial(people, generator.dirichlet(np.ones(count)))
        noise = DiscreteLaplace(Fraction(1) / Fraction(str(epsilon)))
        noisy = {f"g{place}": int(one) for place, one in enumerate(truth + noise.sample(count))}
        began = time.process_time()
        found = posterior(noisy_counts(noisy, noise=noise), DirichletMultinomial(1, people=people), seed=1)
        drawn = found.drawn(1, 100)["count"]
        spent = time.process_time() - began
        total = bool((drawn.sum(axis=-1) == people).all())
        yield Bar(
            f"{count:,} cells: 100 draws", f"{spent:.2f} s CPU, sums {'equal' if total else 'DIFFER from'} n",
            f"<= {bar:g} s, sums equal n", total and spent <= bar,
        )  # fmt: skip


def shared() -> Iterator[Bar]:
    """Return what two answers about one count give together, and what they would give as two samples."""
    for people, scales in ((100, (2, 2)), (1000, (10, 5))):
        laws = [DiscreteLaplace(scale) for scale in scales]
        yield from _shared(people, laws)


def _shared(people: int, laws: list[DiscreteLaplace]) -> Iterator[Bar]:
    generator = np.random.default_rng(people)
    share = generator.beta(1, 1, size=RUNS)
    count = generator.binomial(people, share)
    noisy = [count + law.sample(RUNS) for law in laws]
    model = BetaBinomial(1, 1, people=people)
    held = []
    for run in range(RUNS):
        pairs = enumerate(zip(noisy, laws, strict=True))
        released = [
            noisy_counts(int(one[run]), noise=law, table="survey", release=str(place)) for place, (one, law) in pairs
        ]
        low, high = posterior(released, model).marginals("share")[0].ends(0.95)
        held.append(low <= share[run] <= high)
    covered = float(np.mean(held))
    words = " and ".join(f"{1 / float(law.scale):g}" for law in laws)
    what = f"n {people:,}, epsilons {words}"
    yield Bar(
        f"{what}: one count",
        f"{covered:.4f} ({RUNS:,} runs)",
        f".95 +- {within(RUNS):.4f}",
        abs(covered - 0.95) <= within(RUNS),
    )
    yield Bar(f"{what}: taken as two samples", f"{_as_two_samples(people, laws, noisy, share):.4f}")


def _as_two_samples(people: int, laws: list[DiscreteLaplace], noisy: list[Any], share: Floats) -> float:
    """Return the coverage where each noisy count is given a count of its own."""
    grid = (np.arange(2000) + 0.5) / 2000
    counts = np.arange(people + 1)
    choose = gammaln(people + 1) - gammaln(counts + 1) - gammaln(people - counts + 1)
    binomial = choose + counts * np.log(grid)[:, None] + (people - counts) * np.log1p(-grid)[:, None]
    held = 0
    tables: dict[tuple[int, int], Floats] = {}
    for run in range(len(share)):
        total = np.zeros(len(grid))
        for place, law in enumerate(laws):
            key = (place, int(noisy[place][run]))
            if key not in tables:
                tables[key] = logsumexp(binomial + law.log_pmf(key[1] - counts), axis=1)
            total += tables[key]
        mass = np.cumsum(np.exp(total - total.max()))
        mass /= mass[-1]
        low, high = grid[np.searchsorted(mass, 0.025)], grid[np.searchsorted(mass, 0.975)]
        held += bool(low <= share[run] <= high)
    return held / len(share)


def times() -> Iterator[Bar]:
    """Return what a posterior of a count takes."""
    for law, words in ((DiscreteLaplace(10), "Laplace"), (DiscreteGaussian(10), "Gaussian")):
        measured, model = noisy_counts(412, noise=law), BetaBinomial(1, 1, people=1000)
        spent = cpu_seconds(lambda one=measured, own=model: posterior(one, own).interval("share"))
        yield Bar(
            f"a count of 1,000 people with its interval, {words}", f"{1e3 * spent:.2f} ms", "<= 2 ms", spent <= 2e-3
        )
