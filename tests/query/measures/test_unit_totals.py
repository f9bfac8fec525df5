"""Sums clipped for each unit: one unit moves them by no more than stated, over all small tables there are."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import pytest

from discreet.errors import UnsupportedSQL
from discreet.frames import Type
from discreet.privacy import ZCDP, PureDP, Relation
from discreet.query.measures.unit_totals import UnitTotals, total_of_units
from discreet.query.plan.bounding import Bounding
from discreet.query.plan.query_plan import MeasureKind
from discreet.query.plan.request import EachRow, Groups, NormWeights, RowWeights, UnitTotal
from discreet.query.plan.unit_limits import stated_limits, with_stated
from discreet.query.policy.declarations import UnitLimits
from discreet.query.pricing.price import read_price
from discreet.query.pricing.settling import priced
from tests.query.small_tables import (
    GROUPS,
    Slow,
    asked,
    persons,
    policy_for,
    priced_for,
    private_key,
    public_key,
    query_for,
    stored,
    table_policy,
)

COUNT, SUM = MeasureKind.COUNT_ROWS, MeasureKind.SUM


def clipped(kind, least, most, name="answer", **options):
    return replace(asked(kind, name, **options), sums=(Fraction(least), Fraction(most)))


def vectors(aggregate, rows, keys, table):
    """What is released before noise, group by group."""
    made = priced(query_for(aggregate, keys=keys), policy_for(table), read_price(epsilon=1))
    found = Slow(policy_for(table), {"t": rows}).run(made.request())
    held = dict(zip(found.keys, found.cells[0], strict=True))
    return [held.get(key, 0) for key in ([()] if not keys else [(group,) for group in GROUPS])]


@pytest.mark.theorem("UnitTotals.privacy")
@pytest.mark.parametrize("kind", [COUNT, SUM, MeasureKind.COUNT_VALUES])
@pytest.mark.parametrize("ends", [(0, 2), (1, 2), (-2, 1), (-3, -1)])
@pytest.mark.parametrize(("keyed", "groups"), [(False, 1), (True, 1), (True, 2)])
def test_no_unit_moves_clipped_sums_by_more_than_is_stated(kind, ends, keyed, groups):
    keys, table = (public_key(),) if keyed else (), table_policy(groups=groups, rows_per_group=1, low=-2, high=3)
    aggregate = clipped(kind, *ends, low=-2, high=3)
    everybody = persons((-2, 1, 3), most=2, groups=GROUPS if keyed else (0,))
    other = stored([(0, 3), (0, 3)], unit=1)
    before = [vectors(aggregate, stored(rows, unit=0) + other, keys, table) for rows in everybody]
    without = vectors(aggregate, other, keys, table)
    moved = [[a - b for a, b in zip(one, without, strict=True)] for one in before]
    pairs = [[a - b for a, b in zip(one, two, strict=True)] for one, two in itertools.product(before, repeat=2)]
    made = priced_for(table, aggregate, keys=keys, epsilon=1)
    (measure,) = made.measures
    assert isinstance(measure, UnitTotals)
    for relation, found in ((Relation.ADD_REMOVE, moved), (Relation.CHANGE_ONE, pairs)):
        stated = replace(measure.bounding, relation=relation).moved(measure.norms)
        assert max(sum(map(abs, one)) for one in found) <= stated[0]
        assert max(sum(value**2 for value in one) for one in found) <= stated[1]
    assert replace(measure.bounding, relation=Relation.ADD_REMOVE).moved(measure.norms) == (
        groups * max(map(abs, ends)),
        groups * max(map(abs, ends)) ** 2,
    )


@pytest.mark.theorem("UnitTotals.accuracy")
def test_the_interval_of_a_clipped_sum_is_the_quantile_of_its_noise():
    made = priced_for(table_policy(rows=9), clipped(SUM, 0, 20), epsilon=1)
    (measure,), (part,) = made.measures, made.parts
    noise = measure.noise(part).noise
    ((value, low, high),) = measure.estimates([[40]], part, 0.95)[0]
    width = int(high - value)
    assert (value, value - low) == (40, width)
    assert 1 - 2 * float(noise.sf(width)) >= 0.95 > 1 - 2 * float(noise.sf(width - 1))
    assert noise.scale == 20


def test_a_unit_without_a_value_adds_nothing_though_the_range_leaves_out_0():
    table = table_policy(rows=9)
    nothing = [{"u": 1, "g": 0, "w": "", "x": None}]
    for kind in (SUM, MeasureKind.COUNT_VALUES):
        assert vectors(clipped(kind, 2, 5), nothing, (), table) == [0]
    assert vectors(clipped(COUNT, 2, 5), nothing, (), table) == [2]
    assert vectors(clipped(SUM, 2, 5), stored([(0, 1)]), (), table) == [2]


def test_sums_that_are_clipped_need_no_bound_on_rows_and_all_public_groups_where_none_is_stated():
    both = clipped(SUM, 0, 20), clipped(COUNT, 0, 3, "n")
    made = priced_for(table_policy(rows=50), *both, keys=(public_key(),), epsilon=1)
    assert made.bounding.form == Groups(2, 1)
    assert [one.bounding.total for one in made.measures] == [2, 2]
    assert "clipped together" in made.bounding.reason
    alone = priced_for(table_policy(rows=50), clipped(SUM, 0, 20), epsilon=1)
    assert alone.bounding.form == Groups(1, 1)
    beside = priced_for(table_policy(rows=50), clipped(SUM, 0, 20), asked(COUNT, "n"), keys=(public_key(),), epsilon=1)
    assert beside.bounding.form == Groups(2, 50)
    one_row = priced_for(table_policy(unit="row"), clipped(SUM, 0, 2), keys=(public_key(),), epsilon=1)
    assert one_row.bounding.form == EachRow()
    assert one_row.measures[0].norms.one == 2


def test_another_range_of_sums_is_another_release():
    digests = {
        priced_for(table_policy(rows=5), one, epsilon=1).digest
        for one in (asked(SUM), clipped(SUM, 0, 20), clipped(SUM, 0, 21), clipped(SUM, -1, 20))
    }
    assert len(digests) == 4


def test_a_range_that_no_sum_can_have_is_refused_and_a_small_one_has_a_fine_grid():
    with pytest.raises(UnsupportedSQL, match="too wide"):
        priced_for(table_policy(rows=5), clipped(SUM, 0, 10**40), epsilon=1)
    with pytest.raises(UnsupportedSQL, match="subtract a public number"):
        priced_for(table_policy(rows=5), clipped(SUM, 0, 1, low=2**22, high=2**22 + 1, type=Type.REAL), epsilon=1)
    (fine,) = priced_for(table_policy(rows=5), clipped(SUM, 0, 1, high=10**6, type=Type.REAL), epsilon=1).measures
    (cell,) = fine.cells
    assert isinstance(cell, UnitTotal)
    assert cell.high >= 2**13
    assert cell.high * fine.step == 1


def test_a_count_or_sum_without_a_range_is_no_clipped_one():
    bounding = Bounding(Groups(1, 1), Relation.ADD_REMOVE, 1, 1, 1, 1, True, "")
    with pytest.raises(AssertionError):
        total_of_units(asked(SUM), bounding)


@pytest.mark.parametrize(
    ("policy", "given", "found"),
    [
        ({"rows": 20}, {}, UnitLimits(20)),
        ({"rows": 20}, {"rows": 3000}, UnitLimits(3000)),
        ({"rows": 20}, {"groups": 2}, UnitLimits(None, 2, 20)),
        ({"rows": 20}, {"groups": 2, "rows_per_group": 3}, UnitLimits(None, 2, 3)),
        ({"groups": 5, "rows_per_group": 3}, {"rows": 7}, UnitLimits(7, 5, 3)),
        ({"rows": 9, "groups": 5, "rows_per_group": 3}, {"rows_per_group": 1}, UnitLimits(None, 5, 1)),
    ],
)
def test_what_a_question_states_stands_in_place_of_the_policys(policy, given, found):
    assert with_stated(UnitLimits(**policy), UnitLimits(**given)) == found


@pytest.mark.parametrize(("budget", "weights"), [(PureDP(9), RowWeights), (ZCDP(9), NormWeights)])
def test_stated_bounds_choose_the_form(budget, weights):
    price = {"rho": 1} if isinstance(budget, ZCDP) else {"epsilon": 1}
    policy = policy_for(table_policy(rows=20), budget)

    def form(**given):
        query = query_for(asked(COUNT), keys=(public_key(),))
        return priced(query, policy, read_price(**price), limits=UnitLimits(**given)).bounding.form

    assert form() == weights(20)
    assert form(rows=300) == weights(300)
    assert form(groups=1, rows_per_group=4) == Groups(1, 4)
    assert form(groups=9) == Groups(2, 20)


def test_bounds_above_the_policys_are_allowed_and_cost_noise():
    policy = policy_for(table_policy(rows=2, groups=1, rows_per_group=2))
    query = query_for(asked(COUNT), keys=(private_key(),))
    priced_at = lambda **given: priced(  # noqa: E731
        query, policy_for(table_policy(rows=2, groups=1, rows_per_group=2), ZCDP(9, delta=1e-6)),
        read_price(rho=1, delta=1e-7), limits=UnitLimits(**given),
    )  # fmt: skip
    assert policy.tables["t"].limits.groups == 1
    small, large = priced_at(), priced_at(groups=4, rows_per_group=50)
    assert large.bounding.form == Groups(4, 50)
    spread = [one.measures[0].spread(one.parts[0])[0] for one in (small, large)]
    assert spread[1] > 20 * spread[0]


def test_limits_are_whole_numbers():
    assert stated_limits(None, None, None, most=5) == UnitLimits()
