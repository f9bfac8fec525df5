"""Quantiles from noisy counts of even bins, the rule that takes them, and several quantiles with their intervals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.errors import ParameterError
from discreet.statistics import quantiles
from discreet.statistics.columns import WEIGHT_UNIT
from discreet.statistics.order_statistics.even_bins import EvenBins
from discreet.statistics.order_statistics.intervals import QuantileIntervals
from discreet.statistics.order_statistics.joint import JointQuantiles
from discreet.statistics.order_statistics.several_quantiles import Quantiles
from discreet.statistics.order_statistics.tree import QuantileTree
from discreet.statistics.ranks import Ranked
from tests.chances import fewest, most
from tests.conftest import Rounds
from tests.statistics.tables import neighbors

ADD_REMOVE, CHANGE_ONE = dp.Relation.ADD_REMOVE, dp.Relation.CHANGE_ONE
BOTH = pytest.mark.parametrize("relation", [ADD_REMOVE, CHANGE_ONE])
QUARTERS, TEN = (0.25, 0.5, 0.75), tuple(place / 11 for place in range(1, 11))


@pytest.mark.theorem("EvenBins.privacy")
@BOTH
def test_a_row_moves_the_bins_by_no_more_than_the_noise_is_for(relation: dp.Relation) -> None:
    bins = EvenBins(levels=QUARTERS, epsilon=2, relation=relation, steps=9, rows_expected=20)
    assert bins.bins >= 4
    times, furthest = (2 if relation is CHANGE_ONE else 1), 0
    for first, second in neighbors(range(0, 10, 3), 3, relation):
        moved = np.abs(bins._counts(first) - bins._counts(second)).sum()
        furthest = max(furthest, int(moved))
    assert furthest == times * WEIGHT_UNIT
    assert bins.counter.noise.scale == Fraction(times * WEIGHT_UNIT, 2)
    assert bins.guarantee == dp.PureDP(2.0, relation=relation)
    assert bins.loss.satisfies(bins.guarantee)
    several = EvenBins(levels=QUARTERS, rho=0.5, relation=relation, steps=9, rows_expected=20, rows=3)
    assert float(several.counter.noise.scale) == pytest.approx(3 * WEIGHT_UNIT * times**0.5)


def test_levels_are_read_off_the_line_through_the_counts() -> None:
    bins = EvenBins(levels=QUARTERS, epsilon=1, relation=ADD_REMOVE, steps=399, rows_expected=50)
    assert bins.bins == 11
    even = EvenBins(levels=QUARTERS, epsilon=1, relation=ADD_REMOVE, steps=3, rows_expected=100)
    assert even.cuts.tolist() == [1, 2, 3]
    assert even.positions_of([0, 0, 100, 0]) == (2, 2, 2)
    assert even.positions_of([-5, -5, -5, -5]) == (1, 2, 3)  # nothing is known: as if rows were spread evenly
    assert even.positions_of([50, 40, -30, 40]) == (0, 1, 3)


@pytest.mark.theorem("EvenBins.accuracy")
def test_evenly_spread_rows_have_the_predicted_rank_error(rounds: Rounds) -> None:
    bins = EvenBins(levels=TEN, epsilon=1, relation=ADD_REMOVE, steps=10_999, rows_expected=100)
    rows = np.arange(11_000)
    wanted = np.array(TEN) * rows.size
    runs = rounds(sample=400, full=20_000)
    errors = np.array([bins(rows) for _ in range(runs)]) - wanted
    # 400 runs of ten correlated levels: 7 standard errors of a mean of squares, each at most 4 x its mean
    assert (errors**2).mean() == pytest.approx(bins.variance(), rel=7 * 2 / runs**0.5)


@BOTH
def test_bins_are_taken_where_few_rows_are_expected_for_the_price(relation: dp.Relation) -> None:
    def chosen(**options: Any) -> type:
        return type(Quantiles(levels=TEN, bounds=(0, 1), relation=relation, **options).mechanism)

    assert chosen(epsilon=0.1, rows_expected=1000) is EvenBins
    assert chosen(rho=0.001, rows_expected=1000) is EvenBins
    assert chosen(epsilon=0.1, rows_expected=30_000) is JointQuantiles
    assert chosen(epsilon=1, rows_expected=3000) is JointQuantiles
    assert chosen(rho=0.1, rows_expected=30_000) is QuantileTree
    assert chosen(epsilon=0.1) is JointQuantiles  # nobody said how many rows there are
    assert chosen(error=900, rows_expected=1000) is not EvenBins  # bins promise no rank error


@pytest.mark.theorem("Quantiles.accuracy")
def test_few_rows_at_a_small_price_are_served_better_by_bins(rounds: Rounds) -> None:
    values = np.random.default_rng(8).lognormal(10, 0.6, 1000)
    exact = np.quantile(values, TEN)
    asked: dict[str, Any] = {"levels": TEN, "bounds": (0, 200_000), "relation": ADD_REMOVE, "epsilon": 0.1}
    few, blind = Quantiles(rows_expected=1000, **asked), Quantiles(**asked)
    runs = rounds(sample=80, full=2000)
    far = [sum(np.mean((one(values).value - exact) ** 2) > 5e7 for _ in range(runs)) for one in (few, blind)]
    assert far[0] <= most(runs, 0.12)  # measured: .075
    assert far[1] >= fewest(runs, 0.45)  # measured: .54


@pytest.mark.theorem("QuantileIntervals.privacy")
@BOTH
@pytest.mark.parametrize("price", [{"epsilon": 4}, {"rho": 0.5}])
def test_values_and_counts_cost_half_each(relation: dp.Relation, price: dict[str, float]) -> None:
    statistic = Quantiles(
        levels=(0.4, 0.6), bounds=(0, 1), grid=1, relation=relation, interval=True, tie_bits=0, **price
    )
    made = statistic.mechanism
    assert isinstance(made, QuantileIntervals)
    assert made.loss.satisfies(made.guarantee)
    (name, whole) = next(iter(price.items()))
    assert getattr(made.guarantee, name) == whole
    for part in (made.values, made.around):
        assert getattr(part.guarantee, name) == pytest.approx(whole / 2)
        assert getattr(part.guarantee, name) <= whole / 2
    if "epsilon" in price:
        for first, second in neighbors((0, 1), 3, relation):
            assert made.values.law(first).pair(made.values.law(second)).max_loss().upper <= 2 + 1e-9
    with pytest.raises(ParameterError, match="two parts"):
        statistic.law([0, 1])


@pytest.mark.theorem("QuantileIntervals.accuracy")
@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 0.05}])
@pytest.mark.parametrize("kind", ["spread", "one value", "two hills", "nobody"])
def test_each_of_several_intervals_holds_its_quantiles(price: dict[str, float], kind: str, rounds: Rounds) -> None:
    random = np.random.default_rng(9)
    column = {
        "spread": random.random(3000) * 100,
        "one value": np.full(500, 30.0),
        "two hills": np.concatenate([random.normal(20, 3, 700), random.normal(80, 3, 700)]),
        "nobody": np.zeros(0),
    }[kind]
    statistic = Quantiles(levels=QUARTERS, bounds=(0, 128), grid=0.125, relation=ADD_REMOVE, interval=True, **price)
    positions, _ = statistic.positions(column)
    rows = Ranked.of(positions, steps=1024)
    runs = rounds(sample=60, full=4000)
    tables = [statistic(column) for _ in range(runs)]
    for level in QUARTERS:
        exact = [at for at in range(1025) if rows.distance(at, Fraction(level) * rows.weight) == 0]
        ends = [table[level].ends for table in tables]
        assert sum(low <= exact[0] / 8 and exact[-1] / 8 <= high for low, high in ends) >= fewest(runs, 0.95)
        assert all(table[level].low <= table[level].value <= table[level].high for table in tables)


def test_a_person_with_several_rows_has_intervals_too() -> None:
    values = [1.0] * 2000 + [9.0] * 9000
    unit = list(range(2000)) + [5000] * 9000
    found = quantiles(
        values, QUARTERS, bounds=(0, 10), relation=ADD_REMOVE, epsilon=2, unit=unit, rows=2, interval=True
    )
    assert found[0.5].ends == pytest.approx((1, 1), abs=1e-3)


@pytest.mark.theorem("Quantiles.privacy")
def test_where_none_was_bought_every_form_says_so() -> None:
    found = quantiles(np.arange(1000), QUARTERS, bounds=(0, 1000), relation=ADD_REMOVE, epsilon=5)
    assert "no interval bought" in str(found)
    assert "no interval bought" in found._repr_html_()
    assert "no interval bought" in found.plot(title="quartiles").svg()
    assert found.to_pandas()[["low", "high"]].isna().all().all()
    assert all((line.low, line.high) == (None, None) for line in found.values())
    assert "no interval bought" in found[0.5]._repr_html_()
    with pytest.raises(ParameterError, match="interval=True"):
        _ = found[0.5].ends
    bought = quantiles(np.arange(1000), QUARTERS, bounds=(0, 1000), relation=ADD_REMOVE, epsilon=5, interval=True)
    assert "no interval" not in str(bought) + bought._repr_html_() + bought.plot().svg()
    assert bought[0.5].low < bought[0.5].high
