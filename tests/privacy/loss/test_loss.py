"""The price of one release: certified from both sides, from pairs, from guarantees, and from both."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError, RelationMismatch
from discreet.laws import DiscreteLaplace, Finite, SafeEnd
from discreet.mechanisms import Gaussian, Laplace
from discreet.privacy import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    PrivacyLoss,
    PureDP,
    Relation,
    RenyiDP,
    TradeOff,
    gaussian_loss,
)
from discreet.privacy.numbers import written
from discreet.privacy.pairs.worst_pairs import NormalPair, PureApproxPair
from tests.privacy.reference import at_most, ball, hockey_stick, law, miss

weights = st.lists(st.integers(1, 60), min_size=3, max_size=3)


def finite(row):
    """Return a finite law proportional to integers."""
    return Finite(range(len(row)), [Fraction(one, sum(row)) for one in row])


@pytest.mark.theorem("PrivacyLoss.privacy")
@given(weights, weights, weights, st.floats(0.0, 3.0), st.floats(0.0, 1.0))
def test_the_price_is_that_of_the_worst_pair_and_direction(first, second, third, epsilon, alpha):
    laws = [law(*row) for row in (first, second, third)]
    pairs = [finite(first).pair(finite(second)), finite(second).pair(finite(third))]
    loss = PrivacyLoss.from_pairs(pairs)
    directed = [(laws[0], laws[1]), (laws[1], laws[0]), (laws[1], laws[2]), (laws[2], laws[1])]
    found, test = loss.delta(epsilon), loss.tradeoff(alpha)
    worst = max(float(hockey_stick(p, q, epsilon)) for p, q in directed)
    assert found.lower - 1e-12 <= worst <= found.upper + 1e-15
    assert all(at_most(hockey_stick(p, q, epsilon), found.upper) for p, q in directed)
    assert all(at_most(ball(test.lower), miss(p, q, alpha)) for p, q in directed)
    assert test.safe is SafeEnd.LOWER
    assert float(test) == test.lower


@pytest.mark.theorem("PrivacyLoss.privacy")
@given(weights, weights, st.floats(0.0, 0.9))
def test_epsilon_holds_and_is_needed(first, second, delta):
    p, q = law(*first), law(*second)
    found = PrivacyLoss.from_pairs([finite(first).pair(finite(second))]).epsilon(delta)
    for one, other in ((p, q), (q, p)):
        assert at_most(hockey_stick(one, other, found.upper), delta, slack=1e-14)
    if found.lower > 1e-6:
        below = found.lower - 1e-7
        assert max(float(hockey_stick(p, q, below)), float(hockey_stick(q, p, below))) > delta


@pytest.mark.parametrize(
    ("guarantee", "lower_known"),
    [(PureDP(1), True), (ApproxDP(1, 1e-3), True), (GaussianDP(1), True), (ZCDP(0.5), False), (RenyiDP(4, 1), False)],
)
def test_a_price_from_a_guarantee_alone_says_what_it_knows(guarantee, lower_known):
    loss = guarantee.loss
    assert loss.guarantee is guarantee
    for found in (loss.delta(0.3), loss.epsilon(0.01)):
        assert (found.lower > 0) is lower_known
        assert found.upper > 0
        assert ("alone" in found.method) is not lower_known
    assert loss.max_loss().upper == (1.0 if guarantee == PureDP(1) else math.inf)
    assert 0.0 < loss.tradeoff(0.1).lower <= loss.tradeoff(0.1).upper <= 0.9


@given(st.floats(0.05, 3.0), st.floats(0.0, 3.0))
def test_a_claim_lowers_the_upper_end_and_never_the_lower(epsilon, level):
    noise = DiscreteLaplace(1 / written(epsilon))  # a guarantee is read by its decimals
    pair = noise.pair(noise.at(1))
    bare = PrivacyLoss.from_pairs([pair])
    claimed = PrivacyLoss.from_pairs([pair], guarantee=PureDP(epsilon))
    assert claimed.delta(level).upper <= bare.delta(level).upper
    assert claimed.delta(level).lower == bare.delta(level).lower
    assert claimed.satisfies(PureDP(epsilon))


@pytest.mark.parametrize("tenths", range(1, 100))
def test_the_loss_of_a_mechanism_keeps_its_own_claim_at_every_written_epsilon(tenths):
    # 0.3 as a binary fraction is below three tenths, for which the noise is made
    loss = Laplace(epsilon=tenths / 10, sensitivity=1).loss
    assert loss.delta(tenths / 10).upper < 1e-15  # and not 0: at the float itself, which may be a little lower
    assert loss.max_loss().upper == tenths / 10
    assert loss.satisfies(PureDP(tenths / 10))


def test_a_claim_that_its_own_pairs_refute_is_an_error_and_never_an_answer():
    loss = PrivacyLoss.from_pairs([PureApproxPair(1)], guarantee=PureDP(0.5))
    for ask in (lambda: loss.delta(0.6), lambda: loss.epsilon(1e-3), loss.max_loss, lambda: loss.tradeoff(0.2)):
        with pytest.raises(ParameterError, match="false for this release") as caught:
            ask()
        assert caught.value.parameter == "guarantee"


@pytest.mark.theorem("PrivacyLoss.satisfies.privacy")
@given(weights, weights, st.floats(0.0, 2.0), st.floats(0.0, 1.0))
def test_satisfies_an_approximate_guarantee_only_when_the_laws_do(first, second, epsilon, delta):
    p, q = law(*first), law(*second)
    loss = PrivacyLoss.from_pairs([finite(first).pair(finite(second))])
    truth = max(float(hockey_stick(p, q, epsilon)), float(hockey_stick(q, p, epsilon)))
    if loss.satisfies(ApproxDP(epsilon, delta)):
        assert truth <= delta + 1e-40
    else:
        assert truth > delta - 1e-9


@pytest.mark.theorem("PrivacyLoss.satisfies.privacy")
def test_satisfies_is_certain_for_every_notion():
    loss = PrivacyLoss.from_pairs([PureApproxPair(1)])
    kept = [PureDP(1), ApproxDP(0.9, 0.07), ZCDP(0.4622), RenyiDP(2, 0.74), GaussianDP(1.25), ZCDP(0.41, 0.05)]
    broken = [PureDP(0.99), ApproxDP(0.9, 0.069), ZCDP(0.46), RenyiDP(2, 0.73), GaussianDP(1.2), ZCDP(0.4, 0.01)]
    assert [loss.satisfies(guarantee) for guarantee in kept] == [True] * len(kept)
    assert [loss.satisfies(guarantee) for guarantee in broken] == [False] * len(broken)


def test_satisfies_compares_relations_first():
    loss = PrivacyLoss.from_pairs([PureApproxPair(1)], relation=Relation.ADD_REMOVE)
    assert loss.satisfies(PureDP(1, relation=Relation.ADD_REMOVE))
    assert loss.satisfies(PureDP(1))
    with pytest.raises(RelationMismatch):
        loss.satisfies(PureDP(1, relation=Relation.CHANGE_ONE))
    with pytest.raises(RelationMismatch):
        PrivacyLoss.from_pairs([PureApproxPair(1)]).satisfies(PureDP(1, relation=Relation.ADD_REMOVE))


def test_the_relation_of_pairs_and_claim_must_agree():
    guarantee = PureDP(1, relation=Relation.CHANGE_ONE)
    assert PrivacyLoss.from_pairs([PureApproxPair(1)], guarantee=guarantee).relation is Relation.CHANGE_ONE
    with pytest.raises(RelationMismatch):
        PrivacyLoss.from_pairs([PureApproxPair(1)], relation=Relation.ADD_REMOVE, guarantee=guarantee)


def test_the_reverse_of_a_pair_is_added_once():
    assert len(PrivacyLoss.from_pairs([NormalPair(1)]).pairs) == 1
    one_way = finite([1, 2, 5]).pair(finite([3, 3, 2]))
    assert len(PrivacyLoss.from_pairs([one_way]).pairs) == 2


@pytest.mark.parametrize("delta", [Fraction(1, 3), Fraction(1, 10**6), Fraction(1, 10**400)])
def test_deltas_between_floats_are_bracketed(delta):
    found = PrivacyLoss.from_pairs([NormalPair(1)]).epsilon(delta)
    assert found.lower <= found.upper
    if delta > Fraction(1, 10**300):
        assert NormalPair(1).delta(found.upper).lower <= delta
        assert found.width < 1e-9


def test_the_whole_curve_is_a_band_that_falls_from_one_to_zero():
    for loss in (PureDP(1).loss, GaussianDP(1).loss, ZCDP(0.5).loss):
        curve = loss.tradeoff()
        assert isinstance(curve, TradeOff)
        assert len(curve) == 101
        assert (curve.lower <= curve.upper).all()
        assert (curve.upper <= 1 - curve.alpha + 1e-15).all()
        assert (curve.lower[1:] <= curve.lower[:-1] + 1e-12).all()


def test_a_price_reads_as_words_and_html():
    text = str(PureDP(1).loss)
    assert "largest loss: 1;" in text
    assert "unbounded" in str(ZCDP(0.5).loss)
    assert PureDP(1).loss._repr_html_().startswith("<dl>")


def test_a_price_needs_something_to_price():
    with pytest.raises(ParameterError, match="at least one"):
        PrivacyLoss.from_pairs([])
    with pytest.raises(ParameterError, match="pairs of laws"):
        PrivacyLoss.from_pairs([PureDP(1)])
    with pytest.raises(ParameterError, match="guarantee"):
        PrivacyLoss.from_guarantee(1.0)


@pytest.mark.parametrize("bad", [-1e-9, math.nan, math.inf, "1", None, True, 10**400])
def test_bad_levels_are_refused_by_name(bad):
    loss = PureDP(1).loss
    with pytest.raises(ParameterError) as caught:
        loss.delta(bad)
    assert caught.value.parameter == "epsilon"
    with pytest.raises(ParameterError) as caught:
        loss.epsilon(bad)
    assert caught.value.parameter == "delta"
    if bad is not None:
        with pytest.raises(ParameterError) as caught:
            loss.tradeoff(bad)
        assert caught.value.parameter == "alpha"


@pytest.mark.theorem("gaussian_square.privacy")
@pytest.mark.theorem("consequences.privacy")
def test_a_normal_pair_is_as_bad_as_itself_and_squares_add():
    assert gaussian_loss(1).satisfies(GaussianDP(1))
    assert not gaussian_loss(1).satisfies(GaussianDP(0.999999))
    assert (gaussian_loss(2) * 4).satisfies(GaussianDP(1))
    assert (gaussian_loss(3) + gaussian_loss(4)).satisfies(GaussianDP(Fraction(5, 12)))
    assert not (gaussian_loss(3) + gaussian_loss(4)).satisfies(GaussianDP(Fraction(5, 12) - Fraction(1, 10**30)))


@pytest.mark.theorem("gaussian_square.privacy")
def test_parts_of_other_notions_add_to_a_gaussian_guarantee_by_what_they_imply():
    mixed = gaussian_loss(1) + PureDP(0.5).loss
    implied = PureDP(0.5).to_gaussian().mu
    assert mixed.satisfies(GaussianDP(math.hypot(1, implied) * (1 + 1e-12)))
    assert not mixed.satisfies(GaussianDP(math.hypot(1, implied) * (1 - 1e-12)))
    assert not (gaussian_loss(1) + ApproxDP(0.1, 1e-9).loss).satisfies(GaussianDP(50))


@pytest.mark.parametrize("order", [1.5, 2, 10])
def test_renyi_orders_follow_from_concentrated_gaussian_and_pure_guarantees(order):
    mechanism = Gaussian(scale=5, sensitivity=1).loss  # integer noise: rho = 1/50 by theorem
    assert mechanism.renyi(order).upper == pytest.approx(order / 50, rel=1e-15)
    assert mechanism.satisfies(RenyiDP(order, order / 50 * (1 + 1e-15)))
    pure = PureDP(0.5).to_renyi(alpha=order).epsilon
    for other, bound in [(ZCDP(0.1), order * 0.1), (GaussianDP(1), order / 2), (PureDP(0.5), pure)]:
        total = mechanism * 2 + other.loss
        assert total.renyi(order).upper == pytest.approx(order / 25 + bound, rel=1e-12)
        assert total.satisfies(RenyiDP(order, (order / 25 + bound) * (1 + 1e-9)))
        assert not total.satisfies(RenyiDP(order, (order / 25 + bound) * (1 - 1e-9)))
    assert math.isinf((mechanism + ApproxDP(0.1, 1e-9).loss).renyi(order).upper)
    assert math.isinf((mechanism + RenyiDP(1.25, 1).loss).renyi(order).upper)
    assert (mechanism + RenyiDP(16, 1).loss).renyi(order).upper == pytest.approx(1 + order / 50)


def test_the_trade_off_survives_a_chance_of_an_infinite_loss():
    clean = gaussian_loss(2) * 4
    with_failure = clean + ApproxDP(0.01, 1e-9).loss
    found = with_failure.tradeoff(0.05)
    assert found.width < 1e-6
    # 1 - delta - e^epsilon alpha is a lower bound at every level: the answer must reach the best of them
    lines = [1 - with_failure.delta(level).upper - math.exp(level) * 0.05 for level in (0.5, 1.0, 1.125, 1.25, 1.5)]
    assert found.lower >= max(lines)
    assert found.upper <= clean.tradeoff(0.05).upper
    curve = with_failure.tradeoff()
    assert curve.lower[5] == pytest.approx(found.lower, abs=1e-3)
    assert max(curve.upper - curve.lower) < 2e-3


@pytest.mark.theorem("Directions.within_finite_losses.privacy")
def test_no_knife_edge_at_a_total_delta():
    total = ApproxDP(1, 0.1).loss + ApproxDP(2, 0.2).loss
    assert total.epsilon(0.28).upper == 3.0  # 1 - .9 * .8, as written
    assert total.epsilon(0.28 - 1e-12).lower == math.inf
    assert total.epsilon(0.28 + 1e-12).upper <= 3.000001
    assert total.satisfies(ApproxDP(3, 0.28))
    assert (ApproxDP(1, 0.1).loss * 2).epsilon(0.19).upper == 2.0
    assert (ApproxDP(1, 0.1).loss + PureDP(0.5).loss).epsilon(0.1).upper == 1.5
