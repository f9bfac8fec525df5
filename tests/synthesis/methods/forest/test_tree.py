"""The tree of noisy pairs: what it spends however it chooses, hostile tables, and what it finds in correlated ones."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.errors import ParameterError, SenselessParameter
from discreet.privacy import Relation
from discreet.synthesis import Domain, Neighbors, Records, Tree, conjunctions, marginals
from discreet.synthesis.methods.forest.tree import MOST_ATTRIBUTES, ONE_WAYS
from tests.synthesis.methods.spending import Noted

DOMAIN = Domain.of(a=range(2), b=range(5), c=range(1), d=range(9), e=range(3))
RELATIONS = [Relation.ADD_REMOVE, Relation.CHANGE_ONE]


def chain(domain: Domain, count: int, seed: int = 4) -> Records:
    """Return records in which each attribute mostly follows the one before."""
    random = np.random.default_rng(seed)
    codes = [random.integers(0, domain.sizes[0], count)]
    for size in domain.sizes[1:]:
        codes.append(np.where(random.random(count) < 0.9, codes[-1] % size, random.integers(0, size, count)))
    return Records(domain, np.stack(codes).astype(np.uint16))


def stop_after(edges: int) -> Any:
    """Return a choice that takes the first pair so many times and then stops."""
    taken = 0

    def choice(scores: NDArray[Any]) -> int:
        nonlocal taken
        taken += 1
        return 0 if taken <= edges else len(scores) - 1

    return choice


@pytest.mark.theorem("Tree.privacy")
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(
    ("price", "choices"),
    [
        ({"epsilon": 1}, Fraction(3, 50)), ({"rho": Fraction(1, 3)}, Fraction(3, 50)),
        ({"epsilon": 1, "delta": 1e-6}, Fraction(2, 25)), ({"mu": Fraction(1, 3)}, Fraction(2, 25)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("edges", [0, 1, 2, 3])
def test_the_shares_add_up_to_the_allowance_wherever_it_stops(
    relation: Relation, price: Any, choices: Fraction, edges: int
) -> None:
    method = Tree.of(conjunctions(DOMAIN, count=30), Neighbors(relation, 300, rows=2), size=20, **price)
    allowance = Noted.like(method.allowance, stop_after(edges))
    release = replace(method, allowance=allowance)(chain(DOMAIN, 300))
    assert allowance.spent == 1
    assert allowance.choices == [choices / 3] * min(edges + 1, 3)
    assert len(release.evidence["edges"]) == edges
    assert set(allowance.sensitivities) == {16 * allowance.neighbors.l1}
    assert sum(method.one_way_shares.values()) == ONE_WAYS


@pytest.mark.theorem("Tree.privacy")
def test_attributes_that_no_pair_has_are_measured_again_with_what_is_left() -> None:
    method = Tree.of(conjunctions(DOMAIN, count=30), Neighbors(Relation.ADD_REMOVE, 300), epsilon=1, size=20)
    for edges, histograms in ((0, 4 + 4), (1, 4 + 1 + 2), (3, 4 + 3)):
        allowance = Noted.like(method.allowance, stop_after(edges))
        replace(method, allowance=allowance)(chain(DOMAIN, 300))
        assert len(allowance.noised) == histograms


@pytest.mark.theorem("Tree.privacy")
def test_its_own_choices_never_overspend(rounds: Any) -> None:
    method = Tree.of(conjunctions(DOMAIN, count=5), Neighbors(Relation.CHANGE_ONE, 50), epsilon=1, delta=1e-6, size=5)
    for seed in range(rounds(sample=10, full=500)):
        allowance = Noted.like(method.allowance)
        replace(method, allowance=allowance)(chain(DOMAIN, 50, seed))
        assert allowance.spent == 1


@pytest.mark.parametrize("count", [0, 1, 400])
@pytest.mark.parametrize("people", [1, 400, 10**9])
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_shape_of_a_release_does_not_depend_on_the_records(count: int, people: int, relation: Relation) -> None:
    asked = conjunctions(DOMAIN, count=40)
    alike = Records(DOMAIN, np.zeros((len(DOMAIN), count), dtype=np.uint16))
    for records in (alike, chain(DOMAIN, count)):
        told: list[tuple[int, int]] = []
        method = Tree.of(asked, Neighbors(relation, people), epsilon=1, delta=1e-12, size=70)
        release = method(records, progress=lambda done, steps, told=told: told.append((done, steps)))  # type: ignore[misc]
        assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
        assert len(release.table) == 70
        assert release.answers.shape == (40,)
        assert np.all((release.answers >= 0) & (release.answers <= 1))


def test_one_attribute_and_attributes_of_one_value_are_released_too() -> None:
    for domain in (Domain.of(a=range(3)), Domain.of(a=range(1)), Domain.of(a=range(1), b=range(1))):
        method = Tree.of(conjunctions(domain, ways=1, count=20), Neighbors(Relation.ADD_REMOVE, 50), epsilon=1, size=9)
        allowance = Noted.like(method.allowance)
        release = replace(method, allowance=allowance)(chain(domain, 50))
        assert allowance.spent == (1 if domain.cells > 1 else 0)
        assert release.evidence["edges"] == ()
        assert release.table.records.codes.shape == (len(domain), 9)


def test_attributes_too_large_to_pair_are_measured_alone() -> None:
    domain = Domain.of(a=range(1_100), b=range(1_100), c=range(2))  # 1,100^2 is more than 2^20
    method = Tree.of(conjunctions(domain, count=4), Neighbors(Relation.ADD_REMOVE, 30), epsilon=1, size=10)
    assert method.plan["candidates"] == 2  # each of the large ones with c
    allowance = Noted.like(method.allowance, stop_after(2))
    release = replace(method, allowance=allowance)(chain(domain, 30))
    assert allowance.spent == 1
    assert release.evidence["edges"] == (("a", "c"), ("b", "c"))


def test_more_attributes_than_pairs_can_be_looked_at_are_refused_whatever_else_there_is() -> None:
    wide = {f"x{place}": (0, 1) for place in range(MOST_ATTRIBUTES)}
    price, neighbors = {"epsilon": 1}, Neighbors(Relation.ADD_REMOVE, 9)
    alone = {f"y{place}": (0,) for place in range(9)}  # one value: nothing to pair
    method = Tree.of(conjunctions(Domain.of({**wide, **alone}), count=4), neighbors, **price)
    assert method.plan["candidates"] == MOST_ATTRIBUTES * (MOST_ATTRIBUTES - 1) // 2
    with pytest.raises(ParameterError, match="at most 1024 with several values"):
        Tree.of(conjunctions(Domain.of({**wide, "z": (0, 1)}), count=4), neighbors, **price)


@pytest.mark.theorem("Tree.accuracy")
@pytest.mark.parametrize("relation", RELATIONS)
def test_with_a_boundless_price_a_chain_is_found_and_its_pairs_are_exact(relation: Relation) -> None:
    domain = Domain.of(a=range(3), b=range(3), c=range(3), d=range(3))
    records = chain(domain, 20_000)
    asked = marginals(domain, attributes=[("a", "b"), ("b", "c"), ("c", "d")])
    with pytest.warns(SenselessParameter):
        release = Tree.of(asked, Neighbors(relation, 20_000), rho=10**6, size=100)(records)
    assert sorted(release.evidence["edges"]) == [("a", "b"), ("b", "c"), ("c", "d")]
    np.testing.assert_allclose(release.answers, asked.frequencies(records), atol=1e-6)
