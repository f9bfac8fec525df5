"""Adaptive rounds: what they spend, how far one unit moves their scores, and the bound on what they leave."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.privacy import Relation
from discreet.synthesis import Allowance, Domain, Neighbors, Records, conjunctions, parities
from discreet.synthesis.base.allowance import Measured
from discreet.synthesis.methods.weights.multiplicative import entropic_fit, satisfied, whole_domain
from discreet.synthesis.methods.weights.rounds import AdaptiveRounds, Course, centered_guess
from discreet.synthesis.workloads.workload import Workload
from tests.synthesis.methods.weights.rounds_spending import NotedRounds

SMALL = Domain.of(a=range(2), b=range(2))
DOMAIN = Domain.of(a=range(2), b=range(3), c=range(4))
RELATIONS = [Relation.ADD_REMOVE, Relation.CHANGE_ONE]
Price = dict[str, Any]
PRICES: list[Price] = [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}, {"rho": Fraction(1, 20)}]


def skewed(count: int, seed: int = 3) -> Records:
    """Return records whose attributes depend on each other."""
    random = np.random.default_rng(seed)
    first = random.integers(0, 2, count)
    second = np.where(random.random(count) < 0.7, first, 2)
    return Records(DOMAIN, np.stack([first, second, first + second]).astype(np.uint16))


def silent(*_: int) -> None:
    """Tell nobody."""


def run(rounds: AdaptiveRounds, records: Records, asked: Workload, allowance: Allowance) -> Course:
    support = whole_domain(DOMAIN)
    return rounds(records, asked, allowance, support, np.full(len(support), 1 / len(support)), silent)


@pytest.mark.theorem("AdaptiveRounds.privacy", "Mwem.privacy")
@pytest.mark.parametrize(("rows", "everyone"), [(1, True), (1, False), (3, True)])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("share", [Fraction(1), Fraction(2, 5)])
def test_the_rounds_spend_exactly_their_share(
    relation: Relation, rows: int, everyone: bool, price: Price, share: Fraction
) -> None:
    neighbors = Neighbors(relation, 500, rows, everyone)
    asked = conjunctions(DOMAIN, count=70)
    allowance = NotedRounds.like(Allowance.of(neighbors, **price))
    rounds = AdaptiveRounds.of(asked, allowance, share, 2.0)
    run(rounds, skewed(500), asked, allowance)
    public = relation is Relation.CHANGE_ONE and rows == 1 and everyone
    assert allowance.spent == rounds.share == share
    assert len(allowance.choices) == rounds.measurements
    assert set(allowance.sensitivities) == {neighbors.swing}
    assert [sensitivity for _, sensitivity in allowance.singles] == [neighbors.rows] * (not public) + [
        neighbors.swing
    ] * rounds.measurements


@pytest.mark.theorem("AdaptiveRounds.privacy", "Neighbors.privacy")
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("relation", RELATIONS)
def test_one_unit_moves_scores_and_measurements_by_the_swing_and_no_more(relation: Relation, rows: int) -> None:
    asked = parities(SMALL, ways=2)
    cells = list(product(range(2), range(2)))
    units = [unit for size in range(rows + 1) for unit in combinations_with_replacement(cells, size)]
    others = [table for size in range(3) for table in combinations_with_replacement(cells, size)]
    random = np.random.default_rng(1)
    guesses = [centered_guess(random.random(len(asked)), total) for total in (1, 2, 5)]

    def centered(table: list[tuple[int, int]]) -> np.ndarray:
        records = Records(SMALL, np.array(table, dtype=np.uint16).reshape(-1, 2).T)
        return 2 * asked.counts(records) - len(records)

    furthest = 0
    for rest in others:
        for one in units:
            for other in [()] if relation is Relation.ADD_REMOVE else units:
                here, there = centered([*rest, *one]), centered([*rest, *other])
                furthest = max(furthest, int(np.abs(here - there).max()))
                apart = np.array([one.count(cell) - other.count(cell) for cell in cells])
                assert np.abs(apart).sum() <= Neighbors(relation, 10, rows).l1
                assert (apart**2).sum() <= Neighbors(relation, 10, rows).squared
                for guess in guesses:
                    moved = np.abs(np.abs(here - guess) - np.abs(there - guess))
                    assert moved.max() <= Neighbors(relation, 10, rows).swing
    assert furthest == Neighbors(relation, 10, rows).swing


def replayed(course: Course, rounds: AdaptiveRounds, asked: Workload) -> list[np.ndarray]:
    """Return the weights before each round and after the last, from what was released."""
    support = whole_domain(DOMAIN)
    prior = np.full(len(support), 1 / len(support))
    weights, done = [prior], 0
    for fresh in course.before:
        done += len(fresh)
        truths = np.stack([satisfied(asked, query, support.codes) for query in course.chosen[:done]])
        values, variances = np.array(course.measured[:done]), np.full(done, course.deviation**2)
        weights.append(entropic_fit(truths, values, variances, prior, rounds.strength(course.deviation)).weights)
    return weights


@pytest.mark.theorem("AdaptiveRounds.accuracy", "Mwem.accuracy")
@pytest.mark.parametrize("price", [{"rho": Fraction(1, 100)}, {"rho": Fraction(1, 2)}, {"epsilon": 1}])
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_bound_holds_for_every_outcome_of_the_noise(relation: Relation, price: Price) -> None:
    records, asked = skewed(2_000), conjunctions(DOMAIN, count=90)
    allowance = Allowance.of(Neighbors(relation, 2_000), **price)
    rounds = AdaptiveRounds.of(asked, allowance, Fraction(1), np.log(DOMAIN.cells))
    course = run(rounds, records, asked, allowance)
    truth = asked.frequencies(records)
    strength, variance = rounds.strength(course.deviation), course.deviation**2
    chosen, measured = list(course.chosen), np.array(course.measured)
    starts = np.cumsum([0, *(len(fresh) for fresh in course.before)])[:-1]
    before = np.concatenate(course.before)
    parts = [slice(start, start + len(fresh)) for start, fresh in zip(starts, course.before, strict=True)]
    largest = np.array([np.abs(measured[part] - before[part]).max() for part in parts])
    errors = measured - truth[chosen]
    penalty = strength * variance
    bound = (1 + 4 * penalty) / 2 * (np.log(DOMAIN.cells) + np.sum(errors**2) / (2 * penalty))
    assert np.sum(largest**2) <= bound * (1 + 1e-6)

    weights = replayed(course, rounds, asked)
    support = whole_domain(DOMAIN)
    answers = np.stack([asked.frequencies(support, one) for one in weights])
    np.testing.assert_allclose(np.clip(answers[-1], 0, 1), course.answers, atol=1e-4)
    off = np.abs(answers[:-1] - truth)
    first = [chosen[start] for start in starts]
    gaps = off.max(axis=1) - off[np.arange(len(first)), first]
    average = np.abs(answers[:-1].mean(axis=0) - truth).max()
    guaranteed = np.sqrt(np.mean(largest**2)) + gaps.mean() + np.abs(errors[starts]).mean()
    assert average <= guaranteed + 1e-4


@given(
    queries=st.integers(1, 400),
    size=st.integers(1, 10**7),
    rho=st.fractions(Fraction(1, 10**6), Fraction(1, 2)),
)
def test_the_public_rule_measures_between_one_query_and_all(queries: int, size: int, rho: Fraction) -> None:
    asked = conjunctions(DOMAIN, count=queries)
    rounds = AdaptiveRounds.of(asked, Allowance.of(Neighbors(Relation.ADD_REMOVE, size), rho=rho), Fraction(1), 1.0)
    assert min(16, queries) <= rounds.measurements <= min(160, queries)
    assert rounds.rounds <= 10
    assert rounds.share == 1


@pytest.mark.theorem("AdaptiveRounds.privacy")
@pytest.mark.parametrize("released", [-(10**30), 0, 2**62, 2**63, 10**30])
def test_scores_never_jump_however_large_the_noisy_count(released: int) -> None:
    class Deaf(NotedRounds):
        """Counts so many records, whatever it is told."""

        def measure(self, value: int, share: Fraction, *, sensitivity: int) -> Measured:
            del value, share, sensitivity
            return Measured(released, 1.0)

    asked, offered = conjunctions(DOMAIN, count=20), list[np.ndarray]()

    def first(scores: np.ndarray) -> int:
        offered.append(scores)
        return 0

    for records in (skewed(0), skewed(1)):
        allowance = Deaf.like(Allowance.of(Neighbors(Relation.ADD_REMOVE, 10), epsilon=1), first)
        run(AdaptiveRounds.of(asked, allowance, Fraction(1), 1.0), records, asked, allowance)
    here, there = offered[: len(offered) // 2], offered[len(offered) // 2 :]
    assert min(scores.min() for scores in offered) >= 0
    assert max(int(np.abs(one - other).max()) for one, other in zip(here, there, strict=True)) == 1


def test_no_query_is_measured_twice_and_all_are_where_they_are_few() -> None:
    asked = conjunctions(DOMAIN, count=12)
    allowance = Allowance.of(Neighbors(Relation.CHANGE_ONE, 100), rho=Fraction(1, 10))
    course = run(AdaptiveRounds.of(asked, allowance, Fraction(1), 1.0), skewed(100), asked, allowance)
    assert sorted(course.chosen) == list(range(12))


def test_progress_counts_rounds_whatever_the_records() -> None:
    asked, support = conjunctions(DOMAIN, count=25), whole_domain(DOMAIN)
    allowance = Allowance.of(Neighbors(Relation.ADD_REMOVE, 100), rho=Fraction(1, 10))
    rounds = AdaptiveRounds.of(asked, allowance, Fraction(1), 1.0)
    told: list[list[tuple[int, ...]]] = []
    for records in (skewed(0), skewed(1), skewed(900)):
        steps: list[tuple[int, ...]] = []
        rounds(records, asked, allowance, support, np.ones(len(support)), lambda *told, kept=steps: kept.append(told))
        told.append(steps)
    assert told[0] == told[1] == told[2] == [(done, rounds.rounds) for done in range(rounds.rounds + 1)]
