"""A meter without a limit: what it reads, and that its readings hold when the stop depends on the answers."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import MissingParameter, NoSoundConversion, ParameterError, RelationMismatch
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, PureDP, Relation, RenyiDP, basic_composition
from discreet.privacy.adaptive import Odometer
from discreet.privacy.adaptive.odometer import _RATIO, _step_above
from tests.privacy.adaptive.game import binned_normal, leaky, response
from tests.privacy.reference import at_most, exp

METERS = [
    (PureDP, {}, PureDP(Fraction(1, 3))),
    (ApproxDP, {}, ApproxDP(0.25, Fraction(1, 100))),
    (ZCDP, {}, ZCDP(0.25, 0.125)),
    (RenyiDP, {"alpha": 4}, RenyiDP(4, 0.5)),
    (GaussianDP, {}, GaussianDP(3)),
]


@pytest.mark.theorem("Odometer.privacy")
@pytest.mark.parametrize(("notion", "order", "guarantee"), METERS)
def test_a_meter_reads_what_adaptive_composition_gives(notion, order, guarantee):
    meter = Odometer(notion, **order)
    for _ in range(3):
        meter.spend(guarantee)
    total = basic_composition([guarantee] * 3)
    if notion is ZCDP:  # the meter adds deltas, which is a little more than the chance that any of them happens
        assert meter.spent == ZCDP(0.75, 0.375)
    elif notion is PureDP:
        assert meter.spent == PureDP(1)
    elif notion is GaussianDP:
        assert Fraction(meter.spent.mu) == Fraction(total.mu)
    else:
        assert meter.spent.implies(total)


@pytest.mark.theorem("Odometer.privacy")
@pytest.mark.parametrize("notion", [ZCDP, GaussianDP, RenyiDP])
@given(data=st.data())
def test_readings_hold_at_stops_chosen_by_the_answers(notion, data):
    order = {"alpha": 6} if notion is RenyiDP else {}
    delta = data.draw(st.sampled_from([0.01, 0.1, 0.4]))
    make = response if notion is RenyiDP else binned_normal
    excess = flint.arb(0)

    def go(spent, p, q, left):
        nonlocal excess
        if left == 0 or data.draw(st.booleans()):
            meter = Odometer(notion, **order)
            for guarantee in spent:
                meter.spend(guarantee)
            excess += (p - exp(meter.epsilon(delta)) * q).max(flint.arb(0))
            return
        release = make(data.draw(st.floats(0.1, 2.0)))
        for a, b in zip(release.p, release.q, strict=True):
            go((*spent, release.guarantee), p * a, q * b, left - 1)

    go((), flint.arb(1), flint.arb(1), 3)
    assert at_most(excess, delta)


@pytest.mark.theorem("Odometer.privacy")
@given(st.data())
def test_sums_of_epsilons_hold_along_every_path(data):
    delta = Fraction(1, 5)
    excess = flint.arb(0)

    def go(meters, p, q, left):
        nonlocal excess
        if left == 0 or data.draw(st.booleans()):
            meter = Odometer(ApproxDP)
            for guarantee in meters:
                meter.spend(guarantee)
            excess += (p - exp(meter.epsilon(delta)) * q).max(flint.arb(0))
            return
        release = leaky(data.draw(st.floats(0.0, 1.5)), data.draw(st.sampled_from([0, Fraction(1, 15)])))
        for a, b in zip(release.p, release.q, strict=True):
            go((*meters, release.guarantee), p * a, q * b, left - 1)

    go((), flint.arb(1), flint.arb(1), 3)
    assert at_most(excess, delta)


@pytest.mark.theorem("Odometer.privacy")
def test_a_stop_at_the_luckiest_moment_breaks_a_plain_reading_and_not_the_meters():
    epsilon, count, delta = 0.1, 300, 0.01
    each, meter = PureDP(epsilon).to_zcdp(), Odometer(ZCDP)
    plain, careful = [0.0], [0.0]
    for step in range(1, count + 1):
        meter.spend(each)
        careful.append(meter.epsilon(delta))
        plain.append(ZCDP(Fraction(each.rho) * step).to_approx(delta=delta).epsilon)
    assert best_stop(plain, epsilon) > 1.6 * delta
    assert best_stop(careful, epsilon) < delta


def best_stop(readings, epsilon):
    """Return the largest mean of max(0, 1 - e^(reading - loss)) over all rules to stop randomized responses."""
    likely, value = math.exp(epsilon) / (1 + math.exp(epsilon)), None
    for step in range(len(readings) - 1, -1, -1):
        loss = (2 * np.arange(step + 1) - step) * epsilon
        stopped = np.maximum(0.0, -np.expm1(readings[step] - loss))
        value = stopped if value is None else np.maximum(stopped, likely * value[1:] + (1 - likely) * value[:-1])
    return float(value[0])


@given(st.floats(5e-324, 1e308))
def test_levels_are_the_least_powers_that_are_not_below(total):
    step = _step_above(Fraction(total))
    assert _RATIO ** (step - 1) < Fraction(total) <= _RATIO**step


def test_the_shares_of_delta_add_up_to_all_of_it():
    shares = [Fraction(2, 3 * (abs(j) + 1) * (abs(j) + 2)) for j in range(-2000, 2001)]
    assert Fraction(998, 1000) < sum(shares) < 1


def test_readings_only_grow_and_start_at_zero():
    meter = Odometer(ZCDP)
    last = meter.epsilon(1e-6)
    assert last == 0.0
    for _ in range(20):
        meter.spend(ZCDP(0.03))
        assert meter.epsilon(1e-6) >= last
        assert meter.epsilon(1e-6) > meter.spent.to_approx(delta=1e-6).epsilon
        last = meter.epsilon(1e-6)


def test_pure_and_approximate_readings_are_the_sums():
    pure = Odometer(PureDP)
    pure.spend(PureDP(0.5))
    assert pure.epsilon(0) == 0.5
    approx = Odometer(ApproxDP)
    approx.spend(ApproxDP(0.5, 1e-6))
    assert approx.epsilon(1e-6) == 0.5
    with pytest.raises(NoSoundConversion, match="larger delta"):
        approx.epsilon(1e-7)


def test_a_delta_spent_exactly_is_enough():
    share = Fraction(1, 3 * 10**17)
    meter = Odometer(ApproxDP)
    meter.spend(ApproxDP(Fraction(1, 3), share))
    assert meter.epsilon(share) == math.nextafter(1 / 3, 1)
    with pytest.raises(NoSoundConversion, match="larger delta"):
        meter.epsilon(share * Fraction(10**20 - 1, 10**20))


def test_the_largest_totals_have_a_reading_or_say_that_they_have_none():
    meter = Odometer(ZCDP)
    meter.spend(ZCDP(1.6e308))  # the next power of 5/4 is beyond all floats
    with pytest.raises(NoSoundConversion):
        meter.epsilon(0.1)
    assert 1e300 < reading(GaussianDP, GaussianDP(1e151)) < 1e308


def reading(notion, guarantee):
    meter = Odometer(notion)
    meter.spend(guarantee)
    return meter.epsilon(0.1)


def test_no_epsilon_is_read_where_none_is_proven():
    meter = Odometer(ZCDP)
    meter.spend(ZCDP(0.1, 1e-9))
    with pytest.raises(NoSoundConversion, match="ZCDPFilter"):
        meter.epsilon(1e-6)
    free = Odometer(GaussianDP)
    free.spend(GaussianDP(1))
    with pytest.raises(NoSoundConversion):
        free.epsilon(0)


def test_a_meter_keeps_one_relation():
    meter = Odometer(PureDP, relation=Relation.ADD_REMOVE)
    with pytest.raises(RelationMismatch):
        meter.spend(PureDP(1, relation=Relation.CHANGE_ONE))
    assert meter.spent == PureDP(0, relation=Relation.ADD_REMOVE)
    assert repr(meter) == "Odometer(spent=PureDP(epsilon=0, relation=Relation.ADD_REMOVE))"


def test_a_meter_needs_a_notion_and_renyi_its_order():
    with pytest.raises(MissingParameter, match="alpha"):
        Odometer(RenyiDP)
    with pytest.raises(ParameterError, match="alpha"):
        Odometer(ZCDP, alpha=2)
    for notion in (1, None, "ZCDP", PureDP(1)):
        with pytest.raises(ParameterError, match="a guarantee is needed"):
            Odometer(notion)
    with pytest.raises(ParameterError, match="Relation"):
        Odometer(PureDP, relation="add/remove")


def test_the_reference_for_stops_is_right_for_one_release():
    assert best_stop([9.0, 0.0], 1.0) == pytest.approx(math.tanh(0.5))
