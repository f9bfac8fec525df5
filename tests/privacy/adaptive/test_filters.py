"""What a filter admits, counts and refuses, to the last unit of its budget."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import BudgetExceeded, MissingParameter, NoSoundConversion, ParameterError, RelationMismatch
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, Relation, RenyiDP, basic_composition
from discreet.privacy.adaptive import (
    ApproxFilter,
    GaussianFilter,
    PureFilter,
    RenyiFilter,
    ZCDPFilter,
    privacy_filter,
)
from discreet.privacy.guarantees.moments import zcdp_epsilon
from discreet.privacy.numbers import as_written, written

BUDGETS = [PureDP(1), ApproxDP(1, 0.25), ZCDP(1), ZCDP(1, 0.25), RenyiDP(4, 1), GaussianDP(1)]
sizes = st.one_of(st.floats(0.0, 0.5), st.fractions(0, Fraction(1, 2), max_denominator=50))


def like(budget: Guarantee, size, delta=0) -> Guarantee:
    """Return a guarantee of the same notion and of another size."""
    match budget:
        case PureDP():
            return PureDP(size)
        case ApproxDP():
            return ApproxDP(size, delta)
        case ZCDP():
            return ZCDP(size, delta)
        case RenyiDP(alpha=alpha):
            return RenyiDP(alpha, size)
    return GaussianDP(size)


def size_of(guarantee: Guarantee) -> Fraction:
    name = {PureDP: "epsilon", ApproxDP: "epsilon", ZCDP: "rho", RenyiDP: "epsilon", GaussianDP: "mu"}[type(guarantee)]
    return written(getattr(guarantee, name)) ** (2 if isinstance(guarantee, GaussianDP) else 1)


@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
@given(data=st.data())
def test_a_filter_admits_exactly_what_fits_the_exact_sum(budget, data):
    session, spent = privacy_filter(budget), []
    for _ in range(8):
        guarantee = like(budget, data.draw(sizes), data.draw(st.sampled_from([0, 0.05, Fraction(1, 7)])))
        fits = size_of(guarantee) + sum(map(size_of, spent)) <= size_of(budget)
        deltas = sum(written(getattr(one, "delta", 0)) for one in (*spent, guarantee))
        fits = fits and deltas <= written(getattr(budget, "delta", 0))
        assert session.admits(guarantee) == fits
        if fits:
            session.spend(guarantee)
            spent.append(guarantee)
        else:
            before = repr(session)
            with pytest.raises(BudgetExceeded, match="Nothing was spent"):
                session.spend(guarantee)
            assert repr(session) == before
    assert session.spent.implies(session.budget) or size_of(session.spent) <= size_of(budget)
    if spent and not isinstance(budget, ZCDP):
        total = size_of(basic_composition([as_written(one) for one in spent]))
        # the sum is shown by the least float that is read as at least as much, at most one above the rounded sum
        assert size_of(session.spent) <= total * (1 + Fraction(1, 2**50)) + Fraction(5e-324)


@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
@given(data=st.data())
def test_what_remains_can_be_spent_and_nothing_after_it(budget, data):
    session = privacy_filter(budget)
    for size in data.draw(st.lists(sizes, max_size=4)):
        if session.admits(like(budget, size)):
            session.spend(like(budget, size))
    session.spend(session.remaining)
    least = like(budget, 5e-324)
    if isinstance(budget, GaussianDP):  # an irrational rest is rounded down to a float
        assert session.remaining.mu < 1e-7
    else:
        assert size_of(session.remaining) == 0
        assert not session.admits(least)


@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
@given(spent=sizes, size=st.one_of(st.floats(0.01, 0.5), st.fractions(Fraction(1, 50), 1, max_denominator=50)))
def test_fits_is_the_number_that_can_be_spent(budget, spent, size):
    session = privacy_filter(budget)
    session.spend(like(budget, spent))
    one = like(budget, size)
    count = session.fits(one)
    for _ in range(min(count, 60)):
        session.spend(one)
    if count <= 60:
        assert session.fits(one) == 0
        assert not session.admits(one)


def test_thirds_and_subnormal_numbers_end_exactly_at_the_budget():
    session = PureFilter(1)
    for _ in range(3):
        session.spend(PureDP(Fraction(1, 3)))
    assert session.spent == PureDP(1)
    for guarantee in (PureDP(5e-324), PureDP(Fraction(1, 10**1000))):
        assert not session.admits(guarantee)
        assert session.fits(guarantee) == 0
    session.spend(PureDP(0))
    tiny = PureFilter(5e-324 * 3)
    for _ in range(3):
        tiny.spend(PureDP(5e-324))
    with pytest.raises(BudgetExceeded):
        tiny.spend(PureDP(5e-324))


def test_three_times_the_float_one_tenth_is_three_tenths():
    session = PureFilter(Fraction(3, 10))
    session.spend(PureDP(0.1))
    session.spend(PureDP(0.1))
    assert session.spent == PureDP(0.2)
    assert session.fits(PureDP(0.1)) == 1  # as it is written, though the binary fraction is a little more
    session.spend(PureDP(0.1))
    assert session.remaining == PureDP(0)


@pytest.mark.parametrize(
    ("session", "guarantee", "equal"),
    [
        (PureFilter(2), ApproxDP(1, 0), PureDP(1)),
        (ApproxFilter(2, 0.1), PureDP(1), ApproxDP(1, 0)),
        (ZCDPFilter(2), GaussianDP(Fraction(1, 3)), ZCDP(Fraction(1, 18))),
        (ZCDPFilter(2, 0.1), ZCDP(0, 0.05), ZCDP(0, 0.05)),
        (RenyiFilter(4, 2), PureDP(1), PureDP(1).to_renyi(4)),
        (RenyiFilter(4, 2), ZCDP(Fraction(1, 9)), RenyiDP(4, Fraction(4, 9))),
        (RenyiFilter(4, 2), GaussianDP(Fraction(1, 3)), RenyiDP(4, Fraction(2, 9))),
        (RenyiFilter(4, 2), RenyiDP(6, 1), RenyiDP(4, 1)),
        (GaussianFilter(2), PureDP(1), PureDP(1).to_gaussian()),
        (GaussianFilter(5), ZCDP(1), ZCDP(1).to_gaussian()),
    ],
)
def test_a_guarantee_of_another_notion_is_charged_as_what_follows_from_it(session, guarantee, equal):
    session.spend(guarantee)
    assert session.spent == equal


@pytest.mark.parametrize("guarantee", [PureDP(1), ApproxDP(1, 0.05), ApproxDP(Fraction(1, 3), 0), PureDP(7), PureDP(0)])
def test_an_epsilon_is_charged_as_its_rho_and_hardly_more(guarantee):
    session, equal = ZCDPFilter(9, 0.1), guarantee.to_zcdp()
    session.spend(guarantee)
    assert equal.rho <= session.spent.rho <= equal.rho * (1 + 1e-14)
    assert session.spent.delta == written(equal.delta)


@pytest.mark.parametrize(
    ("session", "guarantee", "error", "words"),
    [
        (PureFilter(2), ZCDP(0.1), NoSoundConversion, "unbounded loss"),
        (ApproxFilter(2, 0.1), ZCDP(0.1), MissingParameter, "at_delta"),
        (ZCDPFilter(2, 0.1), RenyiDP(4, 0.1), MissingParameter, "at_delta"),
        (RenyiFilter(4, 2), RenyiDP(3, 0.1), NoSoundConversion, "higher order"),
        (RenyiFilter(4, 2), ApproxDP(0.1, 0.01), NoSoundConversion, "disclosure"),
        (GaussianFilter(2), RenyiDP(4, 0.1), NoSoundConversion, "tail"),
    ],
)
def test_a_guarantee_that_says_too_little_is_refused_with_what_to_write(session, guarantee, error, words):
    for ask in (session.admits, session.spend, session.fits):
        with pytest.raises(error, match=words):
            ask(guarantee)
    assert size_of(session.spent) == 0


def test_a_named_delta_buys_what_follows_at_it():
    session = ApproxFilter(5, 1e-5)
    session.spend(GaussianDP(0.5), at_delta=1e-6)
    assert session.spent == GaussianDP(0.5).to_approx(delta=1e-6)
    concentrated = ZCDPFilter(5, 1e-5)
    concentrated.spend(RenyiDP(8, 0.5), at_delta=1e-6)
    assert concentrated.spent == RenyiDP(8, 0.5).to_zcdp(delta=1e-6)
    with pytest.raises(ParameterError, match="leave it out"):
        PureFilter(1).spend(PureDP(0.1), at_delta=0)


def test_a_delta_needs_a_budget_with_a_delta():
    with pytest.raises(BudgetExceeded, match=r"delta 1e-06, and 0 is left"):
        ZCDPFilter(1).spend(ApproxDP(0.1, 1e-6))


@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
def test_relations_are_kept_apart_and_a_mismatch_spends_nothing(budget):
    session = privacy_filter(budget.under(Relation.ADD_REMOVE))
    session.spend(like(budget, 0.1))  # unstated takes on the session's
    for ask in (session.admits, session.spend, session.fits):
        with pytest.raises(RelationMismatch):
            ask(like(budget, 0.1).under(Relation.CHANGE_ONE))
    assert size_of(session.spent) == size_of(like(budget, 0.1))
    assert session.spent.relation is session.remaining.relation is session.budget.relation is Relation.ADD_REMOVE


def test_an_unstated_session_takes_on_the_relation_of_its_first_guarantee_only():
    session = PureFilter(1)
    session.spend(PureDP(0.1, relation=Relation.CHANGE_ONE))
    assert session.relation is Relation.CHANGE_ONE
    with pytest.raises(RelationMismatch):
        session.spend(PureDP(0.1, relation=Relation.ADD_REMOVE))
    late = PureFilter(1)
    late.spend(PureDP(0.1))
    with pytest.raises(RelationMismatch, match="depend on the answers"):
        late.spend(PureDP(0.1, relation=Relation.ADD_REMOVE))
    assert late.spent == PureDP(0.1)


def test_the_advanced_rate_caps_rho_where_the_budget_ends():
    session = ApproxFilter(1, 2e-6, slack=1e-6)
    cap = session.remaining
    assert written(cap.delta) == Fraction(1, 10**6)
    assert zcdp_epsilon(Fraction(cap.rho), Fraction(1, 10**6)) <= 1
    assert zcdp_epsilon(Fraction(math.nextafter(float(cap.rho), 1)), Fraction(1, 10**6)) > 1
    assert session.budget == ApproxDP(1, 2e-6)
    assert session.slack == 1e-6
    assert ApproxFilter(1, 0).slack is None


def test_the_advanced_rate_has_the_constants_of_the_theorem():
    each, count = Fraction(1, 100), 1000
    total = math.sqrt(2 * count * math.log(1e6)) * 0.01 + count * 0.01**2 / 2
    assert ApproxFilter(total, 1e-6, slack=1e-6).fits(PureDP(each)) >= count


@pytest.mark.parametrize("slack", [0, 2e-6, 1, True, "1e-6", math.nan])
def test_a_slack_is_a_part_of_delta(slack):
    with pytest.raises(ParameterError):
        ApproxFilter(1, 1e-6, slack=slack)


def test_a_free_release_always_fits_and_has_no_number():
    session = PureFilter(0)
    session.spend(PureDP(0))
    assert not session.admits(PureDP(5e-324))
    with pytest.raises(ParameterError, match="always fits"):
        session.fits(PureDP(0))


def test_the_state_is_shown_in_words():
    session = GaussianFilter(1)
    session.spend(GaussianDP(Fraction(3, 5)))
    assert repr(session) == (
        "GaussianFilter(budget=GaussianDP(mu=1), spent=GaussianDP(mu=0.6), remaining=GaussianDP(mu=0.8))"
    )
    assert "remaining" in session._repr_html_()
