"""What private search costs, beside composition, and the exact law of the winner on finite mechanisms."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.report import Row
from discreet.learning.search import (
    Poisson,
    RunsLaw,
    TruncatedNegativeBinomial,
    pure_search_epsilon,
    search_delta,
    search_epsilon,
)
from discreet.privacy import GaussianDP, largest_mu
from discreet.privacy.guarantees import epsilon_of

Floats = NDArray[np.float64]
DELTA = Fraction(1, 10**5)
BARS = {10: 1.93, 100: 2.30}
LEVELS = (0.0, 0.1, 0.3, 1.0, 2.0, 4.0)
LAWS: tuple[RunsLaw, ...] = (
    TruncatedNegativeBinomial.of_mean(10),
    TruncatedNegativeBinomial.of_mean(100),
    TruncatedNegativeBinomial(eta=1, gamma=0.05),
    Poisson(10),
)
MECHANISMS = 400


def rows() -> Iterator[Row]:
    """Price ten and a hundred expected runs; then look for a mechanism that loses more than its price."""
    mu = largest_mu(Fraction(1), DELTA)
    for runs, bar in BARS.items():
        total = search_epsilon(mu, TruncatedNegativeBinomial.of_mean(runs), DELTA)
        told = epsilon_of(GaussianDP(float(mu) * math.sqrt(runs)), DELTA)
        what = f"runs of epsilon 1, delta 1e-05, {runs} expected"
        yield Row(
            what, f"epsilon {total:.3f}", f"composed {told:.2f}", f"{told / total:.2f}", f"<= {bar}", total <= bar
        )
    for law in LAWS:
        name = f"{type(law).__name__}, {law.mean:.0f} runs expected"
        ratios = [_gaussian(law, mu) for mu in (Fraction(1, 4), Fraction(1), Fraction(2))]
        yield Row(
            f"{name}: Gaussian runs, exact delta over its price", f"at most {max(ratios):.3f}",
            f"{3 * MECHANISMS:,} mechanisms at {len(LEVELS)} levels", bar="<= 1", holds=max(ratios) <= 1,
        )  # fmt: skip
        ratio = _pure(law)
        yield Row(f"{name}: pure runs, exact loss over its price", f"at most {ratio:.3f}", f"{MECHANISMS:,} mechanisms",
                  bar="<= 1", holds=ratio <= 1)  # fmt: skip


def _at_most(law: RunsLaw) -> Callable[[float], float]:
    """Return E x^K, from which the chance that all runs are below a score follows."""
    if isinstance(law, Poisson):
        mean = float(Fraction(law.expectation))
        return lambda x: math.exp(-mean * (1 - x))
    assert isinstance(law, TruncatedNegativeBinomial)  # noqa: S101 - the laws above
    eta, rest = float(Fraction(law.eta)), 1 - float(Fraction(law.gamma))
    if eta == 0:
        return lambda x: math.log1p(-rest * x) / math.log1p(-rest)
    return lambda x: ((1 - rest * x) ** -eta - 1) / ((1 - rest) ** -eta - 1)


def _winner(generate: Callable[[float], float], chances: Floats, scores: NDArray[np.int64]) -> Floats:
    """Return the chances of each outcome to win; the best score is at most s if all are."""
    won = np.zeros(len(chances))
    below, left = 0.0, generate(0.0)
    for score in np.unique(scores):
        ties = scores == score
        among = float(chances[ties].sum())
        reached = generate(min(below + among, 1.0))
        won[ties] = chances[ties] / among * (reached - left)
        below, left = below + among, reached
    return won


def _gaussian(law: RunsLaw, mu: Fraction) -> float:
    """Return the largest exact delta over its price: a grouping of a normal variable is mu-Gaussian-DP."""
    draw, generate, worst = np.random.default_rng(4), _at_most(law), 0.0
    claims = [search_delta(mu, law, level) for level in LEVELS]
    for trial in range(MECHANISMS):
        cuts = np.sort(draw.normal(float(mu) / 2, 1.5, draw.integers(2, 60)))
        if trial < 2:
            cuts = np.linspace(-6, 6 + float(mu), 2_000)
        one, other = (
            np.diff([0.0, *(0.5 * math.erfc((shift - cut) / math.sqrt(2)) for cut in cuts), 1.0])
            for shift in (0.0, float(mu))
        )
        kept = (one > 0) & (other > 0)
        scores = np.arange(kept.sum()) if trial % 3 else draw.integers(0, kept.sum(), kept.sum())
        scores = -scores if trial % 2 else scores
        first, second = (_winner(generate, law_[kept], scores) for law_ in (one, other))
        for level, claim in zip(LEVELS, claims, strict=True):
            lost = max(_delta(first, second, level), _delta(second, first, level))
            if lost > 1e-12:  # floats say nothing below
                worst = max(worst, lost / claim)
    return worst


def _delta(first: Floats, second: Floats, level: float) -> float:
    return float(np.maximum(first - math.exp(level) * second, 0).sum())


def _pure(law: RunsLaw) -> float:
    """Return the largest exact loss over its price."""
    draw, generate, worst = np.random.default_rng(5), _at_most(law), 0.0
    for trial in range(MECHANISMS):
        one = draw.dirichlet(np.ones(draw.integers(2, 7))) + 1e-6
        other = one * np.exp(draw.choice([-1.0, 1.0], len(one)) * draw.uniform(0.01, 2))
        if trial % 4 == 0:
            chance = float(draw.uniform(0.55, 0.95))
            one, other = np.array([chance, 1 - chance]), np.array([1 - chance, chance])
        one, other = one / one.sum(), other / other.sum()
        epsilon = Fraction(float(np.abs(np.log(one / other)).max()))
        if epsilon < Fraction(1, 10**6):  # all moved alike: the same law but for rounding
            continue
        scores = draw.integers(0, len(one), len(one))
        first, second = (_winner(generate, law_, scores) for law_ in (one, other))
        loss = float(np.abs(np.log(first / second)).max())
        worst = max(worst, loss / pure_search_epsilon(epsilon, law))
    return worst
