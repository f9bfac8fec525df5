"""The public rule: what it chooses and why, from public numbers alone, and that its choice mends the worst answers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.privacy import Relation
from discreet.synthesis import (
    Allowance,
    Best,
    Domain,
    Independent,
    Neighbors,
    Records,
    Workload,
    conjunctions,
    marginals,
)
from discreet.synthesis.methods.named import expected_distance, typical_noise
from discreet.synthesis.methods.residual.method import Residual

BITS = Domain.of({f"bit {place}": (0, 1) for place in range(8)})
WIDE = Domain.of({f"bit {place}": (0, 1) for place in range(20)})
BROAD = Domain.of({f"bit {place}": (0, 1) for place in range(300)})
HUGE = Domain.of({f"bit {place}": (0, 1) for place in range(1100)})
MANY = Domain.of({f"place {place}": range(8) for place in range(12)})
PUBLIC = Neighbors(Relation.CHANGE_ONE, 100_000)


@pytest.mark.parametrize(
    ("asked", "size", "rho", "method", "words"),
    [
        (conjunctions(BITS, count=50), 100_000, Fraction(1, 100), "mwem", "256 possible records"),
        (conjunctions(WIDE, count=50), 100_000, Fraction(1, 100), "reweighted", "weights on its rows"),
        (conjunctions(WIDE, count=50), 10_000, Fraction(1, 1000), "tree", "too much to divide"),
        (conjunctions(WIDE, count=50), 1_000, Fraction(1, 1000), "independent", "single attributes"),
        (conjunctions(HUGE, count=50), 100_000, Fraction(1, 100), "reweighted", "1,100 attributes"),
        (conjunctions(BROAD, count=50), 100_000, Fraction(1, 100), "tree", "300 attributes"),
        (conjunctions(HUGE, count=50), 10_000_000, Fraction(1, 10**9), "independent", "single attributes"),
        (marginals(WIDE, ways=2), 100_000, Fraction(1, 10), "residual", "in L1"),
        (marginals(MANY, ways=3), 10_000, Fraction(1, 100), "tree", "every cell"),
    ],
)
def test_the_rule_says_what_and_why(asked: Workload, size: int, rho: Fraction, method: str, words: str) -> None:
    chosen = Best.of(asked, Neighbors(Relation.CHANGE_ONE, size), rho=rho)
    assert chosen.chosen.name == method
    assert words in chosen.reason
    assert chosen.plan["method"] == method
    assert chosen.plan["reason"] == chosen.reason


@pytest.mark.parametrize(
    ("asked", "people", "method", "gaussian"),
    [
        (conjunctions(WIDE, count=50), 10_000, "tree", True),
        (conjunctions(WIDE, count=50), 1_000, "independent", True),
        (marginals(WIDE, ways=2), 100_000, "residual", True),
        (conjunctions(BITS, count=50), 100_000, "mwem", False),
        (conjunctions(WIDE, count=50), 100_000, "reweighted", False),
    ],
)
def test_an_approximate_price_is_divided_as_mu_squared_where_noise_has_most_of_it(
    asked: Workload, people: int, method: str, gaussian: bool
) -> None:
    epsilon = 1 if people == 100_000 else Fraction(1, 4)
    chosen = Best.of(asked, Neighbors(Relation.CHANGE_ONE, people), epsilon=epsilon, delta=Fraction(1, 10**7))
    assert chosen.chosen.name == method
    assert chosen.allowance.gaussian == gaussian
    by_mu = Best.of(asked, Neighbors(Relation.CHANGE_ONE, people), mu=Fraction(1, 5))
    assert by_mu.allowance.gaussian


def test_pairs_that_are_too_many_are_not_looked_at() -> None:
    chosen = Best.of(conjunctions(HUGE, count=50), PUBLIC, rho=Fraction(1, 100))
    assert chosen.plan["base"] == "independent"


def test_more_attributes_than_a_tree_takes_are_not_paired_though_records_are_few() -> None:
    few = Neighbors(Relation.CHANGE_ONE, 2_000)
    for price in ({"rho": 1}, {"rho": Fraction(1, 10)}, {"rho": Fraction(1, 1000)}):
        for asked in (conjunctions(HUGE, count=50), marginals(HUGE, attributes=[("bit 0", "bit 1")])):
            chosen = Best.of(asked, few, **price)
            assert chosen.plan.get("base", chosen.chosen.name) in ("independent", "residual")


@pytest.mark.theorem("Best.privacy")
@pytest.mark.parametrize("price", [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-8}, {"rho": Fraction(1, 50)}])
@pytest.mark.parametrize("relation", [Relation.ADD_REMOVE, Relation.CHANGE_ONE])
@pytest.mark.parametrize("domain", [BITS, WIDE])
def test_what_is_chosen_keeps_the_guarantee_that_was_asked_for(
    domain: Domain, relation: Relation, price: dict[str, Any]
) -> None:
    neighbors = Neighbors(relation, 50_000)
    chosen = Best.of(conjunctions(domain, count=20), neighbors, **price)
    guarantee = Allowance.of(neighbors, **price)
    assert chosen.guarantee == chosen.chosen.guarantee == guarantee.guarantee
    assert chosen.chosen.allowance.amount == guarantee.amount


def alike(domain: Domain, count: int) -> Records:
    """Return bits that all follow one of two hidden bits, nine times in ten."""
    random = np.random.default_rng(6)
    hidden, noise = random.random((2, count)) < 0.5, random.random((len(domain), count)) < 0.1
    codes = np.stack([hidden[place % 2] ^ noise[place] for place in range(len(domain))])
    return Records(domain, codes.astype(np.uint16))


@pytest.mark.parametrize("domain", [BITS, WIDE])
def test_the_default_beats_exact_one_ways_on_average_and_on_the_maximum(domain: Domain) -> None:
    records, asked = alike(domain, 50_000), conjunctions(domain, count=400, repeats=False)
    release = Best.of(asked, Neighbors(Relation.CHANGE_ONE, 50_000), rho=Fraction(1, 2))(records)
    truth = asked.frequencies(records)
    independent = Independent.of(asked, Neighbors(Relation.CHANGE_ONE, 50_000), rho=Fraction(1, 2))(records)
    # independence errs by a quarter where three bits follow one; the noise of a share has a deviation of about 0.0002
    mistaken, off = np.abs(independent.answers - truth), np.abs(release.answers - truth)
    assert mistaken.max() > 0.2
    # which of equally good pairs are taken is left to the noise: over ninety runs the largest was .02 to .06
    assert off.max() < 0.15
    assert mistaken.mean() > 0.05
    assert off.mean() < 0.025


def test_the_release_is_that_of_the_method_with_the_reason_in_its_plan() -> None:
    chosen = Best.of(conjunctions(BITS, count=20), PUBLIC, rho=Fraction(1, 100))
    release = chosen(alike(BITS, 500))
    assert isinstance(chosen, Best)
    assert release.method == "mwem"
    assert release.plan["reason"] == chosen.reason


def test_the_noise_of_a_price_falls_with_the_size_and_the_price() -> None:
    def noise(size: int, **price: Any) -> float:
        return typical_noise(Allowance.of(Neighbors(Relation.CHANGE_ONE, size), **price))

    assert noise(1_000, rho=Fraction(1, 200)) == pytest.approx(0.01, rel=1e-6)
    assert noise(10_000, rho=Fraction(1, 200)) == pytest.approx(0.001, rel=1e-6)
    assert noise(1_000, epsilon=1) > noise(1_000, epsilon=2) > noise(2_000, epsilon=2)


def test_the_expected_distance_is_that_of_unbiased_noise() -> None:
    asked = marginals(Domain.of(a=range(4)), ways=1)
    residual = Residual.of(asked, Neighbors(Relation.ADD_REMOVE, 1_000), rho=Fraction(1, 200))
    (deviation,) = residual.deviations_of_counts
    assert expected_distance(residual) == pytest.approx(4 * deviation / 1_000 * (2 / np.pi) ** 0.5)


def test_cells_that_tell_nothing_are_answered_too() -> None:
    single = Domain.of(a=["only"], b=["one"])
    asked = marginals(single, ways=1)
    release = Best.of(asked, Neighbors(Relation.CHANGE_ONE, 10), rho=1)(
        Records(single, np.zeros((2, 10), dtype=np.uint16))
    )
    np.testing.assert_allclose(release.answers, 1.0)
