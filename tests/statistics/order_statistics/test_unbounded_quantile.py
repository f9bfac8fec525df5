"""Clipping bounds from a stream of thresholds: exact law, sensitivity, ranks, tables of any range."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.errors import ConflictingParameters, MissingParameter, ParameterError
from discreet.statistics.order_statistics.clipping import (
    ClippingBounds,
    Scans,
    UnboundedQuantile,
    clipping_bounds,
    magnitudes,
)
from tests.conftest import Rounds
from tests.statistics.tables import neighbors

ADD_REMOVE, CHANGE_ONE = dp.Relation.ADD_REMOVE, dp.Relation.CHANGE_ONE
BOTH = pytest.mark.parametrize("relation", [ADD_REMOVE, CHANGE_ONE])


@pytest.mark.theorem("UnboundedQuantile.privacy")
@BOTH
@pytest.mark.parametrize("level", [Fraction(1, 2), Fraction(9, 10)])
def test_what_is_watched_moves_by_the_sensitivity_and_by_no_more(relation: dp.Relation, level: Fraction) -> None:
    scan = UnboundedQuantile(level=level, epsilon=1, relation=relation, thresholds=3)
    largest = Fraction(0)
    for pair in neighbors(range(4), 4, relation):
        one, two = (
            scan._watched([*(sum(row <= threshold for row in table) for threshold in range(3)), len(table)])
            for table in pair
        )
        largest = max(largest, *(abs(first - second) for first, second in zip(one, two, strict=True)))
    assert largest == scan.stream.sensitivity.exact


@pytest.mark.theorem("UnboundedQuantile.privacy")
@BOTH
def test_the_law_of_the_reported_threshold_keeps_epsilon(relation: dp.Relation) -> None:
    scan = UnboundedQuantile(level=Fraction(3, 4), epsilon=2, relation=relation, thresholds=3)
    assert scan.guarantee == dp.PureDP(2.0, relation=relation)
    assert dp.audit(scan, search=0).outcome is dp.Outcome.KEPT


@pytest.mark.theorem("ClippingBounds.privacy")
@pytest.mark.theorem("Scans.privacy")
@BOTH
def test_two_scans_cost_half_each(relation: dp.Relation) -> None:
    statistic = ClippingBounds(level=0.5, relation=relation, epsilon=4, smallest=1, largest=2, per_doubling=1)
    assert isinstance(statistic.mechanism, Scans)
    assert [scan.guarantee.epsilon for scan in statistic.mechanism.scans] == [2.0, 2.0]
    for first, second in neighbors((-3.0, 1.5), 2, relation):
        assert statistic.law(first).pair(statistic.law(second)).max_loss().upper <= 4 + 1e-9


@pytest.mark.theorem("UnboundedQuantile.accuracy")
def test_the_reported_threshold_is_off_by_more_than_alpha_as_rarely_as_guaranteed() -> None:
    scan = UnboundedQuantile(level=Fraction(3, 4), epsilon=8, relation=ADD_REMOVE, thresholds=6)
    counts = [0, 3, 10, 14, 20, 40, 40]
    law = scan.law(counts)
    for confidence in (0.5, 0.9):
        alpha = scan.error(confidence)
        outcomes, _, high = law.table()
        wrong = 0.0
        for outcome, chance in zip(outcomes, high, strict=True):
            place = outcome[0] if outcome else 6
            below = [count - 30 for count in counts[:place]]
            too_soon = place < 6 and counts[place] - 30 < -alpha
            wrong += chance * (too_soon or any(value > alpha for value in below))
        assert wrong <= 1 - confidence


@pytest.mark.theorem("ClippingBounds.accuracy")
@BOTH
@pytest.mark.parametrize(("center", "spread"), [(0.0, 1.0), (1e6, 3.0), (-40.0, 1e-3)])
def test_bounds_hold_about_the_share_asked_for(
    relation: dp.Relation, center: float, spread: float, rounds: Rounds
) -> None:
    values = np.random.default_rng(1).normal(center, spread, 20_000)
    statistic = ClippingBounds(level=0.9, relation=relation, epsilon=2, confidence=0.99)
    off = statistic.rank_error
    grid = statistic.thresholds
    for _ in range(rounds(sample=5, full=200)):
        low, high = statistic(values)
        assert np.count_nonzero(values <= high) >= 0.95 * values.size - off
        assert np.count_nonzero(values >= low) >= 0.95 * values.size - off
        before = grid[np.searchsorted(grid, high) - 1]
        assert np.count_nonzero(values <= before) <= 0.95 * values.size + off


def test_bounds_are_passed_on_as_bounds() -> None:
    values = np.random.default_rng(2).lognormal(8, 1, 30_000)
    bounds = clipping_bounds(values, 0.98, relation=ADD_REMOVE, epsilon=1)
    assert bounds.guarantee == dp.PureDP(1.0, relation=ADD_REMOVE)
    assert bounds.low < bounds.high
    answer = dp.statistics.mean(np.minimum(values, 1e6), bounds=bounds, relation=ADD_REMOVE, epsilon=1)
    assert bounds.low <= answer.value <= bounds.high
    assert bounds.cost.satisfies(bounds.guarantee)


def test_one_threshold_for_the_size_is_found_at_the_whole_price() -> None:
    values = np.concatenate([np.full(5000, -6.0), np.full(5000, 5.5), [np.inf, -np.inf, np.nan]])
    assert clipping_bounds(values, 0.95, relation=ADD_REMOVE, epsilon=1, symmetric=True) == (-6.0, 6.0)
    shifted = clipping_bounds(values + 100, 0.95, relation=CHANGE_ONE, epsilon=1, symmetric=True, center=100)
    assert shifted == (94.0, 106.0)


@pytest.mark.parametrize("values", [[], [0.0], [None, None], [1e300] * 5000])
def test_every_table_gets_bounds_in_order(values: list[float | None]) -> None:
    for _ in range(20):
        low, high = clipping_bounds(values, 0.9, relation=ADD_REMOVE, epsilon=0.5)
        assert low < high


def test_persons_with_several_rows_are_weighed() -> None:
    values, unit = [1.0] * 3000 + [1e6] * 50_000, list(range(3000)) + [7777] * 50_000
    bounds = clipping_bounds(values, 0.9, relation=ADD_REMOVE, epsilon=1, symmetric=True, unit=unit, rows=3)
    assert bounds == (-1.0, 1.0)


def test_thresholds_are_floats_exactly_and_increase() -> None:
    grid = magnitudes(Fraction(1, 1 << 20), 1 << 50)
    assert grid[0] == 2.0**-20
    assert grid[-1] == 2.0**50
    assert np.all(np.diff(grid) > 0)
    assert np.all(np.diff(grid) <= 0.25 * grid[:-1])
    assert magnitudes(3, 5, per_doubling=1).tolist() == [2.0, 4.0, 8.0]


def test_what_cannot_be_asked_is_refused_in_words() -> None:
    with pytest.raises(MissingParameter, match="epsilon"):
        ClippingBounds(level=0.9, relation=ADD_REMOVE)
    with pytest.raises(ParameterError, match="smallest"):
        ClippingBounds(level=0.9, relation=ADD_REMOVE, epsilon=1, smallest=4, largest=2)
    with pytest.raises(ParameterError, match="per_doubling"):
        ClippingBounds(level=0.9, relation=ADD_REMOVE, epsilon=1, per_doubling=10_000)
    with pytest.raises(ConflictingParameters):
        ClippingBounds(level=0.9, relation=ADD_REMOVE, epsilon=1)(dp.statistics.Rows([1.0], unit=[1]))
