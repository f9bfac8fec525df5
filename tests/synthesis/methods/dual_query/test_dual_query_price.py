"""DualQuery's price: five accountings, all sound, and the draws they buy on the settings that were published."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import MissingParameter, ParameterError
from discreet.privacy import ZCDP, ApproxDP, PrivacyLoss, PureDP, Relation, compose
from discreet.privacy.pairs.bounded_range import BoundedRangePair
from discreet.synthesis import Accounting, DualQueryPrice, Neighbors, most_draws
from discreet.synthesis.methods.dual_query.drawing import Drawing

SIZE = 30162
ADULT = Neighbors(Relation.CHANGE_ONE, people=SIZE)
DELTAS = (Fraction(1, 1000), Fraction(1, 10**6), Fraction(1, SIZE**2))
BOUGHT = {
    Accounting.PURE: (24, 24, 24),
    Accounting.PAPER: (380, 202, 138),
    Accounting.REFERENCE: (1098, 584, 400),
    Accounting.ZCDP: (8220, 3371, 2083),
}
every = pytest.mark.parametrize("accounting", Accounting)
FEW = 20 if settings().max_examples <= 60 else settings().max_examples  # all of them where the search is deep
PUBLISHED = {  # eta, rounds, draws, records
    "Adult": (0.8, 40, 1000, SIZE),
    "KDD99": (1.2, 170, 1750, 494021),
    "Netflix": (0.2, 100, 278320, 480189),
}


def price(**changed):
    given_ = {"eta": Fraction(4, 5), "rounds": 40, "draws": 100, "neighbors": ADULT}
    return DualQueryPrice(**(given_ | changed))


@pytest.mark.parametrize("eta", [0.8, Fraction(4, 5)], ids=str)
@pytest.mark.parametrize("accounting", BOUGHT)
@pytest.mark.parametrize("place", range(3))
def test_the_draws_that_epsilon_one_buys_on_adult(eta, accounting, place):
    bought = most_draws(eta=eta, rounds=40, neighbors=ADULT, epsilon=1, delta=DELTAS[place], accounting=accounting)
    assert bought == BOUGHT[accounting][place]


@pytest.mark.parametrize(("place", "draws"), [(0, 7830), (1, 2908), (2, 1728)])
def test_the_draws_that_the_composed_worst_pairs_alone_would_buy(place, draws):
    def delta(count):
        pairs = [
            PrivacyLoss.from_pairs([BoundedRangePair(width)], attained=False) * each
            for width, each in price(draws=count).ranges
        ]
        return compose(pairs).delta(1)

    assert delta(draws).upper <= DELTAS[place] < delta(draws + 1).lower


def test_the_certified_accounting_buys_at_least_the_concentrated_one():
    bought = most_draws(eta=0.8, rounds=40, neighbors=ADULT, epsilon=1, delta=1e-6, accounting=Accounting.CERTIFIED)
    assert bought >= 3371


def test_the_certified_accounting_is_better_where_there_are_few_draws():
    """Of one draw the worst pair says far less than its concentration."""
    few = price(rounds=2, draws=1, neighbors=Neighbors(Relation.CHANGE_ONE, people=10))
    certified = replace(few, accounting=Accounting.CERTIFIED)
    assert certified.epsilon(1e-6) < few.epsilon(1e-6) / 2


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_settings_have_their_nominal_epsilon_by_the_reference_formula(name):
    eta, rounds, draws, records = PUBLISHED[name]
    run = price(eta=eta, rounds=rounds, draws=draws, neighbors=Neighbors(Relation.CHANGE_ONE, people=records))
    assert 0.94 < replace(run, accounting=Accounting.REFERENCE).epsilon(1e-3) < 1.04
    assert 1.6 < replace(run, accounting=Accounting.PAPER).epsilon(1e-3) < 2.0
    assert 0.28 < run.epsilon(1e-3) < 0.33


@pytest.mark.theorem("DualQueryPrice.privacy")
@given(
    st.fractions(Fraction(1, 100), 4),
    st.lists(st.integers(1, 500), min_size=2, max_size=12),
    st.integers(50, 10**6),
    st.sampled_from([1e-3, 1e-6, 1e-9]),
)
def test_the_formulas_are_those_of_the_theorem_and_in_their_order(eta, draws, size, delta):
    run = price(eta=eta, rounds=len(draws), draws=draws, neighbors=Neighbors(Relation.ADD_REMOVE, people=size))
    widths = [float(eta) * turn / size for turn in range(len(draws))]
    last, count = widths[-1], sum(draws[1:])
    pure = sum(s * e for s, e in zip(draws, widths, strict=True))
    paper = last * (math.sqrt(2 * count * math.log(1 / delta)) + count * math.expm1(last))
    squares = sum(s * e * e for s, e in zip(draws, widths, strict=True))
    drift = sum(s * e * math.expm1(e) for s, e in zip(draws, widths, strict=True))
    reference = math.sqrt(2 * math.log(1 / delta) * squares) + drift
    assert run.pure_epsilon == pytest.approx(pure, rel=1e-12)
    assert float(run.rho) == pytest.approx(squares / 8, rel=1e-12)
    found = {one: replace(run, accounting=one).epsilon(delta) for one in list(Accounting)[:4]}
    assert found[Accounting.PURE] == pytest.approx(pure, rel=1e-12)
    assert found[Accounting.PAPER] == pytest.approx(paper, rel=1e-12)
    assert found[Accounting.REFERENCE] == pytest.approx(reference, rel=1e-12)
    assert found[Accounting.REFERENCE] <= found[Accounting.PAPER] * (1 + 1e-12)
    assert found[Accounting.ZCDP] <= found[Accounting.REFERENCE]


@pytest.mark.theorem("DualQueryPrice.privacy")
@pytest.mark.parametrize("draws", [1, [3, 1, 2, 4]], ids=str)
@pytest.mark.parametrize("relation", [Relation.ADD_REMOVE, Relation.CHANGE_ONE])
@every
def test_every_accounting_covers_the_exact_laws_of_a_whole_run(accounting, relation, draws):
    neighbors = Neighbors(relation, people=4)
    run = price(eta=1, rounds=4, draws=draws, neighbors=neighbors, accounting=accounting)
    exact = exact_laws(relation, run.ranges)
    for delta in (1e-1, 1e-3, 1e-6):
        assert exact.delta(run.epsilon(delta)).lower <= delta


@cache
def exact_laws(relation, ranges):
    """Return the laws of all rounds on near-worst neighbors, with records fixed beforehand, multiplied out."""
    neighbors = Neighbors(relation, people=4)
    first, second = (
        ([0, 3], 3),
        ([1, 2 if relation is Relation.CHANGE_ONE else 3], 3 + (relation is Relation.ADD_REMOVE)),
    )
    pairs = []
    for turn, (width, count) in enumerate(ranges, start=2):
        drawing = Drawing(eta=1, turn=turn, sums=[1, 0], draws=1, neighbors=neighbors)
        assert drawing.range == width
        pairs.append(PrivacyLoss.from_pairs([drawing.law(first).pair(drawing.law(second))], relation=relation) * count)
    return compose(pairs)


@every
def test_the_guarantee_is_of_the_kind_that_the_accounting_proves(accounting):
    run = price(accounting=accounting, rounds=4)
    guarantee = run.guarantee(1e-6)
    assert guarantee.relation is Relation.CHANGE_ONE
    if accounting is Accounting.PURE:
        assert guarantee == PureDP(run.pure_epsilon, relation=Relation.CHANGE_ONE)
    else:
        assert guarantee == ApproxDP(run.epsilon(1e-6), Fraction(1, 10**6), relation=Relation.CHANGE_ONE)
    if accounting is Accounting.CERTIFIED:
        assert run.loss(1e-6).epsilon(1e-6).upper == pytest.approx(guarantee.epsilon, rel=1e-9)
    else:
        assert run.loss(1e-6).satisfies(guarantee)
    assert run.loss(1e-6).relation is Relation.CHANGE_ONE


def test_without_a_delta_the_concentrated_guarantee_is_exact():
    run = price(rounds=3, draws=[9, 5, 7])
    unit = Fraction(4, 5) * Fraction(2, SIZE)
    assert run.ranges == ((unit, 5), (2 * unit, 7))
    assert run.guarantee() == ZCDP((5 + 4 * 7) * unit**2 / 8, relation=Relation.CHANGE_ONE)


@every
def test_one_round_costs_nothing(accounting):
    run = price(rounds=1, accounting=accounting)
    assert run.epsilon(1e-6) == 0
    assert run.composed.delta(0).upper == 0
    with pytest.raises(ParameterError, match="first round"):
        most_draws(eta=1, rounds=1, neighbors=ADULT, epsilon=1, delta=1e-6, accounting=accounting)


def test_under_add_remove_four_times_as_many_draws_are_bought():
    added = Neighbors(Relation.ADD_REMOVE, people=SIZE)
    bought = most_draws(eta=Fraction(4, 5), rounds=40, neighbors=added, epsilon=1, delta=1e-6)
    assert 4 * 3371 <= bought < 4 * 3372


def test_units_with_more_records_cost_more():
    assert price(neighbors=Neighbors(Relation.CHANGE_ONE, people=SIZE, rows=3)).rho == 9 * price().rho


@pytest.mark.theorem("most_draws.privacy")
@pytest.mark.parametrize("accounting", list(Accounting)[:4])
@given(st.fractions(Fraction(1, 50), 3), st.integers(2, 30), st.integers(20, 10**5), st.floats(0.01, 8.0))
@settings(max_examples=FEW)
def test_one_draw_more_would_not_fit(accounting, eta, rounds, size, epsilon):
    neighbors = Neighbors(Relation.CHANGE_ONE, people=size)
    bought = most_draws(eta=eta, rounds=rounds, neighbors=neighbors, epsilon=epsilon, delta=1e-6, accounting=accounting)
    assert not DualQueryPrice(eta, rounds, bought + 1, neighbors, accounting).fits(epsilon, 1e-6)
    if bought:
        assert DualQueryPrice(eta, rounds, bought, neighbors, accounting).epsilon(1e-6) <= epsilon * (1 + 1e-15)


@every
def test_a_run_that_costs_far_too_much_does_not_fit_even_beyond_the_floats(accounting):
    senseless = price(eta=10**6, rounds=3, draws=5, neighbors=Neighbors(Relation.CHANGE_ONE, people=1))
    assert not replace(senseless, accounting=accounting).fits(1000, 1e-6)


def test_a_pure_price_is_spent_to_the_last_draw():
    """The comparison is of exact rationals, not of rounded floats."""
    third = Neighbors(Relation.ADD_REMOVE, people=3)
    assert most_draws(eta=1, rounds=2, neighbors=third, epsilon=Fraction(1, 3), accounting=Accounting.PURE) == 1
    assert most_draws(eta=1, rounds=2, neighbors=third, epsilon=Fraction(33, 100), accounting=Accounting.PURE) == 0


def test_a_delta_is_asked_for_and_checked():
    with pytest.raises(MissingParameter, match="delta"):
        price().epsilon()
    for wrong in (0, 1, 2, -1e-6):
        with pytest.raises(ParameterError, match="delta"):
            price().epsilon(wrong)
    assert price(accounting=Accounting.PURE).epsilon() > 0


@pytest.mark.parametrize(
    "wrong",
    [{"eta": 0}, {"rounds": 0}, {"rounds": 2.0}, {"draws": 0}, {"draws": [1, 2]}, {"draws": [0] * 40},
     {"neighbors": Relation.CHANGE_ONE}, {"accounting": "zcdp"}],
    ids=str,
)  # fmt: skip
def test_parameters_that_cannot_be_are_refused(wrong):
    with pytest.raises(ParameterError):
        price(**wrong)
