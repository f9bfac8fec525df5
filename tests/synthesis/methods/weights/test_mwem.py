"""MWEM: right where the price is boundless, its shape public, and refused where a domain cannot be listed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError, ParameterError, SenselessParameter
from discreet.privacy import ZCDP, PureDP, Relation
from discreet.synthesis import Allowance, Domain, Mwem, Neighbors, Records, conjunctions, marginals, parities, queries
from discreet.synthesis.base.allowance import Measured
from discreet.synthesis.methods.weights.mwem import MOST_CELLS
from discreet.synthesis.methods.weights.rounds import AdaptiveRounds
from discreet.synthesis.workloads.workload import Workload
from tests.synthesis.methods.weights.rounds_spending import NotedRounds

DOMAIN = Domain.of(a=range(2), b=range(3), c=range(4))
RELATIONS = [Relation.ADD_REMOVE, Relation.CHANGE_ONE]


def skewed(count: int, seed: int = 3) -> Records:
    """Return records whose attributes depend on each other."""
    random = np.random.default_rng(seed)
    first = random.integers(0, 2, count)
    second = np.where(random.random(count) < 0.7, first, 2)
    return Records(DOMAIN, np.stack([first, second, first + second]).astype(np.uint16))


@pytest.mark.theorem("Mwem.privacy")
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("price", [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}, {"rho": Fraction(1, 9)}])
def test_a_release_spends_the_whole_allowance_once(relation: Relation, price: dict[str, Any]) -> None:
    method = Mwem.of(conjunctions(DOMAIN, count=60), Neighbors(relation, 300, 2), **price)
    allowance = NotedRounds.like(method.allowance)
    release = replace(method, allowance=allowance)(skewed(300))
    assert allowance.spent == 1
    assert allowance.noised == []
    assert release.guarantee == method.guarantee == Allowance.of(Neighbors(relation, 300, 2), **price).guarantee


@pytest.mark.theorem("Mwem.accuracy")
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("family", [conjunctions, parities])
def test_with_a_boundless_price_every_answer_is_right(relation: Relation, family: Callable[..., Workload]) -> None:
    records, asked = skewed(3_000), family(DOMAIN, ways=2, count=40)
    with pytest.warns(SenselessParameter):
        release = Mwem.of(asked, Neighbors(relation, 3_000), rho=10**7)(records)
    np.testing.assert_allclose(release.answers, asked.frequencies(records), atol=0.002)
    table = asked.frequencies(release.table.records, release.table.weights)
    np.testing.assert_allclose(table, release.answers, atol=1e-12)


@pytest.mark.parametrize("count", [0, 1, 400])
@pytest.mark.parametrize("people", [1, 400, 10**9])
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_shape_of_a_release_does_not_depend_on_the_records(count: int, people: int, relation: Relation) -> None:
    method = Mwem.of(conjunctions(DOMAIN, count=30), Neighbors(relation, people), epsilon=1, delta=1e-12)
    release = method(skewed(count))
    assert release.plan == method.plan
    assert len(release.table) == DOMAIN.cells
    assert release.answers.shape == (30,)
    assert np.all((release.answers >= 0) & (release.answers <= 1))
    assert len(release.evidence["chosen queries"]) == method.rounds.measurements
    assert set(release.evidence) == {
        "chosen queries",
        "measured shares",
        "deviation in the fit",
        "strength of the prior",
        "number of records",
        "answers before",
    }


def test_everything_noted_follows_from_what_was_released() -> None:
    class Deaf(NotedRounds):
        """Measures 0, whatever it is told."""

        def measure(self, value: int, share: Fraction, *, sensitivity: int) -> Measured:
            del value, share, sensitivity
            return Measured(0, 1.0)

    method = Mwem.of(conjunctions(DOMAIN, count=30), Neighbors(Relation.ADD_REMOVE, 100), rho=1)
    releases = [
        replace(method, allowance=Deaf.like(method.allowance, choice=lambda _: 0))(records)
        for records in (skewed(0), skewed(500, seed=9))
    ]
    assert releases[0].evidence == releases[1].evidence
    np.testing.assert_array_equal(releases[0].answers, releases[1].answers)
    np.testing.assert_array_equal(releases[0].table.weights, releases[1].table.weights)


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_size_far_from_the_truth_costs_accuracy_of_the_rule_only(relation: Relation) -> None:
    asked, records = queries(DOMAIN, [{"a": 1}]), skewed(20_000)
    for size in (100, 10**7):
        about = Neighbors(relation, size, everyone=False)  # else the size is the number of records under change-one
        release = Mwem.of(asked, about, rho=Fraction(1, 2))(records)
        assert abs(release.answers[0] - asked.frequencies(records)[0]) < 0.05  # noise has a deviation below 0.0003


def test_trivial_queries_do_no_harm() -> None:
    everybody, nobody = {"a": (0, 1)}, {"a": 0, "b": 0}
    asked = queries(DOMAIN, [everybody, everybody, nobody])
    records = Records(DOMAIN, np.ones((3, 5_000), dtype=np.uint16))
    release = Mwem.of(asked, Neighbors(Relation.CHANGE_ONE, 5_000), rho=Fraction(1, 2))(records)
    np.testing.assert_allclose(release.answers, [1, 1, 0], atol=0.05)


def test_a_domain_too_large_to_list_is_refused_before_data() -> None:
    large = Domain.of({f"bit {place}": (0, 1) for place in range(20)})
    assert large.cells > MOST_CELLS
    with pytest.raises(ParameterError, match="lists every possible record"):
        Mwem.of(conjunctions(large, count=5), Neighbors(Relation.CHANGE_ONE, 10), epsilon=1)


def test_cells_of_an_attribute_with_very_many_values_are_released_too() -> None:
    domain = Domain.of(a=range(20_000), b=range(2))
    asked = marginals(domain, attributes=[("a",), ("a", "b")])
    method = Mwem.of(asked, Neighbors(Relation.ADD_REMOVE, 100), rho=Fraction(1, 10**6))
    release = method(Records(domain, np.zeros((2, 100), dtype=np.uint16)))
    assert release.answers.shape == (60_000,)


def test_rounds_that_cost_more_than_the_allowance_are_refused() -> None:
    method = Mwem.of(conjunctions(DOMAIN, count=5), Neighbors(Relation.CHANGE_ONE, 10), epsilon=1)
    with pytest.raises(ParameterError, match="cost more"):
        replace(method, rounds=replace(method.rounds, share_choice=Fraction(1, 2)))


@pytest.mark.theorem("checked_share.privacy", "AdaptiveRounds.privacy")
def test_a_negative_share_that_is_not_spent_pays_for_nothing() -> None:
    method = Mwem.of(conjunctions(DOMAIN, ways=2, count=20), Neighbors(Relation.CHANGE_ONE, 300), epsilon=1)
    rounds = method.rounds  # of which the share of the total is not spent, as all neighbors have as many records
    with pytest.raises(ParameterError, match="share_total must be at least 0"):
        replace(
            rounds, share_total=Fraction(-3), share_choice=4 * rounds.share_choice,
            share_measurement=4 * rounds.share_measurement,
        )  # fmt: skip


@pytest.mark.parametrize("name", ["share_total", "share_choice", "share_measurement"])
@pytest.mark.parametrize(
    "value", [Fraction(-1, 10**9), -0.5, float("nan"), float("inf"), 2, True, None, "1/2"], ids=str
)
def test_what_is_no_share_is_refused(name: str, value: Any) -> None:
    rounds = Mwem.of(conjunctions(DOMAIN, ways=2, count=20), Neighbors(Relation.CHANGE_ONE, 300), epsilon=1).rounds
    with pytest.raises(ParameterError):
        replace(rounds, **{name: value})


@pytest.mark.parametrize(
    ("name", "value"), [("measurements", 0), ("measurements", -4), ("together", -1), ("together", 0.5)]
)
def test_what_is_no_number_of_measurements_is_refused(name: str, value: Any) -> None:
    method = Mwem.of(conjunctions(DOMAIN, ways=2, count=20), Neighbors(Relation.CHANGE_ONE, 300), epsilon=1)
    with pytest.raises(ParameterError):
        replace(method.rounds, **{name: value})
    with pytest.raises(ParameterError, match="AdaptiveRounds"):
        replace(method, rounds=object())  # type: ignore[arg-type]


@pytest.mark.theorem("checked_share.privacy")
@given(shares=st.tuples(*[st.fractions(-2, 2, max_denominator=60)] * 3), count=st.integers(1, 6), same=st.booleans())
def test_whatever_shares_are_given_no_more_than_the_allowance_is_spent(
    shares: tuple[Fraction, Fraction, Fraction], count: int, same: bool
) -> None:
    relation = Relation.CHANGE_ONE if same else Relation.ADD_REMOVE
    allowance = NotedRounds.like(Allowance.of(Neighbors(relation, 50), epsilon=1))
    asked = conjunctions(DOMAIN, ways=2, count=8)
    try:
        rounds = AdaptiveRounds(count, 2, *shares, divergence=2.0)
        Mwem(workload=asked, allowance=allowance, rounds=rounds)(skewed(50))
    except ParameterError:
        pass
    assert allowance.spent <= 1


def test_records_of_another_domain_are_refused() -> None:
    method = Mwem.of(conjunctions(DOMAIN, count=5), Neighbors(Relation.CHANGE_ONE, 10), epsilon=1)
    other = Domain.of(a=range(2), b=range(3), c=range(5))
    with pytest.raises(InputError, match="same domain as the workload"):
        method(Records(other, np.zeros((3, 4), dtype=np.uint16)))


@pytest.mark.theorem("Allowance.privacy")
@pytest.mark.parametrize("relation", RELATIONS)
def test_a_part_of_a_allowance_and_a_single_measurement_cost_what_they_say(relation: Relation) -> None:
    allowance = Allowance.of(Neighbors(relation, 100), rho=Fraction(1, 2))
    part = allowance.part(Fraction(1, 4))
    assert part.amount == Fraction(1, 8)
    assert part.guarantee == ZCDP(Fraction(1, 8), relation=relation)
    noise = part.single(Fraction(1, 2), sensitivity=3)
    assert isinstance(noise.guarantee, ZCDP)
    assert 0.99 / 16 < noise.guarantee.rho <= 1 / 16 * (1 + 1e-12)
    pure = Allowance.of(Neighbors(relation, 100), epsilon=2).part(Fraction(1, 4))
    assert pure.single(Fraction(1), sensitivity=3).guarantee == PureDP(0.5, relation=relation)
    assert pure.single_deviation(Fraction(1), sensitivity=3) == pytest.approx(6 * 2**0.5, rel=0.02)


def test_a_workload_is_kept_out_of_the_printed_form() -> None:
    method = Mwem.of(conjunctions(DOMAIN, count=5), Neighbors(Relation.CHANGE_ONE, 10), epsilon=1)
    assert isinstance(method.workload, Workload)
    assert "Workload" not in repr(method)
