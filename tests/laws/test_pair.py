"""What every pair can do once it has a delta: invert it, with both ends certified."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.laws import Enclosure, Finite, Pair


class Loose(Pair):
    """A made-up pair: delta falls from `top` to 0 at `ceiling`, known only to within a factor."""

    def __init__(self, top: float, ceiling: float, slack: float) -> None:
        self.top, self.ceiling, self.slack = top, ceiling, slack

    def true_delta(self, epsilon: float) -> float:
        if math.isinf(self.ceiling):
            return self.top * math.exp(-epsilon)
        return self.top * max(1 - epsilon / self.ceiling, 0.0)

    def delta(self, epsilon):
        value = self.true_delta(float(epsilon))
        return Enclosure(value * (1 - self.slack), value, value * (1 + self.slack), "made up")

    def max_loss(self):
        return Enclosure.exact(self.ceiling, method="made up")

    def tradeoff(self, alpha):
        raise NotImplementedError

    def reversed(self):
        raise NotImplementedError


@given(st.floats(0.01, 0.9), st.floats(0.01, 2000) | st.just(math.inf), st.floats(0, 0.05), st.floats(0, 1))
def test_the_least_epsilon_lies_between_the_certified_ends(top, ceiling, slack, delta):
    pair = Loose(top, ceiling, slack)
    epsilon = pair.epsilon(delta)
    if delta >= top:
        truth = 0.0
    elif math.isinf(ceiling):
        truth = math.log(top / delta) if delta > 0 else math.inf
    else:
        truth = ceiling * (1 - delta / top)
    assert epsilon.lower <= truth * (1 + 1e-12) + 1e-12
    assert epsilon.upper >= truth * (1 - 1e-12) - 1e-12
    if math.isfinite(epsilon.upper) and delta > 0:
        assert pair.delta(epsilon.upper).upper <= delta or epsilon.upper >= ceiling


@given(st.floats(0.01, 0.9), st.floats(0.1, 100), st.floats(0, 0.9))
def test_a_delta_known_exactly_is_inverted_to_the_last_digits(top, ceiling, share):
    epsilon = Loose(top, ceiling, 0.0).epsilon(share * top)
    assert epsilon.width <= 1e-12 * ceiling


def test_at_delta_zero_epsilon_is_the_largest_loss():
    pair = Loose(0.5, 3.0, 0.0)
    assert pair.epsilon(0.0) == pair.max_loss()


def test_at_delta_one_nothing_is_left_to_pay():
    assert Loose(0.5, math.inf, 0.0).epsilon(1.0).upper == 0.0


@pytest.mark.parametrize("delta", [-1e-9, 1.0000001, math.nan, math.inf, -math.inf])
def test_a_delta_outside_zero_and_one_is_refused(delta):
    with pytest.raises(ParameterError) as refusal:
        Loose(0.5, 3.0, 0.0).epsilon(delta)
    assert refusal.value.parameter == "delta"


def test_a_real_pair_is_inverted_where_its_delta_jumps():
    coin, biased = Finite("ab", [Fraction(1, 2)] * 2), Finite("ab", [Fraction(1, 4), Fraction(3, 4)])
    pair = coin.pair(biased)
    assert pair.epsilon(0.0).contains(math.log(2))
    assert pair.epsilon(0.25).contains(0.0)
    assert pair.epsilon(0.125).contains(math.log(1.5))
