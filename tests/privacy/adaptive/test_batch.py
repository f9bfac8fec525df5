"""A batch is priced tightly, once, and enters a session only by what its whole curve certifies."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import BudgetExceeded, MissingParameter, NoSoundConversion, ParameterError, RelationMismatch
from discreet.laws import DiscreteGaussian, DiscreteLaplace
from discreet.laws.number import round_down
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, PrivacyLoss, PureDP, Relation, RenyiDP
from discreet.privacy.adaptive import ApproxFilter, Batch, GaussianFilter, PureFilter, RenyiFilter, ZCDPFilter
from discreet.privacy.adaptive.notions import ApproxBooks, ConcentratedBooks, GaussianBooks, PureBooks, RenyiBooks
from discreet.privacy.adaptive.pricing import certified
from tests.privacy.adaptive.game import response
from tests.privacy.examples import few
from tests.privacy.reference import ORDERS, at_most, ball, randomized_response, renyi


def laplace(scale, relation=Relation.UNSTATED):
    """The loss of one integer Laplace answer, from its laws alone."""
    return PrivacyLoss.from_pairs([DiscreteLaplace(scale).at(1).pair(DiscreteLaplace(scale))], relation=relation)


def gaussian(sigma):
    """The loss of one integer Gaussian answer, from its laws alone: it is unbounded."""
    return PrivacyLoss.from_pairs([DiscreteGaussian(sigma).at(1).pair(DiscreteGaussian(sigma))])


@pytest.mark.theorem("certified.privacy")
def test_the_curve_of_a_release_enters_each_session_by_what_it_certifies():
    loss = laplace(2)
    pure = PureFilter(1)
    pure.spend(loss)
    assert pure.spent == PureDP(loss.max_loss().upper)
    approx = ApproxFilter(1, 1e-3)
    approx.spend(Batch(loss), at_delta=1e-3)
    assert approx.spent == ApproxDP(loss.epsilon(1e-3).upper, 1e-3)
    assert approx.spent.epsilon < 0.5
    for session in (ZCDPFilter(1), GaussianFilter(2), RenyiFilter(4, 1)):
        session.spend(loss)
        assert loss.satisfies(session.spent)


@pytest.mark.theorem("certified.privacy")
@few(20)
@given(st.integers(50, 3000).map(lambda part: part / 1024))  # a loss is of the binary number: here also the decimals
def test_randomized_response_is_priced_at_what_it_is(epsilon):
    p, q = randomized_response(epsilon)
    loss = PureDP(epsilon).loss
    rho = certified(loss, ConcentratedBooks(), None).rho
    divergence = certified(loss, RenyiBooks(4), None).epsilon
    assert at_most(renyi(p, q, 4), divergence)
    assert all(at_most(renyi(p, q, alpha), ball(rho) * ball(alpha)) for alpha in ORDERS[::10])
    mu = certified(loss, GaussianBooks(), None).mu
    assert mu <= PureDP(epsilon).to_gaussian().mu
    assert loss.satisfies(GaussianDP(mu))


@pytest.mark.theorem("certified.privacy")
def test_a_delta_buys_what_one_point_or_the_rest_of_the_curve_certifies():
    loss, leaky = gaussian(10), ApproxDP(1, 1e-4).loss
    epsilon = loss.epsilon(round_down(Fraction(1, 10**4))).upper  # the curve takes floats
    concentrated, normal = ZCDPFilter(1, 1e-3), GaussianFilter(1, 1e-3)
    for session in (concentrated, normal):
        session.spend(loss, at_delta=1e-4)
    assert concentrated.spent.rho <= 1 / 200  # that of the continuous noise: the curve but for the delta says more
    assert concentrated.spent.rho < ApproxDP(epsilon, 1e-4).to_zcdp().rho / 7
    assert normal.spent.mu <= 0.1
    point = GaussianFilter(9, 1e-3)
    point.spend(leaky, at_delta=2e-4)
    assert point.spent.mu <= PureDP(1).to_gaussian().mu


@pytest.mark.theorem("certified.privacy")
def test_a_claim_is_charged_exactly_where_the_curve_rounds_up():
    third = Fraction(1, 3)
    session = PureFilter(1)
    for _ in range(3):
        session.spend(PureDP(third).loss)
    assert session.remaining == PureDP(0)
    assert certified(GaussianDP(third).loss, ConcentratedBooks(), None) == ZCDP(third**2 / 2)
    assert certified(ZCDP(third).loss, ConcentratedBooks(), None) == ZCDP(third)
    assert certified(ApproxDP(third, 0.01).loss, ApproxBooks(), 0.01) == ApproxDP(third, 0.01)
    assert certified(GaussianDP(third).loss, GaussianBooks(), None).mu <= third


def test_without_a_delta_of_its_own_nothing_is_defaulted():
    unbounded = PrivacyLoss.from_pairs(ApproxDP(1, 1e-4).loss.pairs)
    with pytest.raises(MissingParameter, match="at_delta"):
        ApproxFilter(9, 0.1).spend(laplace(2))
    with pytest.raises(MissingParameter, match="at_delta"):
        ZCDPFilter(9, 0.1).spend(unbounded)
    for session in (PureFilter(9), GaussianFilter(9), RenyiFilter(2, 9)):
        with pytest.raises(NoSoundConversion, match="session's account"):
            session.spend(unbounded)
    with pytest.raises(NoSoundConversion, match="larger at_delta"):
        ApproxFilter(9, 0.1).spend(unbounded, at_delta=1e-9)
    with pytest.raises(ParameterError, match="leave it out"):
        PureFilter(9).spend(laplace(2), at_delta=0.1)


def test_a_delta_of_zero_may_be_named():
    session = ApproxFilter(1, 0)
    session.spend(laplace(2), at_delta=0)
    assert session.spent.epsilon == pytest.approx(0.5)
    assert session.spent.delta == 0


@pytest.mark.theorem("Batch.privacy")
def test_a_batch_is_tighter_than_its_sum_and_never_below_the_truth():
    batch = Batch([PureDP(0.1)] * 40)
    session = ApproxFilter(4, 1e-3)
    session.spend(batch, at_delta=1e-3)
    assert session.spent.epsilon < 2.5
    p, q = response(0.1).p, response(0.1).q
    losses = [(true, (2 * true - 40) * Fraction(0.1)) for true in range(41)]
    delta = sum(
        flint.arb(math.comb(40, true))
        * p[0] ** true
        * q[0] ** (40 - true)
        * (1 - (ball(session.spent.epsilon) - ball(loss)).exp())
        for true, loss in losses
        if loss > Fraction(session.spent.epsilon)
    )
    assert at_most(delta, 1e-3)


@pytest.mark.theorem("Batch.privacy")
def test_a_batch_of_different_releases_enters_by_its_certified_curve():
    batch = Batch([laplace(4), laplace(8), PureDP(0.25)])
    assert len(batch.releases) == 3
    for session in (PureFilter(1), ZCDPFilter(1), RenyiFilter(4, 4)):
        session.spend(batch)
        assert batch.loss.satisfies(session.spent)
    pure = PureFilter(0.625)
    pure.spend(batch)
    assert pure.remaining.epsilon == pytest.approx(0, abs=1e-12)


@pytest.mark.theorem("certified.privacy")
def test_a_loss_of_one_direction_is_no_price_for_a_session():
    for half in (laplace(2).remove, laplace(2).add):
        with pytest.raises(ParameterError, match="both"):
            PureFilter(1).spend(half)


@pytest.mark.theorem("certified.privacy")
def test_unbounded_releases_enter_by_their_rho():
    loss = gaussian(10) * 100
    for session, equal in (
        (ZCDPFilter(1), ZCDP(0.5)),
        (RenyiFilter(8, 5), RenyiDP(8, 4)),
        (GaussianFilter(2), ZCDP(0.5).to_gaussian()),
    ):
        session.spend(loss)
        assert session.spent == equal


@pytest.mark.theorem("Batch.privacy")
def test_a_batch_of_one_is_its_loss_and_never_changes():
    loss = laplace(2)
    assert Batch(loss).loss == Batch([loss]).loss == loss
    with pytest.raises(dataclasses.FrozenInstanceError):
        Batch(loss).loss = laplace(3)


def test_a_batch_does_not_grow_after_the_fact():
    batch = Batch(laplace(2))
    for grow in (lambda: batch + batch, lambda: batch + laplace(2), lambda: PureFilter(1) + batch):
        with pytest.raises(ParameterError, match="fixed before the first answer"):
            grow()


@pytest.mark.parametrize("thing", [PureFilter(1), [PureFilter(1)], 0.5, "loss", [laplace(2), 1]])
def test_what_is_decided_as_a_session_goes_is_no_batch(thing):
    with pytest.raises(ParameterError, match="composing curves and stopping at a target is not sound"):
        Batch(thing)


def test_an_empty_batch_is_refused():
    with pytest.raises(ParameterError, match="at least one"):
        Batch([])


def test_a_batch_that_does_not_fit_or_has_another_relation_costs_nothing():
    session = PureFilter(0.25, relation=Relation.ADD_REMOVE)
    with pytest.raises(BudgetExceeded):
        session.spend(Batch(laplace(2)))
    with pytest.raises(RelationMismatch):
        session.spend(Batch(laplace(8, Relation.CHANGE_ONE)))
    assert session.spent.epsilon == 0
    assert session.fits(laplace(8)) == 2


@pytest.mark.theorem("certified.privacy")
def test_the_divergence_of_the_order_is_used_where_it_is_known():
    loss = laplace(2) * 10
    found = certified(loss, RenyiBooks(4), None)
    assert found.epsilon == loss.renyi(4).upper
    assert found.epsilon < PureDP(5).to_renyi(4).epsilon
    assert certified(PureDP(1).loss, PureBooks(), None) == PureDP(1)
