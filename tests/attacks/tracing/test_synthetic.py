"""Attacks on synthetic tables: they work on real rows, and on releases they stay below what the guarantee allows."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from discreet.attacks.tracing.synthetic import (
    MembershipScore,
    TableMembership,
    advantage_ceiling,
    area_ceiling_of,
    link_synthetic,
    table_membership,
)
from discreet.data import population, population_values
from discreet.data.invention import coins
from discreet.errors import InputError, ParameterError, UnknownName
from discreet.privacy import ZCDP, ApproxDP, Guarantee, PureDP, Relation
from discreet.privacy.guarantees.curves import tradeoff_of
from discreet.synthesis import Domain, Independent, Neighbors, Records, Synthesizer, SyntheticTable, conjunctions
from discreet.synthesis.methods.dual_query.method import DualQuery, Weights

DOMAIN = Domain.of(population_values())
PEOPLE = DOMAIN.encode(population(1200, seed=3).binned())
FACTS = ("age", "education", "marital_status", "sex", "hours")
FALSE_ALARM = 1e-9


def part(first: int, last: int) -> Records:
    return Records(DOMAIN, PEOPLE.codes[:, first:last])


MEMBERS, OUTSIDERS, OTHERS = part(0, 400), part(400, 800), part(800, 1200)
WORKLOAD = conjunctions(DOMAIN, count=500)


def test_a_table_without_names_tells_the_secrets_of_its_people_and_not_of_others() -> None:
    found = link_synthetic(MEMBERS, MEMBERS, OUTSIDERS, on=FACTS, hidden="occupation")
    assert found.right[0] == found.claims[0] >= 300
    assert found.precision[0] == 1
    assert found.claims[1] < 60
    assert found.right[1] <= 20
    assert found.advantage > 0.7
    assert found.ceiling is None
    assert "of 400 claimed about" in str(found)
    assert "occupation" in repr(found)
    assert "<" in found._repr_html_()


def test_real_rows_have_everybody_in_them() -> None:
    nearest = table_membership(
        MEMBERS, MEMBERS, OUTSIDERS, population=OTHERS, workload=WORKLOAD, score=MembershipScore.NEAREST
    )
    assert set(nearest.members.tolist()) == {15.0}
    assert nearest.area > 0.99
    assert nearest.found(0.01) > 0.9
    assert "nearest row" in str(nearest)
    assert "area" in repr(nearest)
    assert "<" in nearest._repr_html_()


def test_answers_pull_towards_members() -> None:
    few = part(0, 25)
    pulled = table_membership(few, few, OUTSIDERS, population=OTHERS, workload=WORKLOAD)
    assert pulled.score is MembershipScore.ANSWERS
    assert pulled.area > 0.7


def test_the_area_counts_ties_half() -> None:
    scores = np.array([1.0, 1.0, 2.0]), np.array([1.0, 0.0])
    assert TableMembership(MembershipScore.NEAREST, *scores, None).area == pytest.approx((0.75 + 0.75 + 1) / 3)
    assert TableMembership(MembershipScore.NEAREST, scores[0], scores[0], 0.7).area == pytest.approx(0.5)


def small_world() -> tuple[Domain, np.ndarray]:
    """Return a domain of six binary attributes and people who differ in them by fair coins."""
    domain = Domain.of({f"a{place}": ["no", "yes"] for place in range(6)})
    return domain, coins(5).integers(0, 2, size=(6, 20_000)).astype(np.uint16)


def wins(release: Synthesizer | None, rounds: int) -> float:
    """Return how often the member scores above an outsider, each time for new people and a new release."""
    domain, everybody = small_world()
    workload = conjunctions(domain, ways=2, count=60, seed=2)
    people, total = 6, 0.0
    others = Records(domain, everybody[:, -500:])
    for trial in range(rounds):
        first = trial * (people + 1)
        group = Records(domain, everybody[:, first : first + people])
        table = SyntheticTable(group) if release is None else release(group).table
        member = Records(domain, everybody[:, first : first + 1])
        outsider = Records(domain, everybody[:, first + people : first + people + 1])
        total += table_membership(table, member, outsider, population=others, workload=workload).area
    return total / rounds


@pytest.mark.theorem("table_membership.privacy")
@pytest.mark.parametrize("method", ["independent", "dual query"])
def test_a_member_is_not_told_from_an_outsider_better_than_the_guarantee_allows(method: str) -> None:
    domain, _ = small_world()
    workload = conjunctions(domain, ways=2, count=60, seed=2)
    neighbors, rounds, epsilon = Neighbors(Relation.CHANGE_ONE, 6), 300, Fraction(1, 5)
    release: Synthesizer
    if method == "independent":
        release = Independent.of(workload, neighbors, epsilon=epsilon, size=60)
    else:
        release = DualQuery.of(
            workload, neighbors, epsilon=epsilon, eta=Fraction(1, 8), rounds=2, weights=Weights.EQUAL
        )
    highest = area_ceiling_of(release.guarantee)
    # the wins of the trials are independent, in [0, 1], and each expected to be at most the ceiling: Hoeffding
    allowed = highest + math.sqrt(math.log(1 / FALSE_ALARM) / (2 * rounds))
    assert wins(release, rounds) <= allowed < wins(None, rounds)


@pytest.mark.theorem("link_synthetic.privacy")
def test_claims_about_members_are_not_right_more_often_than_the_guarantee_allows() -> None:
    domain, everybody = small_world()
    workload = conjunctions(domain, ways=2, count=60, seed=2)
    neighbors, rounds = Neighbors(Relation.CHANGE_ONE, 6), 400
    release = Independent.of(workload, neighbors, epsilon=Fraction(1, 5), size=12)
    facts = [f"a{place}" for place in range(5)]
    gain, bare = 0.0, 0.0
    for trial in range(rounds):
        first = trial * 7
        group, member, outsider = (
            Records(domain, everybody[:, first + start : first + end]) for start, end in ((0, 6), (0, 1), (6, 7))
        )
        gain += link_synthetic(release(group).table, member, outsider, on=facts, hidden="a5").advantage
        bare += link_synthetic(group, member, outsider, on=facts, hidden="a5").advantage
    # each advantage is in [-1, 1]
    allowed = advantage_ceiling(release.guarantee) + math.sqrt(2 * math.log(1 / FALSE_ALARM) / rounds)
    assert gain / rounds <= allowed < bare / rounds


@pytest.mark.parametrize(
    "guarantee", [PureDP(0.1), PureDP(1), PureDP(5), ApproxDP(1, 1e-6), ApproxDP(0.2, 0.1), ZCDP(0.1), ZCDP(0.02, 1e-6)]
)
def test_ceilings_bound_the_trade_off_curve_from_above_and_closely(guarantee: Guarantee) -> None:
    guarantee = guarantee.under(Relation.CHANGE_ONE)
    fine = [step / 3000 for step in range(3001)]
    rates = [1 - tradeoff_of(guarantee, alpha) for alpha in fine]
    area = sum((one + two) / 2 for one, two in pairwise(rates)) / 3000
    # a concave curve lies above its chords
    assert area <= area_ceiling_of(guarantee) <= area + 0.004
    gain = max(rate - alpha for rate, alpha in zip(rates, fine, strict=True))
    assert gain - 1e-12 <= advantage_ceiling(guarantee) <= gain + 0.0026


def test_the_ceilings_of_a_pure_guarantee_are_the_textbooks() -> None:
    for epsilon in (0.1, 1.0, 3.0):
        changed, removed = (PureDP(epsilon, relation=one) for one in (Relation.CHANGE_ONE, Relation.ADD_REMOVE))
        assert advantage_ceiling(changed) == pytest.approx(math.tanh(epsilon / 2), abs=1e-12)
        assert 1 - math.exp(-epsilon) <= advantage_ceiling(removed) <= 1 - math.exp(-epsilon) + 0.0026
        # the curve has the corners (0, 0), (1, e), (1 + e, 1 + e) over 1 + e, e for e^epsilon
        odds = math.exp(epsilon)
        assert area_ceiling_of(changed) == pytest.approx(odds / (1 + odds), abs=0.0026)
        assert area_ceiling_of(removed) == pytest.approx(1 - 1 / (2 * odds), abs=1e-12)
        assert area_ceiling_of(PureDP(epsilon)) == area_ceiling_of(removed)


@pytest.mark.theorem("table_membership.privacy")
@pytest.mark.theorem("link_synthetic.privacy")
@pytest.mark.parametrize("epsilon", [0.1, 0.7, 1.0, 3.0])
def test_the_ceilings_hold_and_are_met_by_the_worst_release_for_adding_or_removing_somebody(epsilon: float) -> None:
    # the release names a or b; the chance of a depends on how many of the two are in the table, of either
    odds = math.exp(epsilon)
    naming = {"both": 0.5, "neither": 0.5, "a": 1 - 0.5 / odds, "b": 0.5 / odds}
    steps = [("neither", "a"), ("neither", "b"), ("both", "a"), ("both", "b")]
    for one, two in (*steps, *((two, one) for one, two in steps)):
        for first, second in ((naming[one], naming[two]), (1 - naming[one], 1 - naming[two])):
            assert first <= odds * second * (1 + 1e-12)
    guarantee = PureDP(epsilon, relation=Relation.ADD_REMOVE)
    area, gain = naming["a"], naming["a"] - naming["b"]
    assert area == pytest.approx(area_ceiling_of(guarantee), abs=1e-12)
    assert gain - 1e-12 <= advantage_ceiling(guarantee) <= gain + 0.0026
    one_step = PureDP(epsilon, relation=Relation.CHANGE_ONE)
    assert area > area_ceiling_of(one_step)
    assert gain > advantage_ceiling(one_step)


def test_what_is_no_attack_is_refused() -> None:
    other = Domain.of(sex=["f", "m"]).encode({"sex": ["f"]})
    with pytest.raises(InputError, match="one domain"):
        link_synthetic(MEMBERS, MEMBERS, other, on=["sex"], hidden="income")
    with pytest.raises(InputError, match="at least one row"):
        table_membership(MEMBERS, part(0, 0), OUTSIDERS, population=OTHERS, workload=WORKLOAD)
    with pytest.raises(ParameterError, match="secret"):
        link_synthetic(MEMBERS, MEMBERS, OUTSIDERS, on=FACTS, hidden="age")
    with pytest.raises(ParameterError, match="column"):
        link_synthetic(MEMBERS, MEMBERS, OUTSIDERS, on=[], hidden="age")
    with pytest.raises(UnknownName):
        link_synthetic(MEMBERS, MEMBERS, OUTSIDERS, on=["nothing"], hidden="age")
