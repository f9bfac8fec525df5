"""Prices: what is refused, what a price buys under each budget, and that its parts add up to what is charged."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError, PrivateKeys
from discreet.privacy import ZCDP, ApproxDP, Price, PureDP, Relation, implies
from discreet.query.measures.quantile import QuantilesOfGroups
from discreet.query.plan.bounding import Noise
from discreet.query.plan.query_plan import MeasureKind
from discreet.query.pricing.price import cheapest, cost_under, divided, noise_of, read_price
from tests.query.small_tables import asked, priced_for, private_key, public_key, table_policy

PEOPLE = Relation.ADD_REMOVE
PURE = PureDP(4, relation=PEOPLE)
APPROX = ApproxDP(4, Fraction(1, 10**5), relation=PEOPLE)
CONCENTRATED = ZCDP(2, Fraction(1, 10**5), relation=PEOPLE)
BUDGETS = [PURE, APPROX, CONCENTRATED]
HALF = Fraction(1, 2)


@pytest.mark.parametrize(
    "given_", [{}, {"epsilon": 1, "rho": 1}, {"share": 1.5}, {"share": 0.5, "delta": 1e-6}], ids=str
)
def test_a_price_that_cannot_be_read_costs_nothing_and_the_error_says_so(given_):
    with pytest.raises(ParameterError, match=r"; got .*Nothing was spent\.$"):
        read_price(**given_)


@pytest.mark.parametrize(
    ("budget", "price", "keys", "expected"),
    [
        (PURE, {"epsilon": 1}, False, PureDP(1, relation=PEOPLE)),
        (PURE, {"share": 0.25}, False, PureDP(1, relation=PEOPLE)),
        (APPROX, {"epsilon": 1}, False, PureDP(1, relation=PEOPLE)),
        (APPROX, {"epsilon": 1, "delta": 1e-6}, False, PureDP(1, relation=PEOPLE)),
        (APPROX, {"epsilon": 1, "delta": 1e-6}, True, ApproxDP(1, Fraction(1, 10**6), relation=PEOPLE)),
        (APPROX, {"share": 0.5}, True, ApproxDP(2, Fraction(1, 2 * 10**5), relation=PEOPLE)),
        (CONCENTRATED, {"rho": 0.5}, False, ZCDP(0.5, relation=PEOPLE)),
        (CONCENTRATED, {"rho": 0.5, "delta": 1e-6}, True, ZCDP(0.5, Fraction(1, 10**6), relation=PEOPLE)),
        (CONCENTRATED, {"share": 0.5}, True, ZCDP(1, Fraction(1, 2 * 10**5), relation=PEOPLE)),
        (CONCENTRATED, {"share": 0.5}, False, ZCDP(1, relation=PEOPLE)),
        (CONCENTRATED, {"epsilon": 1}, False, PureDP(1, relation=PEOPLE)),
    ],
)
def test_what_a_price_pays_under_a_budget(budget, price, keys, expected):
    paid = cost_under(budget, read_price(**price), private_keys=keys).guarantee
    assert type(paid) is type(expected)
    assert paid.relation is PEOPLE
    for name in ("epsilon", "rho", "delta"):
        assert Fraction(getattr(paid, name, 0)) == Fraction(getattr(expected, name, 0))


@pytest.mark.parametrize("keys", [False, True])
def test_epsilon_and_delta_under_a_concentrated_budget_buy_no_more_than_they_guarantee(keys):
    price = read_price(epsilon=1, delta=1e-6)
    paid = cost_under(CONCENTRATED, price, private_keys=keys)
    assert paid.noise is Noise.GAUSSIAN
    assert paid.delta == (price.delta / 2 if keys else 0)
    assert implies(ZCDP(paid.amount, relation=PEOPLE), ApproxDP(1, price.delta - paid.delta, relation=PEOPLE))
    more = ZCDP(paid.amount * (1 + Fraction(1, 10**6)), relation=PEOPLE)
    assert not implies(more, ApproxDP(1, price.delta - paid.delta, relation=PEOPLE))


@pytest.mark.parametrize(
    ("budget", "price", "keys", "error"),
    [
        (PURE, {"epsilon": 1}, True, PrivateKeys),
        (PURE, {"epsilon": 1, "delta": 1e-6}, False, ParameterError),
        (PURE, {"rho": 1}, False, ParameterError),
        (APPROX, {"rho": 1}, False, ParameterError),
        (APPROX, {"epsilon": 1}, True, PrivateKeys),
        (CONCENTRATED, {"rho": 1}, True, PrivateKeys),
        (CONCENTRATED, {"epsilon": 1}, True, PrivateKeys),
        (ZCDP(1, relation=PEOPLE), {"rho": 0.5, "delta": 1e-6}, True, PrivateKeys),
        (ZCDP(1, relation=PEOPLE), {"epsilon": 0.5, "delta": 1e-6}, True, PrivateKeys),
    ],
)
def test_a_price_that_the_budget_does_not_know_is_refused_with_a_reason(budget, price, keys, error):
    with pytest.raises(error, match=r"Nothing was spent\.$"):
        cost_under(budget, read_price(**price), private_keys=keys)


def test_noise_is_gaussian_under_a_concentrated_budget_unless_a_pure_epsilon_is_asked():
    assert noise_of(CONCENTRATED, Price(rho=HALF)) is Noise.GAUSSIAN
    assert noise_of(CONCENTRATED, Price(error=HALF)) is Noise.GAUSSIAN
    assert noise_of(CONCENTRATED, Price(epsilon=HALF, delta=HALF)) is Noise.GAUSSIAN
    assert noise_of(CONCENTRATED, Price(epsilon=HALF)) is Noise.LAPLACE
    assert noise_of(APPROX, Price(epsilon=HALF, delta=HALF)) is Noise.LAPLACE


@given(
    st.fractions(min_value=Fraction(1, 10**9), max_value=10**3, max_denominator=10**12),
    st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=9),
    st.sampled_from(list(Noise)),
)
def test_the_parts_of_a_price_are_positive_and_add_up_to_it_exactly(amount, weights, noise):
    parts = divided(amount, weights, noise)
    assert sum(parts) == amount
    assert min(parts) > 0


@pytest.mark.parametrize("noise", list(Noise))
def test_the_division_has_the_least_sum_of_squared_widths(noise):
    weights = [1.0, 3.0, 8.0]

    def spread(parts):
        power = 2 if noise is Noise.LAPLACE else 1
        return sum(weight**2 / float(part) ** power for weight, part in zip(weights, parts, strict=True))

    best = divided(Fraction(1), weights, noise)
    for first, second in itertools.permutations(range(3), 2):
        moved = list(best)
        moved[first] += Fraction(1, 100)
        moved[second] -= Fraction(1, 100)
        assert spread(moved) > spread(best)


@pytest.mark.theorem("PricedQuery.privacy")
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("keys", [(), (public_key(),), (private_key(),)])
def test_the_parts_of_every_query_add_up_to_its_charge(budget, keys):
    if keys == (private_key(),) and budget is PURE:
        return
    price = {"share": 0.25}
    aggregates = [asked(kind, kind.name, level=HALF if kind is MeasureKind.QUANTILE else None) for kind in MeasureKind]
    made = priced_for(table_policy(rows=3, groups=2), *aggregates, keys=keys, budget=budget, **price)
    parts = [part.rho if part.rho is not None else part.epsilon for part in made.parts]
    guarantee = made.guarantee
    assert sum(parts) == Fraction(guarantee.rho if isinstance(guarantee, ZCDP) else guarantee.epsilon)
    assert sum(parts) == made.cost.amount
    assert len(parts) == len(made.measures)
    if keys == (private_key(),):
        assert made.selection.delta == Fraction(guarantee.delta) > 0
        assert made.selection_part == made.parts[-1]
    else:
        assert Fraction(getattr(guarantee, "delta", 0)) == 0
        assert made.selection is None


@pytest.mark.theorem("PricedQuery.privacy")
def test_every_measure_keeps_its_own_part_of_the_price():
    for budget in BUDGETS:
        aggregates = [asked(kind, kind.name) for kind in MeasureKind if kind is not MeasureKind.QUANTILE]
        aggregates.append(asked(MeasureKind.QUANTILE, "q", level=HALF))
        made = priced_for(table_policy(rows=3, groups=2), *aggregates, keys=(public_key(),), budget=budget, share=0.5)
        for measure, part in zip(made.measures, made.parts, strict=True):
            kept = measure.mechanism(part) if hasattr(measure, "mechanism") else measure.noise(part)
            if part.rho is not None:  # what one group keeps where all of a unit's rows are in it is more: two groups
                alone = 2 if isinstance(measure, QuantilesOfGroups) else 1
                assert Fraction(kept.guarantee.rho) <= alone * part.rho * (1 + Fraction(1, 2**50))
            else:
                assert Fraction(kept.guarantee.epsilon) <= part.epsilon * (1 + Fraction(1, 2**50))


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize(
    ("kind", "error", "keys"),
    [
        (MeasureKind.COUNT_ROWS, 25, ()),
        (MeasureKind.COUNT_ROWS, Fraction(21, 2), (public_key(),)),
        (MeasureKind.SUM, 40, ()),
        (MeasureKind.MEAN, Fraction(1, 4), ()),
        (MeasureKind.VARIANCE, Fraction(1, 2), ()),
    ],
)
def test_an_error_buys_the_cheapest_price_that_predicts_it(budget, kind, error, keys):
    table, rows_expected = table_policy(rows=2), 100_000

    def width(**price):
        made = priced_for(table, asked(kind), keys=keys, budget=budget, rows_expected=rows_expected, **price)
        return made, max(made.measures[0].width(made.parts[0], 0.95, rows_expected))

    made, found = width(error=error)
    assert found <= error
    name = "rho" if made.cost.noise is Noise.GAUSSIAN else "epsilon"
    _, wider = width(**{name: made.cost.amount * Fraction(99, 100)})
    assert wider > error


def test_an_error_of_several_aggregates_holds_for_all_of_them():
    aggregates = [asked(MeasureKind.COUNT_ROWS, "n"), asked(MeasureKind.SUM, "s")]
    made = priced_for(table_policy(rows=2), *aggregates, budget=PURE, error=50)
    widths = [one for m, s in zip(made.measures, made.parts, strict=True) for one in m.width(s, 0.95, None)]
    assert max(widths) <= 50


@pytest.mark.parametrize(
    ("kind", "price", "word"),
    [
        (MeasureKind.MEAN, {"error": 1}, "rows_expected="),
        (MeasureKind.VARIANCE, {"error": 1}, "rows_expected="),
        (MeasureKind.QUANTILE, {"error": 1, "rows_expected": 100}, "epsilon="),
        (MeasureKind.MEAN, {"error": 6, "rows_expected": 100}, "no price is needed"),
        (MeasureKind.MEAN, {"error": 1, "rows_expected": 0}, "at least 1"),
        (MeasureKind.MEAN, {"error": 1, "rows_expected": "many"}, "at least 1"),
    ],
)
def test_an_error_that_cannot_be_priced_is_refused(kind, price, word):
    with pytest.raises(ParameterError, match=word):
        priced_for(table_policy(rows=2), asked(kind, level=HALF), budget=PURE, **price)


def test_the_cheapest_price_has_six_digits_and_an_error_that_nothing_buys_costs_nothing():
    assert cheapest(lambda amount: 3.0 if amount < Fraction(7, 3) else 1.0, Fraction(2)) == Fraction("2.33334")
    with pytest.raises(ParameterError, match=r"a price can buy.*Nothing was spent\.$"):
        cheapest(lambda _: 1.0, HALF)
