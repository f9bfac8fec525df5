"""The road from rows to an answer: which groups are named, what is asked of them, and what is the same release."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction

import numpy as np
import pytest

from discreet.audit import Outcome, audit
from discreet.errors import DiscreetError, ParameterError, PrivateKeys, UnsupportedSQL
from discreet.frames import Type
from discreet.privacy import ZCDP, ApproxDP, PureDP, Relation
from discreet.query.expression.expression import Column
from discreet.query.plan.canonical_form import key_from_text, key_to_text
from discreet.query.plan.query_plan import Key, MeasureKind
from discreet.query.plan.request import Steps, Sums, Units, ValuesRequest
from discreet.query.policy.declarations import UnitColumn
from discreet.query.pricing.price import read_price
from discreet.query.pricing.released_table import ReleasedTable
from discreet.query.pricing.settling import priced
from tests.query.small_tables import (
    Told,
    asked,
    policy_for,
    priced_for,
    private_key,
    public_key,
    query_for,
    table_policy,
)

HALF = Fraction(1, 2)
ROW = table_policy(unit="row")
APPROX = ApproxDP(100, HALF)
COUNT = asked(MeasureKind.COUNT_ROWS, "n")
GROUPED = (public_key(),)


@pytest.mark.theorem("PricedQuery.privacy")
@pytest.mark.parametrize("budget", [PureDP(10), ZCDP(10)])
@pytest.mark.parametrize("relation", [Relation.ADD_REMOVE, Relation.CHANGE_ONE])
def test_the_exact_law_of_two_sums_over_groups_keeps_the_whole_price(budget, relation):
    table = table_policy(unit="row", people=9 if relation is Relation.CHANGE_ONE else None, high=1)
    total = asked(MeasureKind.SUM, "s", high=1)
    made = priced_for(table, COUNT, total, keys=(public_key(),), budget=budget, share=Fraction(1, 5))
    spent = []
    for measure, part in zip(made.measures, made.parts, strict=True):
        vector = measure.noise(part)
        # a row of group 0 and value 1 is added, or leaves group 0 for group 1
        after = [1, 0] if relation is Relation.ADD_REMOVE else [-1, 1]
        verdict = audit(vector, neighbors=[(np.array([0, 0]), np.array(after))], search=0)
        assert verdict.outcome is Outcome.KEPT
        spent.append(Fraction(vector.guarantee.rho if isinstance(budget, ZCDP) else vector.guarantee.epsilon))
    guarantee = made.guarantee
    assert guarantee.relation is relation
    whole = Fraction(guarantee.rho if isinstance(budget, ZCDP) else guarantee.epsilon)
    assert whole == 2
    assert sum(spent) <= whole * (1 + Fraction(1, 2**50))


def test_every_public_group_is_in_the_answer_in_the_order_of_the_domain_and_no_other():
    made = priced_for(ROW, COUNT, keys=(public_key((3, 1, 2)),), epsilon=5)
    engine = Told(([(1,), (99,)], {"One": [1000, 5000]}))
    released = made.release(engine)
    assert released.keys == ((3,), (1,), (2,))
    ((counts,),) = released.released
    assert abs(counts[1] - 1000) < 100
    assert max(abs(counts[0]), abs(counts[2])) < 100
    assert engine.reads == 1
    kept = released.to_json(made.query)
    assert ReleasedTable.from_json(kept, made.query) == released


def test_a_group_listed_twice_is_never_answered_twice():
    with pytest.raises(ParameterError, match="twice"):
        priced_for(ROW, COUNT, keys=(public_key((1, 1)),), epsilon=1)


def test_private_keys_are_selected_by_their_units_and_only_then_asked():
    # one unit alone is named with a chance of at most delta
    made = priced_for(ROW, COUNT, keys=(private_key(),), budget=APPROX, epsilon=6, delta=1e-12)
    assert made.request().cells[0] == Units()
    engine = Told(([("rare",), ("many",), ("more",)], {"Units": [1, 500, 900], "One": [10**9, 500, 900]}))
    released = made.release(engine)
    assert released.keys == (("many",), ("more",))
    counts, units = released.released
    assert [abs(one - true) < 100 for one, true in zip(counts[0], (500, 900), strict=True)] == [True, True]
    assert [abs(one - true) < 100 for one, true in zip(units[0], (500, 900), strict=True)] == [True, True]


def test_where_no_key_is_selected_the_answer_is_empty_for_every_kind():
    aggregates = [asked(kind, kind.name, level=HALF if kind is MeasureKind.QUANTILE else None) for kind in MeasureKind]
    two = [asked(MeasureKind.QUANTILE, name, level=level) for name, level in (("a", HALF), ("b", Fraction(1, 4)))]
    for chosen in (aggregates, two):
        made = priced_for(
            table_policy(rows=2, groups=2), *chosen, keys=(private_key(),), budget=APPROX, epsilon=1, delta=1e-6
        )
        cells = {type(cell).__name__: [] for cell in made.request().cells}
        released = made.release(Told(([], cells)))
        assert released.keys == ()
        assert ReleasedTable.from_json(released.to_json(made.query), made.query) == released
        for measure, part, one in zip(made.measures, made.parts, released.released, strict=True):
            assert all(values == [] for values in measure.values(one))
            assert all(rows == [] for rows in measure.estimates(one, part, 0.95))


def test_private_keys_beside_public_ones_stay_within_the_public_domain():
    keys = (private_key(), public_key())
    made = priced_for(ROW, COUNT, keys=keys, budget=APPROX, epsilon=6, delta=1e-6)
    engine = Told(([("a", 0), ("a", 7), ("b", None)], {"Units": [900, 900, 900], "One": [900, 900, 900]}))
    assert made.release(engine).keys == (("a", 0),)


@pytest.mark.parametrize(
    ("value", "type"),
    [
        (None, Type.TEXT),
        ("", Type.TEXT),
        ('ä"\\\n\x00', Type.TEXT),
        ("null", Type.TEXT),
        (-(2**63), Type.INTEGER),
        (True, Type.BOOLEAN),
        (0.1, Type.REAL),
        (2.0, Type.REAL),
        (math.inf, Type.REAL),
        (-math.inf, Type.REAL),
        (date(1, 1, 1), Type.DATE),
        (datetime(2026, 1, 1, 3, 4, 5, 6), Type.TIMESTAMP),
    ],
)
def test_keys_of_every_type_come_back_from_their_text(value, type):
    (back,) = key_from_text(key_to_text((value,)), [type])
    assert back == value
    assert (back is None) == (value is None)
    assert back is None or back.__class__ is value.__class__
    assert key_to_text((math.nan,)) == '["nan"]'


def test_private_keys_that_are_real_numbers_are_refused_before_anything_is_read():
    key = Key("x", Column(Type.REAL, None, "x"), None)
    with pytest.raises(PrivateKeys, match=r"FLOOR.*Nothing was spent\.$"):
        priced_for(ROW, COUNT, keys=(key,), budget=APPROX, epsilon=6, delta=1e-6)


def test_the_digest_is_of_the_plan_the_mechanism_the_price_the_relation_and_the_version_alone():
    def digest(*aggregates, table=ROW, version="1", keys=GROUPED, budget=None, bounded_rows=None, **price):
        policy = policy_for(table, budget or APPROX, version=version)
        query = query_for(*aggregates, keys=keys)
        bounded = None if bounded_rows is None else "bounded"
        return priced(query, policy, read_price(**price), bounded=bounded, bounded_rows=bounded_rows).digest

    base = digest(COUNT, epsilon=1)
    assert base == digest(COUNT, epsilon=1.0)
    assert base == digest(replace(COUNT, name="n"), epsilon=Fraction(1))
    people = table_policy(rows=3, groups=2)
    others = [
        digest(COUNT, epsilon=1.5),
        digest(COUNT, epsilon=1, version="2"),
        digest(COUNT, epsilon=1, table=table_policy(unit="row", people=5)),
        digest(COUNT, epsilon=1, keys=(public_key((0,)),)),
        digest(COUNT, COUNT, epsilon=1),
        digest(asked(MeasureKind.COUNT_VALUES), epsilon=1),
        digest(asked(MeasureKind.SUM), epsilon=1),
        digest(asked(MeasureKind.SUM, high=4), epsilon=1),
        digest(COUNT, epsilon=1, table=people),
        digest(COUNT, epsilon=1, table=replace(people, unit=UnitColumn("w"))),
        digest(COUNT, epsilon=1, table=table_policy(rows=4)),
        digest(COUNT, epsilon=1, table=people, bounded_rows=3),
        digest(COUNT, epsilon=1, table=people, bounded_rows=4),
        digest(COUNT, rho=1, budget=ZCDP(2)),
        digest(COUNT, epsilon=1, delta=1e-6, keys=(private_key(),)),
        digest(COUNT, epsilon=1, delta=1e-7, keys=(private_key(),)),
    ]
    assert len({base, *others}) == len(others) + 1


def test_an_answer_that_nobody_could_read_or_store_is_refused_before_it_is_paid_for():
    wide = tuple(range(2000))
    keys = tuple(Key(name, Column(Type.INTEGER, None, "g"), wide) for name in "ab")
    with pytest.raises(UnsupportedSQL, match=r"4,000,000 groups.*Nothing was spent"):
        priced_for(ROW, COUNT, keys=keys, epsilon=1)
    some = tuple(Key(name, Column(Type.INTEGER, None, "g"), wide[:700]) for name in "ab")
    spread = asked(MeasureKind.VARIANCE, "v")
    with pytest.raises(UnsupportedSQL, match=r"longer than the ledger keeps.*Nothing was spent"):
        priced_for(ROW, COUNT, spread, keys=some, epsilon=1)


def test_the_same_aggregate_twice_is_released_once_and_shown_twice():
    again = [asked(MeasureKind.SUM, "a"), asked(MeasureKind.SUM, "b"), COUNT]
    made = priced_for(ROW, *again, epsilon=1)
    assert len(made.measures) == 2
    assert made.places["a"] == made.places["b"]
    counted = [asked(MeasureKind.COUNT_UNITS, "a"), asked(MeasureKind.COUNT_UNITS, "b")]
    private = priced_for(ROW, *counted, keys=(private_key(),), budget=APPROX, epsilon=1, delta=1e-6)
    assert len(private.measures) == 1
    assert private.places == {"a": (0, 0), "b": (0, 0)}


def test_means_and_variances_share_what_is_summed_but_not_their_noise():
    made = priced_for(ROW, asked(MeasureKind.VARIANCE, "v"), asked(MeasureKind.DEVIATION, "d"), epsilon=1)
    assert len(made.measures) == 2
    assert len(made.request().cells) == 3


def test_what_is_private_shows_nothing_of_itself():
    assert repr(Sums([("secret",)], [[4711]])) == "Sums(private)"
    assert str(Sums([("secret",)], [[4711]])) == "Sums(private)"
    assert f"{Sums([('secret',)], [[4711]])}" == "Sums(private)"


def test_quantiles_alone_ask_for_no_sums():
    made = priced_for(ROW, asked(MeasureKind.QUANTILE, level=HALF), keys=(public_key(),), epsilon=1)
    assert made.request().cells == ()
    engine = Told(None, {(0,): ([1, 5], [3, 9])})
    released = made.release(engine)
    assert engine.reads == 1
    assert released.keys == ((0,), (1,))
    assert [len(entry) for entry in released.released[0]] == [2, 2, 2]


def some_release(chance):
    """A query of any kind, form, relation and price that is sold, with an engine that holds few or very many rows."""
    kind, type = chance.choice(list(MeasureKind)), chance.choice([Type.INTEGER, Type.REAL])
    low = chance.choice([0, -5, -(10**6)])
    high = low + chance.choice([1, 5, 500, 10**9])
    levels = [Fraction(one, 100) for one in chance.sample((0, 1, 50, 99, 100), chance.choice((1, 2)))]
    aggregates = [
        asked(kind, f"a{level}", low=low, high=high, type=type, level=level if kind is MeasureKind.QUANTILE else None)
        for level in levels[: 2 if kind is MeasureKind.QUANTILE else 1]
    ]
    forms = [{"unit": "row"}, {"rows": 10**6, "groups": 10**3}, {"groups": 3, "rows_per_group": 2}]
    table = table_policy(**chance.choice(forms), people=chance.choice([None, 5]))
    keys = chance.choice([(), (public_key(),), (private_key(),)])
    price = {chance.choice(["epsilon", "rho"]): Fraction(10) ** chance.randint(-25, 0)}
    if keys == (private_key(),):
        price["delta"] = Fraction(1, 10 ** chance.randint(2, 40))
    budget = ZCDP(100, HALF) if "rho" in price else APPROX
    made = priced_for(table, *aggregates, keys=keys, budget=budget, **price)
    _ = [measure.words(part) for measure, part in zip(made.measures, made.parts, strict=True)]
    names = {(): [()], (public_key(),): [(0,), (1,)], (private_key(),): [("a",), ("b",)]}[keys]
    return made, Filled(names, [chance.choice([0, 1, 10**6, 10**9]) for _ in names], made.bounding.unit)


class Filled(Told):
    """An engine whose groups hold so many rows, all at the far end of their range."""

    def __init__(self, names, rows, unit):
        super().__init__()
        self.names, self.held, self.unit = names, rows, unit

    def run(self, request):
        if isinstance(request, ValuesRequest):
            return Sums(self.names, [list(self.held)])
        return Sums(self.names, [[self.sum(cell, rows) for rows in self.held] for cell in request.cells])

    def sum(self, cell, rows):
        if isinstance(cell, Steps):
            return rows * self.unit * (cell.scale.steps + cell.offset) ** cell.power
        return rows if isinstance(cell, Units) else rows * self.unit

    def histogram(self, request):
        places = np.array([0, request.scale.steps], dtype=np.int64)
        return {
            name: (places, np.array([0, rows * self.unit], dtype=np.int64))
            for name, rows in zip(self.names, self.held, strict=True)
        }


@pytest.mark.theorem("PricedQuery.privacy")
def test_no_price_that_is_sold_makes_a_release_fail_whatever_the_table_holds(rounds):
    chance, made = random.Random(5), 0  # noqa: S311  which queries, not which noise
    for _ in range(rounds(sample=250, full=5_000)):
        try:
            query, engine = some_release(chance)
        except DiscreetError:
            continue
        made += 1
        released = query.release(engine)
        for measure, part, one in zip(query.measures, query.parts, released.released, strict=True):
            assert all(low <= high for rows in measure.estimates(one, part, 0.95) for _, low, high in rows)
    assert made > 100
