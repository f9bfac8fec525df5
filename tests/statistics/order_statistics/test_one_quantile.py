"""One quantile and many of a column: values, prices, intervals, missing values, persons with several rows."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet import statistics
from discreet.errors import ConflictingParameters, MissingParameter, ParameterError
from discreet.statistics.order_statistics.joint import JointQuantiles
from discreet.statistics.order_statistics.one_quantile import Quantile, quantile
from discreet.statistics.order_statistics.several_quantiles import Quantiles, quantiles
from discreet.statistics.order_statistics.tree import QuantileTree
from discreet.statistics.ranks.interval import RankInterval
from tests.chances import fewest
from tests.conftest import Rounds
from tests.statistics.tables import neighbors

ADD_REMOVE, CHANGE_ONE = dp.Relation.ADD_REMOVE, dp.Relation.CHANGE_ONE
BOTH = pytest.mark.parametrize("relation", [ADD_REMOVE, CHANGE_ONE])
QUARTERS, TEN = (0.25, 0.5, 0.75), tuple(place / 11 for place in range(1, 11))


@BOTH
def test_a_quantile_is_close_to_the_true_one(relation: dp.Relation) -> None:
    values = np.random.default_rng(1).normal(50, 10, 20_000)
    for level in (0.1, 0.5, 0.9):
        answer = quantile(values, level, bounds=(0, 100), relation=relation, epsilon=1)
        assert abs(answer.value - np.quantile(values, level)) < 1
        assert answer.guarantee == dp.PureDP(1.0, relation=relation)
        assert (answer.low, answer.high) == (None, None)
        assert str(answer).endswith("(no interval bought)")


@pytest.mark.theorem("Quantile.privacy")
@BOTH
@pytest.mark.parametrize("missing", [statistics.Missing.LEAVE_OUT, 1])
def test_the_law_of_a_quantile_keeps_epsilon_on_small_tables(
    relation: dp.Relation, missing: statistics.Missing | int
) -> None:
    statistic = Quantile(level=0.25, bounds=(0, 2), grid=1, relation=relation, epsilon=2, missing=missing)
    for first, second in neighbors((0, 1, 2, None), 3, relation):
        assert statistic.law(first).pair(statistic.law(second)).max_loss().upper <= 2 + 1e-9
    assert dp.audit(statistic).outcome is dp.Outcome.KEPT


@pytest.mark.theorem("Quantiles.privacy")
@BOTH
@pytest.mark.parametrize("levels", [(0.4, 0.6), QUARTERS])
def test_the_law_of_quantiles_keeps_epsilon_on_small_tables(relation: dp.Relation, levels: tuple[float, ...]) -> None:
    statistic = Quantiles(levels=levels, bounds=(0, 1), grid=1, relation=relation, epsilon=6, tie_bits=0)
    for first, second in neighbors((0, 1, None), 3, relation):
        assert statistic.law(first).pair(statistic.law(second)).max_loss().upper <= 6 + 1e-9


def test_rho_is_the_price_of_bounded_range() -> None:
    statistic = Quantile(level=0.5, bounds=(0, 1), relation=ADD_REMOVE, rho=0.5)
    assert statistic.guarantee == dp.ZCDP(0.5, relation=ADD_REMOVE)
    assert statistic.mechanism.range == 2  # type: ignore[union-attr]
    assert statistic.loss.satisfies(statistic.guarantee)


@pytest.mark.theorem("Quantile.accuracy")
@BOTH
def test_an_error_in_ranks_buys_the_cheapest_price(relation: dp.Relation) -> None:
    statistic = Quantile(level=0.5, bounds=(0, 100), relation=relation, error=100, rows=None)
    assert statistic.rank_error() == pytest.approx(100, rel=1e-9)
    assert statistic.rank_error() <= 100 * (1 + 1e-12)
    several = Quantile(level=0.5, bounds=(0, 100), relation=relation, error=100, rows=3)
    assert several.guarantee.epsilon == pytest.approx(3 * statistic.guarantee.epsilon)  # type: ignore[attr-defined]


@pytest.mark.theorem("Quantile.accuracy")
@pytest.mark.parametrize("size", [0, 3, 200, 5000])
@BOTH
def test_intervals_contain_the_quantile_of_the_table(relation: dp.Relation, size: int, rounds: Rounds) -> None:
    values = np.random.default_rng(2).lognormal(0, 1, size)
    statistic = Quantile(level=0.7, bounds=(0, 50), relation=relation, epsilon=1, interval=True, confidence=0.9)
    exact = np.quantile(values, 0.7, method="inverted_cdf") if size else 25.0
    count = rounds(sample=100, full=10_000)
    held = 0
    for _ in range(count):
        answer = statistic(values)
        assert answer.low <= answer.value <= answer.high
        held += answer.low <= exact <= answer.high
    assert held >= fewest(count, 0.9)


def test_intervals_contain_the_quantile_of_the_population(rounds: Rounds) -> None:
    statistic = Quantile(
        level=0.5,
        bounds=(-10, 10),
        relation=ADD_REMOVE,
        epsilon=2,
        interval=True,
        confidence=0.8,
        target=dp.Target.POPULATION,
        rows_expected=500,
    )
    random = np.random.default_rng(3)
    count = rounds(sample=100, full=10_000)
    answers = [statistic(random.normal(0, 1, 500)) for _ in range(count)]
    assert sum(answer.low <= 0 <= answer.high for answer in answers) >= fewest(count, 0.8)
    assert all(answer.target is dp.Target.POPULATION for answer in answers)


def test_an_interval_narrows_as_rows_are_added() -> None:
    random = np.random.default_rng(4)
    widths = []
    for size in (1000, 100_000):
        statistic = Quantile(level=0.5, bounds=(0, 1), relation=ADD_REMOVE, epsilon=1, interval=True)
        rows = statistic.measure(random.random(size))
        ends = [statistic.estimate(statistic.mechanism(rows), public_rows=None).ends for _ in range(20)]
        widths.append(np.mean([high - low for low, high in ends]))
    assert widths[0] > 20 * widths[1]


@BOTH
def test_whole_numbers_stay_whole_and_their_interval_is_not_widened(relation: dp.Relation) -> None:
    answer = quantile([30] * 5000, 0.5, bounds=(0, 120), grid=1, relation=relation, epsilon=1, interval=True)
    assert (answer.value, answer.low, answer.high) == (30, 30.0, 30.0)
    assert isinstance(answer.value, int)


def test_missing_values_are_left_out_or_replaced() -> None:
    values = [10.0] * 3000 + [None] * 4000
    left_out = quantile(values, 0.5, bounds=(0, 20), relation=ADD_REMOVE, epsilon=1)
    replaced = quantile(values, 0.5, bounds=(0, 20), relation=ADD_REMOVE, epsilon=1, missing=2)
    assert left_out.value == pytest.approx(10, abs=1e-3)
    assert replaced.value == pytest.approx(2, abs=1e-3)


def test_a_busy_person_weighs_no_more_than_the_contribution() -> None:
    values = [1.0] * 2000 + [9.0] * 9000
    unit = list(range(2000)) + [5000] * 9000
    for answer in (
        quantile(values, 0.5, bounds=(0, 10), relation=ADD_REMOVE, epsilon=1, unit=unit, rows=2),
        quantiles(values, QUARTERS, bounds=(0, 10), relation=ADD_REMOVE, epsilon=1, unit=unit, rows=2)[0.5],
    ):
        assert answer.value == pytest.approx(1, abs=1e-3)


@pytest.mark.theorem("Quantiles.accuracy")
def test_ten_quantiles_at_once_are_better_than_one_by_one(rounds: Rounds) -> None:
    values = np.sort(np.random.default_rng(5).lognormal(10, 1, 5000))
    together = Quantiles(levels=TEN, bounds=(0, 1e7), relation=ADD_REMOVE, epsilon=1)
    single = [Quantile(level=level, bounds=(0, 1e7), relation=ADD_REMOVE, epsilon=Fraction(1, 10)) for level in TEN]
    wanted = np.array(TEN) * values.size
    count = rounds(sample=100, full=1000)
    ranks = np.array([np.searchsorted(values, together(values).value) for _ in range(count)])
    apart = np.array([[np.searchsorted(values, one(values).value) for one in single] for _ in range(count)])
    assert 5 * ((ranks - wanted) ** 2).mean() < ((apart - wanted) ** 2).mean()


@BOTH
def test_the_mechanism_with_the_smaller_predicted_error_is_taken(relation: dp.Relation) -> None:
    asked: dict[str, Any] = {"bounds": (0, 1), "relation": relation}
    assert isinstance(Quantiles(levels=TEN, epsilon=1, **asked).mechanism, JointQuantiles)
    assert isinstance(Quantiles(levels=TEN, rho=0.1, **asked).mechanism, QuantileTree)
    assert isinstance(Quantiles(levels=TEN, epsilon=1, rows=2, **asked).mechanism, QuantileTree)


def test_values_that_many_rows_share_are_cut_where_the_levels_want_it() -> None:
    values = np.concatenate([np.zeros(6000), np.linspace(1, 41, 4000)])
    for relation, price in ((ADD_REMOVE, {"epsilon": 1}), (CHANGE_ONE, {"epsilon": 1}), (ADD_REMOVE, {"rho": 0.1})):
        found = quantiles(values, (0.1, 0.3, 0.5, 0.7, 0.9), bounds=(0, 100), relation=relation, **price)
        assert found.value == pytest.approx([0, 0, 0, 11, 31], abs=3)


def test_with_a_public_number_of_rows_quantiles_bound_each_other(rounds: Rounds) -> None:
    values = np.random.default_rng(6).random(50_000)
    statistic = Quantiles(levels=TEN, bounds=(0, 1), relation=CHANGE_ONE, epsilon=1, missing=0)
    for _ in range(rounds(sample=10, full=500)):
        found = statistic(values)
        assert all(found.low[1:-1] > 0)
        for level, estimate in found.items():
            assert estimate.low is not None
            assert estimate.low <= np.quantile(values, level) <= estimate.high
    few = Quantiles(levels=(0.5,), bounds=(0, 1), relation=CHANGE_ONE, epsilon=1, missing=0)(values)
    assert few[0.5].low is None  # one quantile alone is bounded by no other


def test_an_error_for_many_quantiles_needs_the_number_of_people() -> None:
    with pytest.raises(MissingParameter, match="rows_expected="):
        Quantiles(levels=QUARTERS, bounds=(0, 1), relation=ADD_REMOVE, error=100)
    statistic = Quantiles(levels=QUARTERS, bounds=(0, 1), relation=ADD_REMOVE, error=100, rows_expected=10_000)
    assert max(statistic.rank_errors(10_000)) == pytest.approx(100, rel=1e-6)


def test_what_cannot_be_asked_is_refused_in_words() -> None:
    with pytest.raises(MissingParameter, match="bounds"):
        quantile([1.0], 0.5, relation=ADD_REMOVE, epsilon=1)
    with pytest.raises(MissingParameter, match="relation"):
        quantile([1.0], 0.5, bounds=(0, 1), epsilon=1)
    with pytest.raises(ConflictingParameters):
        quantile([1.0], 0.5, bounds=(0, 1), relation=ADD_REMOVE, epsilon=1, rho=1)
    with pytest.raises(ParameterError, match="interval=True"):
        quantile([1.0], 0.5, bounds=(0, 1), relation=ADD_REMOVE, epsilon=1, target=dp.Target.POPULATION)
    with pytest.raises(MissingParameter, match="rows_expected="):
        quantile([1.0], 0.5, bounds=(0, 1), relation=ADD_REMOVE, epsilon=1, interval=True, target=dp.Target.POPULATION)
    assert isinstance(
        Quantile(level=0.5, bounds=(0, 1), relation=ADD_REMOVE, epsilon=1, interval=True).mechanism, RankInterval
    )
