"""A float in a price or a guarantee is the decimal that it prints as, for whoever asks, charges and draws the noise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import mechanisms, statistics
from discreet.errors import ParameterError
from discreet.ledger.contract.terms import guarantee_from_plain, guarantee_to_plain
from discreet.local import DirectResponse
from discreet.privacy import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    Norm,
    PureDP,
    Relation,
    RenyiDP,
    Sensitivity,
    parallel,
    privacy_filter,
)
from discreet.privacy.numbers import (
    as_written,
    decimals,
    plainly,
    positive_price,
    printed,
    written,
    written_down,
    written_up,
)
from discreet.query.pricing.price import read_price
from discreet.statistics import Count
from discreet.synthesis import Neighbors
from discreet.synthesis.base.allowance import Allowance

TENTH = Fraction(1, 10)
prices = st.floats(1e-6, 10.0)
GUARANTEES = [
    (PureDP(1), PureDP),
    (ApproxDP(1, 0.5), lambda part: ApproxDP(part, 0.01)),
    (ZCDP(1), ZCDP),
    (RenyiDP(8, 1), lambda part: RenyiDP(8, part)),
]


@pytest.mark.parametrize(("budget", "of"), GUARANTEES, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("spelling", [0.1, np.float64(0.1), np.float32(0.1), np.float16(0.1), TENTH], ids=repr)
def test_a_filter_admits_exactly_ten_times_a_tenth(budget, of, spelling):
    session = privacy_filter(budget)
    assert session.fits(of(spelling)) == 10
    for _ in range(10):
        session.spend(of(spelling))
    assert session.fits(of(1e-300)) == 0
    assert not session.admits(of(spelling))


def test_a_gaussian_filter_counts_the_squares_of_decimals():
    assert privacy_filter(GaussianDP(1)).fits(GaussianDP(0.1)) == 100
    assert privacy_filter(GaussianDP(0.3)).fits(GaussianDP(0.1)) == 9


def test_the_loss_of_a_mechanism_is_charged_as_its_price_is_written():
    for mechanism in (
        mechanisms.Laplace(epsilon=0.1, sensitivity=1),
        mechanisms.Exponential(epsilon=0.1, sensitivity=1),
        mechanisms.NoisyMax(epsilon=0.1, sensitivity=1),
        mechanisms.RandomizedResponse(epsilon=0.1, categories=2),
        statistics.Count(relation=Relation.ADD_REMOVE, epsilon=0.1),
    ):
        assert mechanism.guarantee.epsilon == 0.1
        assert privacy_filter(PureDP(1)).fits(mechanism.guarantee) == 10
    assert privacy_filter(PureDP(1)).fits(mechanisms.Laplace(epsilon=0.1, sensitivity=1).loss) == 10
    assert DirectResponse(epsilon=0.1, categories=3).guarantee == PureDP(TENTH, relation=Relation.CHANGE_ONE)


def test_ten_tenths_of_parts_are_one():
    counts = parallel([PureDP(0.1)] * 20, relation=Relation.ADD_REMOVE, parts_per_person=10)
    assert counts == PureDP(1, relation=Relation.ADD_REMOVE)


def test_equal_guarantees_mean_the_same_numbers():
    assert PureDP(0.1) == PureDP(TENTH) == PureDP(np.float32(0.1))
    assert len({PureDP(0.1), PureDP(TENTH)}) == 1
    assert PureDP(0.1) != PureDP(Fraction(0.1))
    assert PureDP(0.1) != PureDP(0.1, relation=Relation.ADD_REMOVE)
    assert PureDP(1) != ZCDP(1)
    assert PureDP(0.1).implies(PureDP(TENTH))
    assert PureDP(TENTH).implies(PureDP(0.1))
    assert not PureDP(Fraction(0.1)).implies(PureDP(0.1))
    assert as_written(ZCDP(0.3, 1e-6)) == ZCDP(Fraction(3, 10), Fraction(1, 10**6))


def test_session_statistics_and_synthesis_read_a_price_alike():
    added = Neighbors(Relation.ADD_REMOVE, people=100)
    for given_price in (0.1, np.float32(0.1), np.float64(0.1), TENTH):
        assert read_price(epsilon=given_price).epsilon == TENTH
        assert Count(relation=Relation.ADD_REMOVE, epsilon=given_price).price.epsilon == TENTH
        assert Count(relation=Relation.ADD_REMOVE, rho=given_price).price.rho == TENTH
        assert Allowance.of(added, epsilon=given_price).amount == TENTH
        assert Allowance.of(added, rho=given_price).amount == TENTH


@given(prices)
def test_the_noise_costs_no_more_than_its_guarantee_says(epsilon):
    for sensitivity in (1, 3):
        mechanism = mechanisms.Laplace(epsilon=epsilon, sensitivity=sensitivity)
        assert mechanism.steps / mechanism.noise.scale == decimals(epsilon) <= written(epsilon)
        assert mechanism.guarantee.epsilon == epsilon
    l1 = Sensitivity(2, norm=Norm.L1, relation=Relation.ADD_REMOVE)
    by_scale = mechanisms.Laplace(scale=epsilon, sensitivity=l1)
    assert written(by_scale.guarantee.epsilon) >= by_scale.steps / by_scale.noise.scale
    top = mechanisms.Top(k=3, epsilon=epsilon, sensitivity=1)
    assert 3 * top._each <= written(top.guarantee.epsilon)


@given(st.fractions(Fraction(1, 10**9), 10**9))
def test_a_guaranteed_float_is_the_least_whose_decimals_reach_the_number(value):
    up, down = written_up(value), written_down(value)
    assert written(math.nextafter(up, -math.inf)) < value <= written(up)
    assert written(down) <= value < written(math.nextafter(down, math.inf))


@given(st.floats(0, allow_nan=False, allow_infinity=False))
def test_a_guarantee_survives_being_written_down(value):
    assert decimals(value) == Fraction(repr(value)) or 0 < value < 1e-100
    assert decimals(value) <= written(value)
    assert written(value) in (decimals(value), Fraction(value))
    assert plainly(written(value)) == value
    if value >= 2.3e-308:
        assert guarantee_from_plain(guarantee_to_plain(PureDP(value))) == PureDP(value)


@given(st.floats(0, 1e300, allow_subnormal=True))
def test_the_reading_keeps_the_order_of_floats(value):
    assert written(value) < written(math.nextafter(value, math.inf))


def test_what_is_no_price_is_refused():
    for wrong in (0, -0.1, math.nan, math.inf, True, "0.1", None, 1j, np.longdouble(1)):
        with pytest.raises(ParameterError):
            positive_price(wrong, name="epsilon")
    assert printed("0.1") == "0.1"


def test_a_computed_root_that_happens_to_be_short_is_not_read_below_itself():
    squares = [GaussianDP(Fraction(1)), GaussianDP(Fraction(7, 4)), GaussianDP(Fraction(7, 6))]
    total = parallel(squares, relation=Relation.CHANGE_ONE, parts_per_person=2)
    assert written(total.mu) ** 2 >= Fraction(781, 144)
