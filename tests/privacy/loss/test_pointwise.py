"""The pointwise delta: always at least the other one, and enclosed for every pair."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.laws import Finite, Pair
from discreet.privacy import ZCDP, PrivacyLoss, PureDP, RenyiDP, pointwise_delta
from discreet.privacy.pairs.worst_pairs import NormalPair, PureApproxPair

weights = st.lists(st.integers(1, 60), min_size=3, max_size=3)


class WithoutTail(Pair):
    """A pair that knows its delta(epsilon) only."""

    def __init__(self, pair):
        self.pair = pair

    def delta(self, epsilon):
        return self.pair.delta(epsilon)

    def max_loss(self):
        return self.pair.max_loss()

    def tradeoff(self, alpha):
        return self.pair.tradeoff(alpha)

    def reversed(self):
        return WithoutTail(self.pair.reversed())


@pytest.mark.theorem("pointwise_delta.privacy")
@given(st.floats(0.05, 5.0), st.floats(0.0, 6.0))
def test_chords_enclose_the_normal_tail_tightly(mu, epsilon):
    truth = 0.5 * math.erfc((epsilon / mu - mu / 2) / math.sqrt(2))
    found = pointwise_delta(WithoutTail(NormalPair(mu)), epsilon)
    assert found.lower <= truth * (1 + 1e-12)
    assert found.upper >= truth * (1 - 1e-12)
    if mu > 0.5 and epsilon < 3:
        assert found.width < 1e-4


@pytest.mark.theorem("pointwise_delta.privacy")
@given(weights, weights, st.floats(0.0, 3.0))
def test_chords_enclose_the_tail_of_every_finite_pair(first, second, epsilon):
    p = [Fraction(one, sum(first)) for one in first]
    q = [Fraction(one, sum(second)) for one in second]
    truth = sum(a for a, b in zip(p, q, strict=True) if math.log(a / b) > epsilon)
    pair = Finite(range(3), p).pair(Finite(range(3), q))
    for found in (pointwise_delta(WithoutTail(pair), epsilon), pointwise_delta(pair, epsilon)):
        assert found.lower <= float(truth) + 1e-9
        assert found.upper >= float(truth) - 1e-9
    assert pair.delta(epsilon).lower <= pointwise_delta(pair, epsilon).upper


@pytest.mark.theorem("pointwise_delta.privacy")
def test_the_two_deltas_differ_for_randomized_response():
    loss = PrivacyLoss.from_pairs([PureApproxPair(1)])
    weaker, stronger = loss.delta(0.9).upper, pointwise_delta(loss, 0.9).lower
    assert weaker == pytest.approx((math.e - math.exp(0.9)) / (1 + math.e))
    assert stronger == pytest.approx(math.e / (1 + math.e))
    assert stronger > 10 * weaker
    assert pointwise_delta(loss, 1).upper == 0.0


@pytest.mark.theorem("pointwise_delta.privacy")
def test_post_processing_can_raise_the_pointwise_delta_and_never_the_other():
    p, q = (
        [Fraction(1, 10), Fraction(3, 10), Fraction(6, 10)],
        [Fraction(1, 1000), Fraction(2, 10), Fraction(799, 1000)],
    )
    pair = Finite("abc", p).pair(Finite("abc", q))
    merged = Finite("xy", [p[0] + p[1], p[2]]).pair(Finite("xy", [q[0] + q[1], q[2]]))
    level = 0.5
    assert pointwise_delta(merged, level).lower >= pointwise_delta(pair, level).upper - 1e-12
    level = 0.6
    assert pointwise_delta(merged, level).lower > pointwise_delta(pair, level).upper
    assert merged.delta(level).lower <= pair.delta(level).upper


@pytest.mark.theorem("pointwise_delta.privacy")
@pytest.mark.parametrize("guarantee", [ZCDP(0.5), RenyiDP(8, 4)])
def test_a_guarantee_without_a_pair_bounds_the_tail_from_above(guarantee):
    truth = 0.5 * math.erfc((5 - 0.5) / math.sqrt(2))  # the normal pair of mean 1 keeps both guarantees
    found = pointwise_delta(guarantee.loss, 5)
    assert found.lower == 0.0
    assert truth <= found.upper < 0.01


def test_a_price_takes_the_worst_of_its_pairs():
    loss = PrivacyLoss.from_pairs([NormalPair(1), NormalPair(2)])
    assert pointwise_delta(loss, 1).upper == NormalPair(2).tail(1).upper


def test_the_worst_pair_of_a_guarantee_does_not_bound_the_pointwise_delta():
    # the law of a monotone exponential mechanism on [2, 0] against [1, 0] exceeds 0.1 with probability 0.8808
    assert PureApproxPair(1).tail(0.1).upper < 0.8808
    assert pointwise_delta(PureDP(1).loss, 0.1).upper >= 0.8808


@pytest.mark.parametrize("bad", [-1, math.nan, "1", True])
def test_bad_levels_and_prices_are_refused(bad):
    with pytest.raises(ParameterError):
        pointwise_delta(PureApproxPair(1), bad)
    with pytest.raises(ParameterError):
        pointwise_delta(PureDP(1), 1)
