"""Measures: the noise that a part of the price buys, exact laws on neighbors, values and intervals by hand."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.audit import Outcome, audit
from discreet.errors import SenselessParameter, UnsupportedSQL
from discreet.frames import Type
from discreet.privacy import ZCDP, ApproxDP, Price, PureDP, Relation
from discreet.query.measures.measure import Additive, deviation, grid_between
from discreet.query.measures.private_keys import SelectedKeys
from discreet.query.measures.quantile import QuantilesOfGroups, divided, pieces
from discreet.query.plan.bounding import Bounding, Noise, choose, of_values
from discreet.query.plan.query_plan import MeasureKind
from discreet.query.plan.request import WEIGHT, EachRow, HistogramRequest
from discreet.query.pricing.measures_of_query import measures
from discreet.statistics.order_statistics.tree import QuantileTree
from discreet.statistics.ranks.interval import RankInterval
from discreet.statistics.ranks.ranked import Ranked
from tests.chances import fewest
from tests.query.small_tables import (
    Slow,
    asked,
    persons,
    policy_for,
    private_key,
    public_key,
    query_for,
    stored,
    table_policy,
    x_column,
)

ADD_REMOVE, CHANGE_ONE = Relation.ADD_REMOVE, Relation.CHANGE_ONE
BOTH = pytest.mark.parametrize("relation", [ADD_REMOVE, CHANGE_ONE])
HALF = Fraction(1, 2)


def measure_of(*aggregates, relation=ADD_REMOVE, noise=Noise.LAPLACE, keys=(), **stated):
    query = query_for(*aggregates, keys=keys)
    bounding = choose(query.aggregation, table_policy(**stated), relation, noise)
    values = of_values(query.aggregation, table_policy(**stated), relation)
    return measures(query.aggregation.asked, bounding, noise, values)[0]


@pytest.mark.theorem("count.privacy", "total.privacy", "MeanOfGroups.privacy", "VarianceOfGroups.privacy")
@pytest.mark.theorem("AssociationOfGroups.privacy")
@BOTH
@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize(
    "kind",
    [
        *(MeasureKind.COUNT_ROWS, MeasureKind.COUNT_UNITS, MeasureKind.SUM, MeasureKind.MEAN, MeasureKind.VARIANCE),
        *(MeasureKind.CORRELATION, MeasureKind.SLOPE),
    ],
)
def test_the_noise_is_the_least_that_keeps_the_part_of_the_price(kind, keyed, relation):
    keys = (public_key(),) if keyed else ()
    stated = {"rows": 2, "groups": 2, "rows_per_group": 1}
    (laplace,) = measure_of(asked(kind), relation=relation, keys=keys, **stated)
    assert isinstance(laplace, Additive)
    shift, _ = laplace.bounding.moved(laplace.norms)
    epsilon = Fraction(1, 3)
    assert laplace.noise(Price(epsilon=epsilon)).noise.scale == shift / epsilon
    (gaussian,) = measure_of(asked(kind), relation=relation, noise=Noise.GAUSSIAN, keys=keys, **stated)
    _, squared = gaussian.bounding.moved(gaussian.norms)
    rho = Fraction(1, 7)
    paid = squared / (2 * gaussian.noise(Price(rho=rho)).noise.scale ** 2)
    assert paid <= rho < paid * (1 + Fraction(1, 10**12))


@pytest.mark.theorem("count.privacy", "total.privacy")
@BOTH
def test_the_exact_law_of_a_count_and_a_sum_keeps_the_guarantee_and_uses_it_up(relation):
    for kind, part in itertools.product(
        (MeasureKind.COUNT_ROWS, MeasureKind.SUM), (Price(epsilon=Fraction(1)), Price(rho=HALF))
    ):
        noise = Noise.LAPLACE if part.rho is None else Noise.GAUSSIAN
        (measure,) = measure_of(asked(kind), relation=relation, noise=noise, unit="row")
        vector = measure.noise(part)
        verdict = audit(vector)
        assert verdict.outcome is Outcome.KEPT
        smaller = PureDP(0.99, relation=relation) if part.rho is None else ApproxDP(0.1, 1e-3, relation=relation)
        assert audit(vector, smaller).refuted


def test_counts_and_sums_come_back_in_their_own_unit():
    (count,) = measure_of(asked(MeasureKind.COUNT_ROWS), rows=2)
    assert count.values([[3 * WEIGHT, WEIGHT // 2]]) == [[3, 0.5]]
    (whole,) = measure_of(asked(MeasureKind.COUNT_ROWS), unit="row")
    assert whole.values([[7]]) == [[7]]
    assert type(whole.values([[7]])[0][0]) is int
    (sum_,) = measure_of(asked(MeasureKind.SUM, low=-3, high=5), unit="row")
    assert sum_.values([[-4]]) == [[-4]]
    (real,) = measure_of(asked(MeasureKind.SUM, low=0, high=1, type=Type.REAL), unit="row")
    assert real.values([[1 << 24]]) == [[1.0]]


@pytest.mark.theorem("MeanOfGroups.accuracy", "VarianceOfGroups.accuracy")
@pytest.mark.parametrize("kind", [MeasureKind.MEAN, MeasureKind.VARIANCE, MeasureKind.DEVIATION])
@pytest.mark.parametrize("noise", list(Noise))
def test_without_noise_a_mean_and_a_variance_are_those_of_the_rows(kind, noise):
    (measure,) = measure_of(asked(kind, low=-2, high=6), noise=noise, rows=3)
    rows = [-2, 0, 5, 6, 6]
    engine = Slow(
        policy_for(table_policy(rows=3, low=-2, high=6)),
        {"t": [one for unit, x in enumerate(rows) for one in stored([(0, x)], unit=unit)]},
    )
    query = query_for(asked(kind, low=-2, high=6))
    from discreet.query.plan.request import SumRequest

    sums = engine.run(SumRequest(query.aggregation.source, (), measure.bounding.form, measure.cells))
    released = measure.vectors(sums.cells)
    true = {
        MeasureKind.MEAN: np.mean(rows),
        MeasureKind.VARIANCE: np.var(rows),
        MeasureKind.DEVIATION: np.std(rows),
    }[kind]
    assert measure.values(released)[0][0] == pytest.approx(true, abs=1e-9)
    part = Price(epsilon=Fraction(50)) if noise is Noise.LAPLACE else Price(rho=Fraction(100))
    with pytest.warns(SenselessParameter):
        ((_, low, high),) = measure.estimates(released, part, 0.95)[0]
    assert low <= true <= high


def test_a_group_without_size_has_the_middle_of_the_range_and_all_of_it_as_interval():
    (mean,) = measure_of(asked(MeasureKind.MEAN, low=10, high=20), unit="row")
    ((value, low, high),) = mean.estimates([[-3], [2]], Price(epsilon=Fraction(1)), 0.95)[0]
    assert (value, low, high) == (15.0, 10.0, 20.0)


def test_a_sum_far_from_zero_is_refused_with_what_to_write():
    with pytest.raises(UnsupportedSQL, match="subtract a public number"):
        measure_of(asked(MeasureKind.SUM, low=2**20, high=2**20 + 1, type=Type.REAL), unit="row")


@pytest.mark.parametrize(("low", "high"), [(0, 5), (0, 500), (-7, 3), (Fraction(1, 3), Fraction(2, 3)), (0, 10**12)])
@pytest.mark.parametrize("type", [Type.INTEGER, Type.REAL])
def test_a_grid_covers_the_range_and_keeps_whole_numbers_where_they_fit(low, high, type):
    scale = grid_between((Fraction(low), Fraction(high)), x_column(low, high, type), bits=24)
    assert scale.value(0) <= low
    assert scale.value(scale.steps) >= high
    assert scale.steps <= 2**25 + 1
    if type is Type.INTEGER and high - low < 2**24:
        assert scale.grid == 1


@pytest.mark.parametrize("kind", [MeasureKind.MEAN, MeasureKind.VARIANCE, MeasureKind.QUANTILE])
def test_a_narrow_range_far_from_zero_has_a_grid_that_floats_can_hold(kind):
    low = 10**15
    (measure,) = measure_of(asked(kind, low=low, high=low + 2, type=Type.REAL, level=HALF), unit="row")
    assert measure.scale.value(0) <= low < low + 2 <= measure.scale.value(measure.scale.steps)
    assert measure.scale.grid >= math.ulp(float(low))


def histograms(table, rows, keys, form, scale):
    request = HistogramRequest(
        query_for(asked(MeasureKind.COUNT_ROWS)).aggregation.source, keys, form, x_column(), scale
    )
    return Slow(policy_for(table), {"t": rows}).histogram(request)


@pytest.mark.theorem("QuantilesOfGroups.privacy")
@BOTH
@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("stated", [{"rows": 1}, {"rows": 2}, {"groups": 2, "rows_per_group": 1}, {"unit": "row"}])
def test_exact_laws_of_a_quantile_over_all_groups_keep_its_part_of_the_price(stated, keyed, relation):
    epsilon = Fraction(3)
    keys = (public_key(),) if keyed else ()
    table = table_policy(**stated)
    (measure,) = measure_of(asked(MeasureKind.QUANTILE, level=Fraction(1, 4)), relation=relation, keys=keys, **stated)
    choice = measure.mechanism(Price(epsilon=epsilon))
    assert isinstance(choice, RankInterval)
    most = 1 if "unit" in stated else 2
    others = stored([(0, 1), (1, 4)], unit=7) if "unit" not in stated else stored([(0, 1), (1, 4)])
    groups = [(0,), (1,)] if keyed else [()]
    heavier = WEIGHT // measure.bounding.unit
    tables, counted = [], []
    for rows in persons((0, 3, 5), most=most):
        found = histograms(table, [*others, *stored(rows)], keys, measure.bounding.form, measure.scale)
        laws, counts = [], []
        for group in groups:
            places, weights = found.get(group, (np.array([], dtype=np.int64), np.array([], dtype=np.int64)))
            ranked = Ranked.of(places, steps=measure.scale.steps, weights=np.asarray(weights, dtype=np.int64) * heavier)
            laws.append(np.log(choice.value.law(ranked).table()[2]))
            counts.append(choice.around.counts([2], ranked))
        tables.append(laws)
        counted.append(counts)
    worst = furthest = 0.0
    others = range(len(tables)) if relation is CHANGE_ONE else [0]
    for first, second in itertools.product(range(len(tables)), others):
        spans = [float(np.ptp(one - two)) for one, two in zip(tables[first], tables[second], strict=True)]
        worst = max(worst, sum(spans))
        moved = np.abs(np.array(counted[first]) - np.array(counted[second])).sum()
        furthest = max(furthest, float(moved / choice.around.counter.noise.scale))
    # the losses of the choices in all groups together span no more than half of epsilon: bounded range, at its price;
    # those of the counts, the other half, are what one row can move all counts in units of the noise
    assert 0.35 * float(epsilon) / 2 <= worst <= float(epsilon) / 2 * (1 + 1e-9)
    assert furthest <= float(epsilon) / 2
    assert furthest >= 0.9 * float(epsilon) / 2 * (0.5 if relation is CHANGE_ONE else 1)


def laws_and_counts(measure, choice, table, relation, most=2):
    """The law of the choice and the counts around 2 in both groups, for all tables that one person can make."""
    heavier, found = WEIGHT // measure.bounding.unit, []
    others = stored([(0, 1), (1, 4)], unit=7)
    for rows in persons((0, 3, 5), most=most):
        groups = histograms(table, [*others, *stored(rows)], (public_key(),), measure.bounding.form, measure.scale)
        made = []
        for group in [(0,), (1,)]:
            places, weights = groups.get(group, (np.array([], dtype=np.int64), np.array([], dtype=np.int64)))
            ranked = Ranked.of(places, steps=measure.scale.steps, weights=np.asarray(weights, dtype=np.int64) * heavier)
            made.append((np.array(choice.value.law(ranked).table()[2]), np.array(choice.around.counts([2], ranked))))
        found.append(made)
    return list(itertools.product(found, found if relation is CHANGE_ONE else found[:1]))


@pytest.mark.theorem("QuantilesOfGroups.privacy")
@BOTH
@pytest.mark.parametrize("stated", [{"rows": 2}, {"groups": 2, "rows_per_group": 1}])
def test_exact_laws_of_a_quantile_in_two_groups_keep_their_rho_together(stated, relation):
    rho, keys = Fraction(1, 2), (public_key(),)
    (measure,) = measure_of(
        asked(MeasureKind.QUANTILE, level=Fraction(1, 4)), relation=relation, keys=keys, noise=Noise.GAUSSIAN, **stated
    )
    assert measure.spread_over_groups == (2 if "groups" in stated else 1)
    choice = measure.mechanism(Price(rho=rho))
    ranges = distances = 0.0
    for one, two in laws_and_counts(measure, choice, table_policy(**stated), relation):
        spans = [float(np.ptp(np.log(p) - np.log(q))) for (p, _), (q, _) in zip(one, two, strict=True)]
        ranges = max(ranges, sum(span**2 for span in spans) / 8)
        for order in (1.01, 2.0, 8.0, 64.0):
            divergence = sum(
                math.log(np.sum(p**order * q ** (1 - order))) / (order - 1)
                for (p, _), (q, _) in zip(one, two, strict=True)
            )
            assert divergence <= float(rho) / 2 * order * (1 + 1e-9)
        moved = sum(float(np.sum((u - v).astype(float) ** 2)) for (_, u), (_, v) in zip(one, two, strict=True))
        distances = max(distances, moved / (2 * float(choice.around.counter.noise.scale) ** 2))
    assert 0.1 * float(rho) / 2 <= ranges <= float(rho) / 2 * (1 + 1e-9)
    assert 0.9 * float(rho) / 2 <= distances <= float(rho) / 2 * (1 + 1e-9)


@pytest.mark.theorem("QuantilesOfGroups.privacy")
@pytest.mark.parametrize("price", [Price(rho=HALF), Price(mu=HALF)])
def test_two_groups_pay_the_root_of_two_in_rank_error(price):
    def error(groups):
        (measure,) = measure_of(
            asked(MeasureKind.QUANTILE, level=HALF),
            keys=(public_key(),),
            noise=Noise.GAUSSIAN,
            groups=groups,
            rows_per_group=1,
        )
        assert "0.5" in measure.words(price)  # the price of all groups together
        return measure.rank_error(price, 0.95)

    assert error(2) == pytest.approx(math.sqrt(2) * error(1), rel=1e-3)


@pytest.mark.theorem("QuantilesOfGroups.privacy")
def test_under_change_one_over_groups_the_choice_is_priced_for_twice_the_weight():
    def contribution(relation, keys, **stated):
        (measure,) = measure_of(asked(MeasureKind.QUANTILE, level=HALF), relation=relation, keys=keys, **stated)
        return measure.mechanism(Price(epsilon=Fraction(1))).value.rows

    keys = (public_key(),)
    assert contribution(ADD_REMOVE, keys, rows=3) == 3
    assert contribution(CHANGE_ONE, keys, rows=3) == 6
    assert contribution(CHANGE_ONE, (), rows=3) == 3
    assert contribution(ADD_REMOVE, keys, groups=2, rows_per_group=3) == 6
    assert contribution(ADD_REMOVE, (), groups=2, rows_per_group=3) == 6
    assert contribution(ADD_REMOVE, keys, unit="row") == 1


@pytest.mark.theorem("QuantilesOfGroups.privacy")
@pytest.mark.parametrize("levels", [(HALF,), (Fraction(1, 4), HALF)])
@pytest.mark.parametrize("power", [30, 20, 13, 12, 6])
def test_no_price_makes_the_release_of_a_quantile_fail_on_some_tables_and_not_on_others(power, levels):
    (measure,) = measure_of(*(asked(MeasureKind.QUANTILE, f"q{level}", level=level) for level in levels), rows=1)
    for weight in (0, 1, WEIGHT, 10**9 * WEIGHT, 1 << 60):
        for price in (Price(epsilon=Fraction(1, 10**power)), Price(rho=Fraction(1, 10**power))):
            assert len(measure.release([([1], [weight])], price)) == 3 * len(levels)


@pytest.mark.theorem("QuantilesOfGroups.privacy")
@pytest.mark.parametrize("count", [1, 2, 3, 7, 127])
def test_pieces_add_up_to_the_weight_and_none_falls_when_it_grows(count):
    weights = np.arange(0, 400, dtype=np.int64)
    places, parts = divided(np.zeros(400, dtype=np.int64), weights, count)
    table = parts.reshape(400, count)
    assert (table.sum(axis=1) == weights).all()
    assert (np.diff(table, axis=0) >= 0).all()
    assert places.size == parts.size
    assert pieces(2**16) * (2**16 + 1) <= 1 << 23
    assert pieces(1) == 256


def test_every_level_has_an_interval_and_several_share_one_tree():
    (one,) = measure_of(asked(MeasureKind.QUANTILE, level=HALF), unit="row")
    assert isinstance(one.mechanism(Price(rho=HALF)), RankInterval)
    assert one.entries == 3
    several = measure_of(
        asked(MeasureKind.QUANTILE, "a", level=Fraction(3, 4)),
        asked(MeasureKind.QUANTILE, "b", level=Fraction(1, 4)),
        asked(MeasureKind.QUANTILE, "c", level=Fraction(3, 4)),
        unit="row",
    )
    assert len(several) == 1
    assert isinstance(several[0].mechanism(Price(rho=HALF)).values, QuantileTree)
    assert several[0].levels == (Fraction(1, 4), Fraction(3, 4))
    released = [[1], [4], [0], [3], [2], [5]]  # values, lower ends, upper ends
    assert several[0].values(released) == [[4], [1], [4]]
    assert several[0].estimates(released, Price(rho=HALF), 0.95) == [[(4, 3.0, 5.0)], [(1, 0.0, 2.0)], [(4, 3.0, 5.0)]]
    assert several[0].estimates(released, Price(rho=HALF), 0.99)[0] == [(4, None, None)]


@pytest.mark.theorem("QuantilesOfGroups.accuracy")
def test_intervals_of_several_levels_contain_them(rounds):
    levels = (Fraction(1, 4), Fraction(3, 4))
    (measure,) = measure_of(*(asked(MeasureKind.QUANTILE, f"{one}", level=one, high=50) for one in levels), rows=1)
    part, places = Price(epsilon=Fraction(2)), np.arange(51)
    runs = rounds(sample=200, full=10_000)
    released = measure.release([(places, np.full(51, 4 * WEIGHT, dtype=np.int64))] * runs, part)
    for truth, rows in zip((12, 38), measure.estimates(released, part, 0.95), strict=True):
        assert sum(low <= truth <= high for _, low, high in rows) >= fewest(runs, 0.95)


@pytest.mark.theorem("QuantilesOfGroups.accuracy")
def test_the_interval_of_a_quantile_contains_it_in_all_of_many_tables(rounds):
    (measure,) = measure_of(asked(MeasureKind.QUANTILE, level=HALF, low=0, high=50), rows=1)
    part, places = Price(epsilon=Fraction(2)), np.arange(51)
    weights = np.full(51, 4 * WEIGHT, dtype=np.int64)
    runs = rounds(sample=400, full=20_000)
    released = measure.release([(places, weights)] * runs, part)
    inside = sum(low <= 25 <= high for _, low, high in measure.estimates(released, part, 0.95)[0])
    assert inside >= fewest(runs, 0.95)
    ((_, low, high),) = measure.estimates([[25], [24], [26]], part, 0.99)[0]
    assert (low, high) == (None, None)  # none was bought for so high a confidence


def test_real_values_on_a_grid_of_whole_numbers_keep_half_a_step_of_their_interval():
    wide = 2**19
    (real,) = measure_of(asked(MeasureKind.QUANTILE, level=HALF, high=wide, type=Type.REAL), unit="row")
    assert real.scale.grid == 1
    ((value, low, high),) = real.estimates([[10], [8], [12]], Price(epsilon=Fraction(1)), 0.95)[0]
    assert (value, low, high) == (10.0, 7.5, 12.5)
    (whole,) = measure_of(asked(MeasureKind.QUANTILE, level=HALF, high=wide), unit="row")
    ((value, low, high),) = whole.estimates([[10], [8], [12]], Price(epsilon=Fraction(1)), 0.95)[0]
    assert (value, low, high) == (10, 8.0, 12.0)
    assert type(value) is int


@pytest.mark.parametrize(("kind", "width"), [(MeasureKind.MEAN, 0.01), (MeasureKind.DEVIATION, 0.05)])
def test_whole_numbers_are_not_rounded_so_their_intervals_are_no_wider_than_the_noise(kind, width):
    (measure,) = measure_of(asked(kind, high=1), unit="row")
    rows = 10**6
    sums = [[rows // 2], [rows // 2], [rows]] if kind is MeasureKind.DEVIATION else [[rows // 2], [rows]]
    ((_, low, high),) = measure.estimates(measure.vectors(sums), Price(epsilon=Fraction(1)), 0.95)[0]
    assert low <= 0.5 <= high
    assert high - low < width


def test_a_group_without_rows_is_released_like_any_other():
    for aggregates in ((HALF,), (Fraction(1, 4), HALF)):
        (measure,) = measure_of(*(asked(MeasureKind.QUANTILE, str(level), level=level) for level in aggregates), rows=2)
        assert isinstance(measure, QuantilesOfGroups)
        (chosen,) = zip(*measure.release([((), ())], Price(epsilon=Fraction(1))), strict=True)
        assert len(chosen) == measure.entries
        assert all(-1 <= one <= 6 for one in chosen)
        assert measure.release([], Price(epsilon=Fraction(1))) == [[]] * measure.entries


def selection(relation=ADD_REMOVE, noise=Noise.LAPLACE, delta=Fraction(1, 100), **stated):
    query = query_for(asked(MeasureKind.COUNT_UNITS), keys=(private_key(),))
    return SelectedKeys((), choose(query.aggregation, table_policy(**stated), relation, noise), delta)


@pytest.mark.theorem("SelectedKeys.privacy")
@BOTH
@pytest.mark.parametrize("stated", [{"unit": "row"}, {"rows": 2, "groups": 1}, {"rows": 2, "groups": 2}])
def test_the_exact_law_of_selected_keys_keeps_epsilon_and_delta(stated, relation):
    measure = selection(relation, **stated)
    chosen = measure.mechanism(Price(epsilon=Fraction(1)))
    assert chosen.keys == stated.get("groups", 1)
    table = table_policy(**stated)
    keys = (private_key(),)
    policy = policy_for(table)
    from discreet.query.plan.request import SumRequest, Units

    request = SumRequest(
        query_for(asked(MeasureKind.COUNT_UNITS)).aggregation.source, keys, measure.bounding.form, (Units(),)
    )
    neighbors = []
    most = 1 if "unit" in stated else 3
    for rows in persons((0,), most=most, groups=(0, 1, 2)):
        sums = Slow(policy, {"t": stored(rows)}).run(request)
        neighbors.append({f"key {key}": count for key, count in zip(sums.keys, sums.cells[0], strict=True)})
    assert max(len(counts) for counts in neighbors) == stated.get("groups", 1)
    assert max(max(counts.values(), default=0) for counts in neighbors) == 1
    empty = [({}, counts) for counts in neighbors]
    pairs = empty if relation is ADD_REMOVE else list(itertools.product(neighbors, neighbors))
    guarantee = ApproxDP(1, Fraction(1, 100), relation=relation)
    assert audit(chosen, guarantee, neighbors=pairs, search=0).outcome is Outcome.KEPT
    if relation is ADD_REMOVE:
        assert audit(chosen, ApproxDP(1, Fraction(1, 1000), relation=relation), neighbors=pairs, search=0).refuted


@pytest.mark.theorem("SelectedKeys.accuracy")
def test_the_interval_of_a_named_key_is_the_quantile_of_its_noise():
    measure = selection(unit="row")
    part = Price(epsilon=Fraction(1))
    noise = measure.mechanism(part).noise
    width = measure.mechanism(part).error(0.95)
    assert 1 - 2 * float(noise.sf(width)) >= 0.95 > 1 - 2 * float(noise.sf(width - 1))
    one = SelectedKeys((asked(MeasureKind.COUNT_UNITS),), measure.bounding, measure.delta)
    assert one.estimates([[40]], part, 0.95) == [[(40, 40.0 - width, 40.0 + width)]]
    assert one.values([[40]]) == [[40]]
    assert one.spread(part) == [deviation(noise)]


def test_named_keys_come_in_the_order_of_their_names_whatever_their_counts():
    measure = selection(unit="row")
    named = measure.release({"b": 900, "a": 500, "c": 700}, Price(epsilon=Fraction(5)))
    assert list(named) == ["a", "b", "c"]
    assert measure.release({}, Price(epsilon=Fraction(1))) == {}


@pytest.mark.parametrize("kind", list(MeasureKind))
def test_every_measure_says_in_public_words_what_it_releases(kind):
    (measure,) = measure_of(asked(kind, level=HALF if kind is MeasureKind.QUANTILE else None), rows=2, groups=2)
    words = measure.words(Price(epsilon=Fraction(1)))
    assert len(words) > 20
    assert len(measure.spread(Price(epsilon=Fraction(1)))) == 1
    assert len(measure.width(Price(epsilon=Fraction(1)), 0.95, 1000)) == 1
    smaller, larger = (measure.width(Price(epsilon=Fraction(1)), 0.95, people)[0] for people in (100, 10**6))
    depends = (MeasureKind.QUANTILE, MeasureKind.CORRELATION, MeasureKind.SLOPE)  # on the data, not on the rows alone
    assert kind in depends or larger <= smaller


def test_the_relation_of_a_measure_is_that_of_the_policy():
    for relation in (ADD_REMOVE, CHANGE_ONE):
        (measure,) = measure_of(asked(MeasureKind.COUNT_ROWS), relation=relation, unit="row")
        guarantee = measure.noise(Price(rho=HALF)).guarantee
        assert isinstance(guarantee, ZCDP)
        assert guarantee.relation is relation
    assert math.isclose(deviation(measure.noise(Price(rho=HALF)).noise), 1.0, rel_tol=1e-9)
    assert isinstance(measure.bounding, Bounding)
    assert measure.bounding.form == EachRow()
