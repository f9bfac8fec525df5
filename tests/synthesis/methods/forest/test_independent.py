"""Independent noisy one-ways: what they spend, and that nothing about the records decides the shape of the release."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError, SenselessParameter
from discreet.privacy import Relation
from discreet.synthesis import Domain, Independent, Neighbors, Records, conjunctions
from discreet.synthesis.base.allowance import Noisy
from discreet.synthesis.methods.forest.one_ways import OneWays, default_size, divided_by_size, onto_simplex
from tests.synthesis.methods.spending import Noted

DOMAIN = Domain.of(a=range(2), b=range(5), c=range(1), d=range(9))
RELATIONS = [Relation.ADD_REMOVE, Relation.CHANGE_ONE]
PRICES = [{"epsilon": 1}, {"epsilon": Fraction(1, 2), "delta": 1e-6}, {"rho": Fraction(1, 10)}]


def invented(domain: Domain, count: int, seed: int = 3) -> Records:
    """Return records that are uniform."""
    random = np.random.default_rng(seed)
    return Records(domain, np.stack([random.integers(0, size, count) for size in domain.sizes]).astype(np.uint16))


@pytest.mark.theorem("Independent.privacy")
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("price", PRICES)
def test_the_shares_of_the_histograms_add_up_to_the_allowance(relation: Relation, price: dict[str, Fraction]) -> None:
    method = Independent.of(conjunctions(DOMAIN, count=50), Neighbors(relation, 200), size=50, **price)
    allowance = Noted.like(method.allowance)
    release = replace(method, allowance=allowance)(invented(DOMAIN, 200))
    assert allowance.spent == 1
    assert allowance.noised == list(method.shares.values())
    assert release.guarantee == method.guarantee


@pytest.mark.theorem("divided_by_size.accuracy")
@pytest.mark.parametrize("pure", [True, False])
@given(sizes=st.lists(st.integers(1, 500), min_size=2, max_size=8), data=st.data())
def test_no_other_division_has_less_expected_error(pure: bool, sizes: list[int], data: st.DataObject) -> None:
    def error(shares: list[float]) -> float:
        return sum(size / share ** (1 if pure else 0.5) for size, share in zip(sizes, shares, strict=True))

    best = divided_by_size(Fraction(1), sizes, pure=pure)
    weights = data.draw(st.lists(st.integers(1, 1000), min_size=len(sizes), max_size=len(sizes)))
    assert sum(best) == 1
    assert error([float(one) for one in best]) <= error([one / sum(weights) for one in weights]) * (1 + 1e-9)


@pytest.mark.theorem("Independent.accuracy")
def test_with_a_boundless_price_the_answers_are_products_of_the_true_shares() -> None:
    records = invented(DOMAIN, 1_000)
    asked = conjunctions(DOMAIN, count=300, repeats=False, seed=8)
    with pytest.warns(SenselessParameter):
        release = Independent.of(asked, Neighbors(Relation.ADD_REMOVE, 1_000), rho=10**6, size=100)(records)
    shares = [
        np.bincount(codes, minlength=size) / 1_000 for codes, size in zip(records.codes, DOMAIN.sizes, strict=True)
    ]
    literals = asked.literals
    held = [
        shares[a] @ accepts[: DOMAIN.sizes[a]] for a, accepts in zip(literals.attribute, literals.accepts, strict=True)
    ]
    np.testing.assert_allclose(release.answers, np.prod(np.array(held)[asked.members], axis=1), atol=1e-12)


@pytest.mark.parametrize("count", [0, 1, 500])
@pytest.mark.parametrize("people", [1, 500, 10**9])
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_shape_of_a_release_does_not_depend_on_the_records(count: int, people: int, relation: Relation) -> None:
    asked = conjunctions(DOMAIN, count=40)
    alike = Records(DOMAIN, np.zeros((len(DOMAIN), count), dtype=np.uint16))
    for records in (alike, invented(DOMAIN, count)):
        release = Independent.of(asked, Neighbors(relation, people), epsilon=1, size=70)(records)
        assert len(release.table) == 70
        assert release.answers.shape == (40,)
        assert np.all((release.answers >= 0) & (release.answers <= 1))
        assert release.evidence["records"] >= 1


def test_one_attribute_and_attributes_of_one_value_are_released_too() -> None:
    for domain in (Domain.of(a=range(3)), Domain.of(a=range(1)), Domain.of(a=range(1), b=range(1))):
        asked = conjunctions(domain, ways=1, count=20)
        method = Independent.of(asked, Neighbors(Relation.ADD_REMOVE, 50), epsilon=1, size=9)
        release = method(invented(domain, 50))
        assert release.table.records.codes.shape == (len(domain), 9)
        if domain.cells == 1:
            assert release.answers.tolist() == asked.frequencies(invented(domain, 50)).tolist()


@given(values=st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=9), total=st.floats(0, 10))
def test_the_projection_is_non_negative_with_the_sum(values: list[float], total: float) -> None:
    projected = onto_simplex(np.array(values), total)
    assert projected.min() >= 0
    assert projected.sum() == pytest.approx(total, abs=1e-6)


@given(values=st.lists(st.floats(-2, 2), min_size=1, max_size=6), data=st.data())
def test_no_shares_are_nearer_than_the_projection(values: list[float], data: st.DataObject) -> None:
    weights = data.draw(st.lists(st.integers(0, 20), min_size=len(values), max_size=len(values)).filter(any))
    other, given_values = np.array(weights) / sum(weights), np.array(values)
    nearest = onto_simplex(given_values)
    assert np.sum((given_values - nearest) ** 2) <= np.sum((given_values - other) ** 2) + 1e-9


def test_the_total_weighs_histograms_by_their_variance() -> None:
    noisy = {0: Noisy(np.array([60, 40]), 1.0), 1: Noisy(np.array([50, 50, 50, 50, 50]), 2.0)}
    assert OneWays(DOMAIN, noisy).total == pytest.approx((100 / 2 + 250 / 20) / (1 / 2 + 1 / 20))


def test_the_default_number_of_rows_is_public_and_bounded() -> None:
    assert default_size(DOMAIN, 5) == 100_000
    assert default_size(DOMAIN, 300_000) == 300_000
    assert default_size(DOMAIN, 10**9) == 1_000_000
    assert default_size(Domain.of({f"x{place}": (0, 1) for place in range(2_000)}), 10**6) == 25_000
    with pytest.raises(ParameterError, match="size must be at least 1"):
        Independent.of(conjunctions(DOMAIN, count=5), Neighbors(Relation.ADD_REMOVE, 9), epsilon=1, size=0)
