"""The exact models of counts against data augmentation: the same posteriors, computed in two ways."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from discreet.bayes import Posterior, noisy_counts, posterior
from discreet.bayes.base.diagnostics import bulk
from discreet.bayes.counts import BetaBinomial, DirichletMultinomial
from discreet.bayes.referee import BernoulliRecords, CategoricalRecords, DataAugmentation
from discreet.laws import DiscreteGaussian, DiscreteLaplace
from discreet.laws.noise import IntegerNoise

SHARES = (0.025, 0.25, 0.5, 0.75, 0.975)
CELLS = (("a",), ("b",), ("c",))


@dataclass(frozen=True)
class Independent:
    """The law of independent exact draws, where its cdf is not computed."""

    draws: Any

    def quantile(self, probability: float) -> float:
        return float(np.quantile(self.draws, probability))

    def cdf(self, value: float) -> float:
        return float((self.draws <= value).mean())


def distance(draws: Any, law: Any) -> float:
    """How far chances of exact quantiles are from shares of draws, in standard errors of 400 or more effective ones."""
    worst = 0.0
    for place in {law.quantile(share) for share in SHARES}:
        wanted, below = law.cdf(place), (draws <= place).astype(np.float64)
        effective = float(np.min(bulk(below)))
        assert effective >= 400
        if isinstance(law, Independent):
            effective = 1 / (1 / effective + 1 / law.draws.size)
        worst = max(worst, abs(below.mean() - wanted) / np.sqrt(max(wanted * (1 - wanted), 1e-4) / effective))
    return worst


def laws_of(exact: Posterior, name: str) -> list[Any]:
    """The exact laws of all groups of a parameter, or else of many independent draws."""
    if name in exact.exact:
        return list(exact.exact[name])
    draws = np.asarray(exact.drawn(4, 10_000)[name])  # type: ignore[operator]
    return [Independent(one) for one in draws.reshape(draws.shape[0] * draws.shape[1], -1).T]


def farthest(exact: Posterior, drawn: Posterior, names: dict[str, str]) -> float:
    """The largest distance over all groups of parameters, by their names here and there."""
    worst = 0.0
    for here, there in names.items():
        draws = np.reshape(drawn.draws[there], (*np.shape(drawn.draws[there])[:2], -1))
        for place, law in enumerate(laws_of(exact, here)):
            worst = max(worst, distance(draws[..., place], law))
    return worst


@pytest.mark.parametrize(
    ("people", "released", "noise"),
    [(100, 31, DiscreteLaplace(1)), (30, 4, DiscreteGaussian(1)), (30, 33, DiscreteLaplace(1))],
)
def test_one_count(people: int, released: int, noise: IntegerNoise) -> None:
    answer = noisy_counts(released, noise=noise)
    exact = posterior(answer, BetaBinomial(2, 1, people=people), seed=1)
    drawn = posterior(answer, DataAugmentation(BernoulliRecords(2, 1), people=people), seed=1)
    assert farthest(exact, drawn, {"share": "frequency", "count": "count"}) < 4


def test_two_answers_about_one_count_share_it() -> None:
    first = noisy_counts(9, noise=DiscreteLaplace(2), table="t", release="first")
    second = noisy_counts(14, noise=DiscreteGaussian(2), table="t", release="second")
    exact = posterior([first, second], BetaBinomial(1, 1, people=40), seed=1)
    drawn = posterior([first, second], DataAugmentation(BernoulliRecords(1, 1), people=40), seed=1)
    assert np.array_equal(drawn.draws["count 1"], drawn.draws["count 2"])
    assert farthest(exact, drawn, {"share": "frequency", "count": "count 1"}) < 4


def test_three_cells() -> None:
    answer = noisy_counts({"a": 12, "b": 20, "c": -1}, noise=DiscreteLaplace(1))
    exact = posterior(answer, DirichletMultinomial({"a": 1, "b": 0.5, "c": 2}, people=36), seed=1)
    model = DataAugmentation(CategoricalRecords(("group",), CELLS, (1, 0.5, 2)), people=36)
    assert farthest(exact, posterior(answer, model, seed=1), {"share": "frequency", "count": "count"}) < 4


def test_three_cells_of_unknown_people() -> None:
    answer = noisy_counts({"a": 6, "b": 9, "c": 2}, noise=DiscreteLaplace(1))
    exact = posterior(answer, DirichletMultinomial(1), seed=1)
    # with noise of scale 1 on each of three cells, 17 stands for more than 45 with a chance below e^-20
    model = DataAugmentation(CategoricalRecords(("group",), CELLS, (1, 1, 1)), people=range(46))
    names = {"share": "frequency", "count": "count", "people": "people"}
    assert farthest(exact, posterior(answer, model, seed=1), names) < 4
