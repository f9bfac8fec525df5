"""What bounding takes from counts and sums: one unit moves it by no more than is stated, and it is what is missing."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import pytest

from discreet.errors import ParameterError
from discreet.privacy import ZCDP, PureDP, Relation
from discreet.query.measures.cut import CutRows
from discreet.query.plan.query_plan import MeasureKind
from discreet.query.policy.declarations import UnitLimits
from discreet.query.pricing.price import read_price
from discreet.query.pricing.settling import priced
from tests.query.small_tables import (
    GROUPS,
    Slow,
    asked,
    persons,
    policy_for,
    public_key,
    query_for,
    stored,
    table_policy,
)

COUNT, SUM = MeasureKind.COUNT_ROWS, MeasureKind.SUM
CLIPPED = replace(asked(SUM, low=-2, high=3), sums=(Fraction(-1), Fraction(2)))


def made_for(aggregate, keys, budget=None, outer=2, **limits):
    table = table_policy(low=-2, high=3)
    table = replace(table, limits=UnitLimits(**limits, outer_rows=outer))
    price = {"rho": 1} if isinstance(budget, ZCDP) else {"epsilon": 1}
    return priced(query_for(aggregate, keys=keys), policy_for(table, budget), read_price(**price), bias=True)


def cut_of(made, rows):
    """What is cut in every group, before noise, with its measure."""
    (measure,) = [one for one in made.measures if isinstance(one, CutRows)]
    outer, own = made.requests[1], made.requests[0]
    engine = Slow(policy_for(table_policy()), {"t": rows})
    found = []
    for request, cell in ((outer, measure.cells[0]), (own, measure.own)):
        sums = engine.run(request)
        held = dict(zip(sums.keys, sums.cells[request.cells.index(cell)], strict=True))
        found.append([held.get(key, 0) for key in ([()] if not request.keys else [(group,) for group in GROUPS])])
    return measure.vectors(found)[0], measure


@pytest.mark.theorem("CutRows.privacy")
@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("aggregate", [asked(COUNT), asked(SUM, low=-2, high=3), CLIPPED])
@pytest.mark.parametrize(
    ("budget", "limits"),
    [
        (PureDP(9), {"rows": 1}),
        (ZCDP(9), {"rows": 1}),
        (PureDP(9), {"rows": 3}),
        (PureDP(9), {"groups": 1, "rows_per_group": 1}),
        (ZCDP(9), {"groups": 1, "rows_per_group": 1}),
    ],
)
def test_no_unit_moves_what_is_cut_by_more_than_is_stated(budget, limits, aggregate, keyed):
    made = made_for(aggregate, (public_key(),) if keyed else (), budget, **limits)
    everybody = persons((-2, 3), most=3, groups=GROUPS if keyed else (0,))
    other = stored([(0, 3), (0, 3), (0, 3)], unit=1)
    before = [cut_of(made, stored(rows, unit=0) + other)[0] for rows in everybody]
    without, measure = cut_of(made, other)
    moved = [[a - b for a, b in zip(one, without, strict=True)] for one in before]
    pairs = [[a - b for a, b in zip(one, two, strict=True)] for one, two in itertools.product(before, repeat=2)]
    for relation, found in ((Relation.ADD_REMOVE, moved), (Relation.CHANGE_ONE, pairs)):
        total, squared = replace(measure.bounding, relation=relation).moved(measure.norms)
        if isinstance(budget, PureDP):
            assert max(sum(map(abs, one)) for one in found) <= total
        assert max(sum(value**2 for value in one) for one in found) <= squared


@pytest.mark.theorem("CutRows.accuracy")
@pytest.mark.parametrize("aggregate", [asked(COUNT), asked(SUM, low=-2, high=3), CLIPPED])
@pytest.mark.parametrize("limits", [{"rows": 1}, {"groups": 1, "rows_per_group": 2}])
def test_without_noise_what_is_cut_is_what_is_missing(aggregate, limits):
    made = made_for(aggregate, (public_key(),), outer=4, **limits)
    people = [[(0, 3)] * 4, [(0, 3), (1, -2)], [(1, 3), (1, 3), (1, 1)], [(0, -2)]]
    rows = [row for unit, one in enumerate(people) for row in stored(one, unit=unit)]
    cut, measure = cut_of(made, rows)
    listed = [row for one in people for row in one]
    whole = [sum(1 if aggregate.kind is COUNT else x for g, x in listed if g == group) for group in GROUPS]
    sums = Slow(policy_for(table_policy()), {"t": rows}).run(made.requests[0])
    bounded = dict(zip(sums.keys, sums.cells[0], strict=True))
    step = made.measures[0].step
    assert [bounded[(group,)] * step + one * measure.step for group, one in zip(GROUPS, cut, strict=True)] == whole


def between(low, high):
    return replace(asked(SUM, low=0, high=3), sums=(Fraction(low), Fraction(high)))


@pytest.mark.theorem("CutRows.accuracy")
@pytest.mark.parametrize("aggregate", [asked(COUNT), asked(SUM, low=0, high=3), between(0, 2), between(-1, 4)])
@pytest.mark.parametrize("budget", [PureDP(9), ZCDP(9)])
@pytest.mark.parametrize("limits", [{"rows": 1}, {"rows": 2}, {"rows": 7}, {"groups": 1, "rows_per_group": 1}])
def test_bounding_takes_nothing_below_0_from_what_is_not_negative(limits, budget, aggregate):
    made = made_for(aggregate, (public_key(),), budget, outer=3, **limits)
    for rows in persons((0, 3), most=3, groups=GROUPS):
        cut, measure = cut_of(made, stored(rows, unit=0))
        assert measure.only_less
        assert min(cut) >= 0


@pytest.mark.parametrize("aggregate", [asked(SUM, low=-2, high=3), CLIPPED, between(1, 2)])
def test_what_bounding_takes_may_be_below_0_where_rows_or_ends_are_not(aggregate):
    made = made_for(aggregate, (public_key(),), outer=3, groups=2, rows_per_group=1)
    found = [cut_of(made, stored(rows, unit=0)) for rows in persons((-2, 0, 3), most=3, groups=GROUPS)]
    assert not any(measure.only_less for _, measure in found)
    assert min(min(cut) for cut, _ in found) < 0


def test_weights_cut_one_unit_by_its_outer_rows_at_most():
    (_, measure) = made_for(asked(COUNT), (), outer=3000, rows=10).measures
    assert measure.norms.one == 3000 << 20
    assert measure.norms.nonnegative
    assert "3,000" in measure.bounding.reason


def test_what_cannot_be_bought_is_refused_with_what_to_do():
    with pytest.raises(ParameterError, match="add outer_rows = "):
        made_for(asked(COUNT), (), outer=None, rows=1)
    with pytest.raises(ParameterError, match="leave it out"):
        made_for(asked(MeasureKind.MEAN), (), rows=1)
    table = table_policy(unit="row")
    with pytest.raises(ParameterError, match="counts in full"):
        priced(query_for(asked(COUNT)), policy_for(table), read_price(epsilon=1), bias=True)
    table = replace(table_policy(), limits=UnitLimits(1, outer_rows=4))
    with pytest.raises(ParameterError, match="price of its own"):
        priced(query_for(asked(COUNT)), policy_for(table), read_price(error=5), bias=True)


def test_a_question_with_its_bias_is_another_release():
    table = replace(table_policy(), limits=UnitLimits(1, outer_rows=4))
    digests = {
        priced(query_for(asked(COUNT)), policy_for(one), read_price(epsilon=1), bias=bias).digest
        for one, bias in ((table, False), (table, True), (replace(table, limits=UnitLimits(1, outer_rows=5)), True))
    }
    assert len(digests) == 3
