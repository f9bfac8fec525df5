"""Quantiles found one after the other: the plan, the law over all choices, its price under both relations."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.audit import goodness_of_fit
from discreet.errors import ParameterError
from discreet.statistics.order_statistics.tree import QuantileTree, generations, passed_on, plan, shares
from discreet.statistics.ranks.ranked import Ranked, most_ties
from tests.chances import ALARM
from tests.conftest import Rounds
from tests.statistics.tables import neighbors, tables

ADD_REMOVE, CHANGE_ONE = dp.Relation.ADD_REMOVE, dp.Relation.CHANGE_ONE
BOTH = pytest.mark.parametrize("relation", [ADD_REMOVE, CHANGE_ONE])
THIRDS, QUARTERS = (Fraction(1, 3), Fraction(2, 3)), (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))


@given(st.sets(st.fractions(0, 1, max_denominator=40), min_size=1, max_size=20))
def test_a_plan_holds_every_level_once_at_its_share_in_the_least_depth(levels: set[Fraction]) -> None:
    ordered = tuple(sorted(levels))
    root = plan(ordered)
    nodes = root.nodes()
    assert [node.place for node in nodes] == list(range(len(ordered)))
    assert max(node.depth for node in nodes) < generations(len(ordered))
    assert all(0 <= node.share <= 1 for node in nodes)
    assert ordered[root.place] == root.share
    assert sum(shares(root, squares=False)) == 1 == sum(shares(root, squares=True))


@pytest.mark.theorem("shares.accuracy")
@pytest.mark.parametrize("squares", [False, True])
def test_no_other_shares_of_the_generations_have_a_smaller_predicted_error(squares: bool) -> None:
    root = plan(tuple(Fraction(place, 11) for place in range(1, 11)))
    totals = [0.0] * 4
    for node in root.nodes():
        totals[node.depth] += float(node.spread) ** 2 * passed_on(node)

    def predicted(parts: list[float]) -> float:
        return sum(total / (part if squares else part**2) for total, part in zip(totals, parts, strict=True))

    best = [float(share) for share in shares(root, squares=squares)]
    for one, other in product(range(4), repeat=2):
        moved = list(best)
        moved[one] += 0.01
        moved[other] -= 0.01
        assert predicted(best) <= predicted(moved) + 1e-12


@pytest.mark.theorem("QuantileTree.privacy")
@BOTH
@pytest.mark.parametrize(
    ("levels", "steps", "largest", "bits"), [(THIRDS, 3, 3, 0), (QUARTERS, 2, 3, 0), (THIRDS, 1, 2, 1)]
)
def test_the_exact_law_keeps_epsilon_on_all_neighbors_of_small_tables(
    relation: dp.Relation, levels: tuple[Fraction, ...], steps: int, largest: int, bits: int
) -> None:
    tree = QuantileTree(levels=levels, epsilon=3, relation=relation, steps=steps, tie_bits=bits)
    laws = {table: tree.law(list(table)) for table in tables(range(steps + 1), largest)}
    worst = 0.0
    for first, second in neighbors(range(steps + 1), largest, relation):
        pair = laws[tuple(sorted(first))].pair(laws[tuple(sorted(second))])
        worst = max(worst, pair.max_loss().upper, pair.reversed().max_loss().upper)
    assert worst <= 3 + 1e-9
    assert worst > 0.3


@pytest.mark.theorem("QuantileTree.privacy")
def test_persons_with_several_rows_keep_epsilon_wherever_their_rows_go() -> None:
    unit = 1 << 20
    for relation in (ADD_REMOVE, CHANGE_ONE):
        tree = QuantileTree(levels=THIRDS, epsilon=2, relation=relation, steps=3, tie_bits=0, rows=2)
        base = [0, 2]
        for one, other in product(product(range(4), repeat=2), repeat=2):
            rows = [*base, *one]
            moved = base if relation is ADD_REMOVE else [*base, *other]
            first = tree.law((np.array(rows), np.full(len(rows), unit)))
            second = tree.law((np.array(moved), np.full(len(moved), unit)))
            assert first.pair(second).max_loss().upper <= 2 + 1e-9


@BOTH
def test_a_row_is_in_one_part_and_which_one_depends_on_it_alone(relation: dp.Relation) -> None:
    for first, second in neighbors(range(4), 4, relation):
        for cut in range(4):
            parts = [Ranked.of(table, steps=3).split(cut) for table in (first, second)]
            sizes = [(left.end - left.begin, right.end - right.begin) for left, right in parts]
            assert [sum(pair) for pair in sizes] == [len(first), len(second)]
            assert sum(abs(one - two) for one, two in zip(*sizes, strict=True)) <= (1 if relation is ADD_REMOVE else 2)


@pytest.mark.parametrize("bits", [0, 1])
def test_draws_follow_the_law(bits: int, rounds: Rounds) -> None:
    tree = QuantileTree(levels=THIRDS, epsilon=4, relation=ADD_REMOVE, steps=2, tie_bits=bits)
    law = tree.law([0, 1, 1])
    assert not goodness_of_fit(law, law.sample(rounds(sample=2000, full=50_000))).alarm(ALARM)


@pytest.mark.theorem("QuantileTree.accuracy")
@BOTH
def test_all_answers_are_within_their_rank_errors_as_often_as_guaranteed(relation: dp.Relation, rounds: Rounds) -> None:
    levels = tuple(Fraction(place, 8) for place in range(1, 8))
    tree = QuantileTree(levels=levels, epsilon=1, relation=relation, steps=1 << 20)
    rows = np.random.default_rng(5).integers(0, 1 << 20, 3000)
    rows[:1000] = 77_777
    ranked, bounds = Ranked.of(rows, steps=1 << 20), tree.error(0.9, rows_expected=3000)
    for _ in range(rounds(sample=30, full=1000)):
        answers = tree(rows)
        assert list(answers) == sorted(answers)
        assert all(
            ranked.distance(at, level * 3000) <= bound for at, level, bound in zip(answers, levels, bounds, strict=True)
        )


def test_rho_is_shared_by_the_generations_and_costs_less_than_its_epsilons_together() -> None:
    tree = QuantileTree(levels=QUARTERS, rho=0.125, relation=ADD_REMOVE, steps=100)
    assert tree.guarantee == dp.ZCDP(0.125, relation=ADD_REMOVE)
    assert sum(one**2 for one in tree.generation_epsilons) <= Fraction(1)
    assert tree.loss.satisfies(tree.guarantee)


def test_random_bits_leave_few_ties() -> None:
    assert most_ties(1, 16, 0.01) == 1
    assert most_ties(10**6, 16, 0.01) < 60
    assert most_ties(50, 0, 0.01) == 50


@pytest.mark.parametrize("levels", [(), (0.5, 0.5), (0.7, 0.2), (0.5, 1.5), 0.5])
def test_levels_that_do_not_increase_are_refused(levels: object) -> None:
    with pytest.raises(ParameterError, match="level"):
        QuantileTree(levels=levels, epsilon=1, relation=ADD_REMOVE, steps=10)
