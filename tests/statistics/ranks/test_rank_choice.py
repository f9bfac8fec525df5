"""A choice by rank: its runs, its law, its sensitivity, its exact draws, and the interval made of three of them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.audit import goodness_of_fit
from discreet.errors import InputError, ParameterError
from discreet.statistics.ranks import draw as rank_draw
from discreet.statistics.ranks.choice import RankChoice
from discreet.statistics.ranks.draw import draw_by_rank
from discreet.statistics.ranks.error import line_below_counts, rank_error
from discreet.statistics.ranks.law import RankLaw
from discreet.statistics.ranks.ranked import Ranked
from tests.chances import ALARM
from tests.conftest import Rounds
from tests.statistics.tables import neighbors, tables

ADD_REMOVE, CHANGE_ONE = dp.Relation.ADD_REMOVE, dp.Relation.CHANGE_ONE
BOTH = pytest.mark.parametrize("relation", [ADD_REMOVE, CHANGE_ONE])
LEVELS = pytest.mark.parametrize("level", [Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10)])


def _distance(rows: list[int], weights: list[int], candidate: int, target: Fraction) -> Fraction:
    below = sum(weight for row, weight in zip(rows, weights, strict=True) if row < candidate)
    up_to = sum(weight for row, weight in zip(rows, weights, strict=True) if row <= candidate)
    return max(below - target, target - up_to, Fraction(0))


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=8),
    st.fractions(0, 1, max_denominator=7),
    st.booleans(),
    st.integers(0, 3),
)
def test_runs_are_the_candidates_with_their_rank_distances(
    table: list[tuple[int, int]], level: Fraction, weighted: bool, reach: int
) -> None:
    rows, weights = [row for row, _ in table], [weight if weighted else 1 for _, weight in table]
    ranked = Ranked.of(rows, steps=9, weights=np.array(weights, dtype=np.int64) if weighted else None)
    target = level * sum(weights)
    found: dict[int, Fraction] = {}
    runs = ranked.runs(target, 1000)
    for index, (first, length) in enumerate(zip(runs.first, runs.length, strict=True)):
        assert not found.keys() & set(range(first, first + length))
        found |= {place: runs.distance(index) for place in range(first, first + length)}
    assert found == {place: _distance(rows, weights, place, target) for place in range(10)}
    assert all(found[place] == ranked.distance(place, target) for place in found)
    near = ranked.runs(target, reach)
    seen = {
        place for first, length in zip(near.first, near.length, strict=True) for place in range(first, first + length)
    }
    assert all(found[place] > reach for place in found.keys() - seen)


@pytest.mark.theorem("RankChoice.privacy")
@BOTH
@LEVELS
def test_rank_distances_move_by_the_sensitivity_and_by_no_more(relation: dp.Relation, level: Fraction) -> None:
    sensitivity = RankChoice(level=level, epsilon=1, relation=relation, steps=3).sensitivity
    largest = Fraction(0)
    for first, second in neighbors(range(4), 4, relation):
        one, two = (Ranked.of(table, steps=3) for table in (first, second))
        for place in range(4):
            moved = one.distance(place, level * len(first)) - two.distance(place, level * len(second))
            largest = max(largest, abs(moved))
    assert largest <= sensitivity
    if relation is ADD_REMOVE:
        assert largest == sensitivity


@pytest.mark.theorem("RankChoice.privacy")
@BOTH
@pytest.mark.parametrize("level", [Fraction(1, 3), Fraction(1)])
def test_the_losses_on_all_neighbors_of_small_tables_span_at_most_epsilon(
    relation: dp.Relation, level: Fraction
) -> None:
    choice = RankChoice(level=level, epsilon=2, relation=relation, steps=3)
    laws = {table: choice.law(list(table)) for table in tables(range(4), 4)}
    spans = []
    for first, second in neighbors(range(4), 4, relation):
        low, high = laws[tuple(sorted(first))].pair(laws[tuple(sorted(second))]).losses()
        assert max(high) <= 2 + 1e-9
        assert min(low) >= -2 - 1e-9
        spans.append(max(high) - min(low))
    assert max(spans) <= 2 + 1e-9
    assert max(spans) > 0.9


@BOTH
def test_persons_with_several_rows_move_distances_by_their_weight(relation: dp.Relation) -> None:
    choice = RankChoice(level=Fraction(1, 4), epsilon=1, relation=relation, steps=5, rows=3)
    unit = 1 << 20
    base, one, other = [1, 2, 2, 4], [0, 5, 5], [3, 3, 3]
    before = Ranked.of([*base, *one], steps=5, weights=np.array([unit] * 7))
    rows, weights = (base, [unit] * 4) if relation is ADD_REMOVE else ([*base, *other], [unit] * 7)
    after = Ranked.of(rows, steps=5, weights=np.array(weights))
    for place in range(6):
        moved = before.distance(place, before.weight / Fraction(4)) - after.distance(place, after.weight / Fraction(4))
        assert abs(moved) <= choice.sensitivity * unit
    assert choice.sensitivity == (Fraction(9, 4) if relation is ADD_REMOVE else 3)


@pytest.mark.parametrize("rate", [Fraction(1, 100), Fraction(1, 2), Fraction(7)])
@pytest.mark.parametrize("rows", [[], [3], [0, 2, 2, 2, 7, 7, 9]])
def test_draws_follow_the_law(rate: Fraction, rows: list[int], rounds: Rounds) -> None:
    law = RankLaw(Ranked.of(rows, steps=9), Fraction(len(rows) * 2, 5), rate)
    assert not goodness_of_fit(law, law.sample(rounds(sample=1500, full=100_000))).alarm(ALARM)


def test_draws_follow_the_law_when_most_of_it_lies_outside_the_runs_looked_at(
    monkeypatch: pytest.MonkeyPatch, rounds: Rounds
) -> None:
    monkeypatch.setattr(rank_draw, "_reach", lambda candidates, rate: 1)  # noqa: ARG005
    law = RankLaw(Ranked.of([0, 2, 3, 5, 7, 8, 9, 9], steps=12), Fraction(3), Fraction(1, 5))
    assert not goodness_of_fit(law, law.sample(rounds(sample=1500, full=100_000))).alarm(ALARM)


@pytest.mark.parametrize("epsilon", [1e-9, 1.0, 1e4])
def test_a_choice_among_very_many_positions_is_one_of_them(epsilon: float) -> None:
    steps = (1 << 60) - 1
    rows = Ranked.of(np.array([0, steps // 2, steps]), steps=steps)
    for _ in range(20):
        assert 0 <= draw_by_rank(rows, Fraction(3, 2), Fraction(epsilon)) <= steps


@pytest.mark.theorem("RankChoice.accuracy")
@pytest.mark.theorem("rank_error.accuracy")
@BOTH
def test_the_rank_distance_exceeds_its_bound_as_rarely_as_guaranteed(relation: dp.Relation) -> None:
    choice = RankChoice(level=Fraction(2, 5), epsilon=3, relation=relation, steps=500)
    crowded, sparse = list(range(200, 260)), [0, 250, 251, 252, 500] * 6
    for table in (crowded, sparse, [250] * 30):
        rows = Ranked.of(table, steps=500)
        outcomes, _, high = choice.law(table).table()
        for confidence in (0.5, 0.95):
            bound = choice.error(confidence)
            failing = sum(
                chance
                for place, chance in zip(outcomes, high, strict=True)
                if rows.distance(place, choice.level * len(table)) > bound
            )
            assert failing <= 1 - confidence


def test_more_positions_at_distance_0_lower_the_bound() -> None:
    bounds = [rank_error(rate=1, candidates=1000, failure=0.05, best=best) for best in (1, 10, 100, 1000)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] == pytest.approx(math.log(999 * 0.95 / 0.05))
    assert bounds[-1] == 0.0


@pytest.mark.theorem("line_below_counts.accuracy")
@pytest.mark.parametrize("level", [Fraction(1, 20), Fraction(1, 2), Fraction(9, 10), Fraction(1)])
def test_counts_of_successes_stay_above_the_line_for_every_number_of_people(level: Fraction) -> None:
    from scipy.stats import binom

    slope, offset = line_below_counts(level, 1000, Fraction(1, 40))
    for people in (1, 10, 100, 500, 1000, 2000, 10_000):
        reached = math.floor((level - slope) * people - offset)
        for chance in (float(level), min(float(level) * 1.1, 1.0)):
            assert binom.cdf(reached, people, chance) <= 1 / 40


@pytest.mark.theorem("rank_error.accuracy")
@pytest.mark.parametrize(("size", "steps", "rate"), [(4, 10, Fraction(1)), (40, 60, Fraction(1, 3))])
def test_rows_at_one_position_attain_the_bound_on_the_rank_error(size: int, steps: int, rate: Fraction) -> None:
    choice = RankChoice(level=0.5, epsilon=rate, relation=ADD_REMOVE, steps=steps)
    assert choice.rate == rate
    law = choice.law([steps // 2] * size)
    missed = 1 - law.pmf(steps // 2)
    assert choice.error(1 - missed) == pytest.approx(size / 2, rel=1e-9)


def test_positions_beyond_the_grid_are_refused_without_being_shown() -> None:
    choice = RankChoice(level=0.5, epsilon=1, relation=ADD_REMOVE, steps=10)
    for rows in ([11], [-1], [float("nan")], [[1]], ["1"]):
        with pytest.raises(InputError) as caught:
            choice(rows)
        assert "11" not in str(caught.value)
    with pytest.raises(ParameterError, match="level"):
        RankChoice(level=1.5, epsilon=1, relation=ADD_REMOVE, steps=10)
    with pytest.raises(ParameterError, match="2\\^60"):
        RankChoice(level=0.5, epsilon=1, relation=ADD_REMOVE, steps=1 << 61)
