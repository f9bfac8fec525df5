"""Squares of mu are counted exactly: decimals as they are written, in any order, by whoever chooses."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import BudgetExceeded, NoSoundConversion
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, PureDP, gaussian_loss, subsample
from discreet.privacy.adaptive import GaussianFilter, Partition, PureFilter, RenyiFilter, ZCDPFilter
from discreet.privacy.adaptive.notions import root_down
from discreet.privacy.guarantees import pure_to_gaussian
from discreet.privacy.numbers import written
from discreet.privacy.relation import Relation

decimals = st.integers(1, 10**6).map(lambda whole: whole / 10**6)
prices = st.tuples(decimals, st.sampled_from([0, 1e-9, 1e-8, 3e-8]))


def spent_squares(prices):
    return sum((written(mu) ** 2 for mu, _ in prices), Fraction(0)), sum((written(d) for _, d in prices), Fraction(0))


@pytest.mark.theorem("GaussianFilter.privacy")
@given(decimals.map(lambda mu: 3 * mu), st.lists(prices, max_size=30), st.randoms(use_true_random=False))
def test_no_order_of_prices_passes_the_budget_and_none_is_refused_that_fits(mu, listed, order):
    session, admitted = GaussianFilter(mu, 1e-7), []
    order.shuffle(listed)
    for price in listed:
        squares, lost = spent_squares([*admitted, price])
        fits = squares <= written(mu) ** 2 and lost <= Fraction(1, 10**7)
        assert session.admits(GaussianDP(*price)) is fits
        if fits:
            session.spend(GaussianDP(*price))
            admitted.append(price)
        else:
            with pytest.raises(BudgetExceeded, match="Nothing was spent"):
                session.spend(GaussianDP(*price))
    squares, lost = spent_squares(admitted)
    assert written(session.spent.mu) ** 2 >= squares
    assert written(session.remaining.mu) ** 2 <= written(mu) ** 2 - squares
    assert written(session.remaining.delta) == Fraction(1, 10**7) - lost


@pytest.mark.theorem("GaussianFilter.privacy")
@given(st.lists(st.booleans(), min_size=20, max_size=20))
def test_an_analyst_who_chooses_by_the_answers_never_passes_the_budget(answers):
    session, total = GaussianFilter(1), Fraction(0)
    for answer in answers:  # ask for all that is left after one answer, for a little after another
        wanted = session.remaining.mu if answer else root_down(written(session.remaining.mu) ** 2 / 3)
        if not wanted:
            break
        session.spend(GaussianDP(wanted))
        total += written(wanted) ** 2
    assert total <= 1


def test_a_hundred_tenths_fill_a_budget_of_one_and_nothing_more_fits():
    session = GaussianFilter(1)
    for _ in range(100):
        session.spend(GaussianDP(0.1))
    assert session.remaining == GaussianDP(0)
    assert session.spent == GaussianDP(1)
    assert not session.admits(GaussianDP(5e-324))


def test_a_million_tiny_charges_are_counted_one_by_one():
    session = GaussianFilter(1)
    assert session.fits(GaussianDP(1e-3)) == 10**6
    assert session.fits(GaussianDP(1e-60)) == 10**120
    assert session.fits(GaussianDP(Fraction(1, 3))) == 9
    session.spend(GaussianDP(Fraction(999_999, 10**6)))
    assert session.fits(GaussianDP(1e-6)) == 10**12 - 999_999**2


@pytest.mark.theorem("pure_to_gaussian.privacy", "approx_to_gaussian.privacy")
def test_pure_and_approximate_prices_are_read_as_their_mu():
    session = GaussianFilter(2, 1e-6)
    session.spend(PureDP(0.5))
    assert written(session.spent.mu) >= Fraction(pure_to_gaussian(PureDP(0.5)).mu)
    session.spend(ApproxDP(0.5, 1e-7))
    assert written(session.spent.delta) == Fraction(1, 10**7)
    with pytest.raises(BudgetExceeded, match="delta"):
        session.spend(ApproxDP(0.1, 1e-6))


def test_a_loss_is_charged_the_mu_that_its_curve_certifies_or_a_point_of_it():
    session = GaussianFilter(2, 1e-6)
    session.spend(GaussianDP(1).loss)
    assert session.spent == GaussianDP(1)
    session.spend(gaussian_loss(4), at_delta=1e-7)
    assert written(session.spent.delta) == Fraction(1, 10**7)
    assert session.spent.mu > 1


def test_parts_of_a_table_reserve_mu_and_delta():
    session = GaussianFilter(1, 1e-6, relation=Relation.ADD_REMOVE)
    parts = Partition(session, {"north": GaussianDP(0.6, 1e-7), "south": GaussianDP(0.3, 2e-7)})
    assert session.remaining == GaussianDP(0.8, Fraction(8, 10**7), relation=Relation.ADD_REMOVE)
    parts["south"].spend(GaussianDP(0.3, 2e-7))
    assert parts["south"].remaining.mu == 0


def test_the_delta_of_a_gaussian_guarantee_is_lost_in_no_other_account():
    """Every account and every loss that reads mu reads the delta beside it, or refuses."""
    leaky = GaussianDP(0.1, 1e-3)
    assert ZCDPFilter(1, 0.5).fits(leaky) == 200
    with pytest.raises(BudgetExceeded, match="delta"):
        ZCDPFilter(1).spend(leaky)
    with pytest.raises(NoSoundConversion):
        RenyiFilter(8, 1).spend(leaky)
    with pytest.raises(NoSoundConversion):
        PureFilter(1).spend(leaky)
    loss = leaky.loss
    assert loss.delta(50.0).upper >= 1e-3
    assert math.isinf(loss.mean.upper)  # a disclosure has an infinite loss
    assert not loss.satisfies(GaussianDP(5))
    assert not (ApproxDP(0.1, 1e-3).loss * 2).satisfies(GaussianDP(5))
    assert loss.satisfies(GaussianDP(0.1, 1e-3))
    assert loss.satisfies(ZCDP(0.0051, 1e-3))
    assert (loss * 10).delta(50.0).upper >= 1e-3 * 9.9
    with pytest.raises(NoSoundConversion):
        subsample(leaky.under(Relation.ADD_REMOVE).loss, rate=0.1)
    with pytest.raises(BudgetExceeded, match="delta"):
        GaussianFilter(5).spend(ApproxDP(0.1, 1e-3))
    with pytest.raises(NoSoundConversion):
        GaussianFilter(5).spend(loss)
