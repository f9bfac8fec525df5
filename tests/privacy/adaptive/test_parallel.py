"""Separate parts of a table: what a person pays who is in one, in several, or moves."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import BudgetExceeded, MissingParameter, ParameterError, RelationMismatch
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, PureDP, Relation, RenyiDP
from discreet.privacy.adaptive import (
    ApproxFilter,
    GaussianFilter,
    Partition,
    PureFilter,
    RenyiFilter,
    ZCDPFilter,
    parallel,
)
from discreet.privacy.numbers import written
from tests.privacy.adaptive.game import response
from tests.privacy.reference import at_most, exp, hockey_stick, leaky_response, product

ADDED, CHANGED = Relation.ADD_REMOVE, Relation.CHANGE_ONE
shares = st.fractions(0, 2, max_denominator=20)


@pytest.mark.theorem("parallel.privacy")
@pytest.mark.parametrize("relation", [ADDED, CHANGED])
@pytest.mark.parametrize("parts_per_person", [1, 2])
@given(data=st.data())
def test_no_person_pays_more_than_the_largest_parts_together(relation, parts_per_person, data):
    rows = data.draw(st.lists(st.tuples(shares, shares.map(lambda share: share / 8)), min_size=1, max_size=5))
    touched = min(len(rows), parts_per_person * (1 if relation is ADDED else 2))
    largest = [max(sum(chosen) for chosen in combinations(column, touched)) for column in zip(*rows, strict=True)]
    squares = max(sum(size * size for size in chosen) for chosen in combinations([a for a, _ in rows], touched))

    def together(make, count=2):
        return parallel([make(*row[:count]) for row in rows], relation=relation, parts_per_person=parts_per_person)

    assert close_above(together(PureDP, 1).epsilon, largest[0])
    assert close_above(together(lambda a: RenyiDP(3, a), 1).epsilon, largest[0])
    for total, name in ((together(ApproxDP), "epsilon"), (together(ZCDP), "rho")):
        assert close_above(getattr(total, name), largest[0])
        assert close_above(total.delta, min(largest[1], 1))
        assert total.relation is relation
    assert close_above(written(together(GaussianDP, 1).mu) ** 2, squares)


def close_above(found, exact):
    """Say whether a number is at least the exact one, and not by more than its rounding up."""
    return exact <= written(found) <= exact * (1 + Fraction(1, 2**50))


@pytest.mark.theorem("parallel.privacy")
def test_a_row_that_moves_is_seen_by_both_parts():
    # counts by randomized response in two parts: the row leaves the first and enters the second
    (p1, q1), (p2, q2) = leaky_response(1, 0.125), leaky_response(0.5, 0.0625)
    p, q = product(p1, q2), product(q1, p2)
    moved = parallel([ApproxDP(1, 0.125), ApproxDP(0.5, 0.0625)], relation=CHANGED)
    assert moved == ApproxDP(1.5, 0.1875, relation=CHANGED)
    assert at_most(hockey_stick(p, q, moved.epsilon), moved.delta)
    stayed = parallel([ApproxDP(1, 0.125), ApproxDP(0.5, 0.0625)], relation=ADDED)
    assert stayed == ApproxDP(1, 0.125, relation=ADDED)
    assert not at_most(hockey_stick(p, q, stayed.epsilon), stayed.delta)


@pytest.mark.theorem("parallel.privacy")
def test_twice_as_many_parts_under_change_one_is_sharp():
    (p1, q1), (p2, q2) = (response(1).p, response(1).q), (response(2).p, response(2).q)
    p, q = product(p1, q2), product(q1, p2)
    largest = max(a / b for a, b in zip(p, q, strict=True))
    assert (largest - exp(parallel([PureDP(1), PureDP(2)], relation=CHANGED).epsilon)).overlaps(flint.arb(0, 1e-60))


def test_the_numbers_of_one_part_are_returned_as_they_are():
    third = PureDP(Fraction(1, 3))
    assert parallel([third, PureDP(0.25)], relation=ADDED) == third.under(ADDED)
    assert parallel([GaussianDP(Fraction(1, 3))], relation=ADDED).mu == Fraction(1, 3)
    assert parallel([PureDP(1), ApproxDP(0.5, 0.1)], relation=ADDED) == ApproxDP(1, 0.1, relation=ADDED)


def test_what_cannot_be_put_side_by_side_is_refused():
    with pytest.raises(MissingParameter, match="relation"):
        parallel([PureDP(1)], relation=Relation.UNSTATED)
    with pytest.raises(RelationMismatch):
        parallel([PureDP(1, relation=CHANGED)], relation=ADDED)
    with pytest.raises(ParameterError, match="different notions"):
        parallel([PureDP(1), ZCDP(1)], relation=ADDED)
    with pytest.raises(ParameterError, match="nothing to compose"):
        parallel([], relation=ADDED)
    for count in (0, -1, 1.5, True):
        with pytest.raises(ParameterError):
            parallel([PureDP(1)], relation=ADDED, parts_per_person=count)


@pytest.mark.theorem("Partition.privacy")
@pytest.mark.parametrize("relation", [ADDED, CHANGED])
@given(data=st.data())
def test_no_neighbors_lose_more_than_the_budget_whatever_is_asked_where(relation, data):
    """Play releases on two parts and on the whole table in any order; follow each pair of neighbors."""
    budget = Fraction(2)
    differing = [("a",), ("b",)] if relation is ADDED else [("a",), ("b",), ("a", "b")]

    def go(history, ratios, left):
        session = PureFilter(budget, relation=relation)
        parts = Partition(session, {"a": PureDP(Fraction(1, 2)), "b": PureDP(Fraction(3, 4))})
        accounts = {"whole": session, **parts}
        for where, guarantee in history:
            accounts[where].spend(guarantee)
        for ratio in ratios.values():
            assert at_most(abs(ratio.log()), budget)
        if not left:
            return
        where = data.draw(st.sampled_from(["whole", "a", "b"]))
        release = response(data.draw(st.sampled_from([Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)])))
        if not accounts[where].admits(release.guarantee):
            go(history, ratios, left - 1)
            return
        for a, b in zip(release.p, release.q, strict=True):
            seen = {n: ratio * a / b if where == "whole" or where in n else ratio for n, ratio in ratios.items()}
            go([*history, (where, release.guarantee)], seen, left - 1)

    go([], dict.fromkeys(differing, flint.arb(1)), 5)


@pytest.mark.theorem("Partition.privacy")
def test_reserving_costs_the_largest_part_or_the_two_largest():
    budgets = {"a": PureDP(0.5), "b": PureDP(0.25), "c": PureDP(0.125)}
    for relation, parts_per_person, cost in (
        (ADDED, 1, 0.5),
        (ADDED, 2, 0.75),
        (CHANGED, 1, 0.75),
        (CHANGED, 2, 0.875),
    ):
        session = PureFilter(1, relation=relation)
        parts = Partition(session, budgets, parts_per_person=parts_per_person)
        assert session.spent == PureDP(cost, relation=relation)
        assert [parts[name].budget for name in parts] == [one.under(relation) for one in budgets.values()]
        assert len(parts) == 3


@pytest.mark.parametrize(
    ("session", "budget", "price"),
    [
        (ApproxFilter(1, 0.1, relation=ADDED), PureDP(0.5), ApproxDP(0.5, 0, relation=ADDED)),
        (ZCDPFilter(1, relation=ADDED), GaussianDP(1), ZCDP(0.5, relation=ADDED)),
        (RenyiFilter(4, 4, relation=ADDED), ZCDP(0.5), RenyiDP(4, 2, relation=ADDED)),
        (GaussianFilter(2, relation=ADDED), GaussianDP(1), GaussianDP(1, relation=ADDED)),
        (ApproxFilter(1, 0.1, slack=0.05, relation=ADDED), ZCDP(0.01), ZCDP(0.01, relation=ADDED)),
    ],
)
def test_a_part_keeps_its_books_in_the_sessions_notion(session, budget, price):
    parts = Partition(session, {"a": budget})
    assert parts["a"].budget == session.spent == price
    parts["a"].spend(parts["a"].remaining)
    with pytest.raises(RelationMismatch):
        parts["a"].spend(PureDP(0, relation=CHANGED))


def test_a_partition_that_does_not_fit_reserves_nothing():
    session = PureFilter(1, relation=CHANGED)
    with pytest.raises(BudgetExceeded):
        Partition(session, {"a": PureDP(0.75), "b": PureDP(0.5)})
    assert session.spent.epsilon == 0
    with pytest.raises(RelationMismatch):
        Partition(session, {"a": PureDP(0.5, relation=ADDED)})
    assert session.spent.epsilon == 0


def test_a_part_can_be_divided_again():
    session = PureFilter(1, relation=ADDED)
    region = Partition(session, {"north": PureDP(1)})["north"]
    towns = Partition(region, {"x": PureDP(0.75), "y": PureDP(0.5)})
    assert region.remaining.epsilon == 0.25
    towns["y"].spend(PureDP(0.5))
    assert session.remaining.epsilon == 0


def test_a_partition_needs_a_session_a_relation_and_budgets():
    with pytest.raises(MissingParameter, match="relation"):
        Partition(PureFilter(1), {"a": PureDP(1)})
    for session, budgets in ((1, {"a": PureDP(1)}), (PureFilter(1, relation=ADDED), {}), (PureFilter(1), [PureDP(1)])):
        with pytest.raises(ParameterError):
            Partition(session, budgets)
    with pytest.raises(KeyError):
        Partition(PureFilter(1, relation=ADDED), {"a": PureDP(1)})["b"]
