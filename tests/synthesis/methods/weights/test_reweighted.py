"""Weights on the rows of a released table: what base and rounds spend together, and that the worst answers mend."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.errors import ParameterError, SenselessParameter
from discreet.privacy import Relation
from discreet.synthesis import Allowance, Domain, Independent, Neighbors, Records, Reweighted, Tree, conjunctions
from discreet.synthesis.methods.weights.multiplicative import divergence_of
from discreet.synthesis.methods.weights.reweighted import SUPPORT, support_of
from tests.synthesis.methods.spending import Noted
from tests.synthesis.methods.weights.rounds_spending import NotedRounds

RELATIONS = [Relation.ADD_REMOVE, Relation.CHANGE_ONE]
SMALL = Domain.of({f"bit {place}": (0, 1) for place in range(6)})
WIDE = Domain.of({f"bit {place}": (0, 1) for place in range(16)})


def twins(domain: Domain, count: int, seed: int = 4) -> Records:
    """Return bits that come in equal pairs, and a third that is the parity of two."""
    random = np.random.default_rng(seed)
    codes = random.integers(0, 2, (len(domain), count))
    codes[1::2] = codes[::2]
    codes[-1] = codes[0] ^ codes[2]
    return Records(domain, codes.astype(np.uint16))


@pytest.mark.theorem("Reweighted.privacy")
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("price", [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}, {"rho": Fraction(1, 9)}])
def test_base_and_rounds_spend_no_more_than_the_allowance(relation: Relation, price: dict[str, Any]) -> None:
    method = Reweighted.of(conjunctions(WIDE, count=60), Neighbors(relation, 300), **price)
    whole, part = NotedRounds.like(method.allowance), Noted.like(method.base.allowance)
    assert isinstance(method.base, Tree)
    noting = replace(method, allowance=whole, base=replace(method.base, allowance=part))
    release = noting(twins(WIDE, 300))
    assert part.spent <= 1
    assert whole.spent + part.spent * part.amount / whole.amount <= 1
    assert whole.spent == method.rounds.share == Fraction(1, 2)
    assert release.guarantee == Allowance.of(Neighbors(relation, 300), **price).guarantee


@pytest.mark.theorem("Reweighted.accuracy")
@pytest.mark.parametrize("domain", [SMALL, WIDE])
def test_with_a_boundless_price_the_weights_mend_what_independence_gets_wrong(domain: Domain) -> None:
    records, asked = twins(domain, 5_000), conjunctions(domain, ways=2, count=200, repeats=False)
    allowance = Allowance.of(Neighbors(Relation.CHANGE_ONE, 5_000), rho=10**6)
    base = Independent(workload=asked, allowance=allowance.part(Fraction(1, 2)), size=SUPPORT)
    with pytest.warns(SenselessParameter):
        method = Reweighted.on(base, allowance, reach=np.inf)
    with pytest.warns(SenselessParameter):
        release = method(records)
    with pytest.warns(SenselessParameter):
        plain = base(records)
    truth = asked.frequencies(records)
    assert np.abs(plain.answers - truth).max() > 0.2  # twins agree always, and half the time under independence
    assert np.abs(release.answers - truth).max() < 0.1


@pytest.mark.theorem("Reweighted.accuracy", "AdaptiveRounds.accuracy")
@pytest.mark.parametrize("reach", [np.inf, 0.05])
def test_the_bound_holds_against_every_distribution_on_the_support(reach: float) -> None:
    records, asked = twins(SMALL, 2_000), conjunctions(SMALL, count=100)
    allowance = Allowance.of(Neighbors(Relation.CHANGE_ONE, 2_000), rho=Fraction(1, 10))
    base = Independent(workload=asked, allowance=allowance.part(Fraction(1, 2)), size=SUPPORT)
    rounds, released = replace(Reweighted.on(base, allowance).rounds, reach=reach), base(records)
    support, prior = support_of(released.table, SUPPORT)
    course = rounds(records, asked, allowance, support, prior, lambda *_: None, anchor=released.answers)
    chosen, measured = list(course.chosen), np.array(course.measured)
    starts = np.cumsum([0, *(len(one) for one in course.before)])[:-1]
    largest = np.maximum.reduceat(np.abs(measured - np.concatenate(course.before)), starts)
    first = rounds.strength(course.deviation)
    penalty = first * course.deviation**2
    assert (course.strength > first) == (reach < 1)  # twins are further than 0.05 nats from independence
    assert divergence_of(course.weights, prior) <= reach
    offset = released.answers - asked.frequencies(support, prior)
    random = np.random.default_rng(8)
    for other in [prior, np.full(64, 1 / 64), course.weights, *random.dirichlet(np.ones(64), 20)]:
        divergence = float(other @ np.log(other / prior))
        missed = (measured - offset[chosen]) - asked.frequencies(support, other)[chosen]
        bound = (1 + 4 * penalty) / 2 * (course.strength / first * divergence + np.sum(missed**2) / (2 * penalty))
        assert np.sum(largest**2) <= bound * (1 + 1e-6)


@pytest.mark.parametrize("count", [0, 1, 400])
@pytest.mark.parametrize("people", [1, 400, 10**8])
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_shape_of_a_release_does_not_depend_on_the_records(count: int, people: int, relation: Relation) -> None:
    method = Reweighted.of(conjunctions(WIDE, count=30), Neighbors(relation, people), epsilon=1, delta=1e-9)
    steps: list[tuple[int, int]] = []
    release = method(twins(WIDE, count), progress=lambda done, all_: steps.append((done, all_)))
    assert release.plan == method.plan
    assert len(release.table) == SUPPORT
    assert np.all((release.answers >= 0) & (release.answers <= 1))
    assert len(release.evidence["chosen queries"]) == method.rounds.measurements
    assert steps[-1] == (method.rounds.rounds + 1, method.rounds.rounds + 1)
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)


def test_a_domain_that_can_be_listed_is_the_support() -> None:
    method = Reweighted.of(conjunctions(SMALL, count=30), Neighbors(Relation.CHANGE_ONE, 400), rho=Fraction(1, 10))
    release = method(twins(SMALL, 400))
    assert len(release.table) == SMALL.cells
    assert release.table.weights is not None
    assert release.table.weights.min() > 0


def test_one_query_and_one_row_are_enough() -> None:
    asked = conjunctions(WIDE, count=1)
    method = Reweighted.of(asked, Neighbors(Relation.ADD_REMOVE, 50), rho=Fraction(1, 10))
    release = replace(method, support=1)(twins(WIDE, 50))
    assert len(release.table) == 1
    assert release.evidence["chosen queries"] == (0,)


@pytest.mark.theorem("Reweighted.privacy")
def test_a_base_whose_guarantee_does_not_add_up_is_refused() -> None:
    asked, neighbors = conjunctions(WIDE, count=30), Neighbors(Relation.CHANGE_ONE, 400)
    allowance = Allowance.of(neighbors, epsilon=1, delta=1e-6)
    half = Independent.of(asked, neighbors, epsilon=Fraction(1, 2), delta=1e-6)
    with pytest.raises(ParameterError, match=r"does not add up .* `Allowance.part`"):
        Reweighted.on(half, allowance)
    with pytest.raises(ParameterError, match="costs the whole allowance"):
        Reweighted.on(Independent(workload=asked, allowance=allowance, size=9), allowance)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda method: {"rounds": replace(method.rounds, share_choice=Fraction(1, 10))}, "cost more"),
        (lambda _: {"workload": conjunctions(WIDE, count=30, seed=2)}, "another workload"),
        (lambda _: {"support": 0}, "at least one row"),
        (lambda _: {"allowance": Allowance.of(Neighbors(Relation.CHANGE_ONE, 401), rho=Fraction(1, 10))}, "others"),
        (lambda method: {"allowance": Allowance.of(method.allowance.neighbors, epsilon=1)}, "others"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(change: Callable[[Reweighted], dict[str, Any]], words: str) -> None:
    asked = conjunctions(WIDE, count=30)
    method = Reweighted.of(asked, Neighbors(Relation.CHANGE_ONE, 400), rho=Fraction(1, 10))
    with pytest.raises(ParameterError, match=words):
        replace(method, **change(method))
