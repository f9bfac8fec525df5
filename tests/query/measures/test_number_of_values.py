"""COUNT(DISTINCT x): one unit moves the numbers of values by no more than its pairs, over all tables there are."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

from discreet.privacy import ZCDP, ApproxDP, PureDP, Relation
from discreet.query.plan.bounding import of_values
from discreet.query.plan.query_plan import MeasureKind
from discreet.query.plan.request import EachRow, Groups
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

VALUES = asked(MeasureKind.COUNT_DISTINCT)


def counts(table, rows, keys, most):
    """The numbers of values in every group, before noise."""
    query = query_for(VALUES, keys=keys)
    made = priced(query, policy_for(table), read_price(epsilon=1))
    (request,) = made.requests
    assert request.form in (Groups(most, 1), EachRow())
    found = Slow(policy_for(table), {"t": rows}).run(request)
    held = dict(zip(found.keys, found.cells[0], strict=True))
    return [held.get(key, 0) for key in ([()] if not keys else [(group,) for group in GROUPS])]


@pytest.mark.theorem("of_values.privacy", "NumberOfValues.privacy")
@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("most", [1, 2])
def test_no_unit_moves_the_numbers_of_values_by_more_than_its_pairs(keyed, most):
    table, keys = table_policy(groups=most, rows_per_group=1), (public_key(),) if keyed else ()
    everybody = persons((0, 1), most=2, groups=GROUPS if keyed else (0,))
    farthest = farthest_changed = squared = 0
    for other in everybody:
        before = [counts(table, stored(rows, unit=0) + stored(other, unit=1), keys, most) for rows in everybody]
        without = counts(table, stored(other, unit=1), keys, most)
        for one in before:
            moved = [a - b for a, b in zip(one, without, strict=True)]
            assert min(moved) >= 0
            farthest = max(farthest, sum(moved))
            squared = max(squared, sum(value**2 for value in moved))
        for one, two in itertools.product(before, repeat=2):
            farthest_changed = max(farthest_changed, sum(abs(a - b) for a, b in zip(one, two, strict=True)))
    aggregation = query_for(VALUES, keys=keys).aggregation
    stated = of_values(aggregation, table, Relation.ADD_REMOVE)
    assert (stated.total, stated.squared) == (most, most**2)
    assert farthest == most
    assert squared == most**2
    changed = of_values(aggregation, table, Relation.CHANGE_ONE)
    norms = priced_for(table, VALUES, keys=keys, epsilon=1).measures[0].norms
    assert stated.moved(norms) == (most, most**2)
    assert changed.moved(norms) == ((2 * most, 2 * most**2) if keyed else (most, most**2))
    assert farthest_changed <= changed.moved(norms)[0]


@pytest.mark.theorem("NumberOfValues.accuracy")
def test_the_interval_of_a_number_of_values_is_the_quantile_of_its_noise():
    made = priced_for(table_policy(groups=3, rows_per_group=1), VALUES, epsilon=1)
    (measure,), (part,) = made.measures, made.parts
    noise = measure.noise(part).noise
    ((value, low, high),) = measure.estimates([[40]], part, 0.95)[0]
    width = int(high - value)
    assert (value, value - low) == (40, width)
    assert 1 - 2 * float(noise.sf(width)) >= 0.95 > 1 - 2 * float(noise.sf(width - 1))


def test_rows_that_are_units_bring_one_value_each():
    assert counts(table_policy(unit="row"), stored([(0, 1), (0, 1), (0, 3)]), (), 1) == [2]


def test_the_bound_is_groups_where_it_is_stated_and_else_rows():
    for limits, most in (({"groups": 3, "rows_per_group": 9}, 3), ({"rows": 5}, 5), ({"rows": 5, "groups": 2}, 2)):
        bounding = priced_for(table_policy(**limits), VALUES, epsilon=1).bounding
        assert (bounding.form, bounding.total, bounding.squared) == (Groups(most, 1), most, most**2)


def test_another_bound_of_values_is_another_release():
    both = (VALUES, asked(MeasureKind.COUNT_ROWS, "n"))
    digests = [priced_for(table_policy(rows=5, groups=k), *both, epsilon=1).digest for k in (2, 3, None)]
    assert len(set(digests)) == 3


@pytest.mark.parametrize("budget", [PureDP(10), ZCDP(10), ApproxDP(10, Fraction(1, 1000))])
def test_numbers_of_values_are_asked_beside_others_and_of_private_keys(budget):
    keys = (private_key(),) if isinstance(budget, ApproxDP) else (public_key(),)
    price = {"rho": 1} if isinstance(budget, ZCDP) else {"epsilon": 1}
    price |= {"delta": Fraction(1, 10**6)} if isinstance(budget, ApproxDP) else {}
    table = table_policy(rows=2, groups=2)
    made = priced_for(table, VALUES, asked(MeasureKind.SUM, "s"), keys=keys, budget=budget, **price)
    rows = [one for unit in range(300) for one in stored([(0, 1), (1, unit % 4)], unit=unit)]
    released = made.release(Slow(policy_for(table), {"t": rows}))
    assert len(released.keys) == 2
