"""Calls as the pages write them, for a type checker that sees the installed package: numbers, texts, lists, frames.

`make lint` runs `mypy --strict` on this file from outside the package, and `tools/wheel.py` against the wheel;
`tests/typing/test_documented_calls.py` runs it. A call that is written here passes both.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pandas as pd  # type: ignore[import-untyped,import-not-found,unused-ignore]  # it ships no types

import discreet as dp
from discreet import attacks, data, display, laws, ledger, local, privacy, query, randomness, statistics, synthesis
from discreet import testing as kit
from discreet.privacy import gaussian_loss, laplace_loss

HIDDEN = dp.Relation.ADD_REMOVE
VALUES = [12, 30.5, 7, 44, 19]


def guarantees() -> None:
    assert dp.PureDP(0.5).to_zcdp().rho < 0.2
    assert dp.ZCDP(Fraction(1, 20), relation=HIDDEN).to_approx(delta=1e-6).epsilon < 2
    assert dp.GaussianDP(1).to_zcdp().to_renyi(alpha=2).epsilon == 1
    assert dp.ApproxDP(1, 1e-6).implies(dp.ApproxDP(2, 1e-6))
    assert privacy.group_privacy(dp.PureDP(0.5), 4).epsilon == 2
    assert privacy.basic_composition([dp.ApproxDP(0.5, 1e-7), dp.ApproxDP(0.5, 0)]).delta == 1e-7
    assert privacy.repeated(dp.ZCDP(0.25), 2).rho == 0.5
    assert privacy.split(0.5, 1e-6, 100).epsilon > 0.001
    assert privacy.amplify_by_poisson(dp.PureDP(1, relation=HIDDEN), 0.01).epsilon < 0.02
    privacy.warn_if_senseless(dp.ApproxDP(1, 1e-9), people=1000)


def prices() -> None:
    plan = gaussian_loss(50) * 1000 + laplace_loss(20, sensitivity=2)
    assert plan.epsilon(1e-5).upper < 4
    assert dp.calibrate(lambda scale: gaussian_loss(scale) * 100, epsilon=1, delta=1e-5) > 30
    assert dp.largest_count(gaussian_loss(10), epsilon=1, delta=1e-6) > 1
    step = dp.subsample(gaussian_loss(1, relation=HIDDEN), rate=0.01)
    assert (step * 100).delta(1.5).upper < 1e-3
    assert privacy.group_loss(privacy.discrete_gaussian_loss(20, sensitivity=2), 3).epsilon(1e-6).upper < 3
    assert privacy.table_loss([0.75, 0.25], [Fraction(1, 4), Fraction(3, 4)]).max_loss().upper < 1.1
    assert dp.compose([dp.PureDP(0.5).loss, laplace_loss(4)]).max_loss().upper == 0.75
    session = dp.privacy_filter(dp.ZCDP(0.5))
    session.spend(dp.ZCDP(0.1))
    assert not session.admits(dp.ZCDP(0.45))
    assert dp.Batch([dp.PureDP(0.1).loss] * 100).loss.epsilon(1e-6).upper < 7
    record = privacy.ReleaseRecord.of("laplace", scale=30, relation="add/remove", unit="patient", count=2)
    assert privacy.replay([record]).releases == 2


def noise() -> None:
    count = dp.Laplace(epsilon=0.5, sensitivity=1)
    assert count.error(confidence=0.95) > 0
    count(412)
    moved = dp.Sensitivity(3, norm=dp.Norm.L2, relation=HIDDEN)
    dp.Gaussian(epsilon=1, delta=1e-6, sensitivity=moved)(np.array([1, 2, 3]))
    dp.TruncatedGeometric(epsilon=1, delta=1e-6, sensitivity=1)(5)
    dp.ThresholdedHistogram(epsilon=1, delta=1e-6, keys=2, relation=HIDDEN)({"mug": 40, "cup": 1})
    assert laws.DiscreteLaplace(3.5).at(2).pmf(2) > 0.1
    assert len(laws.DiscreteGaussian(10).sample(20)) == 20
    assert laws.RoundedGaussian(10).log_pmf(1000) < -4000
    assert laws.Finite(["yes", "no"], [Fraction(1, 3), Fraction(2, 3)]).pmf("yes") < 0.34
    assert laws.LocationPair(laws.DiscreteLaplace(2), shift=1).delta(0.5).upper < 1e-9
    assert randomness.uniform_below(6) < 6
    assert randomness.bernoulli(Fraction(1, 3)) in (True, False)


def choices() -> None:
    likes = {"news": 61, "sports": 74, "weather": 83}
    assert dp.Exponential(epsilon=2, sensitivity=1).choose(likes, score=likes.get) in likes
    assert dp.PermuteAndFlip(epsilon=0.5, sensitivity=1, monotone=True).choose(likes, score=len) in likes
    assert len(dp.Top(k=2, epsilon=0.1, sensitivity=1).choose(likes, score=lambda page: 2 * likes[page])) == 2
    assert dp.NoisyMax(epsilon=0.5, sensitivity=1)([61, 74, 83]) in (0, 1, 2)
    dp.RandomizedResponse(truth=0.75, categories=2).estimate([1, 0, 0, 1])
    dp.AboveThreshold(threshold=3000, epsilon=0.5, sensitivity=1, hits=2)(2500)


def audits() -> None:
    assert not dp.audit(dp.Laplace(scale=10, sensitivity=1), dp.PureDP(0.1)).refuted

    def careless(value: int) -> list[int]:
        return [dp.Laplace(epsilon=1, sensitivity=1)(value) for _ in range(2)]

    dp.audit(careless, dp.PureDP(1), neighbors=[(0, 1)], level=dp.Level.STATISTICAL, draws=4000)
    law = laws.DiscreteGaussian(3.5)
    dp.goodness_of_fit(law, law.sample(2000)).alarm(1e-9)
    assert dp.audit.one_run(canaries=1000, guesses=1000, right=900, guarantee=dp.PureDP(1)).refuted


def statistics_of_columns() -> None:
    column = pd.Series(VALUES)
    assert float(statistics.count(VALUES, relation=HIDDEN, epsilon=1)) < 1000
    statistics.count(where=column > 10, relation=HIDDEN, error=50)
    statistics.sum(np.array(VALUES), bounds=(0, 100), relation=HIDDEN, rho=0.5)
    statistics.mean(column, bounds=(0, 100), relation=HIDDEN, epsilon=0.5, confidence=0.9)
    statistics.mean(VALUES, bounds=(0, 100.0), relation=HIDDEN, error=5, rows_expected=5, missing=0)
    statistics.variance(VALUES, bounds=(0, 100), relation=HIDDEN, epsilon=1, delta=1e-6)
    statistics.quantile(column, 0.5, bounds=(0, 100), relation=HIDDEN, epsilon=1)
    statistics.quantiles(VALUES, [0.25, 0.75], bounds=(0, 100), relation=HIDDEN, epsilon=1).to_pandas()
    statistics.histogram(["bus", "tram", "bus"], keys=["bus", "tram"], relation=HIDDEN, epsilon=1)
    statistics.count_distinct(["bus", "tram"], relation=HIDDEN, epsilon=1)
    statistics.covariance(np.array([[1, 2], [3, 4]]), center=[2, 2], radius=5, relation=HIDDEN, epsilon=1)


def private_sql() -> None:
    people = data.population(500, seed=7).to_pandas()
    columns = data.population_columns()
    with dp.Session.from_frames(people=people, unit="row", budget=dp.ZCDP(0.5), columns=columns) as session:
        assert session.explain("SELECT COUNT(*) AS n FROM people", rho=0.02).fits
        answer = session.sql("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", rho=0.02)
        assert len(answer["n"]) == len(answer["sex"])
        assert len(session.top("SELECT education, COUNT(*) FROM people GROUP BY education", k=2, rho=0.01)) == 2
        session.watch(1000, epsilon=0.2)
        assert isinstance(session.balance.remaining, privacy.ZCDP)
        assert isinstance(session, query.Session)
        domain = synthesis.domain_of(session, "people", ["sex", "education"])
        workload = synthesis.marginals(domain, ways=2)
        release = synthesis.synthesize(session, "people", workload, rho=0.02, people=500)
        assert len(release.answers) > 1
    terms = ledger.Terms(lineage="hospital", unit="patient", budget=dp.PureDP(1, relation=HIDDEN), caps={"ana": None})
    assert ledger.MemoryLedger(terms).verify().entries == 1


def attackers() -> None:
    secret = np.resize([1, 0, 0, 1, 1], 63)
    found = attacks.fourier(attacks.exact_answers(secret), 63, truth=secret)
    assert found.recovered == 1
    ask = attacks.noisy_answers(secret, attacks.uniform_noise(1.5, seed=1))
    attacks.fourier(ask, 63, truth=secret, error=2)
    attacks.uniques(data.survey(500, seed=1), ["age", "town"])


def helpers() -> None:
    checks: list[Callable[[kit.Subject], None]] = [check.run for check in kit.conformance_checks()]
    assert len(checks) > 5
    assert display.format_number(Fraction(2, 3), digits=3) == "0.667"


def local_model() -> None:
    spec = local.design(people=10_000, categories=["happy", "so so", "unhappy"], epsilon=1).spec
    spec.aggregator().add(spec.client().batch(["happy", "unhappy"])).estimate()
    direct = local.DirectResponse(epsilon=0.5, categories=4)
    direct.aggregator().add(direct.client().batch(np.array([0, 3, 3]))).estimate()
    ages = local.HybridMean(epsilon=2, bounds=(0, 120))
    ages.aggregator().add(ages.client().batch([18, 90.5])).estimate()
    local.UnitVectors(epsilon=4, dimension=8).client().batch([[1.0] + [0.0] * 7])
    local.HeavyHitters.plan(people=60_000, epsilon=4, keys="text:16", seed=7)


ROOMS = (
    guarantees, prices, noise, choices, audits, statistics_of_columns, private_sql, attackers, helpers, local_model,
)  # fmt: skip
